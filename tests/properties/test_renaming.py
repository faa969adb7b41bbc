"""What labels are called changes no number, for every public callable that takes labels.

Every case below computes the numbers of some public callables under one naming of the classes, and
puts whatever is per class back into one order. Under any bijection of the names, with the positive
class said by ``pos_label=`` or by ``metric.with_classes``:

* numbers of a formula are the same up to rounding;
* numbers that are drawn stay within their Monte-Carlo error, which is measured by drawing again;
* if the new names sort as the old ones, every number is the same to the last bit.

Callables are found by looking: one with a parameter of `LABELS` must be in a case, or in
`NO_NUMBER` with the reason, or a test fails.
"""

import importlib
import inspect
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

import karat
from karat import (
    audit,
    bounds,
    calibration,
    consensus,
    decisions,
    elicit,
    metrics,
    optimize,
    ranking,
    statistics,
    votes,
    weak,
)
from karat._result import Result
from karat.exceptions import LabelError
from karat.metrics.base import MetricBase

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),  # few rows are few
    pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn"),
]

# --- names


@dataclass(frozen=True)
class Names:
    """What the classes 0..k-1 and the groups 0 and 1 are called; of two classes 1 is positive.

    ``by_metric`` says that a metric names the classes, in place of ``pos_label=``.
    """

    labels: tuple[Any, ...]
    groups: tuple[Any, ...] = (0, 1)
    by_metric: bool = False

    @property
    def k(self) -> int:
        return len(self.labels)

    @property
    def positive(self) -> Any:
        return self.labels[-1]

    @cached_property
    def classes(self) -> np.ndarray:
        return np.array(self.labels)

    @cached_property
    def order(self) -> np.ndarray:
        """The codes in the order in which their names sort."""
        return np.argsort(self.classes, kind="stable")

    @property
    def pos(self) -> dict[str, Any]:
        return {"pos_label": self.positive} if self.k == 2 else {}

    def __call__(self, codes: Any) -> np.ndarray:
        return self.classes[np.asarray(codes)]

    def group(self, codes: Any) -> np.ndarray:
        return np.array(self.groups)[np.asarray(codes)]

    def votes(self, codes: Any) -> np.ndarray:
        """Return votes: -1 abstained."""
        if self.classes.dtype.kind == "U":
            return np.where(codes < 0, "-1", self.classes[codes])
        if self.classes.dtype.kind == "b":
            assert (np.asarray(codes) >= 0).all()
            return self.classes[codes]
        return np.where(codes < 0, -1, self.classes[codes])

    def gold(self, codes: Any) -> list[Any]:
        """Return true labels of some items, None where there is none."""
        return [None if c < 0 else self.labels[c] for c in np.asarray(codes).tolist()]

    def sorted(self, columns: np.ndarray) -> np.ndarray:
        """Return a matrix with a column per class in the order in which the names sort."""
        return columns[:, self.order]

    def asked(self, metric: Any) -> dict[str, Any]:
        """Return a metric and the positive class, as arguments."""
        known = metrics.as_metric(metric)
        if self.by_metric or (known.n_classes or 2) > 2:
            return {"metric": known.with_classes(self.labels)}
        return {"metric": metric, **self.pos}

    def call(self, metric: Any) -> tuple[Any, dict[str, Any]]:
        """Return a metric and the options of its methods."""
        said = self.asked(metric)
        return metrics.as_metric(said.pop("metric")), said

    def code(self, label: Any) -> int | None:
        """Return the code of a label or group; None if it is neither."""
        label = label.item() if isinstance(label, np.generic) else label
        for known in (self.labels, self.groups):
            for code, name in enumerate(known):
                if type(name) is type(label) and name == label:
                    return code
        return None

    def places(self, found: Any) -> list[int]:
        """Return where each class, or each group, is among those found."""
        known = list(np.asarray(found).tolist())
        names = self.labels if self.code(known[0]) is not None and known[0] in self.labels else ()
        names = names if set(known) <= set(names) else self.groups
        return [known.index(name) for name in names if name in known]

    def back(self, array: Any, found: Any, *axes: int) -> np.ndarray:
        """Return an array with the axes of classes in the order of the codes."""
        array = np.asarray(array)
        for axis in axes:
            array = np.take(array, self.places(found), axis=axis)
        return array


PAIRS = [
    ("low", "high"), ("high", "low"), ("genuine", "fraud"), ("fraud", "genuine"),
    ("healthy", "cancer"), ("normal", "abnormal"), ("no", "yes"), ("yes", "no"),
    ("1", "0"), ("0", "1"), ("False", "True"), ("ham", "spam"), ("not b", "b"), ("b", "not b"),
]  # fmt: skip
# Letters that sort, fold and encode in different ways.
LETTERS = "abcXYZ019_ éßñΩж猫"
MISSING = {"", "nan", "none", "null", "na", "n/a", "<na>", "missing", "tie"}


def folded(word: str) -> str:
    return word.strip().casefold()


def is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


WORDS = st.text(LETTERS, min_size=1, max_size=5).map(str.strip).filter(
    lambda w: folded(w) not in MISSING and not is_number(w)
)  # fmt: skip


@st.composite
def names_of(draw: Any, k: int, *, in_order: bool = False, votes: bool = False) -> Names:
    """Draw names of k classes: words, whole numbers, or for two classes booleans.

    Numbers of votes are not negative: -1 abstains.
    """
    words = st.lists(WORDS, min_size=k, max_size=k, unique_by=folded).map(tuple)
    least = 0 if votes else -50
    numbers = st.lists(st.integers(least, 2000), min_size=k, max_size=k, unique=True).map(tuple)
    kinds = [words, words, numbers, st.permutations(range(k)).map(tuple)]
    if k == 2:
        kinds += [st.sampled_from(PAIRS), st.sampled_from([(False, True), (True, False)])]
        kinds += [] if votes else [st.sampled_from([(-1, 1), (1, -1)])]
    labels = draw(st.one_of(kinds))
    groups = draw(st.sampled_from([("north", "south"), ("south", "north"), (70_007, 70_003)]))
    if in_order:
        labels, groups = tuple(sorted(labels)), tuple(sorted(groups))
    return Names(tuple(labels), groups, draw(st.booleans()))


# --- data


class Data:
    """Labels as codes, with whatever else a call needs."""

    def __init__(self, k: int, seed: int, n: int = 90) -> None:
        rng = np.random.default_rng(1000 * k + seed)
        self.k, self.n = k, n
        self.y = np.concatenate([np.arange(k), rng.choice(k, n - k, p=_shares(k))])
        self.x = rng.normal(size=(n, 3))
        self.x[:, :k] += 1.3 * np.eye(k, 3)[self.y][:, :k]
        logits = 1.2 * np.eye(k)[self.y] + rng.normal(size=(n, k))
        self.proba = np.round(np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True), 6)
        self.proba[:, -1] = 1 - self.proba[:, :-1].sum(axis=1)
        self.score = np.round(self.proba[:, -1], 2)  # with ties
        self.other_score = np.round(rng.random(n) + 0.5 * (self.y == k - 1), 1)
        self.a, self.b = (self._noisy(rng, rate) for rate in (0.2, 0.35))
        self.votes = np.stack([self._noisy(rng, r) for r in (0.1, 0.15, 0.2, 0.3, 0.25)], axis=1)
        self.abstains = bool(seed % 2)
        if self.abstains:
            self.votes[rng.random(self.votes.shape) < 0.15] = -1
        self.some = np.where(np.arange(n) % 3 == 0, self.y, -1)  # true labels of some
        self.groups = np.arange(n) // 2 % 2
        self.clusters = np.arange(n) // 3
        self.weight = rng.integers(1, 5, n) / 2

    def _noisy(self, rng: np.random.Generator, rate: float) -> np.ndarray:
        wrong = rng.random(self.n) < rate
        return np.where(wrong, (self.y + rng.integers(1, self.k, self.n)) % self.k, self.y)


def _shares(k: int) -> np.ndarray:
    shares = np.arange(k, 0, -1) + 1.0
    return shares / shares.sum()


# --- numbers of a result

# Words that no label is part of.
SAID = {"status", "method", "guarantee", "certificate", "by", "design", "why", "badge"}
# Fields that hold labels, or names of other things.
SKIPPED = {"deferred_check", "classes", "names", "notes", "title", "note", "metric", "transcript",
           "description", "procedure", "path", "polarity"}  # fmt: skip


def numbers(thing: Any, names: Names, per_class: Mapping[str, tuple[int, ...]] = {}) -> dict:
    """Return every number of a result by its path, with ``per_class`` axes in one order."""
    return dict(_numbers(thing, names, per_class, "", None))


def _numbers(
    thing: Any, names: Names, per_class: Mapping[str, tuple[int, ...]], path: str, owner: Any
) -> Iterator[tuple[str, Any]]:
    field = path.rpartition(".")[2]
    if field in SKIPPED:
        return
    if field == "pos_label":
        yield path, names.code(thing)
    elif thing is None or isinstance(thing, bool | int | float | np.number | np.bool_):
        yield path, thing
    elif isinstance(thing, str):
        if field in SAID:
            yield path, thing
    elif isinstance(thing, np.ndarray):
        if thing.dtype.kind in "biuf":
            axes = per_class.get(field, ())
            yield path, names.back(thing, owner.classes, *axes) if axes else thing
    elif isinstance(thing, Mapping):
        for key, value in thing.items():
            code = names.code(key)
            yield from _numbers(value, names, per_class, f"{path}[{key if code is None else code}]",
                                owner)  # fmt: skip
    elif is_dataclass(thing):
        for f in fields(thing):
            inner = f"{path}.{f.name}" if path else f.name
            yield from _numbers(getattr(thing, f.name), names, per_class, inner, thing)
    elif isinstance(thing, list | tuple):
        parts = thing._asdict() if hasattr(thing, "_asdict") else dict(enumerate(thing))
        for key, value in parts.items():
            yield from _numbers(value, names, per_class, f"{path}.{key}", owner)


