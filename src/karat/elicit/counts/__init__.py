"""Confusions as whole numbers of cases, the way people are shown them.

``whole_counts`` rounds both sides of a question at once, so that every number is off by less than
one case and every total that people compare adds up; ``same_counts`` says whether two sides come
out alike, so that nobody is asked to choose between them.
"""

from karat.elicit.counts._same_counts import same_counts
from karat.elicit.counts._whole_counts import as_cases, whole_counts

__all__ = ["as_cases", "same_counts", "whole_counts"]
