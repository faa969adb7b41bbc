"""Families of metrics by the names that people choose them by, at the terminal and in a study."""

from karat.elicit.by_name._families_by_name import FAMILIES, GROUPED

__all__ = ["FAMILIES", "GROUPED"]
