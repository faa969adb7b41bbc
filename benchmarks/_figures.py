"""Measured figures with the limits that they have to keep, and lines of them."""

from typing import NamedTuple

from scipy.stats import binomtest

__all__ = ["Figure", "Line"]


class Figure(NamedTuple):
    """A measured number and the limit that it has to keep; shares of people have a p-value too."""

    what: str
    value: float
    limit: float
    people: int | None = None
    at_least: bool = False

    @property
    def kept(self) -> bool:
        """Whether the limit is kept."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        side, state = "at least" if self.at_least else "at most", "kept" if self.kept else "MISSED"
        if self.people is not None and not self.kept and 0 < self.limit < 1:
            count = round(self.value * self.people)
            tail = "less" if self.at_least else "greater"
            chance = binomtest(count, self.people, self.limit, alternative=tail).pvalue
            state += f", by chance with probability {chance:.2g}"
        return f"{self.what} {self.value:.3g} ({side} {self.limit:.3g}: {state})"


class Line(NamedTuple):
    """One line: a name, figures with their limits, the rest of what was seen, and a ratio.

    The ratio says how many times better than a peer it is, and is printed first.
    """

    name: str
    figures: tuple[Figure, ...]
    rest: str = ""
    ratio: float | None = None

    def __str__(self) -> str:
        lead = "" if self.ratio is None else f"ratio {self.ratio:.1f}"
        return f"{self.name}: {'; '.join(filter(None, [lead, *map(str, self.figures), self.rest]))}"
