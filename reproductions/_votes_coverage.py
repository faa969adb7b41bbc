"""Coverage: how often the limits of the default hold the true error rate of a voter."""

from collections.abc import Sequence
from typing import NamedTuple

from _show import Promise, number, say, show_table
from _votes_data import (
    CHOSEN_ON,
    CONFIRMED,
    CUTS,
    VoteSet,
    beside_truth,
    crowd,
    default_fit,
    fit,
    flagged,
    nell,
    nell_fit,
)

from karat.consensus import ErrorEstimator

__all__ = ["Covered", "run_coverage"]

_GOLD_VOTES = 20  # of a voter, below which its true error rate is not known well enough
_SMALL = ("bluebird", "face_sentiment", "snow_temp")
_SECONDS = 20  # a default call may take
_DOUBTFUL = 0.70  # a dataset covered less than this has to be flagged


class Covered(NamedTuple):
    """What the limits do on one dataset."""

    name: str
    classes: int
    voters: int
    inside: int
    plain_inside: int | None  # with dependence="none"
    width: float
    off: float
    flagged: bool
    seconds: float

    @property
    def share(self) -> float:
        """Share of the voters whose true error rate is inside the limits."""
        return self.inside / self.voters

    def line(self) -> list[str]:
        """Return the row of the table."""
        plain = None if self.plain_inside is None else self.plain_inside / self.voters
        return [
            self.name, str(self.classes), str(self.voters), number(self.share), number(plain),
            number(self.width, 3), number(self.off, 4), "yes" if self.flagged else "no",
            number(self.seconds, 1),
        ]  # fmt: skip


def run_coverage(*, quick: bool) -> tuple[list[Promise], list[Covered]]:
    """Print coverage dataset by dataset; return what is promised, and the rows."""
    say(
        "Coverage of the default's 95 % limits for the error rate, over voters with at least "
        f"{_GOLD_VOTES} gold votes. 'independent' is the coverage of dependence=\"none\""
        f"{' (left out with --quick)' if quick else ''}; 'flagged' says that the estimator's own "
        "checks mark the dataset, without labels; 'seconds' are the CPU seconds of the default "
        "call.\n"
    )
    parts = {
        "NELL": [_nell(cut, quick=quick) for cut in CUTS],
        "crowds on which the defaults were chosen": _crowds(CHOSEN_ON, quick=quick),
        "crowds on which they were confirmed, unchanged": _crowds(CONFIRMED, quick=quick),
    }
    for name, rows in parts.items():
        _show(f"Coverage: {name}", rows)
    everything = [row for rows in parts.values() for row in rows]
    _show("Coverage: everything", everything, pooled_only=True)
    return _promises(everything, quick=quick), everything


def _nell(cut: str, *, quick: bool) -> Covered:
    estimator, seconds = default_fit(nell(cut))
    plain = None if quick else nell_fit(cut, 0, dependence="none")[0]
    return _covered(nell(cut), estimator, plain, seconds)


def _crowds(names: Sequence[str], *, quick: bool) -> list[Covered]:
    rows = []
    for name in names:
        if quick and name not in _SMALL:
            continue
        data = crowd(name)
        estimator, seconds = default_fit(data)
        plain = None if quick else fit(data, rng=0, dependence="none")[0]
        rows.append(_covered(data, estimator, plain, seconds))
    return rows


def _covered(
    data: VoteSet, estimator: ErrorEstimator, plain: ErrorEstimator | None, seconds: float
) -> Covered:
    table = beside_truth(estimator, data.truth, at_least=_GOLD_VOTES)
    plain_inside = None
    if plain is not None:
        other = beside_truth(plain, data.truth, at_least=_GOLD_VOTES)
        plain_inside = int(other["inside"].sum())
    return Covered(
        name=data.name,
        classes=len(estimator.classes_),
        voters=len(table),
        inside=int(table["inside"].sum()),
        plain_inside=plain_inside,
        width=float((table["upper"] - table["lower"]).mean()),
        off=float(table["off"].mean()),
        flagged=flagged(estimator.identified_),
        seconds=seconds,
    )


def _show(title: str, rows: Sequence[Covered], *, pooled_only: bool = False) -> None:
    columns = [
        "dataset", "classes", "voters", "covered", "independent", "width", "deviation", "flagged",
        "seconds",
    ]  # fmt: skip
    lines = [] if pooled_only else [row.line() for row in rows]
    show_table(title, columns, [*lines, _pooled(rows)])


def _pooled(rows: Sequence[Covered]) -> list[str]:
    voters = sum(row.voters for row in rows)

    def mean(values: Sequence[float]) -> float:
        return sum(v * row.voters for v, row in zip(values, rows, strict=True)) / voters

    plain = [row.plain_inside for row in rows if row.plain_inside is not None]
    return [
        "pooled", "", str(voters), number(_share(rows)),
        number(sum(plain) / voters if len(plain) == len(rows) else None),
        number(mean([row.width for row in rows]), 3), number(mean([row.off for row in rows]), 4),
        f"{sum(row.flagged for row in rows)} of {len(rows)}",
        number(sum(row.seconds for row in rows), 1),
    ]  # fmt: skip


def _share(rows: Sequence[Covered]) -> float:
    return sum(row.inside for row in rows) / sum(row.voters for row in rows)


def _promises(rows: Sequence[Covered], *, quick: bool) -> list[Promise]:
    silent = [row for row in rows if row.share < _DOUBTFUL and not row.flagged]
    promises = [
        Promise("coverage, pooled over everything", _share(rows), 0.80),
        Promise(f"datasets covered under {_DOUBTFUL:g} and not flagged", len(silent), 0, True),
    ]
    if not quick:  # the quick run is a test, and no test is timed
        slowest = max(row.seconds for row in rows)
        promises.append(Promise("slowest default call, CPU seconds", slowest, _SECONDS, True))
    return promises
