"""Estimates and tests of calibration, on checked labels and probabilities.

`rotated` estimates the squared canonical error without the bias of a plug-in, `strict_gain` and
`cross_fitted_gain` bound it from below by what a model gains on rows it did not see, `score_test`
tests that there is none, `pair_scores` says which pairs of labels carry it, and `binned` measures
one label by itself.
"""

from karat.calibration.estimates._bins import binned
from karat.calibration.estimates._debiased import Rotated, rotated
from karat.calibration.estimates._gains import cross_fitted_gain, strict_gain
from karat.calibration.estimates._score_test import (
    DrawSizes,
    chi_square_statistics,
    pair_scores,
    score_parts,
    score_test,
    signed_statistics,
)

__all__ = [
    "DrawSizes",
    "Rotated",
    "binned",
    "chi_square_statistics",
    "cross_fitted_gain",
    "pair_scores",
    "rotated",
    "score_parts",
    "score_test",
    "signed_statistics",
    "strict_gain",
]
