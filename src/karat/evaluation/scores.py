"""Metrics of several models on the same labelled rows: each with its limits, and which is best.

`score_models` measures them and `ModelScores` says what came out; ``answer`` makes the lines and
the page of ``karat score``.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._result import Result, plain
from karat._sentences import Sentence
from karat._typing import Column
from karat.audit import best_of_many
from karat.audit.result import ModelTiers
from karat.evaluation.questions import below_one_class
from karat.exceptions import KaratWarning
from karat.metrics import GroupMetric, as_metric
from karat.metrics.base import MetricBase
from karat.metrics.result import MetricEstimate
from karat.report.answer import Answer, Finding, finding, table
from karat.report.parts import Table, Verdict
from karat.statistics import Confusion

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ModelScores(Result):
    """What `score_models` found.

    Attributes
    ----------
    results : mapping
        By model and by metric, the metric with its limits.
    comparisons : mapping
        By metric, which models are best; empty for one model.
    verdicts : tuple of Verdict
        What takes the ground from under the rest: models that one class would beat.
    weight : str
        What the weights of rows are called, nothing without weights.
    """

    results: Mapping[str, Mapping[str, MetricEstimate]]
    comparisons: Mapping[str, ModelTiers]
    verdicts: tuple[Verdict, ...] = ()
    weight: str = ""

    def summary(self) -> str:
        """Return a sentence for each model and metric, and one for each comparison."""
        return " ".join(f"{text}." for text in self.text() if isinstance(text, str))

    def text(self) -> list[str | Table]:
        """Return the lines: what voids the rest stands first, then models, then comparisons."""
        said: list[str | Table] = [f"[{v.badge}] {v.sentence}" for v in self.verdicts]
        for name, found in self.results.items():
            for one in found.values():
                said.append(Sentence(f"{name}: ", one.summary()))
                said += [f"  {who}: {part.summary()}" for who, part in (one.groups or {}).items()]
                said += [f"  {gap.summary()}" for gap in one.gaps]
        for tiers in self.comparisons.values():
            said += [tiers.summary(), *(f"  {gap.summary()}" for gap in tiers.pairs)]
        return said

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw which models are best, or the one model, and return the axes."""
        alone = [one for found in self.results.values() for one in found.values()]
        shown: list[Result] = [*self.comparisons.values(), *alone]
        return shown[0].plot(ax)

    def _columns(self) -> dict[str, Any]:
        rows = [
            (name, title, one.value, one.lower, one.upper, one.n)
            for name, found in self.results.items()
            for title, one in found.items()
        ]
        names = ("model", "metric", "value", "lower", "upper", "n")
        return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))

    def answer(self, name: str, codes: Mapping[tuple[str, str], str] | None = None) -> Answer:
        """Return the lines and the page; ``codes`` are by model and metric."""
        sample = "Labelled rows are a random sample of what the limits speak of"
        sample += f" once each counts by its {self.weight}." if self.weight else "."
        return Answer(
            data={
                "verdicts": plain(self.verdicts),
                "results": self.results,
                "comparisons": self.comparisons,
            },
            text=self.text(),
            title=f"{name}: scores",
            introduction="Metrics of labelled rows, with limits.",
            verdicts=self.verdicts,
            findings=lambda: [
                *map(_which_is_best, self.comparisons.values()),
                *(
                    _how_good(model, one, sample, (codes or {}).get((model, title), ""))
                    for model, found in self.results.items()
                    for title, one in found.items()
                ),
            ],
        )


