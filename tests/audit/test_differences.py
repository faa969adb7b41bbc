"""Is A better than B: labels where they disagree."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from karat.audit import Audit, best_of_many
from karat.exceptions import KaratError
from karat.limits.kernels import hypergeometric_limits
from karat.metrics import as_metric, cost_matrix


@pytest.fixture(scope="module")
def two(spam):
    rng = np.random.default_rng(1)
    other = np.where(rng.random(3000) < 0.08, np.where(spam.called == "ham", "spam", "ham"),
                     spam.called)  # fmt: skip
    return spam.called, other


def test_only_disagreements_are_asked_for(spam, two):
    audit = Audit(two[0], metric="accuracy", against=two[1], rng=0)
    items = audit.ask(40)["item"].to_numpy()
    assert (two[0][items] != two[1][items]).all()
    audit.tell(spam.labels(items))
    apart = int((two[0] != two[1]).sum())
    won = int((two[0][items] == spam.truth[items]).sum())
    low, high = hypergeometric_limits(won, 40, apart, 0.025)
    share = apart / 3000
    result = audit.result
    assert result.estimate == pytest.approx(share * (2 * won / 40 - 1))
    assert (result.lower, result.upper) == pytest.approx(
        (share * (2 * low - 1), share * (2 * high - 1))
    )
    assert result.anytime_lower <= result.lower


def test_all_disagreements_give_the_difference_itself(spam, two):
    for metric in ("accuracy", cost_matrix([[0, 1], [5, 0]])):
        audit = Audit(two[0], metric=metric, against=two[1], rng=0)
        apart = int((two[0] != two[1]).sum())
        audit.tell(spam.labels(audit.ask(apart)["item"]))
        chosen = as_metric(metric)
        exact = chosen.score(spam.truth, two[0]) - chosen.score(spam.truth, two[1])
        assert audit.result.estimate == pytest.approx(exact)
        assert (audit.result.lower, audit.result.upper) == pytest.approx((exact, exact))
        with pytest.raises(KaratError, match="on which the two systems disagree"):
            audit.ask(1)


def test_a_ratio_needs_labels_where_they_agree_too(spam, two):
    audit = Audit(two[0], metric="f1", proba=spam.chance, against=two[1], confidence=0.999, rng=0)
    items = audit.ask(120)["item"].to_numpy()
    assert (two[0][items] == two[1][items]).any()
    audit.tell(spam.labels(items))
    f1 = as_metric("f1")
    exact = f1.score(spam.truth, two[0]) - f1.score(spam.truth, two[1])
    assert audit.result.lower <= exact <= audit.result.upper
    assert audit.result.anytime_lower <= exact <= audit.result.anytime_upper


def test_the_other_way_round_is_minus(spam, two):
    first = Audit(*two[:1], metric="accuracy", against=two[1], rng=0)
    second = Audit(*two[1:], metric="accuracy", against=two[0], rng=0)
    for audit in (first, second):
        audit.tell(spam.labels(audit.ask(50)["item"]))
    assert second.result.lower == pytest.approx(-first.result.upper)


def test_three_classes_and_groups():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 900)
    a, b = (np.where(rng.random(900) < r, truth, rng.integers(0, 3, 900)) for r in (0.8, 0.6))
    groups = np.arange(900) % 2
    audit = Audit(a, metric="accuracy", against=b, groups=groups, rng=0)
    audit.tell({i: truth[i] for i in audit.ask(120)["item"]})
    exact = np.mean(a == truth) - np.mean(b == truth)
    assert audit.result.lower <= exact <= audit.result.upper
    for g, part in audit.result.groups.items():
        own = groups == g
        exact = np.mean((a == truth)[own]) - np.mean((b == truth)[own])
        assert part.lower <= exact <= part.upper


@pytest.mark.parametrize(("total", "n"), [(30, 12), (200, 40)])
def test_hypergeometric_limits_cover_by_enumeration(total, n):
    for successes in range(0, total + 1, max(1, total // 20)):
        x = np.arange(n + 1)
        chance = hypergeom.pmf(x, total, successes, n)
        ends = [hypergeometric_limits(int(i), n, total, 0.025) for i in x[chance > 0]]
        inside = [low - 1e-12 <= successes / total <= high + 1e-12 for low, high in ends]
        assert chance[chance > 0][inside].sum() >= 0.95


def test_the_best_of_many_in_tiers():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 500)
    models = {f"m{r}": np.where(rng.random(500) < r / 100, truth, 1 - truth) for r in (95, 94, 70)}
    for metric in ("accuracy", "f1", "mcc"):
        found = best_of_many(models, truth, metric=metric, rng=0)
        assert set(found.best) == {"m95", "m94"}
        assert found.tiers == (1, 1, 2)
        assert len(found.pairs) == 3
        assert found.values.tolist() == sorted(found.values.tolist(), reverse=True)
        gap = found.pairs[-1]
        score = as_metric(metric).score
        assert gap.value == pytest.approx(
            score(truth, models[gap.first]) - score(truth, models[gap.second])
        )
    import polars as pl

    assert best_of_many(pl.DataFrame(models), truth, metric="mcc", rng=0) == found
    with pytest.raises(KaratError, match="holds 1 model"):
        best_of_many({"a": truth}, truth, metric="f1")
    with pytest.raises(KaratError, match="expected a mapping"):
        best_of_many(truth, truth, metric="f1")


@pytest.mark.slow
def test_differences_cover(spam, two, fails):
    """30 audits of F1 notice .93 against .72; those of accuracy are exact by enumeration above."""
    f1, runs, held = as_metric("f1"), 30, 0
    exact = f1.score(spam.truth, two[0]) - f1.score(spam.truth, two[1])
    for seed in range(runs):
        audit = Audit(two[0], metric="f1", proba=spam.chance, against=two[1], rng=seed)
        audit.tell(spam.labels(audit.ask(100)["item"]))
        held += audit.result.lower <= exact <= audit.result.upper
    print(f"difference in F1: covered {held / runs:.2f}")
    assert not fails(held, runs, 0.93)


@pytest.mark.slow
def test_pairs_of_equal_models_are_seldom_told_apart(fails):
    """60 samples of four equal models notice .95 against .84."""
    rng, runs, held = np.random.default_rng(5), 60, 0
    for _ in range(runs):
        truth = rng.integers(0, 2, 120)
        models = {i: np.where(rng.random(120) < 0.85, truth, 1 - truth) for i in range(4)}
        held += best_of_many(models, truth, metric="accuracy", rng=rng).tiers == (1, 1, 1, 1)
    assert not fails(held, runs, 0.95)
