import json
from itertools import combinations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from karat.exceptions import (
    LabelError,
    LengthMismatchError,
    OptionError,
    ProbabilityError,
    ShapeError,
)
from karat.weak import DawidSkene, MajorityVote, OracleLabelModel, check_label_model
from karat.weak.checks import GOLD_TESTS, GoldRows, _statistics, gold_test

pytestmark = pytest.mark.filterwarnings("ignore:on .* all agree:karat.exceptions.KaratWarning")


def binary(rng, n, accuracies):
    y = rng.integers(0, 2, n)
    right = rng.random((n, len(accuracies))) < np.asarray(accuracies)
    return y, np.where(right, y[:, None], 1 - y[:, None])


@pytest.fixture(scope="module")
def sample(law, draw, bayes):
    rng = np.random.default_rng(5)
    prior, confusions = np.array([0.5, 0.3, 0.2]), law([0.8, 0.7, 0.75], [0.9, 0.7, 0.8], 3)
    y, votes = draw(rng, 400, prior, confusions)
    return y, votes, bayes(votes, prior, confusions)


def brute_gaps(votes, proba, weight):
    """Return observed and implied agreement and co-voting of each pair, from single rows."""
    w = weight / weight.sum()
    k = proba.shape[1]
    prior = w @ proba
    given, cover = [], []
    for z in votes.T:
        counts = np.array([[(w * (z == c)) @ proba[:, y] for c in range(k)] for y in range(k)])
        given.append(counts / counts.sum(axis=1, keepdims=True))
        cover.append(counts.sum(axis=1) / prior)
    out = []
    for i, j in combinations(range(votes.shape[1]), 2):
        both = (votes[:, i] >= 0) & (votes[:, j] >= 0)
        base = w @ both
        agree = w @ (both & (votes[:, i] == votes[:, j])) / base
        match = (given[i] * given[j]).sum(axis=1)
        implied = (w * both) @ proba @ match / base
        out.append((agree, implied, base, (prior * cover[i] * cover[j]).sum()))
    return np.array(out).T


def test_figures_equal_brute_force(sample, rng):
    y, votes, proba = sample
    weight = rng.integers(0, 4, len(y)) + 0.5
    check = check_label_model(votes, proba, sample_weight=weight)
    agree, implied, base, covote = brute_gaps(votes, proba, weight)
    np.testing.assert_allclose(check.agreement_observed, agree)
    np.testing.assert_allclose(check.agreement_expected, implied)
    np.testing.assert_allclose(check.covote_observed, base)
    np.testing.assert_allclose(check.covote_expected, covote)
    np.testing.assert_allclose(check.pair_n, base * weight.sum() ** 2 / (weight @ weight))
    often = check_label_model(votes, proba, sample_weight=1000 * weight)
    np.testing.assert_allclose(often.agreement_z, check.agreement_z)  # in any unit
    np.testing.assert_allclose(check.prior, np.average(proba, axis=0, weights=weight))
    voted = votes[:, 0] >= 0
    right = proba[np.arange(len(y)), votes[:, 0]]
    assert check.accuracy[0] == pytest.approx(np.average(right[voted], weights=weight[voted]))


def test_standard_errors_equal_the_jackknife(sample):
    _, votes, proba = sample
    n = len(votes)
    check = check_label_model(votes, proba)
    left_out = []
    for i in range(n):
        agree, implied, base, covote = brute_gaps(votes, proba, (np.arange(n) != i) * 1.0)
        left_out.append([agree - implied, base - covote])
    error = np.std(left_out, axis=0) * np.sqrt(n) * (n - 1) / n
    for which, gap, base, z in (
        (0, check.agreement_observed - check.agreement_expected, check.pair_n, check.agreement_z),
        (1, check.covote_observed - check.covote_expected, n, check.covote_z),
    ):
        expected = np.sign(gap) * np.maximum(np.abs(gap) - 0.5 / base, 0) / error[which]
        np.testing.assert_allclose(z, expected, rtol=0.03, atol=0.01)


