"""The best classifier against programs with one variable for each item and class."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from karat.decisions import Attainable, Mixture, maximise
from karat.decisions.solvers import Columns
from karat.exceptions import DataError, KaratError, KaratWarning, LabelError, MetricError
from karat.metrics import (
    FairMetric,
    FairQuadraticMetric,
    LinearFractionalMetric,
    LinearMetric,
    PowerMeanMetric,
    QuadraticMetric,
    accuracy,
    balanced_accuracy,
    f_beta,
    g_mean,
    macro,
    mcc,
    precision,
    recall,
)

FEW = hypothesis_settings(max_examples=20, deadline=None)


def population(seed, k, m, n=24):
    """Return calibrated probabilities, groups and weights."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(k, 0.6), n)
    groups = np.arange(n) % m
    return proba, groups, rng.uniform(0.5, 2.0, n), rng


def fair(rng, k, m, squared=False):
    q, pairs = k * k - k, m * (m - 1) // 2
    if not squared:
        return FairMetric(rng.random(q), rng.random((pairs, q)), 0.5)
    root = rng.normal(size=(pairs, q, q))
    return FairQuadraticMetric(rng.random(q), root @ np.swapaxes(root, 1, 2), 0.5)


def item_tables(proba, groups, weight, m):
    """Return T with ``C = Σ_n,j h[n, j] · T[n, j]`` for shares h of each item and class."""
    n, k = proba.shape
    mass = proba * (weight / weight.sum())[:, None]
    tables = np.zeros((n, k, m, k, k))
    for row in range(n):
        for j in range(k):
            tables[row, j, groups[row], :, j] = mass[row]
    return tables


def best_by_items(metric, tables):
    """Maximise a FairMetric with a variable for each item and class, and one for each gap."""
    n, k, m = tables.shape[:3]
    truth = tables.sum(axis=(1, 4))[..., :].sum(axis=0) / k
    off = ~np.eye(k, dtype=bool)
    rows = np.nonzero(off)[0]
    flat = tables.reshape(n * k, m, k, k)
    rates = (flat / truth[:, :, None])[:, :, off]
    overall = flat.sum(axis=1)[:, off] / truth.sum(axis=0)[rows]
    pairs = [(u, v) for u in range(m) for v in range(u + 1, m)]
    gaps = np.concatenate([rates[:, u] - rates[:, v] for u, v in pairs], axis=1).T
    size = len(gaps)
    done = linprog(
        np.concatenate(
            [
                (1 - metric.tradeoff) * overall @ metric.cost,
                metric.tradeoff * metric.violation.ravel(),
            ]
        ),
        A_ub=np.block([[gaps, -np.eye(size)], [-gaps, -np.eye(size)]]),
        b_ub=np.zeros(2 * size),
        A_eq=np.hstack([np.kron(np.eye(n), np.ones(k)), np.zeros((n, size))]),
        b_eq=np.ones(n),
    )
    return -done.fun


@pytest.mark.parametrize(("k", "m"), [(2, 2), (2, 3), (3, 2), (3, 3), (4, 2)])
def test_absolute_gaps_equal_the_program_of_all_items(k, m):
    for seed in range(3):
        proba, groups, weight, rng = population(seed, k, m)
        metric = fair(rng, k, m)
        some = Attainable.from_calibrated(proba, groups=groups, sample_weight=weight)
        best = maximise(metric, some, tol=1e-10)
        exact = best_by_items(metric, item_tables(proba, groups, weight, m))
        assert best.certified
        assert best.value == pytest.approx(exact, abs=1e-8)
        assert best.value + best.gap >= exact - 1e-9


