"""Laws with a known truth, and readers of real data."""

from karat.datasets._load_shared import load_shared
from karat.datasets._logistic_law import LogisticLaw

__all__ = ["LogisticLaw", "load_shared"]
