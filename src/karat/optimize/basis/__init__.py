"""Functions of a row along which the weights of the classes may vary: φ_l(x) in [0, 1].

A `Basis` describes one or more functions; ``fitted`` makes them of the validation rows. `fit_basis`
reads a list of names, functions and bases as users write it, `candidates_of` a list of such lists,
and `read_basis` values that were saved. `independent` leaves out functions that are combinations of
others (Hiranandani 2021, eq. 7.7–7.9).
"""

from karat.optimize.basis._basis import Basis
from karat.optimize.basis._clusters import Clusters
from karat.optimize.basis._column_basis import ColumnBasis
from karat.optimize.basis._constant import Constant
from karat.optimize.basis._fitted_basis import FittedBasis, candidates_of, fit_basis
from karat.optimize.basis._independent import independent
from karat.optimize.basis._radial_basis import RadialBasis
from karat.optimize.basis._saved_basis import read_basis

__all__ = [
    "Basis",
    "Clusters",
    "ColumnBasis",
    "Constant",
    "FittedBasis",
    "RadialBasis",
    "candidates_of",
    "fit_basis",
    "independent",
    "read_basis",
]
