"""The frozen answers about what explains the votes of one domain."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._columns import crossed
from karat._result import Result
from karat._typing import FloatArray, IntArray

__all__ = ["Explanations", "RankingRobustness", "VoterAgreement", "where_of"]

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
        "first=names[first]", "second=names[second]", "n", "observed", "expected", "z", "domain",
    )  # fmt: skip

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
class RankingRobustness(Result):
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
    mean : array (voters,)
        Error rates if nobody is fooled.
    gamma : array (g,)
        Shares of the items on which the panel is fooled together.
    lower, upper : array (g, voters)
        Limits of the error rates at each share.
    changes : array (voters - 1,)
        The share from which on a voter and the next one can change places.
    rivals : int
        Voters that may be as good as the first: their limits overlap already if nobody is fooled.
    confidence : float
        Level of the limits at share 0.
    """

    domain: Any
    classifiers: tuple[Any, ...]
    status: str
    mean: FloatArray
    gamma: FloatArray
    lower: FloatArray
    upper: FloatArray
    changes: FloatArray
    rivals: int
    confidence: float

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
        cells = crossed(axes, lower=self.lower, upper=self.upper)
        mean = np.tile(self.mean, len(self.gamma))
        return cells | {"mean": mean, "domain": [self.domain] * len(mean)}

    def _table(self) -> list[tuple[str, str]]:
        after = [*(f"changes places with the next from {c:.3f} on" for c in self.changes), ""]
        return [
            (str(name), f"{mean:.3f}  {note}".rstrip())
            for name, mean, note in zip(self.classifiers, self.mean, after, strict=True)
        ]


def where_of(domain: Any) -> str:
    """Return the words before a sentence about a domain; none if it is the only one."""
    return "" if domain == "all" else f"In {domain} "
