"""The look of every picture: one palette, quiet axes, readable on light and dark pages.

matplotlib is imported when `new_axes` makes a figure, and not before.
"""

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from karat._characters import visible
from karat._extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Okabe and Ito's palette, whose colours differ for colour-blind readers too, without its yellow,
# which is too faint for lines.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "^", "D", "v", "P")
INK = "#222222"
ON_PALE = "#242424"  # text on a pale cell: unlike INK it stays dark on a dark page
GRID = "#9aa0a6"
_LINE = 36  # characters of a name on a line


def literal(name: Any) -> str:
    """Return a name as a label: in lines, for a long one would leave no room for the picture.

    Lines end between words, or inside one that is longer than a line. Dollar signs are escaped,
    which matplotlib takes for mathematics, and so are characters that an SVG cannot hold.
    """
    text = visible(str(name))
    lines = wrap(text, _LINE, expand_tabs=False, replace_whitespace=False) or [text]
    return "\n".join(lines).replace("$", r"\$")


def new_axes(ax: "Axes | None", size: tuple[float, float] = (5.0, 4.0)) -> Any:
    """Return ``ax``, or the axes of a new figure."""
    if ax is not None:
        return ax
    pyplot = require("matplotlib.pyplot", purpose="drawing a result")
    _, fresh = pyplot.subplots(figsize=size, layout="constrained")
    return fresh


def quiet(ax: Any, *, grid: str | None = None) -> None:
    """Take away what carries no information."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if grid:
        ax.grid(axis=grid, color=GRID, alpha=0.25, linewidth=0.8)
        ax.set_axisbelow(True)
