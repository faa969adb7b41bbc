"""Label models and the noise-aware classifiers of the weak-supervision reproduction."""

import importlib.util
import warnings
from typing import Any

import numpy as np
from _weak_data import Task
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score

from karat.exceptions import KaratWarning
from karat.weak import (
    DawidSkene,
    DetectorLabelModel,
    OracleLabelModel,
    TripletLabelModel,
    from_snorkel,
)

__all__ = [
    "STRENGTHS",
    "fit_label_model",
    "has_snorkel",
    "noise_aware_logistic",
    "repeated_by_class",
    "score",
    "score_error",
    "usual_model",
]

STRENGTHS = (1e-3, 1e-2, 1e-1, 1.0)


def has_snorkel() -> bool:
    """Return whether the package snorkel is installed."""
    return importlib.util.find_spec("snorkel") is not None


def usual_model(*, quick: bool) -> str:
    """Return the label model for the experiments that the paper does with Snorkel alone."""
    return "Snorkel" if has_snorkel() and not quick else "default"


def fit_label_model(name: str, task: Task) -> Any:
    """Fit a label model on all rows, with the class prior known; "default" is karat's.

    The Oracle counts the true labels of each pattern. One pseudo-item per pattern is spread like
    the naive Bayes posterior rather than like the class prior: a rare pattern still holds votes.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)  # the check of each cell says it again
        if name.startswith("Oracle"):
            known = task.y if name == "Oracle" else np.where(task.bound, -1, task.y)
            model = OracleLabelModel(smoothing=1.0, base="naive-bayes")
            return model.fit(task.votes, known, classes=task.classes)
        if name == "default":
            model = DetectorLabelModel()
            return model.fit(task.votes, classes=task.classes, class_prior=task.prior)
        if name == "Dawid–Skene":
            model = DawidSkene(rng=0)
            return model.fit(task.votes, classes=task.classes, class_prior=task.prior)
        if name == "triplet":
            model = TripletLabelModel()
            return model.fit(task.votes, classes=task.classes, class_prior=task.prior)
        return _fit_snorkel(task)


def _fit_snorkel(task: Task) -> Any:
    from snorkel.labeling.model import LabelModel

    model = LabelModel(cardinality=task.n_classes, verbose=False)
    model.fit(task.votes, n_epochs=1000, class_balance=list(task.prior), seed=0, progress_bar=False)
    return from_snorkel(model, classes=task.classes)


def repeated_by_class(
    x: NDArray[Any], p: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Repeat every row once per class, weighted by P(Y | Z).

    The weighted loss of the repeated rows is the noise-aware loss E[loss(h(X), Y) | Z].
    """
    rows, labels = np.nonzero(p > 1e-4)
    return x[rows], labels, p[rows, labels]


def noise_aware_logistic(task: Task, model: Any, *, strengths: tuple[float, ...]) -> NDArray[Any]:
    """Train on the train rows; return class probabilities of the rows to bound.

    The strength of the penalty is the one with the least noise-aware loss on a fifth of the rows.
    """
    x, p = task.x[task.train], model.predict_proba(task.votes[task.train])
    held = np.random.default_rng(0).random(len(x)) < 0.2
    best = strengths[0]
    if len(strengths) > 1:
        losses = [_loss(_fit(x[~held], p[~held], c), x[held], p[held]) for c in strengths]
        best = strengths[int(np.argmin(losses))]
    return _proba(_fit(x, p, best), task.x[task.bound], task.n_classes)


def _fit(x: NDArray[Any], p: NDArray[Any], strength: float) -> LogisticRegression:
    rows, labels, weight = repeated_by_class(x, p)
    return LogisticRegression(C=strength, max_iter=300, tol=1e-3).fit(rows, labels, weight)


def _proba(model: LogisticRegression, x: NDArray[Any], n_classes: int) -> NDArray[Any]:
    out = np.zeros((len(x), n_classes))
    out[:, model.classes_] = model.predict_proba(x)
    return out


def _loss(model: LogisticRegression, x: NDArray[Any], p: NDArray[Any]) -> float:
    shown = _proba(model, x, p.shape[1])
    return float(-np.sum(p * np.log(np.maximum(shown, 1e-6))) / len(x))


def score(metric: str, y: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return the test score, computed by scikit-learn from the true labels."""
    if metric == "f1":
        return float(f1_score(y, predicted, zero_division=0.0))
    return float(accuracy_score(y, predicted))


def score_error(
    metric: str, y: NDArray[Any], predicted: NDArray[Any], clusters: NDArray[Any] | None
) -> float:
    """Return the two-sided 95 % error of the test score, by the delta method."""
    value = score(metric, y, predicted)
    if metric == "f1":
        total = max(np.mean(y + predicted), 1 / len(y))
        influence = (2 * y * predicted - value * (y + predicted)) / total
    else:
        influence = (y == predicted) - value
    groups = np.arange(len(y)) if clusters is None else clusters
    return float(1.96 * np.sqrt(np.sum(np.bincount(groups, weights=influence) ** 2)) / len(y))
