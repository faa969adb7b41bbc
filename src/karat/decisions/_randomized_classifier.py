"""A classifier that attains a point of a space."""

from dataclasses import dataclass

import numpy as np

from karat._frozen import Frozen
from karat._typing import AnyArray, Column, FloatArray, Frame
from karat._validate import check_rng
from karat.decisions._mixture import Mixture
from karat.decisions.rules import drawn, read_probabilities, recalibrated

__all__ = ["RandomizedClassifier"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RandomizedClassifier(Frozen):
    """A mixture of rules as a classifier: for each item one of them is drawn and decides.

    Deploy the two classifiers of a query in an A/B test to have a population answer it.

    Attributes
    ----------
    mixture : Mixture
        The rules, by the gain of (truth, prediction) that each maximises, and their shares.
    classes : array (k,)
        The labels to predict.
    missing : float
        How far the mixture is from the point it was made for (sum of absolute differences); 0 if
        it attains it.
    recalibration : array (k, k) or None
        The logistic model that turns given probabilities into those of a smoothed space; None if
        they are used as they are.
    floor : float
        What probabilities below it are raised to before that.
    """

    mixture: Mixture
    classes: AnyArray
    missing: float
    recalibration: FloatArray | None = None
    floor: float = 1e-12

    def predict_proba(self, proba: Column | Frame) -> FloatArray:
        """Return the probability that each class is predicted.

        Parameters
        ----------
        proba : matrix (n, k), or column (n,) of the second of two classes
            Class probabilities of the items.
        """
        checked = read_probabilities(proba, self.classes)
        if self.recalibration is not None:
            checked = recalibrated(checked, self.recalibration, self.floor)
        return self.mixture.class_shares(checked)

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
        shares = self.predict_proba(proba)
        return np.asarray(self.classes[drawn(shares, check_rng(rng).random(len(shares)))])
