"""Pass, fail, inconclusive."""

import numpy as np
import pytest

from karat.audit import assert_at_least, gate
from karat.exceptions import AuditError, KaratError
from karat.limits import anytime_mean


def rows(n, right, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    return truth, np.where(rng.random(n) < right, truth, 1 - truth)


def test_three_states_and_their_codes():
    truth, called = rows(400, 0.95)
    states = [gate(truth, called, v, metric="accuracy") for v in (0.8, 0.95, 0.99)]
    assert [s.status for s in states] == ["PASS", "INCONCLUSIVE", "FAIL"]
    assert [s.exit_code for s in states] == [0, 5, 4]
    assert states[0].more is None
    assert states[1].to_markdown().startswith("### ❔ INCONCLUSIVE: accuracy at least 0.95")


def test_limits_of_accuracy_are_those_of_a_mean():
    truth, called = rows(200, 0.8)
    found = gate(truth, called, 0.5, metric="accuracy")
    mean = anytime_mean((truth == called).astype(float))
    assert (found.lower, found.upper) == pytest.approx((mean.lower, mean.upper), abs=0.02)


def test_the_number_of_labels_that_would_decide_does():
    truth, called = rows(4000, 0.9, 3)
    first = gate(truth[:150], called[:150], 0.83, metric="accuracy")
    assert first.status == "INCONCLUSIVE"
    n = 150 + 2 * first.more
    assert gate(truth[:n], called[:n], 0.83, metric="accuracy").status == "PASS"


@pytest.mark.parametrize("metric", ["f1", "recall", "precision", "balanced_accuracy", "macro_f1"])
def test_ratios_and_averages(metric):
    truth, called = rows(500, 0.97)
    assert gate(truth, called, 0.8, metric=metric).status == "PASS"


def test_sorted_rows_are_refused_or_shuffled():
    truth, called = rows(300, 0.9)
    order = np.argsort(truth, kind="stable")
    with pytest.raises(AuditError, match="look sorted by label: 2 runs"):
        gate(truth[order], called[order], 0.8, metric="f1")
    by_right = np.argsort(truth == called, kind="stable")
    with pytest.raises(AuditError, match="sorted by whether the prediction is right"):
        gate(truth[by_right], called[by_right], 0.8, metric="f1")
    assert gate(truth[order], called[order], 0.7, metric="f1", shuffle=True, rng=0).status == "PASS"


def test_an_assertion_for_tests():
    truth, called = rows(300, 0.97)
    assert_at_least(truth, called, 0.85, metric="f1")
    with pytest.raises(AssertionError, match=r"^FAIL: F1 .* at least 0.999 is asked for"):
        assert_at_least(*rows(300, 0.8), 0.999, metric="f1")


def test_bad_input():
    truth, called = rows(50, 0.9)
    with pytest.raises(KaratError, match="at_least is 80; expected a number between 0 and 1"):
        gate(truth, called, 80, metric="f1")
    with pytest.raises(KaratError, match="MCC has no limits at every look"):
        gate(truth, called, 0.5, metric="mcc")


@pytest.mark.slow
def test_a_pipeline_that_looks_again_and_again_is_seldom_wrong(fails):
    """50 pipelines look at four sizes and stop at the first PASS: they notice .95 against .82."""
    runs, right = 50, 0
    for seed in range(runs):
        truth, called = rows(200, 0.8, 100 + seed)
        looks = (gate(truth[:n], called[:n], 0.8001, metric="accuracy") for n in (40, 80, 140, 200))
        right += all(look.status != "PASS" for look in looks)
    assert not fails(right, runs, 0.95)
