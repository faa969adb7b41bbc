"""The frozen answer to whether a judge may replace a person."""

from dataclasses import dataclass
from typing import Any

from karat._result import Result
from karat._typing import BoolArray, FloatArray, IntArray

__all__ = ["AnnotatorTest"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AnnotatorTest(Result):
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
    winning_rate : float
        Share of the people whom the judge beats: ω of Calderon et al. 2025.
    winning_lower, winning_upper : float
        Limits, by exact tests, of the share of these people whom the judge would beat if the
        number of items had no end.
    exact_winning_rate : float
        ω by the exact tests.
    advantage_rate, advantage_lower, advantage_upper : float
        Mean over people of ``advantage``: ρ of Calderon et al., and its limits over items.
    passed : bool
        Whether the judge beats at least half of the people.
    epsilon, fdr, confidence : float
        How far the person may be ahead and still be beaten, the false discovery rate, the level.
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
    winning_rate: float
    winning_lower: float
    winning_upper: float
    exact_winning_rate: float
    advantage_rate: float
    advantage_lower: float
    advantage_upper: float
    passed: bool
    epsilon: float
    fdr: float
    confidence: float
    alignment: str
    skipped: tuple[Any, ...]
    n_items: int

    _COLUMNS = (
        "person=people", "n", "advantage", "person_advantage", "p_value", "exact_p_value", "wins",
        "exact_wins", "judge",
    )  # fmt: skip

    def summary(self) -> str:
        """Return whether the judge may replace a person, and how sure that is."""
        level = f"{100 * self.confidence:g} % limits"
        may = "may replace a person" if self.passed else "is not shown to replace a person"
        text = (
            f"{self.judge} {may}: allowed to be {self.epsilon:g} behind, it beats "
            f"{int(self.wins.sum())} of {len(self.people)} people (ω = {self.winning_rate:.2f}, "
            f"{level} {self.winning_lower:.2f} to {self.winning_upper:.2f}), and is as close to "
            f"the others as the person on {100 * self.advantage_rate:.0f} % of the items (ρ = "
            f"{self.advantage_rate:.2f}, {self.advantage_lower:.2f} to {self.advantage_upper:.2f})"
        )
        if self.exact_winning_rate != self.winning_rate:
            text += f"; by exact tests ω = {self.exact_winning_rate:.2f}"
        if self.skipped:
            text += f"; {len(self.skipped)} with too few items not compared"
        return text

    def _table(self) -> list[tuple[Any, str]]:
        return [
            (name, f"judge {a:.2f}, person {b:.2f}, p = {p:.3g}{', beaten' if w else ''}")
            for name, a, b, p, w in zip(
                self.people, self.advantage, self.person_advantage, self.p_value, self.wins,
                strict=True,
            )
        ]  # fmt: skip
