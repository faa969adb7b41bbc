"""Label models: class probabilities from weak labels, and checks of both.

What `check_label_model` and `vote_diagnostics` return is described with them, and stands in
`karat.weak.result`.
"""

from karat.weak._dawid_skene import DawidSkene
from karat.weak._detectors import DetectorLabelModel
from karat.weak._simple import MajorityVote, OracleLabelModel, from_snorkel
from karat.weak._triplets import TripletLabelModel
from karat.weak.checks import check_label_model, vote_diagnostics
from karat.weak.label_model import LabelModel

__all__ = [
    "DawidSkene",
    "DetectorLabelModel",
    "LabelModel",
    "MajorityVote",
    "OracleLabelModel",
    "TripletLabelModel",
    "check_label_model",
    "from_snorkel",
    "vote_diagnostics",
]
