"""May a judge replace a person: closed forms, brute force, invariants, published figures."""

import math
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, multinomial, ttest_1samp

from karat.consensus import annotator_test
from karat.consensus._annotator_test import (
    benjamini_yekutieli,
    compare,
    exact_p_value,
    holm,
    student_p_value,
)
from karat.datasets import load_shared
from karat.exceptions import ColumnError, DataError, LabelError, ShapeError

RNG = np.random.default_rng(3)
Y = RNG.integers(0, 3, 80)
SAID = np.where(RNG.random((80, 5)) < [0.3, 0.25, 0.3, 0.2, 0.1], (Y[:, None] + 1) % 3, Y[:, None])


# --- the exact test


def brute_force(plus, minus, n, margin):
    """The same p-value by listing every sample, with its score found by a numerical search."""

    def score(a, b):
        shares = np.linspace(max(0.0, -margin), (1 - margin) / 2, 20001)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = [(a, shares + margin), (b, shares), (n - a - b, 1 - 2 * shares - margin)]
            log = sum(k * np.log(np.maximum(p, 0)) for k, p in terms if k)
        share = shares[int(np.nanargmax(log))]
        spread = n * (2 * share + margin - margin**2)
        return (a - b - n * margin) / math.sqrt(spread) if spread > 0 else 0.0

    samples = [(a, b) for a, b in product(range(n + 1), repeat=2) if a + b <= n]
    extreme = [s for s in samples if score(*s) <= score(plus, minus) + 1e-4]
    best = 0.0
    for share in np.linspace(max(0.0, -margin), (1 - margin) / 2, 400):
        law = multinomial(n, [share + margin, share, max(0.0, 1 - 2 * share - margin)])
        best = max(best, sum(law.pmf([a, b, n - a - b]) for a, b in extreme))
    return best


@pytest.mark.parametrize(
    ("plus", "minus", "n", "margin"), [(1, 2, 6, 0.1), (0, 1, 7, 0.2), (3, 2, 7, -0.15)]
)
def test_exact_by_listing_every_sample(plus, minus, n, margin):
    assert exact_p_value(plus, minus, n, margin) == pytest.approx(
        brute_force(plus, minus, n, margin), abs=2e-3
    )


@pytest.mark.parametrize("margin", [0.0, 0.1, 0.2, -0.1])
def test_exact_test_keeps_its_level_under_every_law(margin):
    n, level = 12, 0.05
    samples = [(a, b) for a, b in product(range(n + 1), repeat=2) if a + b <= n]
    rejected = [s for s in samples if exact_p_value(*s, n, margin) <= level]
    assert rejected
    for share in np.linspace(max(0.0, -margin), (1 - margin) / 2, 60):
        law = multinomial(n, [share + margin, share, max(0.0, 1 - 2 * share - margin)])
        assert sum(law.pmf([a, b, n - a - b]) for a, b in rejected) <= level


def test_student_is_scipys():
    values = np.repeat([1, 0, -1], [7, 20, 13])
    assert student_p_value(7, 13, 40, 0.1) == pytest.approx(
        ttest_1samp(values, 0.1, alternative="less").pvalue
    )
    assert student_p_value(0, 0, 40, 0.1) == 0.0
    assert student_p_value(0, 0, 40, 0.0) == 1.0


def test_both_tests_agree_on_many_items():
    assert exact_p_value(150, 120, 1500, 0.03) == pytest.approx(
        student_p_value(150, 120, 1500, 0.03), abs=0.01
    )


def test_several_tests_at_once():
    p = np.array([0.001, 0.2, 0.012, 0.9])
    # thresholds of Benjamini and Yekutieli: i·.05/(4·(1+1/2+1/3+1/4))
    assert benjamini_yekutieli(p, 0.05).tolist() == [True, False, True, False]
    assert benjamini_yekutieli(p, 0.005).tolist() == [False] * 4
    assert holm(p, 0.05).tolist() == [True, False, True, False]
    assert holm(np.array([0.02, 0.02]), 0.03).tolist() == [False, False]


# --- alignment


