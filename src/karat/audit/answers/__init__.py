"""What the labels say: the estimate, limits for this number of labels, limits at every look.

`Evidence` holds the labels by stratum and outcome. `estimate_of` is the stratified estimate,
`fixed_limits` hold for the labels at hand, `anytime_limits` after every label; `forecast` tells
what more labels would bring, and `more_until` how many would take a limit past a value.
"""

from karat.audit.answers._anytime import anytime_limits, more_until
from karat.audit.answers._evidence import Evidence, estimate_of
from karat.audit.answers._fixed import fixed_limits, forecast

__all__ = ["Evidence", "anytime_limits", "estimate_of", "fixed_limits", "forecast", "more_until"]
