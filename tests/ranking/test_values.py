"""Values against scikit-learn, all pairs, and quadrature of the interpolated curve."""

import dataclasses

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from karat.ranking import (
    FprBand,
    FunctionWeight,
    PiecewiseLinear,
    Power,
    TprBand,
    Uniform,
    weighted_auc,
)
from karat.ranking.placements import labelled_scores
from karat.statistics import roc_counts

pytestmark = pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")

# name: the weight, the same as a function of (u, v = 1 − u), and where it breaks
WEIGHTS = {
    "uniform": (Uniform(), lambda u, v: np.ones_like(u), ()),
    "low band": (FprBand(0, 0.1), lambda u, v: (u <= 0.1) * 1.0, (0.1,)),
    "band": (FprBand(0.23, 0.61), lambda u, v: ((u >= 0.23) & (u <= 0.61)) * 1.0, (0.23, 0.61)),
    "high band": (FprBand(0.5, 1), lambda u, v: (u >= 0.5) * 1.0, (0.5,)),
    "power 3": (Power(3), lambda u, v: v**3, ()),
    "power 0.5": (Power(0.5), lambda u, v: np.sqrt(v), ()),
    "power 40.5": (Power(40.5), lambda u, v: v**40.5, ()),
    "ramp": (
        PiecewiseLinear([0, 0.05, 0.1], [1, 1, 0]),
        lambda u, v: np.interp(u, [0, 0.05, 0.1], [1, 1, 0]),
        (0.05, 0.1),
    ),
    "jumps": (
        PiecewiseLinear([0.1, 0.3, 0.3, 0.7], [0.5, 2, 1, 0.2]),
        lambda u, v: (
            np.where(u < 0.3, 0.5 + 7.5 * (u - 0.1), 1 - 2 * (u - 0.3)) * ((u > 0.1) & (u < 0.7))
        ),
        (0.1, 0.3, 0.7),
    ),
    "function": (
        FunctionWeight(lambda u: np.exp(-7 * u), sup=1, lipschitz=7),
        lambda u, v: np.exp(-7 * u),
        (),
    ),
}
DATA = {
    "no ties": (None, None), "ties": (1, None), "many ties": (0, None),
    "whole weights": (1, "frequency"), "fractions": (1, "importance"),
    "fractions, no ties": (None, "importance"),
}  # fmt: skip


def case(rows, name, seed=0, n=150):
    decimals, weighting = DATA[name]
    y, score = rows(seed, n, decimals)
    rng = np.random.default_rng(seed + 100)
    row_weight = {
        None: None,
        "frequency": rng.integers(0, 4, n).astype(float),
        "importance": rng.exponential(size=n),
    }[weighting]
    return y, score, row_weight


@pytest.mark.parametrize("data", DATA)
def test_auc_is_that_of_scikit_learn(rows, data):
    y, score, w = case(rows, data)
    found = weighted_auc(y, score, sample_weight=w).value
    assert found == pytest.approx(roc_auc_score(y, score, sample_weight=w), abs=1e-12)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("high", [0.01, 0.1, 0.37, 1.0])
def test_partial_auc_is_that_of_scikit_learn(rows, data, high):
    y, score, w = case(rows, data, seed=1)
    found = weighted_auc(
        y, score, weight=FprBand(0, high), normalize="mcclish", sample_weight=w
    ).value
    expected = roc_auc_score(y, score, sample_weight=w, max_fpr=high if high < 1 else None)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", WEIGHTS)
def test_interpolated_area_by_quadrature(rows, quadrature, name, data):
    y, score, w = case(rows, data, seed=2, n=60)
    weight, function, breaks = WEIGHTS[name]
    found = weighted_auc(y, score, weight=weight, sample_weight=w).value
    assert found == pytest.approx(quadrature(y, score, function, breaks, w), abs=1e-12)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", WEIGHTS)
def test_strict_area_over_all_pairs(rows, pairwise, name, data):
    y, score, w = case(rows, data, seed=3)
    weight = WEIGHTS[name][0]
    found = weighted_auc(y, score, weight=weight, ties="strict", sample_weight=w).value
    assert found == pytest.approx(pairwise(y, score, weight, w), abs=1e-12)


