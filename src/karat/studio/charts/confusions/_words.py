"""What pictures say: outcomes, shares and differences in words.

People who know machine learning take "labelled" for the truth, so predictions are "predicted"
(guideline G6 of Hiranandani 2021).
"""

from collections.abc import Sequence

__all__ = ["Table", "difference", "outcome", "sentence", "share", "totals"]

Table = Sequence[Sequence[int]]


def outcome(truth: str, predicted: str) -> str:
    """Return what happened to a case, in words."""
    return f"{truth}, predicted {predicted}"


def share(count: int, total: int) -> str:
    """Return a count as a percentage of the cases of its true class."""
    if total == 0:
        return "–"
    percent = 100.0 * count / total
    digits = 1 if percent < 99.95 and percent >= 0.05 else 0
    return f"{percent:.{digits}f}\N{NO-BREAK SPACE}%"


def difference(here: int, there: int) -> str:
    """Return how a count compares with that of the other classifier; nothing if they are equal."""
    if here == there:
        return ""
    return f"▲ {here - there:,} more" if here > there else f"▼ {there - here:,} fewer"


def totals(counts: Table) -> tuple[list[int], list[int]]:
    """Return the numbers of cases of each true class and of each predicted class."""
    return [sum(row) for row in counts], [sum(column) for column in zip(*counts, strict=True)]


def sentence(name: str, counts: Table, truth: Sequence[str], class_names: Sequence[str]) -> str:
    """Return all of a confusion as one sentence, for those who do not see the picture."""
    parts = []
    for what, row in zip(truth, counts, strict=True):
        said = ", ".join(
            f"{count:,} predicted {predicted}"
            for count, predicted in zip(row, class_names, strict=True)
        )
        parts.append(f"of {sum(row):,} that {what}: {said}")
    return f"{name}: {'; '.join(parts)}."
