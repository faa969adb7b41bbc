"""Limits of areas through pairs: hinges, nested tops, small samples; and what ``auto`` takes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, binomtest, norm, t
from sklearn.metrics import roc_auc_score

from karat.exceptions import OptionError, SmallSampleWarning
from karat.limits.means import expected_excess, hinge_limits
from karat.limits.proportions import clopper_pearson_limits, kl_limits
from karat.ranking import (
    FprBand,
    Power,
    TprBand,
    Uniform,
    compare_rankings,
    weighted_auc,
)
from karat.statistics import roc_counts


def test_the_expected_excess_is_a_sum():
    for m, p, h in ((7, 0.3, 0), (20, 0.3, 7), (20, 0.9, 19), (1, 0.5, 0)):
        k = np.arange(m + 1)
        wanted = np.maximum(k - h, 0) @ binom.pmf(k, m, p)
        assert expected_excess(np.array([p]), m, np.array([float(h)]))[0] == pytest.approx(wanted)


@pytest.mark.parametrize("m", [1, 2, 9, 40])
@pytest.mark.parametrize("delta", [0.005, 0.025, 0.2])
def test_hinges_hold_for_binomials_by_enumeration(m, delta):
    limits = np.array([hinge_limits(float(x), m, delta) for x in range(m + 1)])
    for p in np.linspace(0.01, 0.99, 33):
        chance = binom.pmf(np.arange(m + 1), m, p)
        assert chance[limits[:, 0] > p].sum() <= delta + 1e-12
        assert chance[limits[:, 1] < p].sum() <= delta + 1e-12


@given(st.integers(1, 10**7), st.floats(0, 1), st.floats(1e-6, 0.2))
def test_hinges_are_inside_kl_limits(m, share, delta):
    low, high = hinge_limits(share * m, m, delta)
    wide = kl_limits(share * m, m, delta)
    assert wide[0] - 1e-9 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= wide[1] + 1e-9
    mirrored = hinge_limits(m - share * m, m, delta)
    assert (low, high) == pytest.approx((1 - mirrored[1], 1 - mirrored[0]), abs=1e-9)


@pytest.mark.parametrize("delta", [1e-20, 1e-60, 1e-200])
@pytest.mark.parametrize("m", [5, 1000])
def test_a_hinge_whose_root_is_not_reached_excludes_nothing(m, delta):
    """The smaller delta is, the more steps Newton's method takes, all of them above the root."""
    low, _ = hinge_limits(float(m), m, delta)
    assert 0 <= low <= delta ** (1 / m)  # at this p all m are 1 with a probability of delta


@pytest.mark.parametrize("delta", [1e-6, 0.025, 0.2])
@pytest.mark.parametrize("limits", [hinge_limits, kl_limits, clopper_pearson_limits])
def test_a_sum_that_rounds_above_its_greatest_value_is_that_value(limits, delta):
    """All of m right: a mean below delta^(1/m) would have shown that with less than delta."""

    def found(total, m):
        return tuple(map(float, limits(total, m, delta)))

    for m in (*range(1, 41), *range(50, 401, 25)):
        whole, none = found(float(m), m), found(0.0, m)
        assert whole[0] == pytest.approx(delta ** (1 / m), abs=1e-9)
        assert whole[1] == pytest.approx(1)
        for eps in (1e-16, 2.0**-52, 1e-15, 1e-12):
            assert found(m * (1 + eps), m) == pytest.approx(whole, abs=1e-9)
            assert found(m * (1 - eps), m) == pytest.approx(whole, abs=1e-6)
            assert found(-eps, m) == pytest.approx(none, abs=1e-9)


@pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")
def test_perfect_separation_is_never_certainty():
    """Of 396 sizes 127 had a lower limit of 1 where the sum of the shares rounds upwards."""
    for n in range(5, 401):
        y = np.repeat([0, 1], [10 * n, n])
        score = np.arange(len(y), dtype=float)
        part = weighted_auc(y, score, weight=FprBand(0, 0.1), limits="nested")
        assert part.lower <= 0.1 * 0.0125 ** (1 / n) + 1e-9
    for n in range(5, 200):
        y = np.repeat([0, 1], n)
        weight = np.linspace(1, 2, 2 * n)
        whole = weighted_auc(y, np.arange(2.0 * n), sample_weight=weight)
        assert whole.lower <= 0.025 ** (1 / n) + 1e-9


