"""Margins that hold for all models of a class."""

import math

import numpy as np
import pytest
from scipy.special import comb
from scipy.stats import norm, rankdata

from karat.exceptions import DataError, OptionError
from karat.ranking import (
    FiniteFamily,
    FprBand,
    FunctionWeight,
    GaussianComplexity,
    LinearScores,
    PiecewiseLinear,
    Power,
    Uniform,
    uniform_margin,
    weighted_auc,
)
from karat.ranking._uniform_margin import half_space_margin


@pytest.mark.parametrize("weight", [Uniform(), FprBand(0, 0.1), Power(4)], ids=repr)
def test_finite_families_by_hand(weight):
    r = uniform_margin(3000, 20_000, family=FiniteFamily(50), weight=weight, confidence=0.9)
    e1, e0 = (math.sqrt(math.log(4 * 50 / 0.1) / (2 * n)) for n in (3000, 20_000))
    assert r.margin == pytest.approx(weight.area * e1 + weight.sup * e0)
    assert r.holds
    assert r.confidence == 0.9
    alone = uniform_margin(3000, 20_000, family=FiniteFamily(1), weight=weight)
    rng = np.random.default_rng(0)
    y = np.arange(23_000) < 3000
    measured = weighted_auc(y, rng.normal(size=23_000), weight=weight, limits="dkw")
    assert alone.margin == pytest.approx(measured.half_width)


@pytest.mark.parametrize("n", [50, 2000, 10**6])
@pytest.mark.parametrize("dim", [1, 2, 7])
def test_half_spaces_solve_devroyes_inequality(n, dim):
    e = half_space_margin(n, dim, 0.05)
    if n == 50:
        assert e <= 1
        return
    parts = sum(comb(n * n - 1, k, exact=True) for k in range(dim + 1))
    log_bound = math.log(4 * 2) + math.log(parts) + 4 * e + 4 * e * e - 2 * n * e * e
    assert log_bound == pytest.approx(math.log(0.05), abs=1e-6)


def test_half_spaces_keep_their_digits_for_many_rows():
    for n in (10**8, 10**9):
        e = half_space_margin(n, 3, 0.05)
        parts = sum(comb(n * n - 1, k, exact=True) for k in range(4))
        need = math.log(8 / 0.05) + math.log(parts)
        assert e == pytest.approx(math.sqrt(need / (2 * n)), rel=1e-3)


def test_linear_scores_by_hand():
    r = uniform_margin(10_000, 40_000, family=LinearScores(5), weight=FprBand(0, 0.2))
    e0, e1 = (half_space_margin(n, 5, 0.025) for n in (40_000, 10_000))
    assert r.margin == pytest.approx(0.2 * e1 + e0)


@pytest.mark.parametrize("weight", [Uniform(), Power(2), FprBand(0, 0.3)], ids=repr)
def test_larger_classes_have_wider_margins_and_more_rows_narrower(weight):
    families = [
        [FiniteFamily(k) for k in (1, 2, 100, 10**9)],
        [LinearScores(k) for k in (1, 2, 20, 500)],
        [GaussianComplexity(k) for k in (0.0, 1.0, 1e3)],
    ]
    for kin in families:
        found = [uniform_margin(10**6, 10**6, family=f, weight=weight).margin for f in kin]
        assert found == sorted(found)
        assert len(set(found)) == len(found)
        rows = [uniform_margin(n, n, family=kin[1], weight=weight).margin for n in (10**5, 10**6)]
        assert rows[1] < rows[0]
        sure = [
            uniform_margin(10**6, 10**6, family=kin[1], weight=weight, confidence=c).margin
            for c in (0.5, 0.99)
        ]
        assert sure[0] < sure[1]


def by_theorem_3(n1, n0, lipschitz, sup, complexity, delta, slope):
    n = n1 + n0
    p0, p1 = n0 / n, n1 / n
    first = 8 * math.sqrt(2 * math.pi) * slope * (sup + lipschitz) / (p0**2 * p1) * complexity / n
    second = (lipschitz + 10 * sup) / min(p0, p1) ** 2 * math.sqrt(4 * math.log(16 * n / delta) / n)
    return first + second


def test_theorem_3_by_hand():
    r = uniform_margin(
        30_000, 70_000, family=GaussianComplexity(900.0), weight=Power(3), confidence=0.9,
        loss_lipschitz=2.0,
    )  # fmt: skip
    assert r.margin == pytest.approx(by_theorem_3(30_000, 70_000, 3, 1, 900.0, 0.1, 2.0))
    assert "vacuous" in r.summary()
    # A class that is larger through its features only: twice the complexity, twice the first term.
    twice = uniform_margin(
        30_000, 70_000, family=GaussianComplexity(1800.0), weight=Power(3), confidence=0.9,
        loss_lipschitz=2.0,
    )  # fmt: skip
    none = by_theorem_3(30_000, 70_000, 3, 1, 0.0, 0.1, 2.0)
    assert twice.margin - none == pytest.approx(2 * (r.margin - none))


