"""What an optimisation leaves behind: its history, regions of decisions, class weights."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._result import Estimate, Estimated, Result, crossed, rows_of
from karat._typing import AnyArray, BoolArray, FloatArray, IntArray


def no_limits(value: float) -> Estimate[float]:
    """Return a number without limits."""
    nan = float("nan")
    return Estimate.of(value, nan, nan, nan, "untested")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OptimizationHistory(Estimated[float]):
    """The course of an optimisation, on the validation rows.

    Attributes
    ----------
    metric : str
        What was optimised.
    values : array (T,)
        The metric of the mixture after each iteration; NaN where only preferences were asked for.
    gaps : array (T,)
        By how much the metric's linear approximation could still rise before each iteration. For a
        concave metric no classifier made of the same probabilities and basis functions is better
        by more, but for chance in the labels of these rows; NaN where it is not known.
    shares : array (T,)
        The share that each iteration gave to its new rule; NaN where the shares of all rules are
        found anew each time.
    conditions : array (T,)
        Condition number of each system of probes; NaN where none was solved.
    n_evaluations : array (T,)
        At how many classifiers the metric was evaluated, so far; thresholds of a known metric are
        not counted.
    mixture : float
        The metric of the mixture that was kept: that of the last iteration, or the best of all
        where the last is worse than predicting the most probable class.
    kept : str
        What was kept: "mixture"; "rule", a single rule that is better on the validation rows (for a
        known metric the best threshold of two classes, or classes weighed by 1/prior; the direct
        search where a metric is a function of the rows, or compares groups and nothing may be
        drawn); or "model", where nothing was better than predicting the most probable class.
    baseline : float
        The metric of predicting the most probable class; ``value`` is never below it.
    deterministic : float
        The metric of predicting, in each row, the class to which the mixture gives the greatest
        share.
    randomized : bool
        Whether the classifier draws from the mixture; else it is the deterministic one.
    n_rows : int
        Number of validation rows.
    basis_functions : tuple of str
        The basis functions in use.
    groups : array (G,)
        The groups of the validation rows, as they were passed; empty where there are none.
    rates, baseline_rates : array (G, k)
        How often each class is predicted rightly in each group, by the classifier and by the most
        probable class; classes in the order of the metric, the positive one last.
    held_out : Estimate
        The metric on rows that took no part in finding the classifier that decides them
        (cross-validation), NaN if it was not asked for, with limits of 95 % confidence (delta
        method; by the counts where all rows tell the same), NaN if there are none. They are of
        classifiers found on parts of the rows, not of this one: with few rows the two differ.
    held_out_baseline : float
        The baseline on those rows.
    """

    metric: str
    values: FloatArray
    gaps: FloatArray
    shares: FloatArray
    conditions: FloatArray
    n_evaluations: IntArray
    mixture: float
    kept: str
    baseline: float
    deterministic: float
    randomized: bool
    n_rows: int
    basis_functions: tuple[str, ...]
    groups: AnyArray
    rates: FloatArray
    baseline_rates: FloatArray
    held_out: Estimate[float]
    held_out_baseline: float

    @property
    def estimate(self) -> Estimate[float]:  # type: ignore[override]
        """The metric of the classifier, on the rows that it was found with.

        Rows that chose a classifier give no limits for it: those of ``held_out`` are honest.
        """
        value = self.mixture if self.randomized else self.deterministic
        return no_limits(value)

    @property
    def deterministic_gap(self) -> float:
        """What is lost by not randomising; negative if something is won."""
        return self.mixture - self.deterministic

    def summary(self) -> str:
        """Return the answer in one sentence."""
        n, asked = len(self.values), int(self.n_evaluations[-1])
        course = f"after {_counted(n, 'iteration')} and {_counted(asked, 'evaluation')}"
        if np.isnan(self.value):
            made = f"{_counted(asked, 'preference')}, in {_counted(n, 'iteration')}"
            text = f"{self.metric}: a classifier from {made}"
            if self.kept == "model":
                text += "; the model's most probable class was preferred, and is kept"
            return text
        text = (
            f"{self.metric} {self.value:.4f} on the {self.n_rows:,} validation rows, where the "
            f"most probable class has {self.baseline:.4f}, {course}"
        )
        if self.kept == "model":
            text = (
                f"{self.metric}: nothing better was found than the model's most probable class, "
                f"{self.baseline:.4f} on the {self.n_rows:,} validation rows, {course}"
            )
        if np.isnan(self.held_out.value):
            return text
        return (
            f"{text}; classifiers found the same way, each on a part of these rows, have "
            f"{self.held_out.value:.4f}{self._limits()} on the rows left out"
        )

    def _columns(self) -> dict[str, Any]:
        words = (
            "value=values",
            "gap=gaps",
            "share=shares",
            "condition=conditions",
            "n_evaluations",
            "baseline",
        )
        return {"iteration": np.arange(len(self.values))} | rows_of(self, words)

    def _limits(self) -> str:
        held = self.held_out
        if np.isnan(held.lower):
            return f" against {self.held_out_baseline:.4f}"
        return f" ({held.lower:.4f} to {held.upper:.4f}) against {self.held_out_baseline:.4f}"

    def _table(self) -> list[tuple[str, str]]:
        return [
            ("most probable class", f"{self.baseline:.4f}"),
            ("mixture", f"{self.mixture:.4f}"),
            ("deterministic", f"{self.deterministic:.4f}"),
            ("evaluations", str(int(self.n_evaluations[-1]))),
            *self._condition(),
            ("basis functions", ", ".join(self.basis_functions)),
            *self._by_group(),
        ]

    def _by_group(self) -> list[tuple[str, str]]:
        """Say of each group how often each class is predicted rightly, before and after."""
        if len(self.groups) > _MOST_GROUPS:
            return [("groups", f"{len(self.groups)}")]
        rows = zip(self.groups.tolist(), self.baseline_rates, self.rates, strict=True)
        return [
            (f"rates of {group}", f"{_listed(before)} → {_listed(after)}")
            for group, before, after in rows
        ]

    def _condition(self) -> list[tuple[str, str]]:
        if np.isnan(self.conditions).all():
            return []
        return [("greatest condition number", f"{np.nanmax(self.conditions):.3g}")]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DecisionRegions(Result):
    """Where a classifier of two classes predicts the second one.

    Attributes
    ----------
    probability : array (m,)
        The model's probability of the second class.
    shares : array (c, m)
        With what probability the second class is predicted, in each kind of row.
    kinds : tuple of c str
        The kinds of rows: values of the basis functions that occur.
    frequency : array (c,)
        Share of the validation rows of each kind.
    classes : array (2,)
        The classes.
    """

    probability: FloatArray
    shares: FloatArray
    kinds: tuple[str, ...]
    frequency: FloatArray
    classes: AnyArray

    @property
    def thresholds(self) -> FloatArray:
        """For each kind, the probability from which on the second class is the likelier one.

        NaN where there is none: where the second class is never predicted, or where it is predicted
        at some probability and not at every greater one. `intervals` has these too.
        """
        above = self.shares >= 0.5
        upward = above[:, -1] & (np.diff(above.astype(int), axis=1) >= 0).all(axis=1)
        return np.where(upward, self.probability[above.argmax(axis=1)], np.nan)

    @property
    def intervals(self) -> tuple[tuple[tuple[float, float], ...], ...]:
        """For each kind, the intervals of probability in which the second class is the likelier.

        Both ends belong to an interval; between two points of ``probability`` nothing is known.
        """
        return tuple(self._intervals_of(curve >= 0.5) for curve in self.shares)

    def _intervals_of(self, above: BoolArray) -> tuple[tuple[float, float], ...]:
        edges = np.diff(np.concatenate([[0], above.astype(int), [0]]))
        ends = zip(np.flatnonzero(edges > 0), np.flatnonzero(edges < 0) - 1, strict=True)
        return tuple((float(self.probability[i]), float(self.probability[j])) for i, j in ends)

    def _where(self) -> list[str]:
        """Say of each kind at which probabilities the second class is predicted."""
        least, greatest = float(self.probability[0]), float(self.probability[-1])
        return [_in_words(found, least, greatest) for found in self.intervals]

    def summary(self) -> str:
        """Return the answer in one sentence."""
        drawn = bool(((self.shares > 0) & (self.shares < 1)).any())
        verb = "is predicted at least half of the time" if drawn else "is predicted"
        where = self._where()
        if len(self.kinds) > 1:
            parts = [f"{at} for {kind}" for kind, at in zip(self.kinds, where, strict=True)]
            return f"by its probability, {self.classes[1]} {verb} {'; '.join(parts)}"
        at = where[0]
        return f"{self.classes[1]} {verb} {at if at in _CONSTANT else f'at probabilities {at}'}"

    def _columns(self) -> dict[str, Any]:
        return crossed({"kind": self.kinds, "probability": self.probability}, share=self.shares)

    def _table(self) -> list[tuple[str, str]]:
        rows = zip(self.kinds, self._where(), self.frequency, strict=True)
        return [(kind, f"{at} ({f:.0%} of rows)") for kind, at, f in rows]


_CONSTANT = ("always", "never")
_MOST_GROUPS = 8  # that are listed in a table


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _listed(rates: FloatArray) -> str:
    return ", ".join(f"{rate:.3f}" for rate in rates)


def _in_words(intervals: tuple[tuple[float, float], ...], least: float, greatest: float) -> str:
    """Describe intervals of a probability that is known from ``least`` to ``greatest``."""
    if not intervals:
        return "never"
    parts = []
    for low, high in intervals:
        if low <= least and high >= greatest:
            return "always"
        if high >= greatest:
            parts.append(f"from {low:.3f} up")
        elif low <= least:
            parts.append(f"up to {high:.3f}")
        else:
            parts.append(f"between {low:.3f} and {high:.3f}")
    return " and ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ClassWeights(Result):
    """What being right on each class is worth, as elicited (Hiranandani 2021, Figure 7.2a).

    Attributes
    ----------
    weights : array (L, k) or (L, k, k)
        Coefficients of the basis functions; with off-diagonal entries ``weights[l, i, j]`` is for
        (truth i, prediction j). Scaled so that the mean absolute weight is 1.
    classes : array (k,)
        The classes.
    basis : tuple of L str
        The basis functions.
    """

    weights: FloatArray
    classes: AnyArray
    basis: tuple[str, ...]

    def summary(self) -> str:
        """Return the answer in one sentence."""
        if self.weights.ndim == 3:
            return (
                f"weights of {len(self.classes)}×{len(self.classes)} confusions with "
                f"{len(self.basis)} basis functions"
            )
        first = self.weights[0]
        high, low = int(np.argmax(first)), int(np.argmin(first))
        return (
            f"with the basis function {self.basis[0]!r}, class {self.classes[high]} has the "
            f"greatest weight ({first[high]:.3g}) and class {self.classes[low]} the least "
            f"({first[low]:.3g})"
        )

    def _columns(self) -> dict[str, Any]:
        axes = {"basis": self.basis, "truth": self.classes, "prediction": self.classes}
        if self.weights.ndim == 2:
            axes = {"basis": self.basis, "class": self.classes}
        return crossed(axes, weight=self.weights)

    def _table(self) -> list[tuple[str, str]]:
        if self.weights.ndim == 3:
            return []
        return [
            (str(c), ", ".join(f"{w:.3g}" for w in column))
            for c, column in zip(self.classes.tolist(), self.weights.T, strict=True)
        ]
