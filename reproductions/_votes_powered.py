"""Forty gold labels a subset: prediction-powered limits, and what the labels do to the ranking."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from _show import Promise, number, say, show_table
from _votes_data import VoteSet, beside_truth, fit, llmbar
from _votes_judges import ADVERSARIAL, ranking, short
from numpy.typing import NDArray

from karat.consensus import ErrorEstimator
from karat.consensus._from_labels import (
    LabelRate,
    blind_consensus,
    cross_predictions,
    rates_with_votes,
)
from karat.votes.domains import read_votes

__all__ = ["Subset", "run_powered", "subsets_of"]

_LABELS = 40
_LARGE = 90  # items of a subset from which the consensus has to help


class Subset(NamedTuple):
    """One subset as a matrix (NaN: not asked), with the consensus that has seen no label."""

    name: str
    votes: NDArray[Any]
    gold: NDArray[Any]
    blind: NDArray[Any]

    @property
    def errors(self) -> NDArray[Any]:
        """True error of every judge on the items of the subset."""
        cast = np.isfinite(self.votes)
        return ((self.votes != self.gold[:, None]) & cast).sum(axis=0) / cast.sum(axis=0)


class Limits(NamedTuple):
    """Means over draws and judges: coverage and width, powered and from the labels alone."""

    cover: float
    width: float
    labels_cover: float
    labels_width: float

    @property
    def ratio(self) -> float:
        """How much narrower the powered limits are."""
        return self.width / self.labels_width

    def cells(self) -> list[str]:
        """Return its columns of the table."""
        return [number(value, 3) for value in (*self, self.ratio)]


def run_powered(estimator: ErrorEstimator, *, quick: bool) -> list[Promise]:
    """Print the limits subset by subset, given the fit without labels; return what is promised."""
    draws = 20 if quick else 200
    subsets = _subsets(estimator, llmbar())
    found = [_limits(subset, draws) for subset in subsets]
    columns = ["subset", "items", "judges"]
    columns += ["covers", "width", "labels cover", "labels width", "ratio"]
    for at, what in enumerate(("the error rate", "the error on exactly these items (finite=True)")):
        rows = [
            [short(s.name), str(len(s.gold)), str(s.votes.shape[1]), *pair[at].cells()]
            for s, pair in zip(subsets, found, strict=True)
        ]
        title = f"{_LABELS} gold labels a subset, {draws} draws: powered 95 % limits of {what}"
        show_table(title, columns, rows)
    if not quick:
        _show_rankings(estimator, llmbar())
    rates = [pair[0] for pair in found]
    return _promises(rates, [len(s.gold) for s in subsets], quick=quick)


def _promises(rates: Sequence[Limits], sizes: Sequence[int], *, quick: bool) -> list[Promise]:
    cover = [limits.cover for limits in rates]
    if quick:
        return [Promise("powered limits, mean coverage", float(np.mean(cover)), 0.92)]
    ratio = [limits.ratio for limits in rates]
    large = [r for r, n in zip(ratio, sizes, strict=True) if n >= _LARGE]
    return [
        Promise("powered limits, coverage on the worst subset", min(cover), 0.92),
        Promise("powered limits, mean ratio of widths", float(np.mean(ratio)), 0.999, True),
        Promise(f"powered limits, worst ratio at {_LARGE} items or more", max(large), 0.95, True),
    ]


def subsets_of(estimator: ErrorEstimator) -> list[Subset]:
    """Return the subsets of LLMBar, their items in the order of the fit."""
    return _subsets(estimator, llmbar())


def _subsets(estimator: ErrorEstimator, data: VoteSet) -> list[Subset]:
    """Return the subsets, their items in the order of the fit."""
    assert estimator.items_ is not None
    found = []
    for domain, fitted in zip(estimator._votes.domains, estimator._fits, strict=True):
        rows = data.votes["domain"] == domain.name
        items = estimator.items_[domain.items]
        judges = [estimator.classifiers_[j] for j in domain.voters]
        wide = data.votes[rows].pivot(index="item", columns="classifier", values="vote")
        gold = data.gold[rows].groupby(data.votes["item"][rows]).first()
        found.append(
            Subset(
                name=domain.name,
                votes=wide.loc[items, judges].to_numpy(dtype=np.float64),
                gold=gold.loc[items].to_numpy(),
                blind=blind_consensus(fitted)[domain.pattern],
            )
        )
    return found


def _limits(subset: Subset, draws: int) -> tuple[Limits, Limits]:
    """Return the limits of the rate, and of the error on these items, over random labels.

    As `ErrorEstimator.from_labels` does, without fitting the posterior anew: the consensus that it
    starts from has seen no label, so it is the same in every draw.
    """
    rng, truth, n = np.random.default_rng(1), subset.errors, len(subset.gold)
    records: tuple[list[Any], list[Any]] = ([], [])
    for _ in range(draws):
        y = np.full(n, -1)
        labelled = rng.choice(n, _LABELS, replace=False)
        y[labelled] = subset.gold[labelled]
        domain = read_votes(subset.votes, y_true=y).domains[0]
        blind = np.empty((domain.table.n_patterns, subset.blind.shape[1]))
        blind[domain.pattern] = subset.blind
        predictions = cross_predictions(domain, blind)
        for finite, record in enumerate(records):
            answers = rates_with_votes(domain, predictions, confidence=0.95, finite=bool(finite))
            record += [_record(answer, t) for answer, t in zip(answers, truth, strict=True)]
    rate, exact = (Limits(*np.mean(record, axis=0).tolist()) for record in records)
    return rate, exact


def _record(answer: LabelRate, truth: float) -> tuple[float, float, float, float]:
    return (
        float(answer.lower <= truth <= answer.upper),
        answer.upper - answer.lower,
        float(answer.labels_lower <= truth <= answer.labels_upper),
        answer.labels_upper - answer.labels_lower,
    )


def _show_rankings(before: ErrorEstimator, data: VoteSet) -> None:
    """Print how the ranking of the judges changes with labels, where votes mislead."""
    kept = data.votes["domain"].isin(ADVERSARIAL)
    votes, gold = data.votes[kept].reset_index(drop=True), data.gold[kept].reset_index(drop=True)
    chosen = _chosen(votes)
    part = replace(data, votes=votes, gold=gold)
    after, _ = fit(part, rng=0, y_true=gold.where(votes["item"].isin(chosen), -1))
    assert after.from_labels_ is not None
    blind = beside_truth(before, data.truth)
    seen = beside_truth(after, data.truth).merge(after.from_labels_, on=["domain", "classifier"])
    rows = []
    for name in ADVERSARIAL:
        mine = seen[seen["domain"] == name]
        rankings = [ranking(mine, c) for c in ("value_x", "labels_value", "value_y")]
        rankings.insert(0, ranking(blind[blind["domain"] == name]))
        said = "yes" if after.identified_[name] else "NO"
        items = str(votes["item"][votes["domain"] == name].nunique())
        rows.append([short(name), items, *map(number, rankings), said])
    show_table(
        f"Spearman with the true ranking, without labels and with {_LABELS} (one draw)",
        ["subset", "items", "without", "posterior", "labels alone", "powered", "identified"],
        rows,
    )
    say("The truth is the error on all items of the subset, the labelled ones among them.\n")


def _chosen(votes: Any) -> set[str]:
    rng = np.random.default_rng(0)
    chosen: set[str] = set()
    for name in ADVERSARIAL:
        items = np.unique(votes["item"][votes["domain"] == name].to_numpy(dtype=str))
        chosen.update(rng.choice(items, _LABELS, replace=False).tolist())
    return chosen