def test_corollary_4_puts_a_step_above_a_ramp():
    n, band = 10**9, FprBand(0, 0.3)
    r = uniform_margin(n, n, family=GaussianComplexity(100.0), weight=band)
    options = []
    for width in np.geomspace(1e-4, 0.3, 60):  # no ramp is much better than the one it takes
        ramp = band.sandwich(width).below
        bound = by_theorem_3(n, n, ramp.lipschitz, 1, 100.0, 0.05, 1.0)
        options.append(bound + band.area - ramp.area)
    assert min(options) * 0.999 <= r.margin <= 1.01 * min(options)


def test_theorem_3_is_silent_when_a_class_is_too_rare():
    r = uniform_margin(30, 3000, family=GaussianComplexity(1.0), weight=Uniform())
    assert not r.holds
    assert r.margin == math.inf
    assert "too rare" in r.summary()
    assert r.to_dict()["margin"] is None


def test_complexities_bound_what_is_simulated():
    """``E sup Σ γᵢ w·xᵢ`` over a ball is the mean norm of Σ γᵢ xᵢ, which is below the bound."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(80, 4))
    bound = GaussianComplexity.of_linear(x, radius=3.0).value
    assert bound == pytest.approx(3 * math.sqrt((x**2).sum()))
    seen = 3 * np.linalg.norm(rng.normal(size=(20_000, 80)) @ x, axis=1).mean()
    assert 0.85 * bound < seen < bound
    assert GaussianComplexity.of_kernel((x**2).sum(axis=1), radius=3.0).value == pytest.approx(
        bound
    )


def test_what_is_no_class_of_models():
    good = {"family": FiniteFamily(3), "weight": Uniform()}
    for wrong, message in (
        ({"family": 3}, "family is 3"),
        ({"weight": "auc"}, "weight is 'auc'"),
        ({"confidence": 1.0}, "confidence is 1.0"),
        ({"loss_lipschitz": -1.0}, "loss_lipschitz"),
    ):
        with pytest.raises(OptionError, match=message):
            uniform_margin(100, 100, **(good | wrong))
    with pytest.raises(OptionError, match="n_positive is 0"):
        uniform_margin(0, 100, **good)
    for make in (
        lambda: FiniteFamily(0), lambda: FiniteFamily(2.5), lambda: LinearScores(-1),
        lambda: LinearScores("two"), lambda: GaussianComplexity(-1.0),
        lambda: GaussianComplexity(math.nan),
        lambda: GaussianComplexity.of_linear([[1]], radius=-1),
    ):  # fmt: skip
        with pytest.raises(OptionError):
            make()
    with pytest.raises(DataError, match="diagonal holds a negative number"):
        GaussianComplexity.of_kernel([1.0, -2.0], radius=1)
    with pytest.raises(DataError):
        GaussianComplexity.of_linear([["a"]], radius=1)
    with pytest.raises(OptionError, match="Lipschitz"):
        uniform_margin(
            10**6, 10**6, family=GaussianComplexity(1.0),
            weight=FunctionWeight(lambda u: 1.0 * (u < 0.5), sup=1),
        )  # fmt: skip
    with pytest.raises(OptionError, match="Lipschitz"):
        uniform_margin(
            10**6, 10**6, family=GaussianComplexity(1.0), weight=PiecewiseLinear([0, 0.5], [1, 1])
        )


@pytest.mark.slow
@pytest.mark.parametrize("dim", [1, 2])
def test_the_half_space_margin_covers_every_direction(dim, capsys):
    """Draw normal rows, look at many directions, and take the worst error of the area."""
    rng = np.random.default_rng(2)
    runs, n = 60, 2000
    turn = np.linspace(0, 2 * np.pi, 2 if dim == 1 else 36, endpoint=False)
    directions = np.column_stack([np.cos(turn), np.sin(turn)])[:, :dim].round(12)
    shift = np.array([1.0, 0.5])[:dim]
    margin = uniform_margin(n, n, family=LinearScores(dim), weight=Uniform()).margin
    worst = []
    y = np.arange(2 * n) < n
    true = norm.cdf(directions @ shift / math.sqrt(2) / np.linalg.norm(directions, axis=1))
    for _ in range(runs):
        x = rng.normal(size=(2 * n, dim)) + y[:, None] * shift
        ranks = rankdata(x @ directions.T, axis=0)  # Mann and Whitney: the area of each direction
        areas = (ranks[y].mean(axis=0) - (n + 1) / 2) / n
        worst.append(np.abs(areas - true).max())
    assert areas[-1] == pytest.approx(weighted_auc(y, x @ directions[-1]).value)
    with capsys.disabled():
        print(f"\nhalf-spaces, dim {dim}: margin {margin:.3f}, worst error {max(worst):.3f}")
    assert (np.array(worst) <= margin).all()
    assert margin < 0.2  # and not idle
