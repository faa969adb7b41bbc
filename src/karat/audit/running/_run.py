"""The state of an audit, and the next items to ask for."""

from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from karat._typing import FloatArray, IntArray
from karat._validate import refuse_option
from karat.audit.design import Calls, Strata, draw_items, recalibrated, shares_of
from karat.audit.inputs import Items, assumed, find_items
from karat.metrics import Metric

__all__ = ["Event", "Run", "ask_items"]

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
    places: dict[Any, int] = field(default_factory=dict)
    predicted: FloatArray | None = None

    def find(self, names: list[Any]) -> list[int]:
        """Return the positions of items by their ids, -1 for what is none."""
        ids = self.items.ids
        if ids is not None and not self.places:  # only once: there may be a million
            self.places = dict(zip(ids.tolist(), range(len(ids)), strict=True))
        return find_items(names, self.items.n, None if ids is None else self.places)

    @property
    def n_asked(self) -> int:
        """Number of items that were asked for."""
        return sum(len(event.items) for event in self.events if event.kind == "ask")

    def body(self) -> dict[str, Any]:
        """Return the run as plain data; the items themselves are not in it."""
        return {
            "metric": self.metric.to_dict(),
            "classes": self.items.classes.tolist(),
            "confidence": self.confidence,
            "seed": self.seed,
            "events": [asdict(event) for event in self.events],
            "labels": {str(item): code for item, code in sorted(self.labels.items())},
        }

    def take_up(self, body: dict[str, Any]) -> None:
        """Go on where a saved run stopped."""
        self.seed = int(body["seed"])
        self.events = [Event(**event) for event in body["events"]]
        self.labels = {int(item): code for item, code in body["labels"].items()}

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
