"""With exact probabilities a classifier reaches the greatest value that any classifier has.

Validation labels are drawn. The loss of a rule whose weights are off by O(n^−½) is O(1/n), so with
20,000 rows it is far below 1e-3, the limit here.
"""

import numpy as np
import pytest

from karat.elicit import MetricOracle
from karat.metrics import LinearMetric, f_beta, g_mean, macro
from karat.optimize import FrankWolfeClassifier, PlugInClassifier, Preferences

N, CLOSE = 20_000, 1e-3
WAYS = {
    "known": {"gradient": "known"},
    "probed": {"gradient": "probed"},
    "separated": {"probes": "separated"},
    "separated and probed": {"probes": "separated", "gradient": "probed"},
    "labels": {"matching": "labels"},
    "labels and probed": {"matching": "labels", "gradient": "probed"},
    "line search": {"step": "line-search"},
    "line search and probed": {"step": "line-search", "gradient": "probed"},
}


def linear(k, seed=0):
    """Gains of which being right is the greatest, more or less."""
    return LinearMetric(np.random.default_rng(seed).normal(size=(k, k)) + 1.5 * np.eye(k))


@pytest.fixture(scope="module")
def problems(law):
    """For each name: the law, the metric, and the greatest value."""
    two, three = law(2), law(3)
    cases = {
        "F1": (two, f_beta(1), two.best_threshold(f_beta(1))),
        "G-mean of 2": (two, g_mean, two.best_threshold(g_mean)),
        "G-mean of 3": (three, g_mean, three.best_weights(g_mean)),
    }
    for k in (2, 3, 4):
        cases[f"linear of {k}"] = (law(k), linear(k), law(k).best_linear(linear(k)))
    return cases


PROBLEMS = ["F1", "G-mean of 2", "G-mean of 3", "linear of 2", "linear of 3", "linear of 4"]


@pytest.mark.parametrize(
    ("way", "problem"),
    # Separated probes of all entries are many programs, and have a test of their own.
    [(w, p) for w in WAYS for p in PROBLEMS if "separated" not in w or p[-1] not in "34"]
    + [("separated", "G-mean of 3")],
)
def test_reaches_the_greatest_value(problems, way, problem, rng):
    where, metric, most = problems[problem]
    clf = FrankWolfeClassifier(metric=metric, **WAYS[way])
    clf.fit_from_proba(*where.sample(N, rng))
    # The best threshold on the rows, which two classes are given where the form of the metric is
    # used, is off by O(n^−1/3): cube-root asymptotics (Kim & Pollard 1990). What is lost is of the
    # square of that.
    chosen_by_labels = len(where.alpha) == 2 and "probed" not in way
    assert where.value(metric, clf) > most - (3 * N ** (-2 / 3) if chosen_by_labels else CLOSE)


@pytest.mark.parametrize("gradient", ["known", "probed"])
def test_separated_probes_of_all_entries_reach_it_too(problems, gradient, rng):
    where, metric, most = problems["linear of 3"]
    clf = PlugInClassifier(metric=metric, gradient=gradient, probes="separated")
    clf.fit_from_proba(*where.sample(3000, rng))
    # Fewer rows, for these are many programs; the loss goes with 1/n.
    assert where.value(metric, clf) > most - CLOSE * N / 3000


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_function_reaches_the_greatest_value(problems, problem, as_function, rng):
    where, metric, most = problems[problem]
    entries = "all" if problem in ("linear of 3", "linear of 4") else None
    clf = FrankWolfeClassifier(metric=as_function(metric), entries=entries, n_iter=30)
    clf.fit_from_proba(*where.sample(N, rng))
    assert where.value(metric, clf) > most - CLOSE


@pytest.mark.parametrize("problem", ["F1", "G-mean of 2", "G-mean of 3"])
def test_preferences_come_near_the_greatest_value(problems, problem, rng):
    """Angles are known within 0.05, and the loss is of the square of that."""
    where, metric, most = problems[problem]
    clf = FrankWolfeClassifier(metric=Preferences(MetricOracle(metric), tol=0.05))
    clf.fit_from_proba(*where.sample(N, rng))
    assert where.value(metric, clf) > most - 5e-3
    assert np.isnan(clf.history_.value)


