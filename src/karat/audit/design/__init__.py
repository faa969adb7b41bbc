"""Which items to label: strata in which labels tell alike much, and the coin that draws them.

`make_calls` sorts the items into *calls*, within which all have the same predictions; `plan_audit`
finds what a label can move the metric by, and cuts every call into strata of equal sums of that.
`draw_items` draws strata one label at a time, with a coin that leans towards those that fell
behind; limits at every look need its `chances`. `recalibrated` corrects the guesses by labels;
`spread_of` tells beforehand what labels vary by, `labels_for` how many a precision takes.
"""

from karat.audit.design._budget import labels_for, precision_of, spread_of
from karat.audit.design._calls import Calls, make_calls, ratios_of
from karat.audit.design._coin import chances, draw_items
from karat.audit.design._influence import influence
from karat.audit.design._recalibrate import recalibrated
from karat.audit.design._strata import Strata, plan_audit, shares_of

__all__ = [
    "Calls",
    "Strata",
    "chances",
    "draw_items",
    "influence",
    "labels_for",
    "make_calls",
    "plan_audit",
    "precision_of",
    "ratios_of",
    "recalibrated",
    "shares_of",
    "spread_of",
]
