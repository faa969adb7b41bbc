"""Decisions by limits that hold at every look: pass, fail, or how many more labels.

`sample_bets` are the bets on labelled rows in their order, `check_order` refuses rows that are
sorted, on which bets would mean nothing, `decide` compares limits with what is asked for, and
`labels_ahead` foretells how many more labels would decide.
"""

from karat.audit.gating._ahead import Bets, labels_ahead
from karat.audit.gating._decide import check_at_least, decide
from karat.audit.gating._sample import check_order, sample_bets, sample_limits

__all__ = [
    "Bets",
    "check_at_least",
    "check_order",
    "decide",
    "labels_ahead",
    "sample_bets",
    "sample_limits",
]