def test_weights_are_copies(sample):
    y, votes, proba = sample
    twice = check_label_model(np.tile(votes, (2, 1)), np.tile(proba, (2, 1)))
    weighted = check_label_model(
        votes, proba, sample_weight=np.full(len(y), 2.0), weighting="frequency"
    )
    np.testing.assert_allclose(twice.agreement_z, weighted.agreement_z)
    np.testing.assert_allclose(twice.accuracy_z, weighted.accuracy_z)


@pytest.mark.parametrize(
    ("wrong", "blamed"), [("sure", "top where sure"), ("unsure", "top where unsure")]
)
def test_the_half_in_which_the_model_errs_is_named(wrong, blamed):
    """Each half by its own binomial variance; the other half is right as often as promised."""
    top = np.repeat([0.9, 0.6], 50)
    p = np.stack([1 - top, top], axis=1)
    p[1::2] = p[1::2, ::-1]  # so that both classes are as frequent as promised
    sure = np.arange(100) < 50
    misses = {"sure": (12, 20), "unsure": (5, 36)}[wrong]
    off = np.concatenate([np.arange(50) < misses[0], np.arange(50) < misses[1]])
    labels = np.where(off, p.argmin(axis=1), p.argmax(axis=1))
    found = _statistics(labels[None], p)[0]
    for column, half in ((1, np.ones(100, bool)), (3, sure), (4, ~sure)):
        gap = (~off)[half].sum() - top[half].sum()
        expected = gap**2 / (top * (1 - top))[half].sum()
        assert found[column] == pytest.approx(expected)
    place = GOLD_TESTS.index(blamed)
    assert found[place] == max(found[3:])
    assert found[place] > 9 > found[7 - place]


def test_the_gold_test_equals_enumeration(rng):
    """Four items: all 16 outcomes can be listed, with their statistics by their formulas."""
    one = np.array([0.1, 0.2, 0.6, 0.7])
    p = np.stack([1 - one, one], axis=1)
    top = p.max(axis=1)
    rows = np.arange(4)
    outcomes = np.array([[i >> b & 1 for b in range(4)] for i in range(16)])
    weight = np.array([np.prod(p[rows, y]) for y in outcomes])

    def statistics(y):
        count = abs(y.sum() - one.sum()) / np.sqrt((one * (1 - one)).sum())
        losses = -np.log(p)
        mean = (p * losses).sum(axis=1)
        spread = (p * losses**2).sum(axis=1) - mean**2
        loss = abs(losses[rows, y].sum() - mean.sum()) / np.sqrt(spread.sum())
        right = (y == p.argmax(axis=1)) - top
        parts = [rows, rows[top >= np.median(top)], rows[top < np.median(top)]]
        tops = [abs(right[at].sum()) / np.sqrt((top * (1 - top))[at].sum()) for at in parts]
        return [count, loss, *tops]

    values = np.array([statistics(y) for y in outcomes]).round(7)
    each = np.array([[weight[v >= x].sum() for x in v] for v in values.T]).T
    least = each.min(axis=1)
    for y, mine in zip(outcomes, least, strict=True):
        exact = weight[least <= mine + 1e-9].sum()
        found = gold_test(GoldRows(y, p), rng).p_value
        # 999 draws: the order of two outcomes of nearly the same p-value may be theirs.
        assert found == pytest.approx(exact, abs=0.07)


def test_impossible_labels_are_noticed(rng):
    sure = np.tile([1.0, 0.0], (5, 1))
    assert gold_test(GoldRows(np.zeros(5, dtype=int), sure), rng).p_value == 1
    assert gold_test(GoldRows(np.array([0, 0, 0, 0, 1]), sure), rng).p_value <= 0.001


def test_what_labels_could_have_seen_shrinks_with_their_number(rng):
    p = np.tile([0.3, 0.7], (400, 1))
    few, many = (gold_test(GoldRows(np.ones(n, dtype=int), p[:n]), rng) for n in (100, 400))
    assert few.noticeable == pytest.approx(2.8 * np.sqrt(0.21 / 100))
    assert many.noticeable == pytest.approx(few.noticeable / 2)


def test_few_labels_do_not_validate(rng):
    y, votes = binary(rng, 1000, [0.8] * 5)
    model = DawidSkene(rng=0).fit(votes)
    few = check_label_model(votes, model, y_true=np.where(np.arange(1000) < 19, y, -1))
    assert few.status == "not validated"
    assert "19 true labels are too few" in few.summary()