def limits(result: Any) -> np.ndarray:
    return np.array([result.value, result.lower, result.upper])


# --- cases

CASES: dict[str, "Case"] = {}


@dataclass(frozen=True)
class Case:
    """Numbers of some callables: ``run(data, names, rng)`` by name; ``~`` marks what is drawn."""

    run: Callable[[Data, Names, int], dict[str, Any]]
    covers: tuple[str, ...]
    sizes: tuple[int, ...]
    votes: bool
    examples: int
    tol: float


def case(
    *covers: str, sizes: tuple[int, ...] = (2, 3), votes: bool = False, examples: int = 12,
    tol: float = 1e-9,
) -> Callable[[Any], Any]:  # fmt: skip
    def keep(run: Any) -> Any:
        CASES[run.__name__] = Case(run, covers, sizes, votes, examples, tol)
        return run

    return keep


# --- metrics

NAMED = {
    name: value
    for name in metrics.__all__
    if isinstance(value := getattr(metrics, name), MetricBase)
}
COSTS = {2: [[0, 1], [5, 0]], 3: [[0, 1, 2], [3, 0, 1], [7, 2, 0]]}


def metrics_for(k: int) -> dict[str, Any]:
    """Return the named metrics and one of each kind that has weights, without names."""
    found = {name: m for name, m in NAMED.items() if m.n_classes in (None, k)}
    found |= {
        "costs": metrics.cost_matrix(COSTS[k]),
        "weighted": metrics.weighted_accuracy(np.arange(1, k + 1)),
        "linear": metrics.LinearMetric(np.arange(k * k).reshape(k, k) ** 1.5),
        "fractional": metrics.LinearFractionalMetric(
            np.diag(np.arange(1, k + 1)), 1 + np.arange(k * k).reshape(k, k), 0.1
        ),
        "polynomial": metrics.PolynomialMetric([-np.arange(1, k * k - k + 1)]),
        "quadratic": metrics.QuadraticMetric(
            -np.arange(1, k * k - k + 1), -np.diag(np.arange(1, k * k - k + 1))
        ),
        "power": metrics.PowerMeanMetric(np.arange(1, k + 1), 2),
        "macro f1": metrics.macro(metrics.f_beta(1)),
        "micro jaccard": metrics.micro(metrics.jaccard),
    }
    if k == 2:
        found |= {"f1": metrics.f_beta(1), "f2": metrics.f_beta(2)}
    return found


def named_outright(k: int, classes: Any) -> dict[str, Any]:
    """Return metrics whose constructors are given the names."""
    size = np.arange(1, k * k - k + 1)
    return {
        "costs": metrics.cost_matrix(COSTS[k], classes=classes),
        "weighted": metrics.weighted_accuracy(np.arange(1, k + 1), classes=classes),
        "linear": metrics.LinearMetric(
            np.arange(k * k).reshape(k, k) ** 1.5, classes=classes
        ),
        "fractional": metrics.LinearFractionalMetric(
            np.diag(np.arange(1, k + 1)), 1 + np.arange(k * k).reshape(k, k), 0.1, classes=classes
        ),
        "polynomial": metrics.PolynomialMetric([-size], classes=classes),
        "quadratic": metrics.QuadraticMetric(-size, -np.diag(size), classes=classes),
        "power": metrics.PowerMeanMetric(np.arange(1, k + 1), 2, classes=classes),
    }  # fmt: skip


def fair(k: int, kind: str, **names: Any) -> Any:
    cost = np.arange(1, k * k - k + 1)
    if kind == "gaps":
        return metrics.FairMetric(cost, [cost + 1], 0.4, **names)
    return metrics.FairQuadraticMetric(cost, [np.diag(cost + 1.0)], 0.4, **names)


@case(
    "metrics.LinearFractionalMetric.score", "metrics.FairMetric.with_classes",
    "metrics.cost_matrix", "metrics.weighted_accuracy", "metrics.LinearMetric",
    "metrics.LinearFractionalMetric", "metrics.PolynomialMetric", "metrics.QuadraticMetric",
    "metrics.PowerMeanMetric", "metrics.load_metric", "metrics.as_metric", "metrics.macro",
    "metrics.micro",
)  # fmt: skip
def metric_scores(d: Data, names: Names, rng: int) -> dict[str, Any]:
    y, p, out = names(d.y), names(d.a), {}
    own = dict(zip(names.groups, range(2), strict=True))
    for name, metric in metrics_for(d.k).items():
        known, said = names.call(metric)
        if known.n_classes is None and names.k > 2:
            known, said = metric, {}
        out[name] = known.score(y, p, sample_weight=d.weight, **said)
        each = known.score(y, p, groups=names.group(d.groups), **said)
        out[f"{name} by group"] = each[[sorted(own).index(g) for g in names.groups]]
        table = np.eye(d.k)[d.a] * 0.75 + 0.25 / d.k  # a randomised classifier
        known = metric.with_classes(names.labels)
        out[f"{name} of shares"] = known.score(y, names.sorted(table))
        called = pl.DataFrame({str(c): table[:, i] for i, c in enumerate(names.labels)})
        out[f"{name} of columns"] = known.score(y, called)
        out[f"{name} stated"] = metric.score(y, p, classes=names.classes)
    for name, metric in named_outright(d.k, names.labels).items():
        out[f"{name} outright"] = metric.score(y, p)
        again = metrics.load_metric(metric.to_json())
        out[f"{name} from a file"] = again.score(y, p)
        bare = json.loads(metric.with_classes(None).to_json())
        read = metrics.load_metric(json.dumps(bare), classes=names.labels)
        out[f"{name} named when read"] = read.score(y, p)
        out[f"{name} of counts"] = metric(statistics.confusion(y, p))
        out[f"{name} gradient"] = metric.gradient(statistics.confusion(y, p))
    return out


@case("metrics.FairMetric.estimate", examples=5)
def metric_estimates(d: Data, names: Names, rng: int) -> dict[str, Any]:
    y, p, out = names(d.y), names(d.a), {}
    for name, metric in metrics_for(d.k).items():
        known, said = names.call(metric)
        for how, more in {
            "plain": {}, "weights": {"sample_weight": d.weight},
            "clusters": {"clusters": d.clusters}, "groups": {"groups": names.group(d.groups)},
        }.items():  # fmt: skip
            if how != "plain" and name not in (
                "accuracy",
                "recall",
                "f1",
                "mcc",
                "costs",
                "macro f1",
            ):
                continue
            found = known.estimate(y, p, **more, **said, rng=rng)
            out |= estimated(f"{name} {how}", found, names)
    return out


def estimated(name: str, found: Any, names: Names) -> dict[str, Any]:
    """Return an estimate: its value, and limits that are drawn unless they are of a proportion."""
    drawn = "~" if found.method not in ("clopper-pearson",) else ""
    out = {f"{name} value": [found.value, found.n, found.n_effective, names.code(found.pos_label)
                             if found.pos_label is not None else -1]}  # fmt: skip
    out[f"{drawn}{name} limits"] = [found.lower, found.upper]
    for group, part in (found.groups or {}).items():
        out |= estimated(f"{name} {names.code(group)}", part, names)
    for gap in found.gaps or ():
        first, second = names.code(gap.first), names.code(gap.second)
        sign = 1 if first < second else -1
        ends = sorted([sign * gap.lower, sign * gap.upper])
        out[f"{name} gap"] = sign * gap.value
        out[f"~{name} gap limits"] = ends
    return out


@case("metrics.FairMetric.score", "metrics.FairMetric", "metrics.FairQuadraticMetric", examples=8)
def fair_metrics(d: Data, names: Names, rng: int) -> dict[str, Any]:
    y, p, g, out = names(d.y), names(d.a), names.group(d.groups), {}
    for kind in ("gaps", "squares"):
        known = fair(d.k, kind, classes=names.labels, groups=names.groups)
        out[kind] = known.score(y, p, groups=g, sample_weight=d.weight)
        found = known.estimate(y, p, groups=g, rng=rng)
        out[f"{kind} value"], out[f"~{kind} limits"] = found.value, [found.lower, found.upper]
        table = statistics.confusion(y, p, groups=g)
        out[f"{kind} of counts"] = known(table)
        out[f"{kind} gradient"] = known.gradient(table)
        if d.k == 2:
            by_label = fair(2, kind, groups=names.groups)
            out[f"{kind} by label"] = by_label.score(y, p, groups=g, pos_label=names.positive)
        out[f"{kind} stated"] = fair(d.k, kind, groups=names.groups).score(
            y, p, groups=g, classes=names.classes
        )
    return out


@case("metrics.LinearFractionalMetric.as_scorer", examples=6)
def metric_scorers(d: Data, names: Names, rng: int) -> dict[str, Any]:
    y, out = names(d.y), {}
    model = GaussianNB().fit(d.x, y)
    for name, metric in metrics_for(d.k).items():
        known, said = names.call(metric)
        if d.k > 2 and known.n_classes is None:
            known = metric
        out[name] = known.as_scorer(**said)(model, d.x, y, sample_weight=d.weight)
        out[f"{name} stated"] = metric.as_scorer(classes=names.classes)(model, d.x, y)
    return out


@case(
    "metrics.LinearMetric.bayes_classifier",
    "metrics.accuracy.bayes_classifier", "decisions.BayesClassifier",
    "decisions.BayesClassifier.of",
    "decisions.BayesClassifier.predict", "decisions.BayesClassifier.expected_gain",
)  # fmt: skip
def bayes_rules(d: Data, names: Names, rng: int) -> dict[str, Any]:
    rule = metrics.cost_matrix(COSTS[d.k], classes=names.labels).bayes_classifier()
    stated = metrics.cost_matrix(COSTS[d.k]).bayes_classifier(classes=names.classes)
    plain = metrics.accuracy.bayes_classifier(names.classes)
    weights = -np.array(COSTS[d.k])
    made = decisions.BayesClassifier.of(weights, names.classes)
    itself = decisions.BayesClassifier(weights=weights, classes=names.classes)
    rules = [rule, stated, plain, made, itself]
    out = {str(i): codes(r.predict(d.proba), names) for i, r in enumerate(rules)}
    return out | {"gain": rule.expected_gain(d.proba)}


