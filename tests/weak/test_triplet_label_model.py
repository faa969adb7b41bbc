import numpy as np
import pytest

from karat.exceptions import KaratWarning
from karat.weak import DawidSkene, MajorityVote, TripletLabelModel


def test_an_infinite_sample_gives_the_accuracies_back(population, law):
    accuracies = [0.9, 0.7, 0.6, 0.35]
    codes, joint = population([0.3, 0.7], law(accuracies, [1.0, 0.8, 0.5, 0.9], 2))
    model = TripletLabelModel()
    model.fit(codes, sample_weight=joint.sum(axis=1), class_prior=[0.3, 0.7])
    np.testing.assert_allclose(model.accuracies_, accuracies, atol=1e-9)
    np.testing.assert_allclose(
        model.predict_pattern_proba(codes), joint / joint.sum(axis=1, keepdims=True), atol=1e-9
    )


def test_equals_the_formula_for_three_labelers(rng, law, draw):
    _, votes = draw(rng, 400, [0.5, 0.5], law([0.85, 0.75, 0.7], [0.9, 0.8, 1.0], 2))
    signed = np.where(votes < 0, 0, 2 * votes - 1)

    def moment(i, j):
        both = (signed[:, i] != 0) & (signed[:, j] != 0)
        return (signed[both, i] * signed[both, j]).mean()

    expected = np.sqrt(np.abs(moment(0, 1) * moment(0, 2) / moment(1, 2)))
    model = TripletLabelModel().fit(votes)
    assert 2 * model.accuracies_[0] - 1 == pytest.approx(expected)


def test_the_prior_comes_from_the_majority_vote(rng, law, draw):
    y, votes = draw(rng, 3000, [0.8, 0.2], law([0.85] * 7, [1.0] * 7, 2))
    model = TripletLabelModel().fit(votes)
    assert model.class_prior_[1] == pytest.approx(0.2, abs=0.03)
    assert model.accuracies_.shape == (7,)
    assert (model.predict_proba(votes).argmax(axis=1) == y).mean() > 0.95


def test_labelers_of_one_class_each_are_not_turned_round(rng):
    """They never agree with those of the other class, which does not make them wrong."""
    y = rng.integers(0, 2, 3000)
    fires = rng.random((3000, 6)) < np.where(y[:, None] == np.arange(6) % 2, 0.6, 0.05)
    votes = np.where(fires, np.arange(6) % 2, -1)
    model = TripletLabelModel().fit(votes)
    assert (model.accuracies_ > 0.5).all()


def test_more_classes(rng, law, draw):
    y, votes = draw(rng, 4000, [0.4, 0.3, 0.2, 0.1], law([0.8, 0.7, 0.7, 0.6], [0.9] * 4, 4))
    model = TripletLabelModel().fit(votes)
    assert model.accuracies_.shape == (4, 4)
    right = {
        type(m).__name__: (m.predict_proba(votes).argmax(axis=1) == y).mean()
        for m in (model, MajorityVote().fit(votes), DawidSkene(rng=0).fit(votes))
    }
    assert right["TripletLabelModel"] > right["MajorityVote"] - 0.01


def test_a_labeler_without_triplets_is_guessed_with_a_warning(rng, law, draw):
    _, votes = draw(rng, 500, [0.5, 0.5], law([0.8] * 4, [1.0] * 4, 2))
    votes[:250, 3] = -1
    votes[250:, :3] = -1
    with pytest.warns(KaratWarning, match=r"accuracy of \['3'\] cannot be estimated"):
        model = TripletLabelModel().fit(votes)
    assert model.accuracies_[3] == np.median(model.accuracies_[:3])


@pytest.mark.parametrize("k", [2, 3])
def test_many_sure_labelers_do_not_overflow(rng, law, draw, k):
    y, votes = draw(rng, 300, np.full(k, 1 / k), law([0.98] * 300, [1.0] * 300, k))
    proba = TripletLabelModel().fit(votes).predict_proba(np.vstack([votes, 0 * votes[:1]]))
    assert np.isfinite(proba).all()
    assert (proba[:-1].argmax(axis=1) == y).all()


@pytest.mark.slow
def test_errors_shrink_with_n(law, draw):
    rng = np.random.default_rng(0)
    errors = {500: [], 20_000: []}
    for _ in range(60):
        accuracies = rng.uniform(0.6, 0.9, 6)
        for n, found in errors.items():
            _, votes = draw(rng, n, [0.4, 0.6], law(accuracies, [0.8] * 6, 2))
            found.append(np.abs(TripletLabelModel().fit(votes).accuracies_ - accuracies).mean())
    assert np.median(errors[20_000]) < np.median(errors[500]) / 4
