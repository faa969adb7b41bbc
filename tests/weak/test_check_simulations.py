"""How often `check_label_model` keeps a right model and finds a wrong one."""

import numpy as np
import pytest
from scipy.stats import binomtest

from karat.weak import DawidSkene, MajorityVote, check_label_model

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore:on .* all agree:karat.exceptions.KaratWarning",
        "ignore:DawidSkene stopped:karat.exceptions.KaratWarning",
    ),
]
RUNS = 40


def at_least(count, runs, rate):
    """Fail only if a true rate of ``rate`` would give so few with probability below .001."""
    return binomtest(count, runs, rate, alternative="less").pvalue > 0.001


def binary(rng, n, accuracies):
    y = rng.integers(0, 2, n)
    right = rng.random((n, len(accuracies))) < np.asarray(accuracies)
    return y, np.where(right, y[:, None], 1 - y[:, None])


def both_verdicts(votes, model, gold):
    """Whether the model passes by the votes alone, and by the votes and some true labels.

    Tests of the votes do not depend on the labels, which add one reason of their own.
    """
    found = check_label_model(votes, model, y_true=gold)
    return len(found.reasons) == (found.gold_p_value < 0.05), not found.contradicted


def test_true_labels_add_one_reason_to_those_of_the_votes():
    """What `both_verdicts` relies on, where nothing, the labels alone, and the votes too fail."""
    rng, seen = np.random.default_rng(6), []
    for flipped, copied in [(0, 0), (0.4, 0), (0, 1)]:
        y, votes = binary(rng, 2000, [0.8] * 6)
        votes[:, 5] = np.where(rng.random(2000) < copied, votes[:, 4], votes[:, 5])
        gold = np.where(np.arange(2000) < 60, np.where(rng.random(2000) < flipped, 1 - y, y), -1)
        model = DawidSkene(rng=0).fit(votes)
        seen.append(both_verdicts(votes, model, gold))
        assert seen[-1][0] == (not check_label_model(votes, model).contradicted)
    assert seen == [(True, True), (True, False), (False, False)]


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("n", [500, 2000, 20_000])
def test_a_right_model_is_kept(law, draw, n, k):
    """By the votes alone at least 94 %, and with 30 true labels at least 90 %."""
    rng = np.random.default_rng(n + k)
    kept = kept_with_gold = 0
    for _ in range(RUNS):
        y, votes = draw(
            rng,
            n,
            rng.dirichlet(5 * np.ones(k)),
            law(rng.uniform(0.6, 0.9, 6), rng.uniform(0.6, 1, 6), k),
        )
        model = DawidSkene(rng=0).fit(votes, classes=range(k))
        by_votes, with_gold = both_verdicts(votes, model, np.where(np.arange(n) < 30, y, -1))
        kept += by_votes
        kept_with_gold += with_gold
    assert at_least(kept, RUNS, 0.94)
    assert at_least(kept_with_gold, RUNS, 0.90)


@pytest.mark.parametrize("copied", [0.8, 1.0])
def test_copies_are_found(copied):
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(RUNS):
        _, votes = binary(rng, 2000, rng.uniform(0.65, 0.85, 6))
        votes[:, 5] = np.where(rng.random(2000) < copied, votes[:, 4], votes[:, 5])
        found += check_label_model(votes, DawidSkene(rng=0).fit(votes)).contradicted
    assert at_least(found, RUNS, 0.95)


@pytest.mark.parametrize("model", [DawidSkene(rng=0), MajorityVote()], ids=repr)
def test_labelers_worse_than_chance_are_found(model):
    rng = np.random.default_rng(8)
    found = 0
    for _ in range(RUNS):
        accuracies = [*rng.uniform(0.65, 0.85, 4), *rng.uniform(0.2, 0.4, 2)]
        _, votes = binary(rng, 2000, accuracies)
        found += check_label_model(votes, model.fit(votes)).contradicted
    assert at_least(found, RUNS, 0.95)


@pytest.mark.parametrize("shared", [0.2, 0.35])
def test_a_shared_bias_is_found_by_30_true_labels(shared):
    """On a share of the items all labelers see the wrong class: votes alone cannot tell."""
    rng = np.random.default_rng(9)
    by_votes = found = 0
    for _ in range(RUNS):
        y = rng.integers(0, 2, 2000)
        seen = np.where(rng.random(2000) < shared, 1 - y, y)
        right = rng.random((2000, 6)) < 0.85
        votes = np.where(right, seen[:, None], 1 - seen[:, None])
        model = DawidSkene(rng=0).fit(votes)
        passed, with_gold = both_verdicts(votes, model, np.where(np.arange(2000) < 30, y, -1))
        by_votes += not passed
        found += not with_gold
    assert by_votes < 10
    assert at_least(found, RUNS, 0.90)


@pytest.mark.parametrize("n", [30, 300])
@pytest.mark.parametrize("k", [2, 5])
def test_right_posteriors_are_rarely_contradicted_by_true_labels(n, k):
    """The test is exact: at most 5 %; 300 runs notice .05 against .115."""
    from karat.weak.checks import GoldRows, gold_test

    rng = np.random.default_rng([n, k])
    flagged = 0
    for _ in range(300):
        p = rng.dirichlet(np.full(k, 0.5), n)
        y = (rng.random((n, 1)) > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
        flagged += gold_test(GoldRows(y, p), rng).p_value < 0.05
    print(f"{n} labels of {k} classes: right posteriors flagged {flagged / 300:.3f}")
    assert binomtest(flagged, 300, 0.05, alternative="greater").pvalue > 0.001
