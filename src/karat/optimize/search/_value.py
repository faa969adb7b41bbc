"""The metric of given class shares on the validation rows."""

import numpy as np

from karat._typing import FloatArray
from karat.decisions.rules import last_argmax, one_hot
from karat.metrics import MetricBase
from karat.optimize.feedback import BlackBox, Feedback, Preferences, ProbedMetric
from karat.optimize.probes import Position, Sample
from karat.optimize.search._task import Task

__all__ = ["metric_value", "most_probable", "scale_of_sample"]


def metric_value(task: Task, shares: FloatArray) -> float:
    """Return the metric of class shares on all validation rows, NaN for preferences."""
    if isinstance(task.metric, Preferences):
        return float("nan")
    if isinstance(task.metric, MetricBase):
        feedback: Feedback = ProbedMetric(task.metric, 1.0, *scale_of_sample(task.validation))
    else:
        feedback = BlackBox(task.metric, task.rows, 1.0, str)
    confusion = task.validation.confusion(shares)
    return feedback.value(Position(confusion, None, None, shares))


def most_probable(task: Task) -> FloatArray:
    """Return the class shares of predicting the most probable class, the later one of equals."""
    proba = task.validation.proba
    return one_hot(last_argmax(proba), proba.shape[1])


def scale_of_sample(sample: Sample) -> tuple[float, FloatArray]:
    """Return the effective number of rows, and the confusion of predicting by probability.

    In that confusion every class is predicted somewhere, so that metrics have slopes there.
    """
    return 1.0 / float(np.sum(sample.weight**2)), sample.confusion(sample.proba)
