"""What a command found, before it is printed or written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from karat.report import NextStep, Section, Verdict

__all__ = ["Answer", "Grid", "Page", "section"]


class Grid(NamedTuple):
    """A table of text, for the terminal and for a page."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


class Page(NamedTuple):
    """What stands on a page."""

    title: str
    introduction: str
    sections: Sequence["Section"]
    verdicts: Sequence["Verdict"] = ()
    next_steps: Sequence["NextStep"] = ()
    facts: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command found.

    Attributes
    ----------
    data : dict
        What ``--json`` prints, beside ``warnings``; arrays and results become plain data. Names
        from a file, such as columns, are keys of the values and never of ``data`` itself.
    text : sequence of str or Grid
        What is printed otherwise, in order.
    page : callable, optional
        Makes the page of ``--output``. It is called only if there is one to write: pictures and
        templates take a second to load.
    """

    data: dict[str, Any]
    text: Sequence[str | Grid]
    page: Callable[[], Page] | None = None


def section(
    question: str,
    answer: str,
    *,
    result: Any = None,
    picture: str = "",
    grid: Grid | None = None,
    assumptions: Sequence[str] = (),
    code: str = "",
) -> "Section":
    """Return a section of a page, with the picture of a result; ``picture`` says what it shows."""
    from karat.report import Section, Table, result_svg

    return Section(
        question=question,
        answer=answer if answer.endswith(".") else f"{answer}.",
        figure="" if result is None else result_svg(result),
        figure_text=picture,
        table=None if grid is None else Table(**grid._asdict()),
        assumptions=tuple(assumptions),
        code=code,
    )
