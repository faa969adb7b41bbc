"""What a search learns from a metric: its value at a classifier, and its slopes along probes.

The metric may be known (`KnownMetric` uses its gradient), known but used by its values alone
(`ProbedMetric`), a function of the validation rows (`BlackBox`), or known only by which of two
classifiers is better (`Preferences`). All follow the protocol `Feedback`. `values_at` and
`gradients_at` evaluate a metric on stacks of confusions.
"""

import warnings
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, NamedTuple, Protocol

import numpy as np

from karat._sentences import Argument
from karat._typing import AnyArray, FloatArray, IntArray
from karat._validate import check_number, refuse_option, shown
from karat.elicit import Query
from karat.elicit.posterior import Brackets
from karat.elicit.search import Steps, angle_sweep, direction
from karat.elicit.transcript import check_answer
from karat.exceptions import DataError, MetricError, ProbeError, UndefinedMetricWarning
from karat.metrics import GroupMetric
from karat.metrics.base import MetricBase
from karat.optimize._probes import Position, Probes

# --- A metric that is known only by which of two classifiers is better.
#
# Hiranandani (2021), section 7.7.6, leaves two problems open; the theory page says how they are
# solved here.


class Preferences:
    """A metric known by preferences: a person, an A/B test or a regulator compares two confusions.

    Near the current classifier the metric is linear, and its slopes along the probes are found as
    the weights of a linear metric are in `karat.elicit`: first their signs, then their ratios, by
    halving angles.

    Parameters
    ----------
    oracle : callable
        Is given a `karat.elicit.Query` and answers "first", "second", "tie" or "skip".
    tol : float, default 0.05
        Width, in radians, at which an angle between slopes counts as found.

    Examples
    --------
    >>> from karat.elicit import MetricOracle
    >>> from karat.optimize import Preferences
    >>> Preferences(MetricOracle("g_mean"), tol=0.1)
    Preferences(MetricOracle, tol=0.1)
    """

    title = "preferences"

    def __init__(self, oracle: Callable[[Query], Any], *, tol: float = 0.05) -> None:
        if not callable(oracle):
            refuse_option(
                oracle,
                "oracle",
                "a function that is given a karat.elicit.Query and answers 'first', 'second', "
                "'tie' or 'skip'",
            )
        self.oracle = oracle
        self.tol = check_number(tol, "tol", at_least=1e-6, at_most=1.0)

    def __repr__(self) -> str:
        name = getattr(self.oracle, "__name__", type(self.oracle).__name__)
        return f"Preferences({name}, tol={self.tol:g})"

    def feedback(self, epsilon: float) -> "_PreferenceFeedback":
        """Return the feedback of these preferences for probes of size ``epsilon``."""
        return _PreferenceFeedback(self, epsilon)


