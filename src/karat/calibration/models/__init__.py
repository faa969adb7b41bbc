"""Models of E[y | h], the frequency of labels given all probabilities.

Two copulas (`LatentCopula` in closed form, which `CentredCopula` keeps from moving calibrated
probabilities and `WideCopula` corrects further, and `ProbitCopula` by maximum likelihood), boosted
`Trees`, and the estimator of Panda & Garain (2023) for comparison. A model is called on
probabilities; ``fitted`` is its value at its own rows. `fit_shrunk` shortens a model's move away
from the probabilities by what held-out rows say it is worth.
"""

from karat.calibration.models._centred import CentredCopula
from karat.calibration.models._dequantized import DequantizedCopula
from karat.calibration.models._folds import folds_of
from karat.calibration.models._latent import LatentCopula, shrunk_correlation
from karat.calibration.models._methods import (
    COPULAS,
    METHODS,
    Fit,
    Model,
    WeightedFit,
    debiased_fit_of,
    fit_of,
    fit_wide,
)
from karat.calibration.models._normal_scores import NormalScores
from karat.calibration.models._probit import ProbitCopula, probit_weights
from karat.calibration.models._shrunk import ShrunkModel, fit_shrunk
from karat.calibration.models._trees import Trees
from karat.calibration.models._wide import WideCopula

__all__ = [
    "COPULAS",
    "METHODS",
    "CentredCopula",
    "DequantizedCopula",
    "Fit",
    "LatentCopula",
    "Model",
    "NormalScores",
    "ProbitCopula",
    "ShrunkModel",
    "Trees",
    "WeightedFit",
    "WideCopula",
    "debiased_fit_of",
    "fit_of",
    "fit_shrunk",
    "fit_wide",
    "folds_of",
    "probit_weights",
    "shrunk_correlation",
]
