"""One table for all engines."""

import numpy as np
import polars as pl
import pytest

N = 300_000


@pytest.fixture(scope="session")
def table():
    """300,000 rows: small tables keep their order on every engine, and show nothing."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    votes = np.where(rng.random((N, 3)) < [0.1, 0.2, 0.3], 1 - y[:, None], y[:, None])
    votes = np.where(rng.random((N, 3)) < 0.2, -1, votes)
    score = rng.normal(1.5 * y).round(4)
    return pl.DataFrame(
        {
            "id": np.arange(N) * 7 - 50_000,
            "name": [f"item {i}" for i in range(N)],
            "y": y,
            "pred": (score > 0.75).astype(int),
            "score": score,
            "other": (score + rng.normal(size=N)).round(3),
            "weight": rng.integers(1, 4, N) / 2,
            "sex": np.where(rng.random(N) < 0.4, "f", "m"),
            **{f"lf_{j}": votes[:, j] for j in range(3)},
        }
    )


ROLES = {"label": "y", "pred": "pred", "score": "score", "weak": "lf_*", "group": "sex", "id": "id"}