def codes(labels: Any, names: Names) -> list[int]:
    found = [names.code(label) for label in np.asarray(labels).tolist()]
    assert None not in found
    return found


# --- counts


@case(
    "statistics.confusion", "statistics.rates", "statistics.Confusion.in_order",
    "statistics.Confusion.in_group_order",
)  # fmt: skip
def confusions(d: Data, names: Names, rng: int) -> dict[str, Any]:
    y, p, g, out = names(d.y), names(d.a), names.group(d.groups), {}
    for name, count in {"confusion": statistics.confusion, "rates": statistics.rates}.items():
        found = count(y, p, sample_weight=d.weight)
        out[name] = names.back(found.counts, found.classes, 0, 1)
        out[f"{name} rates"] = names.back(found.rates, found.classes, 0, 1)
        apart = count(y, p, groups=g)
        by_class = names.back(apart.counts, apart.classes, 1, 2)
        out[f"{name} by group"] = names.back(by_class, apart.groups, 0)
        out[f"{name} in order"] = found.in_order(names.classes).counts
        out[f"{name} stated"] = count(y, p, classes=names.classes).counts
        sorted_groups = apart.in_group_order(np.array(names.groups)).in_order(names.classes)
        out[f"{name} in order of groups"] = sorted_groups.counts
    return out


def rows_of_votes(patterns: Any, found: Any, names: Names, *columns: Any) -> np.ndarray:
    """Return patterns as rows of codes beside their counts, in one order."""
    place = np.array([names.code(c) for c in np.asarray(found).tolist()])
    coded = np.where(patterns >= 0, place[np.maximum(patterns, 0)], patterns)
    table = np.column_stack([coded, *columns])
    return table[np.lexsort(table[:, : coded.shape[1]].T[::-1])]


@case("statistics.patterns", "votes.read_patterns", votes=True)
def vote_patterns(d: Data, names: Names, rng: int) -> dict[str, Any]:
    cast, out = names.votes(d.votes), {}
    for name, read in {"patterns": statistics.patterns, "read": votes.read_patterns}.items():
        for how, more in {"": {}, " stated": {"classes": names.classes}}.items():
            seen = read(cast, sample_weight=d.weight, **more)
            squares = 0 * seen.counts if seen.squares is None else seen.squares
            out[name + how] = rows_of_votes(
                seen.patterns, seen.classes, names, seen.counts, squares
            )
            place = np.array(codes(seen.classes, names))
            back = np.where(seen.patterns >= 0, place[np.maximum(seen.patterns, 0)], -1)
            assert np.array_equal(back[seen.ids], d.votes)
    return out


@case("statistics.pattern_counts", votes=True)
def predictions_by_votes(d: Data, names: Names, rng: int) -> dict[str, Any]:
    out = {}
    for how, more in {"": {}, " stated": {"classes": names.classes}}.items():
        seen = statistics.pattern_counts(names(d.a), names.votes(d.votes), **more)
        counts = names.back(seen.counts, seen.classes, 1)
        out[how] = rows_of_votes(seen.patterns, seen.classes, names, counts)
        apart = statistics.pattern_counts(
            names(d.a), names.votes(d.votes), groups=names.group(d.groups), **more
        )
        by_class = names.back(apart.counts, apart.classes, 2)
        by_group = names.back(by_class, apart.groups, 0)
        flat = np.moveaxis(by_group, 0, 1).reshape(len(apart.patterns), -1)
        out[f"groups{how}"] = rows_of_votes(apart.patterns, apart.classes, names, flat)
    return out


@case("statistics.roc_counts", sizes=(2,))
def roc_counts(d: Data, names: Names, rng: int) -> dict[str, Any]:
    y, out = names(d.y), {}
    data = karat.scan(pl.LazyFrame({"y": y, "s": d.score})).roles(label="y", score="s")
    for name, found in {
        "label": statistics.roc_counts(y, d.score, **names.pos),
        "stated": statistics.roc_counts(y, d.score, classes=names.classes),
        "weights": statistics.roc_counts(y, d.score, sample_weight=d.weight, **names.pos),
        "scan": data.roc_counts(cells=1 << 20, **names.pos),
        "cells": data.roc_counts(cells=7, **names.pos),
    }.items():
        assert codes(found.classes, names) == [0, 1]
        out |= {f"{name} {key}": value for key, value in numbers(found, names).items()}
    return out


def table_of(d: Data, names: Names, **more: Any) -> pl.DataFrame:
    cast = names.votes(d.votes)
    columns = {f"lf_{j}": cast[:, j] for j in range(cast.shape[1])}
    return pl.DataFrame(
        {"y": names(d.y), "a": names(d.a), "b": names(d.b), "s": d.score, "t": d.other_score,
         "g": names.group(d.groups), "w": d.weight, **columns, **more}
    )  # fmt: skip


@case(
    "sources.Source.confusion", "sources.Source.pattern_counts", "sources.Source.vote_counts",
    "sources.Source.roles", "sources.scan", "sources.Source.counts", votes=True, examples=8,
)  # fmt: skip
def counts_of_a_table(d: Data, names: Names, rng: int) -> dict[str, Any]:
    source = karat.scan(table_of(d, names)).roles(label="y", pred="a", weak="lf_*", judge="lf_*")
    out: dict[str, Any] = {}
    for how, more in {"": {}, " stated": {"classes": names.classes}}.items():
        found = source.confusion(**more)
        out[f"confusion{how}"] = names.back(found.counts, found.classes, 0, 1)
        seen = source.pattern_counts(**more)
        counts = names.back(seen.counts, seen.classes, 1)
        out[f"patterns{how}"] = rows_of_votes(seen.patterns, seen.classes, names, counts)
        cast = source.vote_counts(**more)
        place = np.append(codes(cast.classes, names), -1)
        told = np.asarray(cast.label).reshape(-1, 1)
        out[f"votes{how}"] = rows_of_votes(
            np.column_stack([cast.votes, told]), cast.classes, names, cast.counts
        )
        assert set(place.tolist()) == {-1, *range(d.k)}
    every = karat.scan(table_of(d, names)).roles(
        label="y", pred=["a", "b"], weak="lf_*", **({"score": ["s", "t"]} if d.k == 2 else {})
    )
    found = every.counts(**names.pos)
    for pred, table in found.confusions.items():
        out[f"counts {pred}"] = names.back(table.counts, table.classes, 0, 1)
    for score, curve in (found.roc or {}).items():
        out |= {f"counts {score} {key}": v for key, v in numbers(curve, names).items()}
    return out


@case("sources.Source.roc_counts", "sources.Source.joint_roc_counts", sizes=(2,), examples=8)
def roc_counts_of_a_table(d: Data, names: Names, rng: int) -> dict[str, Any]:
    frame = pl.DataFrame({"y": names(d.y), "s": d.score, "t": d.other_score})
    source, out = karat.scan(frame).roles(label="y", score=["s", "t"]), {}
    two = [source.roc_counts(name, **names.pos) for name in ("s", "t")]
    for name, found in {
        "s": two[0], "t": two[1], "stated": source.roc_counts("s", classes=names.classes),
        "joint": source.joint_roc_counts(*two, names=("s", "t"), cells=5),
    }.items():  # fmt: skip
        out |= {f"{name} {key}": value for key, value in numbers(found, names).items()}
    return out


# --- ranking


@case(
    "ranking.weighted_auc", "ranking.average_precision", "ranking.precision_at",
    "ranking.recall_at", "ranking.lift", "ranking.net_benefit", "ranking.cost_curve",
    "ranking.roc_at", "ranking.roc_auc", sizes=(2,), examples=8,
)  # fmt: skip
def rankings(d: Data, names: Names, rng: int) -> dict[str, Any]:
    y, s, g, said = names(d.y), d.score, names.group(d.groups), names.pos
    counts = statistics.roc_counts(y, s, **said)
    band = ranking.FprBand(0, 0.5)
    region = ranking.TwoWayBand(fpr=ranking.FprBand(0, 0.6), tpr=ranking.TprBand(0.3, 1))
    found = {
        "area": ranking.weighted_auc(y, s, **said),
        "partial": ranking.roc_auc(y, s, max_fpr=0.3, **said),
        "stated": ranking.weighted_auc(y, s, classes=names.classes),
        "band": ranking.weighted_auc(y, s, weight=band, sample_weight=d.weight, **said),
        "both ways": ranking.weighted_auc(y, s, weight=ranking.TprBand(0.4, 1), **said),
        "approximate": ranking.weighted_auc(y, s, limits="approximate", **said),
        "groups": ranking.weighted_auc(y, s, groups=g, **said),
        "counts": ranking.weighted_auc(counts, weight=band),
        "average precision": ranking.average_precision(y, s, groups=g, **said),
        "precision": ranking.precision_at(y, s, share=0.2, groups=g, **said),
        "recall": ranking.recall_at(y, s, k=20, **said),
        "lift": ranking.lift(y, s, share=0.3, sample_weight=d.weight, **said),
        "net benefit": ranking.net_benefit(y, s, threshold=0.4, groups=g, **said),
        "cost curve": ranking.cost_curve(y, s, **said),
        "roc at": ranking.roc_at(y, s, fpr=0.2, **said),
        "resampled": ranking.weighted_auc(
            y, s, weight=region, rng=rng, **said
        ),
    }  # fmt: skip
    return flat(found, names)


def flat(found: Mapping[str, Any], names: Names, **per_class: tuple[int, ...]) -> dict[str, Any]:
    """Return the numbers of several results."""
    return {
        f"{name} {key}": value
        for name, result in found.items()
        for key, value in numbers(result, names, per_class).items()
    }