def test_without_ties_the_two_rules_are_close(rows):
    y, score = rows(4, 2000)
    for weight, _, _ in WEIGHTS.values():
        a, b = (
            weighted_auc(y, score, weight=weight, ties=t).value for t in ("interpolate", "strict")
        )
        assert abs(a - b) <= weight.variation / (~y).sum() + 1e-12


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("low", "high"), [(0.8, 1.0), (0.0, 0.3), (0.31, 0.72)])
def test_tpr_band_is_a_partial_area_of_the_mirror(rows, quadrature, low, high, data):
    """Swap the classes and negate the scores: scikit-learn's curve of that gives the area."""
    y, score, w = case(rows, data, seed=5, n=60)
    found = weighted_auc(y, score, weight=TprBand(low, high), sample_weight=w).value
    a, b = 1 - high, 1 - low
    expected = quadrature(~y, -score, lambda u, v: ((u >= a) & (u <= b)) * 1.0, (a, b), w)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(
    "box", [(0, 0.2, 0.5, 1), (0.1, 0.4, 0.2, 0.7), (0, 1, 0, 1), (0, 1, 0.9, 1)]
)
def test_two_way_area_by_quadrature(rows, box, data):
    """Clip the curve to the box and integrate, with every corner and crossing as a break."""
    from sklearn.metrics import roc_curve

    a, b, c, d = box
    y, score, w = case(rows, data, seed=6, n=60)
    fpr, tpr, _ = roc_curve(y, score, sample_weight=w, drop_intermediate=False)
    expected = 0.0
    for i in range(len(fpr) - 1):
        run, rise = fpr[i + 1] - fpr[i], tpr[i + 1] - tpr[i]
        if run <= 0:
            continue
        cross = [fpr[i] + run * (t - tpr[i]) / rise for t in (c, d) if rise > 0]
        ends = np.unique(np.clip([fpr[i], fpr[i + 1], *cross, a, b], fpr[i], fpr[i + 1]))
        ends = np.unique(np.clip(ends, a, b))
        height = np.clip(tpr[i] + rise * (ends - fpr[i]) / run, c, d) - c
        expected += np.trapezoid(height, ends)
    found = weighted_auc(y, score, weight=FprBand(a, b) & TprBand(c, d), sample_weight=w).value
    assert found == pytest.approx(expected, abs=1e-12)


REGIONS = [
    Uniform(),
    FprBand(0.05, 0.3),
    Power(2),
    TprBand(0.6, 1),
    FprBand(0, 0.3) & TprBand(0.4, 1),
]


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("region", REGIONS, ids=repr)
@pytest.mark.parametrize("normalize", ["raw", "mcclish", "mean"])
def test_counts_are_as_good_as_rows(rows, region, data, normalize):
    y, score, w = case(rows, data, seed=7)
    options = {"weight": region, "normalize": normalize}
    one = weighted_auc(y, score, sample_weight=w, **options)
    other = weighted_auc(roc_counts(y, score, sample_weight=w), **options)
    assert other.value == pytest.approx(one.value, abs=1e-12)
    if not one.approximate:  # counts of importances do not say how many rows there were
        assert (other.lower, other.upper) == pytest.approx((one.lower, one.upper), abs=1e-12)
        assert other.half_width == pytest.approx(one.half_width, abs=1e-12)
    assert other.approximate == one.approximate


@pytest.mark.parametrize("limits", ["delong", "bootstrap", "maurer-pontil"])
def test_counts_are_as_good_as_rows_for_other_limits(rows, limits):
    y, score, w = case(rows, "whole weights", seed=8)
    options = {"weight": FprBand(0, 0.3), "limits": limits, "rng": 0}
    one = weighted_auc(y, score, sample_weight=w, **options)
    other = weighted_auc(roc_counts(y, score, sample_weight=w), **options)
    # Rows and counts part the bootstrap's cells differently, so it draws other samples.
    close = 0.01 if limits == "bootstrap" else 1e-10
    assert (other.lower, other.upper) == pytest.approx((one.lower, one.upper), abs=close)


def test_counts_can_be_added(rows):
    y, score = rows(9, 300, 1)
    parts = [roc_counts(y[i::3], score[i::3]) for i in range(3)]
    assert weighted_auc(sum(parts)) == weighted_auc(roc_counts(y, score))


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_take_another_way_to_the_same_placements(rows, decimals, mirrored, weighted):
    """The compiled loops, which start at 100,000 rows, against the small path on the same rows."""
    y, score = rows(10, 3000, decimals)
    times = np.random.default_rng(10).integers(0, 4, 3000).astype(float) if weighted else None

    def placed(**many):
        scores = labelled_scores(y, score, times, approximate=False, **many)
        return (scores.mirrored() if mirrored else scores).placed(**many)

    few, many = placed(), placed(many=0)
    for field in dataclasses.fields(few):
        np.testing.assert_array_equal(getattr(many, field.name), getattr(few, field.name))


def test_more_rows_than_the_threshold(rows):
    y, score = rows(11, 120_000, 3)
    expected = roc_auc_score(y, score)
    assert weighted_auc(y, score).value == pytest.approx(expected, abs=1e-12)
    read_only = score.copy()
    read_only.flags.writeable = False
    assert weighted_auc(y.astype(int), read_only[::-1][::-1]).value == pytest.approx(expected)
    found = weighted_auc(y, score, weight=FprBand(0, 0.1), normalize="mcclish").value
    assert found == pytest.approx(roc_auc_score(y, score, max_fpr=0.1), abs=1e-12)


def test_the_data_stay_as_they_were(rows):
    y, score = rows(12, 500)
    before = y.copy(), score.copy()
    weighted_auc(y, score, weight=TprBand(0.5, 1))
    assert (y == before[0]).all()
    assert (score == before[1]).all()


