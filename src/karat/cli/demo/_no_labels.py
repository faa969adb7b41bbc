"""How good is it with no labels? Bounds from weak labels, against the hidden truth."""

from dataclasses import replace
from typing import Any

import numpy as np

from karat._extras import require
from karat._typing import AnyArray
from karat.bounds import PerformanceBounds, performance_bounds
from karat.cli.demo._models import Models
from karat.plot.pictures import draw_rows
from karat.report import Section, Table, figure_svg

__all__ = ["no_labels"]

# One rule for each kind of measurement: "among the largest, so malignant". The models read the
# means over all cells; the rules look at the worst cells.
_RULES = ("worst texture", "worst smoothness", "worst area")
_CUT, _UNSURE = 0.62, 0.05
_LABELS = 50
_CODE = """\
from karat.bounds import performance_bounds

performance_bounds(y_pred, weak_labels, metric="accuracy", rng=0)               # no labels used
performance_bounds(y_pred, weak_labels, metric="accuracy", y_true=gold, rng=0)  # some are known
"""


def no_labels(models: Models) -> Section:
    """Hide the labels, make weak ones, and bound both models' accuracy; then show 50 labels."""
    bounds = {name: _bound(models, name) for name in models.scores}
    helped = {name: _bound(models, name, _some_labels(models)) for name in models.scores}
    rows = {f"{name}, no labels": b for name, b in bounds.items()}
    rows |= {f"{name}, {_LABELS} labels": b for name, b in helped.items()}
    return Section(
        question="How good is it when nobody labelled the data?",
        answer=_answer(bounds, helped),
        figure=_figure(rows),
        figure_text="For each model, the bounds of its accuracy, their limits and the truth.",
        table=_table(rows),
        assumptions=(
            f"The weak labels are {len(_RULES)} rules, one measurement each, that abstain near "
            "their cut. No law of truth and prediction that agrees with them and with P(malignant "
            "| weak labels) lies outside the bounds; the limits add the sampling error, each "
            "one-sided at 95 %.",
            "P(malignant | weak labels) comes from the label model that is fitted where none is "
            "passed, and the bounds are only as right as it is. Votes cannot show that: "
            f"{_first(bounds).summary()}.",
            f"With {_LABELS} true labels, drawn at random, the limits are those of a "
            "prediction-powered estimate and do not rest on the label model.",
        ),
        code=_CODE,
    )


def _first(bounds: dict[str, PerformanceBounds]) -> PerformanceBounds:
    return next(iter(bounds.values()))


def _some_labels(models: Models) -> AnyArray:
    """Return the true labels of some items drawn at random, None elsewhere."""
    rows = np.random.default_rng(0).permutation(len(models.y_true))[:_LABELS]
    gold = np.full(len(models.y_true), None, dtype=object)
    gold[rows] = np.asarray(models.y_true, dtype=object)[rows]
    return gold


def _bound(models: Models, name: str, gold: AnyArray | None = None) -> PerformanceBounds:
    """Bound one model, and put the hidden truth beside it."""
    predicted = models.predict(name)
    b = performance_bounds(
        predicted, _weak_labels(models, _RULES), metric="accuracy", classes=models.classes,
        y_true=gold, rng=0,
    )  # fmt: skip
    return replace(b, truth=float(np.mean(predicted == models.y_true)))


def _weak_labels(models: Models, rules: tuple[str, ...]) -> AnyArray:
    """Return the rules' votes; None near the cut."""
    columns = []
    for name in rules:
        rank = np.argsort(np.argsort(models.measurements[name])) / len(models.y_true)
        vote = np.where(rank > _CUT, models.classes[1], models.classes[0]).astype(object)
        columns.append(np.where(np.abs(rank - _CUT) < _UNSURE, None, vote))
    return np.stack(columns, axis=1)


def _answer(bounds: dict[str, PerformanceBounds], helped: dict[str, PerformanceBounds]) -> str:
    said = "; ".join(
        f"{name} between {b.lower:.2f} and {b.upper:.2f} (limits {b.lower_limit:.2f} and "
        f"{b.upper_limit:.2f}), with {_LABELS} labels between {helped[name].lower_limit:.2f} and "
        f"{helped[name].upper_limit:.2f} (hidden truth {b.truth:.3f})"
        for name, b in bounds.items()
    )
    missed = [name for name, b in bounds.items() if not _holds(b)]
    rules = f"From {len(_RULES)} crude rules alone we know the accuracy if they are right: {said}."
    if missed:
        rules += (
            f" For {' and '.join(missed)} the rules alone are wrong, and nothing in the votes "
            f"shows it; {_LABELS} labels mend that."
        )
    return rules


def _holds(b: PerformanceBounds) -> bool:
    return b.truth is not None and b.lower_limit <= b.truth <= b.upper_limit


def _figure(bounds: dict[str, PerformanceBounds]) -> str:
    pyplot: Any = require("matplotlib.pyplot", purpose="the picture of the demo")
    figure, ax = pyplot.subplots(figsize=(6.4, 3.2), layout="constrained")
    draw_rows(ax, list(bounds.items()))
    ax.set_xlabel("accuracy")
    svg = figure_svg(figure)
    pyplot.close(figure)
    return svg


def _table(bounds: dict[str, PerformanceBounds]) -> Table:
    rows = tuple(
        (name, *(f"{v:.3f}" for v in (b.lower_limit, b.lower, b.upper, b.upper_limit, b.truth)))
        for name, b in bounds.items()
    )
    columns = ("model", "lower limit", "lower", "upper", "upper limit", "hidden truth")
    return Table(columns=columns, rows=rows, caption="Accuracy with no labels, and with few")
