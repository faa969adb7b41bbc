"""The check of the label model that every bound carries, made when somebody reads it.

Bounds hold only if P(Y | weak labels) does. `DeferredCheck` keeps what
`karat.weak.check_label_model` needs, patterns and not rows, and runs it once, on demand;
`CheckByGroup` does the same within every group, for metrics that compare groups.
"""

from karat.bounds.checks._check_by_group import CheckByGroup
from karat.bounds.checks._deferred_check import DeferredCheck

__all__ = ["CheckByGroup", "DeferredCheck"]
