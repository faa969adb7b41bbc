"""From tables of votes to all that was learned of each domain.

`fit_votes` fits every domain with checked `Settings`. `fit_domain` chooses models by votes held
out, samples them, and looks for explanations that compete with the consensus; a `DomainFit` holds
what it found, and gives means, limits and probabilities of labels over all models. `fit_pooled`
first samples the model in which all domains share error rates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self, cast

import numpy as np

from karat._convergence import bulk_ess, split_r_hat, tail_ess
from karat._result import Estimate
from karat._sentences import Argument, Expected, Remedy
from karat._typing import FloatArray, IntArray
from karat._validate import (
    check_choice,
    check_confidence,
    check_count,
    check_flag,
    check_number,
    named,
    refuse_option,
)
from karat.consensus._comparison import (
    candidate_models,
    combine,
    enough_for_difficulty,
    held_out,
    held_out_values,
    predict_pooled,
    split_counts,
)
from karat.consensus.identification import (
    MIXED,
    Explanation,
    GoldTest,
    account_labels,
    account_rates,
    blind_proba,
    check_consensus,
    clustered_explanation,
    identification_failures,
    lone_votes_explanation,
    pairs_off,
    rival_explanation,
    rival_is_close,
    status_of,
)
from karat.consensus.model import Errors, Model, Problem, build_problem, class_proba
from karat.consensus.result import CoClustering
from karat.consensus.sampling import (
    Draws,
    PooledDomains,
    PooledDraws,
    Progress,
    Structure,
    build_pooled,
    continued,
    dispersed_chains,
    modes_of,
    pooled_chains,
)
from karat.exceptions import OptionError
from karat.votes.agreement import (
    Agreement,
    NearCopies,
    SharedVotes,
    agreement_of_states,
    marginal_confusions,
    near_copies,
    one_vote_each,
    shared_votes,
)
from karat.votes.domains import Votes
from karat.votes.em import fit_point, starting_state
from karat.votes.patterns import VoteTable


class VotesFit(NamedTuple):
    """The fit of each domain and, if domains share error rates, which of them do."""

    data: Votes
    domains: tuple[DomainFit, ...]
    co_clustering: CoClustering | None


def fit_votes(
    data: Votes,
    settings: Settings,
    rng: np.random.Generator,
    *,
    same: Any = None,
    tested: bool = True,
) -> VotesFit:
    """Fit every domain; an interrupt is raised as such wherever it arrives.

    ``same`` are families of voters that count once, as a user names them; ``tested`` says that gold
    labels may test the consensus.
    """
    marked, copies = count_copies_once(data, families_of(same, data.classifiers))
    progress = Progress(settings.progress, len(data.domains))
    try:
        return _fit_all(marked, copies, settings, rng, progress, tested)
    except SystemError as error:
        # A signal that arrives while a compiled loop returns its arrays is raised inside it.
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise
    finally:
        progress.close()


def _fit_all(
    data: Votes,
    copies: Sequence[NearCopies],
    settings: Settings,
    rng: np.random.Generator,
    progress: Progress,
    tested: bool,
) -> VotesFit:
    fits, pooled, co_clustering = [], None, None
    if settings.structure != "independent":
        step = progress.all_domains()
        pooled, co_clustering = fit_pooled(data, settings, rng.spawn(1)[0], step)
    for d, domain in enumerate(data.domains):
        step = progress.domain(str(domain.name))
        of_all = None if pooled is None else pooled[d]
        one = fit_domain(
            domain.table, settings, rng.spawn(1)[0], step, of_all, copies=copies[d], tested=tested
        )
        fits.append(one)
    return VotesFit(data, tuple(fits), co_clustering)


# --- Near copies of each domain, and families that a user names: they have one vote together.


def families_of(same: Any, classifiers: Sequence[Any]) -> list[list[int]]:
    """Return the voters of each family as positions; what is no family of voters is refused."""
    if same is None:
        return []
    if not isinstance(same, Mapping):
        expected = "a mapping from the name of a family to its voters, such as {'gpt': [...]}"
        refuse_option(same, "same", expected)
    place = {name: j for j, name in enumerate(classifiers)}
    found = []
    for family, members in same.items():
        if isinstance(members, str) or not isinstance(members, Sequence):
            refuse_option(members, f"same[{family!r}]", "a list of voters")
        # The columns of an array are named by their numbers, as text.
        members = [name if name in place else str(name) for name in members]
        unknown = [name for name in members if name not in place]
        if unknown:
            refuse_option(
                unknown[0], f"a voter of same[{family!r}]", f"one of {named(classifiers)}"
            )
        found.append([place[name] for name in members])
        for other, earlier in zip(same, found[:-1], strict=False):
            both = [name for name in members if place[name] in earlier]
            if both:
                raise OptionError(
                    f"same[{other!r}] and same[{family!r}] both hold {both[0]!r}; a voter "
                    "belongs to one family: drop it from one, or make the two one family"
                )
    return found


def count_copies_once(
    data: Votes, families: Sequence[Sequence[int]]
) -> tuple[Votes, tuple[NearCopies, ...]]:
    """Return the votes with those of near copies marked, and the copies of each domain."""
    domains, copies = [], []
    for domain in data.domains:
        here = {int(j): at for at, j in enumerate(domain.voters)}
        known = [[here[j] for j in family if j in here] for family in families]
        found = near_copies(domain.table, known)
        table = domain.table
        # Fewer than three voters tell nothing in any case. Where nobody named the copies, the rates
        # are then those that hold if the voters are right and no copies.
        few = found.distinct(table.n_voters) < 3 and not any(found.known)
        if found.blocks and not few:
            table = replace(table, counted=one_vote_each(table, found))
        domains.append(replace(domain, table=table))
        copies.append(found)
    return replace(data, domains=tuple(domains)), tuple(copies)


# --- Fit one domain: choose models, sample them, look for competing explanations, check.

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
        table,
        fit.explanations,
        modes,
        fit.agreement,
        fit.width(settings.confidence),
        _worst_r_hat(fit),
        copies,
    )
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
    choice: _Choice,
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
            models[1:],
            table,
            folds=len(pooled.split[0]),
            rng=rng,
            split=pooled.split,
            known=pooled.predicted[None],
        )
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


# --- Fit all domains with one model in which they share error rates.

_POOLED_FOLDS = 5


def fit_pooled(
    data: Votes,
    settings: Settings,
    rng: np.random.Generator,
    step: Callable[[int], None],
) -> tuple[list[PooledFit], CoClustering]:
    """Sample the model of all domains; with other candidates, also predict votes held out."""
    pooled = _pool(data, settings.structure, settings.errors)
    draws, burn = _sweeps(pooled, settings.draws)
    found, restarted = pooled_chains(pooled, settings.chains, draws, burn, rng, step)
    splits: list[tuple[FloatArray, FloatArray]] = []
    predicted: list[FloatArray] = []
    if settings.dependence == "auto":
        splits = [split_counts(d.table.count, _POOLED_FOLDS, rng) for d in data.domains]
        predicted = predict_pooled(
            data, settings.structure, settings.errors, [rest for _, rest in splits], rng
        )
    fits = [
        PooledFit(
            pooled.problems[d],
            found.by_domain[d],
            restarted,
            splits[d] if splits else None,
            predicted[d] if predicted else None,
        )
        for d in range(len(data.domains))
    ]
    return fits, co_clustering(data, pooled, found)


def _pool(data: Votes, structure: Structure, errors: Errors) -> PooledDomains:
    tables = [d.table for d in data.domains]
    voters = [d.voters for d in data.domains]
    return build_pooled(tables, voters, len(data.classifiers), structure, errors)


def _sweeps(pooled: PooledDomains, draws: int | None) -> tuple[int, int]:
    """Return draws and burn-in per chain: 1,000 each, fewer on many votes."""
    if draws is not None:
        return draws, draws
    parameters = pooled.present.size * pooled.prior.size
    cost = len(pooled.cell) * pooled.n_classes + 40 * parameters
    kept = int(np.clip(2e8 / cost, 200, 1000))
    return kept, kept


# --- Who shares error rates with whom, from drawn partitions.

_CANDIDATES = 400  # partitions that are compared with one another
_MOST_ITEMS = 1000  # beyond which a matrix of pairs is not kept
_PARTITIONS = 1000  # draws that the co-clustering is from


def shared_probability(members: IntArray) -> FloatArray:
    """Return the share of draws in which two items are together; ``members`` is draws × items."""
    n = members.shape[1]
    total = np.zeros((n, n))
    for row in members:
        total += row[:, None] == row
    return total / len(members)


def best_partition(members: IntArray) -> IntArray:
    """Return the drawn partition that disagrees least with all draws, on average over pairs.

    This is Binder's loss. The number of pairs that two partitions both put together follows from
    the sizes of their cells in common, so no matrix of pairs is needed. Clusters are numbered by
    size, the largest first.
    """
    rows = np.linspace(0, len(members) - 1, min(len(members), _CANDIDATES)).astype(int)
    drawn = np.array([np.unique(members[r], return_inverse=True)[1] for r in rows])
    sizes = drawn.max(axis=1) + 1
    numbered = drawn + (np.cumsum(sizes) - sizes)[:, None]  # every cluster of every draw
    loss = np.empty(len(drawn))
    for a, row in enumerate(drawn):
        # The pairs within the other draws add the same to every candidate.
        both = same_label_pairs((numbered * sizes[a] + row).ravel()) / len(drawn)
        loss[a] = same_label_pairs(row) - 2 * both
    best = drawn[int(np.argmin(loss))]
    order = np.argsort(-np.bincount(best), kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.asarray(rank[best])


def same_label_pairs(labels: IntArray) -> float:
    """Return the number of ordered pairs of items with the same label."""
    few = int(labels.max()) < 16 * len(labels)  # else counting all would be mostly zeros
    counts = np.bincount(labels) if few else np.unique(labels, return_counts=True)[1]
    return float(np.sum(counts.astype(float) ** 2))


def certainty(members: IntArray, labels: IntArray) -> FloatArray:
    """Return how often each item is together with the others of its cluster, 1 if it is alone."""
    found = np.ones(len(labels))
    for cluster in np.unique(labels):
        items = np.flatnonzero(labels == cluster)
        if len(items) > 1:
            some = members[:, items]
            together = (some[:, :, None] == some[:, None, :]).mean(axis=0)
            found[items] = (together.sum(axis=1) - 1) / (len(items) - 1)
    return found


_TAILS = (0.025, 0.975)


def co_clustering(data: Votes, pooled: PooledDomains, found: PooledDraws) -> CoClustering:
    """Return who shares error rates with whom, from the draws of a model of all domains."""
    members = found.members.reshape(-1, found.members.shape[2])
    domains = [str(d.name) for d in data.domains]
    if pooled.structure == "coupled":
        names = domains
    else:
        here = pooled.present.ravel() > 0
        members = members[:, here]
        pairs = [f"{d}: {c}" for d in domains for c in data.classifiers]
        names = [n for n, seen in zip(pairs, here, strict=True) if seen]
    some = members[np.linspace(0, len(members) - 1, min(len(members), _PARTITIONS)).astype(int)]
    labels = best_partition(some)
    sizes = np.array([len(np.unique(row)) for row in some])
    matrix = shared_probability(some) if len(names) <= _MOST_ITEMS else np.empty((0, 0))
    strengths = found.strengths.reshape(-1, found.strengths.shape[2])
    posterior = partial(Estimate.of, confidence=0.95, guarantee="model")
    return CoClustering(
        structure=pooled.structure,
        names=tuple(names),
        labels=labels,
        certainty=certainty(some, labels),
        probability=matrix,
        estimate=posterior(float(sizes.mean()), *np.quantile(sizes, _TAILS).tolist()),
        concentration=posterior(strengths.mean(axis=0), *np.quantile(strengths, _TAILS, axis=0)),
    )


# --- What was learned of one domain: models with their draws, explanations, checks.

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

    def compact(self, confidence: float) -> DomainFit:
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
                    Argument("confidence"),
                    f" is {confidence:g}; expected ",
                    Expected(
                        f"{self.kept.confidence:g}, that of the fit, which was stored without "
                        "most of its draws"
                    ),
                    Remedy("fit again for another"),
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


# --- What a fit is asked for.

STRUCTURES = ("independent", "coupled", "hierarchical")
ERRORS = ("class-conditional", "symmetric")
DEPENDENCE = ("none", "difficulty", "pairs")


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a fit."""

    structure: str
    errors: Errors
    dependence: str
    chains: int
    draws: int | None
    abstain: str
    confidence: float
    slack: float
    progress: bool

    @classmethod
    def checked(cls, options: dict[str, Any]) -> Self:
        """Check the options of an estimator; those that are no settings are left out."""
        structure = check_choice(options["structure"], "structure", STRUCTURES)
        dependence = check_choice(options["dependence"], "dependence", ("auto", *DEPENDENCE))
        if structure != "independent" and dependence in ("difficulty", "pairs"):
            refuse_option(
                dependence,
                "dependence",
                f"'auto' or 'none' where structure is {structure!r}: voters whose error rates "
                "domains share err independently, and 'auto' compares that with dependent votes",
            )
        draws = options["draws"]
        return cls(
            structure=structure,
            errors=cast("Errors", check_choice(options["errors"], "errors", ERRORS)),
            dependence=dependence,
            chains=check_count(options["chains"], "chains", at_least=2),
            draws=None if draws is None else check_count(draws, "draws", at_least=20),
            abstain=check_choice(options["abstain"], "abstain", ("outcome", "missing")),
            confidence=check_confidence(options["confidence"]),
            slack=_check_slack(options["slack"]),
            progress=check_flag(options["progress"], "progress"),
        )


def _check_slack(slack: Any) -> float:
    share = check_number(slack, "slack")
    if not 0 <= share < 1:
        refuse_option(slack, "slack", "a share of the items from 0 to below 1, such as 0.02")
    return share
