"""A file with calibrated probabilities beside the columns that it had."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat._typing import BoolArray
from karat.calibration import CalibratorScore, CopulaCalibrator
from karat.cli.frame import Coded, InputTable, section
from karat.exceptions import ColumnError, EmptyDataError

if TYPE_CHECKING:
    from karat.report import Section

__all__ = ["MappedTable", "check_new_columns", "labelled", "mapped_table"]

_START = "calibrated_"
_FOLDS = 5
Columns = Callable[[InputTable, list[str], list[str]], tuple[Coded, Coded]]


@dataclass(frozen=True, slots=True)
class MappedTable:
    """The frame to write, and what the map is worth on rows that it was not fitted to."""

    frame: Any
    score: CalibratorScore
    n_new: int

    def summary(self, name: str) -> str:
        """Return what was written, and how each row was mapped."""
        return f"{name}: {self.score.summary()}. {self._how()}"

    def _how(self) -> str:
        how = (
            f"Each row with labels was mapped by what was fitted to the other {_FOLDS - 1} of "
            f"{_FOLDS} folds, so its own labels have no part in its probabilities"
        )
        if not self.n_new:
            return how
        return f"{how}; {self.n_new:,} rows without labels by what was fitted to all others"

    def section(self) -> "Section":
        """Return the section of the page."""
        return section(
            "What do calibrated probabilities gain?",
            self.score.summary(),
            result=self.score,
            picture="Log-loss without and with the map.",
            assumptions=(self._how(),),
        )


def check_new_columns(table: InputTable, probs: list[str]) -> None:
    """Refuse a table that already has a column of a name to be added."""
    for name in probs:
        if _START + name in table.frame.columns:
            raise ColumnError(
                f"--calibrated adds the column {_START + name!r} and the table has one; rename it"
            )


def labelled(table: InputTable, labels: list[str]) -> InputTable:
    """Return the rows to measure and to fit to: all but those without any label."""
    keep = _has_label(table, labels)
    if not keep.any():
        raise EmptyDataError("--label: no row has a label; expected some rows that have one")
    return InputTable(table.path, table.frame.filter(keep))


def _has_label(table: InputTable, labels: list[str]) -> BoolArray:
    chosen = table.columns("--label", labels)
    return np.asarray(np.any([chosen[name].is_not_null().to_numpy() for name in labels], axis=0))


def mapped_table(
    table: InputTable, known: InputTable, labels: list[str], probs: list[str], columns: Columns
) -> MappedTable:
    """Return the table with a calibrated column for each column of probabilities."""
    import polars as pl

    y, h = columns(known, labels, probs)
    calibrator = CopulaCalibrator(rng=0)
    inside = calibrator.cross_fit_transform(y.value, h.value, n_folds=_FOLDS)
    keep = _has_label(table, labels)
    found = np.empty((len(keep), inside.shape[1]))
    found[keep] = inside
    if not keep.all():
        _, new = columns(InputTable(table.path, table.frame.filter(~keep)), labels, probs)
        found[~keep] = calibrator.transform(new.value)
    added = [pl.Series(_START + name, found[:, j]) for j, name in enumerate(probs)]
    return MappedTable(
        table.as_written.with_columns(added), calibrator.cross_score_, int((~keep).sum())
    )
