"""Elements of SVG and HTML as text, with attributes written out and foreign text escaped."""

from karat.studio.charts.elements._elements import element, group, joined, text_lines, wide

__all__ = ["element", "group", "joined", "text_lines", "wide"]
