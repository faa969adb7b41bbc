import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.exceptions import KaratWarning
from karat.votes.domains import read_votes

VOTERS = ["ann", "bob", "cid"]
NOT_ASKED = None
VOTES = [
    ["no", "no", "yes"],
    ["yes", NOT_ASKED, "yes"],
    ["no", "no", "yes"],
    ["-1", "yes", "yes"],
    ["no", "-1", NOT_ASKED],
    ["yes", NOT_ASKED, "yes"],
]


def wide_frame(votes, frame=pl.DataFrame):
    return frame({name: [row[j] for row in votes] for j, name in enumerate(VOTERS)})


def long_rows(votes, nulls=False):
    """Return (item, classifier, vote) of every vote; a null row is like no row at all."""
    return [
        (f"item {i}", VOTERS[j], vote)
        for i, row in enumerate(votes)
        for j, vote in enumerate(row)
        if nulls or vote is not None
    ]


def long_frame(rows, frame=pl.DataFrame):
    item, classifier, vote = zip(*rows, strict=True)
    return frame({"item": list(item), "classifier": list(classifier), "vote": list(vote)})


def rebuilt(read):
    """Return the votes of every item from the patterns: the label, -1 or None."""
    names = [*[str(c) for c in read.classes], None, "-1"]  # codes -2 and -1 count from the end
    found = [[None] * len(read.classifiers) for _ in range(read.n_items)]
    for domain in read.domains:
        dense = domain.table.dense()
        for item, pattern in zip(domain.items, domain.pattern, strict=True):
            for local, voter in enumerate(domain.voters):
                found[item][voter] = names[dense[pattern, local]]
    return found


def patterns_of(read):
    """Return votes and gold of every pattern with its count, whatever the order."""
    (domain,) = read.domains
    table = domain.table
    return sorted(
        (tuple(row.tolist()), int(gold), float(count))
        for row, gold, count in zip(table.dense(), table.gold, table.count, strict=True)
    )


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
@pytest.mark.parametrize("nulls", [False, True])
def test_wide_and_long_give_the_same_patterns(frame, nulls):
    gold = ["no", None, None, "yes", None, "no"]
    weight = [1.0, 2.0, 0.5, 1.0, 3.0, 1.5]
    wide = read_votes(wide_frame(VOTES, frame), y_true=gold, sample_weight=weight)
    rows = long_rows(VOTES, nulls)
    at = [int(item.split()[1]) for item, _, _ in rows]
    long = read_votes(
        long_frame(rows, frame),
        y_true={f"item {i}": label for i, label in enumerate(gold) if label},
        sample_weight=[weight[i] for i in at],
    )
    assert patterns_of(wide) == patterns_of(long)
    assert rebuilt(wide) == rebuilt(long) == VOTES
    assert wide.classifiers == long.classifiers == tuple(VOTERS)
    assert wide.classes.tolist() == long.classes.tolist() == ["no", "yes"]
    assert wide.gold.tolist() == long.gold.tolist() == [0, -1, -1, 1, -1, 0]
    effective = np.array(weight) * sum(weight) / np.dot(weight, weight)
    assert wide.weight.tolist() == long.weight.tolist() == pytest.approx(effective)
    assert long.item_names.tolist() == [f"item {i}" for i in range(6)]
    assert wide.item_names is None
    # Items 1 and 5 have the same votes, and one of them has a label: two patterns.
    (domain,) = wide.domains
    assert domain.pattern[1] != domain.pattern[5]
    scale = effective[0]  # the first weight is 1
    assert domain.table.votes_cast == pytest.approx(np.array([8.0, 2.5, 6.0]) * scale)


def test_the_order_of_rows_and_repeats_do_not_matter(rng):
    rows = long_rows(VOTES)
    expected = read_votes(long_frame(rows))
    for _ in range(5):
        shuffled = [rows[i] for i in rng.permutation(len(rows))]
        repeated = [rows[i] for i in rng.permutation(np.repeat(np.arange(len(rows)), 2))]
        for frame in (long_frame(shuffled), long_frame(repeated)):
            read = read_votes(frame)
            assert patterns_of(read) == patterns_of(expected)
            assert rebuilt(read) == VOTES


def test_of_contradicting_repeats_the_last_counts():
    rows = [*long_rows(VOTES), ("item 0", "bob", "yes")]
    with pytest.warns(KaratWarning, match="1 repeated vote contradicts an earlier one"):
        read = read_votes(long_frame(rows))
    assert rebuilt(read)[0] == ["no", "yes", "yes"]


def test_an_abstention_may_count_as_not_asked():
    read = read_votes(wide_frame(VOTES), abstain="missing")
    silent = [[None if vote == "-1" else vote for vote in row] for row in VOTES]
    assert rebuilt(read) == silent
    assert read.domains[0].table.n_outcomes == 2
    assert rebuilt(read_votes(long_frame(long_rows(VOTES)), abstain="missing")) == silent


