"""The model whose probabilities are used: checked, fitted if need be, and asked."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from karat._typing import Column, FloatArray
from karat._validate import check_probabilities, named, refuse_lazy, refuse_option
from karat.exceptions import DataError

__all__ = ["check_model", "fitted_clone", "fitted_model", "model_probabilities"]


def check_model(estimator: Any) -> None:
    """Check the option ``estimator=``."""
    if estimator is None or not hasattr(estimator, "fit"):
        refuse_option(
            estimator,
            "estimator",
            "a scikit-learn classifier with predict_proba. With saved probabilities, use "
            "fit_from_proba",
        )
    if not hasattr(estimator, "predict_proba"):
        refuse_option(
            estimator,
            "estimator",
            "a classifier with predict_proba; sklearn.calibration.CalibratedClassifierCV makes one",
        )


def fitted_model(estimator: Any, X: Any, y: Column, sample_weight: Column | None) -> Any:
    """Return the estimator if it is fitted, else a clone that is fitted to the rows."""
    check_model(estimator)
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return fitted_clone(estimator, X, y, sample_weight)
    return estimator


def fitted_clone(estimator: Any, X: Any, y: Column, sample_weight: Column | None) -> Any:
    """Return a clone of the estimator, fitted to the rows."""
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    return clone(estimator).fit(X, y, **weights)


def model_probabilities(model: Any, X: Any) -> FloatArray:
    """Return the class probabilities of rows, checked."""
    refuse_lazy(X=X)  # a model may be able to read a lazy frame, in an order of its own
    found = np.asarray(model.predict_proba(X), dtype=np.float64)
    known = np.asarray(model.classes_)
    if found.ndim != 2 or found.shape[1] != len(known):
        raise DataError(
            f"{type(model).__name__}.predict_proba returned shape {found.shape} and its classes_ "
            f"are {named(known.tolist())}; expected one column for each class"
        )
    return check_probabilities(found, f"{type(model).__name__}.predict_proba(X)")
