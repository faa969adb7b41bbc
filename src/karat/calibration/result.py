"""What is known of calibration: errors with their limits, and what a calibrator is worth.

`MarginalCalibration` and `CanonicalCalibration` are errors of probabilities, `LabelPairs` says
which labels carry one, `CalibrationCertificate` proves one, and `CalibratorScore` is the log-loss
before and after a map.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._result import Estimate, Estimated, Guarantee, Result, crossed, rows_of
from karat._typing import FloatArray, IntArray


def without_limits(value: float) -> Estimate[float]:
    """Return a number of which no limits are known."""
    nan = math.nan
    return Estimate.of(value, nan, nan, nan, "untested")


def marginal_root(squared: float) -> float:
    """Return the marginal error of its debiased square, which chance can bring below 0."""
    return math.sqrt(max(squared, 0.0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MarginalCalibration(Estimated[float]):
    """How far each label's own probability is from its frequency.

    Attributes
    ----------
    estimate : Estimate
        ``value`` is ``(Σ_j E|E[y_j | bin] − E[h_j | bin]|^p)^{1/p}``: binned, and too large for few
        rows. It has no limits: these are NaN, and the basis is ``"unknown"``.
    debiased : float
        The squared error (p = 2) summed over labels, less what chance alone adds; can be below 0.
        Its root is what every summary calls the marginal error.
    per_label : array (K,)
        The binned error of each label.
    p : float
        The power.
    names : tuple of str
        The labels.
    predicted, observed, weight : tuple of arrays
        Mean probability, frequency and share of rows in each bin, by label.
    n : int
        Rows.
    notes : tuple of str
        How labels without information (always 0, always 1, constant probabilities) were treated.
    """

    estimate: Estimate[float]
    debiased: float
    per_label: FloatArray
    p: float
    names: tuple[str, ...]
    predicted: tuple[FloatArray, ...]
    observed: tuple[FloatArray, ...]
    weight: tuple[FloatArray, ...]
    n: int
    notes: tuple[str, ...]

    def summary(self) -> str:
        """Return the error, with and without what chance adds."""
        worst = int(self.per_label.argmax())
        return (
            f"marginal error {marginal_root(self.debiased):.4f} over {len(self.names)} labels; "
            f"binned it is CE{self.p:g} {self.value:.4f}, which is too large by chance "
            f"({self.names[worst]} is worst, {self.per_label[worst]:.4f}; n = {self.n:,})"
        )

    def _columns(self) -> dict[str, Any]:
        bins = [len(weight) for weight in self.weight]
        points = {
            name: np.concatenate(getattr(self, name))
            for name in ("predicted", "observed", "weight")
        }
        label = [name for name, n in zip(self.names, bins, strict=True) for _ in range(n)]
        return {"label": label, "per_label": np.repeat(self.per_label, bins), **points}

    def _table(self) -> list[tuple[str, str]]:
        return [(n, f"{e:.4f}") for n, e in zip(self.names, self.per_label, strict=True)]


def gain_guarantee(*, strict: bool) -> Guarantee:
    """Return what the limit of a gain is worth, by whether the rows were split in two."""
    return "finite-sample" if strict else "approximate"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CalibrationCertificate(Estimated[float]):
    """A proof that probabilities are not canonically calibrated.

    For any map G that was not fitted to the rows it is evaluated on, the mean of
    ``‖y−h‖² − ‖y−G(h)‖²`` is at most CE₂².

    Attributes
    ----------
    estimate : Estimate
        ``value`` is the gain of G on held-out rows, an estimate of a lower bound of CE₂². ``lower``
        is a lower limit of CE₂², at least 0, that holds with probability ``confidence``; ``upper``
        is the number of labels, which CE₂² never exceeds: a gain says nothing from above.
    strict : bool
        Whether the limit holds for any law and any number of rows, or approximately.
    model : str
        What G is.
    per_label : array (K,)
        The gain by label.
    names : tuple of str
        The labels.
    n : int
        Rows that G was evaluated on.
    notes : tuple of str
        How labels without information (always 0, always 1, constant probabilities) were treated.
    """

    estimate: Estimate[float]
    strict: bool
    model: str
    per_label: FloatArray
    names: tuple[str, ...]
    n: int
    notes: tuple[str, ...]

    _COLUMNS = ("label=names", "per_label", "value", "lower", "upper", "confidence", "model", "n")

    @property
    def guarantee(self) -> Guarantee:
        """What the limit is worth: it holds for any law and any number of rows if ``strict``."""
        return gain_guarantee(strict=self.strict)

    @property
    def proves(self) -> bool:
        """Whether the probabilities are proven not to be calibrated."""
        return self.lower > 0

    def summary(self) -> str:
        """Return what is proven."""
        kind = "for any law" if self.strict else "approximately"
        if not self.proves:
            return (
                f"nothing is proven: a correction by {self.model} of all probabilities takes "
                f"{self.value:.5f} off the Brier score of {self.n:,} held-out rows, summed over "
                f"labels, which may be chance ({100 * self.confidence:g} %, {kind})"
            )
        return (
            f"not canonically calibrated: CE2 is at least {math.sqrt(self.lower):.4f} at "
            f"{100 * self.confidence:g} % ({kind}): a correction by {self.model} of all "
            f"probabilities takes {self.value:.5f} off the Brier score of {self.n:,} held-out "
            "rows, summed over labels"
        )

    def _table(self) -> list[tuple[str, str]]:
        return [(n, f"{e:.5f}") for n, e in zip(self.names, self.per_label, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CanonicalCalibration(Estimated[float]):
    """How far probabilities are from E[y | h], the frequencies given all of them.

    Attributes
    ----------
    estimate : Estimate
        ``value`` is the plug-in estimate of ``CE_p``, which is too large for few rows and many
        labels and may lie above the limits. ``lower`` and ``upper`` are limits of ``CE_p`` as far
        as models can see it: ``upper`` assumes that the model, or curves along single
        probabilities, see all of it. It is made of the greatest of their upper limits, so at least
        that of the marginal error, and it is at least the guaranteed lower limit. Without
        ``confidence`` the limits are NaN, and the basis is ``"unknown"``.
    guaranteed : Estimate or None
        The same number with a lower limit that holds whatever the model misses, that of
        `calibration_certificate`; the upper limit is ``K^{1/p}``, which no error of K labels
        exceeds. None without ``confidence``.
    debiased : float or None
        ``CE₂²``, the square, without the bias of ``value``; can be below 0, and never above the
        true square on average. None without ``confidence``.
    standard_error : float or None
        Of ``debiased``.
    p_value : float or None
        Of the hypothesis that the probabilities are canonically calibrated, by random draws: not
        below 1/2,000 (1/200 for thousands of rows with a hundred labels).
    interaction_p_value : float or None
        Of the same hypothesis, against a label that goes with a product of two probabilities, to
        which copulas are blind; None for one label or very many, and without ``confidence``.
    interaction : tuple of str
        The label and the two probabilities of the product that stands out most; may be chance.
    per_label : array (K,)
        The debiased squared error by label (the plug-in without ``confidence``).
    marginal : array (K,)
        The debiased squared marginal error of each label, in bins.
    pairs : array (K, K)
        Correlation of the residuals of label j (row) with the probability of label k, as z-values.
    p : float
        The power.
    method : str
        The model.
    names : tuple of str
        The labels.
    n : int
        Rows.
    notes : tuple of str
        How labels without information (always 0, always 1, constant probabilities) were treated.
    """

    estimate: Estimate[float]
    guaranteed: Estimate[float] | None
    debiased: float | None
    standard_error: float | None
    p_value: float | None
    interaction_p_value: float | None
    interaction: tuple[str, ...]
    per_label: FloatArray
    marginal: FloatArray
    pairs: FloatArray
    p: float
    method: str
    names: tuple[str, ...]
    n: int
    notes: tuple[str, ...]

    _COLUMNS = (
        "label=names",
        "per_label",
        "marginal",
        "value",
        "debiased",
        "lower",
        "upper",
        "standard_error",
        "p_value",
        "confidence",
        "method",
        "n",
    )

    @property
    def guarantee(self) -> Guarantee:
        """What the conclusion is worth: guaranteed if an error is, else as good as the model."""
        return "finite-sample" if self._proven else "model"

    @property
    def _proven(self) -> float:
        """The least error that is guaranteed; 0 for none."""
        return 0.0 if self.guaranteed is None else self.guaranteed.lower

    @property
    def label_pairs(self) -> LabelPairs:
        """Which pairs of labels carry the error, to be drawn."""
        return self._like(LabelPairs(z_values=self.pairs, names=self.names))

    def summary(self) -> str:
        """Return the error, whether it is proven, what the model misses, and the marginal error."""
        head = f"canonical calibration error CE{self.p:g} {self.value:.4f} ({self.method})"
        if self.debiased is None:
            return f"{head}, n = {self.n:,}, {len(self.names)} labels"
        own = marginal_root(float(self.marginal.sum()))
        larger = math.sqrt(max(self.debiased, 0.0)) > self.value
        bias = "; without bias" if larger else ", which is too large by chance; without that bias"
        return (
            f"{head}{bias} {self._headline()}; "
            f"a test along single probabilities has p = {self.p_value:.2g}; "
            f"{self._missed()}marginal error {own:.4f} "
            f"(n = {self.n:,}, {len(self.names)} labels)"
        )

    @property
    def misses_interaction(self) -> bool:
        """Whether residuals of a label go with a product of two probabilities, at that level.

        The test is of calibrated probabilities, so plain over-confidence can set it off too.
        """
        p_value = self.interaction_p_value
        return p_value is not None and p_value <= 1 - self.confidence

    def _missed(self) -> str:
        """Return which method would tell an interaction, which the model cannot, from the rest."""
        if not self.misses_interaction or self.method == "trees":
            return ""
        label, first, second = self.interaction
        tiny = not self.interaction_p_value  # impossible rows, or less than a float can hold
        p = "below 1e-300" if tiny else f"= {self.interaction_p_value:.2g}"
        return (
            f"residuals of {label} go with the product of {first} and {second} (p {p} if the "
            "probabilities were calibrated): plain over- or under-confidence, or an interaction "
            f"that the {self.method} model cannot see and method='trees' would; "
        )

    def _headline(self) -> str:
        """Return CE₂, and the limits of CE_p: what is guaranteed first, if it is more."""
        assert self.debiased is not None
        proven, low, high = self._proven, self.lower, self.upper
        root = math.sqrt(max(self.debiased, 0.0))
        alone = len(self.names) == 1 and self.method == "latent"
        model = "a curve" if alone else f"the {self.method} model or a sum of curves"
        level = f"at {100 * self.confidence:g} % if {model} fits"
        head = "CE2 is"
        if self.p != 2:  # the limits are of another error than the root
            head, root = f"CE2 is {root:.4f}; CE{self.p:g} is", math.nan
        if proven > root or (self.p != 2 and proven > low):
            return f"{head} at least {proven:.4f} guaranteed, at most {high:.4f} {level}"
        if self.debiased <= 0:
            return f"{head} not distinguishable from 0, at most {high:.4f} {level}"
        sure = f"at least {proven:.4f} guaranteed" if proven else "no error is guaranteed"
        value = "" if math.isnan(root) else f" {root:.4f},"
        return f"{head}{value} between {low:.4f} and {high:.4f} {level}, {sure}"

    def _table(self) -> list[tuple[str, str]]:
        return [
            (name, f"{all_of:.5f} (marginal {own:.5f})")
            for name, all_of, own in zip(self.names, self.per_label, self.marginal, strict=True)
        ]


# --- Which labels carry the error, and what a calibrator is worth.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CalibratorScore(Result):
    """The log-loss of probabilities before and after a map, of all rows and of each group.

    Attributes
    ----------
    before, after : float
        Mean log-loss.
    per : str
        ``"label"``, or ``"row"`` where rows have one of several classes. The logarithm of a
        probability nearer to 0 than 1e-6 is taken as that of 1e-6.
    groups : tuple
        The groups, as they were passed and sorted; empty without any.
    group_before, group_after : array
        The same by group.
    group_n : array
        Rows of each group.
    parts : tuple of str
        The maps that are mixed.
    weights : array
        Their weights.
    n : int
        Rows.
    """

    before: float
    after: float
    per: str
    groups: tuple[Any, ...]
    group_before: FloatArray
    group_after: FloatArray
    group_n: IntArray
    parts: tuple[str, ...]
    weights: FloatArray
    n: int

    def summary(self) -> str:
        """Return the log-loss before and after, the groups that lose, and the mixture."""
        mixed = ", ".join(
            f"{part} {weight:.2f}" for part, weight in zip(self.parts, self.weights, strict=True)
        )
        return (
            f"log-loss a {self.per} {self.after:.4f} with the map, {self.before:.4f} without "
            f"(n = {self.n:,}{self._losing()}); the map mixes {mixed}"
        )

    def _columns(self) -> dict[str, Any]:
        if not self.groups:
            return {"before": [self.before], "after": [self.after], "n": [self.n]}
        words = ("group=groups", "before=group_before", "after=group_after", "n=group_n")
        return rows_of(self, words)

    def _losing(self) -> str:
        if not self.groups:
            return ""
        gap = self.group_after - self.group_before
        lost = [str(g) for g, more in zip(self.groups, gap, strict=True) if more > 0]
        if not lost:
            return f", less in each of {len(self.groups)} groups"
        return f", more in the groups {', '.join(lost)} of {len(self.groups)}"

    def _table(self) -> list[tuple[Any, str]]:
        rows = zip(self.groups, self.group_after, self.group_before, self.group_n, strict=True)
        return [(g, f"{a:.4f} (without {b:.4f}, n = {n:,})") for g, a, b, n in rows]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LabelPairs(Result):
    """Which label's residuals are correlated with which label's probability.

    Attributes
    ----------
    z_values : array (K, K)
        Correlation of the residuals of label j (row) with the probability of label k, as z-values.
    names : tuple of str
        The labels.
    """

    z_values: FloatArray
    names: tuple[str, ...]

    def summary(self) -> str:
        """Return the pair that stands out most."""
        j, k = divmod(int(abs(self.z_values).argmax()), len(self.names))
        more = "more" if self.z_values[j, k] > 0 else "less"
        return (
            f"{self.names[j]} is {more} frequent than its probability says where "
            f"{self.names[k]} is probable (z = {self.z_values[j, k]:.1f}), of all pairs most"
        )

    def _columns(self) -> dict[str, Any]:
        return crossed({"label": self.names, "probability": self.names}, z_value=self.z_values)