def test_alignment_by_hand():
    people = np.array([[0.0, 0, 1], [1, 1, 1], [0, 1, np.nan], [0, np.nan, np.nan]])
    judge = np.array([0.0, 0, 1, 0])
    first = compare(judge, people, numeric=False)[0]
    assert first.items.tolist() == [0, 1, 2]  # the last item has one person only
    # item 0: both agree with one of two; 1: the person with both, the judge with none; 2: the judge
    assert first.judge.tolist() == [True, False, True]
    assert first.person.tolist() == [True, True, False]


def test_ratings_by_hand():
    people = np.array([[3.0, 5, 4], [1, 2, 2]])
    found = compare(np.array([4.5, 5.0]), people, numeric=True)[0]
    assert found.judge.tolist() == [True, False]
    assert found.person.tolist() == [False, True]


# --- tables


def long_of(matrix, names):
    item, who = np.meshgrid(np.arange(len(matrix)), names, indexing="ij")
    return {"item": item.ravel(), "annotator": who.ravel(), "answer": matrix.ravel()}


def test_every_table_gives_the_same():
    text = np.array(["low", "mid", "high"])[SAID]
    wide = annotator_test(text[:, 4], text[:, :4], epsilon=0.1)
    names = ["a", "b", "c", "d", "bot"]
    frame = pd.DataFrame(text, columns=names)
    by_name = annotator_test("bot", frame, epsilon=0.1)
    long = long_of(text, names)
    people = pl.DataFrame(long).filter(pl.col("annotator") != "bot")
    by_mapping = annotator_test(dict(enumerate(text[:, 4])), people, epsilon=0.1)
    in_long = annotator_test("bot", pd.DataFrame(long), epsilon=0.1)
    for other in (by_name, by_mapping, in_long):
        assert other.p_value.tolist() == wide.p_value.tolist()
        assert other.advantage_rate == wide.advantage_rate
    assert by_name.judge == in_long.judge == "bot"
    assert by_name.people == ("a", "b", "c", "d")


def test_a_wide_table_names_its_items():
    frame = pd.DataFrame(SAID[:, :4], columns=list("abcd")).assign(
        item=[f"i{i}" for i in range(80)]
    )
    judge = {f"i{i}": SAID[i, 4] for i in range(79, -1, -1)}
    found = annotator_test(judge, frame, epsilon=0.1)
    assert found.people == ("a", "b", "c", "d")
    assert (
        found.p_value.tolist()
        == annotator_test(SAID[:, 4], SAID[:, :4], epsilon=0.1).p_value.tolist()
    )


def test_missing_answers_are_not_compared():
    people = SAID[:, :4].astype(float)
    people[:30, 0] = np.nan
    judge = SAID[:, 4].astype(float)
    judge[70:] = np.nan
    found = annotator_test(judge, people, epsilon=0.1)
    assert found.n.tolist() == [40, 70, 70, 70]
    few = annotator_test(judge, people, epsilon=0.1, fewest=50)
    assert few.skipped == ("0",)
    assert len(few.people) == 3


def test_an_abstaining_judge_agrees_with_nobody():
    judge = SAID[:, 4].copy()
    judge[:40] = -1
    assert (
        annotator_test(judge, SAID[:, :4], epsilon=0.1).advantage_rate.value
        < annotator_test(SAID[:, 4], SAID[:, :4], epsilon=0.1).advantage_rate.value
    )


def test_bad_input_is_said():
    with pytest.raises(ShapeError, match="at least two"):
        annotator_test(SAID[:, 4], SAID[:, :1], epsilon=0.1)
    with pytest.raises(DataError, match="smaller fewest="):
        annotator_test(SAID[:20, 4], SAID[:20, :4], epsilon=0.1)
    with pytest.raises(ColumnError, match="name one of them"):
        annotator_test("gpt", SAID, epsilon=0.1)
    with pytest.raises(ColumnError, match="long table"):
        annotator_test(SAID[:, 4], pd.DataFrame(long_of(SAID, list("abcde"))), epsilon=0.1)
    with pytest.raises(LabelError, match="no number"):
        annotator_test(["a"] * 80, SAID[:, :4], epsilon=0.1, alignment="rmse")
    with pytest.raises(DataError, match="share no item"):
        annotator_test({"x": 1}, SAID[:, :4], epsilon=0.1)
    twice = pd.DataFrame(long_of(SAID, ["a", "a", "b", "c", "d"]))
    with pytest.raises(DataError, match="twice"):
        annotator_test({0: 1, 1: 0}, twice, epsilon=0.1)


