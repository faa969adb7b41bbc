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
from karat.weak import DawidSkene, LabelModelCheck

__all__ = ["no_labels"]

# One rule for each kind of measurement: "among the largest, so malignant". The models read the
# means over all cells; the rules look at the worst cells.
_RULES = ("worst texture", "worst smoothness", "worst area")
# Rules that measure again what those do, and so make the same mistakes.
_MORE = ("worst concavity", "area error", "worst fractal dimension")
_CUT, _UNSURE = 0.62, 0.05
_CODE = """\
from karat.bounds import performance_bounds
from karat.weak import DawidSkene

label_model = DawidSkene(rng=0).fit(weak_labels)        # no labels used
performance_bounds(y_pred, weak_labels, label_model, metric="accuracy", rng=0)
"""


def no_labels(models: Models) -> Section:
    """Hide the labels, make weak ones, and bound both models' accuracy."""
    bounds = {name: _bound(models, name, _RULES) for name in models.scores}
    check = _bound(models, next(iter(models.scores)), _RULES + _MORE).check
    return Section(
        question="How good is it when nobody labelled the data?",
        answer=_answer(bounds),
        figure=_figure(bounds),
        figure_text="For each model, the bounds of its accuracy, their limits and the truth.",
        table=_table(bounds),
        assumptions=(
            f"The weak labels are {len(_RULES)} rules, one measurement each, that abstain near "
            "their cut. No law of truth and prediction that agrees with them lies outside the "
            "bounds; the limits add the sampling error, each one-sided at 95 %.",
            "P(malignant | weak labels) comes from a Dawid–Skene model fitted to the votes alone, "
            "and the bounds are only as right as it is. With three labelers the votes cannot "
            "contradict it: a few true labels, passed as y_true, could.",
            _warning(check),
        ),
        code=_CODE,
    )


def _bound(models: Models, name: str, rules: tuple[str, ...]) -> PerformanceBounds:
    """Bound one model without labels, and put the hidden truth beside it."""
    votes = _weak_labels(models, rules)
    label_model = DawidSkene(rng=0).fit(votes, classes=models.classes)
    predicted = models.predict(name)
    b = performance_bounds(predicted, votes, label_model, metric="accuracy", rng=0)
    return replace(b, truth=float(np.mean(predicted == models.y_true)))


def _weak_labels(models: Models, rules: tuple[str, ...]) -> AnyArray:
    """Return the rules' votes; None near the cut."""
    columns = []
    for name in rules:
        rank = np.argsort(np.argsort(models.measurements[name])) / len(models.y_true)
        vote = np.where(rank > _CUT, models.classes[1], models.classes[0]).astype(object)
        columns.append(np.where(np.abs(rank - _CUT) < _UNSURE, None, vote))
    return np.stack(columns, axis=1)


def _answer(bounds: dict[str, PerformanceBounds]) -> str:
    said = "; ".join(
        f"{name} between {b.lower:.2f} and {b.upper:.2f} (limits {b.lower_limit:.2f} and "
        f"{b.upper_limit:.2f}; hidden truth {b.truth:.3f})"
        for name, b in bounds.items()
    )
    return f"From {len(_RULES)} crude rules and no labels we know the accuracy: {said}."


def _warning(check: LabelModelCheck | None) -> str:
    """Say what karat says of more rules, which are not independent."""
    if check is None or not check.contradicted:
        return f"With {len(_MORE)} more rules the votes still do not contradict the label model."
    return (
        f"With {len(_MORE)} more rules that measure the same things again, the bounds would be "
        f"narrower and wrong, and karat says so first: {check.reasons[0]}."
    )


def _figure(bounds: dict[str, PerformanceBounds]) -> str:
    pyplot: Any = require("matplotlib.pyplot", purpose="the picture of the demo")
    figure, ax = pyplot.subplots(figsize=(5.2, 2.5), layout="constrained")
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
    return Table(columns=columns, rows=rows, caption="Accuracy with no labels")
