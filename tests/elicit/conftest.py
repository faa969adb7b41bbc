"""Small spaces with a known law, and linear programs over single items as oracles."""

import warnings
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import kendalltau

from karat.datasets import LogisticLaw
from karat.elicit import BinarySpace, ConfusionSpace, DiagonalSpace, Elicitation, RateSpace
from karat.elicit.asking import Effort
from karat.exceptions import ContradictionWarning, NotIdentifiedWarning
from karat.metrics import FairMetric, FairQuadraticMetric, PolynomialMetric, QuadraticMetric

CELLS = 201


@pytest.fixture(scope="session")
def binary():
    return BinarySpace.from_density(LogisticLaw.binary(5.0).proba, n_points=CELLS)


@pytest.fixture(scope="session")
def diagonal():
    """A law in which every class is worth predicting somewhere."""
    return DiagonalSpace.from_density(LogisticLaw([-4, 1, 5]).proba, n_points=CELLS)


@pytest.fixture(scope="session")
def errors():
    return ConfusionSpace.from_density(LogisticLaw([1, 3, 5]).proba, n_points=CELLS)


@pytest.fixture(scope="session")
def rates():
    return RateSpace.from_density(LogisticLaw([1, 3, 5]).proba, n_points=CELLS)


@pytest.fixture(scope="session")
def spaces(binary, diagonal, errors, rates):
    odds = RateSpace.from_density(LogisticLaw.binary(5.0).proba, n_points=CELLS)
    return {
        "binary": binary,
        "diagonal": diagonal,
        "confusion": errors,
        "rate": rates,
        "odds": odds,
        "groups": lawful_space(n=400),
    }


def draw_cells(kind, k, cells, seed):
    """Return a space over a few cells whose class probabilities are known exactly."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(k, 0.8), cells)
    return kind.from_calibrated(proba, sample_weight=rng.uniform(0.2, 1.0, cells))


@pytest.fixture(scope="session")
def few_cells():
    return draw_cells


class ItemProgram:
    """Every randomised classifier of a population: one variable h[x, j] for each item and class."""

    def __init__(self, space):
        self.mass = space.population.mass
        self.n, self.k = self.mass.shape
        # Coordinates are linear in the confusion: column (x, j) is what deciding j for x adds.
        self.columns = np.zeros((space.dim, self.n * self.k))
        for x in range(self.n):
            for j in range(self.k):
                table = np.zeros((self.k, self.k))
                table[:, j] = self.mass[x]
                self.columns[:, x * self.k + j] = space.coordinates(table)
        self.one_decision = np.kron(np.eye(self.n), np.ones(self.k))

    def _solve(self, cost, extra, target):
        size = self.n * self.k
        equal = np.vstack(
            [
                np.hstack([self.columns, extra]),
                np.hstack([self.one_decision, np.zeros((self.n, extra.shape[1]))]),
            ]
        )
        done = linprog(
            np.append(np.zeros(size), cost), A_eq=equal, b_eq=np.append(target, np.ones(self.n))
        )
        assert done.status == 0, done.message
        return done.fun

    def distance(self, target):
        """Return the least sum of absolute differences from a point to what is feasible."""
        dim = len(target)
        slack = np.hstack([np.eye(dim), -np.eye(dim)])
        return self._solve(np.ones(2 * dim), slack, target)

    def farthest(self, center, along):
        """Return the greatest t for which ``center + t·along`` is feasible."""
        return -self._solve([-1.0], -np.asarray(along, dtype=float)[:, None], center)

    def best(self, direction):
        """Return the greatest ⟨direction, coordinates⟩: each item decides for itself."""
        gains = (direction @ self.columns).reshape(self.n, self.k)
        return gains.max(axis=1).sum()

    def radius(self, center):
        ways = [
            min(self.farthest(center, axis), self.farthest(center, -axis))
            for axis in np.eye(len(center))
        ]
        return float(np.sum(np.array(ways) ** -2.0) ** -0.5)


@pytest.fixture(scope="session")
def item_program():
    return ItemProgram


def random_confusions(space, n, rng):
    """Draw confusions inside the feasible set: mixtures of classifiers for random gains."""
    gains = rng.normal(size=(4 * n, space.n_classes, space.n_classes))
    tables = space.population.optimal(gains).reshape(n, 4, space.n_classes, space.n_classes)
    return np.einsum("np,npij->nij", rng.dirichlet(np.ones(4), n), tables)


@pytest.fixture(scope="session")
def draw_confusions():
    return random_confusions


def same_order(a, b, close=1e-9):
    """Whether two lists of values order all pairs alike, but for pairs that are nearly equal."""
    a, b = np.asarray(a), np.asarray(b)
    apart = (a[:, None] - a[None], b[:, None] - b[None])
    clear = (np.abs(apart[0]) > close) & (np.abs(apart[1]) > close)
    assert clear.mean() > 0.5
    return bool((np.sign(apart[0])[clear] == np.sign(apart[1])[clear]).all())


@pytest.fixture(scope="session")
def ranks_alike():
    return same_order


@pytest.fixture(scope="session")
def rank_correlation():
    """Kendall's τ of two metrics on confusions."""

    def tau(one, other, confusions):
        return kendalltau(one(confusions), other(confusions)).statistic

    return tau


