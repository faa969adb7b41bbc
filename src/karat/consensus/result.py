"""The frozen answers about voters."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from karat._result import Result
from karat._typing import AnyArray, BoolArray, FloatArray, IntArray
from karat.exceptions import DataError, LengthMismatchError

__all__ = ["CoClustering", "ErrorRates", "Explanations", "ModelComparison", "VoterAgreement"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VoterAgreement(Result):
    """How often pairs of voters agree, beside what the best model expects of them.

    Attributes
    ----------
    domain : str
        The domain.
    names : tuple of str
        Its voters.
    first, second : array (p,)
        The pairs that share at least 20 items, as positions in ``names``.
    n : array (p,)
        Items shared.
    observed, expected : array (p,)
        Share of them on which the two say the same.
    z : array (p,)
        The difference in standard errors.
    """

    domain: str
    names: tuple[str, ...]
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
    """Accounts of the votes that the votes cannot tell apart.

    Attributes
    ----------
    domain : str
        The domain.
    classifiers : tuple of str
        Its voters.
    names : tuple of str
        The accounts; the first is the consensus that the error rates report.
    rates : array (accounts, voters)
        Error rates under each.
    moved : array (accounts,)
        How far each moves the rates from the consensus, on average over votes.
    contested : float
        Share of the items whose most probable label differs between accounts.
    identified : bool
        Whether the votes settle the error rates.
    reasons : tuple of str
        If not, why.
    labels_needed : int
        Gold labels on contested items that would bring the accounts within .1 of each other.
    """

    domain: str
    classifiers: tuple[str, ...]
    names: tuple[str, ...]
    rates: FloatArray
    moved: FloatArray
    contested: float
    identified: bool
    reasons: tuple[str, ...]
    labels_needed: int

    def summary(self) -> str:
        """Return whether the accounts compete."""
        where = _where(self.domain)
        the = f"{where}the" if where else "The"
        if self.identified:
            return (
                f"{the} votes settle the error rates: the other accounts move "
                f"them by {self.moved.max():.2f} on average at most"
            )
        needed = (
            f"; about {self.labels_needed} gold labels on contested items would tell"
            if self.labels_needed
            else ""
        )
        return (
            f"{the} votes do not settle the error rates, because "
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
    domains, classifiers : tuple of str
        The domains and the voters.
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
        Whether votes alone settle the error rates there.
    reasons : tuple of tuples of str
        If not, why.
    explanations : tuple of Explanations
        The competing accounts, domain by domain.
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

    domains: tuple[str, ...]
    classifiers: tuple[str, ...]
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
            some = ", ".join(self.domains[d] for d in unknown[:4])
            more = f" and {unknown.size - 4} more" if unknown.size > 4 else ""
            where = "" if len(self.domains) == 1 else f" in {some}{more}"
            parts.append(
                f"Votes alone do not settle the error rates{where}: no ranking there can be "
                f"trusted, because {' and because '.join(self.reasons[unknown[0]])}"
            )
        known = np.flatnonzero(self.identified)
        parts += [self._best(int(d)) for d in known[:3]]
        if known.size > 3:
            parts.append(f"{known.size - 3} more domains are settled")
        return ". ".join(parts)

    def _best(self, d: int) -> str:
        """Return the lowest estimate of a domain, and how many may be as good."""
        here = np.flatnonzero(self.domain == d)
        at = here[int(np.nanargmin(self.mean[here]))]
        rivals = int((self.lower[here] <= self.upper[at]).sum()) - 1
        others = len(here) - 1
        told = (
            f"no other of {others} may be as good"
            if not rivals
            else (f"{rivals} of the {others} others may be as good")
        )
        return (
            f"{_where(self.domains[d])}{self.classifiers[self.classifier[at]]} has the lowest "
            f"error rate, {100 * self.mean[at]:.1f} % ({100 * self.confidence:.0f} % limits: "
            f"{100 * self.lower[at]:.1f} to {100 * self.upper[at]:.1f}); {told}"
        )

    def of_domain(self, domain: str) -> Self:
        """Return the part of one domain.

        Parameters
        ----------
        domain : str
            Its name.

        Returns
        -------
        ErrorRates
            The same answer with one domain.
        """
        if str(domain) not in self.domains:
            raise DataError(f"there is no domain {domain!r}; name one of {list(self.domains)}")
        d = self.domains.index(str(domain))
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
            name = self.classifiers[self.classifier[i]]
            if len(self.domains) > 1:
                name = f"{self.domains[self.domain[i]]}: {name}"
            rows.append((name, f"{self.mean[i]:.3f} ({self.lower[i]:.3f} to {self.upper[i]:.3f})"))
        return rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CoClustering(Result):
    """Which domains, or which voters in which domains, share their error rates.

    Attributes
    ----------
    structure : str
        "coupled": domains share those of all voters. "hierarchical": voters in domains share one.
    names : tuple of str
        What is clustered.
    labels : array (items,)
        The partition that disagrees least with the draws, the largest cluster first.
    certainty : array (items,)
        Posterior probability that an item is together with another of its cluster, on average.
    probability : array (items, items)
        Posterior probability that two items are together; empty for more than 1,000 items.
    n_clusters : array (3,)
        Number of clusters: posterior mean and 95 % limits.
    concentration : array (c, 3)
        Concentration parameters, α or (α, γ): posterior mean and 95 % limits.
    """

    structure: str
    names: tuple[str, ...]
    labels: IntArray
    certainty: FloatArray
    probability: FloatArray
    n_clusters: FloatArray
    concentration: FloatArray

    def summary(self) -> str:
        """Return how many clusters there are, and how sure that is."""
        found = int(self.labels.max()) + 1
        what = "domains" if self.structure == "coupled" else "voters in domains"
        mean, low, high = self.n_clusters
        return (
            f"{len(self.names)} {what} share error rates in {found} cluster"
            f"{'s' if found > 1 else ''} (posterior mean {mean:.1f}, 95 %: {low:.0f} to "
            f"{high:.0f}); the largest has {int((self.labels == 0).sum())}"
        )

    def _table(self) -> list[tuple[str, str]]:
        rows = []
        for cluster in range(min(int(self.labels.max()) + 1, 30)):
            members = [n for n, k in zip(self.names, self.labels, strict=True) if k == cluster]
            listed = ", ".join(members[:8]) + (", ..." if len(members) > 8 else "")
            rows.append((f"cluster {cluster}", listed))
        return rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ModelComparison(Result):
    """Models of the votes, compared on votes that were held out; no labels are used.

    Attributes
    ----------
    n : float
        Items, by weight.
    structure, errors, dependence : tuple of str
        The models.
    log_likelihood : array (models,)
        Held-out log-likelihood of all items.
    behind, behind_error : array (models,)
        How far each is behind the best, and the standard error of that.
    weight : array (models,)
        Stacking weights: the mixture that predicts best.
    """

    n: float
    structure: tuple[str, ...]
    errors: tuple[str, ...]
    dependence: tuple[str, ...]
    log_likelihood: FloatArray
    behind: FloatArray
    behind_error: FloatArray
    weight: FloatArray

    def summary(self) -> str:
        """Return the best model and how clear that is."""
        order = np.argsort(self.behind, kind="stable")
        best = int(order[0])
        text = f"{self._name(best)} predicts held-out votes best"
        if len(order) == 1:
            return text
        second = int(order[1])
        clear = self.behind[second] > 2 * self.behind_error[second]
        return (
            f"{text}; {self._name(second)} is behind by {self.behind[second]:.1f} ± "
            f"{self.behind_error[second]:.1f}, {'clearly' if clear else 'which is not clear'}"
        )

    def _name(self, model: int) -> str:
        if self.structure[model] != "independent":
            return f"{self.errors[model]} errors, {self.structure[model]} domains"
        return f"{self.errors[model]} errors with dependence {self.dependence[model]!r}"

    def _table(self) -> list[tuple[str, str]]:
        return [
            (self._name(m), f"behind {self.behind[m]:.1f} ± {self.behind_error[m]:.1f}")
            for m in range(len(self.weight))
        ]


def _where(domain: str) -> str:
    return "" if domain == "all" else f"In {domain} "
