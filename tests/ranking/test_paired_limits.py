"""Paired limits of a difference between two areas: against loops, closed forms and simulations."""

import math

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binomtest, norm, t

from karat.evaluation import evaluate
from karat.ranking import FprBand, Power, TprBand, Uniform, compare_rankings
from karat.ranking._approximate import paired_limits
from karat.ranking.areas import influence, row_influence
from karat.ranking.placements import labelled_scores

few = pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")


def drawn(seed, n=60, decimals=None):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    y[:4] = [True, False, True, False]
    a = rng.normal(size=n) + y
    b = 0.8 * a + 0.6 * rng.normal(size=n)
    return y, *(s if decimals is None else s.round(decimals) for s in (a, b))


def by_pairs(y, score):
    """Return AUC and influences under either label, one pair of rows at a time."""

    def wins(s, u):
        return 1.0 if s > u else 0.5 if s == u else 0.0

    one = [np.mean([wins(s, u) for u in score[~y]]) for s in score]
    zero = [np.mean([wins(u, s) for u in score[y]]) for s in score]
    return np.mean(np.array(one)[y]), np.array(one), np.array(zero)


def by_the_book(y, a, b, delta):
    """Return the limits by their definition, with no shortcut."""
    (va, one_a, zero_a), (vb, one_b, zero_b) = by_pairs(y, a), by_pairs(y, b)
    h, parts = 0.75, []
    for own, x in ((y, one_a - one_b), (~y, zero_a - zero_b)):
        n, other = own.sum(), (~own).sum()
        dev = x - x[own].mean()
        m = math.sqrt(max(np.mean(dev[~own] ** 2), (0.7 * max(abs(dev[own]))) ** 2, other**-2.0))
        s = math.sqrt(n / (n - 1 + h))
        parts.append((n, [s * d / n for d in dev[own]], s * m / n))
    v = sum(sum(u * u for u in psi) + h * p * p for _, psi, p in parts)
    k3 = sum(n**2 / (n**2 + 100) * sum(u**3 for u in psi) for n, psi, _ in parts)
    top = low = 0.0
    for n, psi, p in parts:
        q = sum(u * u for u in psi) + h * p * p
        top += sum(u**4 for u in psi) + h * p**4 - q * q / (n + h)
        low += 0.2 * q * q / n
    nu = max(3.0, 2 * v * v / max(top, low))
    g, x = 0.7 * k3 / v**1.5, t.ppf(1 - delta / 2, nu)
    g = g if abs(g) > 1e-7 else 1e-7  # the limit of no skewness
    ends = [va - vb - math.sqrt(v) * 3 / g * (np.cbrt(1 + g * (e - g / 6)) - 1) for e in (x, -x)]
    return ends[0], ends[1], nu


@pytest.mark.parametrize("decimals", [None, 1, 0])
@pytest.mark.parametrize("n", [8, 25, 120])
def test_limits_are_those_of_loops_over_pairs(n, decimals):
    for seed in range(5):
        y, a, b = drawn(seed, n, decimals)
        both = [row_influence(y, s, None, Uniform()) for s in (a, b)]
        for found, score in zip(both, (a, b), strict=True):
            value, one, zero = by_pairs(y, score)
            assert found.value == pytest.approx(value, abs=1e-12)
            np.testing.assert_allclose(found.one, one, atol=1e-12)
            np.testing.assert_allclose(found.zero, zero, atol=1e-12)
        r = paired_limits(y, *both, None, kish=False, sup=1.0, delta=0.1)
        lower, upper, _ = by_the_book(y, a, b, 0.1)
        assert (r.lower, r.upper) == pytest.approx((lower, upper), abs=1e-7)


