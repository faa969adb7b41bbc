"""Where a space comes from: a sample, probabilities taken as true, a law, or a fitted law."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from karat._frames import keeps_kind
from karat._typing import AnyArray, Column, FloatArray, Frame
from karat._validate import (
    check_classes,
    check_count,
    check_number,
    check_probabilities,
    check_same_length,
    check_weights,
    collected_alone,
    encode_labels,
    refuse_option,
    require_two_classes,
)
from karat.decisions.populations import Population, order_of_many, taken
from karat.decisions.rules import log_odds, recalibrated
from karat.exceptions import DataError, LabelError

__all__ = ["SpaceSources", "sample_population"]


class SpaceSources(ABC):
    """Constructors of spaces; a space itself is made of a population and its classes."""

    population: Population
    classes: AnyArray
    _n_items: int  # before any were joined
    # How the model's probabilities become those of a smoothed space; see `recalibrated`.
    _recalibration: FloatArray | None = None
    _floor: float = 1e-12

    @abstractmethod
    def __init__(self, population: Population, classes: AnyArray) -> None:
        """Build the space of a population."""

    @classmethod
    @keeps_kind
    def from_proba(
        cls,
        y_true: Column,
        proba: Frame,
        *,
        classes: Column | None = None,
        sample_weight: Column | None = None,
    ) -> Self:
        """Build the space from a sample: decisions by the probabilities, counts of the labels.

        Parameters
        ----------
        y_true : column (n,)
            True labels.
        proba : matrix (n, k)
            Estimated class probabilities, best from data that the model was not fitted to.
        classes : column (k,), optional
            The classes in the order of the columns; by default those found, sorted.
        sample_weight : column (n,), optional
            Weights of at least 0.
        """
        (codes,), order = encode_labels({"y_true": y_true}, classes)
        require_two_classes(order, "y_true")
        checked = check_probabilities(proba, "proba", classes=order)
        return cls(sample_population(codes, checked, sample_weight), order)

    @classmethod
    @keeps_kind
    def from_calibrated(
        cls,
        proba: Frame,
        *,
        classes: Column | None = None,
        sample_weight: Column | None = None,
    ) -> Self:
        """Build the space from probabilities that are taken as true: no labels needed.

        Parameters
        ----------
        proba : matrix (n, k)
            ``P(Y=i | item)`` of each item, from a calibrated model or a law.
        classes : column (k,), optional
            The classes in the order of the columns; by default 0..k-1.
        sample_weight : column (n,), optional
            Weights of at least 0.
        """
        proba = collected_alone(proba, "proba", sample_weight)
        order = None if classes is None else check_classes(classes)
        checked = check_probabilities(proba, "proba", classes=order)
        weight = check_weights(sample_weight)
        weight = np.ones(len(checked)) if weight is None else weight
        check_same_length(proba=checked, sample_weight=weight)
        order = np.arange(checked.shape[1]) if order is None else order
        _refuse_constant(checked)
        return cls(Population(checked, checked * (weight / weight.sum())[:, None]), order)

    @classmethod
    def from_density(
        cls,
        proba: Callable[[FloatArray], Any],
        *,
        low: float = -1.0,
        high: float = 1.0,
        density: Callable[[FloatArray], Any] | None = None,
        n_points: int = 20_001,
        classes: Column | None = None,
    ) -> Self:
        """Build the space from a law of one feature that is known exactly.

        Parameters
        ----------
        proba : callable
            Maps an array of x to ``P(Y=i | x)``, shape (n, k), or to ``P(Y=1 | x)``, shape (n,).
        low, high : float
            Ends of the interval on which x lives.
        density : callable, optional
            Density of x up to a constant; uniform by default.
        n_points : int, default 20001
            Number of cells of equal width into which the interval is cut.
        classes : column (k,), optional
            Names of the classes; by default 0..k-1.
        """
        start, end = check_number(low, "low"), check_number(high, "high")
        if start >= end:
            refuse_option(low, "low", f"a number below high, which is {end:g}")
        cells = check_count(n_points, "n_points", at_least=2)
        x = start + (end - start) * (np.arange(cells) + 0.5) / cells
        values = np.asarray(proba(x), dtype=float)
        if values.ndim == 1:
            values = np.column_stack([1.0 - values, values])
        checked = check_probabilities(values, "proba(x)")
        _refuse_constant(checked)
        weight = np.ones(cells) if density is None else np.asarray(density(x), dtype=float)
        if weight.shape != x.shape or not (weight >= 0).all() or weight.sum() <= 0:
            raise DataError("density(x) must be one number of at least 0 per x, not all 0")
        k = checked.shape[1]
        order = np.arange(k) if classes is None else check_classes(classes)
        if len(order) != k:
            raise LabelError(f"classes names {len(order)} classes and proba(x) has {k} columns")
        return cls(Population(checked, checked * (weight / weight.sum())[:, None]), order)

    def smoothed(self) -> Self:
        """Return the space of the fitted law in place of the sample (Hiranandani 2021, G1).

        A logistic regression of the labels on the log-probabilities replaces the labels, so that
        the boundary has no steps: small differences between queries are then not chance.
        """
        from sklearn.linear_model import LogisticRegression

        if self._recalibration is not None:
            return self  # smoothed already
        population = self.population
        k = len(self.classes)
        # A forest predicts 0 and 1, whose log-odds are infinite. Half the least probability above
        # 0 takes the place of 0, so that these items do not dominate the fit.
        floor = float(population.proba[population.proba > 0].min()) / 2
        features = log_odds(population.proba, floor)
        rows = np.repeat(np.arange(len(features)), k)
        labels = np.tile(np.arange(k), len(features))
        weights = population.mass.ravel() * self._n_items
        seen = weights > 0
        model = LogisticRegression(C=1e4, max_iter=1000)
        model.fit(features[rows[seen]], labels[seen], sample_weight=weights[seen])
        slopes, levels = model.coef_, model.intercept_
        if k == 2:  # scikit-learn keeps the second class's only
            slopes, levels = np.vstack([0 * slopes, slopes]), np.append(0.0, levels)
        matrix = np.column_stack([levels, slopes])
        fitted = recalibrated(population.proba, matrix, floor)
        mass = fitted * population.mass.sum(axis=1, keepdims=True)
        smooth = type(self)(Population(fitted, mass), self.classes)
        smooth._recalibration, smooth._floor = matrix, floor
        return smooth


def sample_population(
    codes: AnyArray, proba: FloatArray, sample_weight: Column | None
) -> Population:
    """Return the population of a labelled sample."""
    weight = check_weights(sample_weight)
    check_same_length(y_true=codes, proba=proba)
    check_same_length(y_true=codes, sample_weight=weight)
    _refuse_constant(proba)
    rows = order_of_many(proba)
    if rows is not None:
        codes, proba, weight = taken(rows, codes, proba, weight)
    share = 1.0 / len(codes) if weight is None else (weight / weight.sum())[:, None]
    return Population(proba, (codes[:, None] == np.arange(proba.shape[1])) * share)


def _refuse_constant(proba: FloatArray) -> None:
    some = np.ptp(proba[:100], axis=0).max()  # of most models these differ already
    if some < 1e-12 and np.ptp(proba, axis=0).max() < 1e-12:
        raise DataError(
            "proba is the same for every item, so classifiers differ by chance alone and there is "
            "no trade-off to ask about; pass the probabilities of a model that separates the "
            "classes"
        )
