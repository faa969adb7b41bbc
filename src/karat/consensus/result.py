"""What votes say: error rates from classes and scores, agreement, explanations, models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from karat._result import Basis, Estimate, Estimated, Result, basis_of, crossed
from karat._sentences import Argument, Remedy
from karat._typing import AnyArray, BoolArray, FloatArray, IntArray
from karat._validate import named, refuse_option
from karat.consensus.identification import LONE_VOTES, doubts
from karat.exceptions import LengthMismatchError

# --- The frozen answers about models of votes: which domains share, and which model predicts best.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CoClustering(Estimated[float]):
    """Which domains, or which voters in which domains, share their error rates.

    Attributes
    ----------
    structure : str
        "coupled": domains share those of all voters. "hierarchical": voters in domains share one.
    names : tuple
        What is clustered.
    labels : array (items,)
        The partition that disagrees least with the draws, the largest cluster first.
    certainty : array (items,)
        Posterior probability that an item is together with another of its cluster, on average.
    probability : array (items, items)
        Posterior probability that two items are together; empty for more than 1,000 items.
    estimate : Estimate
        Number of clusters: posterior mean and 95 % limits.
    concentration : Estimate
        Concentration parameters, α or (α, γ): posterior means and 95 % limits.
    """

    structure: str
    names: tuple[Any, ...]
    labels: IntArray
    certainty: FloatArray
    probability: FloatArray
    estimate: Estimate[float]
    concentration: Estimate[FloatArray]

    _COLUMNS = ("name=names", "label=labels", "certainty")

    def summary(self) -> str:
        """Return how many clusters there are, and how sure that is."""
        found = int(self.labels.max()) + 1
        what = "domains" if self.structure == "coupled" else "voters in domains"
        largest = int((self.labels == 0).sum())
        return (
            f"{len(self.names)} {what} share error rates in {found} cluster"
            f"{'s' if found > 1 else ''} (posterior mean {self.value:.1f}, 95 %: "
            f"{self.lower:.0f} to {self.upper:.0f}); the largest has {largest}"
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

    _COLUMNS = (
        "structure",
        "errors",
        "dependence",
        "log_likelihood",
        "behind",
        "behind_error",
        "weight",
        "n",
    )

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ErrorRates(Estimated[FloatArray]):
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
    estimate : Estimate
        The rate at which the voter errs in the population of items (r,); the limits span every
        model that is not clearly worse than another, and every competing explanation.
    finite : Estimate
        The same for the items at hand (r,).
    confusion : array (r, k, outcomes)
        ``P(says o | class is k)``; a last outcome is abstention.
    prevalence : Estimate
        Share of each class (domains, k).
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
    truth : array (r,) or None
        True error rates, where somebody knows them; see ``with_truth``.
    """

    domains: tuple[Any, ...]
    classifiers: tuple[Any, ...]
    classes: AnyArray
    domain: IntArray
    classifier: IntArray
    votes: FloatArray
    estimate: Estimate[FloatArray]
    finite: Estimate[FloatArray]
    confusion: FloatArray
    prevalence: Estimate[FloatArray]
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
    truth: FloatArray | None = None

    _COLUMNS = (
        "domain=domains[domain]",
        "classifier=classifiers[classifier]",
        "value",
        "lower",
        "upper",
        "votes",
        "status=status[domain]",
        "identified=identified[domain]",
        "finite_value=finite.value",
        "finite_lower=finite.lower",
        "finite_upper=finite.upper",
        "truth",
        "confidence",
    )

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
        order = here[np.argsort(self.value[here], kind="stable")]
        at = order[0]
        rivals = int((self.lower[here] <= self.upper[at]).sum()) - 1
        others = len(here) - 1
        close = f"{rivals} of the {others} others" if rivals else f"no other of {others}"
        holds = (self.value[order[1]] - self.value[at]) / 2 if others else 1.0
        first = (
            "so that the votes do not settle the first place"
            if rivals
            else f"and the first place holds while at most {100 * holds:.2g} % of the items fool "
            "most voters together"
        )
        tested = self.status[d] == "confirmed"
        return (
            f"{where_of(self.domains[d])}{self.classifiers[self.classifier[at]]} has the lowest "
            f"error rate, {100 * self.value[at]:.1f} % ({100 * self.confidence:.0f} % limits: "
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
                "classifier",
                "votes",
                "confusion",
                "gold_votes",
                "gold_moved",
                "r_hat",
                "bulk_ess",
                "tail_ess",
            )
        }
        by_domain: dict[str, Any] = {
            name: getattr(self, name)[d : d + 1]
            for name in (
                "domains",
                "status",
                "identified",
                "copies",
                "evidence",
                "reasons",
                "explanations",
            )
        }
        truth = None if self.truth is None else self.truth[rows]
        zeros = np.zeros(len(rows), dtype=np.int64)
        basis = basis_of_votes(self.identified[d])
        return replace(
            self,
            domain=zeros,
            estimate=replace(self.estimate.take(rows), basis=basis),
            finite=replace(self.finite.take(rows), basis=basis),
            prevalence=replace(self.prevalence.take([d]), basis=basis),
            truth=truth,
            **by_entry,
            **by_domain,
        )

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
        if rates.shape != self.value.shape:
            raise LengthMismatchError(
                Argument("truth"),
                f" has shape {rates.shape} and there are {len(self.value)} entries of "
                "domain and classifier",
                Remedy("pass one rate for each"),
            )
        return replace(self, truth=rates)

    def _table(self) -> list[tuple[str, str]]:
        rows = []
        for i in np.lexsort((self.value, self.domain))[:30]:
            name = str(self.classifiers[self.classifier[i]])
            if len(self.domains) > 1:
                name = f"{self.domains[self.domain[i]]}: {name}"
            limits = f"{self.lower[i]:.3f} to {self.upper[i]:.3f}"
            told = self.identified[self.domain[i]]
            limits = limits if told else f"votes cannot tell: {limits}"
            rows.append((name, f"{self.value[i]:.3f} ({limits})"))
        return rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ScoreErrors(Estimated[FloatArray]):
    """How well voters' scores tell two classes apart, estimated from the scores alone.

    One entry per domain and voter.

    Attributes
    ----------
    domains, classifiers : tuple
        The domains and the voters, named as they were passed.
    classes : array (2,)
        The classes; a higher score speaks for the second.
    domain, classifier : array (r,)
        Domain and voter of each entry, as positions.
    scores : array (r,)
        Scores given.
    estimate : Estimate
        Error rate of the voter alone (r,), each of its scores read as the more probable class: no
        threshold is chosen by hand.
    area : Estimate
        Its area under the ROC curve (r,).
    share : Estimate
        Share of the second class (domains,).
    level_from, level_proba : tuple of arrays
        By entry: the least score of each level (the first has none: NaN), and the calibration:
        P(second class) given the level.
    status : tuple of str
        By domain: "not identified", "consistent" (the scores do not contradict the rates), or with
        random gold labels "confirmed" or "contradicted" by an exact test of the consensus.
    identified : array (domains,)
        Whether the status is "consistent" or "confirmed".
    evidence : tuple of str
        By domain, what gold labels say of the consensus; empty without a test.
    reasons : tuple of tuples
        By domain: why the scores alone do not identify the rates; empty if they do.
    r_hat, ess : array (domains,)
        Whether chains agree, and effective draws.
    slack : float
        By how much limits of error rates were widened.
    """

    domains: tuple[Any, ...]
    classifiers: tuple[Any, ...]
    domain: IntArray
    classifier: IntArray
    scores: FloatArray
    estimate: Estimate[FloatArray]
    classes: AnyArray
    slack: float
    area: Estimate[FloatArray]
    share: Estimate[FloatArray]
    level_from: tuple[FloatArray, ...]
    level_proba: tuple[FloatArray, ...]
    status: tuple[str, ...]
    identified: AnyArray
    evidence: tuple[str, ...]
    reasons: tuple[tuple[str, ...], ...]
    r_hat: FloatArray
    ess: FloatArray

    _COLUMNS = (
        "domain=domains[domain]",
        "classifier=classifiers[classifier]",
        "value",
        "lower",
        "upper",
        "scores",
        "area=area.value",
        "area_lower=area.lower",
        "area_upper=area.upper",
        "status=status[domain]",
        "identified=identified[domain]",
        "confidence",
    )

    def summary(self) -> str:
        """Return first what is not known, then the best voter."""
        told = self.identified[self.domain]
        best = int(
            np.where(told, self.value, np.inf).argmin() if told.any() else self.value.argmin()
        )
        limits = f"{100 * self.lower[best]:.1f} to {100 * self.upper[best]:.1f} %"
        limits = (
            f"{100 * self.confidence:g} % limits {limits}"
            if told.any()
            else f"the scores cannot tell: {limits}"
        )
        d = int(self.domain[best])
        where = "" if len(self.domains) == 1 else f" in {self.domains[d]}"
        text = (
            f"the scores of {self.classifiers[self.classifier[best]]} err least{where}: "
            f"{100 * self.value[best]:.1f} % ({limits}), area {self.area.value[best]:.2f}"
        )
        if self.status[d] == "consistent":
            labels = (
                f"too few labels confirm this (the consensus is {self.evidence[d]})"
                if self.evidence[d]
                else "no test on labels stands behind this"
            )
            text = (
                f"{labels}, and scores cannot show an error that most voters share; if they share "
                f"none, {text}"
            )
        if self.status[d] == "confirmed":
            text += f"; gold labels confirm it: the consensus is {self.evidence[d]}"
        text = "; ".join([*self._doubts(), f"{self._face()}{text}"])
        return text[0].upper() + text[1:]

    def _doubts(self) -> list[str]:
        """Return what gold labels contradict, and what the scores do not identify."""
        return doubts(
            self.domains,
            self.status,
            self.reasons,
            self.evidence,
            of="scores",
            unknown="the scores alone",
        )

    def _face(self) -> str:
        if self.identified.all():
            return ""
        return "where they do, " if self.identified.any() else "taken at face value, "

    def _table(self) -> list[tuple[Any, str]]:
        return [
            (
                self.classifiers[j],
                f"{m:.3f} [{'' if told else 'scores cannot tell: '}{low:.3f}, {high:.3f}], "
                f"area {a:.3f}",
            )
            for j, m, low, high, a, told in zip(
                self.classifier,
                self.value,
                self.lower,
                self.upper,
                self.area.value,
                self.identified[self.domain],
                strict=True,
            )
        ]


