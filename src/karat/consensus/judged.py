"""What judges are worth: position bias, errors on pairs, systems ranked, panels, beside people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._result import Estimate, Estimated
from karat._typing import AnyArray, BoolArray, FloatArray, IntArray
from karat._validate import check_count
from karat.consensus._pairs import predictive_limits
from karat.consensus.identification import doubts

_NAMED = 6  # names that a sentence can hold


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PositionBias(Estimated[FloatArray]):
    """How far each judge's verdict follows the position of an answer, learnt without gold.

    Attributes
    ----------
    judges : tuple
        The judges, named as they were passed.
    n : array (j,)
        Pairs that the judge saw in both orders (their weight, with weights).
    one_order : array (j,)
        Pairs that it saw in one order only, which tell nothing of its bias.
    estimate : Estimate
        The bias (j,): share of pairs on which it says "the first" both times, minus that on which
        it says "the second" both times: 0 without bias, 1 if it always takes what is shown first.
    flips : Estimate
        Share of pairs on which the order changes the verdict (j,).
    repeats : int
        Verdicts beyond the first of a judge on a pair in one order; they are averaged.
    """

    judges: tuple[Any, ...]
    n: FloatArray
    one_order: FloatArray
    estimate: Estimate[FloatArray]
    flips: Estimate[FloatArray]
    repeats: int

    _COLUMNS = (
        "judge=judges",
        "n",
        "one_order",
        "value",
        "lower",
        "upper",
        "flips=flips.value",
        "flips_lower=flips.lower",
        "flips_upper=flips.upper",
        "confidence",
    )

    def expected_on(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return limits of the bias that ``n`` further pairs of the same kind will show.

        Parameters
        ----------
        n : int
            Number of pairs, each in both orders.

        Returns
        -------
        lower, upper : array (j,)
            Limits at the same level; they are wider than those of the bias itself, by the chance
            of n pairs.
        """
        more = check_count(n, "n")
        plus = (self.flips.value + self.value) * self.n / 2
        minus = (self.flips.value - self.value) * self.n / 2
        p, q = (plus + 0.5) / (self.n + 1.5), (minus + 0.5) / (self.n + 1.5)
        delta = (1 - self.confidence) / 2
        spread = p + q - (p - q) ** 2
        return predictive_limits(self.value, self.lower, self.upper, spread, more, delta)

    def summary(self) -> str:
        """Return who follows the position, and how far at most."""
        sure = (self.lower > 0) | (self.upper < 0)
        flips = (
            f"the order changes the verdict on {100 * float(np.nanmean(self.flips.value)):.0f} % "
            "of the pairs of an average judge"
        )
        if np.nanmax(np.abs(self.value)) < 0.005:
            reach = float(np.nanmax(np.maximum(np.abs(self.lower), np.abs(self.upper))))
            return (
                f"none of {len(self.judges)} judges shows a position bias; one of up to "
                f"{reach:.2f} is not excluded ({100 * self.confidence:g} % limits); {flips}"
            )
        worst = int(np.nanargmax(np.abs(self.value)))
        toward = "first" if self.value[worst] > 0 else "second"
        return (
            f"{int(sure.sum())} of {len(self.judges)} judges follow the position of an answer "
            f"beyond chance; the most biased is {self.judges[worst]}, toward the {toward} "
            f"({self.value[worst]:+.2f}, {100 * self.confidence:g} % limits "
            f"{self.lower[worst]:+.2f} to {self.upper[worst]:+.2f}); {flips}"
        )

    def _table(self) -> list[tuple[Any, str]]:
        return [
            (name, f"{b:+.3f} [{low:+.3f}, {high:+.3f}]")
            for name, b, low, high in zip(
                self.judges, self.value, self.lower, self.upper, strict=True
            )
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PairErrors(Estimated[FloatArray]):
    """Error rates of judges on pairs, with their position bias taken out.

    One entry per domain and judge.

    Attributes
    ----------
    domains, judges : tuple
        The domains and the judges, named as they were passed.
    domain, judge : array (r,)
        Domain and judge of each entry, as positions.
    estimate : Estimate
        How often the judge is wrong when every pair is shown in both orders (r,); a verdict that
        the order changes, and a tie, counts as half an error.
    right_first, right_second : array (r,)
        How often it is wrong in one order only, when the better answer is shown first, or second.
    cost : Estimate
        What asking in one fixed order may do to the error rate (r,): half the bias, in absolute
        value.
    agreed : Estimate
        How often it is wrong on pairs where both orders give one verdict (r,).
    bias : PositionBias
        The position bias over all domains.
    style : tuple
        With covariates: name, effect on the log-odds of a verdict (judges), lower, upper.
    status : tuple of str
        By domain: "not identified", "consistent", "confirmed" or "contradicted" by gold labels.
    reasons : tuple of tuples of str
        By domain, why the votes do not identify the rates.
    evidence : tuple of str
        By domain, what gold labels say of the consensus; empty without a test.
    classes : array (2,)
        What the answers are called.
    """

    domains: tuple[Any, ...]
    judges: tuple[Any, ...]
    domain: IntArray
    judge: IntArray
    estimate: Estimate[FloatArray]
    classes: AnyArray
    right_first: FloatArray
    right_second: FloatArray
    cost: Estimate[FloatArray]
    agreed: Estimate[FloatArray]
    bias: PositionBias
    style: tuple[tuple[Any, ...], ...]
    status: tuple[str, ...]
    reasons: tuple[tuple[str, ...], ...]
    evidence: tuple[str, ...]

    _COLUMNS = (
        "domain=domains[domain]",
        "judge=judges[judge]",
        "value",
        "lower",
        "upper",
        "right_first",
        "right_second",
        "cost=cost.value",
        "cost_lower=cost.lower",
        "cost_upper=cost.upper",
        "agreed=agreed.value",
        "agreed_lower=agreed.lower",
        "agreed_upper=agreed.upper",
        "status=status[domain]",
        "confidence",
    )

    def summary(self) -> str:
        """Return first what is not known, then the best judge and what one order would cost."""
        told = self._told[self.domain]
        best = int(
            np.where(told, self.value, np.inf).argmin() if told.any() else self.value.argmin()
        )
        limits = f"{100 * self.lower[best]:.0f} to {100 * self.upper[best]:.0f} %"
        limits = (
            f"{100 * self.confidence:g} % limits {limits}"
            if told.any()
            else f"votes cannot tell: {limits}"
        )
        worst = int(self.cost.value.argmax())
        name, other = self.judges[self.judge[best]], self.judges[self.judge[worst]]
        text = (
            f"with the position bias out {name} errs least, {100 * self.value[best]:.0f} % "
            f"({limits}); asked in one order only, the error rate of {other} "
            f"could be off by up to {100 * self.cost.value[worst]:.0f} points"
        )
        d = int(self.domain[best])
        if self.status[d] == "consistent":
            labels = (
                f"too few gold labels confirm the verdicts (the consensus is {self.evidence[d]})"
                if self.evidence[d]
                else "gold labels have not confirmed the verdicts"
            )
            text = (
                f"{labels}, and verdicts cannot show an error that most judges share; if they "
                f"share none, {text}"
            )
        if self.status[d] == "confirmed":
            text += f"; gold labels confirm the consensus: it is {self.evidence[d]}"
        face = "where they do" if told.any() else "taken at face value"
        first = doubts(
            self.domains, self.status, self.reasons, self.evidence, of="judges", unknown="the votes"
        )
        text = "; ".join([*first, f"{face}, {text}" if first else text])
        return text[0].upper() + text[1:]

    @property
    def _told(self) -> AnyArray:
        """Whether the rates of each domain are consistent or confirmed."""
        return np.array([status in ("consistent", "confirmed") for status in self.status])

    def _table(self) -> list[tuple[Any, str]]:
        return [
            (
                self.judges[j],
                f"{m:.3f} [{'' if told else 'votes cannot tell: '}{low:.3f}, {high:.3f}]",
            )
            for j, m, low, high, told in zip(
                self.judge, self.value, self.lower, self.upper, self._told[self.domain], strict=True
            )
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SystemRanking(Estimated[FloatArray]):
    """Systems ranked by judged pairs of their answers, in tiers.

    Attributes
    ----------
    systems : tuple
        The systems, best first, named as they were passed.
    estimate : Estimate
        Strengths (k,): the log-odds of a better answer against an average system, with limits for
        each one alone.
    rank_best, rank_worst : array (k,)
        Limits of the rank; all of them hold at once at the level.
    tier : array (k,)
        Systems of a tier are not told apart from those above and below it by chance alone: the
        first holds all whom no other is certainly better than.
    n_pairs : array (k,)
        Pairs in which each system took part.
    method : str
        "judged" (verdicts alone, corrected for the judges' error rates) or "gold" (gold pairs, with
        the verdicts as control).
    n_gold : int
        Gold pairs.
    identified : bool
        Whether the votes identify the judges' error rates; if not, trust gold alone.
    """

    systems: tuple[Any, ...]
    estimate: Estimate[FloatArray]
    rank_best: IntArray
    rank_worst: IntArray
    tier: IntArray
    n_pairs: FloatArray
    method: str
    n_gold: int
    identified: bool

    _COLUMNS = (
        "system=systems",
        "value",
        "lower",
        "upper",
        "rank_best",
        "rank_worst",
        "tier",
        "n_pairs",
        "confidence",
    )

    def summary(self) -> str:
        """Return the tiers."""
        tiers = []
        for t in range(1, int(self.tier.max()) + 1):
            names = [str(s) for s, own in zip(self.systems, self.tier, strict=True) if own == t]
            tiers.append(", ".join(names))
        basis = (
            f"{self.n_gold} gold pairs helped by the verdicts"
            if self.method == "gold"
            else "the verdicts alone, as far as the judges' errors do not favour a system"
        )
        if self.method == "judged" and not self.identified:
            basis += "; and here the votes do not identify these errors"
        return f"{len(tiers)} tier{'s' * (len(tiers) > 1)} from {basis}: {'; then '.join(tiers)}"

    def _table(self) -> list[tuple[Any, str]]:
        return [
            (name, f"rank {a} to {b}, strength {s:+.2f}")
            for name, a, b, s in zip(
                self.systems, self.rank_best, self.rank_worst, self.value, strict=True
            )
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AnnotatorTest(Estimated[float]):
    """Whether a judge is as close to the people as one of them, person by person.

    Attributes
    ----------
    judge : name
        The judge.
    people : tuple
        The people with enough items, named as they were passed.
    n : array (p,)
        Items on which each was compared with the judge.
    advantage : array (p,)
        Share of these on which the judge is at least as close to the other people as the person.
    person_advantage : array (p,)
        Share of these on which the person is at least as close as the judge.
    p_value : array (p,)
        Of Student's paired test that the person is ahead by ``epsilon`` or more.
    exact_p_value : array (p,)
        Of the exact test of the same, which holds for any number of items.
    wins, exact_wins : array (p,)
        Whom the judge beats, by either test, at the false discovery rate.
    estimate : Estimate
        The winning rate, the share of the people whom the judge beats: ω of Calderon et al. 2025.
        Its limits, by exact tests, are those of the share of these people whom the judge would beat
        if the number of items had no end.
    exact_winning_rate : float
        ω by the exact tests.
    advantage_rate : Estimate
        Mean over people of ``advantage``: ρ of Calderon et al., and its limits over items.
    passed : bool
        Whether the judge beats at least half of the people.
    epsilon, fdr : float
        How far the person may be ahead and still be beaten, and the false discovery rate.
    alignment : str
        "accuracy" or "rmse".
    skipped : tuple
        People with too few items, who were not compared.
    n_items : int
        Items used.
    """

    judge: Any
    people: tuple[Any, ...]
    n: IntArray
    advantage: FloatArray
    person_advantage: FloatArray
    p_value: FloatArray
    exact_p_value: FloatArray
    wins: BoolArray
    exact_wins: BoolArray
    estimate: Estimate[float]
    exact_winning_rate: float
    advantage_rate: Estimate[float]
    passed: bool
    epsilon: float
    fdr: float
    alignment: str
    skipped: tuple[Any, ...]
    n_items: int

    _COLUMNS = (
        "person=people",
        "n",
        "advantage",
        "person_advantage",
        "p_value",
        "exact_p_value",
        "wins",
        "exact_wins",
        "judge",
    )

    def summary(self) -> str:
        """Return whether the judge may replace a person, and how sure that is."""
        level, rho = f"{100 * self.confidence:g} % limits", self.advantage_rate
        may = "may replace a person" if self.passed else "is not shown to replace a person"
        text = (
            f"{self.judge} {may}: allowed to be {self.epsilon:g} behind, it beats "
            f"{int(self.wins.sum())} of {len(self.people)} people (ω = {self.value:.2f}, "
            f"{level} {self.lower:.2f} to {self.upper:.2f}), and is as close to "
            f"the others as the person on {100 * rho.value:.0f} % of the items (ρ = "
            f"{rho.value:.2f}, {rho.lower:.2f} to {rho.upper:.2f})"
        )
        if self.exact_winning_rate != self.value:
            text += f"; by exact tests ω = {self.exact_winning_rate:.2f}"
        if self.skipped:
            text += f"; {len(self.skipped)} with too few items not compared"
        return text

    def _table(self) -> list[tuple[Any, str]]:
        return [
            (name, f"judge {a:.2f}, person {b:.2f}, p = {p:.3g}{', beaten' if w else ''}")
            for name, a, b, p, w in zip(
                self.people,
                self.advantage,
                self.person_advantage,
                self.p_value,
                self.wins,
                strict=True,
            )
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class JudgePanel(Estimated[float]):
    """The cheapest judges whose consensus is as certain as that of all.

    Attributes
    ----------
    judges : tuple
        All judges, named as they were passed.
    chosen : array (j,)
        Who is on the panel.
    cost : array (j,)
        What each costs.
    alone : array (j,)
        Share of items on which this judge alone would be wrong where all together are right,
        beyond the reverse: what asking nobody else loses.
    left_out : array (j,)
        What leaving out this judge alone loses; negative where the others decide better without it.
    adds_nothing : array (j,)
        Whether the others lose less than the tolerance without it, in most draws of the error
        rates.
    estimate : Estimate
        What the panel loses beside all judges: extra errors of its consensus, as a share of items;
        negative where labels show that it decides better than all. Where items are labelled the
        limits are those of more items like them.
    error_of_all : float
        Expected error of the consensus of all judges; on labelled items, by their labels.
    tolerance : float
        The loss that was allowed.
    exact : bool
        Whether every set was tried, so that none is cheaper.
    identified : bool
        Whether the votes identify the error rates; if not, the panel rests on the consensus alone.
    domain : name
        The domain.
    n_labels : int
        Labelled items. The panel was chosen by them too, so that it may do worse on others.
    """

    judges: tuple[Any, ...]
    chosen: BoolArray
    cost: FloatArray
    alone: FloatArray
    left_out: FloatArray
    adds_nothing: BoolArray
    estimate: Estimate[float]
    error_of_all: float
    tolerance: float
    exact: bool
    identified: bool
    domain: Any
    n_labels: int = 0

    _COLUMNS = (
        "judge=judges",
        "chosen",
        "cost",
        "alone",
        "left_out",
        "adds_nothing",
        "domain",
        "confidence",
    )

    def summary(self) -> str:
        """Return the panel, its cost and what it loses."""
        names = [str(n) for n, on in zip(self.judges, self.chosen, strict=True) if on]
        share = self.cost[self.chosen].sum() / self.cost.sum()
        idle = [str(n) for n, no in zip(self.judges, self.adds_nothing, strict=True) if no]
        text = (
            f"{', '.join(names)}: {len(names)} of {len(self.judges)} judges, at "
            f"{100 * share:.0f} % of the cost, {self._loss_in_words()}"
        )
        if idle:
            who = ", ".join(idle) if len(idle) <= _NAMED else f"{len(idle)} judges"
            text += f"; beside all others nothing is added by any one of {who}"
        if not self.identified:
            text += "; the votes do not identify who is right, so all may be wrong together"
        return text

    def _loss_in_words(self) -> str:
        level = f"{100 * self.confidence:g} % limits"
        chosen = ""
        if self.n_labels:
            some = f"{self.n_labels:,} labels" if self.n_labels > 1 else "label"
            chosen = f"; it was chosen by the same {some}, so expect less of it on other items"
        if round(self.value, 3) >= 0:
            return (
                f"are wrong on {_percent(self.value)} more of the items than all of them "
                f"({level} {_percent(self.lower)} to {_percent(self.upper)}){chosen}"
            )
        shown = self.upper < 0
        how = "are wrong less often than all of them" if shown else "may be as good as all of them"
        return (
            f"{how}: by the labels they are wrong on {_percent(-self.value)} fewer of the items "
            f"({level} {_percent(-self.upper)} to {_percent(-self.lower)}){chosen}"
        )

    def _table(self) -> list[tuple[Any, str]]:
        return [
            (name, f"{'on the panel, ' if on else ''}without it {_lost(float(out))}")
            for name, on, out in zip(self.judges, self.chosen, self.left_out, strict=True)
        ]


def _lost(share: float) -> str:
    if round(share, 3) < 0:
        return f"{_percent(-share)} more are right"
    return f"{_percent(share)} are lost"


def _percent(share: float) -> str:
    return f"{round(100 * share, 1) + 0.0:.1f} %"  # 0.0 and never -0.0
