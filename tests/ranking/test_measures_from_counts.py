"""Measures of a ranking from counts are those of the rows that were counted."""

from dataclasses import replace

import numpy as np
import pytest

from karat import ranking
from karat.exceptions import DataError, LabelError, OptionError, ScoreError
from karat.ranking import roc_at, roc_auc, weighted_auc
from karat.ranking.weights import FprBand
from karat.statistics import roc_counts

CUTS = {
    "average_precision": {},
    "precision_at": {"share": 0.2},
    "recall_at": {"k": 30},
    "lift": {"share": 0.1},
    "net_benefit": {"threshold": 0.4},
    "cost_curve": {"at": 0.3},
    "roc_at": {"fpr": 0.2},
}


def drawn(seed, n=400):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    score = (1 / (1 + np.exp(-rng.normal(size=n) - 1.5 * y))).round(2)
    return y, score, rng.integers(1, 4, n).astype(float)


def numbers(r):
    found = [r.value, r.lower, r.upper, r.n_positive, r.n_negative]
    curve = getattr(r, "curve_y", r.band_lower if hasattr(r, "band_lower") else None)
    return [*found, *(np.nan_to_num(curve) if curve is not None else [])]


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.parametrize("weighting", [None, "frequency", "importance"])
def test_counts_give_the_numbers_of_the_rows(name, weighting):
    y, score, weight = drawn(0)
    cut = {"share": 0.1} if name == "recall_at" and weighting == "importance" else CUTS[name]
    given = {} if weighting is None else {"sample_weight": weight, "weighting": weighting}
    function = getattr(ranking, name)
    rows = function(y, score, **cut, **given)
    counted = function(roc_counts(y, score, **given), **cut)
    assert numbers(counted) == pytest.approx(numbers(rows), abs=1e-9)
    assert (counted.method, counted.basis) == (rows.method, rows.basis)
    parts = [roc_counts(y[i::2], score[i::2]) for i in (0, 1)]
    if weighting is None:
        assert numbers(function(sum(parts), **cut)) == pytest.approx(numbers(rows), abs=1e-9)


@pytest.mark.parametrize("name", [name for name in CUTS if name != "roc_at"])
def test_counts_by_group_are_groups(name):
    y, score, _ = drawn(1)
    groups = np.array(["a", "b"])[np.arange(400) % 2]
    counts = {g: roc_counts(y[groups == g], score[groups == g]) for g in "ab"}
    counts["none"] = roc_counts([0, 0], [0.2, 0.3], classes=[False, True])
    function = getattr(ranking, name)
    rows = function(np.append(y, [False, False]), np.append(score, [0.2, 0.3]), **CUTS[name])
    apart = function(y, score, groups=groups, **CUTS[name])
    found = function(counts, **CUTS[name])
    assert numbers(found) == pytest.approx(numbers(rows), abs=1e-9)
    assert found.skipped == {"none": "its 2 rows are all of class False"}
    for g in "ab":
        assert numbers(found.groups[g]) == pytest.approx(numbers(apart.groups[g]), abs=1e-9)


def test_what_counts_cannot_answer_is_said():
    y, score, weight = drawn(2)
    counts = roc_counts(y, score)
    for name, cut in CUTS.items():
        function = getattr(ranking, name)
        for call, error, message in (
            (lambda f=function, c=cut: f(replace(counts, cells=True), **c), DataError, "in cells"),
            (lambda f=function, c=cut: f(counts, pos_label=True, **c), OptionError, "pos_label is"),
            (lambda f=function, c=cut: f(counts, score, **c), DataError, "leave out y_score"),
            (lambda f=function, c=cut: f(y, **c), DataError, "y_score is missing"),
            (
                lambda f=function, c=cut: f(roc_counts([1, 1], [0.1, 0.2], classes=[0, 1]), **c),
                LabelError,
                "one class only",
            ),
        ):
            with pytest.raises(error, match=message):
                call()
    with pytest.raises(ScoreError, match="scores from 0 to 2"):
        ranking.net_benefit(roc_counts(y, 2 * (score > 0.5)), threshold=0.4)
    with pytest.raises(OptionError, match="k is 9 and the weights"):
        ranking.lift(roc_counts(y, score, sample_weight=weight), k=9)
    with pytest.raises(DataError, match="counts by name; expected those of one"):
        roc_at({"a": counts}, fpr=0.1)


def test_the_usual_area_is_a_weighted_one():
    y, score, weight = drawn(3)
    assert roc_auc(y, score) == weighted_auc(y, score)
    options = {"limits": "delong", "sample_weight": weight, "confidence": 0.9}
    mean = {"weight": FprBand(0, 0.2), "normalize": "mean"}
    part = roc_auc(y, score, max_fpr=0.2, **options)
    assert part == weighted_auc(y, score, **mean, **options)
    assert roc_auc(y, y.astype(float), max_fpr=0.2).value == pytest.approx(1)
    counted, rows = (roc_auc(*d, max_fpr=0.2) for d in ((roc_counts(y, score),), (y, score)))
    assert numbers(counted)[:5] == pytest.approx(numbers(rows)[:5], abs=1e-12)
    with pytest.raises(OptionError, match="max_fpr is 0; expected"):
        roc_auc(y, score, max_fpr=0)
