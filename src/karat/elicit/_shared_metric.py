"""One metric for several people: the law from which their metrics are drawn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from karat._callers import caller_level
from karat._convergence import bulk_ess, split_r_hat
from karat._result import Result, keeps_kind
from karat._sentences import Argument, Expected, Option, Remedy
from karat._typing import BoolArray, FloatArray, IntArray
from karat._validate import check_count, check_rng, refuse_option
from karat.elicit._build_result import Reported, limits_of, named_metric, report
from karat.elicit._charts import Chart, chart_of, log_ratios
from karat.elicit._elicitation import Elicitation
from karat.elicit._snapshot import typical_margin
from karat.elicit.families import Family
from karat.elicit.people_arrays import KINDS, Asked, LawArrays
from karat.elicit.posterior import N_NOISE, log_likelihood, read_noise
from karat.elicit.result import (
    ElicitationResult,
    NamedEstimate,
    TradeOff,
    WeightTable,
    estimate_columns,
    estimate_row,
    estimates_of,
)
from karat.elicit.spaces import Space
from karat.elicit.transcript import SIGNS
from karat.exceptions import KaratWarning, OptionError
from karat.metrics.base import Elicited, MetricBase

_CHAINS = 16
_KEPT = 400  # draws that the result keeps


@keeps_kind
def shared_metric(
    space: Space,
    results: Sequence[ElicitationResult],
    *,
    names: Sequence[Any] | None = None,
    warm_up: int = 300,
    draws: int = 300,
    rng: int | np.random.Generator | None = None,
) -> SharedMetric:
    """Return what several people want together, with how far they differ.

    For every family of metrics: people are normal around what they share, in log-ratios of weights
    and in whatever else the family has (the log-worth of gaps between groups, the power of a mean,
    the direction of weights of any sign), and each answers with a noise of their own. Where the
    chains do not agree after ``draws``, all draws so far count as warm-up and twice as many sweeps
    follow, at most three times.

    Parameters
    ----------
    space : Space
        The space that all of them were asked about.
    results : sequence of ElicitationResult
        One per person, all of the same family with the same options of its own (such as
        ``same_pairs``). Stops, seeds and strategies may differ.
    names : sequence, optional
        What to call the people; by default "person 1", "person 2" and so on.
    warm_up : int, default 300
        Sweeps of the sampler before draws are kept, in which its steps adapt.
    draws : int, default 300
        Draws that are kept of each of the 16 chains.
    rng : int or generator, optional
        Randomness of the sampler.

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import BinarySpace, Elicitation, MetricOracle
    >>> from karat.metrics import cost_matrix
    >>> space = BinarySpace.from_density(LogisticLaw.binary(5.0).proba)
    >>> people = [MetricOracle(cost_matrix([[0, 1], [c, 0]])) for c in (2, 3, 5)]
    >>> results = [Elicitation(space, rng=0).run(person) for person in people]
    >>> shared_metric(space, results, rng=0).spread.upper > 1
    True
    """
    run, family, people = read_people(space, results)
    called = [f"person {i + 1}" for i in range(len(people))] if names is None else list(names)
    if len(called) != len(people):
        refuse_option(called, "names", f"one name for each of {len(people)} people")
    chains = PeopleChains(chart_of(family), people, check_rng(rng), chains=_CHAINS)
    drawn, r_hat, effective = draw_mixed(
        chains, check_count(warm_up, "warm_up"), check_count(draws, "draws", at_least=4)
    )
    warn_of_mixing(r_hat, effective)
    found = _summarised(run, chains, drawn, tuple(called), r_hat, effective)
    rests_on = Elicited(
        status=_status(results),
        n_queries=sum(result.n_queries for result in results),
        limits=limits_of(found.ratios),
        who=f"{len(people)} people",
        procedure=f"{run.family} family, from {len(people)} people",
    )
    return replace(found, metric=named_metric(space, found.metric, rests_on))


def _status(results: Sequence[ElicitationResult]) -> str:
    """Return what all people have in common: one who is certain does not settle it for others."""
    known = {result.status for result in results}
    return known.pop() if len(known) == 1 else "undecided"


def _summarised(
    run: Elicitation,
    chains: PeopleChains,
    drawn: PeopleDraws,
    called: tuple[Any, ...],
    r_hat: float,
    effective: float,
) -> SharedMetric:
    chart, family, rng = chains.chart, chains.chart.family, chains.rng
    center = drawn.center.reshape(-1, chart.dim)
    spread = drawn.spread.reshape(len(center), -1)
    everyone = np.moveaxis(drawn.each, 2, 0).reshape(len(called), len(center), -1)
    unseen = center + spread[:, chart.of] * rng.normal(size=center.shape)
    parameters = chart.parameters(center)
    middle = _middle(family, parameters)
    shared = report(run, family, middle, parameters)
    each = [_reported(run, chart, z) for z in everyone]
    return SharedMetric(
        metric=family.metric(middle),
        weights=shared.weights,
        ratios=shared.ratios,
        trade_off=shared.trade_off,
        table=shared.table,
        spreads=_spreads(chart, center, spread),
        next_person=estimates_of(
            family.names,
            np.array([weight.value for weight in shared.weights]),
            family.weights(chart.parameters(unseen)),
        ),
        people=tuple(person.weights for person in each),
        people_ratios=tuple(_compared(person) for person in each),
        names=family.names,
        people_names=called,
        draws=shared.draws[:: max(1, len(center) // _KEPT)],
        agreement=_agreement(run, chart, drawn.each, rng),
        space=run.space.kind,
        family=run.family,
        r_hat=r_hat,
        effective_draws=effective,
    )


def _middle(family: Family, parameters: FloatArray) -> FloatArray:
    return family.mean(parameters, np.full(len(parameters), 1.0 / len(parameters)))


def _reported(run: Elicitation, chart: Chart, z: FloatArray) -> Reported:
    """Return what is known of one person, from draws (n, dim)."""
    parameters = chart.parameters(z)
    return report(run, chart.family, _middle(chart.family, parameters), parameters)


def _compared(person: Reported) -> tuple[NamedEstimate, ...]:
    """Return the ratios of someone's weights, and what gaps between groups are worth to them."""
    return (*person.ratios, *(() if person.trade_off is None else (person.trade_off.worth,)))


