from functools import partial

import numpy as np
import pytest
from scipy.stats import binomtest

from karat.exceptions import KaratWarning, OptionError
from karat.weak import DawidSkene, MajorityVote
from karat.weak._dawid_skene import VoteRows, best_start, em_problem

CONTRADICTED = "ignore:on .* all agree:karat.exceptions.KaratWarning"
PRIOR = np.array([0.5, 0.3, 0.2])


@pytest.fixture(scope="module")
def confusions(law):
    return law([0.8, 0.7, 0.75, 0.6], [0.9, 0.8, 1.0, 0.7], 3)


def plain_em(votes, k, smoothing, passes, missing=False):
    """EM on single rows, as Dawid and Skene wrote it, from the majority vote."""
    m = votes.shape[1]

    def step(post):
        theta = np.zeros((m, k, k + 1))
        for row, p in zip(votes, post, strict=True):
            for j, vote in enumerate(row):
                if not (missing and vote < 0):
                    theta[j, :, vote] += p  # -1 is the last column
        return theta

    start = MajorityVote().fit(votes, classes=range(k)).predict_proba(votes)
    majority = step(start)
    marginal = majority.sum(axis=1, keepdims=True)
    marginal /= marginal.sum(axis=2, keepdims=True)
    anchor = (majority + marginal) / (majority.sum(axis=2, keepdims=True) + 1)
    post, like = start, []
    for _ in range(passes):
        theta = step(post) + smoothing * anchor
        theta /= theta.sum(axis=2, keepdims=True)
        prior = post.mean(axis=0)
        joint = np.tile(prior, (len(votes), 1))
        for j in range(m):
            seen = votes[:, j] >= 0 if missing else np.ones(len(votes), dtype=bool)
            joint[seen] *= theta[j].T[votes[seen, j]]
        like.append(np.log(joint.sum(axis=1)).sum())
        post = joint / joint.sum(axis=1, keepdims=True)
    return post, prior, theta, like


@pytest.mark.slow
@pytest.mark.filterwarnings(CONTRADICTED)
@pytest.mark.parametrize("abstain", ["outcome", "missing"])
@pytest.mark.parametrize("smoothing", [0.0, 10.0])
def test_equals_plain_em_on_rows(rng, draw, confusions, abstain, smoothing):
    _, votes = draw(rng, 150, PRIOR, confusions)
    missing = abstain == "missing"
    post, prior, _, like = plain_em(votes, 3, smoothing, 800, missing)
    model = DawidSkene(
        restarts=1, abstain=abstain, smoothing=smoothing, tol=1e-13, max_iter=5000
    ).fit(votes)
    np.testing.assert_allclose(model.class_prior_, prior, atol=2e-3)
    np.testing.assert_allclose(model.predict_proba(votes), post, atol=5e-3)
    if not missing:
        assert model.log_likelihood_ == pytest.approx(like[-1], abs=0.01)
    np.testing.assert_allclose(model.confusions_.sum(axis=2), 1)


def test_an_infinite_sample_gives_the_law_back(population, confusions):
    codes, joint = population(PRIOR, confusions)
    model = DawidSkene(tol=1e-14, max_iter=5000, smoothing=0.0, rng=0)
    model.fit(codes, sample_weight=joint.sum(axis=1))
    np.testing.assert_allclose(model.class_prior_, PRIOR, atol=1e-4)
    np.testing.assert_allclose(model.confusions_, confusions, atol=1e-4)
    np.testing.assert_allclose(
        model.predict_pattern_proba(codes), joint / joint.sum(axis=1, keepdims=True), atol=1e-3
    )


def test_posterior_is_bayes_rule(rng, draw, confusions, bayes):
    _, votes = draw(rng, 200, PRIOR, confusions)
    model = DawidSkene(rng=0).fit(votes)
    np.testing.assert_allclose(
        model.predict_proba(votes), bayes(votes, model.class_prior_, model.confusions_)
    )


def test_a_given_prior_stays(rng, draw, confusions):
    _, votes = draw(rng, 500, PRIOR, confusions)
    model = DawidSkene(rng=0).fit(votes, class_prior=PRIOR)
    np.testing.assert_allclose(model.class_prior_, PRIOR)


def test_labels_are_not_switched(rng, law, draw):
    """Two of six labelers worse than chance: the learned classes keep their names."""
    confusions = law([0.8, 0.8, 0.75, 0.7, 0.25, 0.3], [1.0] * 6, 2)
    for prior in (None, [0.5, 0.5]):
        y, votes = draw(rng, 3000, [0.5, 0.5], confusions)
        model = DawidSkene(rng=0).fit(votes, class_prior=prior)
        assert (model.predict_proba(votes).argmax(axis=1) == y).mean() > 0.85
        right = model.confusions_[:, [0, 1], [0, 1]].mean(axis=1)
        np.testing.assert_allclose(right, [0.8, 0.8, 0.75, 0.7, 0.25, 0.3], atol=0.05)


def test_abstention_as_an_outcome_tells_classes_apart(rng):
    """Rules that fire on one class each: only their silence tells how sure a vote is."""
    y = rng.integers(0, 2, 4000)
    fires = rng.random((4000, 6)) < np.where(y[:, None] == np.arange(6) % 2, 0.7, 0.1)
    votes = np.where(fires, np.arange(6) % 2, -1)
    model = DawidSkene(rng=0).fit(votes)
    silent = (votes < 0).all(axis=1)
    assert (model.predict_proba(votes).argmax(axis=1) == y)[~silent].mean() > 0.88
    np.testing.assert_allclose(model.confusions_[0, :, 2], [0.3, 0.9], atol=0.05)


