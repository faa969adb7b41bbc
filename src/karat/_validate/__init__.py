"""Every check of what users pass, in one place.

The functions here turn arrays, lists, series and frames (anything narwhals supports) into plain
NumPy arrays, or raise a karat exception that says what was passed, what was expected and how to
fix it, naming the first offending row. Kernels never check anything.
"""

from karat._validate._columns import read_column, read_columns
from karat._validate._confusions import check_confusions
from karat._validate._frames import collected_alone, is_lazy, refuse_lazy
from karat._validate._labels import (
    binary_order,
    check_classes,
    encode_groups,
    encode_labels,
    require_two_classes,
)
from karat._validate._numbers import (
    check_finite_matrix,
    check_number,
    check_probabilities,
    check_rng,
    check_score_columns,
    check_scores,
    check_weights,
)
from karat._validate._options import check_choice, check_confidence, check_count
from karat._validate._shapes import check_same_length, is_matrix
from karat._validate._weak_labels import WeakLabels, encode_votes, encode_weak_labels

__all__ = [
    "WeakLabels",
    "binary_order",
    "check_choice",
    "check_classes",
    "check_confidence",
    "check_confusions",
    "check_count",
    "check_finite_matrix",
    "check_number",
    "check_probabilities",
    "check_rng",
    "check_same_length",
    "check_score_columns",
    "check_scores",
    "check_weights",
    "collected_alone",
    "encode_groups",
    "encode_labels",
    "encode_votes",
    "encode_weak_labels",
    "is_lazy",
    "is_matrix",
    "read_column",
    "read_columns",
    "refuse_lazy",
    "require_two_classes",
]
