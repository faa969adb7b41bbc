"""Win rates of LLMBar from judges and forty labels, and differences on disagreements."""

import importlib.util
import warnings
from typing import Any

import numpy as np
from _few_labels_data import load_audit_set
from _show import Promise, number, say, show_table
from scipy.stats import binomtest

from karat.audit import Audit, judged_rate
from karat.datasets import load_shared
from karat.limits.pseudo import pseudo_count_limits

__all__ = ["run_differences", "run_judged"]

_LABELS = 40
_JUDGES = 12  # those with the most verdicts


def run_judged(*, quick: bool, share: float = 1.0) -> list[Promise]:
    """Print coverage and widths against the labels alone, subset by subset."""
    runs = 20 if quick else round(300 * share)
    frame = load_shared("llm_judges_llmbar", "verdicts_long")
    rows, ratios, low, worst = [], [], 0, 0.0
    for subset, part in frame.groupby("subset"):
        votes, truth = _wide(part)
        hits, width, alone, peer = _rates(votes, truth, runs)
        if hits is None:
            continue
        low += binomtest(hits, runs, 0.93, alternative="less").pvalue < 0.001
        ratios.append(width / alone)
        worst = max(worst, ratios[-1])
        rows.append([str(subset), str(len(truth)), number(hits / runs, 3), number(width, 3),
                     number(alone, 3), number(ratios[-1]), peer])  # fmt: skip
    show_table(f"Share of wins from {_JUDGES} judges and {_LABELS} random labels, {runs} draws",
               ["subset", "items", "covered", "width", "labels alone", "ratio", "ppi-python"],
               rows)  # fmt: skip
    noise = _noise(runs)
    return [
        Promise("judged rates, subsets covered below .93 (p < .001)", low, 0, True),
        Promise("judged rates, worst width over labels alone", worst, 1.0, True),
        Promise(
            "judged rates, median width over labels alone", float(np.median(ratios)), 0.8, True
        ),
        Promise("judges unrelated to the truth, width over labels alone", noise, 0.98),
    ]


def _wide(part: Any) -> tuple[Any, Any]:
    gold = part.groupby("item_id")["gold"].first()
    part = part[part["verdict"].isin((1, 2))]
    table = part.pivot_table(
        index="item_id", columns=["model", "strategy"], values="verdict", aggfunc="first"
    ).reindex(gold.index)
    gold = gold.to_numpy()
    best = table.notna().sum().sort_values(ascending=False, kind="stable").index[:_JUDGES]
    return table[list(best)].to_numpy(float), gold


def _rates(votes: Any, truth: Any, runs: int) -> tuple[Any, float, float, str]:
    rng = np.random.default_rng(2)
    if len(truth) <= 1.2 * _LABELS:
        return None, 0.0, 0.0, ""
    first = np.unique(truth)[-1]
    rate, hits, width, alone, peers = float(np.mean(truth == first)), 0, 0.0, 0.0, []
    matrix = np.where(np.isfinite(votes), votes, -1).astype(int)
    for _ in range(runs):
        known = np.full(len(truth), -1)
        at = rng.choice(len(truth), _LABELS, replace=False)
        known[at] = truth[at]
        found = judged_rate(matrix, known, finite=True, classes=np.unique(truth))
        hits += found.lower <= rate <= found.upper
        width += found.width / runs
        alone += found.labels.width / runs
        peers.append(_ppi(matrix, truth, at, first, rate))
    seen = [p for p in peers if p is not None]
    peer = "" if not seen else (
        f"covered {np.mean([s[0] for s in seen]):.2f}, width {np.mean([s[1] for s in seen]):.3f}"
    )  # fmt: skip
    return hits, width, alone, peer


def _ppi(matrix: Any, truth: Any, at: Any, first: Any, rate: float) -> tuple[bool, float] | None:
    if importlib.util.find_spec("ppi_py") is None:
        return None
    from ppi_py import ppi_mean_ci

    cast = matrix > 0
    vote = np.sum((matrix == first) & cast, axis=1) / np.maximum(cast.sum(axis=1), 1)
    rest = np.setdiff1d(np.arange(len(truth)), at)
    low, high = ppi_mean_ci((truth[at] == first).astype(float), vote[at], vote[rest], alpha=0.05)
    return bool(np.all(low <= rate) and np.all(rate <= high)), float(np.squeeze(high - low))


def _noise(runs: int) -> float:
    rng, width, alone = np.random.default_rng(3), 0.0, 0.0
    for _ in range(runs):
        truth = (rng.random(300) < 0.6).astype(int)
        known = np.where(np.arange(300) < _LABELS, truth, -1)
        found = judged_rate(rng.integers(0, 2, (300, 6)), known)
        width, alone = width + found.width, alone + found.labels.width
    return width / alone


def run_differences(*, quick: bool, share: float = 1.0) -> list[Promise]:
    """Print coverage and width of differences in accuracy, against random labels."""
    runs = 30 if quick else round(500 * share)
    rows, low, ratios = [], 0, []
    names = ("credit 22 %", "magic 5 %") if quick else ("adult 5 %", "credit 22 %", "credit 5 %",
                                                        "magic 5 %", "magic 35 %")  # fmt: skip
    for name in names:
        data = load_audit_set(name)
        other = (data.chance > np.quantile(data.chance, 1 - 1.5 * data.called.mean())).astype(int)
        truth = float(np.mean(data.called == data.truth) - np.mean(other == data.truth))
        hits, width, random = _difference(data, other, truth, runs)
        low += binomtest(hits, runs, 0.95, alternative="less").pvalue < 0.001
        ratios.append(width / random)
        apart = float(np.mean(data.called != other))
        rows.append([name, f"{apart:.3f}", number(hits / runs, 3), number(width / apart, 2),
                     number(ratios[-1])])  # fmt: skip
    show_table(f"Difference in accuracy from {_LABELS} labels on disagreements, {runs} audits",
               ["set", "disagree", "covered", "width / share", "over random labels"],
               rows)  # fmt: skip
    return [
        Promise("differences, sets covered below .95 (p < .001)", low, 0, True),
        Promise("differences, worst width over random labels", max(ratios), 0.5, True),
    ]


def _difference(data: Any, other: Any, truth: float, runs: int) -> tuple[int, float, float]:
    rng, hits, width, random = np.random.default_rng(4), 0, 0.0, 0.0
    apart = np.flatnonzero(data.called != other)
    worth = (data.called == data.truth).astype(int) - (other == data.truth).astype(int)
    for seed in range(runs):
        audit = Audit(data.called[apart], metric="accuracy", against=other[apart], rng=seed)
        audit.tell({i: int(data.truth[apart[i]]) for i in audit.ask(_LABELS)["item"].to_list()})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = audit.result
        share = len(apart) / len(other)  # the others add nothing
        hits += share * found.lower <= truth <= share * found.upper
        width += share * found.width / runs
        at = rng.choice(len(other), _LABELS, replace=False)
        counts = np.bincount(worth[at] + 1, minlength=3).astype(float)
        ends = pseudo_count_limits(lambda w: w @ np.array([-1.0, 0.0, 1.0]), counts, (-1, 1),
                               delta=0.025, draws=500, rng=rng)  # fmt: skip
        random += (ends[1] - ends[0]) / runs
    return hits, width, random


if importlib.util.find_spec("ppi_py") is None:
    say("ppi-python is not installed (pip install ppi-python): left out")
