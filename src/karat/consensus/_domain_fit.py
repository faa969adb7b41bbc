"""Error rates of one domain: candidate models, chains, competing explanations, checks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from karat._convergence import bulk_ess, split_r_hat, tail_ess
from karat._typing import FloatArray
from karat.consensus._dispersed import dispersed_chains, modes_of
from karat.consensus._explanations import (
    Explanation,
    blind_proba,
    class_proba,
    clustered_explanation,
    rival_explanation,
    rival_is_close,
)
from karat.consensus._held_out import combine, held_out, held_out_values
from karat.consensus._identified import pairs_off, what_is_not_settled
from karat.consensus._model import Errors, Model, Problem, build_problem
from karat.consensus._sample import Draws
from karat.votes._table import VoteTable
from karat.votes.agreement import (
    Agreement,
    SharedVotes,
    agreement_of_states,
    copying_forest,
    marginal_rows,
    shared_votes,
)
from karat.votes.em import fit_point, starting_state

__all__ = ["DomainFit", "FitTogether", "Fitted", "Settings", "candidate_models", "fit_domain"]

_LEVELS_NEED = 5  # voters below which easy and hard items cannot be told apart
_VOTES_NEED = 3.0  # votes per item, likewise
_ROW_NEEDS = 20  # votes per voter and class below which a row of its own may ask too much
_MANY_VOTES = 50_000  # beyond which three folds say enough, and luck of the folds says nothing
_WEIGHT = 0.05  # a model with less stacking weight is clearly worse than the others
# Standard errors by which difficulty must predict better to speak of hard items. With independent
# votes it led by more in none of 144 simulations.
_LEAD = 1.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user asked for."""

    structure: str
    errors: Errors
    dependence: str
    chains: int
    draws: int | None
    confidence: float


@dataclass(frozen=True, slots=True)
class FitTogether:
    """What a model of all domains says of one."""

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
    reasons: tuple[str, ...]

    @property
    def identified(self) -> bool:
        """Whether the votes alone settle the error rates."""
        return not self.reasons

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
        return np.asarray(
            sum(f.weight * _pick(f.draws, finite).mean(axis=(0, 1)) for f in self.fitted)
        )

    def interval(self, confidence: float, *, finite: bool = False) -> tuple[FloatArray, FloatArray]:
        """Return limits that span every model and every explanation."""
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
        low, high = np.min(lows, axis=0), np.max(highs, axis=0)
        return np.clip(low, 0, 1), np.clip(high, 0, 1)

    def label_proba(self) -> FloatArray:
        """Return P(class) of every pattern, over the models."""
        return np.asarray(
            sum(
                f.weight * class_proba(f.problem, f.draws.label_proba.mean(axis=0))
                for f in self.fitted
            )
        )

    def prevalence(self, confidence: float) -> FloatArray:
        """Return the share of each class: mean over the models; limits that span all accounts."""
        tails = [(1 - confidence) / 2, (1 + confidence) / 2]
        parts = []
        for f in self.fitted:
            weights = f.draws.weights.reshape(-1, f.problem.n_components)
            parts.append(class_proba(f.problem, weights))
        mean = sum(f.weight * p.mean(axis=0) for f, p in zip(self.fitted, parts, strict=True))
        count = self.table.count
        told = [count @ e.label_proba / count.sum() for e in self.explanations]
        low = np.min([*(np.quantile(p, tails[0], axis=0) for p in parts), *told], axis=0)
        high = np.max([*(np.quantile(p, tails[1], axis=0) for p in parts), *told], axis=0)
        return np.stack([np.asarray(mean), low, high])

    def confusions(self) -> FloatArray:
        """Return P(outcome | class) of every voter: voters × classes × outcomes."""
        total = 0.0
        for f in self.fitted:
            for state in f.draws.states:
                rows = marginal_rows(f.problem.law.parent, state) * state.weight
                shape = (*rows.shape[:2], self.table.n_classes, f.problem.model.levels)
                by_class = rows.reshape(shape).sum(axis=3)
                share = class_proba(f.problem, state.weight[None, :])[0]
                part = by_class / np.maximum(share, 1e-300)
                total = total + f.weight * part / len(f.draws.states)
        return np.asarray(np.swapaxes(np.asarray(total), 1, 2))


def _pick(draws: Draws, finite: bool) -> FloatArray:
    return draws.finite if finite else draws.rates


def candidate_models(
    table: VoteTable, errors: Errors, dependence: str, shared: SharedVotes
) -> list[Model]:
    """Return the models that ``dependence`` asks for, as far as the votes can tell them apart."""
    plain = Model("independent", errors)
    found = []
    if dependence in ("none", "auto"):
        found.append(plain)
    if dependence in ("pairs", "auto"):
        problem = build_problem(plain, table)
        state, _, _ = fit_point(problem, starting_state(problem, table.vote_shares()))
        parent = copying_forest(problem, state, shared)
        if parent is not None:
            found.append(Model("pairs", errors, parent=parent))
        elif dependence == "pairs":
            found.append(plain)
    if dependence == "difficulty" or (dependence == "auto" and _tells_levels(table)):
        found.append(Model("difficulty", errors, levels=2))
    rows = table.n_voters * table.n_classes
    few = table.n_classes > 2 and table.votes_cast.sum() < _ROW_NEEDS * rows
    if dependence == "auto" and errors == "class-conditional" and few:
        found.append(Model("one rate", "symmetric"))
    return found


