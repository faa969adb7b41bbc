"""Training for a weighted AUC: its pairwise surrogate, and linear scores that are fitted to it.

`surrogate` is the value of the surrogate with its gradient in O(n log n), for a loss of `LOSSES`;
`lower_weight` is the weight without jumps below the one asked for. `fit_linear` minimises it, with
a share of the log-loss, over linear scores. `warm` compiles the loop of the logistic loss
beforehand.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, validate_data

from karat._callers import caller_level
from karat._sentences import Argument, Expected
from karat._typing import AnyArray, BoolArray, FloatArray, IntArray
from karat._validate import (
    check_choice,
    check_count,
    check_fitted,
    check_number,
    order_classes,
    refuse_lazy,
    refuse_option,
    told_positive,
)
from karat.exceptions import LabelError
from karat.ranking.weights import FprBand, Uniform, Weight


class WeightedAUCClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear scores that maximise a surrogate of a weighted AUC.

    After Maurer & Pontil (2020), section 2.2, it minimises, over w and b,

    ``(1 − λ)·Σⱼ ωⱼ·meanᵢ φ(w·(xᵢ − xⱼ) / margin) + λ·log-loss(w, b) + ‖w‖² / (2·C·n)``

    over positives i and negatives j, with ``ωⱼ = (K(r/n₀) − K((r−1)/n₀)) / K(1)`` for the negative
    of ascending rank r. The first term is 1 − f_{W′,ℓ} / ‖W′‖₁, where ℓ = 1 − φ is at most the
    step that counts a pair as ranked well, and W′ ≤ W has no jumps. Value and gradient take
    O(n log n) by sorting. The log-loss is a regulariser: a narrow band rests on few negatives, and
    the log-loss of all rows guides the search and fixes the scale of the scores.

    Parameters
    ----------
    weight : Weight, default None
        What a false-positive rate is worth, such as ``FprBand(0, 0.05)``; None is ``Uniform()``,
        the AUC.
    loss : {"truncated_hinge", "hinge", "squared_hinge", "logistic"}
        φ at a difference d, in units of the margin:

        - ``"truncated_hinge"``: 1 for d ≤ 0, 0 for d ≥ 1, two parabolas between. The one loss here
          that is bounded, as Theorem 3 asks, and so follows the area itself. Not convex; the
          search starts at a logistic regression.
        - ``"hinge"``: ``max(0, 1 − d)``, its corner rounded over 0.9 < d < 1.1 (at most 0.025
          above it). ``"squared_hinge"`` is its square, ``"logistic"`` is ``log(1 + exp(−d))``.
          These are convex where the weight does not rise with the false-positive rate. They
          charge a positive by how far it is below a negative, so in a narrow band, with many
          positives far below its negatives, such pairs dominate the sum, and without the log-loss
          w = 0 can be the minimum: use them for weights as wide as the AUC.
    likelihood : float, optional
        λ, between 0 (the ranking alone) and 1 (a logistic regression). By default 3/4, and nearer
        to 1 where the weight looks at fewer than ten rows for each column of X: the fewer of the
        positives and of the negatives under it, ``n₀·‖W′‖₁/‖W′‖_∞``. Lower values pay off where no
        linear model has the right probabilities; choose it by cross-validation.
    margin : float, default 0.3
        The difference of scores from which a pair counts as ranked well. With λ > 0 scores are on
        the scale of log-odds.
    C : float, default 1.0
        Inverse strength of the penalty, as in scikit-learn; it applies to standardised columns, so
        the units of X do not matter.
    ramp : float, default 0.1
        Width of the ramps of W′ as a share of the band of an ``FprBand``, between 0 (none) and 1;
        other weights are taken as they are.
    max_iter : int, default 1000
        Most iterations of L-BFGS.
    tol : float, default 1e-5
        The search ends when no entry of the gradient exceeds it, or when the objective falls by a
        share of less than ``tol**2``.
    pos_label : label, optional
        The positive class; by default told by the labels. Only the whole area (``weight`` of None)
        is the same whichever it is, and needs none.

    Attributes
    ----------
    classes_ : array (2,)
        Labels in ascending order, as in scikit-learn; the second is the positive one.
    coef_ : array (1, columns)
        Coefficients in the units of X.
    intercept_ : array (1,)
        Minus the threshold of the greatest training accuracy, for `predict`; no weighted AUC
        depends on it.
    likelihood_ : float
        λ as used.
    objective_ : float
        What was minimised, at the end.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether the search ended before ``max_iter``; there is a warning if not.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    There is no ``predict_proba``: scores trained for a part of the ROC curve are no probabilities.
    ``sklearn.calibration.CalibratedClassifierCV`` makes some from held-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.ranking import FprBand, WeightedAUCClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = rng.normal(size=(400, 2)) + 1.5 * (y == "spam")[:, None]
    >>> model = WeightedAUCClassifier(FprBand(0, 0.1)).fit(X, y)
    >>> model.predict([[-1, 0], [3, 2]]).tolist()
    ['ham', 'spam']
    """

    def __init__(
        self,
        weight: Weight | None = None,
        *,
        loss: str = "truncated_hinge",
        likelihood: float | None = None,
        margin: float = 0.3,
        C: float = 1.0,
        ramp: float = 0.1,
        max_iter: int = 1000,
        tol: float = 1e-5,
        pos_label: Any = None,
    ) -> None:
        self.weight = weight
        self.loss = loss
        self.likelihood = likelihood
        self.margin = margin
        self.C = C
        self.ramp = ramp
        self.max_iter = max_iter
        self.tol = tol
        self.pos_label = pos_label

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the scores.

        Parameters
        ----------
        X : array or frame (n, columns)
            Finite numbers.
        y : column (n,)
            Two classes, of which the labels tell the positive one, or ``pos_label``. Scores above
            0 are for the second of ``classes_``, as in scikit-learn.
        sample_weight : column (n,), optional
            How many rows a row stands for.
        """
        refuse_lazy(X=X, y=y, sample_weight=sample_weight)
        goal = self._goal()
        rows, positive, mass = self._read(X, y, sample_weight)
        if self.likelihood is None:
            share = likelihood_share(positive, mass, goal.weight, rows.shape[1])
            goal = goal._replace(likelihood=share)
        self.likelihood_ = goal.likelihood
        mean, scale = scales(rows, mass)
        standard = (rows - mean) / scale
        start = _start(standard, positive, mass, goal.c)
        options = {"max_iter": int(self.max_iter), "tol": float(self.tol)}
        found = fit_linear(standard, positive, mass, start, goal, **options)  # type: ignore[arg-type]
        # A search that starts at its end took no step, and scikit-learn expects one.
        self.n_iter_, self.objective_ = max(found.n_iter, 1), found.objective
        self.converged_ = not found.capped
        if found.capped:
            text = f"the search stopped at max_iter={self.max_iter}; raise max_iter or tol"
            warnings.warn(text, ConvergenceWarning, stacklevel=caller_level())
        self.coef_ = (found.coef / scale)[None, :]
        cut = best_threshold(standard @ found.coef, positive, mass)
        self.intercept_ = np.array([-cut - float(self.coef_[0] @ mean)])
        if self._positive == 0:
            self.coef_, self.intercept_ = -self.coef_, -self.intercept_
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores of rows; above 0 they are called positive."""
        check_fitted(self, "classes_")
        refuse_lazy(X=X)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(rows @ self.coef_[0] + self.intercept_[0])

    def predict(self, X: Any) -> AnyArray:
        """Return the labels of rows."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0).astype(np.intp)])

    def _goal(self) -> Goal:
        """Check the options."""
        for name in ("C", "margin"):
            if check_number(getattr(self, name), name, at_least=0.0) == 0:
                refuse_option(getattr(self, name), name, "a number above 0")
        check_count(self.max_iter, "max_iter")
        check_number(self.tol, "tol", at_least=0.0)
        weight = Uniform() if self.weight is None else self.weight
        asked = 1.0 if self.likelihood is None else self.likelihood
        share = check_number(asked, "likelihood", at_least=0.0, at_most=1.0)
        return Goal(
            weight=lower_weight(weight, self.ramp),
            loss=check_loss(self.loss),
            margin=float(self.margin),
            likelihood=share,
            c=float(self.C),
        )

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[FloatArray, BoolArray, FloatArray]:
        """Check the data; return rows that count, which are positive, and their weights."""
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        if len(self.classes_) > 2:
            kind = type_of_target(labels, input_name="y")
            raise LabelError(
                f"Only binary classification is supported. The type of the target is {kind}. "
                f"y has {len(self.classes_)} classes; wrap the classifier in "
                "sklearn.multiclass.OneVsRestClassifier"
            )
        mass = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
        counted = mass > 0
        seen = np.unique(labels[counted])
        if len(seen) < 2:
            raise LabelError(
                Argument("y"),
                f" holds one class only ({seen.tolist()}) in rows of positive ",
                Argument("sample_weight"),
                "; expected ",
                Expected("two classes"),
            )
        self._positive = self._place_of_positive()
        return rows[counted], labels[counted] == self.classes_[self._positive], mass[counted]

    def _place_of_positive(self) -> int:
        """Return which class is positive; the whole area is the same either way."""
        if self.pos_label is None and told_positive(self.classes_) is None and self._is_even():
            return 1
        ordered = order_classes(self.classes_, self.pos_label, name="y").classes
        return int(np.flatnonzero(self.classes_ == ordered[-1])[0])

    def _is_even(self) -> bool:
        return self.weight is None or isinstance(self.weight, Uniform)


def _start(x: FloatArray, positive: BoolArray, mass: FloatArray, c: float) -> FloatArray:
    """Return a logistic regression: not far from the best ranking, and the same every time."""
    # Far below the tolerance of the search, so that the start adds nothing to its error.
    model = LogisticRegression(C=c, tol=1e-8, max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(x, positive, sample_weight=mass)
    return np.append(model.coef_[0], model.intercept_)


# --- Fitting a linear scorer to a surrogate, on checked arrays.

_RATIO = 1.0 / 3.0  # of the ranking to the log-loss, where there are rows enough for a ranking
_ROWS_PER_COLUMN = 10.0  # that are enough; see `likelihood_share`
_MEMORY = 20  # corrections kept by L-BFGS; more of them help on corners, and cost little


class LinearFit(NamedTuple):
    """Coefficients, the objective there, and how the search ended."""

    coef: FloatArray
    objective: float
    n_iter: int
    capped: bool


class Goal(NamedTuple):
    """What a linear scorer is fitted to."""

    weight: Weight
    loss: str
    margin: float
    likelihood: float
    c: float


def fit_linear(
    x: FloatArray,
    positive: BoolArray,
    mass: FloatArray,
    start: FloatArray,
    goal: Goal,
    *,
    max_iter: int,
    tol: float,
) -> LinearFit:
    """Minimise ``(1 − λ)·surrogate + λ·log-loss + ‖w‖² / (2·C·n)`` over (w, b) by L-BFGS."""
    from scipy.optimize import minimize

    order = np.argsort(~positive, kind="stable")  # positives first
    rows, n1 = x[order], int(positive.sum())
    masses = mass[order]
    penalty = 1.0 / (goal.c * mass.sum())

    def objective(wb: FloatArray) -> tuple[float, FloatArray]:
        w, scores = wb[:-1], rows @ wb[:-1]
        ranked, by_score = _ranking_part(scores, n1, masses, goal)
        loss, slope = _log_loss(scores + wb[-1], n1, masses)
        pull = (1 - goal.likelihood) * by_score + goal.likelihood * slope
        gradient = np.append(pull @ rows + penalty * w, goal.likelihood * slope.sum())
        value = (1 - goal.likelihood) * ranked + goal.likelihood * loss
        return value + penalty * float(w @ w) / 2, gradient

    options: dict[str, float] = {"maxiter": max_iter, "maxfun": 20 * max_iter, "maxcor": _MEMORY}
    # A corner, where two negatives change ranks, can have a descent but no small gradient; the
    # second criterion ends the search there.
    options |= {"gtol": tol, "ftol": tol**2}
    end = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    return LinearFit(end.x[:-1], float(end.fun), int(end.nit), end.status == 1)


def _ranking_part(
    scores: FloatArray, n1: int, mass: FloatArray, goal: Goal
) -> tuple[float, FloatArray]:
    s = scores / goal.margin
    found = surrogate(
        s[:n1],
        s[n1:],
        goal.weight,
        loss=goal.loss,
        mass_positive=mass[:n1],
        mass_negative=mass[n1:],
    )
    return found.value, np.concatenate([found.positive, found.negative]) / goal.margin


def _log_loss(logits: FloatArray, n1: int, mass: FloatArray) -> tuple[float, FloatArray]:
    from scipy.special import expit

    sign = np.where(np.arange(len(logits)) < n1, -1.0, 1.0)
    share = mass / mass.sum()
    return float(share @ np.logaddexp(0.0, sign * logits)), share * sign * expit(sign * logits)


def likelihood_share(
    positive: BoolArray, mass: FloatArray, weight: Weight, n_columns: int
) -> float:
    """Return λ: 3/4, and nearer to 1 where the weight looks at few rows for each column.

    The rows it looks at are the fewer of the positives and of the negatives under the weight,
    ``n₀·‖W‖₁/‖W‖_∞``; ten for each column are enough (the rule of thumb for regressions on events:
    P. Peduzzi and others, Journal of Clinical Epidemiology 49, 1996).
    """
    seen = min(mass[positive].sum(), mass[~positive].sum() * weight.area / weight.sup)
    enough = min(1.0, float(seen) / (_ROWS_PER_COLUMN * n_columns))
    return 1.0 / (1.0 + _RATIO * enough)


def scales(x: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of each column, 1 for a constant one."""
    share = mass / mass.sum()
    mean = share @ x
    deviation = np.sqrt(share @ (x - mean) ** 2)
    # A mean has a rounding error, which must not be taken for a deviation.
    constant = deviation <= 10 * np.finfo(float).eps * np.abs(mean)
    return mean, np.where(constant | (deviation == 0), 1.0, deviation)