def _spreads(chart: Chart, center: FloatArray, spread: FloatArray) -> tuple[NamedEstimate, ...]:
    values = chart.spreads(center, spread)
    return estimates_of(
        tuple(part.words for part in chart.parts), np.median(values, axis=0), values
    )


def _agreement(run: Elicitation, chart: Chart, each: FloatArray, rng: np.random.Generator) -> float:
    """Return how often two different people of one draw prefer the same side of a pair."""
    space = run.question_space
    points = space.coordinates(space.sample(200, rng=rng))
    left, right = rng.integers(0, len(points), (2, 300))
    flat = each.reshape(-1, *each.shape[2:])
    same = []
    for people in flat[:: max(1, len(flat) // 200)]:
        values = chart.family.values(chart.parameters(people), points)
        prefers = values[:, left] > values[:, right]
        share = prefers.mean(axis=0)
        n = len(people)
        same.append(np.mean((n * (share**2 + (1 - share) ** 2) - 1) / (n - 1)))
    return float(np.mean(same))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SharedMetric(Result):
    """What several people want, together and each.

    Attributes
    ----------
    metric : Metric
        The metric in the middle of all people.
    weights : tuple of NamedEstimate
        Its weights, with limits.
    ratios : tuple of NamedEstimate
        Ratios of its weights, as in `ElicitationResult`.
    spreads : tuple of NamedEstimate
        How far people typically are from what is shared, for each part of the metric: the factor of
        weights (1 if all want the same) or of the worth of gaps between groups, the distance of
        powers or correlations (0), or the angle between weights of any sign.
    next_person : tuple of NamedEstimate
        The weights of a person who was not asked.
    people : tuple of tuples of NamedEstimate
        The weights of each person, drawn toward what is shared by as much as their own answers
        leave open.
    people_ratios : tuple of tuples of NamedEstimate
        The ratios of the weights of each person, and last what gaps between groups are worth to
        them where groups are compared.
    names : tuple of str
        What each weight is, in words.
    people_names : tuple
        What each person is called, as it was passed.
    draws : array (n, weights)
        Draws of the shared weights.
    agreement : float
        Share of random pairs on which two people who were asked agree, in expectation.
    space, family : str
        The kind of space and the family of metrics that all of them were asked about.
    r_hat, effective_draws : float
        Whether the chains mixed: the greatest R-hat, and the least effective number of draws, of
        what is shared, of the spreads and of everyone's weights.
    trade_off : TradeOff or None
        How errors are traded against gaps between groups in the shared metric; None for metrics
        that know no groups.
    table : WeightTable or None
        The shared weights of a quadratic or fair metric as a table.
    """

    metric: MetricBase
    weights: tuple[NamedEstimate, ...]
    ratios: tuple[NamedEstimate, ...]
    spreads: tuple[NamedEstimate, ...]
    next_person: tuple[NamedEstimate, ...]
    people: tuple[tuple[NamedEstimate, ...], ...]
    people_ratios: tuple[tuple[NamedEstimate, ...], ...]
    names: tuple[str, ...]
    people_names: tuple[Any, ...]
    draws: FloatArray
    agreement: float
    space: str
    family: str
    r_hat: float
    effective_draws: float
    trade_off: TradeOff | None = None
    table: WeightTable | None = None

    @property
    def spread(self) -> NamedEstimate:
        """The first of ``spreads``: that of the weights of errors, where they are not known."""
        return self.spreads[0]

    def summary(self) -> str:
        """Return how far people agree, in one sentence, after whether the chains mixed."""
        unsettled = ""
        if not (self.r_hat <= MOST_R_HAT and self.effective_draws >= LEAST_DRAWS):
            unsettled = (
                f"The chains have not mixed (R-hat {self.r_hat:.2f}, {self.effective_draws:.0f} "
                "effective draws), so these figures may still change; raise draws. "
            )
        return (
            f"{unsettled}{len(self.people)} people agree with each other on "
            f"{100 * self.agreement:.0f} % of pairs; {'; '.join(map(str, self.spreads))}."
        )

    def _columns(self) -> dict[str, Any]:
        everyone = estimate_columns(
            weight=self.weights,
            ratio=self.ratios,
            spread=self.spreads,
            next_person=self.next_person,
        )
        parts = [everyone | {"person": [None] * len(everyone["name"])}]
        for name, weights, ratios in zip(
            self.people_names, self.people, self.people_ratios, strict=True
        ):
            own = estimate_columns(weight=weights, ratio=ratios)
            parts.append(own | {"person": [name] * len(own["name"])})
        return {key: [v for part in parts for v in part[key]] for key in parts[0]}

    def _table(self) -> list[tuple[str, str]]:
        return [estimate_row(weight) for weight in (*self.weights, *self.spreads)]


# --- Whether the chains have mixed, for all that is reported.

MOST_R_HAT = 1.05
LEAST_DRAWS = 400.0
_ROUNDS = 4  # each of twice as many sweeps as the one before


def draw_mixed(chains: PeopleChains, warm_up: int, draws: int) -> tuple[PeopleDraws, float, float]:
    """Return draws of chains that agree, the greatest R-hat and the least effective number.

    Where they do not agree yet, all draws so far count as warm-up, and twice as many sweeps follow;
    a few times, if need be.
    """
    chains.warm_up(warm_up)
    for doubled in range(_ROUNDS):
        drawn = chains.run(draws, thin=2**doubled)
        watched = _watched(chains.chart, drawn)
        r_hat, effective = float(split_r_hat(watched).max()), float(bulk_ess(watched).min())
        if r_hat <= MOST_R_HAT and effective >= LEAST_DRAWS:
            break
    return drawn, r_hat, effective


def warn_of_mixing(r_hat: float, effective: float) -> None:
    """Warn of chains that disagree, or of few effective draws."""
    if r_hat > MOST_R_HAT or effective < LEAST_DRAWS:
        warnings.warn(
            KaratWarning(
                f"chains have not mixed (R-hat {r_hat:.2f}, {effective:.0f} effective draws): "
                "the limits are rough",
                Remedy(
                    "raise ",
                    Option("warm_up"),
                    " and ",
                    Option("draws"),
                    ", or ask each person more questions",
                ),
            ),
            stacklevel=caller_level(),
        )


def _watched(chart: Chart, drawn: PeopleDraws) -> FloatArray:
    """Return (chains, draws, quantities): the law, and the weights of the center and of everyone.

    Where only directions count, the coordinates have a scale that nothing tells, and are not
    watched themselves.
    """
    chains, draws, _, dim = drawn.each.shape

    def weights(z: FloatArray) -> FloatArray:
        return chart.family.weights(chart.parameters(z.reshape(-1, dim)))

    spreads = chart.spreads(drawn.center.reshape(-1, dim), drawn.spread.reshape(chains * draws, -1))
    straight = [part.kind != "angle" for part in chart.parts]
    columns = [
        drawn.center[:, :, np.array(straight)[chart.of]],
        drawn.spread[:, :, straight],
        spreads.reshape(chains, draws, -1),
        weights(drawn.center).reshape(chains, draws, -1),
        weights(drawn.each).reshape(chains, draws, -1),
    ]
    return np.concatenate(columns, axis=2)


# --- Several people: a sampler of the law they follow, and of the metric and noise of each.
#
# Person i has the coordinates ``z_i ~ N(μ, τ²)``, with one τ for each part of the chart, and
# answers with a noise of their own: slope, lapse rate and ties, as in the choice model, each read
# from a normal number. Each sweep moves
#
# - every person by a step of the shape of what is known of them, or by a draw from the law,
# - μ and τ, and then everyone, over many versions of every person (see `Ensemble`),
# - μ and τ given the people, from their conditionals (the centred moves), and
# - μ, τ and all people at once with ``(z − μ)/τ`` held (the non-centred moves; Yu and Meng 2011).
#
# Where compiled loops can read the weights of a chart they make many such sweeps instead of one,
# but for the versions (see `_people_loops`): with many weights and few answers each step is short.
#
# Steps adapt before draws are kept, and are then left as they are.

_SEGMENTS = (0.15, 0.35, 0.6, 1.0)  # of the warm-up: after each, steps are fitted anew
_PEOPLE_STEPS, _JOINT_STEPS = 2, 2  # in each sweep
_VERSIONS = 32  # of every person, the chain's own among them
_FRESH = 6  # of them are drawn anew in each sweep
_LAW_STEPS = 4  # of μ and τ over all versions, in each sweep
# Where loops can read the weights, compiled sweeps instead of one: the more, the more there is.
_COMPILED, _MOST_COMPILED = 4, 20
_ACCEPTED = 0.25  # share of moves at which steps are as long as is good


class PeopleDraws(NamedTuple):
    """Draws of μ (chains, draws, dim), τ (chains, draws, parts) and z (.., people, dim)."""

    center: FloatArray
    spread: FloatArray
    each: FloatArray


class PeopleChains:
    """Metropolis within Gibbs, for all people and chains at once."""

    def __init__(
        self, chart: Chart, people: list[Person], rng: np.random.Generator, *, chains: int
    ) -> None:
        self.chart, self.rng = chart, rng
        self.people, self.law = People(chart, people), Law(chart, len(people), rng)
        # From the prior, wider apart than the posterior: chains that agree have forgotten it.
        self.center, self.spread = self.law.draw(chains)
        self.state = rng.normal(size=(chains, len(people), self.people.size))
        self.z[...] = self.center[:, None] + self.spread[:, None, chart.of] * self.z
        self.current = self.people.log_answers(self.state)
        self.past = Past(self.state.copy())
        scales = [chart.spread_scale[chart.of], np.ones(len(chart.parts))]
        self.root = np.diag(np.concatenate(scales))
        self.reach = {"all": 0.5, "law": 1.0}
        self.compiled_sweeps = min(_COMPILED * chart.dim, _MOST_COMPILED)
        self.lengths = np.ones(KINDS)  # of compiled steps of the law
        self.versions: Ensemble | None = None

    @property
    def z(self) -> FloatArray:
        """The coordinates (chains, people, dim) of everyone's metric, as a view."""
        return self.state[..., : self.chart.dim]

    def warm_up(self, sweeps: int) -> None:
        """Move without keeping anything, and fit the steps to where the chains have been."""
        begin = 0
        for end in (max(1, round(share * sweeps)) for share in _SEGMENTS):
            seen = []
            for at in range(begin, end):
                self._sweep(adapt=True)
                if at >= (begin + end) // 2:
                    law = np.concatenate([self.center, np.log(self.spread)], axis=1)
                    seen.append((law, self.state.copy()))
            if len(seen) > 2:
                laws, states = (np.concatenate(part) for part in zip(*seen, strict=True))
                self.past, self.root = Past(states), root_of(laws)
                self.versions = Ensemble(self.state, _VERSIONS)
                self._refresh(np.arange(1, _VERSIONS))
            begin = end

    def run(self, draws: int, thin: int) -> PeopleDraws:
        """Return draws, one of every ``thin`` sweeps."""
        kept = []
        for sweep in range(draws * thin):
            self._sweep(adapt=False)
            if sweep % thin == thin - 1:
                kept.append((self.center.copy(), self.spread.copy(), self.z.copy()))
        return PeopleDraws(*(np.stack(part, axis=1) for part in zip(*kept, strict=True)))

    def _sweep(self, *, adapt: bool) -> None:
        if self.people.asked is not None:
            self._sweep_compiled(self.people.asked, adapt=adapt)
        else:
            self._sweep_arrays(adapt=adapt)
        if self.versions is not None:
            self._refresh(1 + self.rng.choice(_VERSIONS - 1, size=_FRESH, replace=False))
            self._move_law_of_versions(self.versions, adapt=adapt)

    def _sweep_arrays(self, *, adapt: bool) -> None:
        for _ in range(_PEOPLE_STEPS):
            self._step_people()
        self._redraw_people()
        for _ in range(_JOINT_STEPS):
            self._move_law()
            self._move_all(adapt=adapt)
        self._move_law()

    def _sweep_compiled(self, asked: Asked, *, adapt: bool) -> None:
        from karat.elicit._people_loops import sweep_chains

        law, past = self.law.arrays, self.past.states
        state, center, spread = self.state, self.center, self.spread
        sweep_chains(
            state,
            self.current,
            center,
            spread,
            law,
            asked,
            past,
            self.root,
            self.lengths,
            self.compiled_sweeps,
            adapt,
            self.rng,
        )

    def _adapt(self, which: str, taken: BoolArray) -> None:
        self.reach[which] *= float(np.exp(0.1 * (taken.mean() - _ACCEPTED)))

    # --- people, given the law

    def _step_people(self) -> None:
        """Step each person's metric, noise, or both."""
        step = self.past.differences(len(self.state), self.rng)
        which = self.rng.integers(0, 3, size=(*step.shape[:2], 1))
        is_noise = np.arange(step.shape[2]) >= self.chart.dim
        state = self.state + np.where(np.where(is_noise, which != 0, which != 1), step, 0.0)
        self._take(state, self._log_before_answers(state) - self._log_before_answers(self.state))

    def _log_before_answers(self, state: FloatArray) -> FloatArray:
        z = state[..., : self.chart.dim]
        return self.law.log_density(z, self.center, self.spread) + self.people.log_noise(state)

    def _redraw_people(self) -> None:
        """Draw anew from the law and the prior of the noise, or go a share of the way.

        ``√(1−s²) x + s ξ`` leaves the law as it is (Cotter et al. 2013): the answers decide alone.
        """
        chains, people, size = self.state.shape
        share = self.rng.choice([0.3, 0.7, 1.0], size=(chains, people, 1))
        some = self.rng.choice([0.3, 1.0], size=(chains, people, 1))
        share = np.where(self.rng.random(self.state.shape) < some, share, 0.0)
        center, scale = np.zeros((chains, 1, size)), np.ones((chains, 1, size))
        center[:, 0, : self.chart.dim] = self.center
        scale[:, 0, : self.chart.dim] = self.spread[:, self.chart.of]
        away = np.sqrt(1.0 - share**2) * (self.state - center)
        fresh = scale * self.rng.normal(size=self.state.shape)
        self._take(center + away + share * fresh, np.zeros((chains, people)))

    def _take(self, state: FloatArray, change: FloatArray) -> None:
        """Take each person's move, or leave it; ``change`` is that of law, prior and proposal."""
        proposed = self.people.log_answers(state)
        taken = np.log(self.rng.random(change.shape)) < proposed - self.current + change
        self.state[taken], self.current[taken] = state[taken], proposed[taken]

    # --- the law, given the people

    def _move_law(self) -> None:
        self.center = self.law.draw_center(self.z, self.spread)
        self.spread = self.law.draw_spread(self.z, self.center, self.spread)

    # --- the law, over many versions of everyone

    def _refresh(self, slots: IntArray) -> None:
        """Draw some versions of everyone anew."""
        assert self.versions is not None
        chains, people, size = self.state.shape
        fresh = self.past.fresh(chains * len(slots), self.rng)
        weights = self.people.log_answers(fresh) + self.people.log_noise(fresh)
        weights -= self.past.log_density(fresh)
        drawn = fresh.reshape(chains, len(slots), people, size)
        self.versions.states[:, :, slots] = drawn.swapaxes(1, 2)
        weights = weights.reshape(chains, len(slots), people)
        self.versions.log_weights[:, :, slots] = weights.swapaxes(1, 2)

    def _move_law_of_versions(self, versions: Ensemble, *, adapt: bool) -> None:
        """Move μ and τ whatever the version of each person is, and then choose one."""
        versions.states[:, :, 0] = self.state
        own = self.current + self.people.log_noise(self.state)
        versions.log_weights[:, :, 0] = own - self.past.log_density(self.state)
        z = versions.states[..., : self.chart.dim]

        def chances(center: FloatArray, spread: FloatArray) -> FloatArray:
            return versions.log_weights + self.law.log_density(z, center, spread)

        here = chances(self.center, self.spread)
        value = log_total(here) + self.law.log_prior(self.center, self.spread)
        for _ in range(_LAW_STEPS):
            law = self.law.steps(self.center, self.spread, self.root, self.reach["law"])
            there = chances(*law)
            proposed = log_total(there) + self.law.log_prior(*law)
            taken = np.log(self.rng.random(len(value))) < proposed - value
            self.center[taken], self.spread[taken] = law[0][taken], law[1][taken]
            here[taken], value[taken] = there[taken], proposed[taken]
            if adapt:
                self._adapt("law", taken)
        versions.choose(here, self.rng)
        self.state = versions.states[:, :, 0].copy()
        density = self.past.log_density(self.state) - self.people.log_noise(self.state)
        self.current = versions.log_weights[:, :, 0] + density

    # --- all at once

    def _move_all(self, *, adapt: bool) -> None:
        """Move μ and τ of one part or of all, and everyone so that (z − μ)/τ stays."""
        center, spread = self.law.steps(self.center, self.spread, self.root, self.reach["all"])
        ratio = (spread / self.spread)[:, self.chart.of]
        state = self.state.copy()
        away = (self.z - self.center[:, None]) * ratio[:, None]
        state[..., : self.chart.dim] = center[:, None] + away
        proposed = self.people.log_answers(state)
        gain = (proposed - self.current).sum(axis=1) + self.law.log_prior(center, spread)
        gain -= self.law.log_prior(self.center, self.spread)
        taken = np.log(self.rng.random(len(gain))) < gain
        self.state[taken], self.current[taken] = state[taken], proposed[taken]
        self.center[taken], self.spread[taken] = center[taken], spread[taken]
        if adapt:
            self._adapt("all", taken)


# --- Many versions of every person at once, over which the law is moved.
#
# Answers are often explained either by someone unlike the others or by someone who errs, and the
# spread of all goes with it: moving one person after the other takes long. So each chain keeps
# other versions of a person beside its own, drawn from a density q that is fitted to where the
# person has been (Neal 2011). With the weights ``w = likelihood · prior of the noise / q`` the law
# moves by ``Π_people Σ_k w_k N(z_k; μ, τ²)``, wherever people are now; then one version of each is
# chosen. The draws are those of the posterior itself, whatever q is: on chains, versions and
# choices together, each step is one of Gibbs or Metropolis.


class Ensemble:
    """Versions (chains, people, k, size) with log-weights; the first is the chain's own."""

    def __init__(self, own: FloatArray, versions: int) -> None:
        self.states = np.repeat(own[:, :, None], versions, axis=2)
        self.log_weights = np.zeros(self.states.shape[:3])

    def choose(self, log_chances: FloatArray, rng: np.random.Generator) -> None:
        """Choose one version of each person and make it the first."""
        # The greatest of log-chances with Gumbel noise is a choice with these chances.
        at = np.argmax(log_chances + rng.gumbel(size=log_chances.shape), axis=2)
        rows = np.ogrid[: at.shape[0], : at.shape[1]]
        for array in (self.states, self.log_weights):
            first = array[:, :, 0].copy()
            array[:, :, 0] = array[rows[0], rows[1], at]
            array[rows[0], rows[1], at] = first


def log_total(log_weights: FloatArray) -> FloatArray:
    """Return the log of the product over people of the sums over their versions (chains,)."""
    top = log_weights.max(axis=2, keepdims=True)
    sums = np.log(np.exp(log_weights - top).sum(axis=2)) + top[..., 0]
    return np.asarray(sums.sum(axis=1))


# --- The law that people follow: μ and τ, and their prior.

# log τ is normal around log ½, in units of the part: the factor between people is 1.1 to 11 in
# 95 % of groups. A prior that reaches 0, where all are equal, has a funnel that chains get lost in.
_MIDDLE, _WIDTH = np.log(0.5), 0.8


class Law:
    """Densities and draws, for arrays whose first axis is the chains."""

    def __init__(self, chart: Chart, people: int, rng: np.random.Generator) -> None:
        self.chart, self.people, self.rng = chart, people, rng
        self.sizes = np.array([part.size for part in chart.parts])
        self._starts = np.cumsum([0, *self.sizes[:-1]])

    @property
    def arrays(self) -> LawArrays:
        """The parts and the prior, for compiled loops."""
        chart = self.chart
        return LawArrays(
            chart.of, self.sizes, chart.center_scale, chart.spread_scale, float(_MIDDLE), _WIDTH
        )

    def draw(self, chains: int) -> tuple[FloatArray, FloatArray]:
        """Draw μ (chains, dim) and τ (chains, parts) from their prior."""
        center = self.rng.normal(size=(chains, self.chart.dim)) * self.chart.center_scale
        wide = self.rng.normal(size=(chains, len(self.sizes)))
        return center, self.chart.spread_scale * np.exp(_MIDDLE + _WIDTH * wide)

    def log_prior(self, center: FloatArray, spread: FloatArray) -> FloatArray:
        """Return the log-density (chains,) of μ and log τ a priori."""
        shared = np.sum((center / self.chart.center_scale) ** 2, axis=1)
        return np.asarray(-0.5 * shared + self._log_spread(spread).sum(axis=1))

    def _log_spread(self, spread: FloatArray) -> FloatArray:
        return np.asarray(
            -0.5 * ((np.log(spread / self.chart.spread_scale) - _MIDDLE) / _WIDTH) ** 2
        )

    def log_density(self, z: FloatArray, center: FloatArray, spread: FloatArray) -> FloatArray:
        """Return the log-density (chains, ..) of coordinates (chains, .., dim) under μ and τ."""
        between = tuple(range(1, z.ndim - 1))
        scale = spread[:, self.chart.of]
        away = z / np.expand_dims(scale, between) - np.expand_dims(center / scale, between)
        added = np.expand_dims(np.log(spread) @ self.sizes, between)
        return np.asarray(-0.5 * np.einsum("...d,...d->...", away, away) - added)

    def draw_center(self, z: FloatArray, spread: FloatArray) -> FloatArray:
        """Draw μ (chains, dim) given people and τ."""
        variance = spread[:, self.chart.of] ** 2
        precision = self.people / variance + self.chart.center_scale**-2.0
        mean = z.sum(axis=1) / variance / precision
        return np.asarray(mean + self.rng.normal(size=mean.shape) / np.sqrt(precision))

    def draw_spread(self, z: FloatArray, center: FloatArray, spread: FloatArray) -> FloatArray:
        """Draw τ given people and μ as if log τ were flat, and take it as its prior asks."""
        squares = ((z - center[:, None]) ** 2).sum(axis=1)
        away = np.add.reduceat(squares, self._starts, axis=1)
        shape = self.people * self.sizes / 2.0
        proposed = np.sqrt(0.5 * away / self.rng.gamma(shape, size=away.shape))
        change = self._log_spread(proposed) - self._log_spread(spread)
        return np.where(np.log(self.rng.random(change.shape)) < change, proposed, spread)

    def steps(
        self, center: FloatArray, spread: FloatArray, root: FloatArray, reach: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return μ and τ after a step of one part or of all, as probable as the step back.

        ``root`` is that of the covariance of (μ, log τ).
        """
        (chains, dim), n = center.shape, len(self.sizes)
        part = self.rng.integers(0, n + 1, size=(chains, 1))  # n for all of them
        chosen = (part == n) | (np.arange(n) == part)
        moved = np.concatenate([chosen[:, self.chart.of], chosen], axis=1)
        length = reach * self.rng.choice([0.3, 1.0, 2.0], size=(chains, 1))
        step = length * (self.rng.normal(size=(chains, dim + n)) @ root)
        step = np.where(moved, step / np.sqrt(moved.sum(axis=1, keepdims=True)), 0.0)
        return center + step[:, :dim], spread * np.exp(step[:, dim:])


# --- Where people have been while the chains warmed up: what later steps are made from.

_KERNELS = 150  # past states of a person that fresh ones are drawn around
_NEIGHBOURS = 20  # whose spread is the width of a kernel
_BEST = 1.68  # over √size: of a difference of two draws, the best step for a normal target


class Past:
    """Past states (n, people, size) of everyone."""

    def __init__(self, states: FloatArray) -> None:
        self.states = states
        every = max(1, len(states) // _KERNELS)
        # Kernels are as wide as past states are apart where they are, along axes of their own.
        self._roots = np.stack([root_of(own) for own in states.swapaxes(0, 1)])
        self._axes = np.linalg.inv(self._roots)
        self.centers = states[::every].swapaxes(0, 1) @ self._axes
        self.widths = np.stack([_local_widths(own) for own in self.centers])
        # Of ``log_density``: squares and products of states, and what does not depend on them.
        self._squares, self._products = self.widths**-2.0, self.centers * self.widths**-2.0
        self._rest = -np.log(self.widths).sum(axis=2)
        self._rest -= 0.5 * ((self.centers / self.widths) ** 2).sum(axis=2)

    def differences(self, chains: int, rng: np.random.Generator) -> FloatArray:
        """Return differences (chains, people, size) of two past states of everyone, or parts.

        A whole difference leads from one stretch that fits the answers to another, and part of one
        has the shape of what is known of the person (ter Braak and Vrugt 2008).
        """
        n, people, size = self.states.shape
        at = rng.integers(0, n, size=(2, chains, people))
        one, other = self.states[at, np.arange(people)]
        parts = np.array([0.3 * _BEST, _BEST, np.sqrt(size)]) / np.sqrt(size)
        length = rng.choice(parts, size=(chains, people, 1))
        return np.asarray(length * (one - other) + 1e-3 * rng.normal(size=one.shape))

    def fresh(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw states (n, people, size) around past ones, near where these are dense."""
        people, kernels, size = self.centers.shape
        at, who = rng.integers(0, kernels, size=(n, people)), np.arange(people)
        drawn = self.centers[who, at] + rng.normal(size=(n, people, size)) * self.widths[who, at]
        return np.asarray(np.matmul(drawn.swapaxes(0, 1), self._roots).swapaxes(0, 1))

    def log_density(self, states: FloatArray) -> FloatArray:
        """Return the log-density (n, people) of ``fresh``, but for constants."""
        along = np.matmul(states.swapaxes(0, 1), self._axes)
        kernels = np.matmul(along, self._products.swapaxes(1, 2))
        kernels -= np.matmul(along**2, 0.5 * self._squares.swapaxes(1, 2))
        kernels += self._rest[:, None]
        top = kernels.max(axis=2, keepdims=True)
        kernels -= top
        return np.asarray((np.log(np.exp(kernels, out=kernels).sum(axis=2)) + top[..., 0]).T)


def _local_widths(centers: FloatArray) -> FloatArray:
    """Return the standard deviations (n, size) of the nearest neighbours of centers (n, size)."""
    squares = (centers**2).sum(axis=1)
    apart = squares[:, None] + squares - 2.0 * centers @ centers.T
    m = min(_NEIGHBOURS, len(centers))
    near = np.argpartition(apart, m - 1, axis=1)[:, :m]
    return np.asarray(centers[near].std(axis=1) + 1e-3)


def root_of(draws: FloatArray) -> FloatArray:
    """Return L with ``LᵀL`` the covariance of draws (n, d), near its diagonal if n is small."""
    covariance = np.atleast_2d(np.cov(draws.T))
    n, d = draws.shape
    variances = np.diag(np.diag(covariance)) + 1e-8 * np.eye(d)
    share = d / (d + n / 10)  # draws of one chain resemble each other
    return np.asarray(np.linalg.cholesky((1 - share) * covariance + share * variances).T)


# --- From results to what several people were asked, and what they said.

_SOME = 100  # metrics by which the typical difference of the sides of questions is found


def read_people(
    space: Space, results: Sequence[ElicitationResult]
) -> tuple[Elicitation, Family, list[Person]]:
    """Return an elicitation of all people, their family of metrics, and what each answered."""
    if len(results) < 2:
        raise OptionError(
            Argument("results"),
            f" holds {len(results)} {('person' if len(results) == 1 else 'people')}; expected ",
            Expected("at least 2: what one person wants is in their own result"),
        )
    runs = [_begun(space, result, i + 1) for i, result in enumerate(results)]
    first = runs[0]
    turned = [_is_turned(run, result) for run, result in zip(runs, results, strict=True)]
    for i, run in enumerate(runs):
        if _kind(run) != _kind(first):
            raise OptionError(
                Argument("results"),
                f" mixes families: person 1 has a result of {_words(first)} and person "
                f"{i + 1} one of {_words(run)}; expected ",
                Expected("one family with the same options for all"),
            )
        if turned[i] != turned[0]:
            raise OptionError(
                f"person {i + 1} of results prefers the other way round than person 1 (errors are "
                "good); expected people of one orientation: leave some out"
            )
    family = first._problem.family(turned[0])
    people = [
        _person(run, result, family, turn, i + 1)
        for i, (run, result, turn) in enumerate(zip(runs, results, turned, strict=True))
    ]
    return first, family, people


def _begun(space: Space, result: Any, number: int) -> Elicitation:
    """Return the elicitation of a result, before any question."""
    if not isinstance(result, ElicitationResult):
        raise OptionError(
            f"person {number} of results is a {type(result).__name__}; expected the result of an "
            "elicitation, such as Elicitation(space).run(person)"
        )
    if result.transcript.space["fingerprint"] != space.fingerprint:
        raise OptionError(
            f"person {number} of results was asked about another space; expected people who were "
            "asked about the space that is passed"
        )
    # What was asked by another strategy says as much of the metric as any question does.
    options = result.transcript.options | {"strategy": "active"}
    return Elicitation(space, result.family, **options)


def _kind(run: Elicitation) -> tuple[str, dict[str, Any]]:
    return run.family, run._problem.options


def _words(run: Elicitation) -> str:
    name, options = _kind(run)
    given = (f"{key}={value!r}" for key, value in options.items() if value not in (None, False))
    return f"{name}({', '.join(given)})"


def _is_turned(run: Elicitation, result: ElicitationResult) -> bool:
    """Return whether less is better to someone, who was asked or said so at the beginning."""
    if run.orientation != "ask":
        return run.orientation == "decreasing"
    sides = [answer for answer in result.transcript.answers[:3] if answer in ("first", "second")]
    return bool(sides) and sides[0] == "second"


def _person(
    run: Elicitation, result: ElicitationResult, family: Family, turned: bool, number: int
) -> Person:
    first, second = result.questions.first, result.questions.second
    answers = list(result.questions.answers)
    if run.carried:
        sides = [np.stack([np.asarray(told[i]) for told in run.carried]) for i in (0, 1)]
        told = (run.question_space.coordinates(side) for side in sides)
        first, second = (np.vstack(both) for both in zip(told, (first, second), strict=True))
        answers = [told[2] for told in run.carried] + answers
    given = [n for n, answer in enumerate(answers) if answer != "skip"]
    if not given:
        raise OptionError(
            f"person {number} of results has answered nothing; expected people who answered: "
            "leave them out"
        )
    signs = np.array([SIGNS[answers[n]] for n in given]) * (-1.0 if turned else 1.0)
    first, second = first[given], second[given]
    if result.strategy == "active":
        typical = typical_margin(run, family)
    else:
        typical = _typical_of(family, first, second)
    return Person(first, second, signs, typical)


def _typical_of(family: Family, first: FloatArray, second: FloatArray) -> float:
    """Return the median difference that metrics see between the sides of the questions.

    Those of ``bisection`` and ``published`` may differ much less than two classifiers do.
    """
    drawn = np.random.default_rng(2).normal(size=(_SOME, family.size))
    metrics = np.where(family.signed, drawn, np.abs(drawn))
    margins = family.values(metrics, first) - family.values(metrics, second)
    return float(np.median(np.abs(margins))) + 1e-12


# --- What people were asked, and how probable their answers are.


class Person(NamedTuple):
    """What someone was asked and said."""

    first: FloatArray  # (t, q): one side of every pair that was answered
    second: FloatArray
    signs: FloatArray  # 1 for the first, −1 for the second, 0 for a tie
    typical: float  # difference that metrics typically see between two classifiers


class People:
    """The answers of several people, as a function of their states.

    A state is the coordinates z of a metric and the normal numbers that the noise is read from.
    """

    def __init__(self, chart: Chart, people: list[Person]) -> None:
        self.chart = chart
        self.points = [np.vstack([person.first, person.second]) for person in people]
        self.signs = np.full((len(people), max(len(p.signs) for p in people)), np.nan)
        for signs, person in zip(self.signs, people, strict=True):
            signs[: len(person.signs)] = person.signs
        self.typical = np.array([person.typical for person in people])
        self.asked = self._asked()
        self._differences = self._feature_differences()

    @property
    def size(self) -> int:
        """Length of a state."""
        return self.chart.dim + N_NOISE

    def log_answers(self, states: FloatArray) -> FloatArray:
        """Return the log-probability (chains, people) of the answers under states of everyone."""
        if self.asked is not None:
            from karat.elicit._people_loops import log_answers

            return log_answers(states, self.chart.dim, self.asked)
        chains, people = states.shape[:2]
        flat = states.reshape(chains * people, -1)
        parameters = self.chart.parameters(flat[:, : self.chart.dim])
        margins = self._margins(parameters, chains, people)
        noise = read_noise(ndtr(flat[:, self.chart.dim :]), np.tile(self.typical, chains))
        signs = np.broadcast_to(self.signs, margins.shape).reshape(len(flat), -1)
        return log_likelihood(margins.reshape(len(flat), -1), noise, signs).reshape(chains, people)

    def log_noise(self, states: FloatArray) -> FloatArray:
        """Return the log-density (..) of the noise of states (.., size) a priori."""
        return np.asarray(-0.5 * np.sum(states[..., self.chart.dim :] ** 2, axis=-1))

    def _margins(self, parameters: FloatArray, chains: int, people: int) -> FloatArray:
        """Return by how much everyone values the first side more: (chains, people, t)."""
        if self._differences is not None:
            weights = self.chart.feature_weights(parameters).reshape(chains, people, -1)
            found = np.matmul(weights.swapaxes(0, 1), self._differences)
            return np.ascontiguousarray(found.swapaxes(0, 1))
        parameters = parameters.reshape(chains, people, -1)
        margins = np.zeros((chains, *self.signs.shape))
        for i, points in enumerate(self.points):
            values, half = self.chart.family.values(parameters[:, i], points), len(points) // 2
            margins[:, i, :half] = values[:, :half] - values[:, half:]
        return margins

    def _asked(self) -> Asked | None:
        """Return what compiled loops read; None where the chart is not for them."""
        if self.chart.blocks is None:
            return None
        t, above, below = self.signs.shape[1], [], []
        for points in self.points:
            found = self.chart.fractions(points)
            assert found is not None  # charts with blocks have them
            pad = ((0, t - len(points) // 2), (0, 0))
            first, second = (np.pad(side, pad) for side in np.split(found[0], 2))
            above.append(first - second if found[1] is None else np.vstack([first, second]))
            if found[1] is not None:
                below.append(np.vstack([np.pad(side, pad) for side in np.split(found[1], 2)]))
        return Asked(
            above=np.stack(above),
            below=np.stack(below) if below else np.empty((0, 0, 0)),
            signs=self.signs,
            counts=np.array([len(points) // 2 for points in self.points]),
            typical=self.typical,
            blocks=np.array(self.chart.blocks, dtype=np.int64),
            basis=log_ratios(max(self.chart.blocks, default=0) + 1),
            sparse=self.chart.sparse,
        )

    def _feature_differences(self) -> FloatArray | None:
        """Return the features (people, f, t) of first sides less those of second ones.

        None for families that bend.
        """
        found = None
        for i, points in enumerate(self.points):
            features, half = self.chart.features(points), len(points) // 2
            if features is None:
                return None
            if found is None:
                found = np.zeros((len(self.points), features.shape[1], self.signs.shape[1]))
            found[i, :, :half] = (features[:half] - features[half:]).T
        return found
