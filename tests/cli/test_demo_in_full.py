"""One seed of ``karat demo`` in full: every interval beside the truth that was hidden."""

import warnings

import numpy as np
import pytest

from karat.cli.demo import PARTS, train_models

SEED = 1  # the page has 0; reproductions/demo_intervals.py counts twenty


@pytest.fixture(scope="module")
def demo():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of contradictions: the simulated people slip
        models = train_models(SEED)
        return models, [part for make in PARTS for part in make(models, SEED)]


@pytest.mark.slow
def test_truths_are_inside_the_intervals(demo):
    """Each promises 95 %; 20 of 24 would be too few in 1 of 30 cases, were they independent."""
    intervals = [i for part in demo[1] if not part.conditional for i in part.intervals]
    assert len(intervals) == 24
    assert sum(i.holds for i in intervals) >= 21


@pytest.mark.slow
def test_truths_are_true(demo):
    models, parts = demo
    shown = {i.what: i.truth for part in parts for i in part.intervals}
    for name in models.scores:
        right = np.mean(models.predict(name) == models.y_true)
        assert shown[f"accuracy of {name}"] == pytest.approx(right)
        assert shown[f"error rate of {name}"] == pytest.approx(1 - right)
        ill = models.y_true == "malignant"
        found = np.mean(models.predict(name)[ill] == "malignant")
        assert shown[f"recall of {name}"] == pytest.approx(found)


@pytest.mark.slow
def test_what_no_label_tested_is_not_promised(demo):
    (part,) = (part for part in demo[1] if part.conditional)
    assert part.verdict.badge == "unknown"
    assert "not known" in part.verdict.sentence
    missed = [i for i in part.intervals if not i.holds]
    assert ("Here they do" in part.section.answer) == bool(missed)