# --- groups, and metrics that are not linear


@cache
def perfect_space(k, m=1, n=None):
    """Return what is attained by someone who knows the labels: all rates, in m random groups."""
    rng, n = np.random.default_rng(k * m), n or 60 * k * m
    y = np.arange(n) % k
    groups = None if m == 1 else rng.integers(0, m, n)
    return RateSpace.from_proba(y, np.eye(k)[y], groups=groups)


@cache
def lawful_space(m=2, n=1500):
    """Return what is attained by a logistic law of two classes, in m groups of unequal size."""
    law, rng = LogisticLaw.binary(5.0), np.random.default_rng(m)
    x, y = law.sample(n, rng=0)
    groups = rng.choice(
        [f"group {g}" for g in range(m)], n, p=np.arange(1, m + 1) * 2 / m / (m + 1)
    )
    return RateSpace.from_proba(y, law.proba(x), groups=groups)


@pytest.fixture(scope="session")
def calibrated():
    """Two groups whose labels occur exactly as often as the probabilities say."""
    share = np.concatenate([np.arange(1, 20), np.arange(2, 20, 3)]) / 20
    groups = np.repeat(["a", "b"], [19 * 20, 6 * 20])
    y = (np.tile(np.arange(20), 25) < np.repeat(20 * share, 20).round()).astype(int)
    score = np.repeat(share, 20)
    return RateSpace.from_proba(y, np.column_stack([1 - score, score]), groups=groups)


@pytest.fixture(scope="session")
def perfect():
    return perfect_space


@pytest.fixture(scope="session")
def lawful():
    return lawful_space


class Drawn:
    """Metrics drawn at random, normalised."""

    @staticmethod
    def fair(k, m, rng, tradeoff=None):
        q, pairs = k * k - k, m * (m - 1) // 2
        share = rng.uniform(0.1, 0.9) if tradeoff is None else tradeoff
        cost, gaps = np.abs(rng.normal(size=q)), np.abs(rng.normal(size=(pairs, q)))
        even = FairMetric(cost, gaps, 0.5).normalized()
        return FairMetric(even.cost, even.violation, share)

    @staticmethod
    def fair_quadratic(k, m, rng, tradeoff=None):
        q, pairs = k * k - k, m * (m - 1) // 2
        share = rng.uniform(0.1, 0.9) if tradeoff is None else tradeoff
        cost, root = np.abs(rng.normal(size=q)), rng.normal(size=(pairs, q, q))
        even = FairQuadraticMetric(cost, root @ root.swapaxes(1, 2), 0.5).normalized()
        return FairQuadraticMetric(even.cost, even.violation, share)

    @staticmethod
    def quadratic(q, rng, bend=1.0):
        root = rng.normal(size=(q, q))
        return QuadraticMetric(rng.normal(size=q), bend * (root + root.T) / 2).normalized()

    @staticmethod
    def polynomial(q, order, rng):
        tensors = []
        for n in range(1, order + 1):
            raw = rng.normal(size=(q,) * n)
            orders = list(permutations(range(n)))
            tensors.append(sum(raw.transpose(axes) for axes in orders) / len(orders))
        return PolynomialMetric(tensors).normalized()


@pytest.fixture(scope="session")
def drawn():
    return Drawn


# A third of what is computed by default.
_LEAN = {"particles": 500, "rival_particles": 330, "pool": 200, "candidates": 400, "panel": 130}


@pytest.fixture(autouse=True)
def lean(monkeypatch):
    """Compute less than by default: what is promised is promised for any effort."""
    if Elicitation.effort == Effort():  # some files have an effort of their own
        monkeypatch.setattr(Elicitation, "effort", Effort(**_LEAN))


@pytest.fixture
def thorough(lean, monkeypatch):
    """Compute what is computed by default: where the answers of one seeded run are looked at."""
    monkeypatch.setattr(Elicitation, "effort", Effort())


@pytest.fixture
def sparing(lean, monkeypatch):
    """Fewer draws: enough where only the estimate is looked at, or one run compared to another."""
    fewer = {"panel": 100, "draws": 40, "history_steps": 3, "history_draws": 40}
    effort = Effort(**(_LEAN | fewer | {"kept": 40, "boundary": 40}))
    monkeypatch.setattr(Elicitation, "effort", effort)


def answer_all(procedure, oracle):
    """Ask an oracle until nothing is left to ask; return the result without its warnings."""
    while (query := procedure.ask()) is not None:
        procedure.tell(oracle(query))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContradictionWarning)
        warnings.simplefilter("ignore", NotIdentifiedWarning)
        return procedure.result


@pytest.fixture(scope="session")
def asked_all():
    return answer_all


def errors_of(found, truth):
    """Return how far the cost, the violation and the trade-off of two metrics are apart."""
    return (
        np.linalg.norm(found.cost - truth.cost),
        np.linalg.norm(found.violation - truth.violation),
        abs(found.tradeoff - truth.tradeoff),
    )


@pytest.fixture(scope="session")
def fair_errors():
    return errors_of
