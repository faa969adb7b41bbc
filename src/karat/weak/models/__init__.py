"""What label models are made of.

`PatternModel` is the base of karat's own label models: it reads votes, remembers how they were
read, and asks a subclass for P(Y | Z) once per distinct pattern; `VoteModel` is that of those which
votes alone suffice for, and has their one ``fit``. `pattern_posterior` and
`proba_of_patterns` ask any label model, or an array of probabilities, for the same. The rest are
pure functions on encoded votes: vote totals and unanimous votes, confusions, detectors, accuracies
from triplets of labelers, and the EM problem of Dawid and Skene. `refitted_proba` fits a model
again to some of the true labels.
"""

from karat.weak.models._detectors import (
    DetectorRates,
    detector_confusions,
    fit_detectors,
    smoothed_majority,
)
from karat.weak.models._em_problem import VoteRows, best_start, em_problem, fit_aligned
from karat.weak.models._gold import GoldCounts, KnownVotes, read_votes
from karat.weak.models._pattern_model import PatternModel
from karat.weak.models._posterior import (
    classes_of,
    null_of,
    pattern_posterior,
    proba_of_patterns,
)
from karat.weak.models._refit import has_seen_gold, labels_of, refitted_proba
from karat.weak.models._requirements import check_class_prior, require_voters
from karat.weak.models._triplets import signed_votes, triplet_accuracies, triplet_log_odds
from karat.weak.models._vote_model import VoteModel
from karat.weak.models._votes import smoothed_confusions, totals_of, winners

__all__ = [
    "DetectorRates",
    "GoldCounts",
    "KnownVotes",
    "PatternModel",
    "VoteModel",
    "VoteRows",
    "best_start",
    "check_class_prior",
    "classes_of",
    "detector_confusions",
    "em_problem",
    "fit_aligned",
    "fit_detectors",
    "has_seen_gold",
    "labels_of",
    "null_of",
    "pattern_posterior",
    "proba_of_patterns",
    "read_votes",
    "refitted_proba",
    "require_voters",
    "signed_votes",
    "smoothed_confusions",
    "smoothed_majority",
    "totals_of",
    "triplet_accuracies",
    "triplet_log_odds",
    "winners",
]
