"""The frozen results of questions about votes and label models."""

from dataclasses import dataclass
from typing import Any

from karat._result import Result, rows_of
from karat._typing import AnyArray, FloatArray, IntArray

_SHOWN = 6  # labelers that never vote and are named


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VoteDiagnostics(Result):
    """How often each labeler votes, beside others and against them.

    Attributes
    ----------
    n : int
        Number of items.
    names : tuple
        The labelers, as their columns are called; ``"0"``, ``"1"``, … in an array.
    classes : array (k,)
        The classes.
    coverage : array (m,)
        Share of the items on which the labeler votes.
    overlap : array (m,)
        Share of the items on which it and another labeler vote.
    conflict : array (m,)
        Share of the items on which it votes and another votes differently.
    votes : array (m, k)
        Share of the items on which it votes for each class.
    polarity : tuple of tuples
        The classes that it ever votes for.
    uncovered : float
        Share of the items on which no labeler votes.
    """

    n: int
    names: tuple[Any, ...]
    classes: AnyArray
    coverage: FloatArray
    overlap: FloatArray
    conflict: FloatArray
    votes: FloatArray
    polarity: tuple[tuple[Any, ...], ...]
    uncovered: float

    _COLUMNS = ("name=names", "coverage", "overlap", "conflict", "n")

    def summary(self) -> str:
        """Return how much is covered, who conflicts most, and who never votes."""
        most, least = int(self.coverage.argmax()), int(self.coverage.argmin())
        worst = int(self.conflict.argmax())
        return (
            f"{len(self.names)} labelers on {self.n:,} items; on {100 * self.uncovered:.1f} % all "
            f"abstain. Coverage runs from {100 * self.coverage[least]:.1f} % "
            f"({self.names[least]}) to {100 * self.coverage[most]:.1f} % ({self.names[most]}); "
            f"{self.names[worst]} is contradicted most, on {100 * self.conflict[worst]:.1f} %, and "
            f"votes do not tell who is right{self._narrow()}"
        )

    def _narrow(self) -> str:
        """Return who never votes, and how many vote for one class only."""
        silent = [str(n) for n, said in zip(self.names, self.polarity, strict=True) if not said]
        said = ""
        if silent:
            shown = ", ".join(silent[:_SHOWN]) + ", …" * (len(silent) > _SHOWN)
            said += f". {shown} never vote{'s' * (len(silent) == 1)}"
        single = sum(len(classes) == 1 for classes in self.polarity)
        if single:
            said += f". {single} of {len(self.names)} vote for one class only"
        return said

    def _table(self) -> list[tuple[str, str]]:
        rows = zip(
            self.names, self.coverage, self.overlap, self.conflict, self.polarity, strict=True
        )
        return [
            (
                name,
                f"votes on {100 * cover:.1f} %, beside others on {100 * beside:.1f} %, against "
                f"others on {100 * against:.1f} %, for {', '.join(map(str, classes)) or 'nothing'}",
            )
            for name, cover, beside, against, classes in rows
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LabelModelCheck(Result):
    """Whether votes, and true labels if there are any, contradict a label model.

    Attributes
    ----------
    status : str
        ``"contradicted"``; ``"not validated"``, the normal state without true labels, since votes
        that do not contradict a model do not show that it is right; or ``"undecided"``, if at least
        20 true labels fit it and the votes do not contradict it: labels that fit a model do not
        show that it is right for every metric, so it is not called ``"confirmed"``.
    by : str
        What the status rests on: ``"votes"`` or ``"gold"``.
    reasons : tuple of str
        One sentence per failed test, the most important first.
    n : float
        Number of items, or the sum of their weights.
    names : tuple
        The labelers, as their columns are called; ``"0"``, ``"1"``, … in an array.
    classes : array (k,)
        The classes.
    confidence : float
        A right model fails with probability at most 1 - confidence from the votes, and as much
        again from the true labels.
    threshold : float
        Differences from the votes smaller than this are ignored, however significant.
    independence : bool
        Whether agreement is tested; if not, its figures are only reported.
    pairs : array (p, 2)
        All pairs of labelers, as positions in ``names``.
    pair_n : array (p,)
        Items on which both vote.
    agreement_observed, agreement_expected, agreement_z : array (p,)
        Share of these on which they agree, the share implied by the model, and the difference in
        standard errors. All 0 where the two never vote together.
    covote_observed, covote_expected, covote_z : array (p,)
        The same for the share of all items on which both vote.
    worst_pair : tuple
        The pair whose agreement is furthest from what is implied, in standard errors.
    accuracy, chance, accuracy_z : array (m,)
        How often each labeler is right where it votes under the model, how often votes that ignore
        the item would be, and the difference in standard errors. 0 where it never votes.
    prior : array (k,)
        P(Y) implied by the model.
    prior_gap : float or None
        Greatest difference from the class prior that was given.
    gold_n : int
        Number of true labels.
    gold_accuracy, gold_promised : float or None
        How often the model's most probable class is true, and how often it should be.
    gold_p_value : float or None
        P-value of the hypothesis that the true labels are draws from P(Y | Z).
    gold_noticeable : float or None
        By how much the model's most probable class must be right less (or more) often than it
        promises for so many labels to notice it four times in five.
    """

    status: str
    by: str
    reasons: tuple[str, ...]
    n: float
    names: tuple[Any, ...]
    classes: AnyArray
    confidence: float
    threshold: float
    independence: bool
    pairs: IntArray
    pair_n: FloatArray
    agreement_observed: FloatArray
    agreement_expected: FloatArray
    agreement_z: FloatArray
    covote_observed: FloatArray
    covote_expected: FloatArray
    covote_z: FloatArray
    worst_pair: tuple[Any, Any] | None
    accuracy: FloatArray
    chance: FloatArray
    accuracy_z: FloatArray
    prior: FloatArray
    prior_gap: float | None
    gold_n: int
    gold_accuracy: float | None
    gold_promised: float | None
    gold_p_value: float | None
    gold_noticeable: float | None

    @property
    def contradicted(self) -> bool:
        """Whether a test rejects the model."""
        return self.status == "contradicted"

    def summary(self) -> str:
        """Return what is known of the label model: the failed tests, or what they could see."""
        if self.contradicted:
            return f"The label model does not hold: {'; '.join(self.reasons)}"
        if self.status == "undecided":
            return (
                f"{self.gold_n} true labels fit the label model (p = {self.gold_p_value:.2g}); so "
                f"many would notice, four times in five, that its most probable class is true "
                f"{100 * (self.gold_noticeable or 0.0):.0f} points less often than it says, and "
                "may miss less"
            )
        gold = "no true label has tested the label model"
        if self.gold_n:
            gold = f"{self.gold_n} true labels are too few to test the label model"
        agree = ""
        if self.independence and len(self.names) > 3:
            agree = "the agreement of the labelers fits it, but "
        return f"Not validated: {gold}; {agree}votes cannot show that it is right"

    def _columns(self) -> dict[str, Any]:
        names = [self.names[i] for i in self.pairs.reshape(-1)]
        words = (
            "n=pair_n",
            "agreement_observed",
            "agreement_expected",
            "agreement_z",
            "covote_observed",
            "covote_expected",
            "covote_z",
            "status",
        )
        return {"first": names[::2], "second": names[1::2]} | rows_of(self, words)

    def _table(self) -> list[tuple[str, str]]:
        rows = zip(self.names, self.accuracy, self.chance, strict=True)
        return [
            (name, f"right on {100 * right:.1f} % under the model, by chance {100 * chance:.1f} %")
            for name, right, chance in rows
        ]
