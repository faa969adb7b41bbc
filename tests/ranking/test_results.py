"""Results: frozen, plain, equal, stored, and drawn."""

import copy
import dataclasses
import json
import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest

from karat.exceptions import DataError
from karat.ranking import (
    FiniteFamily,
    FprBand,
    GaussianComplexity,
    PiecewiseLinear,
    Power,
    TprBand,
    Uniform,
    compare_rankings,
    roc_at,
    uniform_margin,
    weighted_auc,
)
from karat.statistics import roc_counts

pytestmark = pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")
RNG = np.random.default_rng(0)
Y = RNG.random(300) < 0.4
S = (RNG.normal(size=300) + Y).round(1)
MANY = np.arange(300) % 3
SCORES = RNG.normal(size=(300, 3)) + np.eye(3)[MANY]
FAMILY = {"family": FiniteFamily(5), "weight": Power(2)}

RESULTS = {
    "auc": lambda: weighted_auc(Y, S),
    "low band": lambda: weighted_auc(Y, S, weight=FprBand(0, 0.05), limits="delong"),
    "band": lambda: weighted_auc(Y, S, weight=FprBand(0.2, 0.6), normalize="mcclish"),
    "knots": lambda: weighted_auc(Y, S, weight=PiecewiseLinear([0, 0.5], [1, 0]), ties="strict"),
    "tpr band": lambda: weighted_auc(Y, S, weight=TprBand(0.5, 1), normalize="mean"),
    "box": lambda: weighted_auc(
        Y, S, weight=FprBand(0, 0.1) & TprBand(0.2, 1), limits="bootstrap", rng=0
    ),
    "theorem 2": lambda: weighted_auc(Y, S, limits="maurer-pontil"),
    "weighted": lambda: weighted_auc(Y, S, sample_weight=np.linspace(0.1, 1, 300)),
    "one positive": lambda: weighted_auc(S.max() == S, S, limits="delong"),
    "groups": lambda: weighted_auc(Y, S, groups=np.array(["$a$", "b_1"])[MANY % 2]),
    "classes": lambda: weighted_auc(MANY, SCORES),
    "counts": lambda: weighted_auc(roc_counts(Y, S)),
    "models": lambda: compare_rankings(Y, {"a": S, "b": -S, "c": S**2}, weight=FprBand(0, 0.1)),
    "models of a tpr band": lambda: compare_rankings(Y, {"a": S, "b": -S}, weight=TprBand(0.2, 1)),
    "models of a box": lambda: compare_rankings(
        Y, {"a": S, "b": -S}, weight=FprBand(0, 0.5) & TprBand(0.2, 1)
    ),
    "difference": lambda: compare_rankings(Y, {"a": S, "b": -S}).differences[0],
    "point": lambda: roc_at(Y, S, fpr=0.1),
    "point at 0": lambda: roc_at(Y, S, fpr=0.0),
    "margin": lambda: uniform_margin(100, 200, **FAMILY),
    "no margin": lambda: uniform_margin(
        10, 1000, family=GaussianComplexity(1.0), weight=Uniform()
    ),
}  # fmt: skip
each = pytest.mark.parametrize("name", RESULTS)


@each
def test_frozen(name):
    result = RESULTS[name]()
    for field in dataclasses.fields(result):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
            setattr(result, field.name, None)
        value = getattr(result, field.name)
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0


@each
def test_plain_equal_and_stored(name):
    result, again = RESULTS[name](), RESULTS[name]()
    assert result == again
    assert hash(result) == hash(again)
    assert pickle.loads(pickle.dumps(result)) == result
    assert copy.deepcopy(result) == result
    text = json.dumps(result.to_dict(), allow_nan=False)
    assert json.loads(text) == json.loads(json.dumps(again.to_dict()))
    assert result.summary() in repr(result)
    assert result._repr_html_().startswith("<div>")
    assert "nan" not in result.summary()


@each
def test_drawn(name):
    result = RESULTS[name]()
    before = json.dumps(result.to_dict())
    ax = result.plot()
    assert ax.get_figure() is not None
    ax.get_figure().canvas.draw()
    _, mine = plt.subplots()
    assert result.plot(mine) is mine
    assert json.dumps(result.to_dict()) == before
    plt.close("all")


def test_different_results_differ():
    one = weighted_auc(Y, S)
    assert one != weighted_auc(Y, S, confidence=0.9)
    assert one != weighted_auc(Y, -S)
    assert one != 3


def test_summaries_are_true():
    r = weighted_auc(Y, S, weight=FprBand(0, 0.1))
    for part in (
        f"{r.value:.4f}",
        f"{r.lower:.4f}",
        f"{r.upper:.4f}",
        "95 %",
        "distribution-free limits by",
    ):
        assert part in r.summary()
    assert f"{Y.sum()} rows of True, the positive class" in r.summary()
    assert "of at most 0.1, a mean true-positive rate of" in r.summary()
    assert "below" not in r.summary()
    assert "is True the positive class" in weighted_auc(Y, -S).summary()
    assert "approximate" in RESULTS["weighted"]().summary()
    assert "distribution-free" not in RESULTS["weighted"]().summary()
    assert "gap" in RESULTS["groups"]().summary()
    assert "3 classes" in RESULTS["classes"]().summary()
    models = RESULTS["models"]()
    assert "95 %" in models.summary()
    assert models.best in models.summary()
    assert "McClish" in RESULTS["band"]().title
    point = RESULTS["point"]()
    assert f"{point.value:.4f}" in point.summary()
    assert "within" in RESULTS["margin"]().summary()


def test_the_table_shows_parts():
    rows = dict(RESULTS["groups"]()._table())
    assert {"value", "limits", "$a$", "b_1"} <= set(rows)
    assert "standard error" in dict(RESULTS["low band"]()._table())


def test_the_picture_shows_the_curve_and_what_counts():
    ax = RESULTS["auc"]().plot()
    assert ax.get_xlabel() == "false-positive rate"
    assert ax.get_xscale() == "linear"
    line = ax.lines[0].get_xydata()
    assert line[0].tolist() == [0, 0]
    assert line[-1].tolist() == [1, 1]
    assert RESULTS["low band"]().plot().get_xscale() == "log"
    labels = [t.get_text() for t in RESULTS["groups"]().plot().get_yticklabels()]
    assert len(labels) == 3
    assert len(RESULTS["models"]().plot().lines) >= 3
    plt.close("all")


def test_gap_is_for_groups_only():
    assert RESULTS["auc"]().gap is None
    gap = RESULTS["groups"]().gap
    value, lower, upper = gap.value, gap.lower, gap.upper
    assert 0 <= lower <= value <= upper


def test_a_comparison_has_a_number_with_limits_for_each_model():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 80)
    found = compare_rankings(y, {"a": y + rng.normal(size=80), "b": rng.normal(size=80)})
    table = found.to_frame()
    for column in ("value", "lower", "upper"):
        assert getattr(found, column).tolist() == table[column].to_list()
    with pytest.raises(DataError, match="no single value; read"):
        float(found)
