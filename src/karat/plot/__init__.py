"""Pictures of results, drawn with matplotlib (extra ``plot``), imported when first used."""

from karat.plot._draw import draw

__all__ = ["draw"]
