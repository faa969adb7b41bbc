"""What every answer of karat can do: say, tabulate, serialise and draw itself."""

from abc import abstractmethod
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from karat._characters import visible
from karat._columns import html_table, one_row, rows_of, stacked
from karat._frames import Passed, frame_of, mark
from karat._frozen import Frozen
from karat.exceptions import KaratError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Result"]

_T = TypeVar("_T", bound="Result")
_MOST = 500_000  # characters of a picture that a notebook keeps with the page


class Result(Frozen):
    """Base of the frozen results.

    A subclass is a frozen, slotted, keyword-only dataclass; it names its fields and writes
    ``summary``. A picture is registered with ``karat.plot.draw``. Its table has one row with every
    field that is one value; else ``_COLUMNS`` says what the rows are, ``_PARTS`` which mapping has
    a row for each part, under which column.
    """

    __slots__ = ("_passed",)
    _passed: Passed
    _COLUMNS: ClassVar[tuple[str, ...]] = ()
    _PARTS: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __reduce__(self) -> Any:
        return _again, (Frozen.__reduce__(self), self._kind)

    @abstractmethod
    def summary(self) -> str:
        """Return the answer in one sentence."""

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the result on ``ax`` (a new figure by default) and return the axes."""
        from karat.plot import draw

        return draw(self, ax)

    @property
    def _kind(self) -> Passed | None:
        """The kind of frame that was passed in; None for arrays and lists."""
        return getattr(self, "_passed", None)

    def to_frame(self) -> Any:
        """Return the numbers as a table, of the kind of frame that was passed in, else Polars.

        There is one row per estimate, group, class or point, and columns are named as attributes.
        """
        return frame_of(self._columns(), self._kind)

    def _columns(self) -> dict[str, Any]:
        """Return the columns of ``to_frame``."""
        for column, attribute in self._PARTS:
            if parts := getattr(self, attribute):
                return stacked(column, parts)
        return rows_of(self, self._COLUMNS) if self._COLUMNS else one_row(self)

    def _like(self, other: _T) -> _T:
        """Return a result that is made of this one, for the same kind of frame."""
        if self._kind is not None:
            mark(other, self._kind)
        return other

    def _table(self) -> list[tuple[Any, str]]:
        """Return name and value of what the notebook shows below the summary."""
        return []

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary()}>"

    def _repr_html_(self) -> str:
        numbers = html_table(self._table(), self._columns)
        said = visible(f"<p>{escape(self.summary())}</p>{self._picture()}{numbers}")
        return f"<div>{said}</div>"

    def _picture(self) -> str:
        """Return the picture for a notebook, in the colours of its page; empty if there is none."""
        from karat.report import result_svg

        try:
            svg = result_svg(self)
        except KaratError:  # matplotlib is missing, or there is nothing to draw: numbers are enough
            return ""
        return (
            f"<figure style='margin:0;max-width:36rem'>{svg}</figure>" if len(svg) < _MOST else ""
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _again(made: tuple[Any, tuple[Any, ...]], passed: Passed | None) -> Any:
    """Build a result from what pickle kept of it."""
    build, arguments = made
    result = build(*arguments)
    if passed is not None:
        mark(result, passed)
    return result