class _PreferenceFeedback:
    """Slopes from preferences; ``n_evaluations`` counts questions."""

    everywhere, needs_rows = False, False

    def __init__(self, preferences: Preferences, epsilon: float) -> None:
        self._preferences, self._epsilon = preferences, epsilon
        self.n_evaluations = 0

    def value(self, at: Position) -> float:
        return float("nan")

    def improves(self, at: Position, value: float, new: Position) -> bool:
        return self._sign(Query(new.confusion, at.confusion)) > 0

    def slopes(self, at: Position, value: float, probes: Probes, moves: FloatArray) -> FloatArray:
        # Slopes per unit of change, so that a probe of many rows does not dominate the angles.
        sizes = np.abs(moves).sum(axis=(1, 2))
        kept = np.flatnonzero(sizes > 1e-12)
        units = moves[kept] / sizes[kept, None, None]
        length = self._epsilon * sizes[kept].min()

        def pair(ahead: FloatArray) -> Query:
            """Ask about moves along the positive part and along the negative part."""
            norm = np.abs(ahead).sum()
            plus, minus = np.maximum(ahead, 0.0) / norm, np.maximum(-ahead, 0.0) / norm
            return Query(
                at.confusion + length * np.tensordot(plus, units, 1),
                at.confusion + length * np.tensordot(minus, units, 1),
            )

        signs = np.array([self._sign(pair(axis)) for axis in np.eye(len(kept))])
        nonzero = np.flatnonzero(signs)
        found = np.zeros(len(moves))
        ratios = np.ones(1)
        if len(nonzero) > 1:
            brackets = Brackets.of(0.0, np.pi / 2, len(nonzero) - 1)

            def signed(ahead: FloatArray) -> Query:
                full = np.zeros(len(kept))
                full[nonzero] = ahead * signs[nonzero]
                return pair(full)

            self._run(angle_sweep(brackets, self._preferences.tol, signed))
            ratios = direction(brackets.middle)
        found[kept[nonzero]] = signs[nonzero] * ratios * sizes[kept[nonzero]]
        return found

    def flat(self, n_probes: int) -> str:
        return (
            f"all {n_probes} probes were called a tie with the current classifier, so there is "
            "no slope to follow; pass a larger epsilon"
        )

    def _sign(self, query: Query) -> float:
        return {"first": 1.0, "second": -1.0}.get(self._ask(query), 0.0)

    def _ask(self, query: Query) -> str:
        self.n_evaluations += 1
        return check_answer(self._preferences.oracle(query))

    def _run(self, steps: Steps) -> None:
        try:
            query = next(steps)
            while True:
                query = steps.send(self._ask(query))
        except StopIteration:
            return


# --- A metric that is a function of the validation rows.


class ValidationRows(NamedTuple):
    """What a function of the validation rows is given besides the shares."""

    labels: AnyArray
    groups: AnyArray | None
    weight: FloatArray | None  # None if all rows count alike
    order: IntArray  # the columns of the shares, in the order of `classes_`

    def take(self, rows: IntArray) -> "ValidationRows":
        """Return some of the rows."""
        groups = None if self.groups is None else self.groups[rows]
        weight = None if self.weight is None else self.weight[rows]
        return ValidationRows(self.labels[rows], groups, weight, self.order)


class BlackBox:
    """A function of labels, shares and groups that gives a number, greater being better."""

    everywhere, needs_rows = False, True

    def __init__(
        self,
        metric: Callable[..., Any],
        rows: ValidationRows,
        epsilon: float,
        names: Callable[[int], str],
    ) -> None:
        self.metric, self.epsilon, self.n_evaluations = metric, epsilon, 0
        self._rows, self._names, self._size = rows, names, 0.0
        self._takes_groups, takes_weight = _takes(metric)
        if rows.weight is not None and not takes_weight:
            raise DataError(
                "the validation rows have sample weights and the metric is a function "
                "that would not see them; give it a parameter ",
                Argument("sample_weight"),
                ", or repeat rows instead",
            )
        weight = np.ones(len(rows.labels)) if rows.weight is None else rows.weight
        self._options = {"sample_weight": weight} if takes_weight else {}

    def value(self, at: Position) -> float:
        assert at.shares is not None
        return self._call(at.shares, "the current classifier")

    @property
    def error(self) -> float:
        """A guess at the standard error of the metric: its greatest slope stands for its scale."""
        return self._size / float(np.sqrt(len(self._rows.labels)))

    def improves(self, at: Position, value: float, new: Position) -> bool:
        return bool(self.value(new) - value > self.error)

    def slopes(self, at: Position, value: float, probes: Probes, moves: FloatArray) -> FloatArray:
        assert at.shares is not None
        values = [
            self._call(probes.moved_shares(at.shares, p, self.epsilon), self._names(p))
            for p in range(len(moves))
        ]
        slopes = slopes_of(np.array(values), value, self.epsilon)
        self._size = float(np.abs(slopes).max())
        return slopes

    def flat(self, n_probes: int) -> str:
        return no_difference(n_probes, self.epsilon)

    def _call(self, shares: FloatArray, what: str) -> float:
        self.n_evaluations += 1
        labels, groups, _, order = self._rows
        shares = shares[:, order]
        given = (labels, shares, groups) if self._takes_groups else (labels, shares)
        try:
            found = self.metric(*given, **self._options)
        except Exception as error:
            raise ProbeError(
                f"the metric raised {type(error).__name__} (",
                error,
                f") at {what}; it is called with labels {labels.shape}, shares of the "
                f"classes {shares.shape} and groups, and must return a number",
            ) from error
        return _checked_value(found, what)


