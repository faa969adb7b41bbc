"""What a model of votes assumes, as arrays, and the quantities that follow from its parameters.

A `Model` says how voters err: at one rate or by class, on easy and hard items, alone or by copying.
`build_problem` puts it together with a table of votes. `error_rates` and `finite_errors` turn drawn
parameters and labels into error rates of voters; `labelled_errors` does so for probable labels.
"""

from karat.consensus.model._labels import class_proba, labelled_errors
from karat.consensus.model._measures import error_rates, finite_errors
from karat.consensus.model._model import Errors, Model, Problem, build_problem

__all__ = [
    "Errors",
    "Model",
    "Problem",
    "build_problem",
    "class_proba",
    "error_rates",
    "finite_errors",
    "labelled_errors",
]
