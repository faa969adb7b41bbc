"""Pass, fail, inconclusive."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from karat.audit import Audit, assert_at_least, gate
from karat.exceptions import AuditError, KaratError, SmallSampleWarning
from karat.limits import anytime_mean

few = pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")


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


@few
@pytest.mark.parametrize("k", [2, 3, 6, 7, 10, 11])
@pytest.mark.parametrize("metric", ["accuracy", "macro_f1", "balanced_accuracy"])
def test_an_estimate_lies_within_its_limits(metric, k):
    """The limits of an average over classes are a sum of as many parts, which rounding moves."""
    truth = np.random.default_rng(0).permutation(np.arange(4 * k) % k)
    for called in (truth, np.roll(truth, 1), (truth + 1) % k):
        found = gate(truth, called, 0.5, metric=metric)
        assert found.lower <= found.value <= found.upper


@pytest.mark.parametrize(("n", "wanted"), [(3, 0.8), (20, 0.95), (10, 0.9)])
def test_where_all_are_right_the_number_that_decides_is_told_exactly(n, wanted):
    """The labels to come are known here: all right. One look ahead is 3 % of the labels."""
    every = np.array([0, 1] * 200)
    more = gate(every[:n], every[:n], wanted, metric="accuracy", classes=[0, 1]).more
    status = [gate(every[:m], every[:m], wanted, metric="accuracy").status for m in
              (n + round(0.9 * more), n + round(1.1 * more))]  # fmt: skip
    assert status == ["INCONCLUSIVE", "PASS"]


def test_what_is_said_where_there_is_nothing_to_say():
    audit = Audit(np.array([0, 1] * 50), metric="recall", rng=0)
    empty = audit.gate(0.8)
    assert (empty.status, empty.more) == ("INCONCLUSIVE", None)
    assert empty.summary() == (
        "INCONCLUSIVE: nothing is labelled yet, and recall (positive class 1) of at least 0.8 is "
        "asked for"
    )
    assert "| value | – |" in empty.to_markdown()
    audit.tell(dict.fromkeys(audit.ask(4)["item"], 0))
    with pytest.warns(SmallSampleWarning, match="all 4 labels are 0"):
        undefined = audit.gate(0.8)
    assert "is undefined by these labels" in undefined.summary()
    assert undefined.summary().endswith("label more")
    truth, called = rows(100, 0.9)
    same = gate(truth, called, float(np.mean(truth == called)), metric="accuracy")
    assert same.summary().endswith("so close that no number of labels would decide it soon")


@few
def test_the_gate_of_an_audit_and_of_a_difference(spam):
    audit = Audit(spam.called, metric="accuracy", proba=spam.chance, rng=0)
    audit.tell(spam.labels(audit.ask(60)["item"]))
    result, found = audit.result, audit.gate(0.8)
    assert (found.lower, found.upper) == (result.anytime_lower, result.anytime_upper)
    assert (found.status, found.n_labels) == ("INCONCLUSIVE", 60)
    with pytest.raises(KaratError, match="at_least is 80; expected a number between 0 and 1"):
        audit.gate(80)
    both = Audit(spam.called, metric="accuracy", against=np.roll(spam.called, 1), rng=0)
    both.tell(spam.labels(both.ask(30)["item"]))
    said = both.gate(0.01).summary()
    assert "the difference in accuracy is" in said
    with pytest.raises(KaratError, match="at_least is 2; expected a number between -1 and 1"):
        both.gate(2)


@pytest.mark.parametrize("metric", ["f1", "recall", "precision", "balanced_accuracy", "macro_f1"])
def test_ratios_and_averages(metric):
    truth, called = rows(500, 0.97)
    assert gate(truth, called, 0.8, metric=metric).status == "PASS"


def test_sorted_rows_are_refused_or_shuffled():
    truth, called = rows(300, 0.9)
    order = np.argsort(truth, kind="stable")
    with pytest.raises(AuditError, match=r"look sorted by label: \d+ rows .* stand in 1 runs"):
        gate(truth[order], called[order], 0.8, metric="f1")
    by_right = np.argsort(truth == called, kind="stable")
    with pytest.raises(AuditError, match="sorted by whether the prediction is right"):
        gate(truth[by_right], called[by_right], 0.8, metric="f1")
    assert gate(truth[order], called[order], 0.7, metric="f1", shuffle=True, rng=0).status == "PASS"


def test_two_errors_beside_each_other_are_not_an_order():
    """Of 8 errors among 300 two pairs stand together once in 30 times."""
    truth = np.arange(300) % 2
    wrong = np.isin(np.arange(300), [20, 21, 77, 130, 131, 190, 240, 288])
    assert gate(truth, np.where(wrong, 1 - truth, truth), 0.9, metric="accuracy").status == "PASS"


@pytest.mark.parametrize("errors", [3, 12, 150])
def test_random_orders_are_as_seldom_refused_as_is_said(errors):
    """The law of runs against 4,000 shuffles: both tails of one in fifty agree."""
    rng = np.random.default_rng(errors)
    wrong = np.arange(300) < errors
    runs = [1 + int(np.sum((w := rng.permutation(wrong))[1:] & ~w[:-1])) - (not w[0])
            for _ in range(4000)]  # fmt: skip
    for few_runs in (np.quantile(runs, 0.02), np.median(runs)):
        seen = np.mean(np.array(runs) <= few_runs)
        law = hypergeom(300, 300 - errors + 1, errors).cdf(few_runs)
        assert seen == pytest.approx(law, abs=0.03)
    truth = np.zeros(300, int)
    fewest = next(r for r in range(1, errors + 1)
                  if hypergeom(300, 301 - errors, errors).cdf(r) > 1 / 30_000)  # fmt: skip
    for r, refused in ((fewest, False), (fewest - 1, True)):
        if r < 1:
            continue
        length = errors - r + 1
        at = [*range(length), *range(length + 1, length + 2 * (r - 1), 2)]
        called = truth.copy()
        called[at] = 1
        assert len(at) == errors
        if refused:
            with pytest.raises(AuditError, match="look sorted"):
                gate(truth, called, 0.5, metric="accuracy", classes=[0, 1])
        else:
            gate(truth, called, 0.5, metric="accuracy", classes=[0, 1])


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


def decided_after(truth, called, wanted, metric, start):
    """The number of labels at which the gate decides, by halving: limits never widen."""
    low, high = start, len(truth)
    if gate(truth, called, wanted, metric=metric).status == "INCONCLUSIVE":
        return None
    while high - low > max(2, low // 50):
        middle = (low + high) // 2
        open_ = gate(truth[:middle], called[:middle], wanted, metric=metric).status[0] == "I"
        low, high = (middle, high) if open_ else (low, middle)
    return high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wanted", "metric"), [(0.98, 0.93, "accuracy"), (0.85, 0.7, "f1")]
)
def test_the_foretold_number_is_about_right(right, wanted, metric):
    """12 streams each: half of them decide between a quarter and twice of what was foretold.

    The number rests on an estimate from 60 labels, so single streams differ far more.
    """
    ratios = []
    for seed in range(12):
        truth, called = rows(900, right, 700 + seed)
        now = gate(truth[:60], called[:60], wanted, metric=metric)
        if now.more is not None:
            last = decided_after(truth, called, wanted, metric, 60)
            ratios.append(((last or 900) - 60) / now.more)
    print(f"{metric}: {len(ratios)} open, actual over foretold {np.round(np.sort(ratios), 2)}")
    assert len(ratios) >= 6
    assert 0.25 <= np.median(ratios) <= 2
