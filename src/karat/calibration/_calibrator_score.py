"""What a calibrator's map is worth on rows that it was not fitted to."""

from dataclasses import dataclass
from typing import Any

from karat._columns import rows_of
from karat._result import Result
from karat._typing import FloatArray, IntArray

__all__ = ["CalibratorScore"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CalibratorScore(Result):
    """The log-loss of probabilities before and after a map, of all rows and of each group.

    Attributes
    ----------
    before, after : float
        Mean log-loss.
    per : str
        ``"label"``, or ``"row"`` where rows have one of several classes. The logarithm of a
        probability nearer to 0 than 1e-6 is taken as that of 1e-6.
    groups : tuple
        The groups, as they were passed and sorted; empty without any.
    group_before, group_after : array
        The same by group.
    group_n : array
        Rows of each group.
    parts : tuple of str
        The maps that are mixed.
    weights : array
        Their weights.
    n : int
        Rows.
    """

    before: float
    after: float
    per: str
    groups: tuple[Any, ...]
    group_before: FloatArray
    group_after: FloatArray
    group_n: IntArray
    parts: tuple[str, ...]
    weights: FloatArray
    n: int

    def summary(self) -> str:
        """Return the log-loss before and after, the groups that lose, and the mixture."""
        mixed = ", ".join(
            f"{part} {weight:.2f}" for part, weight in zip(self.parts, self.weights, strict=True)
        )
        return (
            f"log-loss a {self.per} {self.after:.4f} with the map, {self.before:.4f} without "
            f"(n = {self.n:,}{self._losing()}); the map mixes {mixed}"
        )

    def _columns(self) -> dict[str, Any]:
        if not self.groups:
            return {"before": [self.before], "after": [self.after], "n": [self.n]}
        words = ("group=groups", "before=group_before", "after=group_after", "n=group_n")
        return rows_of(self, words)

    def _losing(self) -> str:
        if not self.groups:
            return ""
        gap = self.group_after - self.group_before
        lost = [str(g) for g, more in zip(self.groups, gap, strict=True) if more > 0]
        if not lost:
            return f", less in each of {len(self.groups)} groups"
        return f", more in the groups {', '.join(lost)} of {len(self.groups)}"

    def _table(self) -> list[tuple[Any, str]]:
        rows = zip(self.groups, self.group_after, self.group_before, self.group_n, strict=True)
        return [(g, f"{a:.4f} (without {b:.4f}, n = {n:,})") for g, a, b, n in rows]
