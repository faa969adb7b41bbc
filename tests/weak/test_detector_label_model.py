"""Detectors beside a smoothed vote: formulas, regimes, and how right they are on real votes."""

import numpy as np
import pandas as pd
import pytest

from karat.bounds import performance_bounds
from karat.datasets import load_shared
from karat.exceptions import DataError, KaratWarning
from karat.weak import DetectorLabelModel, MajorityVote, check_label_model

SETS = (
    "wrench_chemprot", "wrench_semeval", "wrench_sms", "wrench_tennis", "wrench_trec",
    "wrench_youtube", "ws_agnews", "ws_imdb", "ws_sst2", "ws_yelp", "ws_yoruba",
)  # fmt: skip


def by_hand(votes, prior, gold, *, share, lead, power, passes=10):
    """Return P(Y | Z) of each row by the formulas, one item and one labeler at a time."""
    n, m, k = len(votes), votes.shape[1], len(prior)
    post = np.empty((n, k))
    smooth = np.empty((n, k))
    for i, row in enumerate(votes):
        cast = np.array([(row == c).sum() for c in range(k)], dtype=float)
        post[i] = cast / cast.sum() if cast.sum() else prior
        smooth[i] = (cast + prior / 2) / (cast.sum() + 0.5)
    guess, hit, alarm = None, np.empty((m, k)), np.empty((m, k))
    for _ in range(passes):
        post[gold >= 0] = np.eye(k)[gold[gold >= 0]]
        rates = np.empty((2, m, k, 2))  # count and total of hits and of false alarms
        for j in range(m):
            asked = votes[:, j] > -2
            for c in range(k):
                said = asked & (votes[:, j] == c)
                rates[0, j, c] = post[said, c].sum(), post[asked, c].sum()
                rates[1, j, c] = (1 - post[said, c]).sum(), (1 - post[asked, c]).sum()
        if guess is None:
            guess = rates[..., 0] / np.maximum(rates[..., 1], 1e-12)
        hit, alarm = (rates[..., 0] + 10 * guess) / (rates[..., 1] + 10)
        pooled = (rates[..., 0] + 10 * guess).sum(axis=0) / (rates[..., 1] + 10).sum(axis=0)
        blind = hit < lead * alarm
        hit, alarm = np.where(blind, pooled, hit), np.where(blind, pooled, alarm)
        for i, row in enumerate(votes):
            log = np.log(prior)
            for j, vote in enumerate(row):
                for y in range(k):
                    if vote >= 0:
                        log[y] += np.log(max(hit[j, y] if vote == y else alarm[j, vote], 1e-12))
                    elif vote == -1:
                        others = sum(alarm[j, c] for c in range(k) if c != y)
                        log[y] += power * np.log(max(1 - hit[j, y] - others, 1e-6))
            joint = np.exp(log - log.max())
            post[i] = joint / joint.sum()
    return (1 - share) * smooth + share * post


@pytest.fixture(scope="module")
def sample(law, draw):
    rng = np.random.default_rng(5)
    y, votes = draw(rng, 120, [0.6, 0.3, 0.1], law([0.8, 0.7, 0.6, 0.35], [0.9, 0.5, 0.4, 0.6], 3))
    votes[rng.random(votes.shape) < 0.1] = -2  # not asked
    return y, votes


@pytest.mark.parametrize("known", ["nothing", "class_prior", "y_true"])
def test_it_is_the_formula(sample, known):
    y, votes = sample
    frame = pd.DataFrame(votes).astype("Int64").mask(votes == -2)
    options, gold, prior = {}, np.full(120, -1), np.full(3, 1 / 3)
    if known == "class_prior":
        prior = np.array([0.6, 0.3, 0.1])
        options = {"class_prior": prior}
    if known == "y_true":
        gold[:30] = y[:30]
        cast = np.array([(votes == c).sum() for c in range(3)])
        counts = np.bincount(y[:30], minlength=3)
        prior = (counts + 10 * (0.5 * cast / cast.sum() + 0.5 / 3)) / 40
        options = {"y_true": gold}
    model = DetectorLabelModel().fit(frame, **options)
    how = {"share": 0.3, "lead": 2, "power": 0.0}
    if known != "nothing":
        how = {"share": 0.5, "lead": 3, "power": 0.1}
    free = gold < 0  # P(Y | Z) is of the votes alone, so labelled rows have no other
    expected = by_hand(votes, prior, gold, **how)
    np.testing.assert_allclose(model.predict_proba(frame)[free], expected[free], atol=1e-10)
    np.testing.assert_allclose(model.class_prior_, prior)
    assert model.known_ == known
    assert model.gold_n_ == (30 if known == "y_true" else 0)


def test_it_says_what_it_assumes(sample):
    _, votes = sample
    votes = np.maximum(votes, -1)
    said = DetectorLabelModel().fit(votes).assumption_
    assert said.startswith("P(Y) is not known and the classes are assumed to be equally common")
    assert "class_prior=" in said
    given = DetectorLabelModel().fit(votes, class_prior=[0.6, 0.3, 0.1]).assumption_
    assert given == "P(Y) is taken as given: 0 60 %, 1 30 %, 2 10 %"
    counted = DetectorLabelModel().fit(votes, y_true=[0, 1, 2, 0] + [None] * 116).assumption_
    assert counted.startswith("P(Y) is estimated from 4 true labels: 0 ")


