"""Which items to label: strata in which labels tell alike much, and the coin that draws them.

`make_calls` sorts the items into *calls*, within which all have the same predictions; `plan_audit`
finds what a label can move the metric by, and cuts every call into strata of equal sums of that.
`draw_items` draws strata one label at a time, with a coin that leans towards those that fell
behind; limits at every look need its `chances`. `recalibrated` corrects the guesses by labels.
"""

from karat.audit.design._calls import Calls, make_calls
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
    "make_calls",
    "plan_audit",
    "recalibrated",
    "shares_of",
]
