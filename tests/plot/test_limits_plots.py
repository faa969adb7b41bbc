import numpy as np
import pytest

from karat.calibration import marginal_calibration_error
from karat.limits import normal_mean, prediction_powered_mean, wilson


def ends(ax):
    """Return the first and the last place of every line."""
    return [
        (line.get_xdata()[0], line.get_xdata()[-1]) for line in ax.lines if len(line.get_xdata())
    ]


def test_limits_are_drawn_where_they_are():
    found = wilson(3, 10)
    drawn = ends(found.plot())
    assert (found.lower, found.upper) in drawn
    assert (found.value, found.value) in drawn


def test_an_infinite_limit_is_left_out():
    drawn = ends(normal_mean([0.3, 0.5], side="lower").plot())
    assert np.isfinite(drawn).all()
    assert ends(normal_mean([0.3]).plot()) == [(0.3, 0.3)]


def test_prediction_powered_limits_are_drawn_beside_those_of_the_labels():
    found = prediction_powered_mean([0, 1, 1, 0, 1], [0.2, 0.9, 0.6, 0.4, 0.7], [0.5])
    drawn = ends(found.plot())
    for limits in (found, found.labels, found.certain):
        assert (limits.lower, limits.upper) in drawn


def test_a_bin_without_any_label_still_has_a_band():
    y, prob = np.zeros((100, 2)), np.full((100, 2), 0.02)
    y[:, 1], prob[:, 1] = np.arange(100) % 2, 0.5
    ax = marginal_calibration_error(y, prob, bins=1).plot()
    bands = [band.get_paths()[0].get_extents() for band in ax.collections]
    heights = sorted((float(b.y0), float(b.y1)) for b in bands)
    assert heights[0] == pytest.approx((0.0, wilson(0, 100).upper))
