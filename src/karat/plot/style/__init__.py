"""The look of every picture: one palette, quiet axes, readable on light and dark pages.

matplotlib is imported when `new_axes` makes a figure, and not before.
"""

from karat.plot.style._style import COLORS, GRID, INK, MARKERS, ON_PALE, literal, new_axes, quiet

__all__ = ["COLORS", "GRID", "INK", "MARKERS", "ON_PALE", "literal", "new_axes", "quiet"]
