"""The numbers of a finding, one row per estimate."""

import math
from typing import Any

from karat._columns import one_row
from karat._result import Result
from karat.calibration import CalibrationCertificate, CanonicalCalibration
from karat.evaluation.questions._finding import Finding

__all__ = ["estimates_of"]

# What a row is of, the number and its limits, under the names that results have for them.
_NAMES = ("group", "class", "model", "name", "classifier", "judge", "label", "system", "person")
_COLUMNS = {
    "value": ("value", "estimate", "mean", "strength"),
    "lower": ("lower_limit", "lower"),
    "upper": ("upper_limit", "upper"),
    "n": ("n", "n_labels", "votes"),
}


def estimates_of(finding: Finding) -> list[dict[str, Any]]:
    """Return the estimates of every result of a finding, as rows with the same names.

    What is of all rows stands before its groups. Results without limits, such as the course of a
    search or a decision rule, are no estimates.
    """
    return [
        {"question": finding.key, "result": name} | row
        for name, result in finding.results.items()
        for columns in _tables(result)
        for row in _rows(columns)
    ]


def _tables(result: Result) -> list[dict[str, Any]]:
    """Return the columns of what a result says of all rows, and of its parts."""
    if isinstance(result, CanonicalCalibration):  # as it is said: its limits are of the square
        ends = (result.debiased, result.lower, result.upper)
        roots = [math.nan if x is None else math.sqrt(max(x, 0.0)) for x in ends]
        named = zip(("value", "lower", "upper", "n"), (*roots, result.n), strict=True)
        return [{name: [number] for name, number in named}]
    if isinstance(result, CalibrationCertificate):  # of all labels together
        return [{"value": [result.value], "lower": [result.lower], "n": [result.n]}]
    columns = result._columns()
    if not any(name in columns for name in (*_COLUMNS["lower"], *_COLUMNS["upper"])):
        return []
    return [one_row(result), columns] if "group" in columns else [columns]


def _rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    of = next((columns[key] for key in _NAMES if key in columns), None)
    found = {
        column: next((columns[key] for key in keys if key in columns), None)
        for column, keys in _COLUMNS.items()
    }
    return [
        {"of": "" if of is None else str(of[i])}
        | {key: math.nan if v is None or v[i] is None else float(v[i]) for key, v in found.items()}
        for i in range(len(next(iter(columns.values()))))
    ]
