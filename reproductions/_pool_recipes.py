"""How the classifiers of a pool differ: five families, with their settings tweaked."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC

__all__ = ["FAIR", "Recipe", "recipes"]

FAIR = "fairness"
_SVC_ROWS = 1000  # the time of a kernel machine grows with the square of its rows


@dataclass(frozen=True, eq=False)
class Recipe:
    """A classifier to train.

    ``balance`` 1 gives all classes the same weight; ``reweighting`` 1 makes classes and groups
    independent in the weights; ``shift`` 1 moves the scores of each group towards the same share of
    every prediction in all groups. 0 does neither, and what is between does a part of it.
    """

    family: str
    model: Any
    balance: float = 0.0
    reweighting: float = 0.0
    shift: float = 0.0
    rows: int | None = None

    def fresh(self) -> Any:
        """Return the model, untrained."""
        return clone(self.model)


def recipes(step: int = 1) -> list[Recipe]:
    """Return every ``step``-th of the 20 recipes of each family."""
    families = (_logistic(), _networks(), _machines(), _boosted(), _fair())
    return [recipe for family in families for recipe in family[::step]]


def _logistic() -> list[Recipe]:
    settings = product(np.logspace(-4, 0, 5), (0.0, 0.4, 0.8, 1.2))
    return [
        Recipe("logistic", LogisticRegression(C=float(c), max_iter=300), balance=balance)
        for c, balance in settings
    ]


def _networks() -> list[Recipe]:
    settings = product(((4,), (16,), (32,), (16, 8), (8, 8, 8)), (1e-4, 1.0), (0.0, 0.7))
    return [
        Recipe(
            "network",
            MLPClassifier(sizes, alpha=alpha, max_iter=15, batch_size=64, random_state=n),
            balance=balance,
        )
        for n, (sizes, alpha, balance) in enumerate(settings)
    ]


def _machines() -> list[Recipe]:
    straight = [
        Recipe("machine", LinearSVC(C=float(c), max_iter=500, random_state=0), balance=balance)
        for c, balance in product(np.logspace(-4, -1, 5), (0.0, 0.8))
    ]
    kernel = [
        Recipe("machine", SVC(C=float(c)), balance=balance, rows=_SVC_ROWS)
        for c, balance in product(np.logspace(-1, 1.5, 5), (0.0, 0.8))
    ]
    return straight + kernel


def _boosted() -> list[Recipe]:
    return [
        Recipe("boosted", _trees(leaves, rounds), balance=balance)
        for leaves, rounds, balance in product((3, 5, 8, 16, 31), (15, 45), (0.0, 0.8))
    ]


def _trees(leaves: int, rounds: int) -> Any:
    return HistGradientBoostingClassifier(
        max_leaf_nodes=leaves,
        max_iter=rounds,
        max_bins=31,
        max_features=0.3,
        early_stopping=False,
        random_state=0,
    )


def _fair() -> list[Recipe]:
    models = (LogisticRegression(C=0.01, max_iter=300), _trees(8, 30))
    weighted = [
        Recipe(FAIR, model, balance=0.4, reweighting=part)
        for model, part in product(models, (0.3, 0.6, 1.0, 1.5, 2.0))
    ]
    shifted = [
        Recipe(FAIR, model, balance=0.4, shift=part)
        for model, part in product(models, (0.25, 0.5, 0.75, 1.0, 1.25))
    ]
    return [recipe for pair in zip(weighted, shifted, strict=True) for recipe in pair]
