"""Laws with a known truth, and readers of real data."""

from karat.datasets._load_shared import load_shared
from karat.datasets._logistic_law import LogisticLaw
from karat.datasets._multilabel_law import LabelSample, MultilabelLaw

__all__ = ["LabelSample", "LogisticLaw", "MultilabelLaw", "load_shared"]
