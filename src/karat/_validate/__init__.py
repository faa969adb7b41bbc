"""Every check of what users pass, in one place.

The functions here turn arrays, lists, series and frames (anything narwhals supports) into plain
NumPy arrays, or raise a karat exception that says what was passed, what was expected and how to
fix it, naming the first offending row. Kernels never check anything.
"""

from karat._validate._alike import check_alike, nearest_class
from karat._validate._columns import named, read_column, read_columns, shown
from karat._validate._confusions import check_confusions
from karat._validate._frames import collected_alone, is_lazy, native_frame, refuse_lazy
from karat._validate._gold import encode_gold, present_gold
from karat._validate._labels import (
    binary_order,
    check_classes,
    encode_groups,
    encode_labels,
    require_two_classes,
    union_of_values,
)
from karat._validate._numbers import (
    check_finite_matrix,
    check_probabilities,
    check_score_columns,
    check_scores,
    check_weighting,
    check_weights,
)
from karat._validate._options import (
    check_choice,
    check_confidence,
    check_count,
    check_fitted,
    check_flag,
    check_number,
    check_pos_label,
    check_rng,
    check_seed,
    refuse_option,
)
from karat._validate._shapes import check_same_length, is_matrix
from karat._validate._text import odd_text, quoted_text
from karat._validate._weak_labels import (
    ABSTAINED,
    NOT_ASKED,
    WeakLabels,
    check_null,
    encode_weak_labels,
)

__all__ = [
    "ABSTAINED",
    "NOT_ASKED",
    "WeakLabels",
    "binary_order",
    "check_alike",
    "check_choice",
    "check_classes",
    "check_confidence",
    "check_confusions",
    "check_count",
    "check_finite_matrix",
    "check_fitted",
    "check_flag",
    "check_null",
    "check_number",
    "check_pos_label",
    "check_probabilities",
    "check_rng",
    "check_same_length",
    "check_score_columns",
    "check_scores",
    "check_seed",
    "check_weighting",
    "check_weights",
    "collected_alone",
    "encode_gold",
    "encode_groups",
    "encode_labels",
    "encode_weak_labels",
    "is_lazy",
    "is_matrix",
    "named",
    "native_frame",
    "nearest_class",
    "odd_text",
    "present_gold",
    "quoted_text",
    "read_column",
    "read_columns",
    "refuse_lazy",
    "refuse_option",
    "require_two_classes",
    "shown",
    "union_of_values",
]
