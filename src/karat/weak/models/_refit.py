"""A label model fitted again to some of the true labels."""

import warnings
from typing import Any

import numpy as np

from karat._typing import AnyArray, Column, FloatArray, IntArray
from karat.exceptions import KaratWarning
from karat.statistics import Patterns
from karat.weak.models._posterior import proba_of_patterns

__all__ = ["has_seen_gold", "labels_of", "refitted_proba"]


def has_seen_gold(label_model: Any) -> bool:
    """Return whether a label model was fitted with true labels, and can be fitted again."""
    seen = float(getattr(label_model, "gold_n_", 0.0) or 0.0)
    return seen > 0 and hasattr(label_model, "fit") and hasattr(label_model, "get_params")


def labels_of(codes: IntArray, classes: AnyArray) -> list[Any]:
    """Return labels for codes, None for -1."""
    return [*map([*classes.tolist(), None].__getitem__, codes.tolist())]


def refitted_proba(
    label_model: Any, votes: Patterns, gold: IntArray, class_prior: Column | None
) -> FloatArray:
    """Return P(Y | pattern) of the label model fitted again to these votes and true labels.

    ``gold`` are codes of the classes of ``votes``, -1 where unknown. Where none is known a model
    that needs true labels says nothing: all classes are equally probable.
    """
    if not (gold >= 0).any():
        return np.full((len(votes.patterns), len(votes.classes)), 1.0 / len(votes.classes))
    model = type(label_model)(**label_model.get_params(deep=False))
    given = getattr(label_model, "known_", None) == "class_prior"
    prior = class_prior
    if given and class_prior is None:
        own = label_model.classes_.tolist()
        prior = label_model.class_prior_[[own.index(c) for c in votes.classes.tolist()]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)  # said when it was fitted
        model.fit(votes, y_true=labels_of(gold, votes.classes), class_prior=prior)
    return proba_of_patterns(model, votes)
