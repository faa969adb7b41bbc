"""A classifier that attains a point of a space."""

from dataclasses import dataclass

import numpy as np

from karat._frozen import Frozen
from karat._typing import AnyArray, Column, FloatArray, Frame
from karat._validate import check_rng
from karat.metrics import BayesClassifier

__all__ = ["RandomizedClassifier"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RandomizedClassifier(Frozen):
    """A mixture of cost-sensitive classifiers: for each item one of them is drawn and decides.

    Deploy the two classifiers of a query in an A/B test to have a population answer it.

    Attributes
    ----------
    weights : array (parts, k, k)
        The gain of (truth, prediction) that each part maximises.
    shares : array (parts,)
        How often each part decides.
    classes : array (k,)
        The labels to predict.
    missing : float
        How far the mixture is from the point it was made for (sum of absolute differences); 0 if
        it attains it.
    """

    weights: FloatArray
    shares: FloatArray
    classes: AnyArray
    missing: float

    def predict_proba(self, proba: Column | Frame) -> FloatArray:
        """Return the probability that each class is predicted.

        Parameters
        ----------
        proba : matrix (n, k), or column (n,) of the second of two classes
            Class probabilities of the items.
        """
        order = np.arange(len(self.classes))
        total: FloatArray | None = None
        for weights, share in zip(self.weights, self.shares, strict=True):
            decided = BayesClassifier.of(weights, None).predict(proba)
            part = share * (decided[:, None] == order)
            total = part if total is None else total + part
        return np.asarray(total)

    def predict(
        self, proba: Column | Frame, *, rng: int | np.random.Generator | None = None
    ) -> AnyArray:
        """Draw a prediction for each item.

        Parameters
        ----------
        proba : matrix (n, k), or column (n,) of the second of two classes
            Class probabilities of the items.
        rng : int or generator, optional
            Randomness of the draws.
        """
        cumulative = self.predict_proba(proba).cumsum(axis=1)
        drawn = check_rng(rng).random((len(cumulative), 1)) >= cumulative
        return np.asarray(self.classes[drawn.sum(axis=1).clip(max=len(self.classes) - 1)])
