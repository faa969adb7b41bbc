"""Label models: class probabilities from weak labels, and checks of both."""

from karat.weak._check_label_model import check_label_model
from karat.weak._dawid_skene import DawidSkene
from karat.weak._detector_label_model import DetectorLabelModel
from karat.weak._from_snorkel import from_snorkel
from karat.weak._label_model import LabelModel
from karat.weak._majority_vote import MajorityVote
from karat.weak._oracle_label_model import OracleLabelModel
from karat.weak._triplet_label_model import TripletLabelModel
from karat.weak._vote_diagnostics import vote_diagnostics
from karat.weak.result import LabelModelCheck, VoteDiagnostics

__all__ = [
    "DawidSkene",
    "DetectorLabelModel",
    "LabelModel",
    "LabelModelCheck",
    "MajorityVote",
    "OracleLabelModel",
    "TripletLabelModel",
    "VoteDiagnostics",
    "check_label_model",
    "from_snorkel",
    "vote_diagnostics",
]
