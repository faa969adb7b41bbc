"""Error rates of one domain: candidate models, chains, competing explanations, checks."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import bdtrc, ndtri

from karat._typing import BoolArray, FloatArray
from karat.consensus._agreement import Agreement, SharedVotes, agreement, full_rows, shared_votes
from karat.consensus._convergence import bulk_ess, split_r_hat, tail_ess
from karat.consensus._copying import copying_forest
from karat.consensus._em import State, fit_point, starting_state
from karat.consensus._explanations import (
    Explanation,
    blind_proba,
    class_proba,
    clustered_explanation,
    rival_explanation,
    rival_is_close,
)
from karat.consensus._held_out import held_out
from karat.consensus._model import Errors, Model, Problem, build_problem
from karat.consensus._sample import Draws, run_chains
from karat.consensus._table import VoteTable

__all__ = ["DomainFit", "Fitted", "Settings", "candidate_models", "fit_domain"]

_LEVELS_NEED = 5  # voters below which easy and hard items cannot be told apart
_VOTES_NEED = 3.0  # votes per item, likewise
_MANY_VOTES = 50_000  # beyond which three folds say enough
_WEIGHT = 0.05  # a model with less stacking weight is clearly worse than the others
_LEAD = 2.0  # standard errors by which difficulty must predict better to speak of hard items
_SPAN = 0.1  # explanations that move the rates by more than this on average compete
_OUTSIDE = 0.05  # share of pairs outside their 99 % interval at which the dependence check fails
_APART = 0.01  # and by how much a pair has to be off for that
_NATS = 10.0  # a chain whose likelihood is lower by more has not found the mode


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user asked for."""

    errors: Errors
    dependence: str
    chains: int
    draws: int | None
    confidence: float


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
    compared: tuple[tuple[str, float, float, float], ...]  # name, nats behind, error, weight
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
        return float(_outside(self.agreement).mean()) if len(self.agreement.z) else float("nan")

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
        """Return the share of each class: mean over the models, and limits that span them."""
        tails = [(1 - confidence) / 2, (1 + confidence) / 2]
        parts = []
        for f in self.fitted:
            weights = f.draws.weights.reshape(-1, f.problem.n_components)
            parts.append(class_proba(f.problem, weights))
        mean = sum(f.weight * p.mean(axis=0) for f, p in zip(self.fitted, parts, strict=True))
        low = np.min([np.quantile(p, tails[0], axis=0) for p in parts], axis=0)
        high = np.max([np.quantile(p, tails[1], axis=0) for p in parts], axis=0)
        return np.stack([np.asarray(mean), low, high])

    def confusions(self) -> FloatArray:
        """Return P(outcome | class) of every voter: voters × classes × outcomes."""
        total = 0.0
        for f in self.fitted:
            for state in f.draws.states:
                rows = full_rows(f.problem, state) * state.weight
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
    if dependence == "auto" and errors == "class-conditional" and table.n_classes > 2:
        # A row per class may ask too much of a voter's few votes.
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
) -> DomainFit:
    """Fit everything that ``settings`` asks for to one domain."""
    shared = shared_votes(table)
    models = candidate_models(table, settings.errors, settings.dependence, shared)
    compared: tuple[tuple[str, float, float, float], ...] = ()
    hard_items = settings.dependence == "difficulty"  # then the user says so
    weight = np.ones(1)
    if len(models) > 1:
        folds = 5 if len(table.voter) < _MANY_VOTES else 3
        scores = held_out(models, table, folds=folds, rng=rng)
        compared = tuple(
            (m.name, float(b), float(e), float(w))
            for m, b, e, w in zip(
                models, scores.behind, scores.behind_error, scores.weight, strict=True
            )
        )
        hard_items = any(
            m.levels > 1 and lead > _LEAD for m, lead in zip(models, scores.ahead, strict=True)
        )
        keep = scores.weight >= _WEIGHT
        weight = scores.weight[keep] / scores.weight[keep].sum()
        models = [m for m, k in zip(models, keep, strict=True) if k]
    fitted, restarted, modes = [], 0, []
    for model, share in zip(models, weight, strict=True):
        problem = build_problem(model, table)
        draws, again, other = _sample(problem, settings, rng, step)
        fitted.append(Fitted(problem, draws, float(share)))
        restarted += again
        modes += other
    span = []
    if settings.dependence == "auto" and not _tells_levels(table):
        # With so few voters the prior decides much; Jeffreys' shows how much.
        problem = build_problem(Model("weak prior", settings.errors, weak_prior=True), table)
        span.append(Fitted(problem, _sample(problem, settings, rng, step)[0], 0.0))
    mean = np.asarray(sum(f.weight * f.draws.rates.mean(axis=(0, 1)) for f in fitted))
    consensus = np.asarray(sum(f.weight * blind_proba(f.problem, f.draws) for f in fitted))
    explanations = []
    for at, f in enumerate(fitted):
        if f.problem.model.levels > 1 and (hard_items or rival_is_close(f.problem, f.draws)):
            story, shifts = rival_explanation(f.problem, f.draws)
            explanations.append(story)
            fitted[at] = replace(f, shifts=shifts)
        if f.problem.model.parent is not None:
            parent = f.problem.model.parent
            explanations.append(clustered_explanation(table, parent, mean, consensus))
    best = max(fitted, key=lambda f: f.weight)
    pairs = agreement(best.problem, best.draws.states, shared)
    draws_of_best = best.draws.rates
    fit = DomainFit(
        table=table,
        fitted=tuple(fitted),
        span=tuple(span),
        compared=compared,
        explanations=tuple(explanations),
        agreement=pairs,
        r_hat=split_r_hat(draws_of_best),
        bulk=bulk_ess(draws_of_best),
        tail=tail_ess(draws_of_best),
        restarted=restarted,
        reasons=(),
    )
    return replace(fit, reasons=_reasons(fit, modes))


