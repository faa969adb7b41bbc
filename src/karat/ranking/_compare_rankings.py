"""Several models on the same rows, by any measure but the area."""

from collections.abc import Mapping
from typing import Any

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat._validate import (
    check_choice,
    check_confidence,
    check_number,
    check_same_length,
    check_weighting,
    check_weights,
    refuse_option,
)
from karat.exceptions import OptionError
from karat.ranking.comparison_result import RankingComparison
from karat.ranking.measure_results import check_cut, check_rows, compared_rankings, read_models
from karat.ranking.measures import AveragePrecision, ExpectedCost, Measure, NetBenefit
from karat.ranking.placements import read_labels

__all__ = ["compare_rankings"]

_MEASURES = ("average_precision", "precision_at", "recall_at", "lift", "net_benefit", "cost_curve")


@keeps_kind
def compare_rankings(
    y_true: Column,
    y_scores: Mapping[Any, Column] | Frame,
    *,
    measure: str = "average_precision",
    k: int | None = None,
    share: float | None = None,
    threshold: float | None = None,
    at: float | None = None,
    confidence: float = 0.95,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
) -> RankingComparison:
    """Compare several models on the same rows, by any measure of this package but the area.

    The limits of a difference come from what each row adds to the measure of one model less what it
    adds to that of the other, so what both share cancels. They hold for all pairs together, and are
    approximate: Student's t, with one more row that the models differ on. `compare_auc` compares
    areas.

    Parameters
    ----------
    y_true : column (n,)
        Labels of two classes.
    y_scores : mapping of name to column, or frame (n, models)
        Scores of each model.
    measure : {"average_precision", "precision_at", "recall_at", "lift", "net_benefit", \
            "cost_curve"}
        The function that measures each model.
    k, share, threshold, at
        Its cut, as that function takes it.
    confidence : float, default 0.95
        Probability that the limits hold, for all models and for all pairs together.
    pos_label, sample_weight, weighting
        As in `average_precision`.

    Returns
    -------
    RankingComparison
        ``models``, ``differences`` and ``best``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(3000) < 0.2
    >>> good, poor = rng.normal(size=3000) + 2 * y, rng.normal(size=3000) + y
    >>> r = compare_rankings(y, {"good": good, "poor": poor}, measure="precision_at", k=300)
    >>> r.best, r.differences[0].lower > 0
    ('good', True)
    """
    chosen = _measure_of(
        check_choice(measure, "measure", _MEASURES), k=k, share=share, threshold=threshold, at=at
    )
    level = check_confidence(confidence)
    positive, classes = read_labels(y_true, pos_label, what="a ranking")
    scores = read_models(y_scores)
    weight = check_weights(sample_weight)
    for name, score in scores.items():
        check_same_length(**{"y_true": positive, f"y_scores[{name!r}]": score})
    check_same_length(y_true=positive, sample_weight=weight)
    approximate = check_weighting(weighting, weight)
    for score in scores.values():
        check_rows(chosen, score, approximate=approximate)
    return compared_rankings(
        chosen, positive, scores, weight, classes, level, approximate=approximate
    )


def _measure_of(name: str, **cuts: Any) -> Measure:
    """Return a measure with the cut that it takes, and no other."""
    takes = {
        "average_precision": (), "precision_at": ("k", "share", "threshold"),
        "recall_at": ("k", "share", "threshold"), "lift": ("k", "share"),
        "net_benefit": ("threshold",), "cost_curve": ("at",),
    }[name]  # fmt: skip
    for cut, value in cuts.items():
        if value is not None and cut not in takes:
            expected = f"None with measure={name!r}"
            refuse_option(value, cut, expected)
    if name == "average_precision":
        return AveragePrecision()
    if name in ("net_benefit", "cost_curve"):
        option = takes[0]
        value = 0.5 if name == "cost_curve" and cuts["at"] is None else cuts[option]
        if value is None:
            raise OptionError("net_benefit takes threshold=; got none. Pass the one that is meant")
        number = check_number(value, option, above=0.0, at_most=1.0)
        if number >= 1:
            refuse_option(value, option, "a number above 0 and below 1")
        return NetBenefit(number) if name == "net_benefit" else ExpectedCost(number)
    return check_cut(name.removesuffix("_at"), **{cut: cuts[cut] for cut in takes})
