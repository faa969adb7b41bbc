"""Bounds of several models from the same weak labels: each model, and the best beside each other.

`bound_models` computes them and `ModelBounds` says what came out; ``answer`` makes the lines and
the page of ``karat bounds``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat._result import Result
from karat._sentences import Sentence
from karat._typing import Frame
from karat.bounds import DifferenceBounds, PerformanceBounds, difference_bounds, performance_bounds
from karat.bounds.result import ModelRanking
from karat.metrics import GroupMetric, as_metric
from karat.report.answer import Answer, Finding, finding, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = ("items", "lower limit", "lower", "upper", "upper limit", "with true labels", "truth")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ModelBounds(Result):
    """What `bound_models` found.

    Attributes
    ----------
    results : mapping
        By model, the bounds with their limits.
    differences : mapping
        By the best model and each other one, the bounds of their difference.
    labelers : tuple of str
        The weak labelers.
    """

    results: Mapping[str, PerformanceBounds]
    differences: Mapping[tuple[str, str], DifferenceBounds]
    labelers: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return a sentence for each model and each difference."""
        return " ".join(line for line in self.text() if line)

    def text(self) -> list[str]:
        """Return the lines: each model with its groups, then the differences."""
        said = [f"predictions: {', '.join(self.results)}; weak labels: {', '.join(self.labelers)}"]
        for name, b in self.results.items():
            said += ["", Sentence(f"{name}: ", b.summary()), *_checked(b)]
            for group, part in (b.groups or {}).items():
                said.append(Sentence(f"  {group}: ", part.summary()))
                said += [] if part.truth is None else [f"  {group}: {_truth(part)}"]
        for (best, other), d in self.differences.items():
            better = f"{best} or {other}? {_verdict(best, other, d)}. "
            said += ["", Sentence(better, d.what_decides())]
        return said

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the bounds of every model on one axis, and return the axes."""
        return self._all.plot(ax)

    @property
    def _all(self) -> ModelRanking:
        return ModelRanking(
            names=tuple(self.results),
            bounds=tuple(self.results.values()),
            by="average",
            certain=False,
        )

    def _columns(self) -> dict[str, Any]:
        each = self.results.values()
        return {"model": list(self.results)} | {
            name: [getattr(b, name) for b in each]
            for name in ("lower", "upper", "lower_limit", "upper_limit", "n")
        }

    def answer(self, name: str, code: Callable[..., str] = lambda *_: "") -> Answer:
        """Return the lines and the page; ``code`` gives the lines about one model, or two."""
        results, differences = self.results, self.differences
        data: dict[str, Any] = {"results": results}
        if differences:
            data["differences"] = [
                d.to_dict() | {"first": best, "second": other, "what_decides": d.what_decides()}
                for (best, other), d in differences.items()
            ]
        return Answer(
            data=data,
            text=self.text(),
            title=f"{name}: how good with {_how_many(results)}",
            introduction="Bounds from weak labels: every law that agrees with the predictions, the "
            "votes and the label model has a value between them.",
            findings=lambda: [
                *([_together(results, self._all)] if len(results) > 1 else []),
                *(_difference(*two, d, code(*two)) for two, d in differences.items()),
                *(_one_model(model, b, code(model)) for model, b in results.items()),
            ],
        )


def bound_models(
    predictions: Mapping[str, Any],
    weak_labels: Frame,
    label_model: Any,
    *,
    groups: Any = None,
    labelers: Sequence[str] = (),
    **options: Any,
) -> ModelBounds:
    """Bound models from the same weak labels, and the best one minus each other.

    Parameters
    ----------
    predictions : mapping
        Predictions by the name of the model.
    weak_labels : frame
        The weak labels.
    label_model : object
        The label model, fitted.
    groups : column, optional
        Groups that are bounded apart.
    labelers : sequence of str
        Names of the weak labelers.
    **options
        As in `karat.bounds.performance_bounds`, the metric among them.

    Examples
    --------
    >>> import polars as pl
    >>> from karat.evaluation.bounded import bound_models
    >>> from karat.weak import MajorityVote
    >>> votes = pl.DataFrame({"a": [1, 1, 0, 0] * 20, "b": [1, 0, 0, 0] * 20})
    >>> models = {"one": [1, 1, 0, 0] * 20, "two": [0, 0, 1, 1] * 20}
    >>> found = bound_models(models, votes, MajorityVote().fit(votes), metric="accuracy", rng=0)
    >>> list(found.differences)
    [('one', 'two')]
    """
    results = {
        name: performance_bounds(said, weak_labels, label_model, groups=groups, **options)
        for name, said in predictions.items()
    }
    pairs = {}
    if len(results) > 1 and not isinstance(as_metric(options["metric"]), GroupMetric):
        best, *others = sorted(results, key=lambda name: _standing(results[name]), reverse=True)
        pairs = {
            (best, other): difference_bounds(
                predictions[best], predictions[other], weak_labels, label_model, **options
            )
            for other in others
        }
    return ModelBounds(results=results, differences=pairs, labelers=tuple(labelers))


def _standing(b: PerformanceBounds) -> float:
    return float((b.lower + b.upper) / 2 if b.gold is None else b.value)


def _how_many(results: Mapping[str, PerformanceBounds]) -> str:
    gold = next(iter(results.values())).gold
    return "no labels" if gold is None else f"{gold.n:,} true labels"


def _verdict(best: str, other: str, d: DifferenceBounds) -> str:
    """Return which of the two is better, or that it cannot be said, and the limits."""
    limits = f"{d.metric.title} of {best} minus {other} between {d.lower_limit:.3f} and "
    limits += f"{d.upper_limit:.3f}"
    if d.lower_limit > 0:
        return f"{best} is better: {limits}"
    if d.upper_limit < 0:
        return f"{other} is better: {limits}"
    return f"It cannot be decided yet: {limits}"


def _together(results: Mapping[str, PerformanceBounds], every: ModelRanking) -> Finding:
    """Return the finding that shows all models on one axis."""
    first = next(iter(results.values()))
    said = "; ".join(
        f"{name} between {b.lower_limit:.3f} and {b.upper_limit:.3f}" for name, b in results.items()
    )
    said = f"{first.metric.title[:1].upper()}{first.metric.title[1:]} of {said}"
    return finding(
        "Which model is better?",
        said if first.gold is not None else first.with_caveat(said),
        every,
        picture=f"Bounds and limits of {first.metric.title} of every model on one axis.",
        table=table(_COLUMNS, [(name, *_numbers(b)) for name, b in results.items()]),
    )


def _difference(best: str, other: str, d: DifferenceBounds, code: str) -> Finding:
    return finding(
        f"Is {best} better than {other}?",
        f"{_verdict(best, other, d)}. {d.what_decides()}",
        d,
        picture=f"Interval of the difference in {d.metric.title}, with its confidence limits.",
        assumptions=(d.summary(),),
        code=code,
    )


def _checked(b: PerformanceBounds) -> list[str]:
    """Return the metric itself, where every true label is known."""
    return [] if b.truth is None else [_truth(b)]


def _truth(b: PerformanceBounds) -> str:
    return f"{b.metric.title} with the true labels: {b.truth:.4f}"


def _one_model(name: str, b: PerformanceBounds, code: str) -> Finding:
    parts = [("all", b), *((str(group), part) for group, part in (b.groups or {}).items())]
    return finding(
        f"How good is {name}?",
        b.summary(),
        b,
        picture=f"Interval of {b.metric.title} for {name}, with its confidence limits.",
        table=table(_COLUMNS, [(f"{who} ({p.n:,})", *_numbers(p)) for who, p in parts]),
        assumptions=(
            "P(Y | weak labels) comes from a label model; the bounds are only as right as it is.",
            *(
                ()
                if b.gold is None
                else ("The limits with true labels hold if those were drawn at random.",)
            ),
            *(() if b.check is None else b.check.reasons),
        ),
        code=code,
    )


def _numbers(b: PerformanceBounds) -> tuple[str, ...]:
    shown = (b.bounds_limits.lower, b.lower, b.upper, b.bounds_limits.upper, b.truth)
    gold = "" if b.gold is None else f"{b.gold.lower:.3f} to {b.gold.upper:.3f}"
    return (
        *("" if v is None else f"{v:.3f}" for v in shown[:4]),
        gold,
        "" if b.truth is None else f"{b.truth:.3f}",
    )
