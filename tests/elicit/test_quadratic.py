"""Quadratic metrics: what is recovered, by how many questions, and what cannot be."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.datasets import LogisticLaw
from karat.elicit import Elicitation, MetricOracle, RateSpace
from karat.elicit.search import curvature_of_ratios
from karat.exceptions import ContradictionWarning, NotIdentifiedWarning
from karat.metrics import LinearMetric, QuadraticMetric

pytestmark = pytest.mark.usefixtures("sparing")
SEEDS = st.integers(0, 2**32)


def apart(found, truth):
    """Return the errors of a and of B."""
    return (
        np.linalg.norm(found.linear - truth.linear),
        np.linalg.norm(found.quadratic - truth.quadratic),
    )


def median_errors(space, metrics, asked_all, **options):
    errors, counts = [], set()
    for truth in metrics:
        result = asked_all(Elicitation(space, "quadratic", **options), MetricOracle(truth))
        assert result.finished
        errors.append(apart(result.metric, truth))
        counts.add(result.n_queries)
    return *np.median(errors, axis=0), counts


# --- the formula of the thesis


def exact_slopes(a, bend, center, step):
    places = [center, *(center + step * np.eye(len(a))), center - step * np.eye(len(a))[0]]
    slopes = np.array([a + bend @ place for place in places])
    return [s[None] / np.linalg.norm(s) for s in slopes], np.linalg.norm(slopes[0])


@given(seed=SEEDS, q=st.sampled_from([2, 6]))
@settings(max_examples=25, deadline=None)
def test_curvature_is_exact_for_exact_slopes(seed, q, drawn):
    """Equation 6.18 without its slips, in units of the gradient at the center."""
    metric = drawn.quadratic(q, np.random.default_rng(seed))
    slopes, size = exact_slopes(metric.linear, metric.quadratic, np.full(q, 0.4), 0.18)
    if min(abs(f[0, 0]) for f in slopes) < 0.05 or abs(slopes[1] - slopes[-1]).max() < 0.01:
        return  # ratios against the first entry, and a difference of them
    bend = curvature_of_ratios(slopes, 0.18)[0]
    assert np.allclose(bend * size, metric.quadratic, atol=1e-6)


def test_equation_6_18_as_printed_is_not(drawn):
    """``[F_ij(1 + F_j1) − F_ij F_j0 d_1 − F_i0 + F_ij t] d_1``: another B than the metric's."""
    rng, step, wrong, right = np.random.default_rng(0), 0.18, [], []
    while len(wrong) < 10:
        metric = drawn.quadratic(6, rng)
        slopes, size = exact_slopes(metric.linear, metric.quadratic, np.full(6, 1 / 3), step)
        if min(abs(f[0, 0]) for f in slopes) < 0.05:
            continue
        ratio = [f[0] / f[0, 0] for f in slopes]
        center, first, back, d = ratio[0], ratio[1], ratio[-1], size * slopes[0][0, 0]
        t = (back[1] + first[1] - 2 * center[1]) / (back[1] - first[1])
        printed = np.array(
            [
                [
                    (f[i] * (1 + first[j]) - f[i] * center[j] * d - center[i] + f[i] * t) * d
                    for j, f in enumerate(ratio[1:-1])
                ]
                for i in range(6)
            ]
        )
        wrong.append(np.abs(np.tril(printed - metric.quadratic)).max())
        right.append(np.abs(curvature_of_ratios(slopes, step)[0] * size - metric.quadratic).max())
    assert min(wrong) > 0.01
    assert max(right) < 1e-6


def test_many_metrics_at_once_are_each_as_alone(drawn, rng):
    slopes = [np.vstack(column) for column in zip(*[
        exact_slopes(m.linear, m.quadratic, np.full(6, 0.3), 0.1)[0]
        for m in (drawn.quadratic(6, rng) for _ in range(4))
    ], strict=True)]  # fmt: skip
    together = curvature_of_ratios(slopes, 0.1)
    for n in range(4):
        assert np.array_equal(
            together[n], curvature_of_ratios([f[n : n + 1] for f in slopes], 0.1)[0]
        )
    assert np.allclose(together, together.swapaxes(1, 2))


