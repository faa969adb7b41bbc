import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from karat.exceptions import LabelError
from karat.weak import vote_diagnostics


@given(arrays(int, st.tuples(st.integers(1, 30), st.integers(1, 5)), elements=st.integers(-1, 2)))
def test_equals_counting(votes):
    d = vote_diagnostics(votes, classes=[0, 1, 2])
    for j in range(votes.shape[1]):
        others = np.delete(votes, j, axis=1)
        voted = votes[:, j] >= 0
        differs = (others >= 0) & (others != votes[:, [j]])
        assert d.coverage[j] == pytest.approx(voted.mean())
        assert d.overlap[j] == pytest.approx((voted & (others >= 0).any(axis=1)).mean())
        assert d.conflict[j] == pytest.approx((voted & differs.any(axis=1)).mean())
        assert d.polarity[j] == tuple(sorted(set(votes[voted, j].tolist())))
    assert d.uncovered == pytest.approx((votes < 0).all(axis=1).mean())
    assert d.votes.sum(axis=1) == pytest.approx(d.coverage)
    json.dumps(d.to_dict(), allow_nan=False)


def test_it_says_who_is_contradicted():
    votes = pd.DataFrame({"good": ["a", "b", "a", None], "odd": ["b", None, "a", None]})
    d = vote_diagnostics(votes)
    assert d.summary() == (
        "2 labelers on 4 items; on 25.0 % all abstain. Coverage runs from 50.0 % (odd) to 75.0 % "
        "(good); good is contradicted most, on 25.0 %, and votes do not tell who is right"
    )
    assert "for a, b" in d._repr_html_()


def test_all_abstain():
    with pytest.raises(LabelError, match="every vote"):
        vote_diagnostics([[-1, -1]])
    d = vote_diagnostics([[-1, -1]], classes=[0, 1])
    assert d.uncovered == 1
    assert d.polarity == ((), ())


def test_it_says_who_never_votes_and_who_votes_for_one_class():
    said = vote_diagnostics([[0, 1, -1], [1, -1, -1], [0, 1, -1]]).summary()
    assert said.endswith(
        "votes do not tell who is right. 2 never votes. 1 of 3 vote for one class only"
    )
