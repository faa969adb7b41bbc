"""The data of Hiranandani 2021, Tables 5.1 and 6.1, kept here: features, classes and groups."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from _elicit_data import marital_columns
from numpy.typing import NDArray

from karat.datasets import load_shared

__all__ = ["SOURCES", "Data"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Data:
    """Features, classes 0, 1, ... and groups 0, 1, ... of the items of a dataset."""

    x: Array
    y: Codes
    groups: Codes


def _columns(frame: Any, categories: list[str]) -> Array:
    """Return the columns as numbers of mean 0 and variance 1; a category becomes 0/1 columns."""
    table = pd.get_dummies(frame, columns=categories, dtype=float).to_numpy(float)
    spread = table.std(axis=0)
    kept = spread > 0
    return np.asarray((table[:, kept] - table[:, kept].mean(axis=0)) / spread[kept])


def _thirds(values: Any) -> Codes:
    """Return three classes by the quantiles 1/3 and 2/3."""
    array = np.asarray(values, dtype=float)
    return np.searchsorted(np.quantile(array, [1 / 3, 2 / 3]), array).astype(np.int64)


def _credit_by_gender() -> Data:
    frame = load_shared("credit_default")
    x = _columns(frame.drop(columns="default"), ["EDUCATION", "MARRIAGE"])
    gender = (frame["SEX"] == 2).to_numpy(np.int64)
    return Data(x, frame["default"].to_numpy(np.int64), gender)


def _adult() -> tuple[Any, Array, Codes]:
    frame = load_shared("adult")
    x = frame.drop(columns=["split", "fnlwgt", "education", "income"])
    categories = [str(c) for c in x if not pd.api.types.is_numeric_dtype(x[c])]
    earns = frame["income"].astype(str).str.startswith(">50K").to_numpy(np.int64)
    return frame, _columns(x, categories), earns


def _adult_by_race() -> Data:
    frame, x, earns = _adult()
    race = frame["race"].astype(str)
    return Data(x, earns, np.select([race == "White", race == "Black"], [0, 1], 2))


def _adult_by_gender() -> Data:
    frame, x, earns = _adult()
    return Data(x, earns, (frame["sex"] == "Female").to_numpy(np.int64))


def _marital_status() -> Data:
    """Return seven classes without groups: all rows are of one."""
    x, status = marital_columns()
    return Data((x - x.mean(axis=0)) / x.std(axis=0), status, np.zeros_like(status))


def _wine_by_colour() -> Data:
    frame = load_shared("wine_quality")
    x = _columns(frame.drop(columns="quality"), ["colour"])
    return Data(x, _thirds(frame["quality"]), (frame["colour"] == "white").to_numpy(np.int64))


def _crime_by_race() -> Data:
    frame = load_shared("communities_crime")
    numbers = frame.select_dtypes("number").drop(columns=["state", "county", "community", "fold"])
    numbers = numbers.loc[:, numbers.isna().mean() < 0.05]
    numbers = numbers.fillna(numbers.median())
    x = _columns(numbers.drop(columns="ViolentCrimesPerPop"), [])
    return Data(x, _thirds(frame["ViolentCrimesPerPop"]), _thirds(frame["racepctblack"]))


SOURCES: dict[str, Callable[[], Data]] = {
    "credit_default by gender": _credit_by_gender,
    "adult by race": _adult_by_race,
    "adult by gender": _adult_by_gender,
    "marital_status of adult": _marital_status,
    "wine_quality by colour": _wine_by_colour,
    "communities_crime by race": _crime_by_race,
}
