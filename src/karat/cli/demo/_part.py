"""A part of the demo: its section, its conclusion, and every interval beside its hidden truth."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from karat.report import Section, Table, Verdict

if TYPE_CHECKING:
    from karat.evaluation import Evaluation

__all__ = ["Interval", "Part", "beside", "part_of"]


class Interval(NamedTuple):
    """An interval that is printed, and the truth that was hidden from whoever made it.

    Bounds have no estimate: their middle means nothing.
    """

    what: str
    estimate: float | None
    lower: float
    upper: float
    truth: float

    @property
    def holds(self) -> bool:
        """Whether the truth is inside."""
        return bool(self.lower <= self.truth <= self.upper)

    @property
    def said(self) -> str:
        """The interval in words."""
        return f"{self.what} {self.lower:.3f} to {self.upper:.3f} (hidden truth {self.truth:.3f})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A section of the page, the conclusion it adds, and its intervals.

    ``conditional`` says that the intervals hold if something does that nobody tested.
    """

    section: Section
    verdict: Verdict | None = None
    intervals: tuple[Interval, ...] = ()
    conditional: bool = False


def beside(intervals: tuple[Interval, ...], caption: str) -> Table:
    """Return a table of intervals, each beside its truth."""
    rows = tuple(
        (i.what, "–" if i.estimate is None else f"{i.estimate:.3f}", f"{i.lower:.3f}",
         f"{i.upper:.3f}", f"{i.truth:.3f}", "yes" if i.holds else "no")
        for i in intervals
    )  # fmt: skip
    columns = ("what", "estimate", "lower", "upper", "hidden truth", "inside")
    return Table(columns=columns, rows=rows, caption=caption)


def part_of(
    found: "Evaluation",
    key: str,
    *,
    question: str,
    told: str,
    intervals: tuple[Interval, ...],
    conditional: bool = False,
    concludes: bool = True,
) -> Part:
    """Return the finding of an evaluation as a part, with the truths beside its numbers."""
    finding = next(f for f in found.findings if f.key == key)
    inside = sum(i.holds for i in intervals)
    verdict = finding.verdicts[0]
    section = replace(
        finding.section(),
        question=question,
        answer=f"{told} {verdict.sentence} Hidden truths inside: {inside} of {len(intervals)}.",
        table=beside(intervals, "Each answer beside its hidden truth"),
    )
    return Part(
        section=section,
        verdict=verdict if concludes else None,
        intervals=intervals,
        conditional=conditional,
    )
