"""Someone who answers by a known metric, with the slips of a person."""

import numpy as np
import pytest
from scipy.stats import binomtest

from karat.elicit import MetricOracle, Query, RandomOracle
from karat.elicit.transcript import check_answer
from karat.exceptions import AnswerError, KaratError, OptionError, ProbabilityError
from karat.metrics import LinearMetric, accuracy, cost_matrix, f_beta, g_mean

BETTER = np.array([[0.45, 0.05], [0.05, 0.45]])
WORSE = np.array([[0.40, 0.10], [0.10, 0.40]])
N = 4000


def answers(oracle, query, n=N):
    return np.array([oracle(query) for _ in range(n)])


def likely(hits, p, n=N):
    return binomtest(int(hits), n, p).pvalue > 1e-4


@pytest.mark.parametrize("metric", [accuracy, f_beta(2), g_mean, "accuracy", "f1"])
def test_the_better_side_is_preferred(metric):
    oracle = MetricOracle(metric)
    assert oracle(Query(BETTER, WORSE)) == "first"
    assert oracle(Query(WORSE, BETTER)) == "second"
    assert oracle(Query(BETTER, BETTER)) == "tie"
    assert oracle(Query(BETTER, WORSE).swapped) == "second"
    assert oracle.n_answers == 4


@pytest.mark.parametrize(
    "sides", [(BETTER / 2, WORSE / 2), (0 * BETTER, WORSE), (BETTER, 0.0005 * WORSE),
              (100 * BETTER, 100 * WORSE)],
)  # fmt: skip
def test_sides_that_are_no_confusions_are_refused(sides):
    """Two halves sum to 1 together, as two groups do; a question has no groups to be read so."""
    with pytest.raises(ProbabilityError, match=r"sums to (0\.5|0|0\.0005|100);"):
        MetricOracle(accuracy)(Query(*sides))


def test_sides_of_unlike_shape_are_measured_alone():
    """Accuracy is one of any number of classes, and of groups pooled; F1 is of two classes."""
    three = np.full((3, 3), 1 / 9)
    groups = np.stack([BETTER, WORSE]) / 2
    assert MetricOracle(accuracy)(Query(BETTER, three)) == "first"
    assert MetricOracle(accuracy)(Query(WORSE, groups)) == "second"
    with pytest.raises(KaratError, match="2 classes"):
        MetricOracle("f1")(Query(BETTER, three))


def test_answers_are_flipped_as_often_as_said():
    oracle = MetricOracle(accuracy, flip=0.2, rng=0)
    said = answers(oracle, Query(BETTER, WORSE))
    assert likely((said == "second").sum(), 0.2)
    assert set(said) == {"first", "second"}
    assert not likely((said == "second").sum(), 0.25)
    said = answers(MetricOracle(accuracy, flip=1.0), Query(BETTER, WORSE), 20)
    assert set(said) == {"second"}


def test_pairs_within_the_noise_are_answered_at_random():
    """Definition 2.4: the gap is 0.1 here."""
    said = answers(MetricOracle(accuracy, noise=0.11, rng=1), Query(BETTER, WORSE))
    assert likely((said == "first").sum(), 0.5)
    said = answers(MetricOracle(accuracy, noise=0.09, rng=1), Query(BETTER, WORSE), 50)
    assert set(said) == {"first"}


def test_pairs_within_the_tie_are_called_one():
    said = answers(MetricOracle(accuracy, tie=0.11, noise=0.2, flip=0.5), Query(BETTER, WORSE), 50)
    assert set(said) == {"tie"}
    assert MetricOracle(accuracy, tie=0.09)(Query(BETTER, WORSE)) == "first"


@pytest.mark.parametrize("flip", [0.0, 0.2])
@pytest.mark.parametrize("scale", [0.03, 0.1, 1.0])
def test_noise_that_grows_toward_indifference(scale, flip):
    """P(first) = flip + (1 − 2·flip)·σ(d/scale); d is 0.1 here, and −0.1 the other way round."""
    chance = flip + (1 - 2 * flip) / (1 + np.exp(-0.1 / scale))
    oracle = MetricOracle(accuracy, scale=scale, flip=flip, rng=3)
    said = answers(oracle, Query(BETTER, WORSE))
    assert likely((said == "first").sum(), chance)
    said = answers(oracle, Query(WORSE, BETTER))
    assert likely((said == "second").sum(), chance)


