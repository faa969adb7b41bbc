"""Pictures of results, drawn with matplotlib, which is imported when first used."""

from karat.plot._draw import draw

__all__ = ["draw"]
