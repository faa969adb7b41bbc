"""The frozen answers about pairs that judges saw in two orders, and about the systems compared."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._result import Result
from karat._typing import AnyArray, FloatArray, IntArray
from karat._validate import check_count
from karat.consensus.identification import doubts
from karat.consensus.pairs import predictive_limits

__all__ = ["PairErrors", "PositionBias", "SystemRanking"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PositionBias(Result):
    """How far each judge's verdict follows the position of an answer, learnt without gold.

    Attributes
    ----------
    judges : tuple
        The judges, named as they were passed.
    n : array (j,)
        Pairs that the judge saw in both orders (their weight, with weights).
    one_order : array (j,)
        Pairs that it saw in one order only, which tell nothing of its bias.
    bias, lower, upper : array (j,)
        Share of pairs on which it says "the first" both times, minus that on which it says "the
        second" both times: 0 without bias, 1 if it always takes what is shown first.
    flips, flips_lower, flips_upper : array (j,)
        Share of pairs on which the order changes the verdict.
    repeats : int
        Verdicts beyond the first of a judge on a pair in one order; they are averaged.
    confidence : float
        Level of the limits.
    """

    judges: tuple[Any, ...]
    n: FloatArray
    one_order: FloatArray
    bias: FloatArray
    lower: FloatArray
    upper: FloatArray
    flips: FloatArray
    flips_lower: FloatArray
    flips_upper: FloatArray
    repeats: int
    confidence: float

    _COLUMNS = (
        "judge=judges", "n", "one_order", "bias", "lower", "upper", "flips", "flips_lower",
        "flips_upper", "confidence",
    )  # fmt: skip

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
        plus = (self.flips + self.bias) * self.n / 2
        minus = (self.flips - self.bias) * self.n / 2
        p, q = (plus + 0.5) / (self.n + 1.5), (minus + 0.5) / (self.n + 1.5)
        delta = (1 - self.confidence) / 2
        spread = p + q - (p - q) ** 2
        return predictive_limits(self.bias, self.lower, self.upper, spread, more, delta)

    def summary(self) -> str:
        """Return who follows the position, and how far at most."""
        sure = (self.lower > 0) | (self.upper < 0)
        flips = (
            f"the order changes the verdict on {100 * float(np.nanmean(self.flips)):.0f} % of the "
            "pairs of an average judge"
        )
        if np.nanmax(np.abs(self.bias)) < 0.005:
            reach = float(np.nanmax(np.maximum(np.abs(self.lower), np.abs(self.upper))))
            return (
                f"none of {len(self.judges)} judges shows a position bias; one of up to "
                f"{reach:.2f} is not excluded ({100 * self.confidence:g} % limits); {flips}"
            )
        worst = int(np.nanargmax(np.abs(self.bias)))
        toward = "first" if self.bias[worst] > 0 else "second"
        return (
            f"{int(sure.sum())} of {len(self.judges)} judges follow the position of an answer "
            f"beyond chance; the most biased is {self.judges[worst]}, toward the {toward} "
            f"({self.bias[worst]:+.2f}, {100 * self.confidence:g} % limits "
            f"{self.lower[worst]:+.2f} to {self.upper[worst]:+.2f}); {flips}"
        )

    def _table(self) -> list[tuple[Any, str]]:
        return [
            (name, f"{b:+.3f} [{low:+.3f}, {high:+.3f}]")
            for name, b, low, high in zip(
                self.judges, self.bias, self.lower, self.upper, strict=True
            )
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PairErrors(Result):
    """Error rates of judges on pairs, with their position bias taken out.

    One entry per domain and judge.

    Attributes
    ----------
    domains, judges : tuple
        The domains and the judges, named as they were passed.
    domain, judge : array (r,)
        Domain and judge of each entry, as positions.
    mean, lower, upper : array (r,)
        How often the judge is wrong when every pair is shown in both orders; a verdict that the
        order changes, and a tie, counts as half an error.
    right_first, right_second : array (r,)
        How often it is wrong in one order only, when the better answer is shown first, or second.
    cost, cost_lower, cost_upper : array (r,)
        What asking in one fixed order may do to the error rate: half the bias, in absolute value.
    agreed, agreed_lower, agreed_upper : array (r,)
        How often it is wrong on pairs where both orders give one verdict.
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
    confidence : float
        Level of the limits.
    """

    domains: tuple[Any, ...]
    judges: tuple[Any, ...]
    domain: IntArray
    judge: IntArray
    mean: FloatArray
    lower: FloatArray
    upper: FloatArray
    classes: AnyArray
    confidence: float
    right_first: FloatArray
    right_second: FloatArray
    cost: FloatArray
    cost_lower: FloatArray
    cost_upper: FloatArray
    agreed: FloatArray
    agreed_lower: FloatArray
    agreed_upper: FloatArray
    bias: PositionBias
    style: tuple[tuple[Any, ...], ...]
    status: tuple[str, ...]
    reasons: tuple[tuple[str, ...], ...]
    evidence: tuple[str, ...]

    _COLUMNS = (
        "domain=domains[domain]", "judge=judges[judge]", "mean", "lower", "upper", "right_first",
        "right_second", "cost", "cost_lower", "cost_upper", "agreed", "agreed_lower",
        "agreed_upper", "status=status[domain]", "confidence",
    )  # fmt: skip

    def summary(self) -> str:
        """Return first what is not known, then the best judge and what one order would cost."""
        told = self._told[self.domain]
        best = int(np.where(told, self.mean, np.inf).argmin() if told.any() else self.mean.argmin())
        limits = f"{100 * self.lower[best]:.0f} to {100 * self.upper[best]:.0f} %"
        limits = (
            f"{100 * self.confidence:g} % limits {limits}"
            if told.any()
            else f"votes cannot tell: {limits}"
        )
        worst = int(self.cost.argmax())
        name, other = self.judges[self.judge[best]], self.judges[self.judge[worst]]
        text = (
            f"with the position bias out {name} errs least, {100 * self.mean[best]:.0f} % "
            f"({limits}); asked in one order only, the error rate of {other} "
            f"could be off by up to {100 * self.cost[worst]:.0f} points"
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
                self.judge, self.mean, self.lower, self.upper, self._told[self.domain], strict=True
            )
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SystemRanking(Result):
    """Systems ranked by judged pairs of their answers, in tiers.

    Attributes
    ----------
    systems : tuple
        The systems, best first, named as they were passed.
    strength, lower, upper : array (k,)
        Log-odds of a better answer against an average system, with limits for each one alone.
    rank_best, rank_worst : array (k,)
        Limits of the rank; all of them hold at once at the level.
    tier : array (k,)
        Systems of a tier are not told apart from those above and below it by chance alone: the
        first holds all whom no other is certainly better than.
    n_pairs : array (k,)
        Pairs in which each system took part.
    method : str
        "judged" (verdicts alone, corrected for the judges' error rates) or "powered" (gold pairs
        helped by verdicts).
    n_gold : int
        Gold pairs.
    identified : bool
        Whether the votes identify the judges' error rates; if not, trust gold alone.
    confidence : float
        Level of the limits.
    """

    systems: tuple[Any, ...]
    strength: FloatArray
    lower: FloatArray
    upper: FloatArray
    rank_best: IntArray
    rank_worst: IntArray
    tier: IntArray
    n_pairs: FloatArray
    method: str
    n_gold: int
    identified: bool
    confidence: float

    _COLUMNS = (
        "system=systems", "strength", "lower", "upper", "rank_best", "rank_worst", "tier",
        "n_pairs", "confidence",
    )  # fmt: skip

    def summary(self) -> str:
        """Return the tiers."""
        tiers = []
        for t in range(1, int(self.tier.max()) + 1):
            names = [str(s) for s, own in zip(self.systems, self.tier, strict=True) if own == t]
            tiers.append(", ".join(names))
        basis = (
            f"{self.n_gold} gold pairs helped by the verdicts"
            if self.method == "powered"
            else "the verdicts alone, as far as the judges' errors do not favour a system"
        )
        if self.method == "judged" and not self.identified:
            basis += "; and here the votes do not identify these errors"
        return f"{len(tiers)} tier{'s' * (len(tiers) > 1)} from {basis}: {'; then '.join(tiers)}"

    def _table(self) -> list[tuple[Any, str]]:
        return [
            (name, f"rank {a} to {b}, strength {s:+.2f}")
            for name, a, b, s in zip(
                self.systems, self.rank_best, self.rank_worst, self.strength, strict=True
            )
        ]