def test_limits_of_pairs_are_those_of_the_smaller_class(rows):
    y, score = rows(3, 400, 1)
    m, value = min(y.sum(), (~y).sum()), roc_auc_score(y, score)
    for kind, limits in (("hinge", hinge_limits), ("kl", kl_limits)):
        r = weighted_auc(y, score, limits=kind)
        assert (r.lower, r.upper) == pytest.approx(
            tuple(map(float, limits(value * m, int(m), 0.025)))
        )
    assert weighted_auc(y, score).method == "hinge"
    with pytest.raises(OptionError, match="limits is 'hinge'; expected 'auto', 'dkw' or 'bet"):
        weighted_auc(y, score, weight=Power(2), limits="hinge")


def tops_by_hand(y, score, b, delta):
    """Limits of `nested` from sorted scores, where no score occurs twice."""
    zeros, ones = np.sort(score[~y])[::-1], score[y]
    n0, n1 = len(zeros), len(ones)
    k = np.arange(1, n0 + 1)
    below = k[beta.sf(b, k, n0 + 1 - k) <= delta / 8]
    above = k[beta.cdf(b, k, n0 + 1 - k) <= delta / 8]
    found = []
    for rank, side in ((below.max(initial=0), 0), (above.min(initial=n0 + 1), 1)):
        if rank <= 1:
            found.append(0.0)
            continue
        top = zeros[: rank - 1]
        m = min(n1, rank - 1)
        share = (ones[:, None] > top).mean()
        found.append(hinge_limits(share * m, m, 3 * delta / 8)[side] * b)
    return found


@pytest.mark.parametrize("b", [0.01, 0.1, 0.5, 0.97])
def test_nested_tops_by_hand(rows, b):
    y, score = rows(5, 700)
    r = weighted_auc(y, score, weight=FprBand(0, b), limits="nested")
    assert [r.lower, r.upper] == pytest.approx(tops_by_hand(y, score, b, 0.05))
    assert r.lower <= r.value <= r.upper
    # A band of true-positive rates up to 1 is one of false-positive rates with classes swapped.
    mirrored = weighted_auc(~y, -score, weight=TprBand(1 - b, 1), limits="nested")
    assert (mirrored.lower, mirrored.upper) == pytest.approx((r.lower, r.upper))


def test_nested_tops_break_ties_like_jitter(rows):
    y, score = rows(5, 3000, 0)
    options = {"weight": FprBand(0, 0.2), "limits": "nested"}
    tied = weighted_auc(y, score, **options)
    assert tied == weighted_auc(y, score, **options)
    rng = np.random.default_rng(0)
    apart = [weighted_auc(y, score + 0.1 * rng.random(3000), **options) for _ in range(40)]
    for side in ("lower", "upper"):
        drawn = [getattr(r, side) for r in apart]
        assert abs(getattr(tied, side) - np.mean(drawn)) < 5 * np.std(drawn)
    counted = weighted_auc(roc_counts(y, score), **options)
    assert (counted.lower, counted.upper) == pytest.approx((tied.lower, tied.upper), abs=2e-3)


def smoothed_by_hand(ones, zeros, delta):
    rare, common, sign = (ones, zeros, 1) if len(ones) <= len(zeros) else (zeros, ones, -1)
    wins = np.sign(sign * (rare[:, None] - common)) / 2 + 0.5
    v, n = wins.mean(axis=1), len(rare) + 1
    mean, square = (v.sum() + 0.5) / n, ((v**2).sum() + 0.5) / n
    spread = wins.mean(axis=0).var(ddof=1) / len(common)
    size = mean * (1 - mean) / ((square - mean**2) / (n + 1) + spread) - 1
    return beta.ppf([delta / 2, 1 - delta / 2], size * mean, size * (1 - mean))