@given(st.permutations(range(80)), st.permutations(range(4)), st.permutations(range(3)))
@settings(max_examples=15, deadline=None)
def test_orders_and_names_do_not_matter(rows, columns, labels):
    base = annotator_test(SAID[:, 4], SAID[:, :4], epsilon=0.1)
    moved = np.array(labels)[SAID[rows]]
    other = annotator_test(moved[:, 4], moved[:, columns], epsilon=0.1)
    assert other.value == base.value
    assert other.advantage_rate.value == pytest.approx(base.advantage_rate.value)
    assert other.p_value == pytest.approx(base.p_value[list(columns)])
    assert other.advantage_rate.lower == pytest.approx(base.advantage_rate.lower)


# --- published figures and claims

# ω and ρ of gemini_flash, gemini_pro, gpt-4o, llama-31, gpt-4o-mini and mistral-v03: the output of
# the notebook alt_test_example.ipynb of Calderon et al., whose paper prints the same.
PUBLISHED = {
    ("wax", 0.1): ".38/.69 .50/.74 .50/.73 .00/.57 .00/.59 .00/.50",
    ("mtbench", 0.2): ".00/.72 .00/.76 .00/.77 .00/.69 .00/.74 .00/.68",
    ("cebab_aspects", 0.1): ".70/.91 .90/.94 .90/.93 .60/.89 .50/.90 .10/.81",
    ("10k_prompts", 0.15): ".31/.67 .08/.63 .69/.76 .15/.67 .92/.80 .15/.67",
}
JUDGES = ("gemini_flash", "gemini_pro", "gpt-4o", "llama-31", "gpt-4o-mini", "mistral-v03")


@pytest.mark.parametrize(("name", "epsilon"), list(PUBLISHED))
def test_published_figures(name, epsilon, shared_data):
    said = load_shared(f"people_and_llms_{name}", "answers")
    people = said[said["kind"] == "human"]
    for judge, figures in zip(JUDGES, PUBLISHED[name, epsilon].split(), strict=True):
        found = annotator_test(
            said[said["annotator"] == judge], people, epsilon=epsilon,
            alignment="rmse" if name == "10k_prompts" else "accuracy",
        )  # fmt: skip
        omega, rho = map(float, figures.split("/"))
        assert round(found.value, 2) == omega
        assert round(found.advantage_rate.value, 2) == rho
        assert found.judge == judge


@pytest.mark.slow
def test_limits_cover():
    """60 items, people and judge of known quality; 150 runs notice .95 against .855."""
    rng, runs = np.random.default_rng(0), 150
    wrong = np.array([0.3, 0.2, 0.25, 0.2])

    def draw(n):
        y = rng.integers(0, 3, n)
        return np.where(rng.random((n, 4)) < wrong, (y[:, None] + 1) % 3, y[:, None])

    many = draw(200_000)
    truth = annotator_test(many[:, 3], many[:, :3], epsilon=0.1)
    ahead = (truth.person_advantage - truth.advantage < 0.1).mean()
    covered = np.zeros(2)
    for _ in range(runs):
        said = draw(60)
        found = annotator_test(said[:, 3], said[:, :3], epsilon=0.1)
        covered[0] += (
            found.advantage_rate.lower <= truth.advantage_rate.value <= found.advantage_rate.upper
        )
        covered[1] += found.lower <= ahead <= found.upper
    for count in covered.astype(int):
        assert binomtest(int(count), runs, 0.95, alternative="less").pvalue > 0.001


def test_a_long_table_of_one_person_is_not_read_as_two_people():
    people = pl.DataFrame({"item": [1, 2, 3], "annotator": ["a"] * 3, "answer": [0, 1, 1]})
    with pytest.raises(ShapeError, match="at least two answers per item"):
        annotator_test([0, 1, 1], people, epsilon=0.1)