@case(
    "ranking.compare_rankings", sizes=(2,), examples=8,
)  # fmt: skip
def comparisons_of_rankings(d: Data, names: Names, rng: int) -> dict[str, Any]:
    y, said, both = names(d.y), names.pos, {"one": d.score, "two": d.other_score / 2}
    counts = {name: statistics.roc_counts(y, s, **said) for name, s in both.items()}
    at = {"precision_at": {"share": 0.3}, "recall_at": {"k": 20}, "net_benefit": {"threshold": 0.4}}
    found = {
        measure: ranking.compare_rankings(y, both, measure=measure, **at.get(measure, {}), **said)
        for measure in ("precision_at", "recall_at", "average_precision", "net_benefit")
    }
    found["areas"] = ranking.compare_rankings(y, both, **said)
    found["weights"] = ranking.compare_rankings(y, both, sample_weight=d.weight, **said)
    found["counts"] = ranking.compare_rankings(counts)
    return flat(found, names)


@case("ranking.weighted_auc", "ranking.average_precision", sizes=(3,), examples=8)
def each_class_against_the_rest(d: Data, names: Names, rng: int) -> dict[str, Any]:
    y, table = names(d.y), names.sorted(d.proba)
    measures = {
        "area": ranking.weighted_auc,
        "average precision": ranking.average_precision,
    }
    found = {}
    for average in ("macro", "micro"):
        for name, measure in measures.items():
            found[f"{name} {average}"] = measure(y, table, average=average)
            found[f"{name} {average} stated"] = measure(
                y, d.proba, average=average, classes=names.classes
            )
    own = pl.DataFrame({str(c): d.proba[:, i] for i, c in enumerate(names.labels)})
    found["columns"] = ranking.weighted_auc(y, own)
    return flat(found, names)


# --- calibration


@case(
    "calibration.canonical_calibration_error", "calibration.calibration_certificate",
    "calibration.marginal_calibration_error", examples=6,
)  # fmt: skip
def calibration_of_classes(d: Data, names: Names, rng: int) -> dict[str, Any]:
    y, table = names(d.y), names.sorted(d.proba)
    named = pl.DataFrame({str(c): d.proba[:, i] for i, c in enumerate(names.labels)})
    out: dict[str, Any] = {}
    for how, prob in {"sorted": table, "named": named}.items():
        found = calibration.marginal_calibration_error(y, prob, bins=5)
        places = places_of(found.names, names)
        out[f"{how} marginal"] = [found.value, found.debiased]
        out[f"{how} marginal per label"] = np.asarray(found.per_label)[places]
        certificate = calibration.calibration_certificate(y, prob, rng=rng)
        out[f"{how} certificate"] = certificate.confidence
        out[f"~{how} certificate"] = [certificate.value, certificate.lower]
        whole = calibration.canonical_calibration_error(y, prob, rng=rng)
        places = places_of(whole.names, names)
        drawn = [whole.value, whole.debiased, whole.lower, whole.upper, whole.p_value]
        out[f"~{how} canonical"] = drawn
        out[f"~{how} canonical per label"] = np.asarray(whole.per_label)[places]
    return out


def places_of(found: Any, names: Names) -> list[int]:
    """Return where each class is; classes that are numbered have no name, and are sorted."""
    known = list(found)
    if known == [f"label {j}" for j in range(len(known))]:
        return np.argsort(names.order).tolist()
    return [known.index(str(c)) for c in names.labels]


@case(
    "calibration.CopulaCalibrator.fit", "calibration.CopulaCalibrator.score",
    "calibration.CopulaCalibrator.cross_fit_transform", examples=4, tol=1e-6,
)  # fmt: skip
def calibrated_classes(d: Data, names: Names, rng: int) -> dict[str, Any]:
    y, table = names(d.y), names.sorted(d.proba)
    fitted = calibration.CopulaCalibrator(rng=rng).fit(y, table)
    back = np.argsort(names.order)
    out = {"~map": fitted.transform(table)[:, back], "~weights": fitted.weights_}
    crossed = calibration.CopulaCalibrator(rng=rng)
    out["~crossed"] = crossed.cross_fit_transform(y, table, n_folds=3)[:, back]
    score = fitted.score(y, table)
    return out | {"before": score.before, "~after": score.after}


@case("calibration.marginal_calibration_error", sizes=(2,))
def calibration_of_counts(d: Data, names: Names, rng: int) -> dict[str, Any]:
    counts = statistics.roc_counts(names(d.y), d.score, **names.pos)
    return flat({"": calibration.marginal_calibration_error(counts, bins=5)}, names)


@case(
    "calibration.canonical_calibration_error", "calibration.marginal_calibration_error",
    "ranking.weighted_auc", "ranking.average_precision", examples=4,
)  # fmt: skip
def names_of_several_labels(d: Data, names: Names, rng: int) -> dict[str, Any]:
    """Labels that a row may have together: columns are renamed, and come in another order."""
    has = {str(c): (d.votes[:, i] == 1).astype(int) for i, c in enumerate(names.labels)}
    prob = {str(c): np.clip(d.proba[:, i], 0.01, 0.99) for i, c in enumerate(names.labels)}
    y, h = pl.DataFrame(has), pl.DataFrame({c: prob[c] for c in sorted(prob)})
    texts = Names(tuple(str(c) for c in names.labels))
    area = ranking.weighted_auc(y, h)
    found = calibration.marginal_calibration_error(y, h, bins=5)
    whole = calibration.canonical_calibration_error(y, h, rng=rng)
    return {
        "marginal": [found.value, *found.per_label],
        "~canonical": [whole.value, whole.lower, whole.upper, *whole.per_label],
        **flat({"area": area, "precision": ranking.average_precision(y, h)}, texts),
    }


# --- bounds and label models


def label_models(d: Data, names: Names) -> dict[str, Any]:
    cast = names.votes(d.votes)
    return {
        "default": None,
        "majority": weak.MajorityVote().fit(cast),
        "oracle": weak.OracleLabelModel().fit(cast, names(d.y)),
    }


WEIGHED = {2: ("accuracy", "precision", "f1", "mcc", "costs"), 3: ("accuracy", "macro f1", "costs")}


def bounded(found: Any) -> dict[str, Any]:
    """Return bounds, which are drawn where folds are, and their limits, which are drawn."""
    drawn = "~" if found.method == "crossfit" else ""
    values = {f"{drawn}bounds": [found.lower, found.upper]}
    rest = {"label_model_estimate": "", "agree": "", "value": drawn}
    values |= {
        f"{d}{name}": getattr(found, name) for name, d in rest.items() if hasattr(found, name)
    }
    limits = [found.lower_limit, found.upper_limit]
    return values | {"n": found.n, "method": found.method, "~limits": limits}


def all_bounded(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        ("~" if key[0] == "~" else "") + f"{name} {key.lstrip('~')}": value
        for name, result in found.items()
        for key, value in bounded(result).items()
    }


@case("bounds.performance_bounds", votes=True, examples=3, tol=1e-7)
def bounds_of_a_model(d: Data, names: Names, rng: int) -> dict[str, Any]:
    p, cast, found = names(d.a), names.votes(d.votes), {}
    counts = statistics.pattern_counts(p, cast)
    for which, model in label_models(d, names).items():
        for name in WEIGHED[d.k]:
            said = names.asked(metrics_for(d.k)[name])
            here = f"{which} {name}"
            found[here] = bounds.performance_bounds(p, cast, model, **said, rng=rng)
            found[f"{here} plugin"] = bounds.performance_bounds(
                p, cast, model, **said, method="plugin", rng=rng
            )
            found[f"{here} counts"] = bounds.performance_bounds(
                counts, label_model=model, **said, rng=rng
            )
    said = names.asked(metrics_for(d.k)["accuracy"])
    own = names.gold(d.some)
    found["gold"] = bounds.performance_bounds(p, cast, **said, y_true=own, rng=rng)
    prior = {"class_prior": dict(zip(names.labels, np.bincount(d.y) / d.n, strict=True))}
    found["prior"] = bounds.performance_bounds(p, cast, **said, **prior, rng=rng)
    found["robust"] = bounds.performance_bounds(p, cast, **said, robustness=0.1, rng=rng)
    found["weights"] = bounds.performance_bounds(
        p, cast, **said, sample_weight=d.weight, clusters=d.clusters, rng=rng
    )
    grouped = bounds.performance_bounds(
        p, cast, **said, groups=names.group(d.groups), rng=rng
    )  # fmt: skip
    found |= {f"group {names.code(g)}": part for g, part in grouped.groups.items()}
    return all_bounded(found)


@case("bounds.difference_bounds", "bounds.rank_models", votes=True, examples=5, tol=1e-7)
def bounds_of_differences(d: Data, names: Names, rng: int) -> dict[str, Any]:
    a, b, cast, found = names(d.a), names(d.b), names.votes(d.votes), {}
    for name in ("accuracy", *(["f1", "costs"] if d.k == 2 else [])):
        said = names.asked(metrics_for(d.k)[name])
        found[name] = bounds.difference_bounds(a, b, cast, **said, rng=rng)
        found[f"{name} plugin"] = bounds.difference_bounds(
            a, b, cast, **said, method="plugin", rng=rng
        )
        found[f"{name} gold"] = bounds.difference_bounds(
            a, b, cast, **said, y_true=names.gold(d.some), rng=rng
        )
        counts = statistics.pattern_counts(a, cast, b)
        found[f"{name} counts"] = bounds.difference_bounds(counts, **said, rng=rng)
    ranked = bounds.rank_models(
        {"model a": a, "model b": b}, cast, **names.asked(metrics_for(d.k)["accuracy"]), rng=rng
    )
    found |= {f"ranked {m}": b for m, b in zip(ranked.names, ranked.bounds, strict=True)}
    return all_bounded(found) | {"first": ranked.names[0]}


