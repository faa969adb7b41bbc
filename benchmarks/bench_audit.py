"""Audits of a million items: ask, tell and the result, and limits of F1 beside a bootstrap.

Times are of the processor. Asking is compared with a stratified draw by pandas from the same
strata, limits of F1 with SciPy's bootstrap of the same 200 labels.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from karat.audit import Audit
from karat.metrics import f_beta

N = 1_000_000


def taken(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor's time of a call, and what it returned."""
    start = time.process_time()
    found = function()
    return time.process_time() - start, found


def million() -> tuple[Any, Any, Any]:
    """Return probabilities, calls and truth of a million items, 15 % positive."""
    rng = np.random.default_rng(0)
    p = rng.beta(0.4, 2.2, N)
    return p, (p > 0.35).astype(int), (rng.random(N) < p).astype(int)


def audits() -> None:
    """Print what each step of an audit takes."""
    import pandas as pd

    p, called, truth = million()
    begun, audit = taken(lambda: Audit(called, metric="f1", proba=p, rng=0))
    print(f"audit of {N:,} items, begun: {begun:.2f} s")
    first = audit.ask(10)["item"].to_list()  # loads the library of frames
    audit.tell({i: int(truth[i]) for i in first})
    asked, todo = taken(lambda: audit.ask(100))
    labels = {i: int(truth[i]) for i in todo["item"].to_list()}
    told, _ = taken(lambda: audit.tell(labels))
    again, more = taken(lambda: audit.ask(100))
    audit.tell({i: int(truth[i]) for i in more["item"].to_list()})
    known, _ = taken(lambda: audit.result)
    strata = pd.Series(audit._run.strata.of)
    drawn, _ = taken(lambda: strata.groupby(strata).sample(17, random_state=0))
    print(f"ask for 100 of {N:,}: ratio {drawn / asked:.1f} (karat {asked:.2f} s, pandas "
          f"{drawn:.2f} s); after labels, with new shares, {again:.2f} s")  # fmt: skip
    print(f"tell 100 labels: {told:.3f} s; result of 200: {known:.2f} s")
    for name, seconds in (("ask", asked), ("ask after labels", again), ("tell", told)):
        print(f"{name}: {'within' if seconds <= 1 else 'MISSES'} 1 s")


def estimates() -> None:
    """Print limits of F1 of 200 labels against a bootstrap."""
    from scipy.stats import bootstrap

    _, called, truth = million()
    y, h = truth[:200], called[:200]

    def f1(a: Any, b: Any, axis: int = -1) -> Any:
        top = 2 * np.sum(a * b, axis=axis)
        return top / np.maximum(np.sum(a, axis=axis) + np.sum(b, axis=axis), 1)

    ours, _ = taken(lambda: f_beta(1).estimate(y, h))
    theirs, _ = taken(lambda: bootstrap((y, h), f1, paired=True, n_resamples=2000,
                                        random_state=0))  # fmt: skip
    print(f"limits of F1: ratio {theirs / ours:.1f} (karat {ours:.4f} s, SciPy {theirs:.4f} s)")


if __name__ == "__main__":
    audits()
    estimates()