@pytest.mark.parametrize(("k", "m"), [(2, 2), (3, 2), (2, 3)])
def test_squared_gaps_equal_a_search_over_all_items(k, m):
    """SLSQP over the shares of every item, from the classifier that was found and elsewhere."""
    for seed in range(2):
        proba, groups, weight, rng = population(seed, k, m, n=12)
        metric = fair(rng, k, m, squared=True)
        some = Attainable.from_calibrated(proba, groups=groups, sample_weight=weight)
        best = maximise(metric, some, tol=1e-9)
        tables = item_tables(proba, groups, weight, m)
        n = len(proba)

        def falls(x, metric=metric, tables=tables, n=n):
            at = np.einsum("nj,njgab->gab", x.reshape(n, k), tables)
            slope = metric._gradients(at[None])[0]
            return -metric(at), -np.einsum("gab,njgab->nj", slope, tables).ravel()

        sums = {
            "type": "eq",
            "fun": lambda x, n=n: x.reshape(n, k).sum(axis=1) - 1,
            "jac": lambda x, n=n: np.kron(np.eye(n), np.ones(k)),
        }
        found = minimize(
            falls, rng.dirichlet(np.ones(k), n).ravel(), jac=True, method="SLSQP",
            bounds=[(0, 1)] * (n * k), constraints=sums, options={"ftol": 1e-13, "maxiter": 500},
        )  # fmt: skip
        assert best.value == pytest.approx(-found.fun, abs=1e-6)


def every_threshold(proba, mass):
    """Return the confusions of all thresholds on the second probability, in both senses."""
    second = proba[:, 1]
    cuts = [*np.unique(second), np.inf]
    said = [s for cut in cuts for s in (second >= cut, second < cut)]
    return np.array([np.stack([mass[~s].sum(axis=0), mass[s].sum(axis=0)], axis=1) for s in said])


@pytest.mark.parametrize("metric", [f_beta(1), f_beta(2), precision, accuracy], ids=str)
def test_ratios_of_two_classes_equal_the_best_of_all_thresholds(metric):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        second = np.round(rng.beta(1, 3, 60), 2)
        y = (rng.random(60) < 0.3 + 0.5 * second).astype(int)
        proba = np.column_stack([1 - second, second])
        best = maximise(metric, Attainable.from_proba(y, proba))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KaratWarning)
            values = [metric(table) for table in every_threshold(proba, np.eye(2)[y] / 60)]
        assert best.value == pytest.approx(max(values), abs=1e-12)
        assert len(best.mixture.shares) == 1