def test_a_model_that_was_fitted_with_the_labels_is_tested_without_them(rng):
    """Patterns of one item each: an oracle is right about every label that it has seen."""
    votes = np.stack([np.arange(512) >> b & 1 for b in range(9)], axis=1)
    y = rng.integers(0, 2, 512)
    gold = np.where(np.arange(512) % 3 == 0, y, -1)
    model = OracleLabelModel(smoothing=0.05).fit(votes, gold)
    check = check_label_model(votes, model, y_true=gold)
    assert check.gold_accuracy < 0.7
    fixed = check_label_model(votes, model.predict_proba(votes), y_true=gold)
    assert fixed.gold_accuracy == 1


def test_a_right_model_passes(rng):
    _, votes = binary(rng, 3000, [0.8, 0.75, 0.7, 0.7, 0.65])
    check = check_label_model(votes, DawidSkene(rng=0).fit(votes))
    assert (check.status, check.by) == ("not validated", "votes")
    assert check.reasons == ()
    assert check.gold_p_value is None
    assert check.prior_gap is None
    assert check.summary().startswith(
        "Not validated: no true label has tested the label model; the agreement"
    )
    assert check.worst_pair[0] in check.names
    json.dumps(check.to_dict(), allow_nan=False)


def test_copies_are_named(rng):
    _, votes = binary(rng, 3000, [0.8, 0.75, 0.7, 0.7, 0.7])
    votes = np.column_stack([votes, votes[:, 4]])
    for model in (DawidSkene(rng=0), MajorityVote()):
        check = check_label_model(votes, model.fit(votes))
        assert check.contradicted
        assert check.summary().startswith(
            "The label model does not hold: 4 and 5 agree on 100 % of the items on which both vote"
        )


def test_labelers_worse_than_chance_are_named(rng):
    _, votes = binary(rng, 3000, [0.8, 0.75, 0.7, 0.7, 0.3, 0.35])
    check = check_label_model(votes, DawidSkene(rng=0).fit(votes))
    assert check.contradicted
    assert "4 is right on" in check.summary()
    assert "5 is right on" in check.summary()
    check = check_label_model(votes, MajorityVote().fit(votes))
    assert check.contradicted
    assert "4, 5 agree with the others less often than chance would" in check.reasons


def test_a_wrong_prior_is_named(rng):
    _, votes = binary(rng, 2000, [0.8] * 5)
    model = DawidSkene(rng=0).fit(votes)
    assert not check_label_model(votes, model, class_prior=[0.5, 0.5]).contradicted
    check = check_label_model(votes, model, class_prior=[0.7, 0.3])
    assert check.prior_gap == pytest.approx(0.2, abs=0.05)
    assert "where class_prior says" in check.reasons[0]


def test_correlated_abstentions_count_where_the_model_reads_them(rng):
    _, votes = binary(rng, 3000, [0.8] * 5)
    votes[np.ix_(rng.random(3000) < 0.4, [0, 1])] = -1
    read = check_label_model(votes, DawidSkene(rng=0).fit(votes))
    assert "0 and 1 both vote on" in read.summary()
    assert not check_label_model(
        votes, DawidSkene(abstain="missing", rng=0).fit(votes)
    ).contradicted


def test_an_oracle_need_not_have_independent_labelers(rng):
    y, votes = binary(rng, 3000, [0.8, 0.75, 0.7])
    votes = np.column_stack([votes, votes[:, 2]])
    model = OracleLabelModel().fit(votes, y)
    check = check_label_model(votes, model)
    assert not check.contradicted
    assert not check.independence
    assert check_label_model(votes, model, independence=True).contradicted
    assert not check_label_model(votes, model.predict_proba(votes)).contradicted