@pytest.mark.parametrize("region", [Uniform(), FprBand(0, 0.3), FprBand(0.1, 0.5), Power(2)])
@pytest.mark.parametrize("decimals", [None, 0])
def test_a_row_has_its_own_influence_under_its_own_label(region, decimals):
    y, score, _ = drawn(3, 80, decimals)
    found = row_influence(y, score, None, region)
    placed = labelled_scores(y, score, None, approximate=False).placed()
    ones, zeros = influence(placed, region)
    np.testing.assert_allclose(np.sort(found.one[y]), np.sort(ones), atol=1e-12)
    np.testing.assert_allclose(np.sort(found.zero[~y]), np.sort(zeros), atol=1e-12)


def test_a_model_against_itself_has_the_limits_of_unseen_rows():
    y, a, _ = drawn(1, 400)
    d = compare_rankings(y, {"a": a, "b": np.exp(a)}).differences[0]
    n1, n0 = y.sum(), (~y).sum()
    # All influences cancel: three quarters of a row of either class move the area by one step.
    parts = [n / (n - 1 + 0.75) / (n * m) ** 2 for n, m in ((n1, n0), (n0, n1))]
    squares = [0.75 * p for p in parts]
    sizes = np.array([n1, n0])
    top = 0.75 * sum(p**2 for p in parts) - sum(np.square(squares) / (sizes + 0.75))
    nu = max(3.0, 2 * sum(squares) ** 2 / max(top, 0.2 * sum(np.square(squares) / sizes)))
    reach = t.ppf(0.975, nu) * math.sqrt(sum(squares))
    assert (d.value, d.p_value) == (0, 1)
    assert (d.lower, d.upper) == pytest.approx((-reach, reach), rel=1e-9)


@few
@pytest.mark.parametrize("region", [Uniform(), FprBand(0, 0.2), TprBand(0.6, 1)], ids=repr)
def test_limits_and_p_value_agree(region):
    for seed in range(40):
        y, a, b = drawn(seed)
        for confidence in (0.5, 0.9):
            d = compare_rankings(
                y, {"a": a, "b": b}, weight=region, confidence=confidence
            ).differences[0]  # fmt: skip
            assert d.decided == (d.p_value < 1 - confidence)
            assert d.method == "paired"
            assert d.guaranteed.lower <= d.lower <= d.value <= d.upper <= d.guaranteed.upper


@few
def test_bands_of_the_true_positive_rate_are_those_of_classes_turned():
    y, a, b = drawn(5, 200, 1)
    one = compare_rankings(y, {"a": a, "b": b}, weight=TprBand(0.7, 1)).differences[0]
    two = compare_rankings(~y, {"a": -a, "b": -b}, weight=FprBand(0, 0.3)).differences[0]
    assert (one.value, one.lower, one.upper, one.p_value) == pytest.approx(
        (two.value, two.lower, two.upper, two.p_value), abs=1e-12
    )


@few
def test_one_positive_shows_nothing():
    y = np.arange(50) == 49
    d = compare_rankings(y, {"a": np.arange(50.0), "b": -np.arange(50.0)}).differences[0]
    assert (d.value, d.lower, d.upper, d.p_value) == (1, -1, 1, 1)


def test_a_named_method_gives_the_limits_of_differences_too():
    y, a, b = drawn(6, 500)
    named = compare_rankings(y, {"a": a, "b": b}, limits="hinge").differences[0]
    auto = compare_rankings(y, {"a": a, "b": b}).differences[0]
    assert named.method == "distribution-free"
    assert named.estimate == auto.guaranteed
    assert named.p_value == auto.p_value
    assert "distribution-free limits" in auto.summary()
    assert "(paired, likely)" in auto.summary()


def test_importances_are_called_rough_and_have_no_scale():
    y, a, b = drawn(7, 500)
    w = np.random.default_rng(7).exponential(size=500)
    w[:50] = 0.0
    one, two = (
        compare_rankings(y, {"a": a, "b": b}, sample_weight=f * w).differences[0] for f in (1, 37.1)
    )
    assert (one.lower, one.upper, one.p_value) == pytest.approx((two.lower, two.upper, two.p_value))
    assert "rough, rows are weighted" in one.summary()
    plain = compare_rankings(y, {"a": a, "b": b}).differences[0]
    even = compare_rankings(y, {"a": a, "b": b}, sample_weight=np.full(500, 2.5)).differences[0]
    assert (even.lower, even.upper) == pytest.approx((plain.lower, plain.upper))