def test_ratios_of_three_classes_equal_a_program_of_all_items():
    """Charnes and Cooper (1962): a ratio over a polytope is a linear program."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        proba = rng.dirichlet(np.ones(3), 30)
        top, bottom = rng.random((3, 3)), 0.3 + rng.random((3, 3))
        metric = LinearFractionalMetric(top, bottom)
        best = maximise(metric, Attainable.from_calibrated(proba))
        numerator, denominator = (proba @ part / 30 for part in (top, bottom))
        # Variables y = t·h and t: maximise N·y with D·y = 1, Σ_j y_nj = t.
        done = linprog(
            -np.append(numerator.ravel(), 0.0),
            A_eq=np.vstack(
                [
                    np.append(denominator.ravel(), 0.0),
                    np.hstack([np.kron(np.eye(30), np.ones(3)), -np.ones((30, 1))]),
                ]
            ),
            b_eq=np.append(1.0, np.zeros(30)),
        )
        assert best.value == pytest.approx(-done.fun, abs=1e-9)
        assert best.gap <= 1e-9


def test_smooth_concave_metrics_of_one_population():
    rng = np.random.default_rng(3)
    proba = rng.dirichlet(np.full(3, 0.8), 400)
    some = Attainable.from_calibrated(proba)
    bend = rng.normal(size=(6, 6))
    means = [PowerMeanMetric([1, 5, 0.2], rho) for rho in (1.0, 0.95, 0.6, 0.1, -0.5, -4.0)]
    bent = QuadraticMetric(-rng.random(6), -bend @ bend.T)
    for metric in (g_mean, bent, balanced_accuracy, *means):
        best = maximise(metric, some)
        assert metric.for_classes(3).form in ("concave", "linear")
        assert best.certified
        assert best.converged
        tables = some.blocks[0].optimal(rng.normal(size=(2000, 3, 3)))
        pairs = rng.random((1000, 1, 1))
        between = pairs * tables[:1000] + (1 - pairs) * tables[1000:]
        assert metric._values(np.concatenate([tables, between])).max() <= best.value + 1e-9


def test_a_certificate_is_a_certain_limit():
    some = Attainable.from_calibrated(np.random.default_rng(4).dirichlet(np.full(2, 0.8), 400))
    best = maximise(g_mean, some, tol=1e-4)
    assert best.certified
    assert (best.basis, best.confidence) == ("certain", 1.0)
    assert best.lower == best.value == float(best)
    assert best.upper == best.value + best.gap
    sharper = maximise(g_mean, some, tol=1e-10)
    assert best.lower - 1e-12 <= sharper.value <= best.upper + 1e-12


@pytest.mark.parametrize("metric", [mcc, macro(f_beta(1))], ids=lambda m: m.title)
def test_other_metrics_are_followed_and_say_that_nothing_is_proven(metric):
    rng = np.random.default_rng(4)
    some = Attainable.from_calibrated(rng.dirichlet(np.full(3, 0.8), 400))
    best = maximise(metric, some)
    assert not best.certified
    assert (best.basis, best.lower) == ("unknown", best.value)
    assert np.isnan(best.upper)
    assert "others may" in best.summary()
    guess = metric(np.outer(some.truth, some.truth))
    assert best.value > guess


def test_classifiers_that_do_not_see_groups_do_no_better():
    proba, groups, weight, rng = population(0, 2, 2, n=300)
    metric = fair(rng, 2, 2)
    options = {"groups": groups, "sample_weight": weight}
    sees = maximise(metric, Attainable.from_calibrated(proba, **options))
    blind = maximise(metric, Attainable.from_calibrated(proba, sees_groups=False, **options))
    assert blind.value <= sees.value + 1e-7
    assert len(blind.mixture.weights[0]) == 1
    # A threshold for all, by brute force over pairs of thresholds and a grid of shares.
    joint = np.zeros((300, 2, 2))
    joint[np.arange(300), groups] = proba * (weight / weight.sum())[:, None]
    second = proba[:, 1]
    cuts = np.quantile(second, np.linspace(0, 1, 40))
    tables = np.stack(
        [
            np.stack([joint[second < c].sum(axis=0), joint[second >= c].sum(axis=0)], axis=-1)
            for c in cuts
        ]
    )
    for share in np.linspace(0, 1, 5):
        mixed = share * tables[:, None] + (1 - share) * tables[None]
        assert metric._values(mixed.reshape(-1, 2, 2, 2)).max() <= blind.value + 1e-9


def test_groups_keep_their_names():
    rng = np.random.default_rng(4)
    proba, names = rng.dirichlet([1, 1], 80), np.where(np.arange(80) % 2, "west", "east")
    metric = FairMetric([1, 1], [[1, 1]], 0.5)
    for sees in (True, False):
        some = Attainable.from_calibrated(proba, groups=names, sees_groups=sees)
        best = maximise(metric, some)
        assert best.groups.tolist() == ["east", "west"]
        for table, name in zip(best.confusion, best.groups, strict=True):
            own = proba[names == name].sum(axis=0) / 80
            np.testing.assert_allclose(table.sum(axis=1), own)
    whole = Attainable.from_calibrated(proba)
    assert maximise(f_beta(1), whole).groups.size == 0
    with pytest.raises(DataError, match="groups names 3 groups and n_groups is 2"):
        Attainable(some.blocks, n_groups=2, groups=["a", "b", "c"])


@FEW
@given(seed=st.integers(0, 10**6), k=st.integers(2, 3), m=st.integers(2, 3), squared=st.booleans())
def test_order_of_items_and_repeats_do_not_matter(seed, k, m, squared):
    proba, groups, _, rng = population(seed, k, m)
    metric = fair(rng, k, m, squared=squared)
    once = maximise(metric, Attainable.from_calibrated(proba, groups=groups), tol=1e-8)
    order = rng.permutation(len(proba))
    twice = np.concatenate([order, order])
    again = maximise(
        metric, Attainable.from_calibrated(proba[twice], groups=groups[twice]), tol=1e-8
    )
    assert again.value == pytest.approx(once.value, abs=2e-8)
    weight = rng.integers(1, 4, len(proba))
    heavy = Attainable.from_calibrated(proba, groups=groups, sample_weight=weight)
    rows = np.repeat(np.arange(len(proba)), weight)
    copied = Attainable.from_calibrated(proba[rows], groups=groups[rows])
    values = [maximise(metric, some, tol=1e-8).value for some in (heavy, copied)]
    assert values[0] == pytest.approx(values[1], abs=2e-8)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_linear_metrics_are_given_the_bayes_rule(k):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        proba = rng.dirichlet(np.ones(k), 200)
        gains = rng.normal(size=(k, k)) * 10 ** rng.uniform(-2, 2)
        best = maximise(LinearMetric(gains), Attainable.from_calibrated(proba))
        assert best.value == pytest.approx((proba @ gains).max(axis=1).mean(), rel=1e-12)
        assert (best.gap, best.certified, len(best.mixture.shares)) == (0.0, True, 1)


@pytest.mark.parametrize("tradeoff", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("rank", [0, 1])
def test_flat_directions_are_no_obstacle(rank, tradeoff):
    """Violations that see one combination of the gaps, or none, and no weight on gaps at all."""
    for seed in range(10):
        k, m = 2 + seed % 2, 2 + seed % 3 // 2
        proba, groups, _, rng = population(seed, k, m, n=100)
        q, pairs = k * k - k, m * (m - 1) // 2
        root = rng.normal(size=(pairs, q, rank))
        metric = FairQuadraticMetric(rng.random(q), root @ np.swapaxes(root, 1, 2), tradeoff)
        best = maximise(metric, Attainable.from_calibrated(proba, groups=groups), tol=1e-8)
        assert best.converged
    linear = QuadraticMetric(-rng.random(6), np.zeros((6, 6)))
    some = Attainable.from_calibrated(rng.dirichlet(np.ones(3), 100))
    assert maximise(linear, some).converged


def test_odds_beyond_all_numbers_have_their_threshold():
    second = 10.0 ** -np.array([10, 50, 100, 150, 170, 190, 210, 250, 290, 300])
    y = np.array([1] * 6 + [0] * 4)
    for turn in (1, -1):
        proba, truth = np.column_stack([1 - second, second])[:, ::turn], y if turn == 1 else 1 - y
        for metric in (balanced_accuracy, f_beta(1)):
            best = maximise(metric, Attainable.from_proba(truth, proba))
            shares = best.mixture.class_shares(proba, np.ones((10, 1)))
            assert best.value == pytest.approx(1.0)
            assert metric.score(truth, shares) == pytest.approx(1.0)


def test_g_means_of_rules_that_never_predict_a_class():
    assert maximise(g_mean, Attainable.from_calibrated(np.full((10, 2), 0.5))).value == (
        pytest.approx(0.5, abs=1e-6)
    )
    for seed in range(20):
        rng = np.random.default_rng(seed)
        k = 3 + seed % 4
        proba = rng.dirichlet(np.full(k, 20.0), 80)  # hardly informative
        best = maximise(g_mean, Attainable.from_calibrated(proba))
        assert best.value >= 1 / k - 1e-6  # which guessing has
        assert best.converged


@pytest.mark.parametrize("metric", [g_mean, balanced_accuracy, accuracy], ids=lambda m: m.title)
@pytest.mark.filterwarnings("ignore::karat.exceptions.UndefinedMetricWarning")
def test_a_class_that_does_not_occur_makes_no_difference(metric):
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(3), 80)
    y = rng.integers(0, 2, 80)
    best = maximise(metric, Attainable.from_proba(y, proba, classes=[0, 1, 2]))
    assert metric(best.confusion) == pytest.approx(best.value)
    assert best.value > 0.5


def test_ratios_of_any_scale_and_with_denominators_of_0():
    rng = np.random.default_rng(5)
    second = rng.beta(1, 3, 80)
    proba = np.column_stack([1 - second, second])
    some = Attainable.from_calibrated(proba)
    f1 = f_beta(1)
    expected = maximise(f1, some).value
    for scale in (1e-16, 1e-12, 1e12, -1.0):
        same = LinearFractionalMetric(f1.numerator * scale, f1.denominator * scale)
        assert maximise(same, some).value == pytest.approx(expected, rel=1e-9)
    # Positives of hardly any weight: the best of all thresholds all the same.
    y, weight = (rng.random(80) < second).astype(int), np.ones(80)
    weight[y == 1] = 1e-11
    best = maximise(f1, Attainable.from_proba(y, proba, sample_weight=weight))
    mass = np.eye(2)[y] * (weight / weight.sum())[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        values = [f1(table) for table in every_threshold(proba, mass)]
    assert best.value == pytest.approx(max(values), rel=1e-6)
    nobody = LinearFractionalMetric([[0, -1], [0, 0]], [[0, 1], [0, 1]])  # − false discovery rate
    flat = Attainable.from_proba([0, 1, 0, 1], np.full((4, 2), 0.5))
    assert maximise(nobody, flat).value == 0.0
    with pytest.raises(MetricError, match="is 0 for every classifier"):
        maximise(recall, Attainable.from_proba(np.zeros(80, int), proba, classes=[0, 1]))


@pytest.mark.parametrize("metric", [g_mean, mcc, f_beta(1)], ids=lambda m: m.title)
@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
def test_what_is_returned_belongs_together_however_soon_it_stops(metric, rounds):
    rng = np.random.default_rng(6)
    proba = rng.dirichlet(np.ones(2), 100)
    some = Attainable.from_calibrated(proba)
    best = maximise(metric, some, max_rounds=rounds)
    assert metric(best.confusion) == pytest.approx(best.value, abs=1e-12)
    shares = best.mixture.class_shares(proba, np.ones((100, 1)))
    table = (proba / 100).T @ shares
    assert metric(table) == pytest.approx(best.value, abs=1e-9)
    assert len(best.values) <= rounds
    with pytest.raises(KaratError, match="max_rounds"):
        maximise(metric, some, max_rounds=0)


def test_probabilities_of_single_precision_are_taken_at_their_word():
    proba = np.random.default_rng(0).dirichlet(np.ones(3), 50).astype(np.float32)
    assert Attainable.from_calibrated(proba).exact


def test_columns_that_are_passed_are_used_and_grow():
    proba, groups, _, rng = population(1, 3, 2)
    some = Attainable.from_calibrated(proba, groups=groups)
    columns = some.columns()
    before = len(columns.points[0])
    first = maximise(fair(rng, 3, 2), some, columns=columns)
    assert len(columns.points[0]) > before
    again = maximise(fair(np.random.default_rng(1), 3, 2), some, columns=columns)
    assert isinstance(columns, Columns)
    assert first.converged
    assert again.converged


def test_a_gap_that_is_left_is_said():
    proba, groups, _, rng = population(2, 4, 3, n=200)
    some = Attainable.from_calibrated(proba, groups=groups)
    with pytest.warns(KaratWarning, match="can still rise by up to"):
        best = maximise(fair(rng, 4, 3), some, max_rounds=3)
    assert not best.converged
    finished = maximise(fair(np.random.default_rng(2), 4, 3), some)
    assert finished.converged


def test_mixtures_of_blocks_are_joined_without_changing_any_block():
    rng = np.random.default_rng(0)
    shares = [rng.dirichlet(np.ones(n)) for n in (1, 3, 5)]
    rules = [rng.normal(size=(n, 2, 2)) for n in (1, 3, 5)]
    mixture = Mixture.of_blocks(shares, rules)
    assert mixture.shares.sum() == pytest.approx(1)
    for b, (own, made) in enumerate(zip(shares, rules, strict=True)):
        for share, rule in zip(own, made, strict=True):
            same = (mixture.weights[:, b] == rule).all(axis=(1, 2))
            assert mixture.shares[same].sum() == pytest.approx(share, abs=1e-11)


def test_bad_input():
    proba = np.column_stack([np.linspace(0.9, 0.1, 6), np.linspace(0.1, 0.9, 6)])
    groups = ["a", "a", "a", "b", "b", "b"]
    whole = Attainable.from_calibrated(proba)
    apart = Attainable.from_calibrated(proba, groups=groups)
    metric = FairMetric([1, 1], [[1, 1]], 0.5)
    with pytest.raises(MetricError, match="is for 2 groups and what is attainable has no groups"):
        maximise(metric, whole)
    with pytest.raises(MetricError, match="is for no groups and what is attainable has 2 groups"):
        maximise(accuracy, apart)
    with pytest.raises(MetricError, match="expected a metric of"):
        maximise("accuracy", whole)
    with pytest.raises(MetricError, match="is for 3 classes"):
        maximise(QuadraticMetric(np.ones(6), np.eye(6)), whole)
    with pytest.raises(MetricError, match="negative for some classifiers"):
        maximise(LinearFractionalMetric([[1, 0], [0, 1]], [[1, -1], [-1, 1]]), whole)
    with pytest.raises(LabelError, match="the group 'b' has no item with weight of class number 0"):
        Attainable.from_proba([0, 1, 0, 1, 1, 1], proba, groups=groups)
