"""Small moves of a classifier, and the weights of the classes that their slopes give.

A `Sample` holds rows with probabilities and basis functions, and sums over them what a classifier
does. `ClassProbes` (fixed) and `separated_probes` move a classifier, given as a `Position`, a
little in known directions; `WeightSystem` solves for the class weights whose weighted moments move
along the probes as the metric does (Hiranandani 2021, eq. 7.12–7.16 and appendix E.1).
"""

from karat.optimize.probes._probes import ClassProbes, Position, Probes, TargetProbes
from karat.optimize.probes._sample import Decisions, Sample, as_shares
from karat.optimize.probes._separated_probes import separated_probes
from karat.optimize.probes._weight_system import WeightSystem

__all__ = [
    "ClassProbes",
    "Decisions",
    "Position",
    "Probes",
    "Sample",
    "TargetProbes",
    "WeightSystem",
    "as_shares",
    "separated_probes",
]