# --- what is recovered


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "runs", "most", "limits"), [(2, 21, 50, (0.02, 0.04)), (3, 5, 410, (0.01, 0.03))]
)
def test_bisection_recovers_any_quadratic(k, runs, most, limits, perfect, drawn, asked_all):
    space, rng = perfect(k), np.random.default_rng(k)
    metrics = [drawn.quadratic(space.dim, rng) for _ in range(runs)]
    *errors, counts = median_errors(space, metrics, asked_all, strategy="bisection")
    assert errors[0] <= limits[0]
    assert errors[1] <= limits[1]
    assert max(counts) <= most


@pytest.mark.slow
@pytest.mark.slow
def test_bisection_recovers_quadratics_of_four_classes(perfect, drawn, asked_all):
    space, rng = perfect(4), np.random.default_rng(4)
    metrics = [drawn.quadratic(12, rng) for _ in range(4)]
    *errors, counts = median_errors(space, metrics, asked_all, strategy="bisection")
    assert errors[0] <= 0.01
    assert errors[1] <= 0.03
    assert max(counts) <= 1560


@pytest.mark.parametrize(
    ("slopes", "runs", "limits"),
    [
        ((5.0,), 11, (0.02, 0.04)),
        pytest.param((1, 3, 5), 3, (0.06, 0.12), marks=pytest.mark.slow),
    ],
)
def test_bisection_under_a_law(slopes, runs, limits, drawn, asked_all):
    """Less is attained than by someone who knows all labels, so places are nearer together."""
    law = LogisticLaw.binary(*slopes) if len(slopes) == 1 else LogisticLaw(slopes)
    space = RateSpace.from_density(law.proba, n_points=201)
    rng = np.random.default_rng(1)
    metrics = [drawn.quadratic(space.dim, rng) for _ in range(runs)]
    *errors, _ = median_errors(space, metrics, asked_all, strategy="bisection")
    assert errors[0] <= limits[0]
    assert errors[1] <= limits[1]


@pytest.mark.slow
@pytest.mark.slow
def test_the_corrected_recovers_quadratics_too(perfect, drawn, asked_all):
    space, rng, metrics = perfect(2), np.random.default_rng(2), []
    while (
        len(metrics) < 15
    ):  # Assumption: the first derivative is not near 0 where it is divided by
        truth = drawn.quadratic(2, rng)
        places = space.center + 0.9 * space.radius * np.array([[0, 0], [1, 0], [0, 1], [-1, 0]])
        if np.abs((truth.linear + places @ truth.quadratic)[:, 0]).min() > 0.05:
            metrics.append(truth)
    *errors, counts = median_errors(space, metrics, asked_all, strategy="corrected", tol=0.002)
    assert errors[0] <= 0.1
    assert errors[1] <= 0.2
    # 4 slopes: 2 signs, then 4 cycles of 4 questions a halving
    assert counts == {4 * (2 + 4 * 4 * 10)}


@pytest.mark.parametrize("k", [2, 3])
def test_a_linear_metric_is_found_to_be_linear(k, perfect, asked_all, rng):
    """Its square has the same slopes everywhere, and is not what is reported."""
    space = perfect(k)
    for _ in range(3 if k == 2 else 1):
        weights = rng.normal(size=space.dim)
        truth = QuadraticMetric(weights, np.zeros((space.dim,) * 2)).normalized()
        result = asked_all(
            Elicitation(space, "quadratic", strategy="bisection"), MetricOracle(truth)
        )
        assert max(apart(result.metric, truth)) < 0.01
        assert result.contradictions == ()


def test_accuracy_is_a_quadratic_metric_without_a_bend(perfect, asked_all):
    space = perfect(2)
    result = asked_all(
        Elicitation(space, "quadratic", strategy="bisection"), MetricOracle("accuracy")
    )
    assert np.allclose(result.metric.linear, -np.sqrt(0.5), atol=0.01)
    assert np.abs(result.metric.quadratic).max() < 0.01