def test_noise_beside_noise():
    """Ties and pairs within ``noise`` are what they were; the rest follows the scale."""
    assert MetricOracle(accuracy, scale=9.0, tie=0.11, rng=0)(Query(BETTER, WORSE)) == "tie"
    said = answers(MetricOracle(accuracy, scale=1e-9, noise=0.11, rng=0), Query(BETTER, WORSE))
    assert likely((said == "first").sum(), 0.5)
    said = answers(MetricOracle(accuracy, scale=1e-300), Query(WORSE, BETTER), 20)
    assert set(said) == {"second"}, "nothing overflows"
    plain, none = (
        answers(MetricOracle(accuracy, flip=0.3, rng=5, **options), Query(BETTER, WORSE), 50)
        for options in ({}, {"scale": None})
    )
    assert (plain == none).all()


def test_someone_who_does_not_look():
    query = Query(BETTER, WORSE)
    for kind in ("first", "second", "tie"):
        oracle = RandomOracle(kind)
        assert {oracle(query), oracle(query.swapped)} == {kind}
        assert oracle.n_answers == 2
    said = answers(RandomOracle(rng=0), query)
    assert likely((said == "first").sum(), 0.5)
    assert set(said) == {"first", "second"}
    assert (said == answers(RandomOracle("coin", rng=0), query)).all()
    with pytest.raises(OptionError, match="kind is 'always'; expected 'coin', 'first', 'second'"):
        RandomOracle("always")


def test_the_same_seed_the_same_slips():
    query = Query(BETTER, WORSE)
    one, two = (answers(MetricOracle(accuracy, flip=0.3, rng=5), query, 50) for _ in range(2))
    assert (one == two).all()
    assert (one != answers(MetricOracle(accuracy, flip=0.3, rng=6), query, 50)).any()
    shared = np.random.default_rng(5)
    assert (answers(MetricOracle(accuracy, flip=0.3, rng=shared), query, 50) == one).all()


def test_groups_are_pooled_for_a_metric_that_knows_none():
    """Joint confusions of two groups: what counts is their sum."""
    small_good = np.stack([0.05 * BETTER * 2, 0.9 * WORSE])
    small_bad = np.stack([0.05 * WORSE * 2, 0.9 * BETTER])
    assert small_good.sum() == pytest.approx(1)
    query = Query(small_good, small_bad)
    for metric in (accuracy, cost_matrix([[0, 1], [4, 0]]), f_beta(1), g_mean):
        pooled = Query(small_good.sum(axis=0), small_bad.sum(axis=0))
        assert MetricOracle(metric)(query) == MetricOracle(metric)(pooled) == "second"


def test_several_classes():
    rng = np.random.default_rng(0)
    metric = LinearMetric(rng.normal(size=(3, 3)))
    oracle = MetricOracle(metric)
    for _ in range(20):
        first, second = rng.dirichlet(np.ones(9), 2).reshape(2, 3, 3)
        expected = "first" if metric(first) > metric(second) else "second"
        assert oracle(Query(first, second)) == expected


@pytest.mark.parametrize(
    "options",
    [
        {"scale": 0},
        {"scale": -1.0},
        {"scale": "wide"},
        {"flip": -0.1},
        {"flip": 1.1},
        {"noise": -1},
        {"tie": np.nan},
        {"rng": "a"},
        {"flip": "x"},
    ],
    ids=str,
)
def test_bad_options(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        MetricOracle(accuracy, **options)


def test_a_metric_that_is_none():
    with pytest.raises(KaratError):
        MetricOracle("no such metric")


# --- queries and answers


def test_queries_are_values():
    query = Query(BETTER, WORSE)
    assert query == Query(BETTER.copy(), WORSE.copy())
    assert query != query.swapped
    assert query.swapped.swapped == query
    assert len({query, Query(BETTER, WORSE)}) == 1
    assert not query.identical
    assert Query(BETTER, BETTER + 1e-17).identical
    first, second = query.counts(200)
    assert np.allclose(first, 200 * BETTER)
    assert second.sum() == pytest.approx(200)
    with pytest.raises(ValueError, match="read-only"):
        query.first[0, 0] = 1.0


@pytest.mark.parametrize("said", ["first", "FIRST", "  Tie ", "skip", "second\n"])
def test_answers_may_be_written_in_any_case(said):
    assert check_answer(said) == said.strip().lower()


@pytest.mark.parametrize("said", ["", "1st", None, 1, True, ["first"], b"first"])
def test_answers_that_are_none(said):
    with pytest.raises(AnswerError, match="expected 'first', 'second', 'tie' or 'skip'"):
        check_answer(said)
