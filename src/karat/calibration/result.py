"""What is known of calibration."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._basis import Guarantee
from karat._result import Result
from karat._typing import FloatArray
from karat.calibration._copula_calibrator import LabelPairs


def marginal_root(squared: float) -> float:
    """Return the marginal error of its debiased square, which chance can bring below 0."""
    return math.sqrt(max(squared, 0.0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MarginalCalibration(Result):
    """How far each label's own probability is from its frequency.

    Attributes
    ----------
    value : float
        ``(Σ_j E|E[y_j | bin] − E[h_j | bin]|^p)^{1/p}``: binned, and too large for few rows.
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

    value: float
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CalibrationCertificate(Result):
    """A proof that probabilities are not canonically calibrated.

    For any map G that was not fitted to the rows it is evaluated on, the mean of
    ``‖y−h‖² − ‖y−G(h)‖²`` is at most CE₂².

    Attributes
    ----------
    value : float
        The gain of G on held-out rows; an estimate of a lower bound of CE₂².
    lower : float
        A lower limit of CE₂², at least 0.
    confidence : float
        Probability that it holds.
    strict : bool
        Whether it holds for any law and any number of rows, or approximately.
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

    value: float
    lower: float
    confidence: float
    strict: bool
    model: str
    per_label: FloatArray
    names: tuple[str, ...]
    n: int
    notes: tuple[str, ...]

    _COLUMNS = ("label=names", "per_label", "value", "lower", "confidence", "model", "n")

    @property
    def guarantee(self) -> Guarantee:
        """What the limit is worth: it holds for any law and any number of rows if ``strict``."""
        return "finite-sample" if self.strict else "approximate"

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
class CanonicalCalibration(Result):
    """How far probabilities are from E[y | h], the frequencies given all of them.

    Attributes
    ----------
    value : float
        The plug-in estimate of ``CE_p``; too large for few rows and many labels.
    debiased : float or None
        ``CE₂²`` without that bias; can be below 0. None without ``confidence``.
    lower, upper : float or None
        Limits of ``CE₂²`` as far as models can see it: ``debiased`` is never above ``CE₂²`` on
        average, and ``upper`` assumes that the model, or curves along single probabilities, see
        all of it: it is the greatest of their upper limits, so at least that of the marginal
        error, and at least the certificate.
    standard_error : float or None
        Of ``debiased``.
    certificate : float or None
        A lower limit of ``CE₂²`` that holds whatever the model misses, at least 0.
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
    confidence : float or None
        Probability that limits and certificate hold, each.
    names : tuple of str
        The labels.
    n : int
        Rows.
    notes : tuple of str
        How labels without information (always 0, always 1, constant probabilities) were treated.
    """

    value: float
    debiased: float | None
    lower: float | None
    upper: float | None
    standard_error: float | None
    certificate: float | None
    p_value: float | None
    interaction_p_value: float | None
    interaction: tuple[str, ...]
    per_label: FloatArray
    marginal: FloatArray
    pairs: FloatArray
    p: float
    method: str
    confidence: float | None
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
        """What the conclusion is worth: the certificate's if it proves an error, else the model's.

        The certificate is that of a strict split (see `CalibrationCertificate`).
        """
        return "finite-sample" if self.certificate else "model"

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
            f"{head}{bias} CE2 is {self._headline()}; "
            f"a test along single probabilities has p = {self.p_value:.2g}; "
            f"{self._missed()}marginal error {own:.4f} "
            f"(n = {self.n:,}, {len(self.names)} labels)"
        )

    @property
    def misses_interaction(self) -> bool:
        """Whether residuals of a label go with a product of two probabilities, at that level.

        The test is of calibrated probabilities, so plain over-confidence can set it off too.
        """
        level = 1 - (self.confidence or 1.0)
        return self.interaction_p_value is not None and self.interaction_p_value <= level

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
        """Return CE₂ and its limits: what is guaranteed first, if it is more than the estimate."""
        assert self.debiased is not None
        assert self.lower is not None
        assert self.upper is not None
        proven = math.sqrt(self.certificate or 0.0)
        low, root, high = (math.sqrt(max(x, 0.0)) for x in (self.lower, self.debiased, self.upper))
        alone = len(self.names) == 1 and self.method == "latent"
        model = "a curve" if alone else f"the {self.method} model or a sum of curves"
        level = f"at {100 * float(self.confidence or 0):g} % if {model} fits"
        if proven > root:
            return f"at least {proven:.4f} guaranteed, at most {high:.4f} {level}"
        if self.debiased <= 0:
            return f"not distinguishable from 0, at most {high:.4f} {level}"
        sure = f"at least {proven:.4f} guaranteed" if proven else "no error is guaranteed"
        return f"{root:.4f}, between {low:.4f} and {high:.4f} {level}, {sure}"

    def _table(self) -> list[tuple[str, str]]:
        return [
            (name, f"{all_of:.5f} (marginal {own:.5f})")
            for name, all_of, own in zip(self.names, self.per_label, self.marginal, strict=True)
        ]
