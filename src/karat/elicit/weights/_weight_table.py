"""Weights of a metric as a table, where there are too many to name one by one."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._columns import crossed
from karat._result import Result
from karat._typing import FloatArray
from karat.elicit.weights._weight_interval import short

__all__ = ["WeightTable"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WeightTable(Result):
    """The weights of a metric of rates as a table: each kind of error, and what bends or differs.

    Attributes
    ----------
    rows, columns : tuple of str
        What is weighed, in words.
    values : array (rows, columns)
        The weights of the elicited metric.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: FloatArray

    def summary(self) -> str:
        """Return the greatest weight in one sentence."""
        i, j = np.unravel_index(int(np.argmax(np.abs(self.values))), self.values.shape)
        return (
            f"The greatest of {self.values.size} weights is {short(self.values[i, j])}: "
            f"{self.rows[int(i)]}, {self.columns[int(j)]}."
        )

    def _columns(self) -> dict[str, Any]:
        return crossed({"row": self.rows, "column": self.columns}, value=self.values)
