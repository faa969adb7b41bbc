"""One meaning everywhere: null was not asked, -1 abstained, ``null="abstain"`` makes them one."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from karat.bounds import (
    bounds_curve,
    difference_bounds,
    expectation_bounds,
    performance_bounds,
    rank_models,
    robustness_curve,
    weak_label_value,
)
from karat.consensus import ErrorEstimator, compare_models
from karat.exceptions import ColumnError, KaratWarning, OptionError
from karat.statistics import pattern_counts, patterns
from karat.votes import read_patterns
from karat.weak import (
    DawidSkene,
    MajorityVote,
    OracleLabelModel,
    TripletLabelModel,
    check_label_model,
    from_snorkel,
)

NAMES = ["a", "b", "c", "d"]
WORDS = np.array(["no", "yes", None, "-1"], dtype=object)  # codes -2 and -1 count from the end


def cells(codes, table):
    return {name: [table[c] for c in column] for name, column in zip(NAMES, codes.T, strict=True)}


def numbers(codes):
    return cells(codes, [0, 1, None, -1])


def long(codes, table=(0, 1, None, -1), *, rows_for_null=True):
    listed = [
        (item, name, table[code])
        for item, row in enumerate(codes)
        for name, code in zip(NAMES, row, strict=True)
        if rows_for_null or code > -2
    ]
    item, classifier, vote = zip(*listed[::-1], strict=True)
    return pl.DataFrame({"item": item, "classifier": classifier, "vote": vote}, strict=False)


# How the same votes can be passed. A long table is read before it is set beside predictions.
TABLES = {
    "numpy": lambda codes: np.where(codes == -2, np.nan, codes.astype(float)),
    "list": lambda codes: [list(row) for row in zip(*numbers(codes).values(), strict=True)],
    "masked": lambda codes: np.ma.array(codes, mask=codes == -2),
    "pandas": lambda codes: pd.DataFrame(numbers(codes), dtype="float64"),
    "pandas Int64": lambda codes: pd.DataFrame(numbers(codes), dtype="Int64"),
    "polars": lambda codes: pl.DataFrame(numbers(codes)),
    "polars lazy": lambda codes: pl.DataFrame(numbers(codes)).lazy(),
    "arrow": lambda codes: pa.table(numbers(codes)),
    "pandas text": lambda codes: pd.DataFrame(cells(codes, WORDS)),
    "polars text": lambda codes: pl.DataFrame(cells(codes, WORDS)),
    "long": long,
    "long text": lambda codes: long(codes, WORDS),
    "long, rows left out": lambda codes: long(codes, rows_for_null=False),
    "counted": lambda codes: patterns(TABLES["numpy"](codes)),
}
MODELS = {
    "majority": MajorityVote,
    "dawid-skene": lambda: DawidSkene(rng=0),
    "dawid-skene missing": lambda: DawidSkene(abstain="missing", rng=0),
    "triplet": TripletLabelModel,
    "oracle": lambda: OracleLabelModel(base="naive-bayes"),
}
EVERY_TABLE = pytest.mark.parametrize("table", TABLES)
# Answers of one row per item are refused for a lazy table, whose rows come in no fixed order.
EVERY_ORDERED_TABLE = pytest.mark.parametrize("table", [t for t in TABLES if t != "polars lazy"])
EVERY_MODEL = pytest.mark.parametrize("model", MODELS)


@pytest.fixture(scope="module")
def data(voting):
    truth, codes = voting(np.random.default_rng(7))
    somebody = (codes > -2).any(axis=1)  # an item that nobody was asked about has no row in a list
    return truth[somebody], codes[somebody]


def fit(name, votes, truth, **options):
    model = MODELS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        if isinstance(model, OracleLabelModel):
            labels = np.where(truth, "yes", "no") if is_text(votes) else truth
            return model.fit(votes, labels, **options)
        return model.fit(votes, **options)


def is_text(votes):
    kept = votes.classes if hasattr(votes, "classes") else read_patterns(votes).classes
    return kept.dtype.kind == "U"


def estimate(votes, **options):
    estimator = ErrorEstimator(dependence="none", chains=2, draws=20, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        return estimator.fit(votes, **options)


@EVERY_MODEL
@EVERY_ORDERED_TABLE
def test_label_models_read_every_table_alike(table, model, data):
    truth, codes = data
    votes, plain = TABLES[table](codes), TABLES["numpy"](codes)
    expected = fit(model, plain, truth).predict_proba(plain)
    found = fit(model, votes, truth).predict_proba(votes)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@EVERY_MODEL
@EVERY_ORDERED_TABLE
def test_null_as_abstention_is_minus_one_for_label_models(table, model, data):
    truth, codes = data
    votes, written = TABLES[table](codes), np.maximum(codes, -1)
    if table in ("counted", "long, rows left out"):
        pytest.skip("there is no null in it")
    expected = fit(model, written, truth).predict_proba(written)
    found = fit(model, votes, truth, null="abstain").predict_proba(votes, null="abstain")
    np.testing.assert_allclose(found, expected, atol=1e-12)


@EVERY_ORDERED_TABLE
@pytest.mark.parametrize("null", ["not asked", "abstain"])
def test_bounds_read_every_table_alike(table, null, data):
    truth, codes = data
    plain = TABLES["numpy"](codes) if null == "not asked" else np.maximum(codes, -1)
    expected = bound(plain, truth)
    if null == "abstain" and table in ("counted", "long, rows left out"):
        pytest.skip("there is no null in it")
    votes = TABLES[table](codes)
    if table.startswith("long"):
        with pytest.raises(ColumnError, match=r"long table.*read_patterns"):
            bound(votes, truth)
        votes = read_patterns(votes, null=null)
    found = bound(votes, truth, null=null)
    for end in ("lower", "upper", "lower_limit", "upper_limit"):
        assert getattr(found, end) == pytest.approx(getattr(expected, end), abs=1e-12)


def bound(votes, truth, **options):
    labels = np.where(truth, "yes", "no") if is_text(votes) else truth
    model = OracleLabelModel().fit(votes, labels, **options)
    predicted = np.where(np.arange(len(labels)) % 5 == 0, labels[::-1], labels)
    return performance_bounds(predicted, votes, model, metric="accuracy", rng=0, **options)


@EVERY_TABLE
@pytest.mark.parametrize("null", ["not asked", "abstain"])
def test_error_rates_read_every_table_alike(table, null, data):
    _, codes = data
    if null == "abstain" and table in ("counted", "long, rows left out"):
        pytest.skip("there is no null in it")
    plain = TABLES["numpy"](codes) if null == "not asked" else np.maximum(codes, -1)
    expected = estimate(plain).result_
    found = estimate(TABLES[table](codes), null=null).result_
    np.testing.assert_allclose(found.votes, expected.votes)
    # The order of patterns may differ, and with it the draws; the votes are the same.
    np.testing.assert_allclose(found.value, expected.value, atol=0.1)
    assert found.confusion.shape == expected.confusion.shape == (4, 2, 3)


def asked_of(codes, items, labelers):
    """Return the votes with some labelers not asked on some items."""
    some = codes.copy()
    some[np.ix_(items, labelers)] = -2
    return some


@EVERY_MODEL
def test_an_item_has_the_posterior_of_the_labelers_that_were_asked(model, data):
    """By Bayes' rule from the panel's parameters, with the factors of those asked only."""
    truth, codes = data
    fitted = fit(model, TABLES["numpy"](codes), truth)
    if model == "oracle":  # without its own counts of patterns it is naive Bayes
        fitted._gold = fitted._gold._replace(counts=np.zeros_like(fitted._gold.counts))
    rows = np.array([[1, -2, -2, -2], [1, 0, -2, -1], [-2, -2, -2, -2], [-2, 1, 1, -2]])
    found = fitted.predict_proba(TABLES["numpy"](rows))
    expected = np.array([by_hand(fitted, row) for row in rows])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def by_hand(fitted, row):
    asked = [(j, code) for j, code in enumerate(row) if code > -2]
    if isinstance(fitted, MajorityVote):
        votes = [code for _, code in asked if code >= 0]
        return [votes.count(y) / len(votes) if votes else 0.5 for y in (0, 1)]
    odds = np.array(fitted.class_prior_)
    for j, code in asked:
        if isinstance(fitted, TripletLabelModel):
            right = fitted.accuracies_[j]
            odds *= [right, 1 - right] if code == 0 else [1 - right, right] if code == 1 else 1
        else:
            odds *= fitted.confusions_[j, :, code]  # the last column is abstention, as -1 is
    return odds / odds.sum()


@pytest.mark.parametrize("model", ["majority", "dawid-skene", "dawid-skene missing", "triplet"])
def test_a_labeler_that_is_never_asked_is_as_if_left_out(model, data):
    _, codes = data
    panel = asked_of(codes, np.arange(len(codes)), [1])
    whole, part = TABLES["numpy"](panel), TABLES["numpy"](np.delete(codes, 1, axis=1))

    def proba(votes):
        fitted = MODELS[model]()
        if hasattr(fitted, "restarts"):
            fitted.restarts = 1  # other starts are drawn with one number per labeler
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KaratWarning)
            return fitted.fit(votes).predict_proba(votes)

    np.testing.assert_allclose(proba(whole), proba(part), atol=1e-9)


@pytest.mark.filterwarnings("ignore:on .* all agree:karat.exceptions.KaratWarning")
def test_an_abstention_is_an_outcome_and_a_null_is_not(rng):
    """A rule that fires on spam only: its silence speaks for ham, unless nobody asked it."""
    truth = rng.integers(0, 2, 2000)
    rules = np.where((truth[:, None] == 1) & (rng.random((2000, 4)) < 0.6), 1, -1)
    other = np.where(rng.random((2000, 2)) < 0.7, truth[:, None], 1 - truth[:, None])
    model = DawidSkene(rng=0).fit(np.column_stack([rules, other]))
    said, silent, unasked = ([v, *[np.nan] * 5] for v in (1, -1, np.nan))
    proba = model.predict_proba([said, silent, unasked])[:, 1]
    assert proba[0] > 0.95
    assert proba[1] < model.class_prior_[1] - 0.1
    assert proba[2] == pytest.approx(model.class_prior_[1])
    assert model.predict_proba([unasked], null="abstain")[0, 1] < 0.1


def test_the_consensus_averages_over_what_an_unasked_voter_would_have_said(data):
    """P(y | others) = Σ_o P(o | others) P(y | others, o), for every draw of the model."""
    _, codes = data
    estimator = estimate(TABLES["numpy"](codes))
    model = estimator.as_label_model().draws(1)[0]
    (_, state), k = model.members[0], 2
    rest = np.array([[-2, 1, 0, -1], [-2, 0, -2, 0]])
    without = model.predict_pattern_proba(rest)
    full = np.repeat(rest[None], k + 1, axis=0)
    full[:, :, 0] = np.array([0, 1, -1])[:, None]
    said = np.einsum("oc,pc->op", state.theta[0], without)  # P(outcome of the voter | the others)
    averaged = np.einsum("op,opy->py", said, [model.predict_pattern_proba(f) for f in full])
    np.testing.assert_allclose(averaged, without, atol=1e-10)
    assert not np.allclose(model.predict_pattern_proba(np.maximum(rest, -1)), without)


def test_bounds_tell_a_null_from_an_abstention():
    """Half the items of one vote pattern are positive when asked and silent, all when not asked."""
    truth = np.array([0, 1] * 200 + [1, 1] * 200)
    votes = np.full((800, 2), -1.0)
    votes[:, 0] = 1
    votes[400:, 1] = np.nan
    model = OracleLabelModel(smoothing=0.0).fit(votes, truth, classes=[0, 1])
    options = {"metric": "accuracy", "method": "plugin", "classes": [0, 1], "rng": 0}
    apart = performance_bounds(np.ones(800, dtype=int), votes, model, **options)
    assert (apart.lower, apart.upper) == pytest.approx((0.75, 0.75))
    predicted = truth.copy()
    predicted[:400] = 1 - truth[:400]
    told = performance_bounds(predicted, votes, model, **options)
    assert (told.lower, told.upper) == pytest.approx((0.5, 1.0))
    one = OracleLabelModel(smoothing=0.0).fit(votes, truth, classes=[0, 1], null="abstain")
    merged = performance_bounds(predicted, votes, one, null="abstain", **options)
    assert (merged.lower, merged.upper) == pytest.approx((0.5, 1.0))
    assert len(patterns(votes).patterns) == 2
    assert len(patterns(votes, null="abstain").patterns) == 1


def test_counts_of_parts_add_up(data):
    truth, codes = data
    votes = TABLES["numpy"](codes)
    parts = [patterns(votes[:150]), patterns(votes[150:])]
    assert sum(parts) == patterns(votes)
    np.testing.assert_allclose(
        DawidSkene(rng=0).fit(sum(parts)).confusions_, DawidSkene(rng=0).fit(votes).confusions_
    )
    cut = [pattern_counts(truth[at], votes[at]) for at in (slice(150), slice(150, None))]
    assert cut[0] + cut[1] == pattern_counts(truth, votes)
    assert pattern_counts(truth, votes, null="abstain") == pattern_counts(
        truth, np.maximum(codes, -1)
    )


def test_the_check_of_a_label_model_follows(data):
    truth, codes = data
    votes, written = TABLES["numpy"](codes), np.maximum(codes, -1)
    model = DawidSkene(rng=0).fit(written)
    read = check_label_model(votes, model, null="abstain", y_true=truth)
    assert read.to_dict() == check_label_model(written, model, y_true=truth).to_dict()


def test_the_siblings_of_performance_bounds_follow(data):
    truth, codes = data
    votes, written = TABLES["numpy"](codes), np.maximum(codes, -1)
    model = DawidSkene(rng=0).fit(written)
    other, score = 1 - truth, truth + 0.1 * np.arange(len(truth)) / len(truth)
    named, loss = {"one": truth, "two": other}, np.column_stack([truth, 1 - truth]) * 1.0
    calls = {
        "difference": lambda v, **o: difference_bounds(truth, other, v, model, **o).lower,
        "curve": lambda v, **o: bounds_curve(score, v, model, **o).lower,
        "robustness": lambda v, **o: robustness_curve(truth, v, model, **o).lower,
        "value": lambda v, **o: weak_label_value(truth, v, model, **o).narrowing,
        "rank": lambda v, **o: rank_models(named, v, model, **o).bounds[0].lower,
    }
    for name, call in calls.items():
        options = {"metric": "accuracy", "rng": 0}
        np.testing.assert_allclose(
            call(votes, null="abstain", **options), call(written, **options), err_msg=name
        )
    crossed = {"method": "crossfit", "rng": 0}
    assert expectation_bounds(loss, votes, model, null="abstain", **crossed).lower == (
        expectation_bounds(loss, written, model, **crossed).lower
    )


def test_snorkel_knows_one_silence():
    class Kept:
        cardinality = 2

        def predict_proba(self, L):
            assert L.min() == -1
            return np.tile([0.3, 0.7], (len(L), 1))

    votes = [[0, None], [1, -1]]
    assert from_snorkel(Kept()).predict_proba(votes, null="abstain").shape == (2, 2)
    assert from_snorkel(Kept()).predict_proba(votes).shape == (2, 2)


class Foreign:
    """A label model of another package, which is shown every pattern as labels."""

    def __init__(self, classes):
        self.classes_ = np.array(classes)

    def predict_proba(self, weak_labels):
        self.shown = np.asarray(weak_labels).tolist()
        return np.tile([0.5, 0.5], (len(self.shown), 1))


def test_another_package_is_shown_null_and_minus_one():
    options = {"metric": "accuracy", "rng": 0}
    text = Foreign(["no", "yes"])
    performance_bounds(["no", "yes"], [["no", None], ["yes", "-1"]], text, **options)
    assert text.shown == [["no", None], ["yes", "-1"]]
    whole = Foreign([0, 1])
    performance_bounds([0, 1], [[0, 1], [1, -1]], whole, **options)
    assert whole.shown == [[0, 1], [1, -1]]
    some = Foreign([0, 1])
    performance_bounds([0, 1], [[0, None], [1, -1]], some, **options)
    assert np.array_equal(some.shown, [[0, np.nan], [1, -1]], equal_nan=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda votes, null: MajorityVote().fit(votes, null=null),
        lambda votes, null: MajorityVote().fit(votes).predict_proba(votes, null=null),
        lambda votes, null: performance_bounds(
            [0, 1, 1], votes, [[0.5, 0.5]] * 3, metric="accuracy", null=null
        ),
        lambda votes, null: ErrorEstimator().fit(votes, null=null),
        lambda votes, null: compare_models(votes, null=null),
        lambda votes, null: check_label_model(votes, MajorityVote().fit(votes), null=null),
        lambda votes, null: read_patterns(votes, null=null),
        lambda votes, null: read_patterns(patterns(votes), null=null),
        lambda votes, null: patterns(votes, null=null),
        lambda votes, null: read_patterns(
            pl.DataFrame({"item": [1], "classifier": ["a"], "vote": [1]}), null=null
        ),
    ],
)
@pytest.mark.parametrize("null", ["abstained", "missing", -1])
def test_another_word_is_refused(call, null):
    with pytest.raises(OptionError, match=r"null is .*expected 'not asked'.*'abstain'"):
        call([[0, 1, None], [1, 1, -1], [0, 0, 1]], null)


@pytest.mark.parametrize("call", [MajorityVote().fit, read_patterns, patterns])
def test_nothing_is_refused_where_no_label_model_remembers_what_a_null_was(call):
    with pytest.raises(OptionError, match=r"null is None; expected 'not asked'"):
        call([[0, 1, None], [1, 1, -1], [0, 0, 1]], null=None)
