"""Prediction-powered limits on LLM judges: how often its limits hold, one judge at a time."""

from collections.abc import Iterator

import numpy as np
from _show import Promise, say, show_table
from numpy.typing import NDArray

from karat.datasets import load_shared
from karat.limits.prediction_powered import limits_of_mean

__all__ = ["run_judges"]

ITEMS = 200
LABELS = (40, 20)
JUDGES, SOURCES, RANDOM = 10, 21, 6
COVERAGE, WIDTH = 0.93, 1.05

Question = tuple[str, NDArray[np.float64], NDArray[np.float64]]


def run_judges(*, quick: bool) -> list[Promise]:
    """Print coverage and width by kind of question; the mean coverage is promised."""
    draws = 20 if quick else 300
    questions = list(_questions())
    rows, promises = [], []
    for n in LABELS:
        found: dict[str, list[NDArray[np.float64]]] = {}
        for kind, f, x in questions:
            found.setdefault(kind, []).append(_measured(f, x, n, draws))
        for kind, means in found.items():
            table = np.array(means)
            ratio = table[:, 1] / table[:, 3]
            rows.append(
                [
                    f"{kind}, {n} labels", str(len(table)),
                    f"{table[:, 0].min():.3f}, {table[:, 0].mean():.3f}",
                    f"{table[:, 2].min():.3f}, {table[:, 2].mean():.3f}",
                    f"{ratio.mean():.2f} ({ratio.min():.2f} to {ratio.max():.2f})",
                ]
            )  # fmt: skip
            if not quick:
                mean, widest = float(table[:, 0].mean()), float(ratio.max())
                promises.append(Promise(f"mean coverage, {kind}, {n} labels", mean, COVERAGE))
                promises.append(Promise(f"width, {kind}, {n} labels", widest, WIDTH, True))
    columns = ["question", "how many", "covered: least, mean", "labels alone", "width / alone"]
    show_table(f"Prediction-powered 95 % limits on LLMBar, {draws} samples", columns, rows)
    say(
        f"A sample is {ITEMS} items drawn from a subset with replacement; the first are labelled.\n"
    )
    return promises


def _questions() -> Iterator[Question]:
    """Yield a kind, the values and the predictions of every item of a subset."""
    frame = load_shared("llm_judges_llmbar", "verdicts_long")
    frame = frame.assign(
        judge=frame["model"].astype(str) + "/" + frame["strategy"].astype(str),
        subset=frame["subset"].astype(str),
        item=frame["item_id"].astype(str),
    )
    rng = np.random.default_rng(0)
    for subset, part in frame.groupby("subset"):
        if not str(subset).startswith("LLMBar"):
            continue
        wide = part.pivot_table(index="item", columns="judge", values="verdict", aggfunc="first")
        said = wide.dropna(axis=1).to_numpy()
        gold = part.groupby("item")["gold"].first().loc[wide.index].to_numpy()
        chosen = rng.choice(said.shape[1], JUDGES, replace=False)
        for j in chosen:
            others = np.delete(said, j, axis=1)
            apart = (others != said[:, [j]]).mean(axis=1)
            yield "error of a judge", (said[:, j] != gold).astype(float), apart[:, None]
        first = (gold == 1).astype(float)
        sources = np.delete(said, chosen, axis=1)[:, :SOURCES]
        yield f"share of first answers, {SOURCES} judges", first, (sources == 1).astype(float)
        yield "the same, random sources", first, rng.integers(0, 2, (len(gold), RANDOM)) * 1.0


def _measured(
    f: NDArray[np.float64], x: NDArray[np.float64], n: int, draws: int
) -> NDArray[np.float64]:
    """Return the mean of: covered, width, and the same of the labels alone."""
    truth, found = f.mean(), []
    for draw in range(draws):
        at = np.random.default_rng([n, draw]).integers(0, len(f), ITEMS)
        own, shown = f[at[:n]], x[at]
        shift = shown.mean(axis=0) - shown[:n].mean(axis=0)
        p = limits_of_mean(own, shown[:n], shift, ITEMS, delta=0.025, finite=False)
        found.append(
            (
                p.lower <= truth <= p.upper, p.upper - p.lower,
                p.labels_lower <= truth <= p.labels_upper, p.labels_upper - p.labels_lower,
            )
        )  # fmt: skip
    return np.asarray(np.mean(np.array(found, dtype=float), axis=0))
