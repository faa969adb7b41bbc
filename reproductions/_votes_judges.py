"""LLM judges: when votes alone rank the judges, and when the estimator says that they cannot."""

from typing import Any, NamedTuple

from _show import Promise, number, say, show_table
from _votes_data import VoteSet, beside_truth, default_fit, judgebench, llmbar
from scipy.stats import spearmanr

from karat.consensus import ErrorEstimator

__all__ = ["ADVERSARIAL", "Judged", "ranking", "run_judges", "short"]

ADVERSARIAL = tuple(f"LLMBar/Adversarial/{s}" for s in ("GPTInst", "GPTOut", "Manual", "Neighbor"))
# Where agreement is known to rank the judges rightly.
_AGREEABLE = ("LLMBar/Natural", "Processed/LLMEval^2", "CaseStudy/Normal")
_MOSTLY = 0.80
_FAIR = 0.5  # Spearman from which a ranking would have been of use


class Judged(NamedTuple):
    """What the votes say of the judges of one subset."""

    subset: str
    items: int
    judges: int
    majority: float
    identified: bool
    inside: int
    spearman: float
    first: tuple[float, float]  # estimated and true error of the judge ranked first
    least: float  # true error of the best judge

    @property
    def verdict(self) -> str:
        """Whether the mark, or its absence, is right."""
        if self.identified:
            right = self.inside >= _MOSTLY * self.judges
            return "trusted: right" if right else "trusted: WRONG"
        return "marked: right" if self.spearman < _FAIR else "marked: needless"

    def line(self) -> list[str]:
        """Return the row of the table."""
        return [
            short(self.subset), str(self.items), str(self.judges), number(self.majority),
            "yes" if self.identified else "NO", number(self.inside / self.judges),
            number(self.spearman), *map(number, (*self.first, self.least)), self.verdict,
        ]  # fmt: skip


def run_judges(*, quick: bool) -> tuple[list[Promise], ErrorEstimator, list[Judged]]:
    """Print both tables (quick: one); return what the first is promised, its fit, and all rows."""
    data = llmbar()
    estimator, seconds = default_fit(data)
    rows = _judged(estimator, data)
    say(
        "LLM judges without labels. 'inside' is the share of judges whose true error is inside the "
        "limits; 'Spearman' compares the estimated ranking with the true one; 'first' is the "
        "estimated error of the judge that the estimates rank first, 'its truth' the true one, and "
        "'best' the least true error. A subset that is not identified is marked: needlessly if "
        f"the ranking is fair all the same (Spearman at least {_FAIR:g}). One that is not marked "
        f"is trusted: wrongly if fewer than {100 * _MOSTLY:.0f} % of the judges are inside.\n"
    )
    _show(f"LLMBar: one fit of {len(rows)} subsets, {seconds:.1f} s", rows)
    if quick:
        return _promises(rows), estimator, rows
    other = judgebench()
    fitted, seconds = default_fit(other)
    more = _judged(fitted, other)
    _show(f"JudgeBench, the rule unchanged: {seconds:.1f} s", more)
    return _promises(rows), estimator, rows + more


def short(subset: str) -> str:
    """Return the name of a subset without that of its collection."""
    return subset.split("/", 1)[-1]


def ranking(table: Any, column: str = "value") -> float:
    """Return the Spearman correlation of estimated and true error rates."""
    return float(spearmanr(table[column], table["error"]).statistic)


def _judged(estimator: ErrorEstimator, data: VoteSet) -> list[Judged]:
    table = beside_truth(estimator, data.truth)
    right = _majority_right(data)
    rows = []
    for subset, judges in table.groupby("domain"):
        first = judges.loc[judges["value"].idxmin()]
        rows.append(
            Judged(
                subset=str(subset),
                items=len(right[subset]),
                judges=len(judges),
                majority=float(right[subset].mean()),
                identified=estimator.identified_[subset],
                inside=int(judges["inside"].sum()),
                spearman=ranking(judges),
                first=(float(first["value"]), float(first["error"])),
                least=float(judges["error"].min()),
            )
        )
    return rows


def _majority_right(data: VoteSet) -> Any:
    """Return, by subset and item, whether the majority of the judges is right; a tie counts half.

    All items have two answers.
    """
    right = (data.votes["vote"] == data.gold).groupby([data.votes["domain"], data.votes["item"]])
    share = right.mean()
    return (share > 0.5) + 0.5 * (share == 0.5)


def _show(title: str, rows: list[Judged]) -> None:
    columns = [
        "subset", "items", "judges", "majority right", "identified", "inside", "Spearman",
        "first", "its truth", "best", "verdict",
    ]  # fmt: skip
    show_table(title, columns, [row.line() for row in rows])


def _promises(rows: list[Judged]) -> list[Promise]:
    pairs = sum(row.judges for row in rows)
    safe = sum(row.inside if row.identified else row.judges for row in rows)
    marked = {row.subset for row in rows if not row.identified}
    return [
        Promise("LLMBar: (judge, subset) pairs inside, or in a marked subset", safe / pairs, 0.80),
        Promise("LLMBar: Adversarial subsets marked", len(marked & set(ADVERSARIAL)), 4),
        Promise(
            "LLMBar: marked of Natural, LLMEval² and Normal", len(marked & set(_AGREEABLE)), 1, True
        ),
    ]