def best_threshold(scores: FloatArray, positive: BoolArray, mass: FloatArray) -> float:
    """Return the threshold above which calling rows positive is right most often.

    It lies half-way between two scores; of equally good ones it is the lowest.
    """
    values, group = np.unique(scores, return_inverse=True)
    gained = np.bincount(group, np.where(positive, -mass, mass))
    right = np.concatenate([[0.0], np.cumsum(gained)])  # as the lowest scores turn negative
    cut = int(np.argmax(right))
    if cut in (0, len(values)):
        return float(values[0] - 1.0 if cut == 0 else values[-1] + 1.0)
    return float(values[cut - 1] + values[cut]) / 2


# --- The pairwise surrogate of a weighted AUC and its gradient, by sorting: O(n log n).

_ROUND = 0.2  # width over which the corner of the hinge is rounded

# A loss is a sum of truncated squares, φ(d) = Σ c·(b − d)₊², given as pairs (c, b); the logistic
# loss is not, and has a loop of its own. Only the truncated hinge is 1 − ℓ for an ℓ within [0, 1],
# as Theorem 3 of Maurer & Pontil (2020) asks: 1 up to a difference of 0, then down to 0 at 1 along
# two parabolas.
LOSSES: dict[str, tuple[tuple[float, float], ...]] = {
    "hinge": ((0.5 / _ROUND, 1.0 + _ROUND / 2), (-0.5 / _ROUND, 1.0 - _ROUND / 2)),
    "squared_hinge": ((1.0, 1.0),),
    "truncated_hinge": ((2.0, 1.0), (-4.0, 0.5), (2.0, 0.0)),
    "logistic": (),
}


