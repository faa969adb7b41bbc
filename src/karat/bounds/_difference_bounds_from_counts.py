"""How much better one classifier can and must be than another, from counts alone."""

from dataclasses import replace
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import AnyArray, Column
from karat._validate import check_rng, named
from karat.bounds.checks import DeferredCheck
from karat.bounds.difference_result import DifferenceBounds
from karat.bounds.inputs import (
    check_limit,
    check_method,
    check_metric,
    check_prior,
    check_robustness,
    counted_problem,
    read_counted,
    refuse_weighted_counts,
)
from karat.bounds.solvers import solved_difference
from karat.exceptions import DataError
from karat.metrics import Metric
from karat.metrics.estimates import metric_range
from karat.statistics import PatternCounts

__all__ = ["difference_bounds_from_counts"]


@keeps_kind
def difference_bounds_from_counts(
    counts: PatternCounts,
    label_model: Any = None,
    *,
    metric: str | Metric,
    method: str = "crossfit",
    confidence: float = 0.95,
    limit: str = "skew",
    pos_label: Any = None,
    class_prior: Column | None = None,
    robustness: float = 0.0,
    rng: int | np.random.Generator | None = None,
) -> DifferenceBounds:
    """Bound the difference of a metric between two classifiers from counts of both together.

    The numbers are those of `difference_bounds` on the rows; no row is needed. What it takes is how
    often the two predict what together, within each pattern of weak labels: count the predictions
    of the first, with those of the second as groups.

    Parameters
    ----------
    counts : PatternCounts
        ``pattern_counts(y_pred_a, weak_labels, y_pred_b)``, or of a table of any size
        ``karat.scan(table).roles(pred="a", group="b", weak="lf_*").pattern_counts()``. The
        difference is that of the first less the second.
    label_model, metric, method, confidence, limit, pos_label, class_prior, robustness, rng
        As in `performance_bounds_from_counts`, for metrics that compare no groups.

    Returns
    -------
    DifferenceBounds

    Examples
    --------
    >>> import numpy as np
    >>> from karat.statistics import pattern_counts
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 2000)
    >>> votes = np.where(rng.random((2000, 9)) < 0.8, truth[:, None], 1 - truth[:, None])
    >>> a, b = (np.where(rng.random(2000) < right, truth, 1 - truth) for right in (0.95, 0.6))
    >>> d = difference_bounds_from_counts(pattern_counts(a, votes, b), metric="accuracy", rng=0)
    >>> bool(d.lower_limit > 0)
    True
    """
    if not isinstance(counts, PatternCounts) or counts.groups is None:
        what = "without groups" if isinstance(counts, PatternCounts) else type(counts).__name__
        raise DataError(
            f"counts are {what}; expected karat.statistics.pattern_counts of one classifier with "
            "the predictions of the other as groups"
        )
    refuse_weighted_counts(counts)
    chosen = check_metric(metric)
    alone = replace(
        counts, counts=counts.counts.sum(axis=0), groups=None,
        by_fold=None if counts.by_fold is None else counts.by_fold.sum(axis=1),
    )  # fmt: skip
    inputs, _ = read_counted(
        alone, label_model, pos_label=pos_label, class_prior=class_prior, compares=False
    )
    rule = check_limit(limit, confidence, weighted=False)
    way, slack = check_method(method), check_robustness(robustness)
    prior, generator = check_prior(class_prior, inputs), check_rng(rng)
    k = len(inputs.classes)
    cells = _both(counts, inputs.keep)
    joint = counted_problem(
        inputs, cells.reshape(*cells.shape[:2], k * k), method=way, rng=generator, slack=slack,
        prior=prior,
    )  # fmt: skip
    pairs = cells.sum(axis=(0, 1))
    apart = pairs.sum() - np.trace(pairs)
    span = metric_range(chosen.for_classes(k))
    solved = solved_difference(
        joint, chosen.for_classes(k), rule, span[1] - span[0] if apart else 0.0
    )
    nobody = (counts.patterns < 0).all(axis=1)
    unheard = cells[:, nobody].sum(axis=(0, 1))
    return DifferenceBounds(
        metric=chosen,
        lower=solved.lower,
        upper=solved.upper,
        lower_limit=solved.lower_limit,
        upper_limit=solved.upper_limit,
        bounds_lower_limit=solved.lower_limit,
        bounds_upper_limit=solved.upper_limit,
        gold=None,
        estimate=solved.estimate,
        silent=float((unheard.sum() - np.trace(unheard)) / apart) if apart else 0.0,
        method=way,
        n=int(pairs.sum()),
        confidence=rule.confidence,
        agree=float(np.trace(pairs) / pairs.sum()),
        sharp=solved.sharp,
        truth=None,
        deferred_check=DeferredCheck.of(inputs, label_model, prior),
    )


def _both(counts: PatternCounts, keep: AnyArray) -> AnyArray:
    """Return counts of (fold, pattern, first, second), the positive class last."""
    assert counts.groups is not None
    classes = counts.classes.tolist()
    strange = [name for name in counts.groups.tolist() if name not in classes]
    if strange:
        raise DataError(
            f"the groups hold {named(strange[:1])}, which is not among the classes "
            f"{named(classes)}; expected the predictions of the second classifier as groups, "
            "counted with classes= of both"
        )
    cells = counts.counts[None] if counts.by_fold is None else counts.by_fold
    second = [classes.index(name) for name in counts.groups.tolist()]
    whole = np.zeros((len(cells), *cells.shape[2:], len(classes)), dtype=cells.dtype)
    whole[..., second] = np.moveaxis(cells, 1, -1)
    return np.asarray(whole[..., keep, :][..., keep])
