"""Searches that need no noise model: which question to ask next, and what the answers leave open.

`Brackets` hold the interval of every parameter. Directions are searched angle by angle
(``angle_sweep``, ``sphere_cycles``), curves by halving (``unimodal``, ``halving``), slopes of a
metric at several places (`Site`, ``find_slope``) and then solved for its parameters
(``solve_slopes``), and ratios by two of their level sets (``level_set_search``).
"""

from karat.elicit.search._angle_search import angle_sweep, halving, sphere_cycles
from karat.elicit.search._angles import angles_of, direction
from karat.elicit.search._brackets import Brackets, Steps
from karat.elicit.search._curvature import curvature_of_ratios
from karat.elicit.search._face_search import face_searches
from karat.elicit.search._informative_places import informative_places
from karat.elicit.search._level_sets import (
    grid_ratio,
    level_set_normals,
    level_set_search,
    ratio_from_level_sets,
    two_centers,
)
from karat.elicit.search._slope_search import (
    Site,
    find_slope,
    site_brackets,
    slope_of,
    trace_slope,
)
from karat.elicit.search._solve_slopes import (
    least_squares_within,
    null_vectors,
    off_slope,
    solve_slopes,
)
from karat.elicit.search._unimodal import swapped, unimodal

__all__ = [
    "Brackets",
    "Site",
    "Steps",
    "angle_sweep",
    "angles_of",
    "curvature_of_ratios",
    "direction",
    "face_searches",
    "find_slope",
    "grid_ratio",
    "halving",
    "informative_places",
    "least_squares_within",
    "level_set_normals",
    "level_set_search",
    "null_vectors",
    "off_slope",
    "ratio_from_level_sets",
    "site_brackets",
    "slope_of",
    "solve_slopes",
    "sphere_cycles",
    "swapped",
    "trace_slope",
    "two_centers",
    "unimodal",
]