def test_a_diagonal_takes_three_slopes(perfect, asked_all, rng):
    space = perfect(3)
    truth = QuadraticMetric(rng.normal(size=6), np.diag(rng.normal(size=6))).normalized()
    plain, known = (
        asked_all(
            Elicitation(space, "quadratic", strategy="bisection", diagonal=d), MetricOracle(truth)
        )
        for d in (False, True)
    )
    assert known.n_queries <= 0.4 * plain.n_queries
    assert max(apart(known.metric, truth)) < 0.03
    assert not (known.metric.quadratic * (1 - np.eye(6))).any()
    assert len(known.weights) == 12
    assert len(plain.weights) == 6 + 21


@pytest.mark.slow
def test_sparse_weights_take_fewer_questions(perfect, asked_all):
    space = perfect(3)
    a, bend = np.zeros(6), np.zeros((6, 6))
    a[[1, 4]], bend[4, 4] = [-1, -0.5], -1.0
    truth = QuadraticMetric(a, bend).normalized()
    plain, sparse = (
        asked_all(
            Elicitation(space, "quadratic", strategy="bisection", sparse=s), MetricOracle(truth)
        )
        for s in (False, True)
    )
    assert sparse.n_queries <= 0.7 * plain.n_queries
    assert max(apart(sparse.metric, truth)) < 0.02


def test_intervals_hold_what_is_found(perfect, drawn, asked_all):
    """Half a width for each angle is all that is open; the truth is inside nearly always."""
    space, rng, inside, total = perfect(2), np.random.default_rng(6), 0, 0
    for _ in range(8):
        truth = drawn.quadratic(2, rng)
        result = asked_all(
            Elicitation(space, "quadratic", strategy="bisection"), MetricOracle(truth)
        )
        true = np.append(truth.linear, truth.quadratic[np.triu_indices(2)])
        for interval, weight in zip(result.weights, true, strict=True):
            slack = 0.25 * (interval.upper - interval.lower)
            inside += interval.lower - slack <= weight <= interval.upper + slack
            total += 1
        assert result.contradictions == ()
    assert inside >= 0.8 * total


# --- what must not matter


@given(seed=SEEDS, scale=st.sampled_from([0.25, 0.5, 2.0, 8.0]))
@settings(max_examples=6, deadline=None)
def test_the_scale_of_the_metric_changes_nothing(seed, scale, perfect, drawn, asked_all):
    truth = drawn.quadratic(2, np.random.default_rng(seed))
    larger = QuadraticMetric(scale * truth.linear, scale * truth.quadratic)
    one, other = (
        asked_all(
            Elicitation(perfect(2), "quadratic", strategy="bisection", rng=0), MetricOracle(metric)
        )
        for metric in (truth, larger)
    )
    assert one.transcript == other.transcript
    assert one.metric == other.metric


@given(seed=SEEDS)
@settings(max_examples=6, deadline=None)
def test_classes_the_other_way_round_turn_the_metric(seed, drawn, asked_all):
    """Up to the tolerance: the searches begin at another class."""
    law = LogisticLaw.binary(5.0)
    proba = law.proba(np.linspace(-1, 1, 101))
    truth = drawn.quadratic(2, np.random.default_rng(seed), bend=0.5)
    if np.linalg.norm(truth.linear) < 0.3:
        return
    turned = QuadraticMetric(truth.linear[::-1], truth.quadratic[::-1, ::-1])
    spaces = (
        RateSpace.from_calibrated(proba, classes=["no", "yes"]),
        RateSpace.from_calibrated(proba[:, ::-1], classes=["yes", "no"]),
    )
    one, other = (
        asked_all(
            Elicitation(s, "quadratic", strategy="bisection", tol=1e-4), MetricOracle(m)
        ).metric
        for s, m in zip(spaces, (truth, turned), strict=True)
    )
    tables = spaces[0].sample(60, rng=0)
    values = one(tables), other(tables[:, ::-1, ::-1])
    assert np.corrcoef(*values)[0, 1] > 0.99 or np.ptp(values[0]) < 0.05


# --- what cannot be known


