"""What people were asked, and how probable their answers are."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from karat._typing import FloatArray
from karat.elicit.people._chart import Chart, log_ratios
from karat.elicit.people.loops import Asked
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
        self.asked = self._asked()
        self._differences = self._feature_differences()

    @property
    def size(self) -> int:
        """Length of a state."""
        return self.chart.dim + N_NOISE

    def log_answers(self, states: FloatArray) -> FloatArray:
        """Return the log-probability (chains, people) of the answers under states of everyone."""
        if self.asked is not None:
            from karat.elicit.people.loops import log_answers

            return log_answers(states, self.chart.dim, self.asked)
        chains, people = states.shape[:2]
        flat = states.reshape(chains * people, -1)
        parameters = self.chart.parameters(flat[:, : self.chart.dim])
        margins = self._margins(parameters, chains, people)
        noise = read_noise(ndtr(flat[:, self.chart.dim :]), np.tile(self.typical, chains))
        signs = np.broadcast_to(self.signs, margins.shape).reshape(len(flat), -1)
        return log_likelihood(margins.reshape(len(flat), -1), noise, signs).reshape(chains, people)

    def log_noise(self, states: FloatArray) -> FloatArray:
        """Return the log-density (..) of the noise of states (.., size) a priori."""
        return np.asarray(-0.5 * np.sum(states[..., self.chart.dim :] ** 2, axis=-1))

    def _margins(self, parameters: FloatArray, chains: int, people: int) -> FloatArray:
        """Return by how much everyone values the first side more: (chains, people, t)."""
        if self._differences is not None:
            weights = self.chart.feature_weights(parameters).reshape(chains, people, -1)
            found = np.matmul(weights.swapaxes(0, 1), self._differences)
            return np.ascontiguousarray(found.swapaxes(0, 1))
        parameters = parameters.reshape(chains, people, -1)
        margins = np.zeros((chains, *self.signs.shape))
        for i, points in enumerate(self.points):
            values, half = self.chart.family.values(parameters[:, i], points), len(points) // 2
            margins[:, i, :half] = values[:, :half] - values[:, half:]
        return margins

    def _asked(self) -> Asked | None:
        """Return what compiled loops read; None where the chart is not for them."""
        if self.chart.blocks is None:
            return None
        t, above, below = self.signs.shape[1], [], []
        for points in self.points:
            found = self.chart.fractions(points)
            assert found is not None  # charts with blocks have them
            pad = ((0, t - len(points) // 2), (0, 0))
            first, second = (np.pad(side, pad) for side in np.split(found[0], 2))
            above.append(first - second if found[1] is None else np.vstack([first, second]))
            if found[1] is not None:
                below.append(np.vstack([np.pad(side, pad) for side in np.split(found[1], 2)]))
        return Asked(
            above=np.stack(above),
            below=np.stack(below) if below else np.empty((0, 0, 0)),
            signs=self.signs,
            counts=np.array([len(points) // 2 for points in self.points]),
            typical=self.typical,
            blocks=np.array(self.chart.blocks, dtype=np.int64),
            basis=log_ratios(max(self.chart.blocks, default=0) + 1),
            sparse=self.chart.sparse,
        )

    def _feature_differences(self) -> FloatArray | None:
        """Return the features (people, f, t) of first sides less those of second ones.

        None for families that bend.
        """
        found = None
        for i, points in enumerate(self.points):
            features, half = self.chart.features(points), len(points) // 2
            if features is None:
                return None
            if found is None:
                found = np.zeros((len(self.points), features.shape[1], self.signs.shape[1]))
            found[i, :, :half] = (features[:half] - features[half:]).T
        return found