@case(
    "bounds.robustness_curve", "bounds.weak_label_value", votes=True, examples=5, tol=1e-7,
)  # fmt: skip
def bounds_without_and_beyond(d: Data, names: Names, rng: int) -> dict[str, Any]:
    p, cast = names(d.a), names.votes(d.votes)
    said = names.asked(metrics_for(d.k)["f1" if d.k == 2 else "costs"])
    out: dict[str, Any] = {}
    for method, drawn in {"crossfit": "~", "plugin": ""}.items():
        curve = bounds.robustness_curve(
            p, cast, **said, deltas=[0, 0.1, 0.3], claim=0.5, method=method, rng=rng
        )
        value = bounds.weak_label_value(p, cast, **said, method=method, rng=rng)
        out |= {
            f"{drawn}{method} curve": [curve.lower, curve.upper],
            f"~{method} curve": [curve.lower_limit, curve.upper_limit],
            f"{drawn}{method} breaks": curve.breaks_at,
            f"{drawn}{method} narrowing": value.narrowing[np.argsort(value.names)],
        }
        out |= all_bounded({f"{method} full": value.full})
    return out


@case("bounds.bounds_curve", sizes=(2,), votes=True, examples=6, tol=1e-7)
def bounds_over_thresholds(d: Data, names: Names, rng: int) -> dict[str, Any]:
    said = names.asked("f1")
    out: dict[str, Any] = {}
    for method, drawn in {"crossfit": "~", "plugin": ""}.items():
        for how, more in {"": {}, " known": {"y_true": names.gold(d.some)}}.items():
            curve = bounds.bounds_curve(
                d.score, names.votes(d.votes), **said, **more, thresholds=[0.3, 0.5, 0.7],
                method=method, rng=rng,
            )  # fmt: skip
            out[f"{drawn}{method}{how}"] = [curve.lower, curve.upper]
            out[f"~{method}{how} limits"] = [curve.lower_limit, curve.upper_limit]
    return out


@case("bounds.expectation_bounds", votes=True, examples=6, tol=1e-7)
def bounds_of_means(d: Data, names: Names, rng: int) -> dict[str, Any]:
    g, cast = np.round(d.proba, 3), names.votes(d.votes)
    return all_bounded({
        "sorted": bounds.expectation_bounds(names.sorted(g), cast, rng=rng),
        "stated": bounds.expectation_bounds(g, cast, classes=names.classes, rng=rng),
        "entropy": bounds.expectation_bounds(
            g, cast, method="smoothed", classes=names.classes, rng=rng
        ),
    })  # fmt: skip


@case(
    "weak.DawidSkene.fit", "weak.OracleLabelModel.fit",
    "consensus.ConsensusLabelModel.predict_proba",
    "consensus.ConsensusLabelModel.predict_pattern_proba", votes=True, examples=8, tol=1e-6,
)  # fmt: skip
def label_model_probabilities(d: Data, names: Names, rng: int) -> dict[str, Any]:
    cast, out = names.votes(d.votes), {}
    prior = np.bincount(d.y) / d.n
    options: dict[str, Any] = {
        "": {}, "gold": {"y_true": names.gold(d.some)},
        "prior": {"class_prior": dict(zip(names.labels, prior, strict=True))},
        "stated": {"class_prior": prior, "classes": names.classes},
        "weights": {"sample_weight": d.weight},
    }  # fmt: skip
    kinds = [weak.MajorityVote, weak.DetectorLabelModel, weak.DawidSkene, weak.OracleLabelModel]
    kinds += [weak.TripletLabelModel] if d.k == 2 else []
    for kind in kinds:
        for how, more in options.items():
            if kind is weak.OracleLabelModel:
                more = {"y_true": names(d.y), **more}
            made = kind(rng=rng) if kind is weak.DawidSkene else kind()
            model = made.fit(cast, **more)
            found = names.back(model.predict_proba(cast), model.classes_, 1)
            out[f"{kind.__name__} {how}"] = found
            seen = votes.read_patterns(cast, classes=model.classes_)
            again = model.predict_pattern_proba(seen.patterns)[seen.ids]
            np.testing.assert_allclose(names.back(again, model.classes_, 1), found, atol=1e-12)
    return out


class Constant:
    """A model with Snorkel's interface: the share of votes of each code."""

    def __init__(self, k: int) -> None:
        self.cardinality = k

    def predict_proba(self, table: np.ndarray) -> np.ndarray:
        counts = np.stack([(table == c).sum(axis=1) + 1.0 for c in range(self.cardinality)], axis=1)
        return counts / counts.sum(axis=1, keepdims=True)


@case(
    "weak.check_label_model", "weak.vote_diagnostics", "weak.from_snorkel", votes=True, examples=6,
    tol=1e-6,
)  # fmt: skip
def checks_of_votes(d: Data, names: Names, rng: int) -> dict[str, Any]:
    cast = names.votes(d.votes)
    out = {}
    for how, more in {"": {}, "gold": {"y_true": names.gold(d.some)}}.items():
        model = weak.DawidSkene(rng=0).fit(cast)
        found = weak.check_label_model(cast, model, **more, rng=rng)
        for key, value in numbers(found, names).items():
            if key in ("prior", "prior_gap") and value is not None and np.ndim(value):
                value = names.back(value, found.classes, 0)
            out[f"~{how} {key}" if key.endswith(("_z", "p_value")) else f"{how} {key}"] = value
    told = weak.vote_diagnostics(cast)
    out |= {f"polarity {j}": sorted(codes(p, names)) for j, p in enumerate(told.polarity)}
    out |= flat({"told": told}, names, votes=(1,))
    out |= flat({"stated": weak.vote_diagnostics(cast, classes=names.classes)}, names, votes=(1,))
    model = weak.from_snorkel(Constant(d.k), classes=names.classes)
    return out | {"snorkel": model.predict_proba(cast)}


# --- consensus


def voters(d: Data) -> np.ndarray:
    """Return votes of all items, more of them, in which all voters see something."""
    rng = np.random.default_rng(17 + d.k)
    y = np.tile(d.y, 3)
    wrong = rng.random((len(y), 5)) < [0.05, 0.1, 0.15, 0.2, 0.3]
    other = (y[:, None] + rng.integers(1, d.k, wrong.shape)) % d.k
    found = np.where(wrong, other, y[:, None])
    if d.abstains:
        found[rng.random(found.shape) < 0.1] = -1
    return found


def fitted(d: Data, names: Names, rng: int, **options: Any) -> consensus.ErrorEstimator:
    made = consensus.ErrorEstimator(**{"draws": 150, "chains": 2, "dependence": "none"} | options,
                                    rng=rng)  # fmt: skip
    return made.fit(names.votes(voters(d)))


@case(
    "consensus.ErrorEstimator.fit", "consensus.ErrorEstimator.as_label_model",
    "consensus.ErrorEstimator.agreement", "consensus.cheapest_panel",
    "consensus.ConsensusLabelModel", votes=True, examples=4,
)  # fmt: skip
def errors_of_voters(d: Data, names: Names, rng: int) -> dict[str, Any]:
    cast, out = voters(d), {}
    gold = np.where(np.arange(len(cast)) % 4 == 0, np.tile(d.y, 3), -1)
    for how, model in {
        "plain": fitted(d, names, rng),
        "symmetric": fitted(d, names, rng, errors="symmetric"),
        "stated": consensus.ErrorEstimator(draws=150, chains=2, dependence="none", rng=rng).fit(
            names.votes(cast), classes=names.classes
        ),
        "gold": consensus.ErrorEstimator(draws=150, chains=2, dependence="none", rng=rng).fit(
            names.votes(cast), y_true=names.gold(gold)
        ),
    }.items():
        r = model.result_
        assert len(r.domains) == 1
        out[f"{how} status"] = str(r.status)
        out[f"{how} votes"] = r.votes
        out[f"~{how} rates"] = [r.value, r.lower, r.upper]
        out[f"~{how} finite"] = [r.finite.value, r.finite.lower, r.finite.upper]
        confusion = np.asarray(r.confusion)
        place = names.places(model.classes_)
        taken = np.take(confusion, place, axis=-2)
        last = [*place, *range(d.k, confusion.shape[-1])]
        out[f"~{how} confusion"] = np.take(taken, last, axis=-1)
        shares = np.stack([r.prevalence.value, r.prevalence.lower, r.prevalence.upper])
        out[f"~{how} prevalence"] = np.take(shares, place, axis=-1)
        out[f"~{how} labels"] = names.back(model.label_proba_, model.classes_, 1)
        told = model.as_label_model().predict_proba(names.votes(cast))
        out[f"~{how} label model"] = names.back(told, model.classes_, 1)
        seen = model.agreement()
        out[f"{how} observed"], out[f"~{how} expected"] = seen.observed, [seen.expected, seen.z]
        panel = consensus.cheapest_panel(model, draws=5, tolerance=0.2)
        out[f"~{how} loss"] = [panel.value, panel.error_of_all]
        out[f"{how} exact"] = panel.exact
    labelled = model.from_labels()
    columns = [c for c in labelled.columns if labelled[c].dtype.kind == "f"]
    out["~from labels"] = labelled.sort_values("classifier")[columns].to_numpy()
    return out


@case("consensus.compare_models", votes=True, examples=3)
def models_of_votes(d: Data, names: Names, rng: int) -> dict[str, Any]:
    found = consensus.compare_models(
        names.votes(d.votes), dependence=["none"], errors=["symmetric", "class-conditional"],
        structure=["independent"], folds=3, rng=rng,
    )  # fmt: skip
    order = np.argsort(found.errors)
    return {
        "n": found.n, "~fit": np.asarray(found.log_likelihood)[order],
        "~weight": np.asarray(found.weight)[order],
    }  # fmt: skip


def shown_twice(d: Data) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    u = rng.normal(np.where(d.y == 0, 1, -1)[:, None] * [1.4, 1.2, 1.0, 1.0], 1)
    bias = np.array([0.0, 0.5, 1.0, 0.2])
    return (u + bias <= 0).astype(int), (u - bias <= 0).astype(int)


@case("consensus.position_bias", sizes=(2,), votes=True, examples=8)
def bias_of_positions(d: Data, names: Names, rng: int) -> dict[str, Any]:
    first, second = (names(side) for side in shown_twice(d))
    found = consensus.position_bias(first, second, classes=names.labels)
    place = consensus.position_bias(first, second, classes=names.labels, says="position")
    return flat({"answer": found, "position": place}, names)