@pytest.mark.parametrize("strategy", ["bisection", "corrected"])
def test_a_gradient_of_zero_at_the_center(strategy, perfect):
    """Guessing is the worst or the best of all: the bend is found, and the flat place is said."""
    truth = QuadraticMetric([-1.0, -0.5], [[2.0, 0.0], [0.0, 1.0]]).normalized()
    with pytest.warns(NotIdentifiedWarning, match=r"flat at 1 of 4 places \(the classifier that"):
        result = Elicitation(perfect(2), "quadratic", strategy=strategy).run(MetricOracle(truth))
    assert np.isfinite(result.metric.linear).all()
    if strategy == "bisection":
        assert max(apart(result.metric, truth)) < 0.02


@pytest.mark.parametrize("strategy", ["bisection", "corrected"])
@pytest.mark.parametrize("answer", ["tie", "skip"])
def test_someone_who_sees_no_difference_or_says_nothing(strategy, answer, perfect):
    words = "no question made a difference" if answer == "tie" else "no question was answered"
    with pytest.warns(NotIdentifiedWarning, match=f"{words}.*nothing is known"):
        result = Elicitation(perfect(2), "quadratic", strategy=strategy, tol=0.1).run(
            lambda query: answer
        )
    assert np.isfinite([w.value for w in result.weights]).all()
    if answer == "tie":
        assert result.n_queries == 4 * 2  # each axis of each place


def test_a_flat_metric_is_one_that_nobody_sees_a_difference_by(perfect):
    flat = QuadraticMetric([0, 0], np.zeros((2, 2)))
    with pytest.warns(NotIdentifiedWarning, match="flat, or differences are too small"):
        Elicitation(perfect(2), "quadratic", strategy="bisection").run(MetricOracle(flat))


@pytest.mark.parametrize("answer", ["tie", "skip"])
def test_active_learns_little_from_someone_who_says_nothing(answer, perfect):
    procedure = Elicitation(perfect(2), "quadratic", rng=0, max_queries=15)
    result = procedure.run(lambda query: answer)
    assert result.n_queries == (15 if answer == "skip" else 6)
    assert result.status == ("undecided" if answer == "skip" else "flagged")
    assert result.agreement < 0.75


def test_a_coin_contradicts_itself(perfect):
    """No metric has slopes like these: most runs say so."""
    warned = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        procedure = Elicitation(perfect(2), "quadratic", strategy="bisection", tol=0.02)
        while procedure.ask() is not None:
            procedure.tell(str(rng.choice(["first", "second"])))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            result = procedure.result
        warned += any(issubclass(w.category, ContradictionWarning) for w in seen)
        assert np.isfinite(result.metric.linear).all()
    assert warned >= 2


# --- people


@pytest.mark.slow
def test_people_who_slip_are_understood_within_forty_answers(drawn, capsys):
    """One answer in ten is wrong; pairs that classifiers attain, asked about and counted on."""
    space = RateSpace.from_density(LogisticLaw.binary(5.0).proba, n_points=501)
    rng, reached, counts = np.random.default_rng(7), [], []
    for seed in range(20):
        truth = drawn.quadratic(2, rng)
        procedure = Elicitation(space, "quadratic", rng=seed, max_queries=40)
        oracle = MetricOracle(truth, flip=0.1, rng=rng)
        while (query := procedure.ask()) is not None:
            procedure.tell(oracle(query))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ContradictionWarning)
            found = procedure.result.metric
        left, right = (procedure.question_space.sample(500, rng=rng) for _ in range(2))
        reached.append(np.mean((found(left) > found(right)) == (truth(left) > truth(right))))
        counts.append(len(procedure.answers))
    with capsys.disabled():
        print(f"\nQuadratic, 10 % flips: median agreement {np.median(reached):.3f} after "
              f"{np.median(counts):.0f} answers")  # fmt: skip
    assert np.median(reached) >= 0.95


def test_a_linear_person_is_understood_as_one_of_the_family(perfect):
    """A LinearMetric of confusions is among the quadratic ones of rates."""
    truth = LinearMetric([[0, -1], [-3, 0]])
    result = Elicitation(perfect(2), "quadratic", strategy="bisection").run(MetricOracle(truth))
    assert result.metric.linear[1] / result.metric.linear[0] == pytest.approx(3, rel=0.02)
