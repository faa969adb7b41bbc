"""Functions with corners: a search for slopes, a direct search, and thresholds by brute force."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from _optimize_adult import Array, Codes
from _show import Promise, number, say, show_table
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from karat.datasets import load_shared
from karat.optimize import FrankWolfeClassifier

__all__ = ["run_boxes"]

Box = Callable[[Codes, Array, Codes], float]

_FIRST_SEED, _MOST_ROWS = 100, 4000
_MOST_EVALUATIONS = 150
_CUTS = np.linspace(0.02, 0.98, 33)
_WAYS: dict[str, str | None] = {"fixed": "harmonic", "line": "line-search", "default": None}
_PEERS = ("model", "fixed", "line")
_SHORT = {"credit_default": "credit", "communities_crime": "crime"}
# Asked for on Adult: the greatest gap and the squared gaps, 4,000 validation rows, basis = sex.
_ASKED = {"largest gap": 0.830, "squared gaps": 0.847}
_INTRODUCTION = """\
Black boxes with corners: functions of labels, shares and groups, some of which no slope describes.
Half of the rows train a model, up to 4,000 (a quarter of the rows, if fewer) validate, the others
test; the basis functions are the groups. "fixed" and "line" follow slopes, with shares of 2/(t+2)
and of a line search; "default" goes on with a direct search of 60 evaluations over plug-in rules
(Nelder and Mead 1965), whose rule is kept where it is above the mixture by two errors of the
metric, or where no mixture is above the model; "grid" tries {grid:,} pairs of thresholds. The
search was settled on Adult (groups: sex), whose first two black boxes are those asked for, and that
comparison on Adult and credit_default (sex), where a first one, by the ratio of the gains, had
failed. Then both were left alone: magic (nearer and farther than the median) and communities_crime
(more and less than the median share of black people; violent crime above .3) are the half that
confirms, although the first comparison had been seen there once, on two splits.
"""


def run_boxes(*, quick: bool) -> list[Promise]:
    """Print values on validation and test rows; return what is promised."""
    say(_INTRODUCTION.format(grid=len(_CUTS) ** 2))
    splits = 1 if quick else 5
    models = ("trees",) if quick else ("trees", "logistic")
    promises, lines, gains, slack = [], [], [], []
    for name, boxes in _BOXES.items():
        for model in models:
            for title in boxes:
                found = [_split(name, model, title, i, grid=not quick) for i in range(splits)]
                table = {k: np.array([f[k] for f in found]) for k in found[0]}
                lines.append([_SHORT.get(name, name), model, title, *_cells(table)])
                ahead = [table["default test"] - table[f"{peer} test"] for peer in _PEERS]
                gains.append([float(a.mean()) for a in ahead])
                slack.append(float((table["default"] - table["model"]).min()))
                if name == "adult" and model == "trees":
                    promises += _promises(title, table)
    columns = ["data", "", "black box", "model", *_WAYS, "grid"]
    columns += ["model", *_WAYS, "grid", "calls", "rules"]
    title = f"Validation values, then test values; means of {splits} splits"
    show_table(title, columns, lines)
    say(_remark(gains, splits))
    promises.append(
        Promise("black boxes, validation rows, least gain over the model", min(slack), 0.0)
    )
    confirmed = np.array(gains[-len(models) * len(_CONFIRMING) * len(_OTHERS) :]).mean(axis=0)
    for peer, gain in zip(_PEERS, confirmed, strict=True):
        what = f"confirming half, test rows, default − {peer}, mean over black boxes"
        promises.append(Promise(what, float(gain), 0.0))
    return promises


def _remark(gains: list[list[float]], splits: int) -> str:
    over_model = np.array(gains)[:, 0]
    lost = over_model[over_model < 0]
    below = f"{len(lost)} of {len(over_model)} lines"
    if len(lost):
        below += f", by {-lost.min():.3f} at most"
    return (
        "The figures asked for on Adult are promised for boosted trees. With a logistic regression "
        "the mean of five splits is .833 and .846: there the grid of thresholds has no more.\n"
        '"calls" is the greatest number of evaluations; "rules" counts the splits, of '
        f"{splits}, in which a rule of the direct search was kept. On the validation rows the "
        "default is never below the model, by construction; on test rows it is, in the mean, on "
        f"{below}.\n"
    )


def _promises(title: str, table: dict[str, Array]) -> list[Promise]:
    calls, mean = float(table["calls"].max()), float(table["default"].mean())
    return [
        Promise(f"adult, {title}, evaluations", calls, _MOST_EVALUATIONS, at_most=True),
        Promise(f"adult, {title}, on validation rows", mean, _ASKED[title]),
    ]


def _cells(table: dict[str, Array]) -> list[str]:
    names = ("model", *_WAYS, "grid")
    means = [table[k].mean() for k in (*names, *(f"{k} test" for k in names))]
    figures = [number(None if np.isnan(v) else v, 3) for v in means]
    return [*figures, f"{table['calls'].max():.0f}", f"{table['rule'].sum():.0f}"]


def _split(name: str, model: str, title: str, split: int, *, grid: bool) -> dict[str, float]:
    """Return values and numbers of evaluations on one split."""
    box = _FUNCTIONS[title]
    proba, y, g, test, y_test, g_test = _rows(name, model, split)
    out: dict[str, float] = {
        "model": box(y, np.eye(2)[proba.argmax(axis=1)], g),
        "model test": box(y_test, np.eye(2)[test.argmax(axis=1)], g_test),
    }
    for way, step in _WAYS.items():
        clf = FrankWolfeClassifier(metric=box, step=step)
        clf.fit_from_proba(proba, y, basis=np.eye(2)[g], groups_val=g)
        out[way] = clf.history_.value
        shares = clf.predict_proba_from_proba(test, basis=np.eye(2)[g_test])
        out[f"{way} test"] = box(y_test, shares, g_test)
    out["calls"] = int(clf.history_.n_evaluations[-1])
    out["rule"] = clf.history_.kept == "rule"
    out["grid"] = out["grid test"] = np.nan
    if grid:
        cuts = max(
            ((a, b) for a in _CUTS for b in _CUTS), key=lambda c: box(y, _cut(proba, g, c), g)
        )
        out["grid"] = box(y, _cut(proba, g, cuts), g)
        out["grid test"] = box(y_test, _cut(test, g_test, cuts), g_test)
    return out


def _cut(proba: Array, groups: Codes, cuts: tuple[float, float]) -> Array:
    """Return the decisions of one threshold for each group."""
    return np.eye(2)[(proba[:, 1] > np.where(groups == 0, *cuts)).astype(int)]


def _rates(y: Codes, shares: Array, groups: Codes) -> Array:
    rates = [shares[(groups == g) & (y == c), c].mean() for g in (0, 1) for c in (0, 1)]
    return np.reshape(rates, (2, 2))


def _right(y: Codes, shares: Array) -> float:
    return float(shares[np.arange(len(y)), y].mean())


def _largest_gap(y: Codes, shares: Array, groups: Codes) -> float:
    return _right(y, shares) - 0.5 * float(np.abs(np.diff(_rates(y, shares, groups), axis=0)).max())


def _squared_gaps(y: Codes, shares: Array, groups: Codes) -> float:
    return _right(y, shares) - 2.0 * float((np.diff(_rates(y, shares, groups), axis=0) ** 2).sum())


def _worst_group(y: Codes, shares: Array, groups: Codes) -> float:
    return float(_rates(y, shares, groups).mean(axis=1).min())


def _parity(y: Codes, shares: Array, groups: Codes) -> float:
    called = [shares[groups == g, 1].mean() for g in (0, 1)]
    return _right(y, shares) - float(abs(called[0] - called[1]))


def _budget(y: Codes, shares: Array, groups: Codes) -> float:
    return float(shares[y == 1, 1].mean() - 3 * max(0.0, shares[:, 1].mean() - 0.15))


def _even(y: Codes, shares: Array, groups: Codes) -> float:
    return float(np.prod(_rates(y, shares, groups)) ** 0.25)


def _f_measure(y: Codes, shares: Array, groups: Codes) -> float:
    return float(2 * shares[y == 1, 1].sum() / ((y == 1).sum() + shares[:, 1].sum()))


_FUNCTIONS: dict[str, Box] = {
    "largest gap": _largest_gap,
    "squared gaps": _squared_gaps,
    "worst group": _worst_group,
    "parity": _parity,
    "alarm budget": _budget,
    "group G-mean": _even,
    "F-measure": _f_measure,
}
_OTHERS = tuple(_FUNCTIONS)[2:]
_BOXES = {
    "adult": tuple(_ASKED),
    "credit_default": _OTHERS,
    "magic": _OTHERS,
    "communities_crime": _OTHERS,
}
_CONFIRMING = ("magic", "communities_crime")


@cache
def _rows(name: str, model: str, split: int) -> tuple[Array, Codes, Codes, Array, Codes, Codes]:
    """Fit a model to half of the rows; return probabilities, labels and groups of the others."""
    x, y, g = _table(name)
    order = np.random.default_rng(_FIRST_SEED + split).permutation(len(y))
    half, more = len(y) // 2, min(_MOST_ROWS, len(y) // 4)
    train, val, test = np.split(order, [half, half + more])
    estimators: dict[str, Any] = {
        "trees": HistGradientBoostingClassifier(max_iter=60, random_state=0),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
    }
    fitted = estimators[model].fit(x[train], y[train])
    on_val, on_test = (fitted.predict_proba(x[rows]) for rows in (val, test))
    return on_val, y[val], g[val], on_test, y[test], g[test]


@cache
def _table(name: str) -> tuple[Array, Codes, Codes]:
    """Return features, labels and groups."""
    frame = load_shared(name)
    if name == "adult":
        y = frame["income"].astype(str).str.startswith(">50K")
        g = frame["sex"] == "Male"
        x = pd.get_dummies(frame.drop(columns=["income", "split"]), dtype=float).fillna(0)
    elif name == "credit_default":
        y, g, x = frame["default"] == 1, frame["SEX"] == 2, frame.drop(columns="default")
    elif name == "magic":
        y, g = frame["class"] == "g", frame["fDist"] > frame["fDist"].median()
        x = frame.drop(columns="class")
    else:
        y = frame["ViolentCrimesPerPop"] > 0.3
        g = frame["racepctblack"] > frame["racepctblack"].median()
        names = ["state", "county", "community", "communityname", "fold", "ViolentCrimesPerPop"]
        x = frame.drop(columns=names).dropna(axis="columns")
    return x.to_numpy(float), y.to_numpy(np.int64), g.to_numpy(np.int64)
