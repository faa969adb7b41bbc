"""Pairs of answers that judges saw in two orders: reading, position bias, the systems compared.

`read_pairs` reads verdicts A, B or tie in both orders, with repeats, as one number per order;
`picks_first`, `net_votes` and `tango_limits` turn them into the bias of each judge and into one
vote that the position does not move; `bradley_terry` and its kin rank the systems that wrote the
answers.
"""

from karat.consensus.pairs._bias import balanced_limits, net_votes, picks_first, predictive_limits
from karat.consensus.pairs._ranks import rank_limits, simultaneous_quantile, tiers_of
from karat.consensus.pairs._read import PairVerdicts, read_pairs
from karat.consensus.pairs._strengths import Strengths, judged_strengths, powered_strengths
from karat.consensus.pairs._style import style_effect
from karat.consensus.pairs._tango import tango_limits

__all__ = [
    "PairVerdicts",
    "Strengths",
    "balanced_limits",
    "judged_strengths",
    "net_votes",
    "picks_first",
    "powered_strengths",
    "predictive_limits",
    "rank_limits",
    "read_pairs",
    "simultaneous_quantile",
    "style_effect",
    "tango_limits",
    "tiers_of",
]
