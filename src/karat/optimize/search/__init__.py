"""Finding a mixture of plug-in rules for a metric, and reporting how good it is.

A `Task` is a problem that is read and checked, `SearchOptions` says how to solve it, and
`run_search` does: by Frank–Wolfe steps along slopes of the metric (`search`), or to a proven gap
where the form of the metric is known (`best_mixture`). `held_out` measures on rows that took no
part, `metric_value` any shares on all rows, and `history_of` and `class_weights_of` make the
results.
"""

from karat.optimize.search._best_mixture import best_mixture
from karat.optimize.search._cross_validation import HeldOut, folds, held_out
from karat.optimize.search._frank_wolfe import Search, Step, search
from karat.optimize.search._problem import Problem
from karat.optimize.search._report import class_weights_of, history_of
from karat.optimize.search._run_search import run_search
from karat.optimize.search._search_options import (
    SearchOptions,
    check_n_folds,
    check_search_options,
)
from karat.optimize.search._task import Task
from karat.optimize.search._value import metric_value, most_probable

__all__ = [
    "HeldOut",
    "Problem",
    "Search",
    "SearchOptions",
    "Step",
    "Task",
    "best_mixture",
    "check_n_folds",
    "check_search_options",
    "class_weights_of",
    "folds",
    "held_out",
    "history_of",
    "metric_value",
    "most_probable",
    "run_search",
    "search",
]
