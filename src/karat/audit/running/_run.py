"""The state of an audit, and the next items to ask for."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from karat._typing import FloatArray, IntArray
from karat._validate import refuse_option
from karat.audit.design import Calls, Strata, draw_items, recalibrated, shares_of
from karat.audit.inputs import Items, assumed
from karat.metrics import Metric

__all__ = ["Event", "Run", "ask_items", "frame_like", "why_of"]

_REFIT = 20  # labels from which the guesses are corrected before more are asked for


@dataclass
class Event:
    """Items that were asked for, by the shares of strata then; or labels of a declared design."""

    kind: str
    items: list[int]
    share: list[float] | None = None
    probability: list[float] | None = None


@dataclass
class Run:
    """Items and strata, events and labels by position."""

    items: Items
    metric: Metric
    calls: Calls
    strata: Strata
    seed: int
    confidence: float
    events: list[Event] = field(default_factory=list)
    labels: dict[int, int] = field(default_factory=dict)

    @property
    def n_asked(self) -> int:
        """Number of items that were asked for."""
        return sum(len(event.items) for event in self.events if event.kind == "ask")

    def taken(self) -> tuple[IntArray, "np.ndarray[tuple[int], np.dtype[np.bool_]]"]:
        """Return how many items of each stratum were asked for or labelled, and which are free."""
        is_free = self.strata.of >= 0
        used = [item for event in self.events for item in event.items]
        is_free[used] = False
        is_free[list(self.labels)] = False
        gone = self.strata.of[(self.strata.of >= 0) & ~is_free]
        return np.bincount(gone, minlength=self.strata.n), is_free

    def members(self) -> list[IntArray]:
        """Return the items of each stratum."""
        ends = self.strata.start
        return [self.strata.member[a:b] for a, b in pairwise(ends.tolist())]


def ask_items(run: Run, n: int) -> Event:
    """Draw n items more, by shares that the labels so far have corrected."""
    taken, is_free = run.taken()
    left = int(run.strata.size.sum() - taken.sum())
    if n > left:
        what = "the items that have not been asked for"
        if left < run.items.n and run.calls.worth is not None:
            what += " and on which the two systems disagree"
        refuse_option(n, "n", f"at most {left:,}: {what}")
    share = _shares(run)
    rng = np.random.default_rng([run.seed, run.n_asked])
    chosen, _ = draw_items(share, taken, run.members(), n, rng, is_free)
    event = Event("ask", chosen, share=[round(float(s), 12) for s in share])
    # The shares are kept as they are saved, so that a resumed audit replays the same chances.
    run.events.append(event)
    return event


def _shares(run: Run) -> FloatArray:
    if len(run.labels) < _REFIT or run.items.guess is None or len(run.items.classes) != 2:
        share = run.strata.share
    else:
        at = np.array(sorted(run.labels), dtype=np.int64)
        at = at[run.strata.of[at] >= 0]
        label = np.array([run.labels[int(i)] for i in at])
        own = run.strata.of[at]
        number = np.bincount(own, minlength=run.strata.n)
        weight = (run.strata.size / np.maximum(number, 1))[own]
        guess = assumed(run.items)
        share = shares_of(run.calls, recalibrated(guess, guess[at], label, weight), run.strata)
    rounded = np.round(share, 12)
    return np.asarray(np.maximum(rounded, 1e-6))


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


def frame_like(columns: dict[str, Any], backend: Any) -> Any:
    """Return a frame of the kind that was passed in, else a Polars one."""
    import narwhals as nw

    from karat._extras import require

    if backend is None:
        require("polars", purpose="a table of items")
        backend = "polars"
    plain = {name: c.tolist() if isinstance(c, np.ndarray) else c for name, c in columns.items()}
    return nw.from_dict(plain, backend=backend).to_native()