def _takes(metric: Callable[..., Any]) -> tuple[bool, bool]:
    """Return whether a function takes groups as its third parameter, and whether sample_weight.

    A parameter of another name with a default, such as ``scale=scale``, is not passed.
    """
    try:
        parameters = signature(metric).parameters
    except (TypeError, ValueError):
        return True, False
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    others = [
        p
        for name, p in parameters.items()
        if name != "sample_weight" and (p.default is Parameter.empty or name == "groups")
    ]
    groups = sum(p.kind in positional for p in others) >= 3 or any(
        p.kind is Parameter.VAR_POSITIONAL for p in others
    )
    return groups, "sample_weight" in parameters


def _checked_value(value: Any, what: str) -> float:
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "biuf":
        raise ProbeError(
            f"the metric returned {shown(value)} at {what}; expected one number. If it gives a "
            "value for each class or group, return their mean or another single number"
        )
    number = float(array)
    if not np.isfinite(number):
        raise ProbeError(
            f"the metric returned {number} at {what}; expected a finite number. Return a "
            "convention, such as 0, where a ratio has no denominator"
        )
    return number


# --- The protocol of feedback, and the feedback of a metric of confusions.

# Where the gradient is infinite (a class that is never predicted rightly), it is taken at a mixture
# with this share of a classifier that predicts every class.
_INSIDE = 0.01
# Corners of absolute differences between groups are rounded to this width: a slope is needed there.
_ROUNDED = 0.01


class Feedback(Protocol):
    """What a search asks of a metric."""

    everywhere: bool  # whether the slopes at one classifier hold at every other
    needs_rows: bool  # whether positions need the shares of the validation rows
    n_evaluations: int

    def value(self, at: Position) -> float:
        """Return the metric at a classifier, NaN if only preferences are known."""

    def improves(self, at: Position, value: float, new: Position) -> bool:
        """Whether the classifier ``new`` is better than one of a known value, beyond chance."""

    def slopes(self, at: Position, value: float, probes: Probes, moves: FloatArray) -> FloatArray:
        """Return the slope along each probe at a classifier of a known value.

        ``moves`` are those of the validation confusion. All are 0 where there is nothing to follow.
        """

    def flat(self, n_probes: int) -> str:
        """Return the error message where the slopes of all ``n_probes`` probes are 0."""


