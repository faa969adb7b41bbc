"""The numbers of a finding, one row per estimate."""

from typing import Any

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
    """Return the estimates of every result of a finding, as rows with the same names."""
    rows = []
    for name, result in finding.results.items():
        columns = result._columns()
        of = next((columns[key] for key in _NAMES if key in columns), None)
        found = {
            column: next((columns[key] for key in keys if key in columns), None)
            for column, keys in _COLUMNS.items()
        }
        for i in range(len(next(iter(columns.values())))):
            row = {
                "question": finding.key,
                "result": name,
                "of": "" if of is None else str(of[i]),
            }
            numbers = {
                key: float("nan") if v is None or v[i] is None else float(v[i])
                for key, v in found.items()
            }
            rows.append(row | numbers)
    return rows
