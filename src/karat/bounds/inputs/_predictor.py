"""q̂: the distribution of the prediction given the votes, P(Ŷ | z), learned from the other folds.

The bounds are valid whatever is learned here; a better q̂ makes them tighter.
"""

import numpy as np

from karat._typing import AnyArray, FloatArray, IntArray

__all__ = ["features", "learn_predictions"]

_STRENGTHS = (3.0, 10.0, 30.0, 100.0, 300.0)  # items that the regression may be worth
_MAX_ITER = 100  # of fixed-Hessian steps; stopping early only makes q̂ a little worse
_MAX_NEWTON = 25
_GAIN = 1e-3  # log-likelihood an item that the next step gains; stopping early also smooths
_TOLERANCE = 1e-3  # of a logit's coefficient; a finer q̂ would not move the bounds


def features(patterns: IntArray, p: FloatArray, n_classes: int) -> FloatArray:
    """Return one row per pattern: a constant, one-hot votes, and the posterior with its log odds.

    An abstention (-1) is all zeros; a vote that was not asked for (-2) has a column of its own
    where it occurs. The log odds are clipped: a certain posterior would swamp the ridge.
    """
    seen = [
        np.append(-2, np.arange(n_classes)) == patterns[:, [j]] for j in range(patterns.shape[1])
    ]
    votes = [hot[:, hot.any(axis=0)] for hot in seen]
    sharp = np.log(np.clip(p, 1e-3, None))
    return np.column_stack([np.ones(len(p)), *votes, p[:, 1:], sharp[:, 1:] - sharp[:, :1]])


def learn_predictions(x: FloatArray, counts: AnyArray) -> FloatArray:
    """Return q̂ (patterns, k) from counts of (pattern, prediction).

    A multinomial logistic regression on the votes is combined with each pattern's own counts, as
    if the regression were a number of items. That number is the one that predicts the counts best
    when each item is left out in turn.
    """
    seen = counts.sum(axis=1)
    rows = seen > 0
    if not rows.any():  # a group so small that the other folds are empty
        return np.full(counts.shape, 1.0 / counts.shape[1])
    fitted = _logistic(x[rows], counts[rows])
    logits = x @ fitted
    logits -= logits.max(axis=1, keepdims=True)
    guess = np.exp(logits) * (counts.sum(axis=0) > 0)  # what never occurs elsewhere is left out
    guess /= guess.sum(axis=1, keepdims=True)
    some, total, model = counts[rows], seen[rows, None], guess[rows]
    scores = [
        np.sum(some * np.log(np.maximum((some - 1 + s * model) / (total - 1 + s), 1e-12)))
        for s in _STRENGTHS
    ]
    strength = _STRENGTHS[int(np.argmax(scores))]
    return np.asarray((counts + strength * guess) / (seen[:, None] + strength))


def _logistic(x: FloatArray, counts: AnyArray) -> FloatArray:
    """Fit a ridge multinomial logistic regression to counts: (features, k)."""
    if counts.shape[1] == 2:
        slope = _binary_logistic(x, counts)
        return np.column_stack([np.zeros_like(slope), slope])
    return _multinomial_logistic(x, counts)


def _binary_logistic(x: FloatArray, counts: AnyArray) -> FloatArray:
    """Two outcomes: Newton's method."""
    seen = counts.sum(axis=1)
    weights = np.zeros(x.shape[1])
    weights[0] = np.log((counts[:, 1].sum() + 1.0) / (counts[:, 0].sum() + 1.0))
    ridge = np.eye(x.shape[1])
    for _ in range(_MAX_NEWTON):
        expected = seen / (1.0 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (expected - counts[:, 1]) + weights
        spread = expected * (1.0 - expected / np.maximum(seen, 1e-300))
        step = np.linalg.solve((x * spread[:, None]).T @ x + ridge, slope)
        # A step of more than 5 in a logit overshoots where classes are separable.
        weights = weights - step / max(1.0, float(np.abs(step).max()) / 5.0)
        if float(np.abs(step).max()) < _TOLERANCE:
            break
    return weights


def _multinomial_logistic(x: FloatArray, counts: AnyArray) -> FloatArray:
    """More outcomes: fixed-Hessian steps with momentum.

    The curvature of the softmax is at most ½ in every direction (Böhning 1992), so one d×d matrix,
    factored once, serves as the Hessian of every step and every outcome.
    """
    from scipy.linalg import cho_factor, cho_solve

    k, d = counts.shape[1], x.shape[1]
    seen = counts.sum(axis=1, keepdims=True)
    factor = cho_factor(0.5 * (x * seen).T @ x + np.eye(d), check_finite=False)
    items = float(seen.sum())
    weights = np.zeros((d, k))
    weights[0] = np.log(counts.sum(axis=0) + 1.0) - np.log(counts.sum() + k)
    ahead, pace = weights, 1.0
    for _ in range(_MAX_ITER):
        logits = x @ ahead
        logits -= logits.max(axis=1, keepdims=True)
        expected = np.exp(logits)
        expected *= seen / expected.sum(axis=1, keepdims=True)
        slope = x.T @ (expected - counts) + ahead
        step = cho_solve(factor, slope, check_finite=False)
        new = ahead - step
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        if np.sum(step * (new - weights)) > 0:  # momentum overshoots: start it again
            pace = faster = 1.0
        ahead = new + (pace - 1) / faster * (new - weights)
        weights, pace = new, faster
        if float(np.sum(step * slope)) < _GAIN * items:  # what the likelihood can still gain
            break
    return weights
