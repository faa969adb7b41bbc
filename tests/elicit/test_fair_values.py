"""Values of families with groups: all at once, against the sum that defines them."""

from itertools import product

import numpy as np
import pytest

from karat.elicit._rate_space import JointRates
from karat.elicit.families import LinearGaps, SquaredGaps


def by_hand(family, parameters, points):
    """Return ``−(1−λ)⟨a, r⟩ − λ Σ ⟨b, features⟩`` of each metric, term by term."""
    costs, violations, tradeoffs = family.read(parameters)
    overall, gaps = family.space.parts_of(points)
    features = family.features(gaps)
    rows = [
        (share - 1) * (overall @ cost) - share * np.einsum("pf,xpf->x", b, features)
        for cost, b, share in zip(costs, violations, tradeoffs, strict=True)
    ]
    return np.array(rows)


@pytest.mark.parametrize("kind", ["linear", "squared", "diagonal"])
@pytest.mark.parametrize(
    ("same_pairs", "sparse", "known"),
    [c for c in product([False, True], [False, True], ["", "cost", "violation"])
     if not (c[0] and c[2] == "violation")],
)  # fmt: skip
@pytest.mark.parametrize(("k", "m"), [(2, 2), (3, 3)])
def test_values_are_the_sum_that_defines_them(kind, same_pairs, sparse, known, k, m, perfect, rng):
    space = JointRates(perfect(k, m))
    q, pairs = space.q, len(space.pairs)
    root = rng.normal(size=(pairs, q, q))
    if kind == "diagonal":
        root = root * np.eye(q)
    bends = (root @ root.swapaxes(1, 2)).reshape(pairs, -1)
    options = {"cost": rng.random(q) + 0.1} if known == "cost" else {}
    if known == "violation":
        options = {"violation": rng.random((pairs, q)) if kind == "linear" else bends}
    if kind == "diagonal":
        options["diagonal"] = True
    family = (LinearGaps if kind == "linear" else SquaredGaps)(
        space, same_pairs=same_pairs, sparse=sparse, **options
    )
    drawn = rng.normal(size=(12, family.size))
    parameters = np.where(family.signed, drawn, np.abs(drawn))
    points = space.coordinates(space.sample(20, rng=1))
    expected = by_hand(family, parameters, points)
    assert np.allclose(family.values(parameters, points), expected, rtol=1e-12, atol=1e-14)
