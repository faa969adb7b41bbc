"""Limits of skewed values: few items, rare positives."""

import numpy as np
import pytest
from scipy.stats import beta, binomtest

from karat.bounds import _problem as _skew
from karat.bounds import performance_bounds
from karat.bounds._problem import Sample, skew_limit
from karat.exceptions import OptionError, SmallSampleWarning
from karat.limits import clopper_pearson

PATTERNS = np.array([[i >> b & 1 for b in range(3)] for i in range(8)])


def law(positive):
    """Return P(z), P(Y=1 | z) and P(Ŷ=1 | z): votes that nearly tell the truth.

    One pattern holds nearly all positives, so values are far from symmetric if these are rare.
    """
    share = np.append(np.full(7, (1 - positive) / 7), positive)
    p = np.append(np.linspace(0.001, 0.06, 7) * positive / 0.4, 0.95)
    q = np.append(np.linspace(0.01, 0.1, 7) * positive / 0.4, 0.85)
    return share, p, q


def drawn(rng, n, share, p, q, side):
    """Draw items whose prediction and truth go together as much, or as little, as they can."""
    z = rng.choice(8, n, p=share)
    u = rng.random(n)
    y = (u < p[z]).astype(int)
    h = (u < q[z] if side > 0 else u > 1 - q[z]).astype(int)
    return z, y, h


def at_the_end(share, p, q, side):
    """Return TP of the law at which the bound is attained."""
    return share @ (np.minimum(p, q) if side > 0 else np.maximum(p + q - 1, 0))


def value_of(metric, tp, truth, called):
    return {
        "accuracy": 1 - truth - called + 2 * tp,
        "f1": 2 * tp / (truth + called),
        "recall": tp / truth,
        "precision": tp / called,
    }[metric]


def test_half_a_pseudo_count_is_between_a_bootstrap_and_clopper_pearson():
    """With no failure in n a bootstrap would be certain; with a whole pseudo-count it is exact."""
    counts = np.array([[[30.0]]])
    sample = Sample(counts, counts)
    limit = skew_limit(
        sample, [np.ones((1, 1, 1))], lambda m: m[:, 0], [[0.0]], side=-1, confidence=0.95
    )
    exact = clopper_pearson(30, 30, side="lower").lower
    assert exact < limit < 1
    assert limit == pytest.approx(beta.ppf(0.05, 30, 0.5), abs=0.005)


@pytest.mark.parametrize("confidence", [0.95, 0.99, 0.999, 0.9999])
@pytest.mark.parametrize(
    ("hits", "n", "many"), [(3, 40, False), (150, 4000, False), (150, 4000, True)]
)
def test_limits_are_told_far_out(hits, n, confidence, many, monkeypatch):
    """Of a share they are quantiles of a beta law; 1,500 draws told nothing beyond .999.

    Of so many units that draws are too few, they come from three moments of the draws.
    """
    if many:
        monkeypatch.setattr(_skew, "_number_of_draws", lambda units, delta: (2000, False))
    counts = np.array([[[float(hits)], [float(n - hits)]]])
    sample = Sample(counts, counts)
    values = np.array([[[1.0], [0.0]]])
    for side, worst, exact in (
        (1, 1.0, beta.ppf(confidence, hits + 0.5, n - hits)),
        (-1, 0.0, beta.ppf(1 - confidence, hits, n - hits + 0.5)),
    ):
        end = skew_limit(
            sample, [values], lambda m: m[:, 0], [[worst]], side=side, confidence=confidence
        )
        share = (hits + 0.5 * worst) / (n + 0.5)
        assert end - share == pytest.approx(exact - share, rel=0.08 if many else 0.06)


def test_a_confidence_that_draws_do_not_tell_is_refused():
    counts = np.array([[[30.0]]])
    with pytest.raises(OptionError, match=r"confidence is .*these limits are simulated"):
        skew_limit(
            Sample(counts, counts), [np.ones((1, 1, 1))], lambda m: m[:, 0], [[0.0]], side=-1,
            confidence=1 - 1e-7,
        )  # fmt: skip


def test_cells_of_equal_values_are_drawn_as_one():
    rng = np.random.default_rng(0)
    values = rng.choice([0.0, 0.25, 1.0], (1, 200, 1))
    sample = Sample(np.ones((1, 200, 1)), np.ones((1, 200, 1)))
    together = np.array([[[(values == v).sum()] for v in (0.0, 0.25, 1.0)]], dtype=float)
    merged = Sample(together, together)
    ends = [
        skew_limit(s, [v], lambda m: m[:, 0], [[1.0]], side=1, confidence=0.95)
        for s, v in ((sample, values), (merged, np.array([[[0.0], [0.25], [1.0]]])))
    ]
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)