@case(
    "consensus.PairEstimator.fit", "consensus.PairEstimator.label_next", "consensus.rank_systems",
    sizes=(2,), votes=True, examples=3,
)  # fmt: skip
def errors_on_pairs(d: Data, names: Names, rng: int) -> dict[str, Any]:
    first, second = (names(side) for side in shown_twice(d))
    out: dict[str, Any] = {}
    made = consensus.PairEstimator(draws=150, chains=2, dependence="none", rng=rng)
    for how, more in {"": {}, "gold": {"y_true": names.gold(d.some)}}.items():
        fit = made.fit(first, second, classes=names.labels, **more)
        r = fit.result_
        out |= {
            f"~{how} rates": [r.value, r.lower, r.upper], f"{how} bias": r.bias.value,
            f"~{how} cost": [r.cost.value, r.cost.lower, r.cost.upper],
            f"~{how} labels": fit.label_proba_, f"{how} status": str(r.status),
        }  # fmt: skip
    one, two = np.resize(["x", "y", "z"], (2, d.n + 1))[:, :-1]
    judged = made.fit(first, second, classes=names.labels)
    asked = judged.label_next(3)
    out["asked"] = len(asked)
    for how, more in {"": {}, "gold": {"y_true": names.gold(d.some)}}.items():
        if more:
            more = {"y_true": names.gold(np.where(np.arange(d.n) % 5 < 2, d.y, -1))}
        ranked = consensus.rank_systems(judged, one, two, **more, rng=rng)
        order = np.argsort(ranked.systems)
        out[f"~{how} strength"] = np.stack([ranked.value, ranked.lower, ranked.upper])[:, order]
        out[f"{how} n"] = ranked.n_gold
    return out


@case(
    "consensus.ScoreEstimator.fit", "consensus.ScoreEstimator.predict_proba", sizes=(2,),
    votes=True, examples=3,
)  # fmt: skip
def errors_of_scores(d: Data, names: Names, rng: int) -> dict[str, Any]:
    scores = np.random.default_rng(3).normal(3.0 * d.y[:, None], 1.0, (d.n, 4))
    out: dict[str, Any] = {}
    fit = consensus.ScoreEstimator(draws=100, chains=2, rng=rng).fit(
        scores, classes=names.labels, y_true=names.gold(d.some)
    )
    r = fit.result_
    assert codes(fit.classes_, names) == [0, 1]
    out["~rates"], out["~area"] = (
        [r.value, r.lower, r.upper],
        [r.area.value, r.area.lower, r.area.upper],
    )
    out["~labels"], out["status"] = fit.label_proba_, str(r.status)
    out["~again"] = fit.predict_proba(scores)
    return out


@case("consensus.annotator_test", votes=True, examples=8)
def judge_in_place_of_a_person(d: Data, names: Names, rng: int) -> dict[str, Any]:
    people = np.stack([d._noisy(np.random.default_rng(j), 0.25) for j in range(5)], axis=1)
    found = consensus.annotator_test(names(d.a), names(people), epsilon=0.15)
    return flat({"": found}, names)


# --- audits


@case(
    "audit.gate", "audit.assert_at_least", "audit.best_of_many", examples=5
)  # fmt: skip
def gates(d: Data, names: Names, rng: int) -> dict[str, Any]:
    y, a, b, out = names(d.y), names(d.a), names(d.b), {}
    for name in WEIGHED[d.k]:
        if name == "mcc":  # it has no limits at every look
            continue
        said = names.asked(metrics_for(d.k)[name])
        least = 0.55 if name != "costs" else -2.0
        found = audit.gate(y, a, least, **said, shuffle=True, rng=rng)
        out |= {f"{name} {key}": v for key, v in gate_numbers(found).items()}
        if found.status == "PASS":
            audit.assert_at_least(y, a, least, **said, shuffle=True, rng=rng)
        else:
            with pytest.raises(AssertionError):
                audit.assert_at_least(y, a, least, **said, shuffle=True, rng=rng)
        tiers = audit.best_of_many({"model a": a, "model b": b}, y, **said, rng=rng)
        order = np.argsort(tiers.names)
        out[f"{name} values"] = np.asarray(tiers.value)[order]
        out[f"~{name} limits"] = np.stack([tiers.lower, tiers.upper])[:, order]
        out[f"{name} tiers"] = str(tiers.tiers)
    return out


def gate_numbers(found: Any) -> dict[str, Any]:
    return {
        "status": found.status, "n": found.n_labels, "estimate": found.value,
        "limits": [found.lower, found.upper],
    }  # fmt: skip


@case("audit.judged_rate", votes=True, examples=8)
def judged_rates(d: Data, names: Names, rng: int) -> dict[str, Any]:
    cast, gold = names.votes(d.votes), names.gold(d.some)
    said = {"pos_label": names.positive}
    other = names.votes(np.roll(d.votes, 1, axis=1))
    chance = {"labels": "probability", "label_probability": np.full(d.n, 1 / 3)}
    found = {
        "several": audit.judged_rate(cast, gold, **said, rng=rng),
        "one": audit.judged_rate(names(d.a), gold, **said, clusters=d.clusters, rng=rng),
        "chance": audit.judged_rate(cast, gold, **chance, **said, rng=rng),
        "finite": audit.judged_rate(cast, gold, finite=True, **said, rng=rng),
        "against": audit.judged_rate(
            cast, gold, against=other, y_true_against=gold, **said, rng=rng
        ),
        "stated": audit.judged_rate(cast, gold, classes=names.labels, rng=rng),
    }  # fmt: skip
    balanced = audit.judged_rate(cast, gold, labels="by-class", **said, rng=rng)
    return flat(found, names) | {
        "balanced": [balanced.value, balanced.judged, balanced.n_labels],
        "~balanced": [balanced.lower, balanced.upper],
    }  # fmt: skip


