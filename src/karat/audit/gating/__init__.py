"""Decisions by limits that hold at every look: pass, fail, or how many more labels.

`sample_limits` are those of a metric of labelled rows in their order, `check_order` refuses rows
that are sorted, on which bets would mean nothing, and `decide` compares limits with what is asked
for.
"""

from karat.audit.gating._decide import decide
from karat.audit.gating._sample import check_order, sample_limits

__all__ = ["check_order", "decide", "sample_limits"]
