"""The fit of judges that a function was passed."""

from typing import Any

from karat._validate import check_fitted
from karat.consensus.answers import FittedVotes
from karat.exceptions import DataError

__all__ = ["check_judges"]


def check_judges(judges: Any) -> None:
    """Refuse what is no fitted `ErrorEstimator` or `PairEstimator`, such as the votes."""
    if isinstance(judges, FittedVotes) or hasattr(type(judges), "fit"):
        return check_fitted(judges, "label_proba_", "fit(votes)")
    raise DataError(
        f"judges: pass a fitted ErrorEstimator, not a {type(judges).__name__}; such as "
        "ErrorEstimator().fit(votes)"
    )
