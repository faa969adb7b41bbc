"""The rule of which every classifier here is made, and mixtures of it.

`decide` predicts the class of greatest weighted probability and gives ties to the later class;
whatever is counted and whatever is deployed goes through it. `mixed` adds up the decisions of
several rules, `drawn` draws predictions from the shares, and `recalibrated` prepares probabilities
for a classifier of a smoothed space.
"""

from karat.decisions.rules._mixing import drawn, mixed, uniforms
from karat.decisions.rules._probabilities import read_probabilities
from karat.decisions.rules._recalibration import log_odds, recalibrated
from karat.decisions.rules._rule import CHUNK, decide, last_argmax, one_hot

__all__ = [
    "CHUNK",
    "decide",
    "drawn",
    "last_argmax",
    "log_odds",
    "mixed",
    "one_hot",
    "read_probabilities",
    "recalibrated",
    "uniforms",
]
