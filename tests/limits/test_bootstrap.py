"""The multiplier bootstrap: its laws, and the limits of known statistics."""

import numpy as np
import pytest
from scipy.stats import binom

from karat.exceptions import DataError, OptionError, WeightError
from karat.limits import bootstrap
from karat.limits.resampling import bootstrap_draws, percentile_limits


def seen(strata, sizes, multipliers, n=2000, seed=0):
    """Return every array of multipliers that the statistic is given."""
    found = []
    bootstrap_draws(
        lambda *drawn: found.append([d.copy() for d in drawn]) or 0.0, strata, sizes,
        multipliers=multipliers, n_resamples=n, rng=np.random.default_rng(seed),
    )  # fmt: skip
    return [np.array(part) for part in zip(*found, strict=True)]


@pytest.mark.parametrize("multipliers", ["multinomial", "gamma"])
def test_multipliers_have_the_moments_of_their_law(multipliers):
    """Cells of 30 and cells of one: both ways of drawing, with the variance of a Dirichlet."""
    few, many = np.array([30.0, 50.0, 20.0]), np.ones(40)
    for cells, drawn in zip((few, many), seen([few, many], [100, 40], multipliers), strict=True):
        n, share = cells.sum(), cells / cells.sum()
        assert drawn.sum(axis=1) == pytest.approx(np.full(len(drawn), n))
        if multipliers == "multinomial":
            assert (drawn == drawn.round()).all()
        spread = n * share * (1 - share) * (1 if multipliers == "multinomial" else n / (n + 1))
        assert drawn.mean(axis=0) == pytest.approx(cells, abs=5 * np.sqrt(spread.max() / 2000))
        assert drawn.var(axis=0).mean() == pytest.approx(spread.mean(), rel=0.1)


def test_quantiles_cut_off_the_error_on_each_side():
    assert percentile_limits(np.arange(101.0), 0.1) == pytest.approx((10.0, 90.0))


@pytest.mark.parametrize("multipliers", ["multinomial", "gamma"])
def test_the_limits_of_a_mean_are_normal_in_large_samples(rng, multipliers):
    x = rng.normal(size=2000)
    found = bootstrap(
        lambda w: w @ x, np.ones(2000), multipliers=multipliers, n_resamples=2000, rng=1
    )
    reach = 1.96 * x.std() / np.sqrt(2000)
    assert found.value == pytest.approx(x.mean())
    assert (found.lower, found.upper) == pytest.approx(
        (x.mean() - reach, x.mean() + reach), abs=0.15 * reach
    )
    assert found.guarantee == "approximate"


def test_cells_are_items_counted(rng):
    x, counts = rng.normal(size=5), np.array([40, 60, 10, 80, 10])
    items = np.repeat(x, counts)
    cells = bootstrap(lambda w: w @ x, counts, n_resamples=4000, rng=0)
    rows = bootstrap(lambda w: w @ items, np.ones(200), n_resamples=4000, rng=1)
    assert cells.value == pytest.approx(rows.value)
    width = rows.width
    assert (cells.lower, cells.upper) == pytest.approx((rows.lower, rows.upper), abs=0.06 * width)


def test_one_side_and_the_seed():
    f1 = lambda w: 2 * w[0] / (2 * w[0] + w[1])  # noqa: E731
    both = bootstrap(f1, [30, 10, 60], confidence=0.9, rng=3)
    assert both == bootstrap(f1, [30, 10, 60], confidence=0.9, rng=3)
    lower = bootstrap(f1, [30, 10, 60], confidence=0.95, side="lower", rng=3)
    assert (lower.lower, lower.upper) == (pytest.approx(both.lower), np.inf)


def test_more_confidence_is_wider():
    found = [bootstrap(lambda w: w[0], [5, 7], confidence=c, rng=0) for c in (0.5, 0.9, 0.99)]
    assert [r.lower for r in found] == sorted((r.lower for r in found), reverse=True)
    assert [r.upper for r in found] == sorted(r.upper for r in found)


def test_limits_are_told_far_out():
    """Of a mean of two values they are those of a binomial number; 1,000 samples stop at .998."""
    found = bootstrap(lambda w: w[0], [40, 60], confidence=0.999, rng=0)
    exact = binom.ppf([0.0005, 0.9995], 100, 0.4) / 100
    assert (found.lower, found.upper) == pytest.approx(tuple(exact), abs=0.011)
    with pytest.raises(OptionError, match=r"confidence is 0.9999; expected at most 0.999 here"):
        bootstrap(lambda w: w[0], [40, 60], confidence=0.9999)
    with pytest.raises(OptionError, match=r"n_resamples is 400; expected at least 2,000"):
        bootstrap(lambda w: w[0], [40, 60], n_resamples=400)


def test_a_ratio_without_denominator_is_refused():
    precision = lambda w: w[0] / (w[0] + w[1]) if w[0] + w[1] > 0 else np.nan  # noqa: E731
    with pytest.raises(DataError, match=r"not a finite number on \d+ of 2000.*'gamma'"):
        bootstrap(precision, [1, 1, 50], rng=0)
    assert 0 < bootstrap(precision, [1, 1, 50], multipliers="gamma", rng=0).lower < 0.5


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"statistic": 3}, OptionError, "statistic is 3"),
        ({"counts": None}, DataError, "counts is None"),
        ({"counts": [1, -2]}, WeightError, "counts row 1 is -2"),
        ({"counts": [0, 0]}, WeightError, "counts is zero in every row"),
        ({"multipliers": "poisson"}, OptionError, "multipliers is 'poisson'"),
        ({"n_resamples": 1.5}, OptionError, "n_resamples is 1.5"),
        ({"confidence": 0}, OptionError, "confidence is 0; expected a number between 0 and 1"),
    ],
)
def test_wrong_input_is_refused(change, error, message):
    good = {"statistic": lambda w: w[0], "counts": [1, 2]}
    with pytest.raises(error, match=message):
        bootstrap(**(good | change))
