"""F-measure and G-mean: Frank–Wolfe beside a search along a grid of weights (appendix E.6)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from _auc_learners import _table
from _elicit_data import class_set
from _optimize_adult import Array, Codes
from _show import Promise, number, say, show_table
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from karat.metrics import f_beta, g_mean, macro
from karat.optimize import CoordinateSearchClassifier, FrankWolfeClassifier

__all__ = ["run_search"]

_SETS = ("magic", "credit_default", "vehicle")
# The promised model was settled on splits of other seeds.
_FIRST_SEED = 3000
_FEWER = 5.0
# Values that differ by less, or by less than two paired errors, are alike; in thousandths.
_ALIKE = 1.0
# Intervals of the grids that are tried, from coarse to the published spacing of 1e-4.
_GRIDS = sorted({round(2 * 1.15**i) for i in range(62)} | {10_000})
_LOGISTIC = LogisticRegression(max_iter=2000)
_MODELS = {
    "trees": HistGradientBoostingClassifier(max_iter=60, random_state=0),
    "isotonic": CalibratedClassifierCV(_LOGISTIC, method="isotonic", cv=5),
    "logistic": _LOGISTIC,
}
_PROMISED = "trees"
_STEPS = ("FW", "line")
_INTRODUCTION = """\
F-measure and G-mean on magic, credit_default (two classes) and vehicle (four; F is the mean over
classes): half of the rows train, a quarter each validates and tests. "grid" is
CoordinateSearchClassifier with the published spacing of 1e-4; "FW" is FrankWolfeClassifier of a
Python function of labels and shares, up to 20 steps of 2/(t+2) and a direct search of 60
evaluations; "line" is the same with step="line-search" and no direct search; "probed" is a karat
metric of which only values at probes are used. Differences, in
thousandths, are of test values on the same splits, ± their standard error. The last columns count
evaluations of the metric: those of FW, of line and of the grid, and those of the coarsest grid
whose value on the validation rows is at least that of FW, and that of line (medians).
"""


@dataclass(frozen=True, eq=False)
class _Rows:
    """Probabilities and labels of validation and test rows."""

    proba: Array
    y: Codes
    test: Array
    y_test: Codes


def run_search(*, quick: bool) -> list[Promise]:
    """Print test values and evaluations; return what is promised."""
    say(_INTRODUCTION)
    models, splits = ((_PROMISED,), 3) if quick else (tuple(_MODELS), 10)
    rows, promises, savings = [], [], []
    for name, model in product(_SETS, models):
        for title, metric, function in _metrics(name):
            found = [_split(_rows(name, model, i), metric, function) for i in range(splits)]
            table = {k: np.array([f[k] for f in found]) for k in found[0]}
            rows.append([name, model, title, *_cells(table)])
            savings.append([np.median(table[f"{m} coarse"] / table[f"{m} n"]) for m in _STEPS])
            if model == _PROMISED:
                promises += _promises(f"{name}, {title}", table)
    columns = ["data", "model", "", "argmax", "grid", "FW − grid", "line − grid", "probed − grid"]
    columns += ["FW", "line", "grid", "as FW", "as line"]
    show_table(f"Test values and evaluations, means of {splits} splits", columns, rows)
    say(_remark(np.array(savings)))
    return promises


def _remark(savings: Array) -> str:
    low, high = savings.min(axis=0), savings.max(axis=0)
    return (
        "Promised is that FW is not below the grid by more than two of these errors, or by more "
        f"than {_ALIKE:g} thousandth. Promises are about boosted trees; they were settled on after "
        "the other models, on splits of other seeds, had fallen short. Logistic regression is "
        "miscalibrated on credit_default, and slopes cannot put that right: with one weight a "
        "class, probes alone stay below the grid, which looks at values (as a line search does, "
        "for the G-mean). FW, being of a function, goes on with a direct search and is not below. "
        "isotonic, its calibration on "
        "folds of the training rows, closes that gap, and opens one on vehicle, whose 423 training "
        "rows are too few for it. Against the coarsest grid that does as well, FW does NOT save a "
        f"factor of {_FEWER:g}: that grid needs {low[0]:.1f} to {high[0]:.1f} times the "
        f"evaluations of FW, and {low[1]:.1f} to {high[1]:.1f} times those of line. With two "
        "classes a threshold is one number, and a dozen tries find it; the saving is against the "
        "published grid, and where basis functions make a grid impossible.\n"
    )


def _promises(what: str, table: dict[str, Array]) -> list[Promise]:
    gain = 1e3 * (table["FW"] - table["grid"])
    error = 2 * gain.std(ddof=1) / np.sqrt(len(gain))
    fewer = (table["grid n"] / table["FW n"]).mean()
    return [
        Promise(f"{what}, FW − grid, thousandths", float(gain.mean()), -max(_ALIKE, float(error))),
        Promise(f"{what}, evaluations of the published grid over FW's", float(fewer), _FEWER),
    ]


def _cells(table: dict[str, Array]) -> list[str]:
    def gain(name: str) -> str:
        d = table[name] - table["grid"]
        return f"{1e3 * d.mean():+.1f} ± {1e3 * d.std(ddof=1) / np.sqrt(len(d)):.1f}"

    counts = ("FW n", "line n", "grid n")
    return [
        *(number(table[name].mean(), 4) for name in ("argmax", "grid")),
        *(gain(name) for name in ("FW", "line", "probed")),
        *(f"{table[name].mean():,.0f}" for name in counts),
        *(f"{np.median(table[f'{name} coarse']):,.0f}" for name in _STEPS),
    ]


def _split(rows: _Rows, metric: Any, function: Callable[..., float]) -> dict[str, float]:
    """Return test values and numbers of evaluations on one split."""

    def tested(classifier: Any) -> float:
        return float(metric.score(rows.y_test, classifier.predict_proba_from_proba(rows.test)))

    def searched(spacing: float) -> CoordinateSearchClassifier:
        search = CoordinateSearchClassifier(metric=metric, spacing=spacing)
        return search.fit_from_proba(rows.proba, rows.y)

    grid = searched(1e-4)
    likely = np.eye(rows.test.shape[1])[rows.test.argmax(axis=1)]
    out = {"argmax": float(metric.score(rows.y_test, likely)), "grid": tested(grid)}
    out["grid n"] = grid.n_evaluations_
    for name, options in (
        ("FW", {"metric": function}),
        ("line", {"metric": function, "step": "line-search"}),
        ("probed", {"metric": metric, "gradient": "probed"}),
    ):
        found = FrankWolfeClassifier(**options).fit_from_proba(rows.proba, rows.y)
        out[name] = tested(found)
        out[f"{name} n"] = int(found.history_.n_evaluations[-1])
        if name in _STEPS:
            tries = (searched(1.0 / n) for n in _GRIDS)
            enough = (t for t in tries if t.value_ >= found.history_.value - 1e-12)
            # The published grid, if none does: mixtures can be above every single rule.
            out[f"{name} coarse"] = next(enough, grid).n_evaluations_
    return out


def _metrics(name: str) -> list[tuple[str, Any, Callable[..., float]]]:
    f = ("F", f_beta(1), _f_measure) if name != "vehicle" else ("F", macro(f_beta(1)), _macro_f)
    return [f, ("G", g_mean, _geometric_mean)]


def _f_of(y: Codes, shares: Array, c: int) -> float:
    return float(2 * shares[y == c, c].sum() / ((y == c).sum() + shares[:, c].sum()))


def _f_measure(y: Codes, shares: Array) -> float:
    return _f_of(y, shares, 1)


def _macro_f(y: Codes, shares: Array) -> float:
    return float(np.mean([_f_of(y, shares, c) for c in range(shares.shape[1])]))


def _geometric_mean(y: Codes, shares: Array) -> float:
    rates = [shares[y == c, c].mean() for c in range(shares.shape[1])]
    return float(np.prod(rates) ** (1 / len(rates)))


@cache
def _rows(name: str, model: str, split: int) -> _Rows:
    """Fit a model to half of the rows; return the others."""
    sample = class_set("vehicle") if name == "vehicle" else None
    x, y = _table(name) if sample is None else (sample.x, sample.y)
    order = np.random.default_rng(_FIRST_SEED + split).permutation(len(y))
    train, val, test = np.split(order, [len(y) // 2, 3 * len(y) // 4])
    fitted = make_pipeline(StandardScaler(), _MODELS[model]).fit(x[train], y[train])
    return _Rows(fitted.predict_proba(x[val]), y[val], fitted.predict_proba(x[test]), y[test])
