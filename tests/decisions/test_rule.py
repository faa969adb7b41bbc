"""The one rule: chunks of rows do not show."""

import numpy as np
import pytest

from karat.decisions.rules import decide


@pytest.mark.parametrize("shape", [(3, 3), (2, 3), (2, 3, 3)])
def test_chunks_do_not_show(shape, rng):
    proba, weights = rng.dirichlet(np.ones(3), 50), rng.normal(size=shape)
    basis = None if shape == (3, 3) else rng.normal(size=(50, 2)) * (rng.random((50, 1)) < 0.8)
    whole = decide(proba, weights, basis)
    assert np.array_equal(decide(proba, weights, basis, chunk=7), whole)