def test_a_prior_that_is_passed_beats_that_of_true_labels(sample):
    y, votes = sample
    votes = np.maximum(votes, -1)
    model = DetectorLabelModel().fit(votes, y_true=y, class_prior=[0.6, 0.3, 0.1])
    np.testing.assert_allclose(model.class_prior_, [0.6, 0.3, 0.1])
    assert model.known_ == "class_prior"
    assert model.gold_n_ == 120


def test_votes_do_not_move_the_prior(rng):
    """Rules that fire on a tenth of a rare class: a learnt P(Y) would go to zero."""
    y = (rng.random(4000) < 0.15).astype(int)
    fires = rng.random((4000, 6)) < np.where(y[:, None] == 1, 0.1, 0.002)
    votes = np.where(fires, 1, -1)
    votes[:, 0] = np.where(rng.random(4000) < 0.3, 0, -1)
    model = DetectorLabelModel().fit(votes)
    np.testing.assert_array_equal(model.class_prior_, [0.5, 0.5])
    fired = (votes[:, 1:] == 1).any(axis=1)
    assert (model.predict_proba(votes[fired])[:, 1] > 0.5).mean() > 0.9


def test_a_labeler_of_one_class_and_one_that_is_silent(rng):
    y = rng.integers(0, 2, 500)
    votes = np.stack(
        [
            np.where((y == 1) & (rng.random(500) < 0.5), 1, -1),
            np.where(rng.random(500) < 0.8, y, 1 - y),
            np.where(rng.random(500) < 0.8, y, 1 - y),
            np.full(500, -1),
        ],
        axis=1,
    )
    with pytest.warns(KaratWarning, match=r"\['3'\] never votes in weak_labels"):
        model = DetectorLabelModel().fit(votes, class_prior=[0.5, 0.5])
    np.testing.assert_allclose(
        model.hit_rates_[3], model.false_alarm_rates_[3], err_msg="silence says nothing"
    )
    assert model.hit_rates_[0, 1] > 3 * model.false_alarm_rates_[0, 1]  # one class is enough
    alike = model.predict_proba([[-1, 1, 0, -1], [1, 1, 0, -1]])
    assert alike[1, 1] > alike[0, 1]


def test_one_labeler_is_too_few():
    with pytest.raises(DataError, match=r"votes of 1 labeler; DetectorLabelModel needs two"):
        DetectorLabelModel().fit([[0], [1], [1]])
    with pytest.raises(DataError, match=r"votes of 1 of 2 labeler"):
        DetectorLabelModel().fit([[0, -1], [1, -1]])
    with pytest.raises(DataError, match="votes of 1 labeler"):
        performance_bounds([0, 1, 1], [[0], [1], [1]], metric="accuracy")


def test_it_is_the_default(sample):
    y, votes = sample
    votes = np.maximum(votes, -1)
    prior = [0.5, 0.3, 0.2]
    for options in ({}, {"class_prior": prior}):
        model = DetectorLabelModel().fit(votes, **options)
        own = performance_bounds(y, votes, metric="accuracy", rng=0, **options)
        same = performance_bounds(y, votes, model, metric="accuracy", rng=0, **options)
        assert own.lower == same.lower
        assert own.upper_limit == same.upper_limit
        assert model.assumption_ in own.summary()
        mine = check_label_model(votes, **options)
        np.testing.assert_allclose(mine.prior, check_label_model(votes, model, **options).prior)


def mean_log_loss(proba, y):
    return -np.log(proba[np.arange(len(y)), y]).mean()


def accuracy(proba, y):
    """Return how often the most probable class is right, ties shared."""
    top = proba >= proba.max(axis=1, keepdims=True) - 1e-12
    return (top[np.arange(len(y)), y] / top.sum(axis=1)).mean()


@pytest.fixture(scope="module")
def real_votes(shared_data):
    found = {}
    for name in SETS:
        frame = load_shared(name)
        columns = [c for c in frame if c[:1] == "L" and c[1:].isdigit()]
        votes = frame[columns].to_numpy(dtype=np.int64)
        found[name] = votes, frame["label"].fillna(-1).to_numpy(dtype=np.int64)
    return found


@pytest.mark.parametrize(
    ("known", "goal"), [("nothing", 0.85), ("class_prior", 0.76), ("y_true", 0.78)]
)
def test_real_votes(real_votes, known, goal):
    """Log-loss over eleven sets, and no set on which the majority vote is right more often."""
    losses = []
    for name, (votes, y) in real_votes.items():
        rows = np.flatnonzero(y >= 0)
        k = int(y.max()) + 1
        scores = []
        for draw in range(5 if known == "y_true" else 1):
            options = {}
            if known == "class_prior":
                options["class_prior"] = np.bincount(y[rows], minlength=k) / len(rows)
            if known == "y_true":
                some = np.random.default_rng(draw).choice(rows, 50, replace=False)
                options["y_true"] = np.full(len(y), -1)
                options["y_true"][some] = y[some]
            proba = DetectorLabelModel().fit(votes, classes=range(k), **options)
            shown = proba.predict_proba(votes[rows])
            scores.append((mean_log_loss(shown, y[rows]), accuracy(shown, y[rows])))
        loss, right = np.mean(scores, axis=0)
        vote = MajorityVote().fit(votes, classes=range(k)).predict_proba(votes[rows])
        assert right - accuracy(vote, y[rows]) >= -0.01, name
        losses.append(loss)
    assert np.mean(losses) <= goal