def check_loss(loss: str) -> str:
    """Check the name of a loss."""
    return check_choice(loss, "loss", tuple(LOSSES))


def lower_weight(weight: Weight, ramp: float) -> Weight:
    """Return W′ ≤ W: the ends of a band become ramps, other weights stay as they are.

    ``ramp`` is the width of a ramp as a share of the band. A jump in another weight does no harm
    to the sums here, which see only K; it costs the uniform bound of Theorem 3.
    """
    if not isinstance(weight, Weight):
        refuse_option(
            weight,
            "weight",
            "a weight on false-positive rates, such as FprBand(0, 0.1), Power(9) or Uniform()",
        )
    share = check_number(ramp, "ramp", at_least=0.0, at_most=1.0)
    if not isinstance(weight, FprBand) or weight.variation == 0 or share == 0:
        return weight
    return weight.sandwich(share * weight.area).below


@dataclass(frozen=True, slots=True)
class Surrogate:
    """A value of the surrogate and its derivatives by the scores of both classes."""

    value: float
    positive: FloatArray
    negative: FloatArray


def surrogate(
    positive: FloatArray,
    negative: FloatArray,
    weight: Weight,
    *,
    loss: str,
    mass_positive: FloatArray | None = None,
    mass_negative: FloatArray | None = None,
) -> Surrogate:
    """Return ``Σⱼ ωⱼ Σᵢ mᵢ φ(sᵢ − sⱼ)`` over positives i and negatives j, and its gradient.

    ``mᵢ`` are the shares of the positives and ``ωⱼ`` the `rank_weights` of the negatives, both of
    sum 1. It is 1 − f_{W′,ℓ} / ‖W′‖₁ of Maurer & Pontil (2020), section 2.2, with ℓ = 1 − φ and W′
    integrated over the step that a negative takes.
    """
    m = _shares(mass_positive, len(positive))
    omega = rank_weights(negative, weight, mass_negative)
    if loss == "logistic":
        from karat.ranking._loops import softplus_sums

        value, up, down = softplus_sums(positive, negative, m, omega)
        return Surrogate(value, -m * up, omega * down)
    # Sums of squares lose digits far from 0, so scores are taken relative to their mean.
    middle = float(np.mean(positive))
    s, order_s = _sorted(positive - middle)
    t, order_t = _sorted(negative - middle)
    at_t, slope, pull = _sums(s, t, m[order_s], omega[order_t], LOSSES[loss])
    grad_s, grad_t = np.empty_like(s), np.empty_like(t)
    grad_s[order_s] = -m[order_s] * pull
    grad_t[order_t] = omega[order_t] * slope
    return Surrogate(float(omega[order_t] @ at_t), grad_s, grad_t)