def score_models(
    y_true: Column | Mapping[str, Confusion],
    predictions: Mapping[str, Any] | None,
    metrics: Mapping[str, MetricBase | str],
    *,
    groups: Column | None = None,
    clusters: Column | None = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    weight: str = "weight",
    pos_label: Any = None,
    confidence: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> ModelScores:
    """Measure models on the same labelled rows, and compare them by every metric.

    Parameters
    ----------
    y_true : column (n,), or mapping of name to Confusion
        True labels. Or, with None for ``predictions``, the confusion of each model: models are then
        not compared, which takes how they err together.
    predictions : mapping or None
        Predictions by the name of the model.
    metrics : mapping
        Metrics by the name to show.
    groups, clusters, sample_weight, weighting, pos_label, confidence, rng
        As in the ``estimate`` of a metric. With weights that are no numbers of rows every model is
        scored alone.
    weight : str, default "weight"
        What the weights are called.

    Examples
    --------
    >>> from karat.evaluation.scores import score_models
    >>> models = {"a": [1, 1, 0, 0] * 20, "b": [1, 0, 0, 1] * 20}
    >>> scores = score_models([1, 1, 0, 0] * 20, models, {"accuracy": "accuracy"}, rng=0)
    >>> scores.comparisons["accuracy"].best
    ('a',)
    >>> scores.to_frame()["model"].to_list()
    ['a', 'b']
    """
    shared: dict[str, Any] = {"pos_label": pos_label, "confidence": confidence, "rng": rng}
    own: dict[str, Any] = {"groups": groups, "clusters": clusters, "sample_weight": sample_weight}
    if weighting == "frequency":
        own["weighting"] = shared["weighting"] = weighting
        shared["sample_weight"] = sample_weight
    named = "" if sample_weight is None or weighting == "frequency" else weight
    given = shared | {name: value for name, value in own.items() if value is not None}
    found = {title: as_metric(metric) for title, metric in metrics.items()}
    if predictions is None or isinstance(y_true, Mapping):
        return _of_counts(y_true, found, given)
    results = {
        name: {title: metric.estimate(y_true, said, **given) for title, metric in found.items()}
        for name, said in predictions.items()
    }
    weighed: dict[str, Any] = {"sample_weight": sample_weight}
    weighed["weighting"] = weighting or "importance"
    below = below_one_class(y_true, predictions, **weighed, by=named)
    return ModelScores(
        results=results,
        comparisons=_compared(y_true, predictions, found, named, shared),
        verdicts=() if below is None else (below,),
        weight=named,
    )


def _of_counts(
    confusions: Any, metrics: Mapping[str, MetricBase], options: dict[str, Any]
) -> ModelScores:
    """Measure each model by its confusion."""
    results = {
        name: {title: metric.estimate(one, **options) for title, metric in metrics.items()}
        for name, one in confusions.items()
    }
    below = below_one_class(None, confusions)
    verdicts = () if below is None else (below,)
    return ModelScores(results=results, comparisons={}, verdicts=verdicts)


def _compared(
    y_true: Any,
    predictions: Mapping[str, Any],
    metrics: Mapping[str, MetricBase],
    weight: str,
    options: dict[str, Any],
) -> dict[str, ModelTiers]:
    """Return which of several models are best, by metric; a metric of groups compares none."""
    if len(predictions) < 2:
        return {}
    plain_ones = {t: m for t, m in metrics.items() if not isinstance(m, GroupMetric)}
    if plain_ones and weight:
        said = "models are not compared: differences do not heed --weight"
        warnings.warn(said, KaratWarning, stacklevel=3)
        return {}
    return {
        title: best_of_many(predictions, y_true, metric=metric, **options)
        for title, metric in plain_ones.items()
    }


def _which_is_best(tiers: ModelTiers) -> Finding:
    return finding(
        f"Which model is best in {tiers.metric.title}?",
        tiers.summary(),
        tiers,
        picture="Every model with its limits, by tier.",
        table=table(
            ("pair", "lower", "difference", "upper"),
            [
                (f"{g.first} − {g.second}", f"{g.lower:+.3f}", f"{g.value:+.3f}", f"{g.upper:+.3f}")
                for g in tiers.pairs
            ],
        ),
        assumptions=(
            "Limits of the differences hold for all pairs together.",
            *(("Limits by each other metric hold by themselves.",) if tiers.reversed_by else ()),
        ),
    )


def _how_good(name: str, e: MetricEstimate, sample: str, code: str) -> Finding:
    parts = [("all", e), *((str(who), part) for who, part in (e.groups or {}).items())]
    return finding(
        f"How good is {name} in {e.metric.title}?",
        e.summary(),
        e,
        picture=f"{e.metric.title} of {name} with its limits.",
        table=table(
            ("items", "labels", "lower", "value", "upper"),
            [
                (who, f"{p.n:,}", f"{p.lower:.3f}", f"{p.value:.3f}", f"{p.upper:.3f}")
                for who, p in parts
            ],
        ),
        assumptions=(sample,),
        code=code,
    )
