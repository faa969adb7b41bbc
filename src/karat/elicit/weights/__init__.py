"""What the weights of an elicited metric amount to, as values that a result carries.

A `WeightInterval` is a weight (or a ratio of weights) with 95 % limits, which ``interval_of``,
``ratio_interval`` and ``weighted_limits`` read from draws. `WeightTable`, `TradeOff` and
`FairnessFrontier` say what the weights of metrics of many rates, and of groups, mean.
"""

from karat.elicit.weights._fairness_frontier import FairnessFrontier
from karat.elicit.weights._trade_off import TradeOff
from karat.elicit.weights._weight_interval import (
    CONFIDENCE,
    WeightInterval,
    interval_columns,
    interval_of,
    interval_row,
    intervals_of,
    ratio_interval,
    weighted_limits,
)
from karat.elicit.weights._weight_table import WeightTable

__all__ = [
    "CONFIDENCE",
    "FairnessFrontier",
    "TradeOff",
    "WeightInterval",
    "WeightTable",
    "interval_columns",
    "interval_of",
    "interval_row",
    "intervals_of",
    "ratio_interval",
    "weighted_limits",
]