def test_perfect_wrong_and_constant_scores():
    y = np.array([0, 0, 1, 1, 1])
    for region in (*REGIONS, *(w for w, _, _ in WEIGHTS.values())):
        perfect, constant = (
            weighted_auc(y, s, weight=region).value for s in (y * 1.0, np.zeros(5))
        )
        assert perfect == pytest.approx(region.area, abs=1e-12)
        assert constant == pytest.approx(region.chance, abs=1e-12)
        for scale, chance, best in (("mcclish", 0.5, 1.0), ("mean", None, 1.0)):
            found = [
                weighted_auc(y, s, weight=region, normalize=scale).value for s in (y, np.ones(5))
            ]
            assert found[0] == pytest.approx(best)
            assert found[1] == pytest.approx(
                region.chance / region.area if chance is None else chance
            )
        # A ranking upside down has roc = 0 until u = 1.
        assert weighted_auc(y, -y, weight=region).value == pytest.approx(0, abs=1e-12)
    assert weighted_auc(y, -y, ties="strict").value == 0


def test_strict_gives_nothing_for_ties():
    assert weighted_auc([0, 1], [1, 1], ties="strict").value == 0
    assert weighted_auc([0, 1], [1, 1]).value == 0.5


def test_several_classes_are_each_against_the_rest(rng):
    y = rng.integers(0, 3, 200)
    scores = rng.normal(size=(200, 3)) + np.eye(3)[y]
    found = weighted_auc(y, scores)
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    by_sklearn = roc_auc_score(y, proba, multi_class="ovr", average="macro")
    assert weighted_auc(y, proba).value == pytest.approx(by_sklearn, abs=1e-12)
    for k in range(3):
        alone = weighted_auc(y == k, scores[:, k], confidence=1 - 0.05 / 3)
        part = found.per_class[k]
        assert (part.value, part.lower, part.upper) == pytest.approx(
            (alone.value, alone.lower, alone.upper)
        )
    for name in ("value", "lower", "upper"):
        mean = np.mean([getattr(p, name) for p in found.per_class.values()])
        assert getattr(found, name) == pytest.approx(mean)


def test_columns_named_after_classes_are_put_in_order(rng):
    import pandas as pd

    y = np.array(["cat", "dog", "emu"])[rng.integers(0, 3, 90)]
    scores = pd.DataFrame({k: rng.normal(size=90) + 2.0 * (y == k) for k in ("emu", "cat", "dog")})
    named = weighted_auc(y, scores)
    ordered = weighted_auc(y, scores[["cat", "dog", "emu"]].to_numpy())
    assert named == ordered
    assert named.value > 0.8
    again = weighted_auc(y, scores.to_numpy(), classes=["emu", "cat", "dog"])
    assert again.value == pytest.approx(named.value)


def test_groups_are_what_separate_calls_give(rows):
    y, score = rows(13, 400, 1)
    groups = np.array(["a", "b"])[np.arange(400) % 2]
    whole = weighted_auc(y, score, weight=FprBand(0, 0.5), groups=groups)
    assert whole.value == weighted_auc(y, score, weight=FprBand(0, 0.5)).value
    assert whole.confidence == 0.95
    for name in "ab":
        here = groups == name
        alone = weighted_auc(y[here], score[here], weight=FprBand(0, 0.5), confidence=0.975)
        assert whole.groups[name] == alone
    value, lower, upper = whole.gap.value, whole.gap.lower, whole.gap.upper
    a, b = whole.groups["a"], whole.groups["b"]
    assert value == pytest.approx(abs(a.value - b.value))
    assert lower <= value <= upper
    assert upper == pytest.approx(max(a.upper - b.lower, b.upper - a.lower))


def test_the_curve_joins_the_corners(rows):
    from sklearn.metrics import roc_curve

    y, score = rows(14, 300, 1)
    r = weighted_auc(y, score)
    assert (r.fpr[0], r.tpr[0], r.fpr[-1], r.tpr[-1]) == (0, 0, 1, 1)
    assert (np.diff(r.fpr) >= 0).all()
    assert (np.diff(r.tpr) >= 0).all()
    fpr, tpr, _ = roc_curve(y, score)
    u = np.linspace(0.0013, 0.9987, 500)  # between the steps, where a curve has one height
    assert np.interp(u, r.fpr, r.tpr) == pytest.approx(np.interp(u, fpr, tpr), abs=1e-12)
    mirror = weighted_auc(y, score, weight=TprBand(0.5, 1))
    assert np.interp(u, mirror.fpr, mirror.tpr) == pytest.approx(np.interp(u, fpr, tpr), abs=1e-12)


def test_the_curve_of_many_rows_keeps_to_the_curve(rows):
    from sklearn.metrics import roc_curve

    y, score = rows(15, 20_000, share=0.5)
    r = weighted_auc(y, score)
    assert len(r.fpr) < 2000
    fpr, tpr, _ = roc_curve(y, score, drop_intermediate=False)
    truth = set(zip(fpr.round(9).tolist(), tpr.round(9).tolist(), strict=True))
    seen = zip(r.fpr.round(9).tolist(), r.tpr.round(9).tolist(), strict=True)
    assert all(point in truth for point in seen)
    u = np.geomspace(1e-4, 1, 300)
    assert np.abs(np.interp(u, r.fpr, r.tpr) - np.interp(u, fpr, tpr)).max() < 0.01