def test_domains_part_the_items():
    domains = ["b", "a", "b", "a", "b", "a"]
    wide = read_votes(wide_frame(VOTES), domains=domains)
    rows = long_rows(VOTES)
    # Items are told apart within their domain, so both domains may number theirs from 0.
    renamed = [(int(item.split()[1]) // 2, who, vote) for item, who, vote in rows]
    at = [domains[int(item.split()[1])] for item, _, _ in rows]
    long = read_votes(long_frame(renamed).with_columns(domain=pl.Series(at)))
    assert [d.name for d in wide.domains] == [d.name for d in long.domains] == ["a", "b"]
    assert rebuilt(wide) == VOTES
    assert rebuilt(long) == [VOTES[i] for i in (1, 3, 5, 0, 2, 4)]
    for one, other in zip(wide.domains, long.domains, strict=True):
        assert np.array_equal(one.table.dense()[one.pattern], other.table.dense()[other.pattern])
        assert one.table.count.sum() == 3
        assert one.voters.tolist() == [0, 1, 2]


def test_a_voter_absent_from_a_domain_is_left_out_there():
    votes = [[0, 1, None], [1, 1, None], [0, 0, None], [0, 1, 1], [1, 0, 1], [0, None, 0]]
    read = read_votes(wide_frame(votes), domains=["a"] * 3 + ["b"] * 3)
    assert [d.voters.tolist() for d in read.domains] == [[0, 1], [0, 1, 2]]
    assert [d.table.n_voters for d in read.domains] == [2, 3]
    assert rebuilt(read) == [[None if v is None else str(v) for v in row] for row in votes]


@st.composite
def vote_matrices(draw):
    """Votes of 2 to 5 voters on 3 to 12 items; every voter votes, and classes 0 and 1 are used."""
    n, voters, k = draw(st.integers(3, 12)), draw(st.integers(2, 5)), draw(st.integers(2, 4))
    vote = st.sampled_from([None, -1, *range(k)])
    row = st.lists(vote, min_size=voters, max_size=voters)
    rows = draw(st.lists(row, min_size=n, max_size=n))
    for j in range(voters):
        rows[j % n][j] = j % 2
    return rows


@given(rows=vote_matrices(), shuffle=st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=150)
def test_patterns_give_every_vote_back(rows, shuffle):
    voters = [f"v{j}" for j in range(len(rows[0]))]
    wide = read_votes(
        pl.DataFrame({v: pl.Series([r[j] for r in rows], dtype=pl.Int64)
                      for j, v in enumerate(voters)})
    )  # fmt: skip
    listed = [
        (i, voters[j], vote)
        for i, row in enumerate(rows)
        for j, vote in enumerate(row)
    ]  # fmt: skip
    shuffle.shuffle(listed)
    long = read_votes(
        pl.DataFrame(listed, schema={"item": pl.Int64, "classifier": pl.String, "vote": pl.Int64},
                     orient="row")
    )  # fmt: skip
    expected = [[None if vote is None else str(vote) for vote in row] for row in rows]
    for read in (wide, long):
        assert rebuilt(read) == expected
        (domain,) = read.domains
        table = domain.table
        assert table.count.sum() == len(rows)
        assert table.n_patterns == len({tuple(row) for row in rows})
        assert np.array_equal(np.bincount(domain.pattern), table.count)
        within = np.diff(table.pattern_of_vote) == 0
        assert (np.diff(table.voter)[within] > 0).all()  # voters ascend within a pattern
    assert patterns_of(wide) == patterns_of(long)


CUT_WIDE = pl.DataFrame({"a": [0.9, 0.1, 0.2, 0.6], "b": [0.8, None, 0.7, 0.3]})
CUT_LONG = pl.DataFrame(
    {
        "item": [0, 0, 1, 1, 2, 2, 3, 3],
        "classifier": ["a", "b"] * 4,
        "vote": [0.9, 0.8, 0.1, None, 0.2, 0.7, 0.6, 0.3],
    }
)


def rows_of(read):
    (domain,) = read.domains
    return domain.table.dense()[domain.pattern].tolist()


def test_a_null_in_a_long_table_of_probabilities_is_no_vote():
    assert rows_of(read_votes(CUT_LONG, threshold=0.5)) == rows_of(
        read_votes(CUT_WIDE, threshold=0.5)
    )


@pytest.mark.parametrize("threshold", [{"a": 0.5, "b": 0.75}, [0.5, 0.75]], ids=["dict", "list"])
def test_a_threshold_per_voter_for_a_long_table(threshold):
    long = CUT_LONG.drop_nulls()
    wide = read_votes(CUT_WIDE, threshold=threshold)
    assert rows_of(read_votes(long, threshold=threshold)) == rows_of(wide)
