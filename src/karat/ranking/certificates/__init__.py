"""Limits of areas: certain for any law, asymptotic or resampled, for one model or a class of them.

`limits_of` gives the limits of one area by the name of its certificate, `chosen_certificate` says
which one ``auto`` and ``approximate`` stand for, `cell_limits` those of
scores that were counted in cells, `closed_form` the half-width that no DKW limit exceeds.
`bands_of` makes the bands around both distribution functions that certain limits rest on.
`uniform_bound` holds for all models of a class at once: `FiniteFamily`, `LinearScores` or
`GaussianComplexity`.
"""

from karat.ranking.certificates._area_limits import (
    CERTIFICATES,
    FEW,
    bands_of,
    cell_limits,
    closed_form,
    limits_of,
)
from karat.ranking.certificates._choice import Choice, chosen_certificate
from karat.ranking.certificates._families import (
    Family,
    FiniteFamily,
    GaussianComplexity,
    LinearScores,
)
from karat.ranking.certificates._resampled import resampled
from karat.ranking.certificates._uniform_bound import half_space_margin, uniform_bound
from karat.ranking.certificates._value import AreaLimits, value_of

__all__ = [
    "CERTIFICATES",
    "FEW",
    "AreaLimits",
    "Choice",
    "Family",
    "FiniteFamily",
    "GaussianComplexity",
    "LinearScores",
    "bands_of",
    "cell_limits",
    "chosen_certificate",
    "closed_form",
    "half_space_margin",
    "limits_of",
    "resampled",
    "uniform_bound",
    "value_of",
]