def test_gold_labels_of_any_form(rng):
    y, votes = binary(rng, 1000, [0.8] * 5)
    model = DawidSkene(rng=0).fit(votes)
    gold = [int(v) if i < 40 else None for i, v in enumerate(y)]
    check = check_label_model(votes, model, y_true=gold)
    assert check.gold_n == 40
    assert check == check_label_model(votes, model, y_true=np.where(np.arange(1000) < 40, y, -1))
    assert (check.status, check.by) == ("undecided", "gold")
    assert "four times in five" in check.summary()
    wrong = check_label_model(votes, model, y_true=[None if g is None else 1 - g for g in gold])
    assert (wrong.status, wrong.by) == ("contradicted", "gold")
    assert wrong.summary().startswith("The label model does not hold: the 40 true labels do not")
    assert wrong.gold_accuracy == pytest.approx(1 - check.gold_accuracy)


def test_one_labeler_has_no_pairs():
    check = check_label_model([[0], [1]], [[0.9, 0.1], [0.2, 0.8]])
    assert check.worst_pair is None
    assert check.pairs.shape == (0, 2)
    assert not check.contradicted
    json.dumps(check.to_dict(), allow_nan=False)


VOTES = [[0, 1, 0], [1, 1, 0], [0, 1, 0]]
PROBA = [[0.6, 0.4], [0.3, 0.7], [0.6, 0.4]]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"label_model": [[0.6, 0.4], [0.3, 0.7], [0.5, 0.5]]}, ProbabilityError, "rows 0 and 2"),
        ({"label_model": [[0.6, 0.6]] * 3}, ProbabilityError, "sums to 1.2"),
        (
            {"label_model": [[0.6, 0.4]] * 2},
            LengthMismatchError,
            "has 2 rows and weak_labels has 3",
        ),
        ({"label_model": [[0.6, 0.2, 0.2]] * 3}, ShapeError, "3 columns and there are 2 classes"),
        ({"label_model": DawidSkene()}, NotFittedError, r"DawidSkene is not fitted; call fit\("),
        ({"confidence": 95}, OptionError, "confidence is 95"),
        ({"independence": "yes"}, OptionError, "independence is 'yes'; expected True or False"),
        ({"class_prior": [0.5, 0.4]}, ProbabilityError, "sums to 0.9"),
        ({"y_true": [0, 1]}, LengthMismatchError, "y_true has 2 rows"),
        ({"y_true": [0, 5, None], "classes": [0, 1]}, LabelError, "y_true row 1 holds 5"),
        ({"y_true": [None] * 3}, LabelError, "missing in every row"),
        ({"rng": "x"}, OptionError, "rng is 'x'"),
    ],
)
def test_bad_input(changes, error, message):
    options = {"label_model": PROBA} | changes
    with pytest.raises(error, match=message):
        check_label_model(VOTES, **options)


def test_classes_must_be_those_of_the_model_in_any_order():
    model = MajorityVote().fit(VOTES)
    plain, turned = (check_label_model(VOTES, model, classes=c) for c in ([0, 1], [1, 0]))
    assert turned.prior.tolist() == plain.prior[::-1].tolist()
    assert turned.agreement_expected.tolist() == pytest.approx(plain.agreement_expected.tolist())
    with pytest.raises(LabelError, match="knows the classes"):
        check_label_model(VOTES, model, classes=[0, 1, 2])


def test_a_model_counted_from_labels_may_have_a_labeler_worse_than_chance():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 5000)
    right = rng.random((5000, 3)) < [0.9, 0.8, 0.3]
    votes = np.where(right, y[:, None], 1 - y[:, None])
    assert not check_label_model(votes, OracleLabelModel().fit(votes, y)).contradicted


@pytest.mark.parametrize("seed", range(3))
def test_labelers_that_are_nearly_always_right_are_not_called_copies(seed):
    """0 and 1 agree on 96 %, the others on 70 %; it is 3 that often says what 2 says."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 3000)
    right = rng.random((3000, 6)) < [0.98, 0.98, 0.7, 0.7, 0.7, 0.7]
    votes = np.where(right, y[:, None], 1 - y[:, None])
    votes[:, 3] = np.where(rng.random(3000) < 0.4, votes[:, 2], votes[:, 3])
    check = check_label_model(votes, DawidSkene(rng=0).fit(votes))
    assert check.contradicted
    assert check.reasons[0].startswith("2 and 3 agree on")
    assert not any("copy" in reason for reason in check.reasons)
