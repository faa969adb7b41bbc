"""The rate of a system that judges scored."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, norm

from karat.audit import judged_rate
from karat.audit._judged_rate import class_limits
from karat.exceptions import KaratError
from karat.limits import prediction_powered_mean


def judged(n=1200, rate=0.7, skills=(0.9, 0.8, 0.7), seed=0):
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < rate).astype(int)
    votes = np.stack([np.where(rng.random(n) < s, truth, 1 - truth) for s in skills], axis=1)
    return votes, truth


def some(truth, n):
    return [int(t) if i < n else None for i, t in enumerate(truth)]


def test_it_is_the_prediction_powered_mean():
    votes, truth = judged()
    found = judged_rate(votes, some(truth, 60))
    plain = prediction_powered_mean(truth[:60].astype(float), votes[:60], votes[60:])
    assert (found.value, found.lower, found.upper) == pytest.approx(
        (plain.value, plain.lower, plain.upper)
    )
    assert found.labels.lower == pytest.approx(plain.labels.lower)
    assert found.width < found.labels.width


def test_rogan_and_gladen_by_hand():
    """40 of 50 positives and 45 of 50 negatives are judged right; 600 of 1,000 others pass."""
    verdict = [1] * 40 + [0] * 10 + [0] * 45 + [1] * 5 + [1] * 600 + [0] * 400
    truth = [1] * 50 + [0] * 50 + [-1] * 1000
    found = judged_rate(verdict, truth, labels="by-class", rng=0)
    assert found.value == pytest.approx((0.6 + 0.9 - 1) / (0.8 + 0.9 - 1))
    assert found.lower < found.value < found.upper
    assert found.labels is None
    assert found.judged == 0.6


@pytest.mark.parametrize("hits", [0, 3])
def test_limits_of_judges_that_never_err_are_quantiles_of_a_beta_law(hits):
    """Half an item is added to either side: Beta(x, n - x + 1/2) and Beta(x + 1/2, n - x)."""
    right, seen = np.diag([1e9, 1e9]), np.array([40.0 - hits, hits])
    value, low, high = class_limits(right, seen, delta=0.025, rng=np.random.default_rng(0))
    assert value == pytest.approx(hits / 40)
    # Of the 4,000 draws a share of .025 ± .0025 lies beyond each limit.
    assert beta.sf(high, hits + 0.5, 40 - hits) == pytest.approx(0.025, abs=0.01)
    if hits:
        assert beta.cdf(low, hits, 40.5 - hits) == pytest.approx(0.025, abs=0.01)
    else:
        assert low == 0


def test_clusters_of_judged_items_are_gammas_of_their_size():
    """20 clusters of 5 that all fail: the share is Beta(1/2, 20), whatever the size."""
    tables = np.zeros((60, 3, 2))
    tables[:20, 0, 0] = tables[20:40, 1, 1] = 5e3
    tables[40:, 2, 0] = 5.0
    sums = tables.sum(axis=0)
    sums[:2] *= 1e6
    _, low, high = class_limits(
        sums[:2], sums[2], delta=0.025, rng=np.random.default_rng(0), clusters=tables
    )
    assert low == 0
    # The judges' own rates, with 20 clusters each, add to it: they move the limit by less.
    assert 0.9 * beta.isf(0.025, 0.5, 20) < high < 1.6 * beta.isf(0.025, 0.5, 20)


def test_the_limits_keep_moving_with_the_confidence():
    """4,000 draws told nothing beyond .9995."""
    verdict = [1] * 40 + [0] * 10 + [0] * 45 + [1] * 5 + [1] * 600 + [0] * 400
    truth = [1] * 50 + [0] * 50 + [-1] * 1000
    found = [judged_rate(verdict, truth, labels="by-class", confidence=c, rng=0)
             for c in (0.99, 0.999, 0.9999, 0.99993)]  # fmt: skip
    z = norm.isf([0.005, 0.0005, 0.00005, 0.000035])
    lowers = np.array([one.lower for one in found])
    # On a scale where the limits are nearly normal they go by the quantiles.
    steps = np.diff(lowers - found[0].value) / np.diff(z)
    assert (steps < -0.03).all()
    with pytest.raises(KaratError, match=r"confidence is 0.9999999; expected at most 0.9999"):
        judged_rate(verdict, truth, labels="by-class", confidence=0.9999999)


def test_three_classes_are_inverted():
    rng = np.random.default_rng(1)
    rates = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.1, 0.7]])
    labelled = np.repeat([0, 1, 2], 200)
    others = rng.choice(3, 4000, p=[0.5, 0.3, 0.2])
    truth = np.concatenate([labelled, others])
    verdict = np.array([rng.choice(3, p=rates[t]) for t in truth])
    known = np.concatenate([labelled, np.full(4000, -1)])
    found = judged_rate(verdict, known, labels="by-class", pos_label=2, rng=0)
    assert found.lower <= 0.2 <= found.upper
    assert found.judged > 0.2


def test_judges_no_better_than_chance_leave_all_open():
    rng = np.random.default_rng(2)
    verdict = rng.integers(0, 2, 600)
    known = [0] * 30 + [1] * 30 + [-1] * 540
    found = judged_rate(verdict, known, labels="by-class", rng=0)
    assert (found.lower, found.upper) == (0, 1)


def test_names_of_classes_and_judges():
    votes, truth = judged()
    words = np.array(["fail", "pass"])
    frame = pd.DataFrame({name: words[votes[:, j]] for j, name in enumerate("xyz")})
    known = [words[t] if i < 60 else None for i, t in enumerate(truth)]
    found = judged_rate(frame, known)
    assert found.judges == ("x", "y", "z")
    assert found.pos_label == "pass"
    plain = judged_rate(votes, some(truth, 60))
    assert found.lower == pytest.approx(plain.lower)
    minus = judged_rate(frame, known, pos_label="fail")
    assert minus.upper == pytest.approx(1 - plain.lower)


def test_a_paired_difference_and_repeats():
    votes, truth = judged()
    other, low = judged(rate=0.5, seed=9)
    found = judged_rate(votes, some(truth, 80), against=other, y_true_against=some(low, 80))
    assert found.difference
    assert found.lower <= 0.2 <= found.upper
    same = judged_rate(votes, some(truth, 80), against=votes, y_true_against=some(truth, 80))
    assert same.value == pytest.approx(0)
    repeats = judged_rate(np.repeat(votes, 4, axis=0), np.repeat(some(truth, 60), 4).tolist(),
                          clusters=np.repeat(np.arange(1200), 4))  # fmt: skip
    assert repeats.width > 0.8 * judged_rate(votes, some(truth, 60)).width


def test_equal_probabilities_are_a_random_sample():
    votes, truth = judged()
    plain = judged_rate(votes, some(truth, 60))
    same = judged_rate(votes, some(truth, 60), labels="probability",
                       label_probability=np.full(1200, 0.05))  # fmt: skip
    assert same.lower == pytest.approx(plain.lower)


def test_the_rate_of_any_of_three_verdicts():
    rng = np.random.default_rng(5)
    truth = rng.choice(["bad", "fair", "good"], 900, p=[0.2, 0.5, 0.3])
    verdict = np.where(rng.random(900) < 0.85, truth, rng.choice(["bad", "fair", "good"], 900))
    known = [t if i < 90 else None for i, t in enumerate(truth)]
    sets = [t if i < 300 else None for i, t in enumerate(truth)]
    for word, rate in (("bad", 0.2), ("fair", 0.5), ("good", 0.3)):
        found = judged_rate(verdict, known, pos_label=word)
        assert found.pos_label == word
        assert found.value == pytest.approx(rate, abs=0.08)
        # The labels of balanced sets say nothing of how often a class occurs.
        balanced = judged_rate(verdict, sets, labels="by-class", pos_label=word, rng=0)
        assert balanced.lower <= rate <= balanced.upper
        assert balanced.judged == pytest.approx(np.mean(verdict[300:] == word))
    with pytest.raises(KaratError, match="pos_label is 'fine'; expected 'bad', 'fair' or 'good'"):
        judged_rate(verdict, known, pos_label="fine")


def test_balanced_sets_of_repeats_are_as_many_as_their_prompts():
    """Every output five times: as clusters as wide as once, as items half as wide."""
    rng = np.random.default_rng(6)
    truth = np.repeat([0, 1], [60, 340])
    verdict = np.where(rng.random(400) < 0.8, truth, 1 - truth)
    known = np.where(np.isin(np.arange(400), [*range(30), *range(370, 400)]), truth, -1)
    once = judged_rate(verdict, known, labels="by-class", rng=0)
    five = [np.repeat(part, 5) for part in (verdict, known)]
    apart = judged_rate(*five, labels="by-class", rng=0)
    together = judged_rate(*five, labels="by-class", clusters=np.repeat(np.arange(400), 5), rng=0)
    assert together.value == once.value == apart.value
    assert together.width == pytest.approx(once.width, rel=0.15)
    assert apart.width < 0.7 * once.width
    single = judged_rate(verdict, known, labels="by-class", clusters=np.arange(400), rng=0)
    assert (single.lower, single.upper) == pytest.approx((once.lower, once.upper), abs=0.02)


@pytest.mark.parametrize("n", [12, 60])
def test_a_rate_of_outputs_that_all_have_labels_is_known(n):
    votes, truth = judged(n)
    for clusters in (None, np.arange(n) // 3):
        found = judged_rate(votes, truth, finite=True, clusters=clusters)
        assert (found.value, found.lower, found.upper) == pytest.approx((truth.mean(),) * 3)
    assert judged_rate(votes, truth).width > 0.1, "the system's rate is not"


def test_bad_input():
    votes, truth = judged(100)
    known = some(truth, 20)
    with pytest.raises(KaratError, match="labels is 'picked': labels of outputs that somebody"):
        judged_rate(votes, known, labels="picked")
    with pytest.raises(KaratError, match="labels is 'any'; expected 'random', 'by-class' or"):
        judged_rate(votes, known, labels="any")
    with pytest.raises(KaratError, match="label_probability row 0 is 0 and the output has a label"):
        judged_rate(votes, known, labels="probability", label_probability=np.zeros(100))
    with pytest.raises(KaratError, match="no labelled output is 0"):
        judged_rate(votes, [1] * 10 + [None] * 90, labels="by-class")
    with pytest.raises(KaratError, match="every output has a label"):
        judged_rate(votes, truth, labels="by-class")
    with pytest.raises(KaratError, match="finite is True; expected False with labels='by-class'"):
        judged_rate(votes, known, labels="by-class", finite=True)
    with pytest.raises(KaratError, match="y_true is missing in every row"):
        judged_rate(votes, [None] * 100)
    with pytest.raises(KaratError, match="y_true_against is None"):
        judged_rate(votes, known, against=votes)


@pytest.mark.slow
@pytest.mark.parametrize("labels", ["random", "by-class"])
def test_limits_cover(labels, fails):
    """120 samples of 40 labels notice .93 against .83."""
    runs, seen = 120, 0
    for seed in range(runs):
        votes, truth = judged(400, 0.7, (0.85, 0.75, 0.75), seed)
        known = some(truth, 40)
        if labels == "by-class":
            at = np.concatenate([np.flatnonzero(truth == c)[:20] for c in (0, 1)])
            known = np.full(400, -1)
            known[at] = truth[at]
        found = judged_rate(votes, known, labels=labels, rng=seed)
        seen += found.lower <= 0.7 <= found.upper
    print(f"{labels}: covered {seen / runs:.3f}")
    assert not fails(seen, runs, 0.93)
