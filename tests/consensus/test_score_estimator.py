"""Scores as votes: formulas, quadrature, calibration of the sampler, invariants, coverage."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import beta, ndtr
from scipy.stats import binomtest, chisquare, norm

from karat.consensus import ScoreEstimator
from karat.consensus.scores import (
    binormal,
    class_chances,
    error_and_area,
    level_chances,
    read_scores,
    run_scores,
    two_classes_ahead,
)
from karat.exceptions import DataError, NotIdentifiedWarning, ScoreError, ShapeError

MU = np.array([3.0, 2.5, 2.0, 2.0])
CUTS = np.array([-1.0, -0.3, 0.4, 1.2])


def drawn(n, rng, mu=MU, share=0.4):
    y = (rng.random(n) < share).astype(int)
    return y, rng.normal(np.where(y == 1, 0.5, -0.5)[:, None] * mu, 1.0)


Y, Z = drawn(400, np.random.default_rng(0))
STARS = np.searchsorted(CUTS, Z) + 1


# --- formulas


def test_level_chances_are_normal_areas():
    found = level_chances(np.array([[-0.5, 0.7]]), np.array([1.0]))[0]
    assert found[1] == pytest.approx([ndtr(-1.0), ndtr(0.2) - ndtr(-1.0), 1 - ndtr(0.2)])
    assert found.sum(axis=1) == pytest.approx([1, 1])
    ratio = found[1] / found[0]
    assert (np.diff(ratio) > 0).all()


def test_error_and_area_by_hand():
    chances = np.array([[[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]]])
    error, area = error_and_area(chances, np.array([0.5]))
    assert error[0] == pytest.approx(0.05 + 0.15 + 0.05)
    assert area[0] == pytest.approx(0.1 * 0.3 + 0.3 * 0.75 + 0.6 * 0.95)


def test_fine_levels_are_the_binormal():
    cuts = np.linspace(-6, 6, 2001)[None]
    error, area = error_and_area(level_chances(cuts, np.array([1.5])), np.array([0.5]))
    assert area[0] == pytest.approx(norm.cdf(1.5 / np.sqrt(2)), abs=1e-4)
    assert error[0] == pytest.approx(norm.cdf(-0.75), abs=1e-4)


def test_class_chances_by_bayes():
    chances = np.array([[[0.7, 0.3], [0.2, 0.8]], [[0.6, 0.4], [0.5, 0.5]]])
    found = class_chances(np.array([[1, 0], [0, -1]]), chances, 0.3)
    assert found[0] == pytest.approx(0.3 * 0.8 * 0.5 / (0.3 * 0.8 * 0.5 + 0.7 * 0.3 * 0.6))
    assert found[1] == pytest.approx(0.3 * 0.2 / (0.3 * 0.2 + 0.7 * 0.7))


# --- the sampler


def test_posterior_by_quadrature():
    """Four items, two voters of two levels: every labelling, with its integral over parameters."""
    codes = np.array([[0, 0], [1, 1], [1, 0], [1, -1]])

    c, m = np.meshgrid(np.linspace(-8, 8, 321), np.linspace(-4, 7, 221), indexing="ij")
    low0, low1 = ndtr(c + m / 2), ndtr(c - m / 2)
    prior = norm.pdf(c, 0, 1.5) * norm.pdf(m, 1.5, 1.0)

    def evidence(zero, one):  # counts (low, high) of each class, summed over a fine grid
        like = low0 ** zero[0] * (1 - low0) ** zero[1] * low1 ** one[0] * (1 - low1) ** one[1]
        return (prior * like).sum()

    total, ones = 0.0, np.zeros(4)
    for labels in product((0, 1), repeat=4):
        y = np.array(labels)
        weight = beta(1 + y.sum(), 5 - y.sum())
        for j in range(2):
            said = codes[:, j] >= 0
            counts = [
                [int(((codes[:, j] == level) & said & (y == k)).sum()) for level in (0, 1)]
                for k in (0, 1)
            ]
            weight *= evidence(*counts)
        total += weight
        ones += weight * y
    drawn_ = run_scores(
        codes, np.ones(4), np.full(4, -1), np.array([2, 2]), chains=4, draws=10_000, burn=1000,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    assert drawn_.proba.mean(axis=0) == pytest.approx(ones / total, abs=0.01)


@pytest.mark.slow
def test_simulation_based_calibration():
    """The rank of the truth among draws of a chain that starts from it is uniform, 320 runs."""
    rng, runs, draws, voters, items = np.random.default_rng(1), 320, 31, 3, 30
    levels, ranks = np.array([2, 4, 3]), []
    for _ in range(runs):
        share = rng.beta(1, 1)
        mu = rng.normal(1.5, 1.0, voters)
        cuts = np.full((voters, 3), np.inf)
        for j, k in enumerate(levels):
            cuts[j, : k - 1] = np.sort(rng.normal(0, 1.5, k - 1))
        y, z = drawn(items, rng, mu, share)
        codes = np.stack(
            [np.searchsorted(cuts[j, : levels[j] - 1], z[:, j]) for j in range(voters)], 1
        )
        codes[rng.random(codes.shape) < 0.1] = -1
        gold = np.where(np.arange(items) < 5, y, -1)
        found = run_scores(
            codes, np.ones(items), gold, levels, chains=1, draws=draws, burn=0, thin=40, rng=rng,
            start=(float(np.clip(share, 1e-6, 1 - 1e-6)), cuts, mu),
        )  # fmt: skip
        drawn_ = np.column_stack([found.separation[0], found.share[0], found.cuts[0, :, 1, 1]])
        ranks.append((drawn_ < np.array([*mu, share, cuts[1, 1]])).sum(axis=0))
    for column in np.array(ranks).T:
        counts = np.bincount(column * 16 // (draws + 1), minlength=16)
        assert chisquare(counts).pvalue > 0.001


# --- tables and invariants


def test_tables():
    wide = ScoreEstimator(draws=100, rng=0).fit(STARS)
    long = pl.DataFrame(
        {
            "item": np.repeat(np.arange(400), 4),
            "judge": np.tile(["a", "b", "c", "d"], 400),
            "rating": STARS.ravel(),
        }
    )
    other = ScoreEstimator(draws=100, rng=0).fit(long)
    assert isinstance(other.error_rates_, pl.DataFrame)
    assert other.result_.value == pytest.approx(wide.result_.value)
    assert other.classifiers_ == ("a", "b", "c", "d")
    assert wide.identified_ == {"all": True}
    assert wide.label_proba_.sum(axis=1) == pytest.approx(np.ones(400))
    assert (wide.label_proba_.argmax(axis=1) == Y).mean() > 0.93
    table = wide.calibration_
    assert list(table.columns) == ["domain", "classifier", "from", "proba"]
    assert (table.groupby("classifier")["proba"].diff().dropna() > 0).all()
    again = wide.predict_proba(STARS)
    assert np.abs(again - wide.label_proba_).max() < 0.1


def test_names_of_items_and_domains():
    frame = pd.DataFrame(STARS, columns=list("abcd"))
    named = frame.assign(item=[f"i{i}" for i in range(400)], domain=np.repeat([1, 2], 200))
    est = ScoreEstimator(draws=100, rng=0).fit(named, y_true={"i3": 1})
    assert est.classifiers_ == ("a", "b", "c", "d")
    assert est.result_.domains == (1, 2)
    assert est.items_[3] == "i3"
    assert est.label_proba_[3, 1] == 1.0


def test_gold_names_the_classes():
    text = np.where(Y == 1, "good", "bad")
    gold = {i: text[i] for i in range(20)}
    est = ScoreEstimator(draws=100, rng=0).fit(STARS, y_true=gold, classes=["bad", "good"])
    assert est.classes_.tolist() == ["bad", "good"]
    assert est.label_proba_[:20, 1] == pytest.approx(Y[:20])


def test_bad_input_is_said():
    with pytest.raises(ShapeError, match="one voter only"):
        ScoreEstimator().fit(STARS[:, :1])
    with pytest.raises(ScoreError, match="text"):
        ScoreEstimator().fit([["a", "b"], ["c", "d"]])
    with pytest.raises(DataError, match="one score only"):
        ScoreEstimator().fit(np.column_stack([STARS[:, 0], np.ones(400)]))
    with pytest.raises(DataError, match="two apart"):
        ScoreEstimator().fit(STARS, y_true=np.arange(400) % 3 + 1)
    with pytest.raises(DataError, match="twice"):
        ScoreEstimator().fit(pd.DataFrame({"item": [1, 1], "judge": ["a", "a"], "score": [1, 2]}))


@given(st.permutations(range(4)))
@settings(max_examples=5, deadline=None)
def test_only_the_order_of_scores_counts(voters):
    """Logarithms of probabilities have the same levels as the probabilities."""
    proba = 1 / (1 + np.exp(-2 * Z))
    base = read_scores(proba, most=10)
    for other in (np.log(proba), 100 * proba - 7):
        assert np.array_equal(read_scores(other, most=10).codes, base.codes)
    moved = read_scores(proba[:, voters], most=10)
    assert np.array_equal(moved.codes, base.codes[:, voters])


def test_weight_is_duplication():
    """In law: the same posterior up to the error of simulation."""
    weight = np.arange(400) % 3
    rows = np.repeat(np.arange(400), weight)
    one = ScoreEstimator(rng=0).fit(STARS, sample_weight=weight, weighting="frequency").result_
    two = ScoreEstimator(rng=1).fit(STARS[rows]).result_
    assert one.value == pytest.approx(two.value, abs=0.006)
    assert one.upper == pytest.approx(two.upper, abs=0.02)
    assert one.scores == pytest.approx(two.scores)


def test_the_order_of_items_and_voters_does_not_matter():
    rng = np.random.default_rng(4)
    rows, voters = rng.permutation(400), [2, 0, 3, 1]
    one = ScoreEstimator(rng=0).fit(STARS).result_
    two = ScoreEstimator(rng=1).fit(STARS[rows][:, voters]).result_
    assert two.value == pytest.approx(one.value[voters], abs=0.006)


# --- what scores cannot tell


def test_one_scale_is_not_two_classes():
    """A shared taste without classes: not called identified; two classes are."""
    rng = np.random.default_rng(5)
    for seed in range(2):
        taste = 0.8 * rng.normal(size=(300, 1)) + 0.6 * rng.normal(size=(300, 4))
        with pytest.warns(NotIdentifiedWarning, match="one scale"):
            est = ScoreEstimator(draws=100, rng=seed).fit(taste)
        assert (est.result_.upper >= 0.5).all()
    table = read_scores(STARS, most=10)
    chances = level_chances(np.tile(CUTS, (4, 1)), MU)
    assert two_classes_ahead(table.codes, np.ones(400), chances, 0.4, table.levels) > 5


def test_two_voters_cannot_tell():
    with pytest.warns(NotIdentifiedWarning, match="two voters"):
        ScoreEstimator(draws=50, rng=0).fit(STARS[:, :2])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")
@pytest.mark.parametrize("kind", ["ratings", "soft"])
def test_limits_cover_under_the_model(kind):
    """20 runs of 4 voters notice .93 against .77, without the slack that limits have by default."""
    rng, runs, error, area = np.random.default_rng(6), 20, 0, 0
    fine = np.linspace(-7, 7, 4001) if kind == "soft" else CUTS
    true = error_and_area(level_chances(np.tile(fine, (4, 1)), MU), np.full(4, 0.4))
    if kind == "soft":
        assert np.array(true) == pytest.approx(np.array(binormal(MU, 0.4)), abs=1e-3)
    for _ in range(runs):
        _, z = drawn(200, rng)
        scores = 1 / (1 + np.exp(-z)) if kind == "soft" else np.searchsorted(CUTS, z)
        r = ScoreEstimator(draws=150, slack=0.0, rng=rng).fit(scores).result_
        error += int(((r.lower <= true[0]) & (true[0] <= r.upper)).sum())
        area += int(((r.area.lower <= true[1]) & (true[1] <= r.area.upper)).sum())
    for count in (error, area):
        assert binomtest(count, 4 * runs, 0.93, alternative="less").pvalue > 0.001


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
def test_the_answer_opens_with_what_is_not_known():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    stars = np.clip(np.round(rng.normal(2 + 2 * y[:, None], [0.5, 0.7, 0.8, 0.9])), 1, 5)
    good = ScoreEstimator(draws=100, chains=2, rng=0).fit(stars)
    assert good.status_ == {"all": "consistent"}
    assert good.result_.summary().startswith("No test on labels stands behind this")
    assert "95 % limits" in good.result_.summary()
    two = ScoreEstimator(draws=100, chains=2, rng=0).fit(stars[:, 2:])
    assert two.status_ == {"all": "not identified"}
    assert two.result_.summary().startswith("The scores alone do not identify the error rates")
    assert "% limits" not in two.result_.summary()
    assert "the scores cannot tell: " in two.result_.summary()
    assert "scores cannot tell" in repr(two.result_._table())


# --- gold labels test the consensus


def test_random_labels_confirm_scores_that_see_the_truth():
    gold = np.where(np.arange(400) < 60, Y, -1)
    est = ScoreEstimator(draws=100, rng=0).fit(STARS, y_true=gold)
    assert est.status_ == {"all": "confirmed"}
    assert est.identified_ == {"all": True}
    assert est.error_rates_["status"].tolist() == ["confirmed"] * 4
    assert "gold labels confirm it: the consensus is wrong on " in est.result_.summary()
    few = ScoreEstimator(draws=100, rng=0).fit(STARS, y_true=np.where(np.arange(400) < 12, Y, -1))
    assert few.status_ == {"all": "consistent"}
    assert few.result_.summary().startswith("Too few labels confirm this")
    picked = ScoreEstimator(draws=100, rng=0).fit(STARS, y_true=gold, labels="picked")
    assert picked.status_ == {"all": "consistent"}
    assert picked.result_.evidence == ("",)


def test_random_labels_contradict_scores_that_share_a_taste():
    """The scores see y; the gold labels are of another question, which they cannot know."""
    other = np.random.default_rng(3).integers(0, 2, 400)
    gold = np.where(np.arange(400) < 40, other, -1)
    with pytest.warns(NotIdentifiedWarning, match="gold labels contradict the consensus"):
        est = ScoreEstimator(draws=100, rng=0).fit(STARS, y_true=gold)
    assert est.status_ == {"all": "contradicted"}
    assert est.result_.summary().startswith("Gold labels contradict the consensus of the scores: ")
    assert (est.result_.lower == 0).all()
    assert (est.result_.upper >= 0.5).all()
    assert "scores cannot tell" in repr(est.result_._table())


@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")
def test_a_few_labels_do_not_hide_that_one_scale_explains_the_scores():
    rng = np.random.default_rng(5)
    truth = rng.normal(size=300)
    taste = 0.8 * truth[:, None] + 0.6 * rng.normal(size=(300, 4))
    gold = np.where(np.arange(300) < 12, (truth > 0).astype(int), -1)
    est = ScoreEstimator(draws=100, rng=0).fit(taste, y_true=gold)
    assert est.status_ == {"all": "not identified"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")
def test_true_labels_seldom_contradict_scores_of_the_model():
    """30 panels notice a level of .29 where .05 is meant; the slack makes it lower."""
    rng, runs = np.random.default_rng(8), 30
    contradicted = 0
    for _ in range(runs):
        y, z = drawn(150, rng)
        gold = np.where(np.arange(150) < 40, y, -1)
        est = ScoreEstimator(draws=60, chains=2, rng=rng)
        est.fit(np.searchsorted(CUTS, z), y_true=gold)
        contradicted += est.status_ == {"all": "contradicted"}
    assert binomtest(contradicted, runs, 0.05, alternative="greater").pvalue > 0.001
