"""The frozen answers about voters."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from karat._result import Result
from karat._typing import AnyArray, BoolArray, FloatArray, IntArray
from karat._validate import named, refuse_option
from karat.exceptions import LengthMismatchError

__all__ = ["ErrorRates", "Explanations", "VoterAgreement"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VoterAgreement(Result):
    """How often pairs of voters agree, beside what the best model expects of them.

    Attributes
    ----------
    domain : name
        The domain, named as it was passed.
    names : tuple
        Its voters, named as they were passed.
    first, second : array (p,)
        The pairs that share at least 20 items, as positions in ``names``.
    n : array (p,)
        Items shared.
    observed, expected : array (p,)
        Share of them on which the two say the same.
    z : array (p,)
        The difference in standard errors.
    """

    domain: Any
    names: tuple[Any, ...]
    first: IntArray
    second: IntArray
    n: FloatArray
    observed: FloatArray
    expected: FloatArray
    z: FloatArray

    def summary(self) -> str:
        """Return how many pairs are off, and the worst."""
        if not len(self.z):
            return f"{_where(self.domain)}no two voters share 20 items, so agreement says nothing"
        worst = int(np.abs(self.z).argmax())
        a, b = self.names[self.first[worst]], self.names[self.second[worst]]
        off = float((np.abs(self.z) > 2.576).mean())
        return (
            f"{_where(self.domain)}{100 * off:.0f} % of {len(self.z):,} pairs agree more or less "
            f"often than the model expects of 1 %; {a} and {b} agree on "
            f"{100 * self.observed[worst]:.0f} % where {100 * self.expected[worst]:.0f} % are "
            f"expected (z = {self.z[worst]:.1f})"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Explanations(Result):
    """Explanations of the votes that the votes cannot distinguish.

    Attributes
    ----------
    domain : name
        The domain, named as it was passed.
    classifiers : tuple
        Its voters, named as they were passed.
    names : tuple
        The explanations; the first is the consensus that the error rates report.
    rates : array (explanations, voters)
        Error rates under each.
    moved : array (explanations,)
        How far each moves the rates from the consensus, on average over votes.
    contested : float
        Share of the items whose most probable label differs between explanations.
    identified : bool
        Whether the votes identify the error rates.
    reasons : tuple of str
        If not, why.
    labels_needed : int
        Gold labels on contested items that would bring the explanations within .1 of each
        other.
    """

    domain: Any
    classifiers: tuple[Any, ...]
    names: tuple[Any, ...]
    rates: FloatArray
    moved: FloatArray
    contested: float
    identified: bool
    reasons: tuple[str, ...]
    labels_needed: int

    def summary(self) -> str:
        """Return whether the explanations compete."""
        where = _where(self.domain)
        the = f"{where}the" if where else "The"
        if self.identified:
            return (
                f"{the} votes identify the error rates: other explanations move "
                f"them by {self.moved.max():.2f} on average at most"
            )
        needed = (
            f"; about {self.labels_needed} gold labels on contested items would decide between them"
            if self.labels_needed
            else ""
        )
        return (
            f"{the} votes do not identify the error rates, because "
            f"{' and because '.join(self.reasons)}{needed}"
        )

    def _table(self) -> list[tuple[str, str]]:
        return [
            (name, f"moves the rates by {moved:.3f}")
            for name, moved in zip(self.names, self.moved, strict=True)
        ]


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
    identified : array (domains,)
        Whether votes alone identify the error rates there.
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
    identified: BoolArray
    reasons: tuple[tuple[str, ...], ...]
    explanations: tuple[Explanations, ...]
    gold_votes: FloatArray
    gold_moved: FloatArray
    r_hat: FloatArray
    bulk_ess: FloatArray
    tail_ess: FloatArray
    confidence: float
    truth: FloatArray | None = None

    def summary(self) -> str:
        """Return first what cannot be known, then the lowest error rates where it can."""
        parts = []
        unknown = np.flatnonzero(~self.identified)
        if unknown.size:
            some = ", ".join(str(self.domains[d]) for d in unknown[:4])
            more = f" and {unknown.size - 4} more" if unknown.size > 4 else ""
            where = "" if len(self.domains) == 1 else f" in {some}{more}"
            parts.append(
                f"Votes alone do not identify the error rates{where}: no ranking there can be "
                f"trusted, because {' and because '.join(self.reasons[unknown[0]])}"
            )
        known = np.flatnonzero(self.identified)
        parts += [self._best(int(d)) for d in known[:3]]
        if known.size > 3:
            parts.append(f"{known.size - 3} more domains are identified")
        return ". ".join(parts)

    def _best(self, d: int) -> str:
        """Return the lowest estimate of a domain, and how many may be as good."""
        here = np.flatnonzero(self.domain == d)
        at = here[int(np.nanargmin(self.mean[here]))]
        rivals = int((self.lower[here] <= self.upper[at]).sum()) - 1
        others = len(here) - 1
        close = f"{rivals} of the {others} others" if rivals else f"no other of {others}"
        return (
            f"{_where(self.domains[d])}{self.classifiers[self.classifier[at]]} has the lowest "
            f"error rate, {100 * self.mean[at]:.1f} % ({100 * self.confidence:.0f} % limits: "
            f"{100 * self.lower[at]:.1f} to {100 * self.upper[at]:.1f}); {close} may be as good"
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
                "domains", "prevalence", "prevalence_lower", "prevalence_upper", "identified",
                "reasons", "explanations",
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
        for i in range(min(len(self.mean), 30)):
            name = str(self.classifiers[self.classifier[i]])
            if len(self.domains) > 1:
                name = f"{self.domains[self.domain[i]]}: {name}"
            rows.append((name, f"{self.mean[i]:.3f} ({self.lower[i]:.3f} to {self.upper[i]:.3f})"))
        return rows


def _where(domain: Any) -> str:
    return "" if domain == "all" else f"In {domain} "
