"""Estimates and tests of calibration, on checked labels and probabilities.

The mean of `debiased_terms` estimates the squared canonical error without the bias of a plug-in.
`strict_gain` and `cross_fitted_gain` bound that error from below by what a model gains on rows that
it did not see, `score_test` tests that it is 0, and `pair_scores` shows which pairs of labels carry
it. `interaction_test` looks for what no single probability reveals. `binned` and `binned_counts`
measure the marginal calibration of one label.
"""

from karat.calibration.estimates._bins import binned, binned_counts
from karat.calibration.estimates._debiased import DebiasedTerms, debiased_terms
from karat.calibration.estimates._gains import cross_fitted_gain, split_rng, strict_gain
from karat.calibration.estimates._interaction import (
    Interaction,
    chernoff_p_value,
    interaction_test,
)
from karat.calibration.estimates._rare_labels import rare_p_values
from karat.calibration.estimates._score_test import (
    DrawSizes,
    chi_square_statistics,
    pair_scores,
    score_parts,
    score_test,
    signed_statistics,
)

__all__ = [
    "DebiasedTerms",
    "DrawSizes",
    "Interaction",
    "binned",
    "binned_counts",
    "chernoff_p_value",
    "chi_square_statistics",
    "cross_fitted_gain",
    "debiased_terms",
    "interaction_test",
    "pair_scores",
    "rare_p_values",
    "score_parts",
    "score_test",
    "signed_statistics",
    "split_rng",
    "strict_gain",
]
