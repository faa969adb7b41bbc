"""Cuts and models that users pass, checked."""

from collections.abc import Mapping
from typing import Any

from karat._typing import FloatArray
from karat._validate import check_count, check_number, check_score_columns, check_scores
from karat.exceptions import DataError, OptionError
from karat.ranking.measures import Cut

__all__ = ["check_cut", "read_models"]


def read_models(y_scores: Any) -> dict[Any, FloatArray]:
    """Return the scores of each model, by the name that was passed."""
    if isinstance(y_scores, Mapping):
        scores = {k: check_scores(v, f"y_scores[{k!r}]") for k, v in y_scores.items()}
    else:
        scores = dict(check_score_columns(y_scores, "y_scores", each="column per model"))
    if len(scores) < 2:
        raise DataError(f"y_scores holds {len(scores)} model; expected at least two to compare")
    return scores


def check_cut(kind: str, *, k: Any = None, share: Any = None, threshold: Any = None) -> Cut:
    """Return the cut; exactly one of the three must be given."""
    given = {"k": k, "share": share, "threshold": threshold}
    if kind == "lift":
        del given["threshold"]
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        known = ", ".join(f"{name}=" for name in given)
        passed = " and ".join(f"{name}={given[name]!r}" for name in named) or "none of them"
        raise OptionError(f"{kind} takes one of {known}; got {passed}. Pass the one that is meant")
    if k is not None:
        return Cut(kind, k=check_count(k, "k", at_least=1))
    if share is not None:
        return Cut(kind, share=check_number(share, "share", above=0.0, at_most=1.0))
    return Cut(kind, threshold=check_number(threshold, "threshold"))
