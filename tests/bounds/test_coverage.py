"""The limits cover: simulations in the sparse setting."""

import warnings

import numpy as np
import pytest
from scipy.stats import binomtest

from karat.bounds import bounds_curve, expectation_bounds, performance_bounds

pytestmark = pytest.mark.slow
RUNS = 40


def fails(hits, runs, promised=0.93):
    """Whether so few hits would be seen once in a thousand times if the promise held."""
    return binomtest(hits, runs, promised, alternative="less").pvalue < 0.001


@pytest.mark.parametrize(("k", "metric"), [(2, "accuracy"), (2, "f1"), (5, "accuracy")])
def test_one_sided_limits_cover_and_the_plug_in_does_not(draw_law, k, metric, capsys):
    hits = {"crossfit": np.zeros(2, int), "plugin": np.zeros(2, int)}
    widths = []
    for seed in range(RUNS):
        law = draw_law(2000, k, seed=1000 + seed)
        for method, count in hits.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                b = performance_bounds(
                    law.y_pred, law.votes, law.p, metric=metric, method=method, classes=range(k),
                    rng=seed,
                )  # fmt: skip
            truth = b.metric.score(law.y, law.y_pred, classes=range(k))
            if metric == "accuracy":
                truth = law.right  # the population's, not this sample's
            count += [b.lower_limit <= truth, truth <= b.upper_limit]
            if method == "crossfit" and metric == "accuracy":
                lower, upper = law.sharp_accuracy()
                widths.append(b.width / (upper - lower))
    with capsys.disabled():
        print(f"\n{metric}, |Y|={k}, n=2000: " + ", ".join(
            f"{m} lower {h[0] / RUNS:.2f} upper {h[1] / RUNS:.2f}" for m, h in hits.items()
        ))  # fmt: skip
    assert not any(fails(int(h), RUNS) for h in hits["crossfit"])
    assert min(hits["plugin"]) < 0.5 * RUNS
    if widths:
        assert np.mean(widths) < 1.3


def test_limits_at_the_bound_itself_have_their_level(draw_law):
    """Where the truth is the sharp upper bound, the upper limit covers about as often as it says.

    The prediction is built to agree with the truth as much as any law allows.
    """
    hits = 0
    for seed in range(RUNS):
        law = draw_law(3000, 2, seed=seed)
        rng = np.random.default_rng(seed)
        # Given z, Y and Ŷ are comonotone: both are 1 for the same u below their share.
        share = 0.2 + 0.6 * law.p[:, 1]
        u = rng.random(3000)
        y_pred = (u < share).astype(int)
        truth = float(np.mean(np.minimum(share, law.p[:, 1]) + np.minimum(1 - share, law.p[:, 0])))
        b = performance_bounds(
            y_pred, law.votes, law.p, metric="accuracy", classes=[0, 1], rng=seed
        )
        hits += truth <= b.upper_limit
    assert not fails(hits, RUNS, 0.93)


def test_bernstein_covers_always(draw_law):
    for seed in range(40):
        law = draw_law(1000, 2, seed=seed)
        b = performance_bounds(
            law.y_pred, law.votes, law.p, metric="f1", limit="bernstein", classes=[0, 1], rng=seed
        )
        truth = b.metric.score(law.y, law.y_pred)
        assert b.lower_limit <= truth <= b.upper_limit


def test_curves_and_expectations_cover(draw_law):
    curve_hits = loss_hits = 0
    for seed in range(RUNS):
        law = draw_law(1000, 2, seed=500 + seed)
        rng = np.random.default_rng(seed)
        score = law.y_pred + rng.normal(scale=0.5, size=1000)
        curve = bounds_curve(
            score, law.votes, law.p, metric="accuracy", thresholds=[0.5], classes=[0, 1], rng=seed
        )
        truth = np.mean((score >= 0.5) == law.y)
        curve_hits += curve.lower_limit[0] <= truth <= curve.upper_limit[0]
        proba = 1 / (1 + np.exp(-3 * (score - 0.5)))
        loss = -np.log(np.column_stack([1 - proba, proba]))
        e = expectation_bounds(loss, law.votes, law.p, method="crossfit", classes=[0, 1], rng=seed)
        truth = loss[np.arange(1000), law.y].mean()
        loss_hits += e.lower_limit <= truth <= e.upper_limit
    assert not fails(curve_hits, RUNS, 0.9)
    assert not fails(loss_hits, RUNS, 0.9)
