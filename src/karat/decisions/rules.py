"""Decision rules: which class to choose, given the probabilities of all.

A rule scores every class by a matrix of gains and takes the best; a mixture draws one of
several rules. Ties go to the last class.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._result import Frozen, frozen_array
from karat._sentences import Argument, Remedy
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import check_classes, check_probabilities, check_rng, check_scores, is_matrix
from karat.exceptions import MetricError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BayesClassifier(Frozen):
    """Predicts the class of greatest expected gain; made by ``metric.bayes_classifier()``.

    Attributes
    ----------
    weights : array (k, k)
        The gain of (truth, prediction).
    classes : array (k,)
        The labels to predict.
    """

    weights: FloatArray
    classes: AnyArray

    @classmethod
    def of(cls, weights: FloatArray, classes: Column | None) -> BayesClassifier:
        """Build the best classifier for a linear metric from the weights of the metric."""
        order = np.arange(len(weights)) if classes is None else check_classes(classes)
        if len(order) != len(weights):
            raise MetricError(
                Argument("classes"),
                f" names {len(order)} classes and the metric is for {len(weights)}",
                Remedy("name each class once"),
            )
        return cls(weights=weights, classes=frozen_array(order))

    @property
    def threshold(self) -> float:
        """Probability of the second of two classes from which that class is predicted.

        ``m₀₀ / (m₁₁ + m₀₀)`` with m the gain of being right over being wrong (Proposition 3.1). It
        is only a threshold where ``m₁₁ + m₀₀`` is positive.
        """
        if len(self.weights) != 2:
            raise MetricError(f"a threshold is for 2 classes and there are {len(self.weights)}")
        m00 = self.weights[0, 0] - self.weights[0, 1]
        m11 = self.weights[1, 1] - self.weights[1, 0]
        if m11 + m00 <= 0:
            raise MetricError(
                "the metric rewards errors (m₁₁ + m₀₀ is not positive), so no threshold on the "
                "probability is best; use predict"
            )
        return float(m00 / (m11 + m00))

    def expected_gain(self, proba: Column | Frame) -> FloatArray:
        """Return the expected gain of predicting each class, from class probabilities."""
        return self._probabilities(proba) @ self.weights

    def predict(self, proba: Column | Frame) -> AnyArray:
        """Predict from class probabilities (n, k), or (n,) of the second of two classes.

        A tie goes to the later class, as in Proposition 3.1.
        """
        return np.asarray(self.classes[decide(self._probabilities(proba), self.weights)])

    __call__ = predict

    def _probabilities(self, proba: Any) -> FloatArray:
        return read_probabilities(proba, self.classes)


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


@dataclass(frozen=True, slots=True, eq=False)
class Mixture(Frozen):
    """Rules that decide by weighted probabilities, and the share with which each decides.

    Attributes
    ----------
    shares : array (T,)
        Share of each rule; with ``start`` they sum to 1.
    weights : array (T, k, k), (T, L, k) or (T, L, k, k)
        The weights of each rule, as `decide` takes them: the last two need ``basis``.
    start : float, default 0
        Share of the classifier that predicts a class with the model's own probability of it.
    seed : int, default 0
        What, with the probabilities of a row, decides which rule decides that row in `draw`.
    """

    shares: FloatArray
    weights: FloatArray
    start: float = 0.0
    seed: int = 0

    def class_shares(self, proba: FloatArray, basis: FloatArray | None = None) -> FloatArray:
        """Return the probability with which each class is predicted, shape (n, k)."""
        codes = (decide(proba, weights, basis) for weights in self.weights)
        return mixed(proba, self.start, zip(self.shares, codes, strict=True))

    def draw(self, proba: FloatArray, basis: FloatArray | None = None) -> IntArray:
        """Return the codes of the predicted classes: the same for the same rows, every time."""
        return drawn(self.class_shares(proba, basis), uniforms(proba, self.seed))

    @classmethod
    def of_blocks(cls, shares: list[FloatArray], rules: list[FloatArray], seed: int = 0) -> Mixture:
        """Join the mixtures of several blocks into one, with weights (T, blocks, k, k).

        [0, 1) is cut where the shares of any block's rules end; in each piece every block has one
        rule. Blocks decide separately, so which of their rules come together does not matter.

        Parameters
        ----------
        shares : list of arrays (n,)
            For each block the shares of its rules.
        rules : list of arrays (n, k, k)
            For each block the weights of its rules.
        seed : int, default 0
            The seed of the mixture.
        """
        used = [np.flatnonzero(s > 1e-12) for s in shares]
        ends = [np.cumsum(s[u] / s[u].sum()) for s, u in zip(shares, used, strict=True)]
        cuts = np.unique(np.round(np.concatenate([[0.0], *ends]), 12))
        cuts[-1] = 1.0
        middles = (cuts[1:] + cuts[:-1]) / 2
        weights = [
            rules[b][used[b][np.searchsorted(end, middles).clip(max=len(end) - 1)]]
            for b, end in enumerate(ends)
        ]
        return cls(np.diff(cuts), np.stack(weights, axis=1), seed=seed)


# --- Class shares of a mixture of rules, and predictions drawn from them.


def mixed(proba: FloatArray, start: float, rules: Iterable[tuple[float, IntArray]]) -> FloatArray:
    """Return class shares: the probabilities with the share ``start``, and decisions of rules."""
    total = start * proba
    rows = np.arange(len(proba))
    for share, codes in rules:
        total[rows, codes] += share
    return total


def drawn(shares: FloatArray, uniform: FloatArray) -> IntArray:
    """Return the class in whose part of [0, 1) the number of each row falls."""
    upper = np.cumsum(shares[:, :-1], axis=1)
    return np.asarray(np.sum(uniform[:, None] >= upper, axis=1))


def uniforms(proba: FloatArray, seed: int) -> FloatArray:
    """Return a number in [0, 1) for each row that depends on its probabilities and the seed alone.

    A hash and not a stream: a row is predicted alike whatever rows come with it. Probabilities are
    rounded to nine digits first, since libraries differ in the last ones from batch to batch.
    """
    state = np.full(len(proba), np.uint64(seed % 2**64))
    with np.errstate(over="ignore"):
        for column in (np.round(proba, 9) + 0.0).T:  # + 0.0 turns −0 into 0
            state = _scrambled(state ^ np.ascontiguousarray(column).view(np.uint64))
    return np.asarray((state >> np.uint64(11)) * 2.0**-53)


def _scrambled(
    x: np.ndarray[tuple[int], np.dtype[np.uint64]],
) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Mix the bits (the finaliser of SplitMix64)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def read_probabilities(proba: Any, classes: AnyArray) -> FloatArray:
    """Check class probabilities (n, k), or (n,) of the second of two classes."""
    if len(classes) == 2 and not is_matrix(proba):
        second = check_scores(proba, "proba")
        proba = np.column_stack([1.0 - second, second])
    return check_probabilities(proba, "proba", classes=classes)


# --- Probabilities recalibrated by a logistic model of their log-odds.


def log_odds(proba: FloatArray, floor: float) -> FloatArray:
    """Return the log-odds (n, k−1) of each class against the first, none below ``floor``."""
    logs = np.log(np.clip(proba, floor, None))
    return np.asarray(logs[:, 1:] - logs[:, :1])


def recalibrated(proba: FloatArray, matrix: FloatArray, floor: float) -> FloatArray:
    """Return the probabilities (n, k) of a logistic model of the log-odds.

    ``matrix`` (k, k) has a row per class: its level, and its slopes in the k−1 log-odds.
    """
    scores = matrix[:, 0] + log_odds(proba, floor) @ matrix[:, 1:].T
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))


# --- Decisions by weighted probabilities: the one rule of which every classifier here is made.

# Rows are taken in chunks whose temporaries stay in the processor's cache.
CHUNK = 1 << 14


def last_argmax(scores: FloatArray) -> IntArray:
    """Return the position of the greatest score along the last axis, the later one of equals.

    Hiranandani (2021), Proposition 3.1, gives a tie to the later class; what is counted and what
    is deployed must break it alike.
    """
    return np.asarray(scores.shape[-1] - 1 - np.argmax(scores[..., ::-1], axis=-1))


def decide(
    proba: FloatArray,
    weights: FloatArray,
    basis: FloatArray | None = None,
    *,
    chunk: int = CHUNK,
) -> IntArray:
    """Return the code of the best class of each row.

    Parameters
    ----------
    proba : array (n, k)
        ``η_i(x)``, the class probabilities of each row.
    weights : array (k, k), (L, k) or (L, k, k)
        The gain of (truth, prediction); or, with ``basis``, such gains for each basis function:
        with (L, k) the score of class j is ``W_j(x)·η_j(x)`` where
        ``W_j = Σ_l weights[l, j]·φ_l`` (Hiranandani 2021, eq. 7.18), with (L, k, k) it is
        ``Σ_i W_ij(x)·η_i(x)`` (eq. E.9).
    basis : array (n, L), optional
        ``φ_l(x)`` of each row. Where all are 0, nothing is known of the weights and the most
        probable class is predicted.
    chunk : int, optional
        Rows that are decided at a time.
    """
    codes = np.empty(len(proba), dtype=np.intp)
    for start in range(0, len(proba), chunk):
        rows = slice(start, start + chunk)
        if basis is None:
            codes[rows] = last_argmax(_gains(proba[rows], weights))
            continue
        scores = _scores(proba[rows], basis[rows], weights)
        unknown = ~basis[rows].any(axis=1)
        if unknown.any():
            scores[unknown] = proba[rows][unknown]
        codes[rows] = last_argmax(scores)
    return codes


def _gains(proba: FloatArray, weights: FloatArray) -> FloatArray:
    """Return what each class gains. Of two classes a row's sums do not depend on other rows.

    A matrix product may round one row and many rows differently, by the processor, and a tie would
    then fall on either side.
    """
    if len(weights) != 2:
        return np.asarray(proba @ weights)
    return np.asarray(proba[:, :1] * weights[0] + proba[:, 1:] * weights[1])


def _scores(proba: FloatArray, basis: FloatArray, weights: FloatArray) -> FloatArray:
    if weights.ndim == 2:
        return np.asarray(proba * (basis @ weights))
    total = np.zeros((len(proba), weights.shape[2]))
    for values, matrix in zip(basis.T, weights, strict=True):
        part = proba @ matrix
        # Multiplying takes ten times the product's own time, so not for the constant function.
        total += part if (values == 1.0).all() else values[:, None] * part
    return total


def one_hot(codes: IntArray, k: int) -> FloatArray:
    """Return the shares (n, k) of a classifier that decides: 1 for its class, 0 for the others."""
    return np.asarray(np.eye(k)[codes])
