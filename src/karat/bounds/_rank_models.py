"""Which of several classifiers is best, with no labels."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat._validate import check_choice, check_rng
from karat.bounds._difference_bounds import difference_bounds
from karat.bounds._performance_bounds import performance_bounds
from karat.bounds.collection_result import ModelRanking
from karat.bounds.result import PerformanceBounds
from karat.exceptions import DataError
from karat.metrics import Metric
from karat.statistics import Patterns

__all__ = ["rank_models"]

_DRAWS = "label_model_draws"
_NOT_FOR_PAIRS = ("groups", _DRAWS)
_SCORES: dict[str, Callable[[PerformanceBounds], float]] = {
    "lower": lambda b: b.lower,
    "upper": lambda b: b.upper,
    "average": lambda b: (b.lower + b.upper) / 2,
    "label_model": lambda b: b.label_model_estimate,
}


@keeps_kind
def rank_models(
    predictions: Mapping[str, Column],
    weak_labels: Frame | Patterns,
    label_model: Any = None,
    *,
    metric: str | Metric,
    by: str = "average",
    confidence: float = 0.95,
    rng: int | np.random.Generator | None = None,
    **options: Any,
) -> ModelRanking:
    """Rank classifiers by their bounds (Maia Polo et al. 2023, section A.4).

    Parameters
    ----------
    predictions : mapping of name to column (n,)
        Predicted labels of each classifier.
    weak_labels, label_model, metric, confidence, rng
        As in `performance_bounds`.
    by : {"average", "lower", "upper", "label_model"}
        ``lower`` is the best worst case, ``upper`` the best best case, ``average`` their middle,
        ``label_model`` the value if prediction and truth were independent given the weak labels.
    **options
        Passed on to `performance_bounds`, such as ``method``, ``classes``, ``null`` or
        ``robustness``.

    Returns
    -------
    ModelRanking
        Best first; ``certain`` if the first is better than each other one at the confidence
        limits of the paired differences, shared out over the comparisons, and the check of the
        label model does not contradict it. With draws of the label model, which the differences
        do not use, nothing is certain.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.weak import DawidSkene
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 1000)
    >>> votes = np.where(rng.random((1000, 7)) < 0.8, truth[:, None], 1 - truth[:, None])
    >>> models = {name: np.where(rng.random(1000) < right, truth, 1 - truth)
    ...           for name, right in (("good", 0.95), ("poor", 0.6))}
    >>> rank_models(models, votes, DawidSkene(rng=0).fit(votes), metric="accuracy", rng=0).names
    ('good', 'poor')
    """
    check_choice(by, "by", tuple(_SCORES))
    if not isinstance(predictions, Mapping) or len(predictions) < 2:
        raise DataError("predictions holds fewer than two classifiers; pass {name: y_pred, ...}")
    generator = check_rng(rng)
    shared: dict[str, Any] = {"metric": metric, "rng": generator, **options}
    bounds: dict[str, PerformanceBounds] = {
        name: performance_bounds(y, weak_labels, label_model, confidence=confidence, **shared)
        for name, y in predictions.items()
    }
    names = sorted(bounds, key=lambda name: -_SCORES[by](bounds[name]))
    paired = {k: v for k, v in shared.items() if k not in _NOT_FOR_PAIRS}
    paired["confidence"] = 1 - (1 - confidence) / (len(names) - 1)
    first = predictions[names[0]]
    leads = [
        difference_bounds(first, predictions[other], weak_labels, label_model, **paired).lower_limit
        for other in names[1:]
    ]
    return ModelRanking(
        names=tuple(names),
        bounds=tuple(bounds[name] for name in names),
        by=by,
        certain=min(leads) > 0 and _trusted(bounds[names[0]]) and _DRAWS not in options,
    )


def _trusted(b: PerformanceBounds) -> bool:
    return b.gold is not None or b.check is None or not b.check.contradicted
