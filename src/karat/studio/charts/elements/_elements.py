"""Elements of SVG and HTML as text, with everything that comes from outside escaped."""

from collections.abc import Iterable
from html import escape
from textwrap import wrap

from markupsafe import Markup
from markupsafe import escape as escaped

__all__ = ["element", "group", "joined", "text_lines", "wide"]

_EMPTY = ("input",)  # elements that HTML does not close


def element(
    name: str, /, *children: object, attributes: dict[str, object] | None = None, **more: object
) -> Markup:
    """Return one element; children that are not markup yet are escaped.

    Attributes are keyword arguments, ``class_`` for ``class`` and an underscore for a hyphen;
    those that XML writes otherwise (``viewBox``) go in ``attributes``. None leaves one out, and
    numbers are written with at most two decimals.
    """
    known = {key.rstrip("_").replace("_", "-"): value for key, value in more.items()}
    known.update(attributes or {})
    written = "".join(
        f' {key}="{_shown(value)}"' for key, value in known.items() if value is not None
    )
    if name in _EMPTY:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(children)}</{name}>")


def joined(parts: Iterable[object]) -> Markup:
    """Return parts one after another; text among them is escaped."""
    # Plain text while it is put together: a page has hundreds of elements, and `Markup` is slow.
    return Markup(
        "".join(
            part if type(part) is Markup else str.__str__(escaped(part))
            for part in parts
            if part is not None
        )
    )


def group(class_: str, *children: object) -> Markup:
    """Return a group of SVG elements that share a class."""
    return element("g", *children, class_=class_)


def wide(table: Markup, name: str) -> Markup:
    """Return a table in a region that scrolls sideways, by keyboard too."""
    return element(
        "div", table, class_="wide", tabindex="0", role="region", aria_label=f"Table: {name}"
    )


def text_lines(
    text: str, x: float, y: float, *, class_: str, anchor: str = "middle", width: int = 13
) -> Markup:
    """Return text of at most two lines around ``y``; what does not fit is cut, with an ellipsis."""
    lines = wrap(text, width) or [""]
    if len(lines) > 2:
        lines = [lines[0], f"{lines[1][: width - 1]}…"]
    first = y - 7.5 * (len(lines) - 1)
    return joined(
        element("text", line, class_=class_, x=x, y=first + 15 * i, text_anchor=anchor)
        for i, line in enumerate(lines)
    )


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return escape(str(value))
