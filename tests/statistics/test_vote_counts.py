"""Counts of parts, added, are the counts of the whole; whatever the parts lack."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.exceptions import DataError
from karat.statistics import pattern_counts
from karat.statistics.votes import count_votes

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c"]), st.sampled_from(["x", "y", "-1", None]),
        st.sampled_from(["x", "z", None]), st.sampled_from(["x", "y", "z", None]),
    ),
    min_size=1, max_size=12,
)  # fmt: skip


def counted(rows):
    table = pl.DataFrame(rows, schema=["domain", "one", "two", "gold"], orient="row")
    votes = table.select(pl.col("one", "two").cast(pl.String))
    return count_votes(
        votes, np.ones(len(table)), domains=table["domain"], y_true=table["gold"],
        classes=["x", "y", "z"],
    )  # fmt: skip


def as_table(counts):
    """Return the count of every combination, which is what counts are."""
    labels = [*counts.classes.tolist(), "not asked", "abstained"]
    return {
        (counts.domains[d], tuple(labels[v] for v in votes), None if g < 0 else labels[g]): n
        for d, votes, g, n in zip(
            counts.domain.tolist(), counts.votes.tolist(), counts.label.tolist(),
            counts.counts.tolist(), strict=True,
        )
    }  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(ROWS, ROWS)
def test_parts_add_up_to_the_whole(first, second):
    # A column of labels needs one label at least, in each part.
    first, second = [*first, ("a", "x", "x", "x")], [*second, ("c", "x", "x", "y")]
    total = counted(first) + counted(second)
    assert as_table(total) == as_table(counted(first + second))
    assert total.n == len(first) + len(second)
    assert total.pooled().counts.sum() == total.n
    brute = {}
    for domain, one, two, gold in first + second:
        named = {None: "not asked", "-1": "abstained"}
        key = (domain, (named.get(one, one), named.get(two, two)), gold)
        brute[key] = brute.get(key, 0) + 1
    assert as_table(total) == brute


def test_parts_that_were_counted_differently_are_refused():
    votes = pl.DataFrame({"one": ["x", "y"], "two": ["x", "x"]})
    plain = count_votes(votes, [1, 1])
    with pytest.raises(DataError, match="differ in their domains"):
        plain + count_votes(votes, [1, 1], domains=["a", "b"])
    with pytest.raises(DataError, match="differ in their names"):
        plain + count_votes(votes.rename({"one": "uno"}), [1, 1])


def test_folds_are_added_fold_by_fold():
    table = pl.DataFrame({"id": range(40), "p": [0, 1] * 20, "lf_1": [0, 1, 1, 0] * 10,
                          "lf_2": [0, -1, 1, 1] * 10})  # fmt: skip
    roles = {"pred": "p", "weak": "lf_*", "id": "id"}
    whole = karat.scan(table).roles(**roles).pattern_counts()
    parts = [karat.scan(part).roles(**roles).pattern_counts() for part in (table[:10], table[10:])]
    total = sum(parts)
    assert total.by_fold.tolist() == whole.by_fold.tolist()
    assert total.counts.tolist() == whole.counts.tolist()
    with pytest.raises(DataError, match="in 5 folds and the other in 0"):
        whole + pattern_counts(table["p"], table.select("lf_1", "lf_2"))
