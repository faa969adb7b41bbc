"""Is A better than B: labels where they disagree."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest, hypergeom

from karat.audit import Audit, best_of_many
from karat.exceptions import KaratError
from karat.limits import resampling as _flips
from karat.limits.proportions import hypergeometric_limits
from karat.limits.resampling import flip_limits
from karat.metrics import as_metric, cost_matrix, f_beta, macro


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
    assert result.value == pytest.approx(share * (2 * won / 40 - 1))
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
        assert audit.result.value == pytest.approx(exact)
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
        assert found.value.tolist() == sorted(found.value.tolist(), reverse=True)
        assert (found.lower <= found.value).all()
        assert (found.value <= found.upper).all()
        assert found.basis == ("likely" if metric == "mcc" else "guaranteed")
        with pytest.raises(KaratError, match=r"several numbers .* read \.value"):
            float(found)
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


@pytest.mark.parametrize(
    ("metric", "n"),
    [
        ("accuracy", 60),
        pytest.param("accuracy", 200, marks=pytest.mark.slow),
        pytest.param("f1", 100, marks=pytest.mark.slow),
    ],
)
def test_thirty_equal_models_are_seldom_told_apart(metric, n):
    """400 samples notice an error of .05 against .10; 435 pairs with 2,000 draws each had .25."""
    rng, runs, wrong = np.random.default_rng(n), 400, 0
    for _ in range(runs):
        truth = rng.integers(0, 2, n)
        models = {i: np.where(rng.random(n) < 0.8, truth, 1 - truth) for i in range(30)}
        found = best_of_many(models, truth, metric=metric, classes=[0, 1], rng=rng)
        wrong += any(pair.lower > 0 or pair.upper < 0 for pair in found.pairs)
    print(f"{metric}, {n} items: one of 435 pairs of equal models told apart: {wrong / runs:.3f}")
    assert binomtest(wrong, runs, 0.05, alternative="greater").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "share", "shared"), [("mcc", 0.5, 0.0), ("mcc", 0.3, 0.5), ("f1", 0.2, 0.5)]
)
def test_equal_models_that_err_together_are_seldom_told_apart(metric, share, shared):
    """600 samples notice .05 against .09; ``shared`` items are as hard for every model."""
    rng, runs, wrong = np.random.default_rng(17), 600, 0
    for _ in range(runs):
        truth = (rng.random(150) < share).astype(int)
        hard = np.sqrt(shared) * rng.normal(size=150)
        own = np.sqrt(1 - shared) * rng.normal(size=(12, 150))
        models = {i: np.where(hard + e < 0.84, truth, 1 - truth) for i, e in enumerate(own)}
        found = best_of_many(models, truth, metric=metric, classes=[0, 1], rng=rng)
        wrong += any(pair.lower > 0 or pair.upper < 0 for pair in found.pairs)
    print(f"{metric}, {share}, {shared}: {wrong / runs:.3f}")
    assert binomtest(wrong, runs, 0.05, alternative="greater").pvalue > 0.001


def test_limits_of_all_pairs_beside_every_flip_of_signs():
    """All 4,096 flips of 12 items; the limits exclude 0 where |z| is above their quantile."""
    rng = np.random.default_rng(2)
    signs = np.array(list(product((-1.0, 1.0), repeat=12)))
    told = 0
    for at in range(40):
        parts = (rng.random((12, 3)) < [1.0, 0.05, 0.5]).astype(float) if at % 2 else (
            rng.normal([0.0, 0.0, 2.0], size=(12, 3)))  # fmt: skip
        pairs = [parts[:, u] - parts[:, v] for u, v in ((0, 1), (0, 2), (1, 2))]
        greatest = np.max([np.abs(signs @ d) / np.sqrt(d @ d) for d in pairs], axis=0)
        c = np.quantile(greatest, 0.9, method="higher")
        near = np.quantile(greatest, [0.89, 0.91])
        value, low, high = flip_limits(parts, 0.1, flips=20_000, extra=1.0, most=0.0, rng=rng)
        for (u, v), d in zip(((0, 1), (0, 2), (1, 2)), pairs, strict=True):
            assert value[u, v] == pytest.approx(d.mean())
            z = d.sum() / np.sqrt(d @ d + np.max(d**2))
            if not near[0] < abs(z) < near[1]:
                assert (low[u, v] > 0 or high[u, v] < 0) == (abs(z) > c)
                told += abs(z) > c
    assert told > 10


def test_many_kinds_of_items_are_drawn_as_normal_variables(monkeypatch):
    rng = np.random.default_rng(3)
    parts = rng.normal([0.0, 0.1, 0.3], size=(3000, 3))
    options = {"flips": 10_000, "extra": 1.0, "most": 0.0}
    one = flip_limits(parts, 0.05, rng=rng, **options)
    monkeypatch.setattr(_flips, "_NORMAL", 100)
    other = flip_limits(parts, 0.05, rng=rng, **options)
    assert np.allclose(one, other, atol=0.003)


def test_models_that_always_agree_may_still_differ():
    """None of n items tells them apart: a share of 1 − (δ/2)^(1/n) would show that with δ/2."""
    truth = np.arange(200) % 2
    found = best_of_many({"a": truth, "b": truth}, truth, metric="accuracy", rng=0).pairs[0]
    reach = 1 - 0.025 ** (1 / 200)
    assert (found.value, found.lower, found.upper) == pytest.approx((0, -reach, reach))


def test_differences_of_many_classes_are_compared_too():
    """Limits of a difference need no table of truth and both calls: 12³ cells were refused."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 12, 900)
    models = {r: np.where(rng.random(900) < r, truth, rng.integers(0, 12, 900)) for r in (0.9, 0.6)}
    found = best_of_many(models, truth, metric=macro(f_beta(1)), rng=0)
    assert found.tiers == (1, 2)
    assert found.pairs[0].lower <= found.value[0] - found.value[1] <= found.pairs[0].upper


@pytest.mark.slow
def test_pairs_of_equal_models_are_seldom_told_apart(fails):
    """60 samples of four equal models notice .95 against .84."""
    rng, runs, held = np.random.default_rng(5), 60, 0
    for _ in range(runs):
        truth = rng.integers(0, 2, 120)
        models = {i: np.where(rng.random(120) < 0.85, truth, 1 - truth) for i in range(4)}
        held += best_of_many(models, truth, metric="accuracy", rng=rng).tiers == (1, 1, 1, 1)
    assert not fails(held, runs, 0.95)
