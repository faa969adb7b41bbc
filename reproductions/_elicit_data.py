"""The datasets of the metric-elicitation reproduction: standardised, halved, and modelled."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from _elicit_common import Array
from numpy.typing import NDArray

from karat.datasets import load_shared
from karat.elicit import BinarySpace

__all__ = ["Half", "Sample", "binary_set", "class_set", "marital_columns", "model_half"]


@dataclass(frozen=True, eq=False)
class Sample:
    """Standardised features and labels."""

    x: Array
    y: NDArray[np.int64]

    def part(self, share: float, seed: int) -> "Sample":
        """Return a random share of the rows."""
        rows = np.random.default_rng([seed, 1]).permutation(len(self.y))
        kept = rows[: round(share * len(rows))]
        return Sample(self.x[kept], self.y[kept])


@dataclass(frozen=True, eq=False)
class Half:
    """Labels of the half that confusions are counted on, and a model's probabilities for it."""

    y: NDArray[np.int64]
    proba: Array

    @property
    def space(self) -> BinarySpace:
        """The thresholds of the model, with the labels counted."""
        return BinarySpace.from_scores(self.y, self.proba[:, 1])

    @property
    def best_thresholds(self) -> BinarySpace:
        """The thresholds that are best on this half, whatever the model's probabilities say.

        Isotonic regression of the labels gives scores whose threshold is the best one.
        """
        from sklearn.isotonic import IsotonicRegression

        _, rank = np.unique(self.proba[:, 1], return_inverse=True)  # steps too small to divide by
        score = IsotonicRegression(out_of_bounds="clip").fit_transform(rank, self.y)
        return BinarySpace.from_scores(self.y, np.clip(score, 0.0, 1.0))

    @property
    def unlabelled(self) -> BinarySpace:
        """The thresholds of the model, with its probabilities taken at their word."""
        return BinarySpace.from_calibrated(self.proba)


@cache
def binary_set(name: str) -> Sample:
    """Read a dataset of two classes: magic, diagnostic or original (both breast cancer)."""
    if name == "magic":
        frame = load_shared("magic")
        return _sample(frame.drop(columns="class").to_numpy(float), frame["class"] == "g")
    if name == "original":
        frame = load_shared("breast_cancer_wisconsin").dropna()
        x = frame.drop(columns=["sample_code", "class"]).to_numpy(float)
        return _sample(x, frame["class"] == 4)
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    return _sample(bunch.data, bunch.target == 0)


@cache
def class_set(name: str) -> Sample:
    """Read a dataset of several classes: vehicle, wine, digits or marital.

    Wine has six classes, the qualities 3 to 8 and more (five of 6,497 wines have 9); digits are
    scikit-learn's; marital is what the census of adult says of marriage, where the 37 of 48,842
    with a spouse in the Armed Forces are taken for married: six classes.
    """
    if name == "vehicle":
        frame = load_shared("vehicle")
        codes = frame["class"].astype("category").cat.codes
        return _sample(frame.drop(columns="class").to_numpy(float), codes)
    if name == "wine":
        frame = load_shared("wine_quality")
        x = frame.drop(columns="quality").assign(colour=frame["colour"] == "white")
        return _sample(x.to_numpy(float), np.minimum(frame["quality"], 8) - 3)
    if name == "marital":
        x, codes = marital_columns()
        return _sample(x, np.maximum(codes - 1, 0) + (codes == 1))
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return _sample(bunch.data[:, bunch.data.std(axis=0) > 0], bunch.target)


def marital_columns() -> tuple[Array, NDArray[np.int64]]:
    """Return the features of adult but for the family's, and the marital status of each row."""
    import pandas as pd

    frame = load_shared("adult")
    target = "marital_status"
    x = frame.drop(columns=["split", "fnlwgt", "education", "relationship", target])
    words = [str(c) for c in x if not pd.api.types.is_numeric_dtype(x[c])]
    table = pd.get_dummies(x, columns=words, dtype=float).to_numpy(float)
    codes = frame[target].astype("category").cat.codes.to_numpy(np.int64)
    return table[:, table.std(axis=0) > 0], codes


def model_half(sample: Sample, c: float, seed: int) -> Half:
    """Fit a logistic (or softmax) regression to a random half; return the other half."""
    from sklearn.linear_model import LogisticRegression

    rows = np.random.default_rng(seed).permutation(len(sample.y))
    fitted, counted = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    model = LogisticRegression(C=c, max_iter=2000)
    model.fit(sample.x[fitted], sample.y[fitted])
    return Half(sample.y[counted], model.predict_proba(sample.x[counted]))


def _sample(x: Array, y: object) -> Sample:
    return Sample((x - x.mean(axis=0)) / x.std(axis=0), np.asarray(y).astype(np.int64))
