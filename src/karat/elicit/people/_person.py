"""What people were asked, and how probable their answers are."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from karat._typing import FloatArray
from karat.elicit.people._chart import Chart
from karat.elicit.posterior import N_NOISE, log_likelihood, read_noise

__all__ = ["People", "Person"]


class Person(NamedTuple):
    """What someone was asked and said."""

    first: FloatArray  # (t, q): one side of every pair that was answered
    second: FloatArray
    signs: FloatArray  # 1 for the first, −1 for the second, 0 for a tie
    typical: float  # difference that metrics typically see between two classifiers


class People:
    """The answers of several people, as a function of their states.

    A state is the coordinates z of a metric and the normal numbers that the noise is read from.
    """

    def __init__(self, chart: Chart, people: list[Person]) -> None:
        self.chart = chart
        self.points = [np.vstack([person.first, person.second]) for person in people]
        self.signs = np.full((len(people), max(len(p.signs) for p in people)), np.nan)
        for signs, person in zip(self.signs, people, strict=True):
            signs[: len(person.signs)] = person.signs
        self.typical = np.array([person.typical for person in people])

    @property
    def size(self) -> int:
        """Length of a state."""
        return self.chart.dim + N_NOISE

    def log_answers(self, states: FloatArray) -> FloatArray:
        """Return the log-probability (chains, people) of the answers under states of everyone."""
        chains, people = states.shape[:2]
        flat = states.reshape(chains * people, -1)
        parameters = self.chart.parameters(flat[:, : self.chart.dim]).reshape(chains, people, -1)
        margins = np.zeros((chains, *self.signs.shape))
        for i, points in enumerate(self.points):
            values, half = self.chart.family.values(parameters[:, i], points), len(points) // 2
            margins[:, i, :half] = values[:, :half] - values[:, half:]
        noise = read_noise(ndtr(flat[:, self.chart.dim :]), np.tile(self.typical, chains))
        signs = np.broadcast_to(self.signs, margins.shape).reshape(len(flat), -1)
        return log_likelihood(margins.reshape(len(flat), -1), noise, signs).reshape(chains, people)

    def log_noise(self, states: FloatArray) -> FloatArray:
        """Return the log-density (..) of the noise of states (.., size) a priori."""
        return np.asarray(-0.5 * np.sum(states[..., self.chart.dim :] ** 2, axis=-1))