@pytest.mark.parametrize(("share", "decimals"), [(0.1, None), (0.9, None), (0.3, 0)])
def test_small_samples_by_hand(rows, share, decimals):
    y, score = rows(8, 90, decimals, share=share)
    r = weighted_auc(y, score, limits="smoothed")
    assert (r.lower, r.upper) == pytest.approx(smoothed_by_hand(score[y], score[~y], 0.05))
    assert weighted_auc(y, score, limits="approximate") == weighted_auc(
        y, score, limits="approximate"
    )


def partial_by_hand(y, score, high, delta):
    """Limits of the area over FPR ≤ high, divided by it, of rows without ties."""
    ones, zeros = score[y], score[~y]
    place = np.array([np.mean(zeros < s) for s in ones])
    one = np.maximum(0, 1 - (1 - place) / high)
    # A negative counts the positives above it that are in the band.
    zero = np.array([np.mean((ones > u) & (place > 1 - high)) for u in zeros]) / high
    value, most = one.mean(), np.mean(place > 1 - high) / high
    mean, variance, noise, least = value, 0.0, 0.0, 0.0
    for x, ends in ((one, np.array([0.0, 1.0])), (zero, np.array([0.0, most]))):
        n, dev, off = len(x), x - x.mean(), ends - x.mean()
        psi = dev / n * np.sqrt(n / (n - 0.5))
        mean += 0.5 * off.mean() / (n + 0.5)
        variance += psi @ psi + 0.5 * np.mean(off**2) / n**2 * n / (n - 0.5)
        noise += (psi**4).sum() - (psi @ psi) ** 2 / n
        least += 0.2 * (psi @ psi) ** 2 / n
    freedom = max(2 * variance**2 / max(noise, least), 3.0)
    variance *= (t.ppf(delta / 2, freedom) / norm.ppf(delta / 2)) ** 2
    size = mean * (1 - mean) / min(variance, mean * (1 - mean) / 2) - 1
    return beta.ppf([delta / 2, 1 - delta / 2], size * mean, size * (1 - mean))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_approximate_limits_of_partial_areas_by_hand(rows, share, confidence):
    y, score = rows(12, 151, share=share)
    r = weighted_auc(
        y, score, weight=FprBand(0, 0.3), normalize="mean", limits="approximate",
        confidence=confidence,
    )  # fmt: skip
    assert r.method == "smoothed"
    by_hand = partial_by_hand(y, score, 0.3, 1 - confidence)
    assert (r.lower, r.upper) == pytest.approx(by_hand, abs=1e-9)
    assert r.standard_error > 0


def test_a_box_of_all_rates_is_the_band_of_its_false_positives(rows):
    y, score = rows(9, 300, 1)
    box, band = FprBand(0.1, 0.4) & TprBand(0, 1), FprBand(0.1, 0.4)
    a, b = (weighted_auc(y, score, weight=w, limits="smoothed") for w in (box, band))
    assert (a.value, a.lower, a.upper) == pytest.approx((b.value, b.lower, b.upper), rel=0.02)


@pytest.mark.parametrize("weight", [FprBand(0, 0.2), TprBand(0.7, 1), Power(4),
                                    FprBand(0, 0.3) & TprBand(0.4, 1)], ids=str)  # fmt: skip
def test_separated_classes_do_not_show_a_perfect_partial_area(weight):
    """DeLong's limits are one point there, of any number of rows."""
    y = np.arange(400) >= 200
    r = weighted_auc(y, np.arange(400.0), weight=weight, normalize="mean",
                     limits="approximate")  # fmt: skip
    assert (r.value, r.upper) == pytest.approx((1, 1))
    assert 0.95 < r.lower < 0.995


def test_one_row_of_a_class_shows_no_partial_area():
    y, score = np.arange(100) == 60, np.arange(100.0)
    with pytest.warns(SmallSampleWarning, match="the limits exclude nothing"):
        r = weighted_auc(y, score, weight=FprBand(0, 0.5), limits="smoothed")
    assert (r.lower, r.upper) == (0, 0.5)


def test_few_rows_in_the_band_are_said(rows):
    y, score = rows(3, 60)
    with pytest.warns(SmallSampleWarning, match="fewer than 5 are expected in the band"):
        weighted_auc(y, score, weight=FprBand(0, 0.05), limits="smoothed")
    with pytest.raises(OptionError, match=r"'dkw' for .* with ties='strict'"):
        weighted_auc(y, score, weight=Power(3), ties="strict", limits="smoothed")


