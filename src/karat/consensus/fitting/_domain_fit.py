"""What was learned of one domain: models with their draws, explanations, checks."""

from dataclasses import dataclass, replace

import numpy as np

from karat._typing import FloatArray
from karat.consensus.identification import (
    Explanation,
    GoldTest,
    account_labels,
    account_rates,
    pairs_off,
)
from karat.consensus.model import Problem, class_proba
from karat.consensus.sampling import Draws
from karat.exceptions import OptionError
from karat.votes.agreement import Agreement, NearCopies, marginal_confusions
from karat.votes.tables import VoteTable

__all__ = ["DomainFit", "Fitted", "PooledFit"]

_STORED = 250  # draws of each chain that are stored with an estimator


@dataclass(frozen=True, slots=True)
class PooledFit:
    """What a model in which all domains share error rates says of one domain."""

    problem: Problem
    draws: Draws
    restarted: int
    split: tuple[FloatArray, FloatArray] | None = None  # folds × patterns: items held out, the rest
    predicted: FloatArray | None = None  # folds × patterns: log P(votes) from the rest


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model with its draws and its stacking weight.

    ``shifts`` (chains × voters) is how far the rates move if the favourite is wrong on hard items.
    """

    problem: Problem
    draws: Draws
    weight: float
    shifts: FloatArray | None = None

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.problem.model.name


@dataclass(frozen=True, slots=True)
class Kept:
    """What all draws say, for a fit that keeps only some of them."""

    confidence: float
    mean: tuple[FloatArray, FloatArray]  # in the population, and on these very items
    limits: tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, slots=True)
class DomainFit:
    """All that is known of one domain."""

    table: VoteTable
    fitted: tuple[Fitted, ...]
    span: tuple[Fitted, ...]  # fits that widen the intervals and do not move the mean
    explanations: tuple[Explanation, ...]
    agreement: Agreement
    r_hat: FloatArray
    bulk: FloatArray
    tail: FloatArray
    restarted: int
    copies: NearCopies
    slack: float  # share of the items on which the panel may be fooled together
    reasons: tuple[str, ...] = ()
    status: str = "consistent"
    gold_test: GoldTest | None = None
    kept: Kept | None = None

    def compact(self, confidence: float) -> "DomainFit":
        """Return the fit with some of its draws and all that they say at this confidence."""
        if self.kept is not None:
            return self
        return replace(
            self,
            fitted=tuple(replace(f, draws=f.draws.thinned(_STORED)) for f in self.fitted),
            span=(),
            kept=Kept(
                confidence,
                (self.mean(), self.mean(finite=True)),
                (self.span_limits(confidence), self.span_limits(confidence, finite=True)),
            ),
        )

    @property
    def identified(self) -> bool:
        """Whether the error rates are known from the votes, as far as anything speaks for it."""
        return self.status in ("consistent", "confirmed")

    @property
    def best(self) -> Fitted:
        """The model with the largest weight."""
        return max(self.fitted, key=lambda f: f.weight)

    @property
    def pairs_off(self) -> float:
        """Share of the pairs of voters outside the 99 % interval of their agreement."""
        return pairs_off(self.agreement)

    def mean(self, *, finite: bool = False) -> FloatArray:
        """Return the posterior mean of every voter's error rate, over the models."""
        if self.kept is not None:
            return self.kept.mean[finite].copy()
        return np.asarray(
            sum(f.weight * _pick(f.draws, finite).mean(axis=(0, 1)) for f in self.fitted)
        )

    def interval(self, confidence: float, *, finite: bool = False) -> tuple[FloatArray, FloatArray]:
        """Return limits that span every model and every explanation.

        Where the votes identify the rates, the limits allow for a share ``slack`` of the items on
        which most voters are fooled together; where they do not, for every explanation of them.
        """
        low, high = self.span_limits(confidence, finite=finite)
        if self.identified:
            low, high = low - self.slack, high + self.slack
        else:
            mean = self.mean(finite=finite)
            rates = account_rates(self.table, self.label_proba())
            known = np.isfinite(rates[0])
            low[known] = np.minimum(low, rates.min(axis=0) - (mean - low))[known]
            high[known] = np.maximum(high, rates.max(axis=0) + (high - mean))[known]
            if self.copies.distinct(self.table.n_voters) < 3:
                # Copies may be wrong together as often as votes at random are.
                high = np.maximum(high, 1 - 1 / self.table.n_classes)
        return np.clip(low, 0, 1), np.clip(high, 0, 1)

    def width(self, confidence: float) -> float:
        """Return the mean width of the limits over the votes, without slack or other accounts."""
        low, high = self.span_limits(confidence)
        weight = np.maximum(self.table.votes_cast, 1e-9)
        return float(np.average(np.clip(high, 0, 1) - np.clip(low, 0, 1), weights=weight))

    def span_limits(
        self, confidence: float, *, finite: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Return limits over models and explanations, with no slack and no other account."""
        if self.kept is not None:
            if confidence != self.kept.confidence:
                raise OptionError(
                    f"confidence is {confidence:g}; expected {self.kept.confidence:g}, that of the "
                    "fit, which was stored without most of its draws; fit again for another"
                )
            low, high = self.kept.limits[finite]
            return low.copy(), high.copy()
        tails = [(1 - confidence) / 2, (1 + confidence) / 2]
        lows, highs = [], []
        for f in (*self.fitted, *self.span):
            draws = _pick(f.draws, finite)
            low, high = np.quantile(draws.reshape(-1, self.table.n_voters), tails, axis=0)
            lows.append(low)
            highs.append(high)
            if f.shifts is not None:
                by_chain = np.quantile(draws, tails, axis=1)
                lows.append((by_chain[0] + f.shifts).min(axis=0))
                highs.append((by_chain[1] + f.shifts).max(axis=0))
        for other in self.explanations:
            lows.append(other.rates)
            highs.append(other.rates)
        return np.min(lows, axis=0), np.max(highs, axis=0)

    def label_proba(self) -> FloatArray:
        """Return P(class) of every pattern, over the models."""
        return np.asarray(
            sum(
                f.weight * class_proba(f.problem, f.draws.label_proba.mean(axis=0))
                for f in self.fitted
            )
        )

    def prevalence(self, confidence: float) -> FloatArray:
        """Return the share of each class: mean over the models, limits over all explanations."""
        tails = [(1 - confidence) / 2, (1 + confidence) / 2]
        parts = []
        for f in self.fitted:
            weights = f.draws.weights.reshape(-1, f.problem.n_components)
            parts.append(class_proba(f.problem, weights))
        mean = sum(f.weight * p.mean(axis=0) for f, p in zip(self.fitted, parts, strict=True))
        count = self.table.count
        labels = [e.label_proba for e in self.explanations]
        if not self.identified:
            labels += account_labels(self.table, self.label_proba())
        slack = self.slack if self.identified else 0.0
        explained = [count @ one / count.sum() for one in labels]
        low = np.min([*(np.quantile(p, tails[0], axis=0) for p in parts), *explained], axis=0)
        high = np.max([*(np.quantile(p, tails[1], axis=0) for p in parts), *explained], axis=0)
        limits = np.clip(low - slack, 0, 1), np.clip(high + slack, 0, 1)
        return np.stack([np.asarray(mean), *limits])

    def confusions(self) -> FloatArray:
        """Return P(outcome | class) of every voter: voters × classes × outcomes."""
        total = 0.0
        for f in self.fitted:
            for state in f.draws.states:
                rows = marginal_confusions(f.problem.law.parent, state) * state.weight
                shape = (*rows.shape[:2], self.table.n_classes, f.problem.model.levels)
                by_class = rows.reshape(shape).sum(axis=3)
                share = class_proba(f.problem, state.weight[None, :])[0]
                part = by_class / np.maximum(share, 1e-300)
                total = total + f.weight * part / len(f.draws.states)
        return np.asarray(np.swapaxes(np.asarray(total), 1, 2))


def _pick(draws: Draws, finite: bool) -> FloatArray:
    return draws.finite if finite else draws.rates
