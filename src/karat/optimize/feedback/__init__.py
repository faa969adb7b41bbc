"""What a search learns from a metric: its value at a classifier, and its slopes along probes.

The metric may be known (`KnownMetric` uses its gradient), known but used by its values alone
(`ProbedMetric`), a function of the validation rows (`BlackBox`), or known only by which of two
classifiers is better (`Preferences`). All follow the protocol `Feedback`. `values_at` and
`gradients_at` evaluate a metric on stacks of confusions.
"""

from karat.optimize.feedback._black_box import BlackBox, ValidationRows
from karat.optimize.feedback._feedback import Feedback, KnownMetric, ProbedMetric
from karat.optimize.feedback._metric_on_rows import gradients_at, is_diagonal, values_at
from karat.optimize.feedback._preferences import Preferences

__all__ = [
    "BlackBox",
    "Feedback",
    "KnownMetric",
    "Preferences",
    "ProbedMetric",
    "ValidationRows",
    "gradients_at",
    "is_diagonal",
    "values_at",
]
