"""The frozen answers about voters."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from karat._result import Result
from karat._typing import AnyArray, BoolArray, FloatArray, IntArray
from karat._validate import named, refuse_option
from karat.consensus.explanation_result import Explanations, where_of
from karat.consensus.identification import LONE_VOTES
from karat.exceptions import LengthMismatchError

__all__ = ["ErrorRates"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ErrorRates(Result):
    """Error rates of voters, estimated from their votes.

    One entry per domain and voter that voted in it.

    Attributes
    ----------
    domains, classifiers : tuple
        The domains and the voters, named as they were passed.
    classes : array (k,)
        The classes.
    domain, classifier : array (r,)
        Domain and voter of each entry, as positions.
    votes : array (r,)
        Votes cast, abstentions apart.
    mean, lower, upper : array (r,)
        The rate at which the voter errs in the population of items; the limits span every model
        that is not clearly worse than another, and every competing explanation.
    finite_mean, finite_lower, finite_upper : array (r,)
        The same for the items at hand.
    confusion : array (r, k, outcomes)
        ``P(says o | class is k)``; a last outcome is abstention.
    prevalence, prevalence_lower, prevalence_upper : array (domains, k)
        Share of each class.
    status : tuple of str
        By domain: "not identified", "consistent" (the votes do not contradict the rates, which is
        all that votes can say), "confirmed" (gold labels exclude that the consensus is wrong
        much more often than it says) or "contradicted" by gold labels.
    identified : array (domains,)
        Whether the status is "consistent" or "confirmed".
    slack : float
        Share of the items on which the panel may be fooled together that the limits allow for
        where it is identified.
    copies : tuple of tuples
        By domain, the groups of near copies that count as one voter.
    evidence : tuple of str
        By domain, what gold labels say of the consensus; empty without a test.
    reasons : tuple of tuples of str
        If not, why.
    explanations : tuple of Explanations
        The competing explanations, domain by domain.
    gold_votes : array (r,)
        Votes on items with a gold label.
    gold_moved : array (r,)
        How far the errors on these items are from a point fit of the best model that has not seen
        the gold labels; NaN where there are none.
    r_hat, bulk_ess, tail_ess : array (r,)
        Agreement of the chains and effective numbers of draws.
    confidence : float
        Level of the limits.
    truth : array (r,) or None
        True error rates, where somebody knows them; see ``with_truth``.
    """

    domains: tuple[Any, ...]
    classifiers: tuple[Any, ...]
    classes: AnyArray
    domain: IntArray
    classifier: IntArray
    votes: FloatArray
    mean: FloatArray
    lower: FloatArray
    upper: FloatArray
    finite_mean: FloatArray
    finite_lower: FloatArray
    finite_upper: FloatArray
    confusion: FloatArray
    prevalence: FloatArray
    prevalence_lower: FloatArray
    prevalence_upper: FloatArray
    status: tuple[str, ...]
    identified: BoolArray
    slack: float
    copies: tuple[tuple[tuple[Any, ...], ...], ...]
    evidence: tuple[str, ...]
    reasons: tuple[tuple[str, ...], ...]
    explanations: tuple[Explanations, ...]
    gold_votes: FloatArray
    gold_moved: FloatArray
    r_hat: FloatArray
    bulk_ess: FloatArray
    tail_ess: FloatArray
    confidence: float
    truth: FloatArray | None = None

    _COLUMNS = (
        "domain=domains[domain]", "classifier=classifiers[classifier]", "mean", "lower", "upper",
        "votes", "status=status[domain]", "identified=identified[domain]", "finite_mean",
        "finite_lower", "finite_upper", "truth", "confidence",
    )  # fmt: skip

    def summary(self) -> str:
        """Return first what cannot be known, then the lowest error rates where it can."""
        parts = []
        lost = [d for d, status in enumerate(self.status) if status == "contradicted"]
        if lost:
            parts.append(
                f"Gold labels contradict the consensus{self._in(lost)}: it is "
                f"{self.evidence[lost[0]]}, and no ranking from votes there can be trusted"
            )
        unknown = [d for d, status in enumerate(self.status) if status == "not identified"]
        if unknown:
            parts.append(
                f"Votes cannot tell the error rates{self._in(unknown)}: no ranking there can be "
                f"trusted, because {' and because '.join(self.reasons[unknown[0]])}"
            )
        parts += self._untested()
        known = np.flatnonzero(self.identified)
        parts += [self._best(int(d)) for d in known[:3]]
        if known.size > 3:
            parts.append(f"{known.size - 3} more domains are consistent or confirmed")
        return ". ".join(parts)

    def _untested(self) -> list[str]:
        """Say what no label has tested, and what too few labels have."""
        consistent = [d for d, status in enumerate(self.status) if status == "consistent"]
        none = [d for d in consistent if not self.evidence[d]]
        few = [d for d in consistent if self.evidence[d]]
        parts = []
        if none:
            parts.append(
                f"Gold labels have not tested the consensus{self._in(none)}, and votes cannot show "
                "an error that most voters share: what follows holds if they share none"
            )
        lone = [d for d in consistent if LONE_VOTES in self.explanations[d].names]
        if lone:
            parts.append(
                f"Votes for one class mostly stand alone{self._in(lone)}: votes cannot tell "
                "whether that class is rare or seldom seen, and the limits allow for both"
            )
        if few:
            parts.append(
                f"Gold labels are too few to confirm the consensus{self._in(few)}: it is "
                f"{self.evidence[few[0]]}"
            )
        return parts

    def _in(self, some: list[int]) -> str:
        """Return in which domains; nothing if there is one."""
        if len(self.domains) == 1:
            return ""
        more = f" and {len(some) - 4} more" if len(some) > 4 else ""
        return f" in {', '.join(str(self.domains[d]) for d in some[:4])}{more}"

    def _best(self, d: int) -> str:
        """Return the lowest estimate of a domain, how many may be as good, and what it takes."""
        here = np.flatnonzero(self.domain == d)
        order = here[np.argsort(self.mean[here], kind="stable")]
        at = order[0]
        rivals = int((self.lower[here] <= self.upper[at]).sum()) - 1
        others = len(here) - 1
        close = f"{rivals} of the {others} others" if rivals else f"no other of {others}"
        holds = (self.mean[order[1]] - self.mean[at]) / 2 if others else 1.0
        first = (
            "so that the votes do not settle the first place"
            if rivals
            else f"and the first place holds while at most {100 * holds:.2g} % of the items fool "
            "most voters together"
        )
        tested = self.status[d] == "confirmed"
        return (
            f"{where_of(self.domains[d])}{self.classifiers[self.classifier[at]]} has the lowest "
            f"error rate, {100 * self.mean[at]:.1f} % ({100 * self.confidence:.0f} % limits: "
            f"{100 * self.lower[at]:.1f} to {100 * self.upper[at]:.1f}); {close} may be as good, "
            f"{first}. The rates are {self.status[d]}"
            + (f": the consensus is {self.evidence[d]}" if tested else " with the votes")
        )

    def of_domain(self, domain: Any) -> Self:
        """Return the part of one domain.

        Parameters
        ----------
        domain : name
            One of ``domains``.

        Returns
        -------
        ErrorRates
            The same answer with one domain.
        """
        if domain not in self.domains:
            refuse_option(domain, "domain", f"one of {named(self.domains)}")
        d = self.domains.index(domain)
        rows = np.flatnonzero(self.domain == d)
        by_entry = {
            name: getattr(self, name)[rows]
            for name in (
                "classifier", "votes", "mean", "lower", "upper", "finite_mean", "finite_lower",
                "finite_upper", "confusion", "gold_votes", "gold_moved", "r_hat", "bulk_ess",
                "tail_ess",
            )
        }  # fmt: skip
        by_domain: dict[str, Any] = {
            name: getattr(self, name)[d : d + 1]
            for name in (
                "domains", "prevalence", "prevalence_lower", "prevalence_upper", "status",
                "identified", "copies", "evidence", "reasons", "explanations",
            )
        }  # fmt: skip
        truth = None if self.truth is None else self.truth[rows]
        zeros = np.zeros(len(rows), dtype=np.int64)
        return replace(self, domain=zeros, truth=truth, **by_entry, **by_domain)

    def with_truth(self, truth: FloatArray) -> Self:
        """Return the answer with true error rates beside it, for the picture.

        Parameters
        ----------
        truth : array (r,)
            The true error rate of each entry, NaN where it is not known.

        Returns
        -------
        ErrorRates
            The same answer with ``truth``.
        """
        rates = np.asarray(truth, dtype=np.float64)
        if rates.shape != self.mean.shape:
            raise LengthMismatchError(
                f"truth has shape {rates.shape} and there are {len(self.mean)} entries of domain "
                "and classifier; pass one rate for each"
            )
        return replace(self, truth=rates)

    def _table(self) -> list[tuple[str, str]]:
        rows = []
        for i in np.lexsort((self.mean, self.domain))[:30]:
            name = str(self.classifiers[self.classifier[i]])
            if len(self.domains) > 1:
                name = f"{self.domains[self.domain[i]]}: {name}"
            limits = f"{self.lower[i]:.3f} to {self.upper[i]:.3f}"
            told = self.identified[self.domain[i]]
            limits = limits if told else f"votes cannot tell: {limits}"
            rows.append((name, f"{self.mean[i]:.3f} ({limits})"))
        return rows