# --- The frozen answers about what explains the votes of one domain.

_LABELS = "gold labels contradict the consensus"


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

    _COLUMNS = (
        "first=names[first]",
        "second=names[second]",
        "n",
        "observed",
        "expected",
        "z",
        "domain",
    )

    def summary(self) -> str:
        """Return how many pairs are off, and the worst."""
        if not len(self.z):
            return f"{where_of(self.domain)}no two voters share 20 items, so agreement says nothing"
        worst = int(np.abs(self.z).argmax())
        a, b = self.names[self.first[worst]], self.names[self.second[worst]]
        off = float((np.abs(self.z) > 2.576).mean())
        return (
            f"{where_of(self.domain)}{100 * off:.0f} % of {len(self.z):,} pairs agree more or less "
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
        where = where_of(self.domain)
        the = f"{where}the" if where else "The"
        if self.identified:
            return (
                f"{the} votes are consistent with the error rates: other explanations move "
                f"them by {self.moved.max():.2f} on average at most"
            )
        needed = (
            f"; about {self.labels_needed} gold labels on contested items would decide between them"
            if self.labels_needed
            else ""
        )
        return (
            f"{the} votes cannot tell the error rates, because "
            f"{' and because '.join(self.reasons) or _LABELS}{needed}"
        )

    def _columns(self) -> dict[str, Any]:
        cells = crossed({"name": self.names, "classifier": self.classifiers}, rate=self.rates)
        moved = np.repeat(self.moved, len(self.classifiers))
        return cells | {"moved": moved, "domain": [self.domain] * len(moved)}

    def _table(self) -> list[tuple[str, str]]:
        return [
            (name, f"moves the rates by {moved:.3f}")
            for name, moved in zip(self.names, self.moved, strict=True)
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RankingRobustness(Estimated[FloatArray]):
    """What the error rates of one domain are worth if most voters are fooled together.

    If on a share γ of the items the consensus names the wrong class, an error rate moves by at most
    γ, and the order of two voters can change from half the difference of their rates on.

    Attributes
    ----------
    domain : name
        The domain, named as it was passed.
    classifiers : tuple
        Its voters, the lowest error rate first.
    status : str
        What is known of the consensus there.
    gamma : array (g,)
        Shares of the items on which the panel is fooled together.
    estimate : Estimate
        Error rates if nobody is fooled, and their limits at each share (g, voters); the level is
        that of the limits at share 0.
    changes : array (voters - 1,)
        The share from which on a voter and the next one can change places.
    rivals : int
        Voters that may be as good as the first: their limits overlap already if nobody is fooled.
    """

    domain: Any
    classifiers: tuple[Any, ...]
    status: str
    gamma: FloatArray
    estimate: Estimate[FloatArray]
    changes: FloatArray
    rivals: int

    @property
    def first_holds(self) -> float:
        """The share of items fooled together up to which the first place holds; 0 if unsettled."""
        if self.rivals:
            return 0.0
        return float(self.changes[0]) if len(self.changes) else 1.0

    def summary(self) -> str:
        """Return how much shared error the first place survives."""
        where = where_of(self.domain)
        if not len(self.changes):
            return f"{where}there is one voter, and so no order"
        if self.rivals:
            return (
                f"{where}the votes do not settle the first place: {self.rivals} of the "
                f"{len(self.changes)} others may be as good as {self.classifiers[0]}"
            )
        share = 100 * self.first_holds
        holds = (
            f"{where}the first place, of {self.classifiers[0]}, holds while at most {share:.1g} % "
            "of the items fool most judges together"
            if share < 1
            else f"{where}the first place, of {self.classifiers[0]}, holds while at most "
            f"{share:.0f} % of the items fool most judges together"
        )
        if self.status in ("consistent", "confirmed"):
            return holds
        return f"{where}votes cannot tell who is best ({self.status}); if they could, {holds}"

    def _columns(self) -> dict[str, Any]:
        axes = {"gamma": self.gamma, "classifier": self.classifiers}
        cells = crossed(axes, value=self.value, lower=self.lower, upper=self.upper)
        return cells | {"domain": [self.domain] * self.value.size}

    def _table(self) -> list[tuple[str, str]]:
        after = [*(f"changes places with the next from {c:.3f} on" for c in self.changes), ""]
        return [
            (str(name), f"{rate:.3f}  {note}".rstrip())
            for name, rate, note in zip(self.classifiers, self.value[0], after, strict=True)
        ]


def basis_of_votes(identified: Any) -> Basis:
    """Return what limits from votes rest on: nothing where votes cannot tell."""
    return basis_of("model" if bool(np.all(identified)) else "untested")


def where_of(domain: Any) -> str:
    """Return the words before a sentence about a domain; none if it is the only one."""
    return "" if domain == "all" else f"In {domain} "
