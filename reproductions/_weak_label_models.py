"""Label models on eleven sets with a known truth: log-loss, and accuracy beside a majority vote."""

import warnings
from functools import cache
from typing import Any

import numpy as np
from _show import Promise, say, show_table
from numpy.typing import NDArray

from karat.datasets import load_shared
from karat.exceptions import KaratWarning
from karat.weak import DawidSkene, DetectorLabelModel, MajorityVote

__all__ = ["run_label_models"]

SETS = (
    "wrench_chemprot", "wrench_semeval", "wrench_sms", "wrench_tennis", "wrench_trec",
    "wrench_youtube", "ws_agnews", "ws_imdb", "ws_sst2", "ws_yelp", "ws_yoruba",
)  # fmt: skip
GOLD = 50
LEAST = 1e-6  # a probability of zero would make the mean log-loss infinite
# What is known, the most that the mean log-loss may be, and the least accuracy beside the vote's.
GOALS = {"nothing": 0.85, "P(Y)": 0.76, f"{GOLD} labels": 0.78}
GAP = -0.01


def run_label_models(*, quick: bool) -> list[Promise]:
    """Print what each regime of the default label model reaches on each set."""
    draws = 5 if quick else 40
    rows, losses, gaps = [], [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        for name in SETS:
            table = _figures(name, draws)
            losses.append(table[:, 0])
            gaps.append(table[2:, 1] - table[0, 1])
            cells = [f"{loss:.3f} ({right:.3f})" for loss, right in table]
            rows.append([name, *cells])
    mean, worst = np.mean(losses, axis=0), np.min(gaps, axis=0)
    rows.append(["mean log-loss", *(f"{value:.3f}" for value in mean)])
    rows.append(["worst gap to the vote", "", "", *(f"{value:+.4f}" for value in worst)])
    columns = ["set", "majority vote", "Dawid–Skene", *(f"default, {what}" for what in GOALS)]
    show_table("Log-loss (and accuracy) of label models on all labelled rows", columns, rows)
    say(
        "The default is DetectorLabelModel, fitted with nothing, with the true P(Y), and with "
        f"{GOLD} labels (mean of {draws} draws, of rows without these labels). No probability "
        f"counts as less than {LEAST:g}. Ties share a prediction. Log-loss does not validate "
        "bounds: see the next table.\n"
    )
    kept = []
    for what, loss, gap in zip(GOALS, mean[2:], worst, strict=True):
        kept.append(Promise(f"mean log-loss, {what} known", float(loss), GOALS[what], True))
        kept.append(Promise(f"worst accuracy beside the vote, {what} known", float(gap), GAP))
    return kept


def _figures(name: str, draws: int) -> NDArray[Any]:
    """Return log-loss and accuracy of each label model: (5, 2)."""
    votes, y = _votes(name)
    rows, k = np.flatnonzero(y >= 0), int(y.max()) + 1
    prior = np.bincount(y[rows], minlength=k) / len(rows)

    def scores(model: Any, **known: Any) -> NDArray[Any]:
        # Rows whose label the model has seen do not count.
        own = rows[known["y_true"][rows] < 0] if "y_true" in known else rows
        p = model.fit(votes, classes=range(k), **known).predict_proba(votes[own])
        return np.array([_log_loss(p, y[own]), _accuracy(p, y[own])])

    some = [_gold(y, GOLD, draw) for draw in range(draws)]
    labelled = [scores(DetectorLabelModel(), y_true=gold) for gold in some]
    return np.array(
        [
            scores(MajorityVote()),
            scores(DawidSkene(rng=0)),
            scores(DetectorLabelModel()),
            scores(DetectorLabelModel(), class_prior=prior),
            np.mean(labelled, axis=0),
        ]
    )


@cache
def _votes(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    frame = load_shared(name)
    columns = [c for c in frame if c[:1] == "L" and c[1:].isdigit()]
    return frame[columns].to_numpy(np.int64), frame["label"].fillna(-1).to_numpy(np.int64)


def _gold(y: NDArray[Any], n: int, draw: int) -> NDArray[Any]:
    """Return n of the labels, -1 elsewhere."""
    chosen = np.random.default_rng(draw).choice(np.flatnonzero(y >= 0), n, replace=False)
    gold = np.full(len(y), -1)
    gold[chosen] = y[chosen]
    return gold


def _log_loss(p: NDArray[Any], y: NDArray[Any]) -> float:
    return float(-np.log(np.maximum(p[np.arange(len(y)), y], LEAST)).mean())


def _accuracy(p: NDArray[Any], y: NDArray[Any]) -> float:
    top = p >= p.max(axis=1, keepdims=True) - 1e-12
    return float((top[np.arange(len(y)), y] / top.sum(axis=1)).mean())