def test_separated_classes_are_not_certain_of_one():
    y = np.arange(40) >= 20
    r = weighted_auc(y, np.arange(40.0), limits="smoothed")
    assert r.upper == 1
    assert r.lower == pytest.approx(0.883, abs=5e-4)
    turned = weighted_auc(y, -np.arange(40.0), limits="smoothed")
    assert (turned.lower, turned.upper) == pytest.approx((0, 1 - r.lower))


@pytest.mark.filterwarnings("ignore:the limits exclude nothing")
def test_what_the_names_stand_for(rows):
    y, score = rows(1, 2000)  # the choice may not depend on a score
    for options, limits, why in (
        ({}, "hinge", "pairs"),
        ({"weight": FprBand(0, 1)}, "hinge", "pairs"),
        ({"weight": FprBand(0, 0.1)}, "nested", "expected in the band"),
        ({"weight": TprBand(0.5, 1)}, "nested", "expected in the band"),
        ({"weight": TprBand(0.9, 1)}, "beta", "narrow"),
        ({"weight": FprBand(0, 0.001)}, "beta", "narrow"),
        ({"weight": Power(3)}, "beta", "narrow"),
        ({"weight": FprBand(0, 0.1), "ties": "strict"}, "dkw", "strict"),
        (
            {"weight": FprBand(0, 0.1), "sample_weight": np.linspace(0.1, 2, 2000)},
            "dkw",
            "importance",
        ),
        ({"weight": FprBand(0, 0.3) & TprBand(0.4, 1)}, "beta", "narrow"),
        ({"limits": "approximate"}, "smoothed", "not seen"),
        ({"limits": "approximate", "weight": FprBand(0, 0.1)}, "smoothed", "not seen"),
        ({"limits": "approximate", "weight": TprBand(0.9, 1)}, "smoothed", "not seen"),
        ({"limits": "approximate", "weight": FprBand(0, 0.003)}, "beta", "fewer than 5"),
        ({"limits": "approximate", "ties": "strict"}, "smoothed", "not seen"),
        (
            {"limits": "approximate", "ties": "strict", "weight": Power(3)},
            "dkw",
            "ties='strict'",
        ),
        ({"limits": "dkw"}, "dkw", ""),
    ):
        r = weighted_auc(y, score, **options)
        assert r.method == limits
        assert why in r.why
        assert bool(r.why) == bool(why)
        assert (f"by {r.method!r}, since {r.why}" in r.summary()) == bool(why)
    few = weighted_auc(y[:60], score[:60], limits="approximate")
    assert few.method == "smoothed"
    cells = weighted_auc(replace(roc_counts(y, np.floor(score)), cells=True))
    assert cells.method == "hinge"
    assert cells.lower < cells.value_range[0] < cells.value_range[1] < cells.upper


def test_two_columns_are_the_column_of_the_positive_class(rows):
    y, score = rows(2, 300)
    names = np.where(y, "spam", "ham")
    both = np.column_stack([-score, score])
    assert weighted_auc(names, both) == weighted_auc(names, score)
    assert weighted_auc(names, both, pos_label="ham") == weighted_auc(
        names, -score, pos_label="ham"
    )
    assert weighted_auc(names, both).pos_label == "spam"


def test_a_group_of_one_class_is_skipped_and_said(rows):
    y, score = rows(2, 300)
    groups = np.where(np.arange(300) < 3, "few", "many")
    y[:3] = True
    with pytest.warns(SmallSampleWarning, match="1 of 2 groups .* 'few', its 3 rows are all of cl"):
        r = weighted_auc(y, score, groups=groups)
    assert list(r.groups) == ["many"]
    assert r.skipped == {"few": "its 3 rows are all of class True"}
    assert "without an area: few" in r.summary()
    # What is left shares the error among fewer.
    assert r.groups["many"] == weighted_auc(y[3:], score[3:])


