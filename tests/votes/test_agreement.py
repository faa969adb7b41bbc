"""Observed against implied where labelers are not asked about everything."""

import numpy as np
import pytest

from karat.statistics import patterns
from karat.votes.agreement import agreement_of_posterior, backing, labelers
from karat.votes.patterns import VoteTable
from karat.weak import DawidSkene, check_label_model

N = 1e9  # so many items that the continuity correction and small counts do not matter


@pytest.fixture
def counted(rng, voting):
    _, codes = voting(rng, 3000, (0.8, 0.7, 0.75), abstain=0.3, unasked=0.25)
    found = patterns(np.where(codes == -2, np.nan, codes.astype(float)))
    proba = rng.dirichlet(np.ones(2), size=len(found.patterns))
    return found.patterns, found.counts / found.n, proba


def gaps(codes, share, proba):
    table = labelers(codes, share, proba, N)
    found = agreement_of_posterior(codes, share, proba, table, N)
    return np.array([a.observed - a.expected for a in found])


def test_shares_are_those_of_a_count(counted):
    codes, share, proba = counted
    table = labelers(codes, share, proba, N)
    agree, covote = agreement_of_posterior(codes, share, proba, table, N)
    for at, (i, j) in enumerate(zip(agree.first, agree.second, strict=True)):
        asked = (codes[:, i] > -2) & (codes[:, j] > -2)
        vote = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        same = vote & (codes[:, i] == codes[:, j])
        assert agree.observed[at] == pytest.approx(share[same].sum() / share[vote].sum())
        assert covote.observed[at] == pytest.approx(share[vote].sum() / share[asked].sum())
        assert agree.n[at] == pytest.approx(N * share[vote].sum())
        assert covote.n[at] == pytest.approx(N * share[asked].sum())
        class_of = share[asked] @ proba[asked] / share[asked].sum()
        votes = []
        for v in (i, j):
            seen, spoke = codes[:, v] > -2, codes[:, v] >= 0
            votes.append((share[spoke] @ proba[spoke]) / (share[seen] @ proba[seen]))
        assert covote.expected[at] == pytest.approx((class_of * votes[0] * votes[1]).sum())


def test_standard_errors_are_those_of_the_influence(counted):
    """The slope of the gap in one more item of each pattern, by differences."""
    codes, share, proba = counted
    step = 1e-6
    base = gaps(codes, share, proba)
    influence = np.array(
        [
            (gaps(codes, (1 - step) * share + step * one, proba) - base) / step
            for one in np.eye(len(share))
        ]
    )
    error = np.sqrt(np.einsum("z,zsp->sp", share, influence**2) / N)
    table = labelers(codes, share, proba, N)
    found = agreement_of_posterior(codes, share, proba, table, N)
    for figures, gap, expected in zip(found, base, error, strict=True):
        np.testing.assert_allclose(gap / figures.z, expected, rtol=1e-3)


def test_a_pair_that_is_never_asked_together_says_nothing():
    codes = np.array([[0, -2], [-2, 1], [1, -2]])
    share, proba = np.full(3, 1 / 3), np.full((3, 2), 0.5)
    table = labelers(codes, share, proba, 3.0)
    for figures in agreement_of_posterior(codes, share, proba, table, 3.0):
        assert (figures.n, figures.z, figures.observed) == (0, 0, 0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:on .* all agree:karat.exceptions.KaratWarning")
def test_a_right_model_passes_whoever_is_asked(voting):
    """Votes from the model, a fifth of them not asked for: at most 5 % may fail.

    60 runs notice a rate of .2 with probability .99.
    """
    failed = 0
    for seed in range(60):
        _, codes = voting(np.random.default_rng(seed), 2000, (0.85, 0.8, 0.75, 0.7, 0.8))
        votes = np.where(codes == -2, np.nan, codes.astype(float))
        model = DawidSkene(rng=0).fit(votes)
        failed += check_label_model(votes, model).contradicted
    assert failed <= 9  # P(more | 60 runs at .05) < .001


@pytest.mark.filterwarnings("ignore:on .* all agree:karat.exceptions.KaratWarning")
def test_asking_fewer_does_not_look_like_dependence(rng, voting):
    """Two labelers that are asked about the same half of the items are not dependent."""
    _, codes = voting(rng, 4000, (0.85, 0.8, 0.75, 0.7), unasked=0.0)
    codes[:2000, :2] = -2
    votes = np.where(codes == -2, np.nan, codes.astype(float))
    assert not check_label_model(votes, DawidSkene(rng=0).fit(votes)).contradicted
    as_silence = DawidSkene(rng=0).fit(votes, null="abstain")
    assert check_label_model(votes, as_silence, null="abstain").contradicted


def test_backing_is_a_count_of_votes_with_half_of_the_others(rng, voting):
    _, codes = voting(rng, 400, (0.7, 0.6, 0.8, 0.65, 0.9), abstain=0.2, unasked=0.3)
    table = VoteTable.of_codes(codes, np.ones(len(codes)), 2)
    for c, share in enumerate(backing(table)):
        backed = []
        for row in codes:
            votes = row[row >= 0]
            if len(votes) < 3:
                continue
            others = (len(votes) - 1) / 2
            backed += [(votes == c).sum() - 1 >= others] * int((votes == c).sum())
        assert share == pytest.approx(np.mean(backed))


def test_backing_of_a_class_without_votes_is_unknown():
    table = VoteTable.of_codes(np.zeros((5, 3), dtype=int), np.ones(5), 2)
    shares = backing(table)
    assert shares[0] == 1
    assert np.isnan(shares[1])
