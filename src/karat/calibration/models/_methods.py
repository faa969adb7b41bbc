"""The models of ``method=``, and how each is fitted."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from karat._typing import FloatArray
from karat.calibration.models._centred import CentredCopula
from karat.calibration.models._dequantized import DequantizedCopula
from karat.calibration.models._probit import ProbitCopula
from karat.calibration.models._trees import Trees
from karat.calibration.models._wide import WideCopula

__all__ = [
    "COPULAS",
    "METHODS",
    "Fit",
    "Model",
    "WeightedFit",
    "debiased_fit_of",
    "fit_of",
    "fit_wide",
]


class Model(Protocol):
    """A map of probabilities; ``fitted`` is its value at the rows it was fitted to."""

    @property
    def fitted(self) -> FloatArray: ...

    def __call__(self, h: FloatArray) -> FloatArray: ...


Fit = Callable[[FloatArray, FloatArray], Model]
WeightedFit = Callable[[FloatArray, FloatArray, FloatArray], Model]
COPULAS: dict[str, WeightedFit] = {"latent": CentredCopula, "probit": ProbitCopula}
_ROWS_A_SLOPE = 5
METHODS = ("latent", "probit", "trees", "dequantized")


def debiased_fit_of(method: str, rng: np.random.Generator) -> Fit:
    """Return how the models of a debiased estimate are fitted: their variance drops out of it."""
    return fit_wide if method == "latent" else fit_of(method, rng)


def fit_wide(y: FloatArray, h: FloatArray) -> Model:
    """Fit the wide model where rows are several times its slopes, else the centred one.

    Neither is cut to [0, 1]: a cut moves calibrated probabilities near 0 up on average.
    """
    enough = len(y) >= _ROWS_A_SLOPE * WideCopula.slopes(y.shape[1])
    return WideCopula(y, h) if enough else CentredCopula(y, h, cut=False)


def fit_of(method: str, rng: np.random.Generator) -> Fit:
    """Return how a model of a method is fitted."""
    if method == "dequantized":
        return lambda y, h: DequantizedCopula(y, h, rng)  # the only one that draws
    fits: dict[str, Fit] = {"latent": CentredCopula, "probit": ProbitCopula, "trees": Trees}
    return fits[method]
