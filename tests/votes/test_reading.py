"""Wide tables, long ones and counts: the same votes, named as they were passed."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.bounds import performance_bounds
from karat.consensus import ErrorEstimator
from karat.exceptions import (
    ColumnError,
    DataError,
    KaratWarning,
    LabelError,
    LazyFrameError,
    LengthMismatchError,
    NotIdentifiedWarning,
)
from karat.statistics import patterns
from karat.statistics.patterns import list_votes, outcome_counts, vote_shares, vote_totals
from karat.votes import read_patterns
from karat.votes.domains import read_votes
from karat.votes.patterns import VoteTable
from karat.votes.reading import read_ballots
from karat.weak import DawidSkene, MajorityVote, OracleLabelModel, check_label_model
from karat.weak.label_model import naive_bayes


def matrices():
    code = st.integers(-2, 2)
    return st.integers(2, 4).flatmap(
        lambda m: st.lists(st.lists(code, min_size=m, max_size=m), min_size=1, max_size=12)
    )


def wide_of(codes):
    return np.where(np.asarray(codes) == -2, np.nan, np.asarray(codes, dtype=float))


@given(codes=matrices())
@settings(max_examples=100, deadline=None)
def test_patterns_ballots_and_tables_give_every_vote_back(codes):
    codes = np.array(codes)
    found = patterns(wide_of(codes), classes=[0, 1, 2])
    assert np.array_equal(found.patterns[found.ids], codes)
    ballots = read_ballots(wide_of(codes), [0, 1, 2])
    again = ballots.patterns()
    assert again == found
    table = VoteTable.of_codes(found.patterns, found.counts, 3)
    assert np.array_equal(table.dense(), found.patterns)
    dropped = VoteTable.of_codes(found.patterns, found.counts, 3, abstentions=False)
    expected = np.where(found.patterns == -1, -2, found.patterns)
    assert np.array_equal(dropped.dense(), expected)
    counted = read_ballots(found, [2, 1, 0])
    assert counted.counts.sum() == len(codes)
    back = counted.patterns(counted.counts)
    places = np.array([2, 1, 0, -2, -1])
    assert sorted(places[back.patterns].tolist()) == found.patterns.tolist()


@given(codes=matrices(), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_shares_are_those_of_a_count(codes, seed):
    codes, rng = np.array(codes), np.random.default_rng(seed)
    trust = rng.random(codes.shape[1])
    pattern, labeler, vote = list_votes(codes)
    totals = vote_totals(pattern, vote, (len(codes), 3), trust[labeler])
    for row, total in zip(codes, totals, strict=True):
        np.testing.assert_allclose(total, [trust[row == c].sum() for c in range(3)])
    shares = vote_shares(totals, np.full(3, 1 / 3))
    table = VoteTable.of_codes(codes, np.ones(len(codes)), 3)
    np.testing.assert_allclose(table.vote_shares(trust), shares)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_outcomes_leave_out_who_was_not_asked(rng):
    codes, soft = np.array([[0, -2], [1, -1], [-1, 0]]), rng.random((3, 2))
    counts = outcome_counts(codes, soft)
    np.testing.assert_allclose(counts[0], np.stack([soft[0], soft[1], soft[2]], axis=1))
    np.testing.assert_allclose(counts[1], np.stack([soft[2], 0 * soft[0], soft[1]], axis=1))
    confusions = rng.dirichlet(np.ones(3), size=(2, 2))
    expected = [0.3, 0.7] * confusions[0, :, 0]
    found = naive_bayes(codes[:1], np.array([0.3, 0.7]), confusions)[0]
    np.testing.assert_allclose(found, expected / expected.sum())


def long_votes():
    return pd.DataFrame(
        {
            "item": [30, 30, 30, 10, 10, 20, 20, 20],
            "classifier": [7, 8, 9, 7, 9, 7, 8, 9],
            "vote": [1, 1, 0, 0, 0, 1, None, -1],
            "domain": [2, 2, 2, 1, 1, 1, 1, 1],
        }
    )


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
def test_names_come_back_as_they_were_passed():
    table = pd.concat([long_votes().assign(item=lambda t, i=i: t["item"] + i) for i in range(9)])
    est = ErrorEstimator(dependence="none", chains=2, draws=20, rng=0).fit(table)
    for frame in (est.error_rates_, est.diagnostics_, est.prevalence_, est.label_next(3)):
        assert frame["domain"].dtype.kind == "i"
        assert set(frame["domain"]) <= {1, 2}
    assert sorted(est.error_rates_["classifier"][:2]) == [7, 9]
    assert sorted(est.error_rates_["classifier"][2:]) == [7, 8, 9]
    assert est.label_next(3)["item"].dtype.kind == "i"
    data = read_votes(table)
    assert data.classifiers == (7, 8, 9)
    assert [d.name for d in data.domains] == [1, 2]


def test_items_of_a_long_table_are_sorted():
    found = read_patterns(long_votes())
    # Items of two domains are apart: by domain, then by item.
    assert found.patterns[found.ids].tolist() == [[0, -2, 0], [1, -2, -1], [1, 1, 0]]
    assert found.names == (7, 8, 9)
    single = read_patterns(long_votes().drop(columns="domain"), null="abstain")
    assert single.patterns[single.ids].tolist() == [[0, -2, 0], [1, -1, -1], [1, 1, 0]]


def test_counts_stand_for_their_rows(rng):
    truth = rng.integers(0, 2, 500)
    votes = np.where(rng.random((500, 5)) < 0.8, truth[:, None], 1 - truth[:, None])
    counted = patterns(votes[:200]) + patterns(votes[200:])
    options = {"dependence": "none", "chains": 2, "draws": 30, "rng": 0}
    rows, counts = ErrorEstimator(**options).fit(votes), ErrorEstimator(**options).fit(counted)
    np.testing.assert_allclose(rows.result_.value, counts.result_.value)
    assert len(counts.label_proba_) == len(counted.patterns)
    np.testing.assert_allclose(counts.label_proba_[counted.ids], rows.label_proba_)
    model = DawidSkene(rng=0).fit(counted, classes=[1, 0])
    assert model.classes_.tolist() == [1, 0]
    np.testing.assert_allclose(
        model.predict_proba(votes)[:, ::-1],
        DawidSkene(rng=0).fit(votes).predict_proba(votes),
        atol=1e-6,
    )


def test_weights_beside_counts():
    counted = patterns([[0, 1], [1, 1]])
    assert read_patterns(counted, sample_weight=[1, 2]).counts.tolist() == [1.0, 2.0]
    with pytest.raises(LengthMismatchError, match="3 rows"):
        read_patterns(counted, sample_weight=[1, 2, 3])
    with pytest.raises(DataError, match="counted with weights"):
        MajorityVote().fit(patterns([[0, 1], [1, 1]], sample_weight=[1, 3]), sample_weight=[1, 2])
    with pytest.raises(DataError, match="counts of patterns; weigh the rows"):
        read_votes(counted, sample_weight=[1.0, 2.0])
    with pytest.raises(DataError, match="threshold= cuts probabilities"):
        read_votes(counted, threshold=0.5)
    with pytest.raises(LabelError, match=r"the votes hold \[1\], which is not among the classes"):
        read_patterns(counted, classes=[0, 2])


def test_a_lazy_table_is_collected_once():
    calls = []

    def count(frame):
        calls.append(1)
        return frame

    table = pl.DataFrame({"a": [0, 1, None], "b": [1, 1, 0]})
    lazy = table.lazy().map_batches(count)
    assert read_patterns(lazy) == patterns(table)
    assert len(calls) == 1
    calls.clear()
    long = pl.DataFrame({"item": [1, 1, 2], "classifier": ["a", "b", "a"], "vote": [0, 1, 1]})
    assert read_patterns(long.lazy().map_batches(count)) == read_patterns(long)
    assert len(calls) == 1


def test_a_clash_in_a_long_table_is_told():
    table = pd.DataFrame(
        {"item": [1, 1, 2], "classifier": ["a", "a", "b"], "vote": ["x", "y", "x"]}
    )
    with pytest.warns(KaratWarning, match="contradicts an earlier one"):
        found = read_patterns(table)
    assert found.labels()[found.ids].tolist() == [["y", None], [None, "x"]]


def test_patterns_are_refused_for_what_only_rows_can_tell():
    rng = np.random.default_rng(0)
    votes, y = rng.integers(0, 2, (60, 3)), rng.integers(0, 2, 60)
    model = MajorityVote().fit(votes)
    lazy = read_patterns(pl.DataFrame(votes).lazy())
    for by_row in (
        lambda: performance_bounds(y, lazy, model, metric="accuracy"),
        lambda: model.predict_proba(lazy),
        lambda: OracleLabelModel().fit(lazy, y),
        lambda: check_label_model(lazy, model, y_true=y),
    ):
        with pytest.raises(LazyFrameError, match="patterns of a lazy frame"):
            by_row()
    weighted = read_patterns(votes, sample_weight=rng.random(60))
    with pytest.raises(DataError, match="counted with weights"):
        performance_bounds(y, weighted, model, metric="accuracy")
    asked = np.where(rng.random((60, 3)) < 0.2, np.nan, votes)
    for late in (
        lambda: DawidSkene(rng=0).fit(read_patterns(asked), null="abstain"),
        lambda: ErrorEstimator(rng=0).fit(read_patterns(asked), null="abstain"),
    ):
        with pytest.raises(DataError, match="comes too late"):
            late()


def test_voters_of_a_long_table_are_known_by_name():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 300)
    names = ["alice", "bob", "carol", "dave"]
    right = np.array([0.97, 0.6, 0.6, 0.6])
    votes = np.where(rng.random((300, 4)) < right, truth[:, None], 1 - truth[:, None])
    wide = pl.DataFrame(votes, schema=names)
    long = wide.with_row_index("item").unpivot(
        names, index="item", variable_name="classifier", value_name="vote"
    )
    model = DawidSkene(rng=0).fit(long)
    few = long.filter(pl.col("classifier") != "alice")
    missing = votes.astype(float)
    missing[:, 0] = np.nan
    np.testing.assert_allclose(model.predict_proba(few), model.predict_proba(missing))
    np.testing.assert_allclose(
        model.predict_proba(wide.select(names[::-1])), model.predict_proba(wide)
    )
    strange = few.with_columns(classifier=pl.col("classifier").replace("dave", "zoe"))
    with pytest.raises(ColumnError, match=r"votes of \['zoe'\]"):
        model.predict_proba(strange)


def test_counts_are_items():
    counted = patterns(np.repeat([[0, 0, 1], [1, 1, 1]], 500, axis=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotIdentifiedWarning)
        fitted = ErrorEstimator(draws=20, rng=0).fit(counted)  # no word of two items
    assert len(fitted.error_rates_) == 3
