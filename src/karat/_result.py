"""What every answer of karat can do: say itself, serialise itself, draw itself."""

from abc import abstractmethod
from html import escape
from typing import TYPE_CHECKING, Any

from karat._frozen import Frozen

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Result"]


class Result(Frozen):
    """Base of the frozen results.

    A subclass is a frozen, slotted, keyword-only dataclass; it names its fields and writes
    ``summary``. A picture is registered with ``karat.plot.draw``.
    """

    __slots__ = ()

    @abstractmethod
    def summary(self) -> str:
        """Return the answer in one sentence."""

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the result on ``ax`` (a new figure by default) and return the axes."""
        from karat.plot import draw

        return draw(self, ax)

    def _table(self) -> list[tuple[Any, str]]:
        """Return name and value of what the notebook shows below the summary."""
        return []

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary()}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(str(name))}</th><td>{escape(value)}</td></tr>"
            for name, value in self._table()
        )
        table = f"<table>{rows}</table>" if rows else ""
        return f"<div><p>{escape(self.summary())}</p>{table}</div>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