@pytest.mark.parametrize("problem", ["linear of 2", "linear of 3", "linear of 4"])
@pytest.mark.parametrize("gradient", ["known", "probed"])
def test_one_rule_is_enough_for_a_linear_metric(problems, problem, gradient, rng):
    where, metric, most = problems[problem]
    clf = PlugInClassifier(metric=metric, gradient=gradient)
    clf.fit_from_proba(*where.sample(N, rng))
    assert where.value(metric, clf) > most - CLOSE
    assert len(clf.mixture_.shares) == 1


def best_macro_f1(law, metric, rng):
    """Ascent from many starts over the rules ``argmax_j a_j·η_j − b_j``, of which the best is one.

    At a stationary point ``a_j = 2/(P(Y=j) + P(Ŷ=j))`` and ``b_j = a_j·F_j/2``.
    """
    rows, best = law.population, 0.0
    for _ in range(12):
        a, b = rng.uniform(1, 8, 3), rng.uniform(0, 0.5, 3)
        for _ in range(12):
            table = law.confusion(np.eye(3)[np.argmax(a * rows - b, axis=1)])
            best = max(best, float(metric(table)))
            a = 2.0 / (table.sum(axis=0) + table.sum(axis=1))
            b = a**2 * np.diag(table) / 2
    return best


@pytest.mark.filterwarnings("ignore::karat.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("gradient", ["known", "probed"])
def test_macro_f1_of_three_classes_needs_all_entries(law, gradient, rng):
    metric, where = macro(f_beta(1)), law(3)
    most = best_macro_f1(where, metric, rng)
    clf = FrankWolfeClassifier(metric=metric, gradient=gradient, entries="all")
    clf.fit_from_proba(*where.sample(N, rng))
    assert where.value(metric, clf) > most - CLOSE
    by_default = FrankWolfeClassifier(metric=metric, n_iter=2).fit_from_proba(
        *where.sample(2000, rng)
    )
    assert by_default.weights_.weights.ndim == 3


def test_never_better_than_the_greatest_value(problems, rng):
    """The oracles are right: nothing that was found beats them."""
    for where, metric, most in problems.values():
        clf = FrankWolfeClassifier(metric=metric).fit_from_proba(*where.sample(5000, rng))
        assert where.value(metric, clf) < most + 1e-4


def test_the_gap_bounds_what_is_lost_where_labels_are_as_expected(law):
    """G-mean is concave; each row is there once with each label, weighted by its probability."""
    where = law(2)
    rows = where.population[:4000]
    proba, y = np.repeat(rows, 2, axis=0), np.tile([0, 1], len(rows))
    clf = FrankWolfeClassifier(metric=g_mean).fit_from_proba(proba, y, sample_weight=rows.ravel())
    found = clf.history_
    before = np.append(np.nan, found.values[:-1])
    assert (before[1:] + found.gaps[1:] > found.values.max() - 1e-9).all()
    # Frank–Wolfe's rate: the loss after t steps is O(1/t).
    assert found.gaps[-1] < 0.05


def test_a_search_leaves_constant_classifiers():
    """Few rows can make the first rule constant; probes from such rules are all alike."""
    eta = np.random.default_rng(0).beta(1, 4, 20_000)
    population, worst = np.column_stack([1 - eta, eta]), 1.0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        p = rng.beta(1, 4, 200)
        y = (rng.random(200) < p).astype(int)
        clf = FrankWolfeClassifier(metric=g_mean, gradient="probed", n_iter=8)
        clf.fit_from_proba(np.column_stack([1 - p, p]), y)
        shares = clf.predict_proba_from_proba(population)
        worst = min(worst, g_mean(population.T @ shares / len(population)))
    assert worst > 0.6  # the best is 0.705; mixtures of constants have at most 0.5
