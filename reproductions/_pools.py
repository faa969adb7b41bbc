"""Pools of real classifiers: their confusions in each group, on rows that they were not fitted to.

Five families of 20 classifiers, as in section 5.5.2 of Hiranandani 2021 (section 6.5.3 takes four):
logistic regression, networks, support vector machines, boosted trees, and ones made fairer. The
thesis trains the last under constraints; here they are reweighted, or their scores are shifted by
group.
"""

import time
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from _pool_data import SOURCES, Array, Codes, Data
from _pool_recipes import FAIR, Recipe, recipes
from _show import say
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from karat.elicit import RateSpace

__all__ = ["FAIR", "Pool", "train_pool"]

_ROWS = {False: 4000, True: 1200}  # training rows, with --quick or without
_TEST_ROWS = {False: None, True: 800}
_TEST_SHARE = 0.4


@dataclass(frozen=True, eq=False)
class Pool:
    """The classifiers of a dataset: ``tables[c, g, i, j]`` is P(G=g, Y=i, Ŷ=j) of classifier c."""

    name: str
    tables: Array
    families: tuple[str, ...]
    space: RateSpace
    ungrouped: RateSpace

    @property
    def k(self) -> int:
        """Number of classes."""
        return int(self.tables.shape[-1])

    @property
    def m(self) -> int:
        """Number of groups."""
        return int(self.tables.shape[1])

    def without(self, family: str) -> "Pool":
        """Return the pool without a family of classifiers."""
        kept = np.array([name != family for name in self.families])
        families = tuple(name for name in self.families if name != family)
        return Pool(self.name, self.tables[kept], families, self.space, self.ungrouped)


def train_pool(name: str, *, quick: bool = False) -> Pool:
    """Train the pool of a dataset and say what it is.

    60 % of the rows may be trained on, and the rest gives the rates (section 5.5.2). Questions are
    about classifiers that use the probabilities of a logistic regression, on the same rest.
    """
    start = time.perf_counter()
    data = SOURCES[name]()
    train, test, n_train = _split(data, quick=quick)
    tried = recipes(step=4 if quick else 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tables = np.stack([_table(_predicted(recipe, train, test), test) for recipe in tried])
        model = LogisticRegression(C=0.1, max_iter=300).fit(train.x, train.y)
    proba = model.predict_proba(test.x)
    space = RateSpace.from_proba(test.y, proba, groups=test.groups)
    families = tuple(recipe.family for recipe in tried)
    pool = Pool(name, tables, families, space, RateSpace.from_proba(test.y, proba))
    counts = ", ".join(f"{n} {family}" for family, n in Counter(pool.families).items())
    say(
        f"{name}: {pool.k} classes, {pool.m} groups; {len(tried)} classifiers ({counts}), trained "
        f"on {len(train.y)} of {n_train} rows, with rates on {len(test.y)} others; "
        f"{time.perf_counter() - start:.0f} s"
    )
    return pool


def _split(data: Data, *, quick: bool) -> tuple[Data, Data, int]:
    """Return training rows, test rows, and how many rows could have been trained on."""
    strata = data.groups * (data.y.max() + 1) + data.y
    rows = np.arange(len(strata))
    train, test = train_test_split(rows, test_size=_TEST_SHARE, random_state=0, stratify=strata)
    return (
        _part(data, train, strata, _ROWS[quick]),
        _part(data, test, strata, _TEST_ROWS[quick]),
        len(train),
    )


def _part(data: Data, rows: Codes, strata: Codes, most: int | None) -> Data:
    if most is not None and len(rows) > most:
        rows, _ = train_test_split(rows, train_size=most, random_state=0, stratify=strata[rows])
    return Data(data.x[rows], data.y[rows], data.groups[rows])


def _predicted(recipe: Recipe, train: Data, test: Data) -> Codes:
    """Train a classifier and return its predictions of the test rows."""
    model, weight = recipe.fresh(), _weights(recipe, train)
    rows = np.arange(len(train.y))
    if recipe.rows is not None and len(rows) > recipe.rows:
        rows = np.random.default_rng(0).choice(rows, recipe.rows, replace=False)
    model.fit(train.x[rows], train.y[rows], sample_weight=weight[rows])
    if recipe.shift == 0:
        return np.asarray(model.predict(test.x), dtype=np.int64)
    return _shifted(model, recipe.shift, train, test)


def _weights(recipe: Recipe, train: Data) -> Array:
    """Return weights that balance the classes, and classes against groups, as far as asked."""
    joint = np.zeros((train.groups.max() + 1, train.y.max() + 1))
    np.add.at(joint, (train.groups, train.y), 1 / len(train.y))
    classes, groups = joint.sum(axis=0), joint.sum(axis=1)
    independent = classes * groups[:, None] / joint
    weight = independent**recipe.reweighting * classes**-recipe.balance
    each = weight[train.groups, train.y]
    return np.asarray(each / each.mean())


def _shifted(model: Any, part: float, train: Data, test: Data) -> Codes:
    """Predict with scores that are moved, group by group, towards the same shares in all groups."""
    inside, scores = (np.log(model.predict_proba(x).clip(1e-9)) for x in (train.x, test.x))
    overall = np.log(np.exp(inside).mean(axis=0))
    for g in range(train.groups.max() + 1):
        here = np.log(np.exp(inside[train.groups == g]).mean(axis=0))
        scores[test.groups == g] += part * (overall - here)
    return np.asarray(scores.argmax(axis=1), dtype=np.int64)


def _table(predicted: Codes, test: Data) -> Array:
    """Return P(G=g, Y=i, Ŷ=j)."""
    k = test.y.max() + 1
    counts = np.zeros((test.groups.max() + 1, k, k))
    np.add.at(counts, (test.groups, test.y, predicted), 1.0)
    return np.asarray(counts / counts.sum())
