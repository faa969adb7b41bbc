"""Laws whose class probabilities are known, and the greatest values of metrics on them."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from karat.optimize._probes import Sample


class DirichletLaw:
    """A row is its class probabilities, which are Dirichlet; the label is drawn from them.

    The population is a large fixed set of rows in which labels are replaced by their expectation:
    confusions there are exact.
    """

    def __init__(self, alpha, n_population=20_000):
        self.alpha = np.asarray(alpha, float)
        self.population = np.random.default_rng(99).dirichlet(self.alpha, n_population)

    def sample(self, n, rng):
        proba = rng.dirichlet(self.alpha, n)
        y = (rng.random((n, 1)) > proba.cumsum(axis=1)).sum(axis=1)
        return proba, np.minimum(y, len(self.alpha) - 1)

    def confusion(self, shares):
        return self.population.T @ shares / len(self.population)

    def value(self, metric, classifier):
        """The metric of a fitted classifier on the population."""
        return float(metric(self.confusion(classifier.predict_proba_from_proba(self.population))))

    def best_threshold(self, metric):
        """The greatest value of two classes, over every threshold and both directions."""
        eta = np.sort(self.population[:, 1])
        n = len(eta)
        fn = np.append(0.0, eta.cumsum()) / n
        tn = np.append(0.0, (1 - eta).cumsum()) / n
        tp, fp = fn[-1] - fn, tn[-1] - tn
        above = np.stack([np.stack([tn, fp], 1), np.stack([fn, tp], 1)], 1)[1:-1]
        return float(max(metric(above).max(), metric(above[:, :, ::-1]).max()))

    def best_weights(self, metric, per_side=32):
        """The greatest value of three classes, over a grid of weight ratios that is refined."""
        center, reach = np.zeros(2), 3.0
        for _ in range(4):
            steps = np.linspace(-reach, reach, per_side // 2)
            found = {}
            for a in center[0] + steps:
                for b in center[1] + steps:
                    codes = np.argmax(self.population[::4] * np.exp([0.0, a, b]), axis=1)
                    table = self.population[::4].T @ np.eye(3)[codes] / len(codes)
                    found[a, b] = float(metric._values(table[None])[0])
            center, reach = np.array(max(found, key=found.get)), reach / 6
        codes = np.argmax(self.population * np.exp([0.0, *center]), axis=1)
        return float(metric(self.confusion(np.eye(3)[codes])))

    def best_linear(self, metric):
        """The greatest value of a linear metric: each row decides for itself."""
        return float((self.population @ metric.weights).max(axis=1).mean())


@pytest.fixture(scope="session")
def law():
    laws = {
        2: DirichletLaw([4.0, 1.0]),
        3: DirichletLaw([2.0, 1.0, 0.6]),
        4: DirichletLaw([2.0, 1.0, 0.6, 0.8]),
    }
    return laws.__getitem__


def counting(metric):
    """A metric as a function of labels (whole numbers) and shares."""

    def value(y_true, shares):
        k = shares.shape[1]
        table = np.stack([shares[y_true == i].sum(axis=0) for i in range(k)]) / len(y_true)
        return float(metric._values(table[None])[0])

    return value


@pytest.fixture(scope="session")
def as_function():
    return counting


def drawn_sample(rng, n=60, k=3, n_basis=2, labels=True):
    """Rows with soft basis functions and uneven weights."""
    weight = rng.uniform(0.2, 2.0, n)
    return Sample(
        rng.dirichlet(np.ones(k), n),
        np.column_stack([np.ones(n), rng.random((n, n_basis - 1))]),
        weight / weight.sum(),
        np.append(np.arange(k), rng.integers(0, k, n - k)) if labels else None,
    )


@pytest.fixture(scope="session")
def draw_sample():
    return drawn_sample


class SavedModel(ClassifierMixin, BaseEstimator):
    """A model that reads its probabilities off the first columns of X."""

    def __init__(self, classes):
        self.classes = classes
        self.classes_ = np.asarray(classes)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.asarray(X, dtype=float)[:, : len(self.classes_)]


@pytest.fixture(scope="session")
def saved_model():
    return SavedModel
