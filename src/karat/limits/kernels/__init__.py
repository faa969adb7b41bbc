"""Limits on plain arrays, without any check: what other packages of karat compute with.

Every kernel takes ``delta``, the error of one side: a two-sided limit at a confidence calls it with
half of ``1 − confidence``. There are limits of proportions from arrays of counts (binomial),
quantiles and standard errors of means, and one construction each by betting, by resampling and
with the help of predictions. A *reach* is the distance from an estimate to its limit on one side.
"""

from karat.limits.kernels._anytime import (
    Steps,
    anytime_path,
    holding,
    labels_until,
    mean_steps,
    ratio_steps,
    value_grid,
)
from karat.limits.kernels._betting import betting_limits, betting_lower
from karat.limits.kernels._binomial import (
    clopper_pearson_limits,
    hypergeometric_limits,
    kl_limits,
    wilson_limits,
)
from karat.limits.kernels._bootstrap import bootstrap_draws, percentile_limits
from karat.limits.kernels._hinge import expected_excess, hinge_limits
from karat.limits.kernels._means import (
    Moments,
    bernstein_reach,
    cluster_moments,
    cluster_number,
    effective_number,
    hoeffding_reach,
    normal_quantile,
    student_quantile,
    weighted_moments,
)
from karat.limits.kernels._powered import (
    FEWEST,
    Powered,
    Regressed,
    labels_limits,
    powered_bernstein,
    powered_limits,
    powered_ratio,
    regress,
)
from karat.limits.kernels._strata import stratified_limits
from karat.limits.kernels._strata_steps import stratified_steps
from karat.limits.kernels._surprise import drawn_limits, surprise_limits

__all__ = [
    "FEWEST",
    "Moments",
    "Powered",
    "Regressed",
    "Steps",
    "anytime_path",
    "bernstein_reach",
    "betting_limits",
    "betting_lower",
    "bootstrap_draws",
    "clopper_pearson_limits",
    "cluster_moments",
    "cluster_number",
    "drawn_limits",
    "effective_number",
    "expected_excess",
    "hinge_limits",
    "hoeffding_reach",
    "holding",
    "hypergeometric_limits",
    "kl_limits",
    "labels_limits",
    "labels_until",
    "mean_steps",
    "normal_quantile",
    "percentile_limits",
    "powered_bernstein",
    "powered_limits",
    "powered_ratio",
    "ratio_steps",
    "regress",
    "stratified_limits",
    "stratified_steps",
    "student_quantile",
    "surprise_limits",
    "value_grid",
    "weighted_moments",
    "wilson_limits",
]
