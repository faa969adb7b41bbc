"""True labels of a few items in the estimate: limits that do not rest on the label model.

`read_sample` finds P(Y | Z) of label models that have each not seen one fold of the labels.
`metric_limits` and `difference_limits` make limits of them: prediction-powered where the metric is
linear or a ratio of successes (`karat.limits.powered_mean`), from the labels alone elsewhere.
"""

from karat.bounds.gold._gold_difference import difference_limits
from karat.bounds.gold._gold_limits import metric_limits
from karat.bounds.gold._gold_sample import GoldSample, read_sample

__all__ = ["GoldSample", "difference_limits", "metric_limits", "read_sample"]