def rank_weights(
    negative: FloatArray, weight: Weight, mass: FloatArray | None = None
) -> FloatArray:
    """Return the weight of each negative: ``K(F̂₀(s)) − K(F̂₀(s−))`` over K(1).

    Tied negatives share the weight of their group, in proportion to their mass.
    """
    m = _shares(mass, len(negative))
    t, order = _sorted(negative)
    upto = np.cumsum(m[order])
    upto /= upto[-1]
    ends = np.flatnonzero(np.concatenate([t[1:] > t[:-1], [True]]))
    gained = np.diff(weight.cumulative(np.concatenate([[0.0], upto[ends]])))
    if len(ends) < len(t):
        sizes = np.diff(ends, prepend=-1)
        held = np.diff(upto[ends], prepend=0.0)
        per_mass = np.divide(gained, held, out=np.zeros_like(held), where=held > 0)
        gained = np.repeat(per_mass, sizes) * m[order]
    omega = np.empty_like(m)
    omega[order] = gained / weight.area
    return omega


def _shares(mass: FloatArray | None, n: int) -> FloatArray:
    return np.full(n, 1.0 / n) if mass is None else mass / mass.sum()


def _sorted(scores: FloatArray) -> tuple[FloatArray, IntArray]:
    order = np.argsort(scores, kind="stable")
    return scores[order], order