def _tells_levels(table: VoteTable) -> bool:
    votes = np.diff(table.start)
    mean = float(table.count @ votes / max(table.count.sum(), 1e-300))
    return table.n_voters >= _LEVELS_NEED and mean >= _VOTES_NEED


def fit_domain(
    table: VoteTable,
    settings: Settings,
    rng: np.random.Generator,
    step: Callable[[int], None] = lambda _: None,
    together: FitTogether | None = None,
) -> DomainFit:
    """Fit everything that ``settings`` asks for to one domain.

    ``together`` is what a model of all domains says of this one, if there is one.
    """
    shared = shared_votes(table)
    choice = _choose(table, settings, shared, rng, together)
    fitted, restarted, modes = [], 0, []
    for model, weight in zip(choice.models, choice.weights, strict=True):
        if together is not None and model is together.problem.model:
            fitted.append(Fitted(together.problem, together.draws, float(weight)))
            restarted += together.restarted
            modes += modes_of(together.draws)
            continue
        problem = build_problem(model, table)
        draws, again, apart = dispersed_chains(problem, settings.chains, settings.draws, rng, step)
        fitted.append(Fitted(problem, draws, float(weight)))
        restarted += again
        modes += apart
    span = []
    if settings.dependence == "auto" and not _tells_levels(table):
        # With so few voters the prior decides much; Jeffreys' shows how much.
        problem = build_problem(Model("weak prior", settings.errors, weak_prior=True), table)
        draws, *_ = dispersed_chains(problem, settings.chains, settings.draws, rng, step)
        span.append(Fitted(problem, draws, 0.0))
    fitted, explanations = _explain(table, fitted, choice.hard_items)
    best = max(fitted, key=lambda f: f.weight)
    pairs = agreement_of_states(best.problem.law.parent, best.draws.states, shared)
    fit = DomainFit(
        table=table,
        fitted=tuple(fitted),
        span=tuple(span),
        explanations=tuple(explanations),
        agreement=pairs,
        r_hat=split_r_hat(best.draws.rates),
        bulk=bulk_ess(best.draws.rates),
        tail=tail_ess(best.draws.rates),
        restarted=restarted,
        reasons=(),
    )
    low, high = fit.interval(settings.confidence)
    width = float(np.average(high - low, weights=np.maximum(table.votes_cast, 1e-9)))
    return replace(fit, reasons=what_is_not_settled(table, explanations, modes, pairs, width))


class _Choice(NamedTuple):
    """The models worth sampling, their stacking weights, and whether votes show hard items."""

    models: list[Model]
    weights: FloatArray
    hard_items: bool


def _choose(
    table: VoteTable,
    settings: Settings,
    shared: SharedVotes,
    rng: np.random.Generator,
    together: FitTogether | None,
) -> _Choice:
    """Compare the candidates on votes held out and drop those that hardly help."""
    models = candidate_models(table, settings.errors, settings.dependence, shared)
    if together is not None:
        # Where nothing is shared, sharing is too sure of itself: beside other models, that of the
        # domain on its own stays in the running.
        models = [together.problem.model, *(models if settings.dependence == "auto" else [])]
    if len(models) == 1:
        return _Choice(models, np.ones(1), models[0].levels > 1)  # then the user says so
    if together is None:
        few = len(table.voter) < _MANY_VOTES
        scores = held_out(models, table, folds=5 if few else 3, repeats=3 if few else 1, rng=rng)
    else:
        assert together.split is not None
        assert together.predicted is not None
        values, counts = held_out_values(
            models[1:], table, folds=len(together.split[0]), rng=rng, split=together.split,
            known=together.predicted[None],
        )  # fmt: skip
        if np.diff(values[:2] @ counts)[0] > 0:  # the better of those without dependence is first
            models[:2], values[:2] = models[1::-1], values[1::-1].copy()
        scores = combine(values, counts)
    leads = zip(models, scores.ahead, strict=True)  # of the model without dependence, the first
    keep = scores.weight >= _WEIGHT
    return _Choice(
        models=[m for m, kept in zip(models, keep, strict=True) if kept],
        weights=scores.weight[keep] / scores.weight[keep].sum(),
        hard_items=any(m.levels > 1 and lead > _LEAD for m, lead in leads),
    )


def _explain(
    table: VoteTable, fitted: list[Fitted], hard_items: bool
) -> tuple[list[Fitted], list[Explanation]]:
    """Return the accounts that compete with the consensus, and the fits with their shifts."""
    mean = np.asarray(sum(f.weight * f.draws.rates.mean(axis=(0, 1)) for f in fitted))
    consensus = np.asarray(sum(f.weight * blind_proba(f.problem, f.draws) for f in fitted))
    shifted, explanations = [], []
    for f in fitted:
        model = f.problem.model
        if model.levels > 1 and (hard_items or rival_is_close(f.problem, f.draws)):
            story, shifts = rival_explanation(f.problem, f.draws)
            explanations.append(story)
            f = replace(f, shifts=shifts)
        if model.parent is not None:
            explanations.append(clustered_explanation(table, model.parent, mean, consensus))
        shifted.append(f)
    return shifted, explanations