@case(
    "audit.Audit", "audit.Audit.tell", "audit.Audit.resume", examples=3, votes=True
)  # fmt: skip
def audits(d: Data, names: Names, rng: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    kinds: dict[str, Any] = {
        "plain": {}, "proba": {"proba": names.sorted(d.proba)},
        "votes": {"votes": names.votes(d.votes)},
        "groups": {"groups": names.group(d.groups)}, "against": {"against": names(d.b)},
    }  # fmt: skip
    if d.k == 2:
        kinds |= {"scores": {"scores": d.score}, "column": {"proba": d.score}}
    for name in ("accuracy", "f1" if d.k == 2 else "macro f1", "costs"):
        for how, more in kinds.items():
            if name != "accuracy" and how not in ("plain", "scores"):
                continue
            run = audit.Audit(names(d.a), **names.asked(metrics_for(d.k)[name]), **more, rng=rng)
            told(run, run.ask(30)["item"].to_list(), d, names)
            r, here = run.result, f"{name} {how}"
            out[f"{here} n"] = [r.n_labels, r.n_items]
            out[f"~{here}"] = [r.value, r.lower, r.upper]
            out[f"~{here} anytime"] = [r.anytime_lower, r.anytime_upper]
            for group, part in (r.groups or {}).items():
                out[f"~{here} {names.code(group)}"] = [part.value, part.lower, part.upper]
            if how in ("plain", "groups", "against"):  # with every label nothing is left to chance
                left = 60 if how != "against" else int((d.a != d.b).sum()) - 30
                told(run, run.ask(left)["item"].to_list(), d, names)
                out[f"{here} complete"] = run.result.value
    run = audit.Audit(names(d.a), **names.asked(metrics_for(d.k)["costs"]), rng=rng)
    told(run, run.ask(90)["item"].to_list(), d, names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "audit.json"
        run.save(path)
        again = audit.Audit.resume(path, names(d.a))
        out["resumed"] = again.result.value
    return out


def told(run: audit.Audit, rows: list[int], d: Data, names: Names) -> None:
    run.tell({row: names.labels[d.y[row]] for row in rows})


# --- decisions and classifiers


@case(
    "decisions.Attainable", "decisions.Attainable.from_proba",
    "decisions.Attainable.from_calibrated", "decisions.maximise", examples=5, tol=1e-6,
)  # fmt: skip
def best_decisions(d: Data, names: Names, rng: int) -> dict[str, Any]:
    y, out = names(d.y), {}
    some = decisions.Attainable.from_proba(y, d.proba, classes=names.classes)
    for name in WEIGHED[d.k]:
        metric = metrics_for(d.k)[name]
        for how, known in {"": metric, " named": metric.with_classes(names.labels)}.items():
            best = decisions.maximise(known, some)
            out[name + how] = best.value
    sorted_columns = decisions.Attainable.from_proba(y, names.sorted(d.proba))
    out["accuracy sorted"] = decisions.maximise(metrics.accuracy, sorted_columns).value
    calm = decisions.Attainable.from_calibrated(names.sorted(d.proba))
    out["calibrated"] = decisions.maximise(metrics.accuracy, calm).value
    made = decisions.Attainable(calm.blocks)
    out["blocks"] = decisions.maximise(metrics.accuracy, made).value
    groups = tuple(sorted(names.groups))
    fairly = decisions.Attainable.from_proba(
        y, d.proba, groups=names.group(d.groups), classes=names.classes
    )
    if d.k > 2:  # where labels are counted, what is found depends on where the search starts
        fairly = decisions.Attainable.from_calibrated(d.proba, groups=names.group(d.groups))
    best = decisions.maximise(fair(d.k, "gaps", classes=names.labels, groups=groups), fairly)
    out["fair"] = best.value
    out["shares"] = names.back(best.confusion.sum(axis=(1, 2)), best.groups, 0)
    return out


@pytest.mark.parametrize("labels", [("high", "low"), ("fraud", "genuine"), ("b", "d")])
def test_what_is_attainable_keeps_its_classes(labels):
    """The columns of f1 are negative and positive: in any other order the call is refused."""
    d = _data(2, 0)
    y = np.array(labels)[1 - d.y]  # the first one is positive
    some = decisions.Attainable.from_proba(y, d.proba[:, ::-1])
    with pytest.raises(LabelError, match="pass classes="):
        decisions.maximise(metrics.f_beta(1), some)
    with pytest.raises(LabelError, match="pass classes="):
        decisions.maximise(metrics.f_beta(1).with_classes(labels[::-1]), some)
    right = decisions.Attainable.from_proba(y, d.proba, classes=labels[::-1])
    numbered = decisions.Attainable.from_proba(d.y, d.proba)
    for metric in (metrics.f_beta(1), metrics.f_beta(1).with_classes(labels[::-1])):
        wanted = decisions.maximise(metrics.f_beta(1), numbered).value
        assert decisions.maximise(metric, right).value == wanted
    known = fair(2, "gaps", groups=("south", "north"))
    grouped = decisions.Attainable.from_proba(
        d.y, d.proba, groups=np.array(["north", "south"])[d.groups]
    )
    with pytest.raises(LabelError, match="in that order"):
        decisions.maximise(known, grouped)


@case(
    "optimize.CoordinateSearchClassifier", "optimize.CostSensitiveClassifier",
    "optimize.FrankWolfeClassifier", "optimize.PlugInClassifier",
    "optimize.CoordinateSearchClassifier.fit_from_proba",
    "optimize.CoordinateSearchClassifier.predict_from_proba",
    "optimize.CoordinateSearchClassifier.predict_proba_from_proba",
    examples=4, tol=1e-6,
)  # fmt: skip
def classifiers_from_probabilities(d: Data, names: Names, rng: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    y, y_val = names(d.y[:60]), names(d.y[30:])
    kinds = {
        "coordinate": (optimize.CoordinateSearchClassifier, {}),
        "costs": (optimize.CostSensitiveClassifier, {}),
        "plug-in": (optimize.PlugInClassifier, {}),
        "frank-wolfe": (optimize.FrankWolfeClassifier, {"n_iter": 4, "rng": rng}),
    }
    for name in ("costs", "accuracy", *(["f1"] if d.k == 2 else ["macro f1"])):
        for kind, (make, more) in kinds.items():
            if kind == "costs" and name in ("f1", "macro f1"):
                continue
            said = names.asked(metrics_for(d.k)[name])
            # With three classes a search goes class by class, in the order of the columns.
            stated = d.k > 2 and kind != "costs"
            table = d.proba if stated else names.sorted(d.proba)
            made = make(**said, **more).fit_from_proba(
                table[:60], y, proba_val=table[30:], y_val=y_val,
                classes=names.classes if stated else None,
            )  # fmt: skip
            shares = names.back(made.predict_proba_from_proba(table), made.classes_, 1)
            out[f"{kind} {name} value"] = as_value(metrics_for(d.k)[name], d.y, shares)
            out[f"{kind} {name} shares"] = shares
            if kind != "frank-wolfe":  # whose rules are drawn, row by row
                out[f"{kind} {name} called"] = codes(made.predict_from_proba(table), names)
    return out


def as_value(metric: Any, y: np.ndarray, shares: np.ndarray) -> float:
    """Return the value of a randomised classifier, in the order of the codes."""
    k = shares.shape[1]
    return float(metric(np.eye(k)[y].T @ shares / len(y)))


@case(
    "optimize.CoordinateSearchClassifier.fit", "optimize.ImportanceWeightedClassifier.fit",
    examples=3, tol=1e-6,
)  # fmt: skip
def classifiers_from_rows(d: Data, names: Names, rng: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    rows = {"X_val": d.x[30:], "y_val": names(d.y[30:])}
    said = names.asked(metrics_for(d.k)["costs"])
    for kind, made in {
        "coordinate": optimize.CoordinateSearchClassifier(GaussianNB(), **said),
        "costs": optimize.CostSensitiveClassifier(GaussianNB(), **said),
        "plug-in": optimize.PlugInClassifier(GaussianNB(), **said),
        "importance": optimize.ImportanceWeightedClassifier(
            GaussianNB(), discriminator=GaussianNB()
        ),
    }.items():  # fmt: skip
        fit = made.fit(d.x[:60], names(d.y[:60]), **rows)
        shares = names.back(fit.predict_proba(d.x), fit.classes_, 1)
        value = as_value(metrics_for(d.k)["costs"], d.y, shares)
        out[f"{kind} value" if d.k == 2 else f"~{kind} value"] = value
        if d.k == 2:
            out[f"{kind} called"] = codes(fit.predict(d.x), names)
    return out


@case(
    "ranking.WeightedAUCClassifier", "ranking.WeightedAUCClassifier.fit", sizes=(2,), examples=4
)  # fmt: skip
def ranking_classifier(d: Data, names: Names, rng: int) -> dict[str, Any]:
    """As in scikit-learn scores above 0 are for the second class, sorted."""
    made = ranking.WeightedAUCClassifier(ranking.FprBand(0, 0.5), **names.pos).fit(
        d.x, names(d.y)
    )  # fmt: skip
    sign = 1 if made.classes_[1] == names.positive else -1
    called = codes(made.predict(d.x), names)
    return {"coef": sign * made.coef_, "cut": sign * made.intercept_, "called": called}


# --- elicitation


@case(
    "elicit.BinarySpace", "elicit.BinarySpace.from_scores", "elicit.BinarySpace.from_counts",
    "elicit.BinarySpace.from_proba", "elicit.BinarySpace.from_calibrated",
    "elicit.BinarySpace.from_density", "elicit.Elicitation", "elicit.MetricOracle",
    "elicit.agreement_on", "elicit.evaluation_pairs", "elicit.shared_metric",
    "decisions.RandomizedClassifier", "decisions.RandomizedClassifier.predict",
    "decisions.RandomizedClassifier.predict_proba", sizes=(2,), examples=4,
)  # fmt: skip
def elicited_for_two_classes(d: Data, names: Names, rng: int) -> dict[str, Any]:
    y, out = names(d.y), {}
    person = elicit.MetricOracle(metrics.cost_matrix([[0, 1], [4, 0]]))
    counts = statistics.roc_counts(y, d.score, **names.pos)
    spaces = {
        "label": elicit.BinarySpace.from_scores(y, d.score, **names.pos),
        "stated": elicit.BinarySpace.from_scores(y, d.score, classes=names.classes),
        "proba": elicit.BinarySpace.from_proba(y, d.proba, classes=names.classes),
        "counts": elicit.BinarySpace.from_counts(counts),
        "calibrated": elicit.BinarySpace.from_calibrated(d.proba, classes=names.classes),
        "density": elicit.BinarySpace.from_density(
            lambda x: (1 + x) / 2, n_points=101, classes=names.classes
        ),
    }
    spaces["made"] = elicit.BinarySpace(spaces["proba"].population, names.classes)
    for how, space in spaces.items():
        assert codes(space.classes, names) == [0, 1]
        out[f"{how} center"] = space.boundary([1, 2])
        asking = elicit.Elicitation(space, max_queries=6, rng=rng)
        found = asking.run(person)
        out[f"{how} weights"] = found.metric.weights
        out[f"{how} score"] = found.metric.score(y, names(d.a))
        out[f"{how} agreement"] = found.agreement
    pairs = elicit.evaluation_pairs(space, 5, rng=rng)
    answers = [person(pair) for pair in pairs]
    out["pairs"] = np.array([[p.first, p.second] for p in pairs])
    out |= flat({"agreement": elicit.agreement_on(found.metric, pairs, answers)}, names)
    shares = space.classifier(space.center)
    out["shares"] = shares.predict_proba(d.proba)
    out["called"] = codes(shares.predict(d.proba, rng=rng), names)
    ratio = elicit.Elicitation(space, "ratio", max_queries=6, rng=rng)
    told = ratio.run(elicit.MetricOracle(metrics.f_beta(1))).metric
    out["ratio"] = told.score(y, names(d.a))
    both = elicit.shared_metric(space, [found, found], draws=50, warm_up=50, rng=rng)
    return out | {"shared": both.metric.weights}


@case(
    "elicit.ConfusionSpace", "elicit.DiagonalSpace", "elicit.RateSpace",
    "elicit.RateSpace.from_proba", "elicit.Elicitation", sizes=(2, 3), examples=2,
)  # fmt: skip
def elicited_for_several_classes(d: Data, names: Names, rng: int) -> dict[str, Any]:
    y, out, own = names(d.y), {}, {"classes": names.classes}
    costs = metrics.cost_matrix(COSTS[d.k])
    spaces = {
        "confusion": elicit.ConfusionSpace.from_proba(y, d.proba, **own),
        "diagonal": elicit.DiagonalSpace.from_proba(y, d.proba, **own),
        "rate": elicit.RateSpace.from_proba(y, d.proba, **own),
    }
    for how, space in spaces.items():
        assert codes(space.classes, names) == list(range(d.k))
        out[f"{how} center"] = space.center
        made = type(space)(space.population, names.classes)
        out[f"{how} made"] = made.boundary(np.ones(space.dim))
    for how, family, weights in [
        ("confusion", "linear", costs), ("confusion", "ratio", costs),
        ("diagonal", "linear", metrics.weighted_accuracy(np.arange(1, d.k + 1))),
        ("rate", "quadratic", costs), ("rate", "polynomial", costs),
    ]:  # fmt: skip
        if d.k == 2 and how == "diagonal":  # that of two classes is the case above
            continue
        asking = elicit.Elicitation(spaces[how], family, max_queries=4, rng=rng)
        found = asking.run(elicit.MetricOracle(weights))
        out[f"{how} {family}"] = found.metric.score(y, names(d.a))
    # Sorted: another order of the coordinates, and with it other questions; the metric is close.
    table = elicit.ConfusionSpace.from_proba(y, names.sorted(d.proba))
    sorted_costs = np.array(COSTS[d.k])[np.ix_(names.order, names.order)]
    person = elicit.MetricOracle(metrics.cost_matrix(sorted_costs))
    far = elicit.Elicitation(table, max_queries=8, rng=rng).run(person).metric
    weights = names.back(far.weights, far.classes, 0, 1)
    out["~sorted"] = weights / np.linalg.norm(weights)
    grouped = elicit.RateSpace.from_proba(y, d.proba, groups=names.group(d.groups), **own)
    person = elicit.MetricOracle(fair(d.k, "gaps"))
    found = elicit.Elicitation(grouped, max_queries=5, rng=rng).run(person)
    score = found.metric.score(y, names(d.a), groups=names.group(d.groups))
    out["~fair"] = score
    person = elicit.MetricOracle(fair(d.k, "squares"))
    found = elicit.Elicitation(grouped, "quadratic", max_queries=5, rng=rng).run(person)
    out["~fair quadratic"] = found.metric.score(y, names(d.a), groups=names.group(d.groups))
    return out


# --- everything at once


@case("evaluation.evaluate", votes=True, examples=2)
def evaluations(d: Data, names: Names, rng: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    gold = pl.Series("gold", names.gold(d.some))
    table = table_of(d, names).with_columns(gold)
    roles: dict[str, dict[str, Any]] = {
        "labels": {"label": "y", "pred": ["a", "b"], "group": "g"},
        "weak": {"pred": "a", "weak": "lf_*"},
        "some": {"label": "gold", "pred": "a", "weak": "lf_*"},
        "judges": {"judge": "lf_*"},
    }
    if d.k == 2:
        roles["scores"] = {"label": "y", "score": ["s", "t"], "prob": "s"}
    for how, chosen in roles.items():
        for metric in (None, "costs") if how in ("labels", "weak") else (None,):
            said = {} if metric is None else names.asked(metrics_for(d.k)[metric])
            found = karat.evaluate(table, **chosen, **(names.pos | said), rng=rng)
            out[f"{how} {metric} questions"] = str([f.key for f in found.findings])
            out[f"{how} {metric} badges"] = str([v.badge for v in found.verdicts])
            for finding in found.findings:
                for name, result in finding.results.items():
                    for key, value in numbers(result, names).items():
                        worth = key.rpartition(".")[2] in WORTH and "gaps" not in key
                        if np.ndim(value) == 0 and worth:
                            out[f"~{how} {metric} {finding.key} {name} {key}"] = value
    return out


WORTH = {"value", "lower", "upper", "estimate", "lower_limit", "upper_limit", "n", "gap"}


# --- what is public, and takes labels

LABELS = {
    "y_true", "y_true_against", "y_pred", "y_pred_a", "y_pred_b", "y", "y_val", "weak_labels",
    "votes", "verdicts", "swapped", "predictions", "classes", "pos_label", "judge", "people",
    "label", "labels", "groups", "groups_val", "group", "against", "label_model", "judges",
}  # fmt: skip
NO_NUMBER = {
    "consensus.ConsensusLabelModel.fit": "refuses: the model is fitted",
    "metrics.LinearFractionalMetric.bayes_classifier": "refuses: the metric is not linear",
    "datasets.LabelSample": "holds columns of 0 and 1",
    "elicit.TerminalOracle": "prints the names",
    "report.Report": "verdicts are sentences",
    "sources.Counts": "holds counts, which sources.Source.counts makes",
    "sources.Counts.from_query": "reads counts that a database made",
    "optimize.Basis.fitted": "a basis sees labels in the fit of a classifier",
    "weak.LabelModel.predict_proba": "a protocol",
    "statistics.JointRocCounts.check_margins": "scores, and no labels",
    **{
        f"metrics.{name}.describe": "says the names in words"
        for name in (
            "FairMetric", "FairQuadraticMetric", "LinearFractionalMetric", "LinearMetric",
            "PolynomialMetric", "PowerMeanMetric", "QuadraticMetric", "accuracy",
            "balanced_accuracy", "cohen_kappa", "g_mean", "mcc",
        )
    },
}  # fmt: skip
PACKAGES = [
    name
    for name in karat.__all__[1:]
    if name not in {"cli", "exceptions", "studio"}
    and (name != "torch" or find_spec("torch") is not None)
]


def callables() -> dict[Any, tuple[Any, list[str]]]:
    """Return every public function, constructor and method, with all names that it has."""
    found: dict[Any, tuple[Any, list[str]]] = {}
    for package in PACKAGES:
        module = importlib.import_module(f"karat.{package}")
        for name in sorted(module.__all__):
            for path, thing in _of(getattr(module, name), f"{package}.{name}"):
                key = thing.__init__ if inspect.isclass(thing) else thing
                found.setdefault(key, (thing, []))[1].append(path)
    return found


def _of(thing: Any, path: str) -> Iterator[tuple[str, Any]]:
    if inspect.isfunction(thing):
        yield path, thing
        return
    kind = thing if inspect.isclass(thing) else type(thing)
    if issubclass(kind, BaseException) or not kind.__module__.startswith("karat"):
        return
    if inspect.isclass(thing) and not issubclass(kind, Result):
        yield path, thing
    for name in dir(kind):
        member = inspect.getattr_static(kind, name)
        function = getattr(member, "__func__", member)
        ours = getattr(function, "__module__", None) or ""
        if name[0] == "_" or not inspect.isfunction(function) or not ours.startswith("karat"):
            continue
        if not getattr(function, "__isabstractmethod__", False):
            yield f"{path}.{name}", function


def taking_labels() -> dict[str, list[str]]:
    """Return the names of each callable that takes labels, by the first of them."""
    found = {}
    for thing, paths in callables().values():
        if LABELS & set(inspect.signature(thing).parameters):
            found[paths[0]] = paths
    return found


def test_every_callable_that_takes_labels_is_in_a_case():
    known = {path for c in CASES.values() for path in c.covers} | set(NO_NUMBER)
    wanted = taking_labels()
    new = [first for first, paths in wanted.items() if not known & set(paths)]
    assert new == [], "put each of these into a case, or into NO_NUMBER with the reason"
    public = {path for _, paths in callables().values() for path in paths}
    assert known - public == set(), "these are no longer public"


def test_the_callables_are_found():
    found = taking_labels()
    for name in ("ranking.roc_at", "audit.Audit", "weak.DawidSkene.fit", "evaluation.evaluate"):
        assert name in found
    assert len(found) > 100


# --- the tests


@cache
def _data(k: int, seed: int) -> Data:
    return Data(k, seed)


def ran(name: str, k: int, seed: int, names: Names, rng: int) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CASES[name].run(_data(k, seed), names, rng)


@cache
def plain(name: str, k: int, seed: int, rng: int = 0) -> dict[str, Any]:
    """Return the numbers under the names 0, 1, ..."""
    return ran(name, k, seed, Names(tuple(range(k))), rng)


AGAIN = 6  # runs of which the spread of what is drawn is measured
# Standard deviations: the difference of two runs has the root of 2 of them, and a Student variable
# with 5 degrees of freedom is beyond 7 once in 1,000.
REACH = 10.0


@cache
def spread(name: str, k: int, seed: int) -> dict[str, np.ndarray]:
    runs = [plain(name, k, seed, rng) for rng in range(AGAIN)]
    drawn = [key for key in runs[0] if key.startswith("~")]
    found = {}
    for key in drawn:
        each = np.nan_to_num(np.std([as_numbers(run[key]) for run in runs], axis=0, ddof=1))
        # A quantile of counts may be the same in all runs; the other numbers of a key are alike.
        found[key] = np.maximum(each, np.sqrt(np.mean(each**2)))
    return found


def as_numbers(value: Any) -> np.ndarray:
    return np.asarray(np.nan if value is None else value, dtype=float)


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def parameters() -> list[Any]:
    return [pytest.param(name, k, id=f"{name}-{k}") for name, c in CASES.items() for k in c.sizes]


def drawn_names(data: Any, name: str, k: int, *, in_order: bool) -> tuple[int, Names]:
    seed = data.draw(st.integers(0, 1), label="data")
    votes = CASES[name].votes
    names = data.draw(names_of(k, in_order=in_order, votes=votes), label="names")
    if votes and isinstance(names.labels[0], bool):
        seed = 0  # booleans have no sign for an abstention
    return seed, names


def searching(name: str, test: Callable[..., None], **options: Any) -> None:
    """Run a test as often as its case says."""
    examples = CASES[name].examples
    wrapped = given(data=st.data())(test)
    settings(
        max_examples=examples, suppress_health_check=list(HealthCheck), **options
    )(wrapped)()  # fmt: skip


def differs(case_: Case, a: np.ndarray, b: np.ndarray, reach: Any = 0.0) -> bool:
    if a.shape != b.shape:
        return True
    close = np.abs(a - b) <= reach + case_.tol * np.maximum(1, np.abs(a))
    return not np.all((np.isnan(a) & np.isnan(b)) | (a == b) | close)


@pytest.mark.parametrize(("name", "k"), parameters())
def test_any_bijection(name, k):
    def test(data):
        seed, names = drawn_names(data, name, k, in_order=False)
        base, found = plain(name, k, seed), ran(name, k, seed, names, 0)
        assert set(found) == set(base)
        for key, value in base.items():
            if is_text(value):
                assert found[key] == value, key
                continue
            a, b = as_numbers(value), as_numbers(found[key])
            wrong = differs(CASES[name], a, b)
            if wrong and key.startswith("~"):
                reach = REACH * spread(name, k, seed)[key]
                wrong = differs(CASES[name], a, b, reach)
            assert not wrong, f"{key} under {names}: {a} became {b}"

    searching(name, test)


@pytest.mark.parametrize(("name", "k"), parameters())
def test_names_that_sort_alike(name, k):
    def test(data):
        seed, names = drawn_names(data, name, k, in_order=True)
        base, found = plain(name, k, seed), ran(name, k, seed, names, 0)
        assert set(found) == set(base)
        for key, value in base.items():
            if is_text(value):
                assert found[key] == value, key
            else:
                np.testing.assert_array_equal(
                    as_numbers(value), as_numbers(found[key]), f"{key} under {names}"
                )

    searching(name, test)