def _reasons(fit: DomainFit, modes: list[float]) -> tuple[str, ...]:
    """Say why votes alone do not settle the error rates; nothing if they do."""
    table, reasons = fit.table, []
    if table.n_voters < 3:
        reasons.append("two voters cannot tell which of them is wrong")
    reasons += [
        f"the votes fit as well if {other.name}, which moves the error rates by {other.moved:.2f} "
        "on average"
        for other in fit.explanations
        if other.moved > _SPAN
    ]
    if modes:
        reasons.append(
            f"chains from other starts fit as well and differ by up to {max(modes):.2f} in an "
            "error rate"
        )
    if _dependent(fit.agreement):
        reasons.append(
            f"{100 * fit.pairs_off:.0f} % of the pairs of voters agree more or less often than the "
            "best model expects of 1 %"
        )
    return tuple(reasons)


def _outside(pairs: Agreement) -> BoolArray:
    off = np.abs(pairs.z) > -ndtri(0.005)
    return np.asarray(off & (np.abs(pairs.observed - pairs.expected) > _APART))


def _dependent(pairs: Agreement) -> bool:
    outside = _outside(pairs)
    if not len(outside):
        return False
    chance = bdtrc(float(outside.sum()) - 1, len(outside), 0.01) if outside.any() else 1.0
    return bool(outside.mean() > _OUTSIDE and chance < 0.001)


def _sample(
    problem: Problem,
    settings: Settings,
    rng: np.random.Generator,
    step: Callable[[int], None],
) -> tuple[Draws, int, list[float]]:
    """Run the chains from dispersed starts; those stuck on a lower mode start again at the best.

    Return the draws, the number of restarts, and how far apart modes are that fit as well.
    """
    starts, low = _starts(problem, settings.chains, rng)
    draws, burn = sweeps_for(problem, settings.draws)
    rngs = rng.spawn(settings.chains)
    found = run_chains(problem, starts, rngs, burn=burn, draws=draws, step=step)
    level = found.value.mean(axis=1)
    items = problem.table.count.sum()
    stuck = level < level.max() - max(_NATS, 1e-4 * items)
    if stuck.any():
        best = found.last_states[int(level.argmax())]
        again = run_chains(
            problem, [best] * int(stuck.sum()), rng.spawn(int(stuck.sum())), burn=burn // 2,
            draws=draws, step=step,
        )  # fmt: skip
        found = found.replaced(stuck, again)
    return found, low + int(stuck.sum()), _modes(found)


def _modes(draws: Draws) -> list[float]:
    """Return how far chains are apart whose means cannot be one law's."""
    means, spread = draws.rates.mean(axis=1), draws.rates.std(axis=1).max(axis=0)
    apart = np.ptp(means, axis=0)
    far = apart > np.maximum(_SPAN, 3 * spread)
    return [float(apart[far].max())] if far.any() else []


def sweeps_for(problem: Problem, draws: int | None) -> tuple[int, int]:
    """Return draws and burn-in per chain: 1,000 each, fewer on tables of very many votes."""
    if draws is not None:
        return draws, draws
    votes = len(problem.cell) * problem.n_components
    parameters = problem.table.n_voters * problem.table.n_outcomes * problem.n_components
    kept = int(np.clip(6e7 / (votes + 6 * parameters), 160, 1000))
    return kept, kept if kept == 1000 else kept // 2


def _starts(problem: Problem, chains: int, rng: np.random.Generator) -> tuple[list[State], int]:
    """Return one start from the majority vote and others from voters weighed at random.

    A start that climbs to a much lower mode would waste its chain: the best takes its place, and
    the number of those is returned.
    """
    table = problem.table
    starts, level = [], []
    for chain in range(chains):
        weight = _gold_weight(table)
        if chain:
            random = rng.exponential(size=table.n_voters) ** 2
            weight = random if weight is None else weight * random
        state = starting_state(problem, table.vote_shares(weight))
        state, value, _ = fit_point(problem, state, max_iter=30, tol=1e-4)
        starts.append(state)
        level.append(float(table.count @ value))
    best = int(np.argmax(level))
    low = np.array(level) < level[best] - max(_NATS, 1e-3 * table.count.sum())
    return [starts[best] if out else s for s, out in zip(starts, low, strict=True)], int(low.sum())


def _gold_weight(table: VoteTable) -> FloatArray | None:
    """Return the weight of each voter by its record on gold labels, None if there are none."""
    known = table.gold >= 0
    if not known.any():
        return None
    spoke = known[table.pattern_of_vote] & (table.outcome < table.n_classes)
    voter, pattern = table.voter[spoke], table.pattern_of_vote[spoke]
    count = table.count[pattern]
    right = count * (table.outcome[spoke] == table.gold[pattern])
    n = np.bincount(voter, weights=count, minlength=table.n_voters)
    share = (1 + np.bincount(voter, weights=right, minlength=table.n_voters)) / (2 + n)
    odds = np.log(share * (table.n_classes - 1) / (1 - share))
    return np.maximum(odds, 0.01)
