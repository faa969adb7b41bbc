"""Families of metrics: what an unknown metric may be, and which classifiers it prefers.

A `Family` reads metrics from vectors of normal parameters, so that it is a prior for the search:
linear metrics, ratios, power means of recalls, polynomials of error rates, and metrics that trade
errors against gaps between groups (`LinearGaps`, `SquaredGaps`). ``fairness_frontier`` traces what
classifiers attain between the two terms of a metric of groups; `BestForMeans` draws classifiers
that are best for power means.
"""

from karat.elicit.families._best_for_means import BestForMeans
from karat.elicit.families._fair_family import FairFamily
from karat.elicit.families._fairness_frontier import fairness_frontier
from karat.elicit.families._family import TINY, Family, unit
from karat.elicit.families._linear_family import LinearFamily
from karat.elicit.families._linear_gaps import LinearGaps
from karat.elicit.families._monomials import Monomials
from karat.elicit.families._polynomial_family import PolynomialFamily, emphasised, flattened
from karat.elicit.families._power_mean_family import PowerMeanFamily
from karat.elicit.families._ratio_family import RatioFamily
from karat.elicit.families._squared_gaps import SquaredGaps

__all__ = [
    "TINY",
    "BestForMeans",
    "FairFamily",
    "Family",
    "LinearFamily",
    "LinearGaps",
    "Monomials",
    "PolynomialFamily",
    "PowerMeanFamily",
    "RatioFamily",
    "SquaredGaps",
    "emphasised",
    "fairness_frontier",
    "flattened",
    "unit",
]
