"""The two classifiers of the demo."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._extras import require
from karat._typing import AnyArray, FloatArray

__all__ = ["Models", "train_models"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The truth and what two classifiers say of each item, none trained on that item."""

    y_true: AnyArray
    scores: dict[str, FloatArray]
    positive: str
    classes: AnyArray
    measurements: dict[str, FloatArray]

    def predict(self, name: str) -> AnyArray:
        """Return one classifier's most probable class of each item."""
        return np.asarray(self.classes[(self.scores[name] >= 0.5).astype(int)])

    def predictions(self, **others: Any) -> Any:
        """Return a table of what each classifier predicts, and other columns."""
        polars: Any = require("polars", purpose="the tables of the demo")
        own = {name: self.predict(name).tolist() for name in self.scores}
        return polars.DataFrame({**own, **others})

    def table(self, n_labels: int, seed: int = 0) -> Any:
        """Return predictions, scores, and the labels of some items drawn at random."""
        rows = np.random.default_rng(seed).permutation(len(self.y_true))[:n_labels]
        known = np.full(len(self.y_true), None, dtype=object)
        known[rows] = np.asarray(self.y_true, dtype=object)[rows]
        scores = {f"p_{name}": score for name, score in self.scores.items()}
        return self.predictions(label=known.tolist(), **scores)


def train_models(seed: int = 0) -> Models:
    """Predict each biopsy with models trained on the other nine tenths of the data."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = load_breast_cancer()
    y = data.target_names[data.target]
    X = data.data[:, :10]  # the means of the ten measurements, without their spread and extremes
    folds = StratifiedKFold(10, shuffle=True, random_state=seed)
    candidates = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
        "naive Bayes": GaussianNB(),
    }
    scores = {
        name: cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1]
        for name, model in candidates.items()
    }
    return Models(
        y_true=np.asarray(y),
        scores=scores,
        positive="malignant",
        classes=np.array(["benign", "malignant"]),
        measurements=dict(zip(map(str, data.feature_names), data.data.T, strict=True)),
    )