def test_delong_of_boxes_agrees_with_resampling(rows):
    y, score = rows(4, 4000, share=0.4)
    box = FprBand(0.05, 0.5) & TprBand(0.3, 0.9)
    normal = weighted_auc(y, score, weight=box, limits="delong")
    drawn = weighted_auc(y, score, weight=box, limits="bootstrap", rng=0)
    assert normal.standard_error == pytest.approx(drawn.standard_error, rel=0.1)
    assert (normal.lower, normal.upper) == pytest.approx((drawn.lower, drawn.upper), abs=4e-3)
    noise = np.random.default_rng(0).normal(size=4000)
    pair = compare_rankings(
        y, {"a": score, "b": score + 0.3 * noise}, weight=box, limits="delong"
    ).differences[0]
    assert pair.p_value is not None
    assert pair.upper - pair.lower < normal.upper - normal.lower  # paired rows cancel


def normal_rows(rng, n1, n0, shift, decimals):
    ones, zeros = rng.normal(size=n1) + shift, rng.normal(size=n0)
    if decimals is not None:
        ones, zeros = np.round(ones, decimals), np.round(zeros, decimals)
    return np.arange(n1 + n0) < n1, np.append(ones, zeros)


def true_area(shift, decimals, weight):
    y, score = normal_rows(np.random.default_rng(1), 10**6, 10**6, shift, decimals)
    return weighted_auc(y, score, weight=weight, limits="delong").value


@pytest.mark.slow
@pytest.mark.parametrize("decimals", [None, 0])
@pytest.mark.parametrize(
    ("limits", "weight", "n1", "n0", "least", "runs"),
    [
        ("hinge", Uniform(), 15, 60, 0.95, 200),
        ("nested", FprBand(0, 0.2), 30, 300, 0.95, 200),
        ("smoothed", Uniform(), 10, 200, 0.933, 300),
        ("smoothed", Uniform(), 40, 40, 0.933, 300),
    ],
    ids=str,
)
def test_areas_are_covered(limits, weight, n1, n0, least, runs, decimals):
    """Of 200 runs a coverage of .86 is noticed nine times of ten, of 300 one of .85."""
    rng = np.random.default_rng(7)
    for shift in (0.5, 2.0):
        truth = true_area(shift, decimals, weight)
        held = 0
        for _ in range(runs):
            y, score = normal_rows(rng, n1, n0, shift, decimals)
            r = weighted_auc(y, score, weight=weight, limits=limits)
            held += r.lower <= truth <= r.upper
        assert binomtest(held, runs, least, alternative="less").pvalue > 1e-3


def hidden_rows(rng, n1, n0):
    """1.5 % of the positives look like negatives; the others are far above them."""
    ones = rng.normal(size=n1) + np.where(rng.random(n1) < 0.015, 0.0, 4.4)
    return np.arange(n1 + n0) < n1, np.append(ones, rng.normal(size=n0))


def hidden_area(region):
    """Return the area by quadrature on a fine grid of rates."""
    a, b, c, d = region
    u = np.linspace(a, b, 200_001)[1:]
    at = norm.isf(u)
    roc = 0.985 * norm.sf(at - 4.4) + 0.015 * u
    return float(np.mean(np.clip(roc, c, d) - c) * (b - a))


REGIONS = [
    (Uniform(), (0, 1, 0, 1)),
    (FprBand(0, 0.1), (0, 0.1, 0, 1)),
    (FprBand(0.05, 0.3), (0.05, 0.3, 0, 1)),
    (FprBand(0, 0.3) & TprBand(0.4, 1), (0, 0.3, 0.4, 1)),
]


@pytest.mark.parametrize(("weight", "region"), REGIONS, ids=str)
@pytest.mark.parametrize("n1", [79, 80, 200])
def test_approximate_limits_hold_where_rows_are_unseen(weight, region, n1):
    """They covered .76 here from 80 positives on, and less for partial areas of any size."""
    rng, truth, held, runs = np.random.default_rng(n1), hidden_area(region), 0, 200
    for _ in range(runs):
        y, score = hidden_rows(rng, n1, 400)
        r = weighted_auc(y, score, weight=weight, limits="approximate")
        held += r.lower <= truth <= r.upper
    assert binomtest(held, runs, 0.95, alternative="less").pvalue > 1e-3
