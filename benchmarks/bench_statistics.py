"""Counting: `confusion` against scikit-learn, `patterns` against pandas, in one run."""

import resource

import numpy as np
import pandas as pd
from _timing import best_of, compare
from sklearn.metrics import confusion_matrix, roc_curve

from karat.statistics import confusion, patterns, roc_counts

N = 10_000_000


def main() -> None:
    """Print one line per statistic."""
    rng = np.random.default_rng(0)
    votes = rng.integers(-1, 2, size=(N, 10)).astype(np.int8)
    seconds = best_of(1, lambda: patterns(votes))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"patterns of 10^7 x 10 int8: {seconds:.2f} s, peak memory {peak:.2f} GB")
    for k in (2, 10):
        y, p = rng.integers(0, k, size=(2, N))
        assert np.array_equal(confusion(y, p).counts, confusion_matrix(y, p))
        compare(
            f"confusion of 10^7 labels, {k} classes",
            lambda y=y, p=p: confusion(y, p),
            lambda y=y, p=p: confusion_matrix(y, p),
            "scikit-learn",
        )
    score = rng.random(N // 10).astype(np.float32)
    truth = rng.integers(0, 2, N // 10)
    compare(
        "roc_counts of 10^6 scores",
        lambda: roc_counts(truth, score),
        lambda: roc_curve(truth, score, drop_intermediate=False),
        "scikit-learn",
    )
    part = votes[: N // 10]
    frame = pd.DataFrame(part)
    compare(
        "patterns of 10^6 x 10 int8",
        lambda: patterns(part),
        lambda: frame.groupby(list(frame.columns)).ngroup(),
        "pandas",
    )


if __name__ == "__main__":
    main()
