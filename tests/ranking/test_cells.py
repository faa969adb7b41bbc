"""Scores that were counted in cells, and positives that are taken a block at a time."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karat
from karat.exceptions import OptionError
from karat.ranking import (
    FprBand,
    PiecewiseLinear,
    Power,
    TprBand,
    Uniform,
    Weight,
    weighted_auc,
)
from karat.ranking.areas import area, area_and_limits, enclosure, limits_in_bands, strict_area
from karat.ranking.methods import bands_of
from karat.ranking.placements import labelled_scores
from karat.statistics import roc_counts

REGIONS = [
    Uniform(),
    FprBand(0, 0.1),
    FprBand(0.2, 0.7),
    Power(3),
    PiecewiseLinear([0, 0.4, 0.4, 0.8], [1, 2, 0.5, 0]),
    TprBand(0.6, 1),
]
each = pytest.mark.parametrize("region", REGIONS, ids=repr)


def in_cells(counts):
    return replace(counts, cells=True)


@each
@pytest.mark.parametrize("normalize", ["raw", "mcclish"])
def test_limits_hold_for_every_order_inside_the_cells(rows, region, normalize):
    y, score = rows(0, 1000)
    options = {"weight": region, "normalize": normalize}
    found = weighted_auc(in_cells(roc_counts(y, np.floor(3 * score))), **options)
    low, high = found.value_range
    assert found.lower <= low <= found.value <= high <= found.upper
    rng = np.random.default_rng(0)
    for hidden in (score, np.floor(3 * score), np.floor(3 * score) + rng.random(1000)):
        inside = weighted_auc(y, hidden, limits=found.method, **options)
        assert low - 1e-12 <= inside.value <= high + 1e-12
        assert found.lower <= inside.lower + 1e-12
        assert found.upper >= inside.upper - 1e-12
    # The ends are reached: by the orders that put all positives of a cell first, or last.
    for sign, end in ((-1, low), (1, high)):
        extreme = weighted_auc(y, np.floor(3 * score) + sign * 0.1 * y, **options)
        assert extreme.value == pytest.approx(end, abs=1e-12)


def test_finer_cells_hide_less(rows):
    y, score = rows(1, 2000)
    ranges = []
    for cells in (10, 100, 100_000):
        data = karat.scan(pl.LazyFrame({"y": y, "s": score})).roles(label="y", score="s")
        counts = data.roc_counts(cells=cells)
        low, high = weighted_auc(counts).value_range
        assert low <= weighted_auc(y, score).value <= high
        ranges.append(high - low)
    assert ranges == sorted(ranges, reverse=True)
    assert ranges[-1] < 1e-3


def test_cells_know_one_method(rows):
    counts = roc_counts(*rows(2, 500, 1))
    box = FprBand(0, 0.5) & TprBand(0.2, 1)
    for options, says in (
        (
            {"limits": "delong"},
            "limits is 'delong'; expected 'auto' or 'dkw' for scores in cells",
        ),
        ({"weight": box}, "expected a Weight or a TprBand for scores in cells"),
    ):
        with pytest.raises(OptionError, match=says):
            weighted_auc(in_cells(counts), **options)
    assert weighted_auc(counts).value_range is None


@pytest.mark.parametrize("weight", [r for r in REGIONS if isinstance(r, Weight)], ids=repr)
@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_do_not_matter(rows, weight, decimals, weighted):
    y, score = rows(3, 600, decimals)
    times = np.random.default_rng(3).integers(0, 4, 600).astype(float) if weighted else None
    placed = labelled_scores(y, score, times, approximate=False).placed()
    bands = bands_of("dkw", placed, 0.05)
    for sums in (
        lambda **block: area(placed, weight, **block),
        lambda **block: area_and_limits(placed, weight, 0.1, 0.05, **block),
        lambda **block: limits_in_bands(placed, weight, *bands, **block),
        lambda **block: enclosure(placed, weight, **block),
        lambda **block: strict_area(placed, weight, **block),
    ):
        assert sums(block=7) == pytest.approx(sums(), abs=1e-12)
