"""Items as a table, with what those of a stratum have in common."""

from typing import Any

import numpy as np

from karat._frames import Passed, frame_of
from karat.audit.running._run import Run

__all__ = ["items_frame", "why_of"]


def why_of(run: Run, stratum: int) -> str:
    """Say what the items of a stratum have in common."""
    names = run.items.classes
    calls, call = run.calls, int(run.strata.call[stratum])
    if calls.worth is not None:
        return "the two systems disagree"
    said = f"called {names[calls.first[call]]}"
    if calls.second is not None:
        said += f", and {names[calls.second[call]]} by the other"
    if calls.group is not None and run.items.group_names is not None:
        said += f", group {run.items.group_names[calls.group[call]]}"
    if run.items.guess is not None:
        low, high = run.strata.score[stratum]
        said += f", P({names[-1]}) {low:.2f} to {high:.2f}"
    return said


def items_frame(run: Run, chosen: list[int], passed: Passed | None) -> Any:
    """Return items with the share of their stratum that was asked for, and why they were chosen."""
    at = np.array(chosen, dtype=np.int64)
    taken, _ = run.taken()
    stratum = run.strata.of[at]
    return frame_of(
        {
            "item": run.items.names(at),
            "probability": (taken / run.strata.size)[stratum],
            "why": [why_of(run, int(h)) for h in stratum],
        },
        passed,
    )
