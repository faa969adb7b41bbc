import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from karat.weak import MajorityVote


def test_shares():
    model = MajorityVote().fit([["a", "b", "b"], ["c", None, None]])
    np.testing.assert_allclose(
        model.predict_proba([["a", "b", "b"], [None] * 3]), [[1 / 3, 2 / 3, 0], [1 / 3] * 3]
    )


@pytest.mark.filterwarnings("ignore:no labeler ever votes for")
@given(arrays(int, st.tuples(st.integers(1, 20), st.integers(1, 6)), elements=st.integers(-1, 3)))
def test_equals_counting(votes):
    assume((votes >= 0).any())
    proba = MajorityVote().fit(votes, classes=range(4)).predict_proba(votes)
    for row, p in zip(votes, proba, strict=True):
        cast = row[row >= 0]
        expected = [np.mean(cast == c) for c in range(4)] if len(cast) else [0.25] * 4
        np.testing.assert_allclose(p, expected)