def _sums(
    s: FloatArray,
    t: FloatArray,
    m: FloatArray,
    omega: FloatArray,
    loss: tuple[tuple[float, float], ...],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean loss at each negative, its slope there, and the pull on each positive.

    The pairs that a term (b − d)₊² applies to are found by a look-up in sorted scores, and sums
    over them are differences of running sums.
    """
    below = [np.concatenate([[0.0], np.cumsum(m * s**p)]) for p in range(3)]
    above = [np.concatenate([np.cumsum((omega * t**p)[::-1])[::-1], [0.0]]) for p in range(2)]
    at_t, slope, pull = np.zeros_like(t), np.zeros_like(t), np.zeros_like(s)
    for c, b in loss:
        x = t + b
        k = np.searchsorted(s, x)
        at_t += c * (x * (x * below[0][k] - 2 * below[1][k]) + below[2][k])
        slope += 2 * c * (x * below[0][k] - below[1][k])
        y = s - b
        k = np.searchsorted(t, y)
        pull += 2 * c * (above[1][k] - y * above[0][k])
    return at_t, slope, pull


def warm() -> None:
    """Sum the logistic loss over the pairs of a few scores."""
    from karat.ranking._loops import softplus_sums

    scores, shares = np.linspace(0, 1, 8), np.full(4, 0.25)
    softplus_sums(scores[1::2], scores[::2], shares, shares)
