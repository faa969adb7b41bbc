"""What classifiers are measured on: probabilities to decide by and masses to count.

A `Population` gives the confusion of any rule, and the best rule for any gains. For two classes
every rule is a threshold, so the best one is read off a `Frontier`, the curve of all thresholds,
whose `upper_hull` is what randomised classifiers attain. `compressed` joins items of nearly the
same odds where there are many.
"""

from karat.decisions.populations._frontier import Chord, Frontier, Point
from karat.decisions.populations._population import Best, Population, compressed
from karat.decisions.populations._upper_hull import upper_hull

__all__ = ["Best", "Chord", "Frontier", "Point", "Population", "compressed", "upper_hull"]