def test_an_outcome_never_seen_says_nothing(rng, law, draw):
    _, votes = draw(rng, 500, [0.8, 0.2], law([0.8, 0.8, 0.8], [1.0] * 3, 2))
    model = DawidSkene(rng=0).fit(votes)
    theta, prior = model.confusions_, model.class_prior_
    joint = prior * theta[0, :, 1] * theta[1, :, 1]
    np.testing.assert_allclose(model.predict_proba([[1, 1, -1]])[0], joint / joint.sum())


def test_it_reports_convergence(rng, draw, confusions):
    _, votes = draw(rng, 500, PRIOR, confusions)
    model = DawidSkene(rng=0).fit(votes)
    assert model.converged_
    assert 0 <= model.gap_ <= 1e-6
    longer = DawidSkene(rng=0, tol=1e-14, max_iter=5000).fit(votes)
    assert longer.log_likelihood_ >= model.log_likelihood_ - 500e-6
    assert longer.n_iter_ > model.n_iter_
    with pytest.warns(KaratWarning, match=r"stopped after .* raise max_iter"):
        model = DawidSkene(restarts=1, max_iter=2, tol=1e-15).fit(votes)
    assert not model.converged_


def test_restarts_never_do_worse(rng, law, draw):
    better = 0
    for _ in range(10):
        _, votes = draw(rng, 200, [0.5, 0.5], law([0.6] * 5, [0.8] * 5, 2))
        problem_of = partial(em_problem, k=2, smoothing=1.0, missing=False, prior=None)
        one, many = (
            best_start(
                problem_of,
                VoteRows.of(votes, np.ones(200), np.full(200, -1), 2),
                restarts=restarts,
                max_iter=100,
                tol=1e-6,
                rng=np.random.default_rng(0),
            ).objective
            for restarts in (1, 8)
        )
        assert many >= one
        better += many > one
    assert better > 0


@pytest.mark.parametrize("missing", [False, True])
def test_what_a_labeler_never_says_needs_no_parameter(rng, draw, confusions, missing):
    """Rules of one or two classes, in their own numbering and in that of all classes."""
    _, votes = draw(rng, 120, PRIOR, confusions)
    codes = np.where((votes == [0, 1, 2, 2]) | (votes == [1, 1, 2, 0]), votes, -1)
    codes[rng.random(codes.shape) < 0.1] = -2
    gold = np.where(rng.random(120) < 0.1, rng.integers(0, 3, 120), -1)
    own = VoteRows.of(codes, rng.random(120), gold, 3)
    assert own.classes.shape == (4, 2)
    everything = VoteRows(codes, own.weight, gold, codes, np.tile(np.arange(3), (4, 1)))
    fits = []
    for rows in (own, everything):
        problem_of = partial(em_problem, k=3, smoothing=5.0, missing=missing, prior=None)
        options = {"restarts": 2, "max_iter": 40, "tol": 1e-9, "rng": np.random.default_rng(0)}
        fit = best_start(problem_of, rows, **options)
        fits.append((fit.objective, fit.state.weight, problem_of(rows).rates(fit.state)))
    for a, b in zip(*fits, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-7)
    np.testing.assert_allclose(fits[0][2].sum(axis=1), 1.0)


def test_unanimous_votes_are_not_contradicted_in_silence():
    votes = [[0, 0, 0, 0]] * 1000 + [[1, 1, -1, -1]] * 2 + [[0, 0, -1, -1]] * 300
    with pytest.warns(KaratWarning, match=r"on 0.15 % of the items .* DawidSkene contradicts"):
        DawidSkene(rng=0).fit(votes, class_prior=[1 - 1e-12, 1e-12])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_iter": 0}, "max_iter is 0"),
        ({"max_iter": 2.5}, "max_iter is 2.5; expected a whole number"),
        ({"restarts": 0}, "restarts is 0"),
        ({"tol": -1}, "tol is -1"),
        ({"smoothing": -1}, "smoothing is -1"),
        ({"abstain": "drop"}, "abstain is 'drop'; expected 'outcome' or 'missing'"),
        ({"rng": "x"}, "rng is 'x'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(OptionError, match=message):
        DawidSkene(**options).fit([[0, 1, 1], [0, 0, 0]])


@pytest.mark.slow
@pytest.mark.filterwarnings(CONTRADICTED)
@pytest.mark.parametrize("k", [2, 4])
def test_it_recovers_the_law(law, draw, bayes, k):
    """Errors shrink with n; against the majority vote it wins more often than not."""
    rng = np.random.default_rng(0)
    wins, errors = 0, {500: [], 8000: []}
    for _ in range(60):
        confusions = law(rng.uniform(0.5, 0.9, 6), rng.uniform(0.5, 1, 6), k)
        prior = rng.dirichlet(5 * np.ones(k))
        for n, found in errors.items():
            y, votes = draw(rng, n, prior, confusions)
            model = DawidSkene(rng=0).fit(votes, classes=range(k))
            found.append(np.abs(model.confusions_ - confusions).mean())
        proba = model.predict_proba(votes[:500])
        majority = MajorityVote().fit(votes).predict_proba(votes)
        wins += (model.predict_proba(votes).argmax(1) == y).mean() >= (
            majority.argmax(1) == y
        ).mean()
        assert np.abs(proba - bayes(votes[:500], prior, confusions)).mean() < 0.1
    assert np.median(errors[8000]) < np.median(errors[500]) / 2.5
    assert binomtest(wins, 60, 0.9, alternative="less").pvalue > 0.001