class ProbedMetric:
    """A metric whose form is not used: only its values at the probes."""

    everywhere, needs_rows = False, False

    def __init__(
        self, metric: MetricBase, epsilon: float, n_rows: float, inside: FloatArray
    ) -> None:
        self.metric, self.epsilon, self.n_evaluations = metric, epsilon, 0
        self._n_rows = n_rows
        self._inside = inside  # a confusion in which every class is predicted rightly somewhere

    def value(self, at: Position) -> float:
        self.n_evaluations += 1
        return float(self.values(at.confusion[None])[0])

    def improves(self, at: Position, value: float, new: Position) -> bool:
        # Beyond chance: by more than the standard error of the new value (delta method).
        slope = self.gradient(new.confusion)
        spread = np.sum(new.confusion * slope**2) - np.sum(new.confusion * slope) ** 2
        error = (max(float(spread), 0.0) / self._n_rows) ** 0.5
        return bool(self.value(new) - value > max(error, 1e-12))

    def slopes(self, at: Position, value: float, probes: Probes, moves: FloatArray) -> FloatArray:
        values = self.values(at.confusion + self.epsilon * moves)
        self.n_evaluations += len(moves)
        return slopes_of(values, value, self.epsilon)

    def flat(self, n_probes: int) -> str:
        return no_difference(n_probes, self.epsilon)

    def gradient(self, confusion: FloatArray) -> FloatArray:
        """Return the gradient; where it is infinite, that of a point a little inside."""
        for share in (0.0, _INSIDE, 0.5, 1.0):
            point = (1.0 - share) * confusion + share * self._inside
            slope = gradients_at(self.metric, point[None], _ROUNDED)[0]
            if np.isfinite(slope).all():
                return np.asarray(slope)
        return self.metric.gradient(confusion)  # raises an error that says why there is none

    def values(self, stack: FloatArray) -> FloatArray:
        """Return values of confusions; conventions at the edge need no warning in a search."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            values = values_at(self.metric, stack)
        if values.shape != (len(stack),) or not np.isfinite(values).all():
            raise MetricError(f"{self.metric.title} has no value on the validation rows")
        return values


class KnownMetric(ProbedMetric):
    """A metric with a gradient: linear near each classifier, whichever probes are used."""

    everywhere = True

    def slopes(self, at: Position, value: float, probes: Probes, moves: FloatArray) -> FloatArray:
        gradient = self.gradient(at.confusion)
        slopes = np.einsum("pij,ij->p", moves, gradient)
        return np.where(np.abs(slopes) > _ROUNDING * np.abs(gradient).max(), slopes, 0.0)

    def flat(self, n_probes: int) -> str:
        return (
            f"{self.metric.title} is the same for all classifiers near the model's own, so there "
            "is no slope to follow; pass a metric that depends on the predictions"
        )


# --- Slopes of a metric from its values at probes.

# Relative to the metric; a smaller rise is rounding of sums over many rows.
_ROUNDING = 1e-12


def slopes_of(values: FloatArray, value: float, epsilon: float) -> FloatArray:
    """Return slopes from a value to others ε away, 0 where the rise may be rounding."""
    rise = values - value
    return np.asarray(np.where(np.abs(rise) > _ROUNDING * abs(value), rise / epsilon, 0.0))


def no_difference(n_probes: int, epsilon: float) -> str:
    """Return the error message where the metric has the same value at all probes."""
    return (
        f"the metric has the same value at all {n_probes} probes, {epsilon:g} away from the "
        "current classifier, so there is no slope to follow; pass a larger epsilon if the metric "
        "is rounded, or check that it depends on the shares"
    )


# --- Values and gradients of a metric on stacks of confusions, and the entries it depends on.


def values_at(metric: MetricBase, stack: FloatArray, rounded: float = 0.0) -> FloatArray:
    """Return the values of confusions (b, k, k), or (b, groups·k, k) for a metric of groups.

    ``rounded`` is the width to which corners of absolute differences are rounded.
    """
    if isinstance(metric, GroupMetric):
        return metric._values(_apart(stack), rounded)
    return metric._values(stack)


def gradients_at(metric: MetricBase, stack: FloatArray, rounded: float = 0.0) -> FloatArray:
    """Return the gradients, in the shape of the stack; not finite where there is none."""
    if isinstance(metric, GroupMetric):
        return metric._gradients(_apart(stack), rounded).reshape(stack.shape)
    return metric._gradients(stack)


def is_diagonal(metric: MetricBase, k: int) -> bool:
    """Whether, with given class priors, only the diagonal of the confusion matters.

    Then the gradient is the same in all off-diagonal entries of a row, which is checked at some
    confusions of different priors.
    """
    if metric.n_groups is not None:
        return False  # it may weigh every kind of error
    rng = np.random.default_rng(0)
    confusions = rng.dirichlet(np.ones(k * k), size=5).reshape(5, k, k)
    slopes = metric._gradients(confusions)
    off = ~np.eye(k, dtype=bool)
    rows = slopes[:, off].reshape(5, k, k - 1)
    scale = np.abs(slopes).max()
    return bool(np.ptp(rows, axis=2).max() <= 1e-9 * max(scale, 1e-300))


def _apart(stack: FloatArray) -> FloatArray:
    k = stack.shape[2]
    return stack.reshape(len(stack), -1, k, k)
