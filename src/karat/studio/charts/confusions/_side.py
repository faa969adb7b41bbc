"""One classifier of a picture, with the one that it is compared with."""

from dataclasses import dataclass

from karat.studio.charts.confusions._words import Table, difference, share

__all__ = ["Side"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What a picture of one classifier needs.

    Attributes
    ----------
    name : str
        What the classifier is called on the page.
    counts : sequence of sequences of int
        Whole numbers of cases; rows are the truth, columns the prediction.
    other : sequence of sequences of int or None
        The counts of the classifier beside it, which differences are measured from.
    out_of : int
        Number of cases in all.
    class_names : tuple of str
        What the classes are called as predictions: "high risk".
    truth : tuple of str
        What is true of the cases of each class, as the end of a sentence: "have cancer".
    conditioned : bool
        Whether shares of the true class are shown beside the counts (guideline G8).
    """

    name: str
    counts: Table
    other: Table | None
    out_of: int
    class_names: tuple[str, ...]
    truth: tuple[str, ...]
    conditioned: bool

    def number(self, i: int, j: int) -> str:
        """Return how many cases of class i are predicted j, marked as right or wrong."""
        count = self.counts[i][j]
        said = f"{'✓' if i == j else '✗'} {count:,}"
        return f"{said} ({share(count, sum(self.counts[i]))})" if self.conditioned else said

    def change(self, i: int, j: int) -> str:
        """Return how that number compares with the other side's; nothing if it is the same."""
        return "" if self.other is None else difference(self.counts[i][j], self.other[i][j])

    def classes_of(self, kind: str, i: int, j: int) -> str:
        """Return the classes of the style sheet for what shows that number."""
        marks = f"{kind} {'right' if i == j else 'wrong'}"
        return f"{marks} changed" if self.change(i, j) else marks
