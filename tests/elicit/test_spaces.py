"""Spaces: coordinates, where they come from, groups, and what must not matter."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.datasets import LogisticLaw
from karat.elicit import BinarySpace, ConfusionSpace, DiagonalSpace, RateSpace
from karat.exceptions import DataError, ElicitationError, LabelError
from karat.metrics import LinearMetric, accuracy, balanced_accuracy
from karat.statistics import confusion, roc_counts

LAW = LogisticLaw([-4, 1, 5])
KINDS = [DiagonalSpace, ConfusionSpace, RateSpace]
NAMES = ["binary", "diagonal", "confusion", "rate"]


@pytest.fixture(scope="module")
def sample():
    x, y = LAW.sample(400, rng=0)
    return y, LAW.proba(x)


@pytest.fixture(scope="module")
def pair():
    law = LogisticLaw.binary(3.0)
    x, y = law.sample(400, rng=1)
    return y, law.proba(x)[:, 1]


# --- coordinates


@pytest.mark.parametrize("name", NAMES)
def test_coordinates_undo_confusions(name, spaces, draw_confusions, rng):
    space = spaces[name]
    tables = draw_confusions(space, 4, rng)
    points = space.coordinates(tables)
    assert points.shape == (4, space.dim)
    assert (points >= -1e-12).all()
    assert (points <= space.top + 1e-12).all()
    again = space.confusion(points)
    assert np.allclose(space.coordinates(again), points, atol=1e-7)
    assert np.allclose(again.sum(axis=-1), space.prior, atol=1e-12)
    if name != "diagonal":  # the others say all there is to say
        assert np.allclose(again, tables, atol=1e-12)
    assert space.confusion(points[0]).shape == tables[0].shape


@pytest.mark.parametrize("name", NAMES)
def test_weights_are_the_gains_of_a_direction(name, spaces, draw_confusions, rng):
    space = spaces[name]
    directions = rng.normal(size=(5, space.dim))
    for table in draw_confusions(space, 5, rng):
        expected = directions @ space.coordinates(table)
        assert np.allclose(np.einsum("bij,ij->b", space.weights(directions), table), expected)


@pytest.mark.parametrize("name", NAMES)
def test_metrics_of_a_space_weigh_its_coordinates(name, spaces, draw_confusions, rng):
    space = spaces[name]
    tables = draw_confusions(space, 6, rng)
    c = space.coordinates(tables)
    good, bad = rng.random((2, space.dim))
    assert np.allclose(space.linear_metric(good)(tables), space.sign * c @ good)
    above, below = c @ good, (space.top - c) @ bad
    expected = space.sign * above / (above + below)
    assert np.allclose(space.ratio_metric(good, bad)(tables), expected)


@pytest.mark.parametrize("name", NAMES)
def test_center_guesses(name, spaces):
    space = spaces[name]
    guess = np.outer(space.prior, np.ones(space.n_classes)) / space.n_classes
    assert np.allclose(space.center, space.coordinates(guess))
    assert space.contains(space.center)
    assert len(space.names) == space.dim == len(space.top)


def test_what_the_coordinates_are(binary, diagonal, errors, rates):
    table = np.array([[0.3, 0.1, 0.0], [0.05, 0.2, 0.05], [0.1, 0.1, 0.1]])
    assert diagonal.coordinates(table).tolist() == [0.3, 0.2, 0.1]
    assert errors.coordinates(table).tolist() == [0.1, 0.0, 0.05, 0.05, 0.1, 0.1]
    assert binary.coordinates(np.array([[0.4, 0.1], [0.2, 0.3]])).tolist() == [0.3, 0.4]
    shares = table / table.sum(axis=1, keepdims=True) * rates.prior[:, None]
    expected = (table / table.sum(axis=1, keepdims=True))[~np.eye(3, dtype=bool)]
    assert np.allclose(rates.coordinates(shares), expected)
    assert binary.names == ("right about 1", "right about 0")
    assert errors.names[:2] == ("0 taken for 1", "0 taken for 2")
    assert binary.trade_off(0, 1) == "a missed 1 against a false 1"


def test_positives_come_first_where_they_are_rare():
    """True positives can be as many as the positives, true negatives as the negatives."""
    law = LogisticLaw.binary(5.0)
    space = BinarySpace.from_density(law.proba, low=-0.5, high=1.0, n_points=301)
    assert space.prior[1] < 0.4
    assert space.top.tolist() == [space.prior[1], space.prior[0]]
    assert np.allclose(space.center, space.top / 2)
    assert np.allclose(space.frontier.total, space.top)
    perfect = space.confusion(space.top)
    assert perfect.diagonal().tolist() == space.prior.tolist()
    guess = space.confusion(space.center)
    assert space.ratio_metric(np.ones(2), np.ones(2))(perfect) == pytest.approx(1)
    assert space.ratio_metric(np.ones(2), np.ones(2))(guess) == pytest.approx(0.5)


@pytest.mark.parametrize("name", NAMES)
def test_samples_are_best_for_some_metric(name, spaces):
    """On the upper boundary, spread, reproducible, and of the population."""
    space = spaces[name]
    tables = space.sample(50, rng=3)
    assert np.array_equal(tables, space.sample(50, rng=3))
    assert not np.array_equal(tables, space.sample(50, rng=4))
    assert np.allclose(tables.sum(axis=2), space.prior)
    best = accuracy(space.population.optimal(np.eye(space.n_classes)[None])[0])
    values = accuracy(tables)
    assert accuracy(space.confusion(space.center)) < values.max() <= best + 1e-12
    assert np.ptp(values) > 0.02
    assert all(space.contains(space.coordinates(table)) for table in tables[:3])


# --- where a space comes from


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", [accuracy, balanced_accuracy])
def test_a_law_s_boundary_is_its_bayes_confusion(kind, metric):
    """Exact integrals of the law on the one hand, cells on the other."""
    if metric is balanced_accuracy:
        weights = np.eye(3) / LAW.prior
        metric = LinearMetric(weights)
    space = kind.from_density(LAW.proba, n_points=4001)
    weights = np.eye(3) if metric is accuracy else weights
    if kind is DiagonalSpace:
        direction = weights.diagonal()
    else:
        off = ~np.eye(3, dtype=bool)
        direction = (weights - weights.diagonal()[:, None])[off]
        if kind is RateSpace:
            direction = direction * np.repeat(LAW.prior, 2)
    found = space.boundary(direction)
    exact = LAW.bayes_confusion(metric)
    assert metric(found) == pytest.approx(metric(exact), abs=1e-6)
    assert np.allclose(found, exact, atol=1e-3)
    assert np.allclose(space.prior, LAW.prior, atol=1e-6)


def test_a_density_weighs_the_cells():
    """Half of the mass on [0, 1] is twice the density of a quarter of it."""
    law = LogisticLaw.binary(5.0)
    part = BinarySpace.from_density(law.proba, low=0.0, high=1.0, n_points=501)
    whole = BinarySpace.from_density(law.proba, density=lambda x: (x > 0) * 1.0, n_points=1002)
    assert np.allclose(part.prior, whole.prior, atol=1e-12)
    assert np.allclose(part.boundary([1, 2]), whole.boundary([1, 2]), atol=1e-12)
    one = BinarySpace.from_density(lambda x: law.proba(x)[:, 1], n_points=501)
    two = BinarySpace.from_density(law.proba, n_points=501)
    assert one.fingerprint == two.fingerprint


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_counts_its_labels(kind, sample):
    y, proba = sample
    space = kind.from_proba(y, proba)
    direction = space.sign * np.arange(1.0, space.dim + 1)
    decided = LinearMetric(space.weights(direction)).bayes_classifier().predict(proba)
    assert np.allclose(space.boundary(direction), confusion(y, decided), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_calibrated_probabilities_need_no_labels(kind, sample):
    _, proba = sample
    space = kind.from_calibrated(proba)
    direction = space.sign * np.ones(space.dim)
    weights = space.weights(direction)
    decided = LinearMetric(weights).bayes_classifier().predict(proba)
    expected = np.stack([proba[decided == j].sum(axis=0) for j in range(3)], axis=1) / len(proba)
    assert np.allclose(space.boundary(direction), expected)


def test_scores_only_order_the_items(pair):
    y, p = pair
    base = BinarySpace.from_scores(y, p)
    for scores in (np.log(p / (1 - p)), 7 * p - 3):
        other = BinarySpace.from_scores(y, scores)
        assert not other.calibrated
        assert np.allclose(
            other.frontier.gains[other.frontier.hull], base.frontier.gains[base.frontier.hull]
        )
    assert base.calibrated
    assert base.fingerprint == BinarySpace.from_scores(y, np.sqrt(p)).fingerprint


def test_smoothed_removes_the_steps(pair):
    y, p = pair
    law = LogisticLaw.binary(3.0)
    rough = BinarySpace.from_scores(y, p)
    smooth = rough.smoothed()
    exact = BinarySpace.from_density(law.proba)
    assert len(smooth.frontier.hull) > 3 * len(rough.frontier.hull)
    assert smooth.prior == pytest.approx(rough.prior, abs=1e-3)  # logistic regression keeps it
    for direction in ([1.0, 1.0], [1.0, 3.0]):
        assert np.allclose(smooth.boundary(direction), exact.boundary(direction), atol=0.06)
    by_rank = BinarySpace.from_scores(y, np.log(p / (1 - p))).smoothed()
    assert by_rank.calibrated
    assert by_rank.prior == pytest.approx(rough.prior, abs=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_smoothed_of_several_classes(kind, sample):
    y, proba = sample
    smooth = kind.from_proba(y, proba).smoothed()
    exact = kind.from_density(LAW.proba, n_points=2001)
    assert np.allclose(smooth.prior, np.bincount(y) / len(y), atol=1e-3)
    direction = exact.sign * np.ones(exact.dim)
    assert np.allclose(smooth.boundary(direction), exact.boundary(direction), atol=0.08)
    assert len(smooth.population.proba) == len(y)


@pytest.mark.parametrize("kind", [BinarySpace, *KINDS])
def test_classifiers_of_a_smoothed_space_take_the_model_s_probabilities(kind, sample, pair):
    """What is deployed sees what the model says, not what the smoothing makes of it."""
    if kind is BinarySpace:
        y, score = pair
        given = np.column_stack([1 - score**2, score**2])  # far from calibrated
        smooth = BinarySpace.from_scores(y, score**2).smoothed()
    else:
        y, proba = sample
        given = proba**2 / (proba**2).sum(axis=1, keepdims=True)
        smooth = kind.from_proba(y, given).smoothed()
    corners = smooth.coordinates(smooth.sample(3, rng=0))
    for point in (corners[0], corners.mean(axis=0), smooth.center):
        classifier = smooth.classifier(point)
        assert classifier.missing == 0
        reached = smooth.population.mass.T @ classifier.predict_proba(given)
        assert np.allclose(smooth.coordinates(reached), point, atol=1e-6)


def test_smoothed_keeps_its_groups(sample):
    y, proba = sample
    space = RateSpace.from_proba(y, proba, groups=np.where(np.arange(400) % 2, "a", "b"))
    assert space.smoothed().groups.tolist() == ["a", "b"]


# --- what must not matter


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_rows_in_another_order(kind, seed, sample):
    y, proba = sample
    order = np.random.default_rng(seed).permutation(len(y))
    one, two = kind.from_proba(y, proba), kind.from_proba(y[order], proba[order])
    directions = np.random.default_rng(seed).normal(size=(5, one.dim))
    assert np.allclose(one.boundary(directions), two.boundary(directions), atol=1e-12)
    assert one.fingerprint == two.fingerprint


@given(seed=st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_scores_in_another_order_and_weights_as_copies(seed, pair):
    y, p = pair
    rng = np.random.default_rng(seed)
    p = np.round(p, 2)
    weight = rng.integers(0, 4, len(y))
    weighted = BinarySpace.from_scores(y, p, sample_weight=weight)
    again = np.repeat(np.arange(len(y)), weight)
    rng.shuffle(again)
    copied = BinarySpace.from_scores(y[again], p[again])
    points = [s.frontier.gains[s.frontier.hull] for s in (weighted, copied)]
    assert points[0].shape == points[1].shape
    assert np.allclose(points[0], points[1], atol=1e-12)
    assert weighted.fingerprint == copied.fingerprint
    assert BinarySpace.from_scores(y, p, sample_weight=7.5 * weight).fingerprint == (
        weighted.fingerprint
    )


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_weights_are_copies(kind, seed, sample):
    y, proba = sample
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, len(y))
    one = kind.from_proba(y, proba, sample_weight=weight)
    again = np.repeat(np.arange(len(y)), weight)
    two = kind.from_proba(y[again], proba[again])
    directions = rng.normal(size=(5, one.dim))
    assert np.allclose(one.boundary(directions), two.boundary(directions), atol=1e-12)
    three = kind.from_calibrated(proba, sample_weight=weight)
    four = kind.from_calibrated(proba[again])
    assert np.allclose(three.boundary(directions), four.boundary(directions), atol=1e-12)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("kind", KINDS)
def test_frames_and_text_labels(frame, kind, sample):
    y, proba = sample
    names = np.array(["bird", "cat", "dog"])
    columns = frame({name: proba[:, j] for j, name in enumerate(names)})
    labels = frame({"truth": names[y]})["truth"]
    space = kind.from_proba(labels, columns)
    plain = kind.from_proba(y, proba)
    assert space.classes.tolist() == names.tolist()
    direction = space.sign * np.arange(1.0, space.dim + 1)
    assert np.allclose(space.boundary(direction), plain.boundary(direction))
    weights = frame({"w": np.arange(400.0)})["w"]
    assert np.allclose(
        kind.from_proba(labels, columns, sample_weight=weights).prior,
        kind.from_proba(y, proba, sample_weight=np.arange(400.0)).prior,
    )
    assert "cat" in space.names[1 if kind is DiagonalSpace else 0]


@pytest.mark.parametrize("series", [pd.Series, pl.Series, list])
def test_scores_as_series_with_text_labels(series, pair):
    y, p = pair
    text = np.array(["ham", "spam"])[y]
    base = BinarySpace.from_scores(y, p)
    space = BinarySpace.from_scores(series(text.tolist()), series(p.tolist()))
    assert space.classes.tolist() == ["ham", "spam"]
    assert np.allclose(space.boundary([2, 1]), base.boundary([2, 1]))
    assert space.names == ("right about spam", "right about ham")
    assert space.trade_off(0, 1) == "a missed spam against a false spam"
    turned = BinarySpace.from_scores(text, 1 - p, pos_label="ham")
    assert turned.classes.tolist() == ["spam", "ham"]
    assert np.allclose(turned.boundary([1, 2])[::-1, ::-1], base.boundary([2, 1]))


@pytest.mark.parametrize("kind", KINDS)
def test_classes_in_another_order(kind, sample):
    y, proba = sample
    order = np.array([2, 0, 1])
    one = kind.from_proba(y, proba)
    two = kind.from_proba(y, proba[:, order], classes=order)
    assert two.classes.tolist() == order.tolist()
    rng = np.random.default_rng(0)
    gains = rng.normal(size=(3, 3))
    if kind is DiagonalSpace:
        gains = np.diag(gains.diagonal())
        a, b = gains.diagonal(), gains.diagonal()[order]
    else:
        gains[np.eye(3, dtype=bool)] = 0
        off = ~np.eye(3, dtype=bool)
        a, b = gains[off], gains[np.ix_(order, order)][off]
        if kind is RateSpace:
            a = a * np.repeat(one.prior, 2)
            b = b * np.repeat(two.prior, 2)
    assert np.allclose(one.boundary(a)[np.ix_(order, order)], two.boundary(b))


def test_fingerprints_tell_spaces_apart(sample, pair):
    y, proba = sample
    seen = {kind.from_proba(y, proba).fingerprint for kind in KINDS}
    seen |= {DiagonalSpace.from_proba(y[:-1], proba[:-1]).fingerprint}
    seen |= {DiagonalSpace.from_proba(y, proba).smoothed().fingerprint}
    text = np.array(["a", "b", "c"])[y]
    seen |= {DiagonalSpace.from_proba(text, proba).fingerprint}
    seen |= {DiagonalSpace.from_calibrated(proba).fingerprint}
    assert len(seen) == 7
    assert all(isinstance(text, str) and len(text) == 16 for text in seen)


# --- groups


@pytest.fixture(scope="module")
def grouped(sample):
    y, proba = sample
    groups = np.where(np.arange(len(y)) % 3, "north", "south")
    return RateSpace.from_proba(y, proba, groups=groups), groups


def test_groups_are_spaces_of_their_own(grouped, sample):
    space, groups = grouped
    y, proba = sample
    assert space.groups.tolist() == ["north", "south"]
    assert space.shares == pytest.approx([(groups == g).mean() for g in space.groups])
    for name, part in zip(space.groups, space.parts, strict=True):
        alone = RateSpace.from_proba(y[groups == name], proba[groups == name])
        assert alone.fingerprint == part.fingerprint
    assert space.common_radius == min(part.radius for part in space.parts)


def test_rates_of_groups_and_joint_confusions(grouped, sample):
    space, groups = grouped
    y, proba = sample
    tables = space.group_sample(4, rng=0)
    assert tables.shape == (4, 2, 3, 3)
    assert np.allclose(tables.sum(axis=(1, 2, 3)), 1)
    rates = space.group_rates(tables)
    assert rates.shape == (4, 2, 6)
    assert np.allclose(space.group_confusion(rates), tables, atol=1e-12)
    # The rates of a prediction, by hand.
    decided = proba.argmax(axis=1)
    joint = np.stack([confusion(y[groups == g], decided[groups == g]) for g in space.groups])
    found = space.group_rates(joint * space.shares[:, None, None])
    for row, g in zip(found, space.groups, strict=True):
        inside = groups == g
        by_hand = [
            np.mean(decided[inside & (y == i)] == j) for i in range(3) for j in range(3) if i != j
        ]
        assert np.allclose(row, by_hand)


def test_groups_attain_their_rates(grouped):
    space, _ = grouped
    rates = space.group_rates(space.group_sample(1, rng=1))[0]
    rates = 0.5 * rates + 0.5 * space.center
    assert space.group_contains(rates)
    joint = space.group_confusion(rates)
    for g, (name, classifier) in enumerate(space.group_classifier(joint).items()):
        part = space.parts[g]
        assert name == space.groups[g]
        reached = part.population.mass.T @ classifier.predict_proba(part.population.proba)
        assert np.allclose(reached * space.shares[g], joint[g], atol=1e-6)


def test_impossible_rates_are_not_contained(grouped):
    space, _ = grouped
    perfect = np.zeros((2, 6))
    assert not space.group_contains(perfect)


def test_spaces_say_what_they_are(binary, errors):
    assert repr(binary) == "<BinarySpace: 2 classes, 2 coordinates, 201 cells>"
    assert repr(errors) == "<ConfusionSpace: 3 classes, 6 coordinates, 201 cells>"


@pytest.mark.parametrize("name", ["binary", "diagonal", "confusion", "rate"])
def test_spaces_are_sent_to_other_processes(name, spaces):
    """With a face and a radius that were looked at before."""
    space = spaces[name]
    if name == "diagonal":
        assert space.face(0, 1).gains.shape[1] == 2
    again = pickle.loads(pickle.dumps(space))
    assert again.fingerprint == space.fingerprint
    assert np.array_equal(again.boundary(np.ones(space.dim)), space.boundary(np.ones(space.dim)))


@given(n=st.integers(4, 200), digits=st.integers(1, 3), seed=st.integers(0))
@settings(max_examples=25, deadline=None)
def test_a_space_from_counts_is_that_of_the_rows(n, digits, seed):
    rng = np.random.default_rng(seed)
    score = rng.normal(size=n).round(digits) if seed % 2 else rng.random(n).round(digits)
    y = rng.integers(0, 2, n)
    y[:2], score[:2] = [0, 1], [0.1, 0.9]
    rows, counted = BinarySpace.from_scores(y, score), BinarySpace.from_counts(roc_counts(y, score))
    assert counted.calibrated == rows.calibrated

    def worth(space):
        # Of vertices that are worth the same either may be named.
        weights = np.array([[1, 1], [1, 2], [5, 1]])
        return [np.diag(space.boundary(weight)[::-1, ::-1]) @ weight for weight in weights]

    try:
        expected = worth(rows)
    except ElicitationError as error:  # no better than guessing
        with pytest.raises(ElicitationError, match=f"^{re.escape(str(error))}$"):
            worth(counted)
    else:
        assert worth(counted) == pytest.approx(expected, abs=1e-9)


def test_counts_of_scores_that_guess_make_no_trade_off():
    y, score = [0, 1, 0, 1], [0.1, 0.1, 0.9, 0.9]
    for space in (BinarySpace.from_scores(y, score), BinarySpace.from_counts(roc_counts(y, score))):
        with pytest.raises(ElicitationError, match="no threshold does better than guessing"):
            space.boundary([1, 1])


def test_counts_that_make_no_space():
    with pytest.raises(DataError, match="counts is a int; expected"):
        BinarySpace.from_counts(3)
    with pytest.raises(LabelError, match="one class only; a trade-off is between two"):
        BinarySpace.from_counts(roc_counts([0, 0], [0.1, 0.2], classes=[0, 1]))
