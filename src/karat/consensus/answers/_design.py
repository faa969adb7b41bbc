"""How the items with a gold label were chosen."""

from typing import Any

from karat._validate import check_choice
from karat.exceptions import DataError

__all__ = ["check_design"]


def check_design(labels: Any, y_true: Any, label_probability: Any) -> str:
    """Return how items were chosen; probabilities and the word for them come together."""
    design = check_choice(labels, "labels", ("random", "probability", "picked"))
    if design == "probability" and y_true is not None and label_probability is None:
        raise DataError(
            "labels='probability' was passed without label_probability; pass the probability of "
            "every labelled item, as label_next() gives it"
        )
    if design != "probability" and label_probability is not None:
        raise DataError(
            f"label_probability was passed with labels={design!r}; pass labels='probability' too"
        )
    return design
