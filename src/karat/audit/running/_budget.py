"""How many labels a precision takes, before anything is labelled."""

import numpy as np

from karat.audit.design import labels_for, precision_of, spread_of
from karat.audit.inputs import assumed
from karat.audit.result import LabelBudget
from karat.audit.running._run import Run
from karat.limits.kernels import normal_quantile

__all__ = ["budget_of"]


def budget_of(run: Run, precision: float) -> LabelBudget:
    """Return the numbers of random and of chosen labels, if the guesses are right."""
    spread = spread_of(run.calls, assumed(run.items), run.strata)
    z, total = normal_quantile((1 - run.confidence) / 2), float(run.items.n)
    sizes = np.unique(np.geomspace(min(20, total), max(total, 20), 40).round())
    return LabelBudget(
        metric=run.metric,
        precision=precision,
        n_random=labels_for(spread.random, precision, total, z),
        n_chosen=labels_for(spread.chosen, precision, float(run.strata.size.sum()), z),
        expected=spread.expected,
        confidence=run.confidence,
        n_items=run.items.n,
        source=run.items.source,
        sizes=sizes,
        random=precision_of(spread.random, sizes, total, z),
        chosen=precision_of(spread.chosen, sizes, total, z),
    )
