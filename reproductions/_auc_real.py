"""How often limits hold on real scores: samples of a large table whose own value is the truth.

The rules of limits ``auto`` and ``smoothed``, of average precision, of cuts, net benefit and
expected cost were settled on simulated laws alone; none of these tables had a part in it, so all of
them confirm.
"""

import math
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from _show import Promise, number, say, show_table
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from karat.datasets import load_shared
from karat.exceptions import SmallSampleWarning
from karat.ranking import (
    FprBand,
    average_precision,
    cost_curve,
    net_benefit,
    precision_at,
    recall_at,
    weighted_auc,
)

__all__ = ["run_real"]

# Column of labels and the positive class; of wine, a quality of at least so much.
_TABLES = {
    "adult": ("income", ">50K"),
    "credit_default": ("default", "1"),
    "magic": ("class", "h"),
    "wine_quality": ("quality", "8"),
}
_TRAINED = 1000
_POSITIVES = (10, 50, 200)
_PROMISED = 0.93

_MEASURES: dict[str, Callable[[Any, Any], Any]] = {
    "AUC, auto": lambda y, p: weighted_auc(y, p),
    "AUC, approximate": lambda y, p: weighted_auc(y, p, limits="approximate"),
    "FPR ≤ .1, auto": lambda y, p: weighted_auc(y, p, weight=FprBand(0, 0.1)),
    "average precision": lambda y, p: average_precision(y, p),
    "precision at 5 %": lambda y, p: precision_at(y, p, share=0.05),
    "recall at 20 %": lambda y, p: recall_at(y, p, share=0.2),
    "net benefit at .2": lambda y, p: net_benefit(y, p, threshold=0.2),
    "expected cost at .5": lambda y, p: cost_curve(y, p, at=0.5),
}


def run_real(*, quick: bool) -> list[Promise]:
    """Print coverage on samples of real tables; return what is promised."""
    runs, sizes = (40, (10,)) if quick else (400, _POSITIVES)
    names = ("magic", "wine_quality") if quick else tuple(_TABLES)
    say(
        "Limits on real scores: a logistic regression is fitted to 1,000 rows of a table, the "
        "other rows are the population, whose own value is the truth, and samples of it are drawn "
        f"with replacement ({runs} each). No rule was settled on these tables: adult, "
        "credit_default, magic and wine_quality all confirm.\n"
    )
    rows, promises = [], []
    for name in names:
        y, p = _population(name)
        for positives in sizes:
            found = _covered(y, p, round(positives / y.mean()), runs)
            rows.append([name, str(positives), *(number(found[m], 3) for m in _MEASURES)])
            least = _PROMISED - 3 * math.sqrt(_PROMISED * (1 - _PROMISED) / runs)
            promises.append(
                Promise(
                    f"{name}, {positives} positives: least coverage of all measures",
                    min(found.values()),
                    round(least, 3),
                )
            )
    show_table("Coverage of 95 % limits", ["table", "positives", *_MEASURES], rows)
    return promises


def _covered(y: NDArray[np.bool_], p: NDArray[np.float64], n: int, runs: int) -> dict[str, float]:
    rng = np.random.default_rng(n)
    hits: dict[str, list[bool]] = {name: [] for name in _MEASURES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallSampleWarning)
        truth = {name: measure(y, p).value for name, measure in _MEASURES.items()}
        for _ in range(runs):
            rows = rng.integers(len(y), size=n)
            while not 0 < y[rows].sum() < n:
                rows = rng.integers(len(y), size=n)
            for name, measure in _MEASURES.items():
                r = measure(y[rows], p[rows])
                hits[name].append(bool(r.lower - 1e-9 <= truth[name] <= r.upper + 1e-9))
    return {name: float(np.mean(held)) for name, held in hits.items()}


@cache
def _population(name: str) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return labels and probabilities of the rows that the model was not fitted to."""
    frame = load_shared(name)
    label, positive = _TABLES[name]
    if "split" in frame:
        frame = frame.drop(columns="split")
    target = frame.pop(label)
    if name == "wine_quality":
        y = (target >= int(positive)).to_numpy()
    else:
        y = (target.astype(str).str.strip(" .") == positive).to_numpy()
    x = pd.get_dummies(frame, dtype=float).to_numpy()
    rows = np.random.default_rng(0).permutation(len(y))
    train, rest = rows[:_TRAINED], rows[_TRAINED:]
    mean, scale = x[train].mean(axis=0), x[train].std(axis=0)
    z = (x - mean) / np.where(scale > 0, scale, 1.0)
    with threadpool_limits(1):
        model = LogisticRegression(max_iter=2000).fit(z[train], y[train])
    return y[rest], model.predict_proba(z[rest])[:, 1]
