"""Items to label next: drawn, written to a file, and said."""

from pathlib import Path
from typing import Any, NamedTuple

from karat.cli.frame import Grid, replaced, section, table_writer
from karat.consensus import ErrorEstimator, PairEstimator
from karat.exceptions import OptionError

__all__ = ["Todo", "todo_section"]

_NEXT = 30  # labels that a report asks for where none was asked for
_SHOWN = 10


class Todo(NamedTuple):
    """How many items to draw, None for none, and where to write them."""

    n: int | None = None
    path: Path | None = None

    def check(self) -> None:
        """Refuse a file without items, and a file of no known format, before the work."""
        if self.path is not None:
            if self.n is None:
                raise OptionError(
                    "--todo is a file for the items of --label-next; expected both flags"
                )
            table_writer("--todo", self.path)

    def draw(self, estimator: ErrorEstimator | PairEstimator) -> Any:
        """Return the items of a fit to label next, and write them; None if none are asked for."""
        if self.n is None:
            return None
        drawn = estimator.label_next(self.n)
        if self.path is not None:
            writer = table_writer("--todo", self.path)
            with replaced(self.path) as path:
                writer(drawn, path)
        return drawn

    @property
    def code(self) -> str:
        """The line that draws them."""
        return "" if self.n is None else f"estimator.label_next({self.n})"

    def sentence(self, drawn: Any, *, unknown: bool) -> str:
        """Return what to label next; ``unknown`` says that votes cannot tell somewhere."""
        if drawn is None:
            why = (
                "where votes cannot tell, nothing else helps"
                if unknown
                else "labels confirm it or do not"
            )
            flags = f"--label-next {_NEXT} --todo todo.csv"
            return f"Label next: {flags} draws items with known probabilities; {why}."
        items = ", ".join(str(item) for item in drawn["item"].head(_SHOWN).to_list())
        more = f" and {len(drawn) - _SHOWN} more" if len(drawn) > _SHOWN else ""
        where = "" if self.path is None else f", in {self.path}"
        return (
            f"Label next ({len(drawn)} items, drawn with known probabilities{where}): "
            f"{items}{more}."
        )


def todo_section(drawn: Any) -> list[Any]:
    """Return the section of a page that lists the items to label, none without items."""
    if drawn is None:
        return []
    several = drawn["domain"].n_unique() > 1
    rows = tuple(
        (
            *((str(row["domain"]),) if several else ()), str(row["item"]),
            f"{row['probability']:.4g}",
        )
        for row in drawn.iter_rows(named=True)
    )  # fmt: skip
    return [
        section(
            "Which items to label next?",
            "Each was drawn with the probability beside it, which --label-probability takes back "
            "together with the labels.",
            grid=Grid(("domain",) * several + ("item", "probability"), rows),
        )
    ]
