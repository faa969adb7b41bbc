"""Adult as in Hiranandani (2021), chapter 7: binned columns, the official test file, 5 splits."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from karat.datasets import load_shared

__all__ = [
    "SEEDS",
    "Split",
    "Task",
    "ages",
    "black_box_fairness",
    "fairness_task",
    "husband",
    "income",
    "income_columns",
    "non_private",
    "private",
    "proxy_task",
    "seeds",
    "sex_columns",
    "wife",
]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

# The authors' own.
SEEDS = (15, 25, 35, 45, 55)
_BINS = {
    "capital_gain": [-1, 1, 4000, 10000, 100000],
    "capital_loss": [-1, 1, 1800, 1950, 4500],
    "hours_per_week": [0, 39, 41, 50, 100],
    "education_num": [0, 8, 9, 11, 16],
}
_CATEGORIES = ["education", "occupation", "relationship", "race", "native_country"]


def seeds(*, quick: bool) -> tuple[int, ...]:
    """Return the seeds of the splits."""
    return SEEDS[:3] if quick else SEEDS


@dataclass(frozen=True, eq=False)
class Split:
    """Validation and test rows of the test file."""

    x_val: pd.DataFrame
    y_val: Codes
    groups_val: Codes
    x: pd.DataFrame
    y: Codes
    groups: Codes


@dataclass(frozen=True, eq=False)
class Task:
    """Training rows with their labels, a model of them, and the test file with its own labels."""

    x: pd.DataFrame
    y: Codes
    model: LogisticRegression
    x_test: pd.DataFrame
    y_test: Codes
    groups_test: Codes

    def split(self, share: float, seed: int) -> Split:
        """Draw a share of the test file as validation rows, alike in labels and groups."""
        strata = 2 * self.y_test + self.groups_test
        rows = np.arange(len(strata))
        test, val = train_test_split(rows, test_size=share, random_state=seed, stratify=strata)
        return self.part(val, test)

    def part(self, val: Codes, test: Codes) -> Split:
        """Return given validation and test rows."""
        x, y, groups = self.x_test, self.y_test, self.groups_test
        return Split(x.iloc[val], y[val], groups[val], x.iloc[test], y[test], groups[test])


@cache
def proxy_task() -> Task:
    """Sex, which the training rows hide: their label is whether someone is a husband."""
    frame, is_training, male, _ = _columns()
    x, _ = sex_columns()
    return _task(x, is_training, frame["relationship_Husband"].to_numpy(int), male, male)


@cache
def fairness_task() -> Task:
    """Income, with sex as the group that only the metric sees."""
    frame, is_training, male, earns = _columns()
    return _task(frame, is_training, earns, earns, male)


def income_columns() -> tuple[Array, Codes, Codes]:
    """Return the columns of all rows of both files, who earns much and who is male."""
    frame, _, male, earns = _columns()
    return frame.to_numpy(float), earns, male


def ages() -> Array:
    """Return the ages of all rows of both files."""
    return load_shared("adult")["age"].to_numpy(float)


def sex_columns() -> tuple[pd.DataFrame, Codes]:
    """Return columns that do not give sex away, of all rows of both files, and who is female."""
    frame, _, male, earns = _columns()
    x = frame[[c for c in frame if not c.startswith("relationship")]].assign(income=earns)
    return x, 1 - male


def black_box_fairness(y: Codes, shares: Array, groups: Codes) -> float:
    """Eq. 7.24: the geometric mean of the rates of both classes in both groups."""
    rates = [shares[(groups == g) & (y == c), c].mean() for g in (0, 1) for c in (0, 1)]
    return float(np.prod(rates) ** 0.25)


def _indicator(column: str) -> Callable[[Any], Any]:
    def basis(x: Any) -> Any:
        return x[column]

    basis.__name__ = column
    return basis


# Basis functions besides the constant.
private, non_private = _indicator("private_workforce"), _indicator("non_private_workforce")
income = _indicator("income")
husband, wife = _indicator("relationship_Husband"), _indicator("relationship_Wife")


def _task(x: pd.DataFrame, is_training: Array, label: Codes, truth: Codes, male: Codes) -> Task:
    model = LogisticRegression(max_iter=2000).fit(x[is_training], label[is_training])
    test = ~is_training
    return Task(x[is_training], label[is_training], model, x[test], truth[test], male[test])


@cache
def _columns() -> tuple[pd.DataFrame, Any, Codes, Codes]:
    """Return 0/1 columns, which rows are the training file, who is male, and who earns much."""
    adult = load_shared("adult")
    is_training = (adult["split"] == "train").to_numpy()
    quartiles = np.quantile(adult["age"][is_training], [0, 0.25, 0.5, 0.75, 1])
    frame = adult[_CATEGORIES].astype(str)
    for column, edges in ({"age": quartiles} | _BINS).items():
        # The youngest are at the least edge and get no bin, as with the authors.
        frame[column] = pd.cut(adult[column], edges, labels=False)
    frame = pd.get_dummies(frame.astype(object), dtype=float)
    frame["private_workforce"] = (adult["workclass"] == "Private").astype(float)
    frame["non_private_workforce"] = 1.0 - frame["private_workforce"]
    male = (adult["sex"] == "Male").to_numpy(np.int64)
    earns = adult["income"].astype(str).str.startswith(">50K").to_numpy(np.int64)
    return frame, is_training, male, earns
