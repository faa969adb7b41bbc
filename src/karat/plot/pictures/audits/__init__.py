"""Pictures of audits: the estimate against labels, which items were chosen, budgets and gates.

A result with strata is drawn in two panels where the axes are new, and as the path alone on axes
that were passed; every other result of `karat.audit` has one picture.
"""

from karat.plot.pictures.audits._audit import draw_audit, draw_budget
from karat.plot.pictures.audits._decisions import draw_gate, draw_judged, draw_tiers

__all__ = ["draw_audit", "draw_budget", "draw_gate", "draw_judged", "draw_tiers"]
