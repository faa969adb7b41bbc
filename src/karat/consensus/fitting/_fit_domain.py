"""Fit one domain: choose models, sample them, look for competing explanations, check."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from karat._convergence import bulk_ess, split_r_hat, tail_ess
from karat._typing import FloatArray
from karat.consensus.comparison import (
    candidate_models,
    combine,
    enough_for_difficulty,
    held_out,
    held_out_values,
)
from karat.consensus.fitting._domain_fit import DomainFit, Fitted, PooledFit
from karat.consensus.fitting._settings import Settings
from karat.consensus.identification import (
    MIXED,
    Explanation,
    blind_proba,
    check_consensus,
    clustered_explanation,
    identification_failures,
    lone_votes_explanation,
    rival_explanation,
    rival_is_close,
    status_of,
)
from karat.consensus.model import Model, build_problem, class_proba
from karat.consensus.sampling import continued, dispersed_chains, modes_of
from karat.votes.agreement import NearCopies, SharedVotes, agreement_of_states, shared_votes
from karat.votes.em import fit_point, starting_state
from karat.votes.tables import VoteTable

__all__ = ["fit_domain"]

# Folds and repeats by the number of votes: with few of them the luck of the folds says much.
_PLANS = ((50_000, (5, 5)), (200_000, (3, 3)), (np.inf, (3, 1)))
_FOLDS = 20160619  # seed of the folds
_LONGER = 2  # longer runs before chains are said not to mix
_NONE = NearCopies((), (), ())
_WEIGHT = 0.05  # a model with less stacking weight is clearly worse than the others
# Standard errors by which difficulty must predict better to speak of hard items. With independent
# votes it led by more in none of 144 simulations.
_LEAD = 1.0


def fit_domain(
    table: VoteTable,
    settings: Settings,
    rng: np.random.Generator,
    step: Callable[[int], None] = lambda _: None,
    pooled: PooledFit | None = None,
    *,
    copies: NearCopies = _NONE,
    tested: bool = True,
) -> DomainFit:
    """Fit everything that ``settings`` asks for to one domain.

    ``pooled`` is what a model of all domains says of this one, if there is one; ``copies`` are the
    voters of the table that count once, and ``tested`` says that gold labels may test the
    consensus: that nobody picked the items by hand.
    """
    shared = shared_votes(table.heard)
    choice = _choose(table, settings, shared, pooled)
    sampled, restarted, modes = _sample(choice, table, settings, rng, step, pooled)
    span = []
    if settings.dependence == "auto" and not enough_for_difficulty(table):
        # With so few voters the prior decides much; Jeffreys' shows how much.
        problem = build_problem(Model("weak prior", settings.errors, weak_prior=True), table)
        draws, *_ = dispersed_chains(problem, settings.chains, settings.draws, rng, step)
        span.append(Fitted(problem, draws, 0.0))
    fit, reasons = _checked(table, sampled, span, choice, modes, settings, shared, copies)
    for _ in range(_LONGER):
        if pooled is not None or reasons or not _unmixed(fit):
            break
        sampled = _continue(sampled, rng, step)
        modes = [apart for f in sampled for apart in modes_of(f.draws)]
        fit, reasons = _checked(table, sampled, span, choice, modes, settings, shared, copies)
    reasons = identification_failures(
        table, fit.explanations, modes, fit.agreement, fit.width(settings.confidence),
        _worst_r_hat(fit), copies,
    )  # fmt: skip
    blind = _blind_consensus(table, fit) if tested and (table.gold >= 0).any() else None
    test = None
    if blind is not None:
        test = check_consensus(table.gold, table.count, blind, settings.slack)
    return replace(
        fit, restarted=restarted, reasons=reasons, status=status_of(reasons, test), gold_test=test
    )


def _checked(
    table: VoteTable,
    sampled: list[Fitted],
    span: list[Fitted],
    choice: "_Choice",
    modes: list[float],
    settings: Settings,
    shared: SharedVotes,
    copies: NearCopies,
) -> tuple[DomainFit, tuple[str, ...]]:
    """Put the fits together; say what speaks against them, but for chains that have not mixed."""
    fitted, explanations = _explain(table, sampled, choice.hard_items)
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
        restarted=0,
        copies=copies,
        slack=settings.slack,
    )
    width = fit.width(settings.confidence)
    return fit, identification_failures(table, explanations, modes, pairs, width, copies=copies)


def _worst_r_hat(fit: DomainFit) -> float:
    """Return the largest R-hat over voters who voted."""
    cast = fit.table.votes_cast > 0
    return float(np.nan_to_num(fit.r_hat[cast], nan=1.0).max(initial=1.0))


def _unmixed(fit: DomainFit) -> bool:
    return _worst_r_hat(fit) > MIXED


def _continue(
    sampled: list[Fitted], rng: np.random.Generator, step: Callable[[int], None]
) -> list[Fitted]:
    """Return the fits with longer runs of the models whose chains have not mixed."""
    longer = []
    for f in sampled:
        if np.nan_to_num(split_r_hat(f.draws.rates), nan=1.0).max(initial=1.0) > MIXED:
            f = replace(f, draws=continued(f.problem, f.draws, rng, step))
        longer.append(f)
    return longer


def _blind_consensus(table: VoteTable, fit: DomainFit) -> FloatArray:
    """Return P(class) of every pattern from the chosen models fitted without the gold labels."""
    unlabelled = table.without_gold()
    total = np.zeros((table.n_patterns, table.n_classes))
    for f in fit.fitted:
        # Who copies whom was found with the labels at hand, so it takes no part.
        problem = build_problem(replace(f.problem.model, parent=None), unlabelled)
        _, _, proba = fit_point(problem, starting_state(problem, unlabelled.vote_shares()))
        total += f.weight * class_proba(problem, proba)
    return total


class _Choice(NamedTuple):
    """The models worth sampling, their stacking weights, and whether votes show hard items."""

    models: list[Model]
    weights: FloatArray
    hard_items: bool


def _choose(
    table: VoteTable,
    settings: Settings,
    shared: SharedVotes,
    pooled: PooledFit | None,
) -> _Choice:
    """Compare the candidates on votes held out and drop those that hardly help.

    The folds are the same in every run: what is concluded must not depend on their luck.
    """
    rng = np.random.default_rng(_FOLDS)
    models = candidate_models(table, settings.errors, settings.dependence, shared)
    if pooled is not None:
        # Where domains have nothing in common, the pooled model is over-confident, so the model of
        # the domain on its own stays among the candidates.
        models = [pooled.problem.model, *(models if settings.dependence == "auto" else [])]
    if len(models) == 1:
        return _Choice(models, np.ones(1), models[0].levels > 1)  # the user asked for it
    if pooled is None:
        folds, repeats = next(plan for most, plan in _PLANS if len(table.voter) < most)
        scores = held_out(models, table, folds=folds, repeats=repeats, rng=rng)
    else:
        assert pooled.split is not None
        assert pooled.predicted is not None
        values, counts = held_out_values(
            models[1:], table, folds=len(pooled.split[0]), rng=rng, split=pooled.split,
            known=pooled.predicted[None],
        )  # fmt: skip
        if (
            np.diff(values[:2] @ counts)[0] > 0
        ):  # the better of the two models without dependence is the first
            models[:2], values[:2] = models[1::-1], values[1::-1].copy()
        scores = combine(values, counts)
    leads = zip(models, scores.ahead, strict=True)  # of the model without dependence, the first
    keep = scores.weight >= _WEIGHT
    return _Choice(
        models=[m for m, kept in zip(models, keep, strict=True) if kept],
        weights=scores.weight[keep] / scores.weight[keep].sum(),
        hard_items=any(m.levels > 1 and lead > _LEAD for m, lead in leads),
    )


def _sample(
    choice: _Choice,
    table: VoteTable,
    settings: Settings,
    rng: np.random.Generator,
    step: Callable[[int], None],
    pooled: PooledFit | None,
) -> tuple[list[Fitted], int, list[float]]:
    """Sample the chosen models; return them, the restarted chains, and how far modes are apart."""
    fitted, restarted, modes = [], 0, []
    for model, weight in zip(choice.models, choice.weights, strict=True):
        if pooled is not None and model is pooled.problem.model:
            fitted.append(Fitted(pooled.problem, pooled.draws, float(weight)))
            restarted += pooled.restarted
            modes += modes_of(pooled.draws)
            continue
        problem = build_problem(model, table)
        draws, again, apart = dispersed_chains(problem, settings.chains, settings.draws, rng, step)
        fitted.append(Fitted(problem, draws, float(weight)))
        restarted += again
        modes += apart
    return fitted, restarted, modes


def _explain(
    table: VoteTable, fitted: list[Fitted], hard_items: bool
) -> tuple[list[Fitted], list[Explanation]]:
    """Return the fits with their shifts, and the explanations that compete with the consensus."""
    mean = np.asarray(sum(f.weight * f.draws.rates.mean(axis=(0, 1)) for f in fitted))
    consensus = np.asarray(sum(f.weight * blind_proba(f.problem, f.draws) for f in fitted))
    shifted, explanations = [], []
    for f in fitted:
        model = f.problem.model
        if model.levels > 1 and (hard_items or rival_is_close(f.problem, f.draws)):
            rival, shifts = rival_explanation(f.problem, f.draws)
            explanations.append(rival)
            f = replace(f, shifts=shifts)
        if model.parent is not None:
            explanations.append(clustered_explanation(table, model.parent, mean, consensus))
        shifted.append(f)
    lone = lone_votes_explanation(table, mean, consensus)
    return shifted, explanations if lone is None else [*explanations, lone]
