"""Precision, recall and lift of the rows above a cut."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray
from karat.ranking.measures._cuts import (
    precision_share_limits,
    proportion_limits,
    recall_share_limits,
)
from karat.ranking.measures._measure import Curve, Measure, Row, no_limits
from karat.ranking.orderings import Ordering, selected_by_share, selected_by_threshold

__all__ = ["Cut"]

_POINTS = 201


@dataclass(frozen=True, slots=True)
class Cut(Measure):
    """Precision, recall or lift of k rows, of a share of the rows, or of those from a score on."""

    kind: str
    k: int | None = None
    share: float | None = None
    threshold: float | None = None

    @property
    def name(self) -> str:
        return self.kind

    @property
    def title(self) -> str:
        if self.threshold is not None:
            return f"{self.kind} at scores of {self.threshold:g} or more"
        return f"{self.kind} at {f'{self.k:,} rows' if self.k else f'the top {self.share:.4g}'}"

    def share_of(self, ordered: Ordering) -> float:
        """Return the share of all rows that is taken."""
        if self.threshold is not None:
            ones, zeros = self._counts(ordered)
            return (ones + zeros) / ordered.n
        return self.share if self.share is not None else float(self.k or 0) / ordered.n

    def _counts(self, ordered: Ordering) -> tuple[float, float]:
        """Return positives and negatives that are taken."""
        if self.threshold is not None:
            above, alarms = ordered.counts_at(np.array([self.threshold]))
            return float(above[0]), float(alarms[0])
        rows = self.share_of(ordered) * ordered.n
        ones = float(ordered.positives_among(np.array([rows]))[0])
        return ones, max(rows - ones, 0.0)

    def missing(self, ordered: Ordering) -> str:
        if self.k is not None and self.k > ordered.n:
            return f"k is {self.k:,} and there are {ordered.n:,.6g} rows"
        if (
            self.threshold is not None
            and self.kind == "precision"
            and not sum(self._counts(ordered))
        ):
            return f"no row has a score of at least {self.threshold:g}"
        return ""

    def value(self, ordered: Ordering) -> float:
        ones, zeros = self._counts(ordered)
        if self.kind == "precision":
            return ones / (ones + zeros)
        recall = ones / ordered.n_positive
        return recall / self.share_of(ordered) if self.kind == "lift" else recall

    def limits(self, ordered: Ordering, delta: float) -> tuple[float, float]:
        if self.threshold is not None:
            ones, zeros = self._counts(ordered)
            of = ones + zeros if self.kind == "precision" else ordered.n_positive
            return proportion_limits(ones, of, delta)
        share = self.share_of(ordered)
        if self.kind == "precision":
            return precision_share_limits(ordered, share, delta)
        lower, upper = recall_share_limits(ordered, share, delta) if share < 1 else (1.0, 1.0)
        return (lower / share, upper / share) if self.kind == "lift" else (lower, upper)

    def chance(self, ordered: Ordering) -> float:
        if self.kind == "lift":
            return 1.0
        return ordered.prevalence if self.kind == "precision" else self.share_of(ordered)

    def curve(self, ordered: Ordering, delta: float) -> Curve:
        first = min(1.0, max(1.0 / ordered.n, 1e-4))
        share = np.unique(np.concatenate([np.geomspace(first, 1, 60), np.linspace(first, 1, 141)]))
        ones = ordered.positives_among(share * ordered.n)
        found = {"precision": ones / (share * ordered.n), "recall": ones / ordered.n_positive}
        found["lift"] = found["recall"] / share
        return no_limits(share, found[self.kind])

    def effects(self, rows: Row) -> FloatArray:
        """Return the influence of rows; a cut by share moves with all rows of its neighbourhood."""
        ordered, y = rows.ordered, rows.positive.astype(float)
        ones, zeros = self._counts(ordered)
        taken, value = ones + zeros, self.value(ordered)
        if self.threshold is not None:
            part = selected_by_threshold(rows.score, self.threshold).taken
            if self.kind == "precision":
                return part * (y - value) / taken
            return y * (part - value) / ordered.n_positive
        share = self.share_of(ordered)
        part = selected_by_share(rows.score, rows.mass, share).taken
        edge = self._rate_at_cut(ordered, share)
        moved = part * (y - edge) - (ones / ordered.n - share * edge)  # of P(taken and positive)
        if self.kind == "precision":
            return moved / taken
        recall = ones / ordered.n_positive
        effect = (moved - recall * (y - ordered.prevalence)) / ordered.n_positive
        return effect / share if self.kind == "lift" else effect

    def _rate_at_cut(self, ordered: Ordering, share: float) -> float:
        """Return the share of positives among rows near the cut, one error of its place wide."""
        reach = max(2.0, np.sqrt(ordered.n * share * (1 - share)))
        ends = np.clip(ordered.n * share + reach * np.array([-1.0, 1.0]), 0.0, ordered.n)
        ones = ordered.positives_among(ends)
        return float((ones[1] - ones[0]) / max(ends[1] - ends[0], 1.0))

    def unit(self, ordered: Ordering) -> tuple[float, float]:
        if self.kind == "precision":
            rows = max(1.0, self.share_of(ordered) * ordered.n)
            return 1.0 / rows, rows
        unit = 1.0 / ordered.n_positive
        if self.kind == "lift":
            unit /= self.share_of(ordered)
        return unit, ordered.n_positive

    def span(self, ordered: Ordering) -> float:
        return 1.0 / self.share_of(ordered) if self.kind == "lift" else 1.0

    def note(self, ordered: Ordering) -> str:
        """Say how many rows are level at the cut, and what their order could make of the value."""
        if self.threshold is not None:
            return ""
        rows = self.share_of(ordered) * ordered.n
        positives, taken = ordered.taken, ordered.rows
        size = ordered.positive + ordered.tied
        step = int(np.searchsorted(taken, rows * (1 - 1e-12)))
        if step >= len(taken) or not taken[step] - size[step] < rows - 1e-9 < taken[step] - 1e-6:
            return ""
        room, level = rows - (taken[step] - size[step]), float(size[step])
        before = positives[step] - ordered.positive[step]
        least = before + max(0.0, room - ordered.tied[step])
        most = before + min(room, ordered.positive[step])
        scale = self.value(ordered) / max(self._counts(ordered)[0], 1e-300)
        if least == most:
            return ""
        return (
            f"{level:,.6g} rows are level at the cut, of which {room:,.6g} fit: they count in "
            f"proportion, and by their order alone it is {least * scale:.4f} to {most * scale:.4f}"
        )