def test_cells_of_nearly_equal_values_leave_the_limit_where_it_is(monkeypatch):
    """Three skewed columns that no two items share, drawn one by one and in cells."""
    rng = np.random.default_rng(4)
    columns = [rng.beta(0.3, 6, (1, 600, 1)) * scale for scale in (1.0, 1e-3, 40.0)]
    sample = Sample(np.ones((1, 600, 1)), np.ones((1, 600, 1)))
    monkeypatch.setattr(_skew, "_DRAWS", 20_000)

    def ends(near):
        monkeypatch.setattr(_skew, "_NEAR", near)
        return [
            skew_limit(
                sample, columns, lambda m, c=c: m[:, c], [[0.0] * 3], side=side, confidence=0.95
            )
            for side in (-1, 1)
            for c in range(3)
        ]

    errors = np.tile([c.std() / np.sqrt(600) for c in columns], 2)
    # Draws alone move a limit by 2 × .015 of the standard error (2 standard errors of a quantile).
    assert (np.abs(np.subtract(ends(_skew._NEAR), ends(1e-9))) < 0.05 * errors).all()


def test_a_ratio_of_nearly_proportional_columns_keeps_its_error(monkeypatch):
    """The precision of sure calls: its columns vary by ½, and what it is made of by .001."""
    rng = np.random.default_rng(5)
    called = (rng.random(1000) < 0.5).astype(float)
    right = called * (1 - rng.beta(3, 1500, 1000))
    columns = [c.reshape(1, -1, 1) for c in (right, called)]
    sample = Sample(np.ones((1, 1000, 1)), np.ones((1, 1000, 1)))
    monkeypatch.setattr(_skew, "_DRAWS", 20_000)
    value = right.sum() / called.sum()

    def distance(near, side):
        monkeypatch.setattr(_skew, "_NEAR", near)
        end = skew_limit(
            sample, columns, lambda m: m[:, 0] / m[:, 1], [[value, 1.0]], side=side, confidence=0.95
        )
        return side * (end - value)

    for side in (-1, 1):
        assert distance(_skew._NEAR, side) == pytest.approx(distance(1e-9, side), rel=0.05)


@pytest.mark.parametrize("scale", [1e-100, 1e-12, 1e12])
def test_limits_follow_the_scale_of_the_values(scale):
    values = np.random.default_rng(6).beta(0.3, 6, (1, 300, 1))
    sample = Sample(np.ones((1, 300, 1)), np.ones((1, 300, 1)))
    ends = [
        skew_limit(sample, [values * unit], lambda m: m[:, 0], [[unit]], side=1, confidence=0.95)
        for unit in (1.0, scale)
    ]
    assert ends[1] / scale == pytest.approx(ends[0], rel=1e-9)


def test_skew_limits_are_near_normal_ones_in_a_large_sample():
    rng = np.random.default_rng(1)
    share, p, q = law(0.4)
    z, _, h = drawn(rng, 20_000, share, p, q, 1)
    proba = np.column_stack([1 - p[z], p[z]])
    for metric in ("accuracy", "f1", "mcc", "balanced_accuracy"):
        ends = [
            performance_bounds(
                h, PATTERNS[z], proba, metric=metric, classes=[0, 1], limit=limit, rng=0
            )
            for limit in ("skew", "normal")
        ]
        for name in ("lower_limit", "upper_limit"):
            skew, normal = (getattr(b, name) for b in ends)
            assert skew == pytest.approx(normal, abs=0.002)


def test_few_expected_positives_are_a_warning():
    rng = np.random.default_rng(2)
    share, p, q = law(0.02)
    z, _, h = drawn(rng, 300, share, p, q, 1)
    proba = np.column_stack([1 - p[z], p[z]])
    with pytest.warns(SmallSampleWarning, match="fewer than 10"):
        performance_bounds(h, PATTERNS[z], proba, metric="recall", classes=[0, 1], rng=0)


SETTINGS = [  # positives, n, metrics
    (0.4, 100, ("accuracy", "f1")),
    (0.05, 300, ("recall",)),
    (0.01, 1000, ("recall",)),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")
@pytest.mark.parametrize(("positive", "n", "metrics"), SETTINGS)
def test_limits_cover_where_values_are_skewed(positive, n, metrics):
    """P(Y | Z) is right and the truth is at the bound: 100 samples notice .93 against .76."""
    rng = np.random.default_rng(n)
    share, p, q = law(positive)
    truth, called = share @ p, share @ q
    runs = 100
    for metric in metrics:
        for side in (-1, 1):
            true = value_of(metric, at_the_end(share, p, q, side), truth, called)
            covered, reach = 0, np.zeros(2)
            for seed in range(runs):
                z, _, h = drawn(rng, n, share, p, q, side)
                if not 0 < h.sum() < n:
                    continue
                given = h, PATTERNS[z], np.column_stack([1 - p[z], p[z]])
                options = {"metric": metric, "classes": [0, 1], "rng": seed}
                b = performance_bounds(*given, **options)
                low, high = b.bounds_limits.lower, b.bounds_limits.upper
                covered += true <= high if side > 0 else low <= true
                if seed < 50:  # enough for a mean width
                    plain = performance_bounds(*given, limit="normal", **options)
                    reach += high - low, plain.bounds_limits.upper - plain.bounds_limits.lower
            print(
                f"{metric}, {positive:.0%} positive, n = {n}, side {side:+d}: covered "
                f"{covered / runs:.3f}, width {reach[0] / reach[1]:.2f} of normal"
            )
            assert binomtest(int(covered), runs, 0.93, alternative="less").pvalue > 0.001
            assert reach[0] < 1.5 * reach[1]
