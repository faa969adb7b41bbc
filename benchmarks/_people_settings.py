"""Spaces that simulated people are asked about, the metrics they have in mind, and how they err."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from karat.cli.demo import train_models
from karat.datasets import load_shared
from karat.elicit import BinarySpace, ConfusionSpace, DiagonalSpace, Query, RateSpace
from karat.elicit._rate_space import JointRates
from karat.elicit.spaces import Space
from karat.metrics import FairMetric, FairQuadraticMetric, LinearMetric, cost_matrix

__all__ = ["SETTINGS", "Array", "Person", "draw_metric", "panel", "prefers", "space_of"]

Array = NDArray[np.float64]
PANEL = 1000  # fresh pairs on which the true agreement is counted
RATIOS = (1 / 4, 16)  # what a missed malignant biopsy may cost in false alarms


class Setting(NamedTuple):
    """What is asked about, and what kind of metric people have in mind; all linear families."""

    words: str
    metric: str
    data: str | None = None  # a shared dataset, without which the setting is skipped


SETTINGS = {
    "binary": Setting("linear metrics, biopsies", "cost"),
    "fair": Setting("linear gaps, income by sex", "fair", "adult"),
    "linear": Setting("costs of errors, three-class law", "errors"),
    "diagonal": Setting("weights of recalls, three-class law", "diagonal"),
    "credit": Setting("linear gaps, credit by sex", "fair", "credit_default"),
    "bent": Setting("linear gaps, income by sex, people of squared gaps", "bent", "adult"),
    "bent credit": Setting(
        "linear gaps, credit by sex, people of squared gaps", "bent", "credit_default"
    ),
}


@cache
def space_of(setting: str) -> Space:
    """Return the space of a setting."""
    data = SETTINGS[setting].data
    if data is not None:
        return _by_sex(data)
    if setting == "binary":
        models = train_models()
        score = next(iter(models.scores.values()))
        return BinarySpace.from_scores(models.y_true, score, pos_label=models.positive).smoothed()
    built: type[Space] = ConfusionSpace if setting == "linear" else DiagonalSpace
    rng = np.random.default_rng(0)
    power = rng.normal(size=(2000, 3)) @ (2.0 * rng.normal(size=(3, 3)))
    proba = np.exp(power - power.max(axis=1, keepdims=True))
    return built.from_calibrated(proba / proba.sum(axis=1, keepdims=True))


@cache
def _by_sex(data: str) -> Space:
    """Return what a logistic regression attains on the half that it was not trained on."""
    from sklearn.linear_model import LogisticRegression

    frame = load_shared(data)
    if data == "adult":
        sex, y = frame["sex"].astype(str), frame["income"].astype(str).str.startswith(">50K")
        frame = frame.drop(columns=["split", "fnlwgt", "education", "income"])
    else:
        sex, y = frame["SEX"].map({1: "male", 2: "female"}), frame["default"] == 1
        frame = frame.drop(columns="default")
    x = pd.get_dummies(frame, dtype=float).to_numpy(float)
    x = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
    labels, groups = y.to_numpy(int), sex.to_numpy(str)
    trained = np.random.default_rng(0).random(len(x)) < 0.5
    model = LogisticRegression(max_iter=200).fit(x[trained], labels[trained])
    proba = model.predict_proba(x[~trained])
    return RateSpace.from_proba(labels[~trained], proba, groups=groups[~trained])


def draw_metric(kind: str, rng: np.random.Generator) -> tuple[Any, Array]:
    """Return a metric and what its limits are to cover: a ratio, a worth, or weights."""
    if kind == "cost":
        ratio = np.exp(rng.uniform(*np.log(RATIOS)))
        return cost_matrix([[0, 1], [ratio, 0]]), np.array([ratio])
    if kind == "errors":
        gains, weights = np.zeros((3, 3)), np.abs(rng.normal(size=6))
        gains[~np.eye(3, dtype=bool)] = -weights
        return LinearMetric(gains), weights
    if kind == "diagonal":
        weights = np.abs(rng.normal(size=3))
        return LinearMetric(np.diag(weights)), weights
    cost = np.abs(rng.normal(size=2))
    if kind == "bent":
        root = rng.normal(size=(1, 2, 2))
        share = rng.uniform(0.3, 0.95)
        return FairQuadraticMetric(cost, root @ root.swapaxes(1, 2), share), np.array([np.nan])
    gaps, share = np.abs(rng.normal(size=(1, 2))), rng.uniform(0.05, 0.8)
    cost, gaps = cost / np.linalg.norm(cost), gaps / np.linalg.norm(gaps)
    worth = share * gaps.sum() / ((1 - share) * cost.sum())
    return FairMetric(cost, gaps, share), np.array([worth])


@cache
def panel(setting: str) -> tuple[Array, Array]:
    """Return both sides of random pairs, none of which the procedure knows."""
    space, rng = space_of(setting), np.random.default_rng(77)
    asked = JointRates(space) if isinstance(space, RateSpace) else space
    drawn = asked.sample(2 * PANEL, rng=rng)
    return drawn[:PANEL], drawn[PANEL:]


def prefers(metric: Any, setting: str) -> Array:
    """Return by how much a metric prefers the first side of each pair of the panel."""
    values = [np.array([float(metric(table)) for table in side]) for side in panel(setting)]
    return np.asarray(values[0] - values[1])


class Person:
    """Someone who answers by a metric and errs in one way, or answers without a metric.

    ``kind`` is a word and a number: ``slip 10`` errs on 10 % of questions, ``logistic 6`` with the
    probability of a logistic law whose scale is 1/6 of the typical margin, ``first 15`` names the
    first side on 15 % of questions whatever it shows; ``coin``, ``first`` and ``tie`` have no
    metric.
    """

    def __init__(self, metric: Any, kind: str, typical: float, rng: np.random.Generator) -> None:
        self.metric, self.typical, self.rng = metric, typical, rng
        self.kind, _, number = kind.partition(" ")
        self.number = float(number or 100)

    def __call__(self, query: Query) -> str:
        """Answer a query."""
        drawn = self.rng.random()
        if self.kind == "tie":
            return "tie"
        if self.kind == "coin":
            return "first" if drawn < 0.5 else "second"
        if self.kind == "first" and drawn < self.number / 100:
            return "first"
        margin = float(self.metric(query.first)) - float(self.metric(query.second))
        if self.kind == "logistic":
            scale = self.typical / self.number
            first = drawn < 1.0 / (1.0 + np.exp(-np.clip(margin / scale, -50, 50)))
        else:
            first = (margin > 0) != (self.kind == "slip" and drawn < self.number / 100)
        return "first" if first else "second"