def two_scores(n, seed, gap=0.25):
    """Scores of two correlated models, areas about .85 and .80, as a table."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    shared, own, other = rng.normal(size=(3, n))
    good = 0.8 * shared + 0.6 * own + 1.45 * y
    poor = 0.8 * shared + 0.6 * other + (1.45 - gap) * y
    return y, {"good": good, "poor": poor}


def test_evaluate_decides_between_two_scores_by_the_paired_limits():
    y, scores = two_scores(3000, 0)
    table = {"y": y.astype(int), **{k: 1 / (1 + np.exp(-s)) for k, s in scores.items()}}
    found = evaluate(table, label="y", score=["good", "poor"], pos_label=1)
    ranking = next(f for f in found.findings if f.key == "ranking")
    verdict = ranking.verdicts[0]
    d = ranking.results["comparison"].differences[0]
    normal = compare_rankings(y, scores, limits="delong").differences[0]
    assert verdict.badge == "likely"
    assert verdict.sentence.startswith("good ranks better than poor")
    assert f"between {d.lower:+.3f} and {d.upper:+.3f}" in verdict.sentence
    # What the distribution-free limits leave open is said beside them.
    assert d.guaranteed.lower < 0 < d.lower
    assert f"{d.guaranteed.lower:+.3f} to {d.guaranteed.upper:+.3f}" in verdict.sentence
    assert d.upper - d.lower < 1.1 * (normal.upper - normal.lower)


def test_evaluate_leaves_equal_scores_open():
    y, scores = two_scores(1000, 1, gap=0.0)
    found = evaluate({"y": y.astype(int), **scores}, label="y", score=["good", "poor"], pos_label=1)
    ranking = next(f for f in found.findings if f.key == "ranking")
    assert ranking.verdicts[0].badge == "unknown"
    assert "Which ranks better is not known" in ranking.verdicts[0].sentence


LAWS = {  # areas of both, correlation, standard deviation of positives, decimals that are kept
    "correlated": (0.8, 0.8, 0.9, 1.0, None), "near one": (0.97, 0.97, 0.3, 1.0, None),
    "ties": (0.85, 0.85, 0.9, 1.0, 0), "wide positives": (0.9, 0.9, 0.8, 2.5, None),
    "different": (0.9, 0.86, 0.9, 1.0, None), "near one, different": (0.99, 0.97, 0.9, 1.0, None),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(37, 63), (50, 500), (300, 700)], ids=str)
@pytest.mark.parametrize("law", LAWS)
def test_likely_limits_cover_and_reject_seldom_where_nothing_differs(law, sizes, capsys):
    """1,500 draws; a rate of .05 exceeds .07 by chance in fewer than one of 1,000."""
    first, second, rho, sd, decimals = LAWS[law]
    n1, n0 = sizes
    y = np.arange(n1 + n0) < n1
    shift = math.hypot(1, sd) * ndtri(np.array([first, second]))
    rng = np.random.default_rng([n1, n0])
    runs, missed = 1500, 0
    for _ in range(runs):
        z = rng.normal(size=(2, n1 + n0))
        z[1] = rho * z[0] + math.sqrt(1 - rho**2) * z[1]
        scores = np.where(y, shift[:, None] + sd * z, z)
        if decimals is not None:
            scores = scores.round(decimals)
        both = [row_influence(y, s, None, Uniform()) for s in scores]
        r = paired_limits(y, *both, None, kish=False, sup=1.0, delta=0.05)
        missed += not r.lower <= first - second <= r.upper
    with capsys.disabled():
        print(f"\n{law}, {n1} + {n0}: {missed / runs:.4f} missed of .05")
    assert missed / runs <= 0.07
    assert norm.cdf(shift / math.hypot(1, sd)) == pytest.approx([first, second])
    assert binomtest(missed, runs, 0.07, alternative="greater").pvalue > 0.001
