"""Laws with a known truth, and readers of real data."""

from karat.datasets._laws import LabelSample, LogisticLaw, MultilabelLaw
from karat.datasets._load_shared import load_shared

__all__ = ["LabelSample", "LogisticLaw", "MultilabelLaw", "load_shared"]
