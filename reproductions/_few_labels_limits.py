"""Limits of metrics from few random labels: 36 settings, and a peer beside them."""

import importlib.util
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from _show import Promise, number, say, show_table
from scipy.stats import binom, binomtest

from karat.limits import anytime_mean, wilson
from karat.limits.proportions import clopper_pearson_limits
from karat.metrics import balanced_accuracy, f_beta, mcc
from karat.metrics.estimates import count_limits, table_values

__all__ = ["run_anytime", "run_fixed"]

_PEER = 60  # runs a setting of the other package
_SIZES = (30, 100, 300)
_POSITIVES = (0.01, 0.05, 0.2, 0.5)
_MODELS = {"good": (0.9, 0.03), "fair": (0.7, 0.1), "poor": (0.5, 0.3)}  # recall, false alarms


def _laws() -> list[tuple[str, int, Any]]:
    found = []
    for n, share, (name, (recall, alarms)) in product(_SIZES, _POSITIVES, _MODELS.items()):
        cells = [(1 - share) * (1 - alarms), (1 - share) * alarms, share * (1 - recall),
                 share * recall]  # fmt: skip
        found.append((f"n={n} {share:.0%} {name}", n, np.array(cells)))
    return found


def _exactly(n: int, counted: float, won: float, carried: Callable[[Any], Any]) -> float:
    """Return how often Clopper and Pearson's limits of a share hold: all outcomes, no draw."""
    p, covered = won / counted, 0.0
    weight = binom.pmf(np.arange(n + 1), n, counted)
    for m in np.flatnonzero(weight > 1e-9):
        x = np.arange(m + 1, dtype=float)
        low, high = clopper_pearson_limits(x, float(m), 0.025)
        inside = (carried(low) <= carried(p)) & (carried(p) <= carried(high))
        covered += float(weight[m] * binom.pmf(x, m, p)[inside].sum())
    return covered / float(weight[weight > 1e-9].sum())


def run_fixed(*, quick: bool, share: float = 1.0) -> list[Promise]:
    """Print the least coverage of every construction over the settings."""
    laws = _laws()
    shares: dict[str, Callable[[Any], tuple[float, float]]] = {
        "accuracy": lambda c: (1.0, c[0] + c[3]),
        "recall": lambda c: (c[2] + c[3], c[3]),
        "precision": lambda c: (c[1] + c[3], c[3]),
        "F1": lambda c: (c[1] + c[2] + c[3], c[3]),
    }
    rows, least = [], 1.0
    for name, part in shares.items():
        carried = (lambda j: 2 * j / (1 + j)) if name == "F1" else (lambda j: j)
        seen = [_exactly(n, *part(c), carried) for _, n, c in laws]
        least = min(least, *seen)
        rows.append([name, "Clopper–Pearson", "exactly", number(min(seen), 3),
                     number(float(np.mean(seen)), 3)])  # fmt: skip
    runs = 25 if quick else round(400 * share)
    some = laws[::3] if quick else laws
    low = 0
    means = []
    for metric in (mcc, balanced_accuracy, f_beta(2)):
        seen = [_simulated(metric, n, c, runs) for _, n, c in some]
        low += sum(binomtest(round(s * runs), runs, 0.93, alternative="less").pvalue < 0.001
                   for s in seen)  # fmt: skip
        means.append(float(np.mean(seen)))
        rows.append([metric.title, "pseudo-count ½", f"{runs} runs", number(min(seen), 3),
                     number(means[-1], 3)])  # fmt: skip
    peer = _peer(some, runs)
    if peer is not None:
        rows.append(["F1", "confidenceinterval", f"{min(runs, _PEER)} runs", number(min(peer), 3),
                     number(float(np.mean(peer)), 3)])  # fmt: skip
    show_table("95 % limits from random labels, 36 settings (n 30–300, 1–50 % positives)",
               ["metric", "limits", "by", "least coverage", "mean"], rows)  # fmt: skip
    return [
        Promise("Clopper–Pearson family, least coverage over 36 settings", least, 0.95),
        Promise("pseudo-count limits, settings below .93 (p < .001)", low, 0, True),
        Promise("pseudo-count limits, mean coverage of the worst metric", min(means), 0.93),
    ]


def _simulated(metric: Any, n: int, cells: Any, runs: int) -> float:
    rng = np.random.default_rng(n)
    truth = float(table_values(metric, cells.reshape(1, 2, 2))[0])
    hits = 0
    for _ in range(runs):
        counts = rng.multinomial(n, cells).astype(float)
        found = count_limits(metric, counts, (2, 2), delta=0.025, rng=rng)
        hits += found.lower <= truth <= found.upper
    return hits / runs


def _peer(laws: list[tuple[str, int, Any]], runs: int) -> list[float] | None:
    if importlib.util.find_spec("confidenceinterval") is None:
        say("confidenceinterval is not installed (pip install confidenceinterval): left out")
        return None
    from confidenceinterval import f1_score

    found = []
    for _, n, cells in laws:
        rng = np.random.default_rng(n)
        tp, wrong = cells[3], cells[1] + cells[2]
        truth, hits, tried = 2 * tp / (2 * tp + wrong), 0, 0
        for _ in range(min(runs, _PEER)):
            counts = rng.multinomial(n, cells)
            y, c = np.repeat([0, 0, 1, 1], counts), np.repeat([0, 1, 0, 1], counts)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    _, (low, high) = f1_score(y.tolist(), c.tolist(), average="binary")
            except Exception:  # it divides by 0 where no positive was drawn
                continue
            tried += 1
            hits += low <= truth <= high
        if tried:
            found.append(hits / tried)
    return found


def run_anytime(*, quick: bool, share: float = 1.0) -> list[Promise]:
    """Print coverage at every look, and widths against Wilson's for a fixed number."""
    runs = 40 if quick else round(500 * share)
    rows, held, wide = [], [], []
    for rate, population in product((0.6, 0.8, 0.97), (None, 2000)):
        rng, hits, width, fixed = np.random.default_rng(11), 0, 0.0, 0.0
        for _ in range(runs):
            items = (rng.random(population or 200) < rate).astype(float)
            truth = rate if population is None else items.mean()
            path = anytime_mean(items[:200], population=population)
            hits += bool(((path.looks.lower <= truth) & (truth <= path.looks.upper)).all())
            width += path.width
            left = 1.0 if population is None else np.sqrt(1 - 200 / population)
            fixed += wilson(items[:200].sum(), 200).width * left
        held.append(hits / runs)
        wide.append(width / fixed)
        rows.append([f"{rate:g}", str(population or "any"), number(held[-1], 3),
                     number(wide[-1], 2)])  # fmt: skip
    below = sum(binomtest(round(h * runs), runs, 0.95, alternative="less").pvalue < 0.001
                for h in held)  # fmt: skip
    show_table(f"Limits of a share at every one of 200 looks, {runs} runs",
               ["share", "items", "held at every look", "width over Wilson's"], rows)  # fmt: skip
    return [
        Promise("limits at every look, shares held less than .95 (p < .001)", below, 0, True),
        Promise("limits at every look, mean coverage", float(np.mean(held)), 0.95),
        Promise(
            "limits at every look of a share, width over Wilson's at 200", max(wide), 1.5, True
        ),
    ]
