"""Pairs in two orders: position bias, repeats, every kind of table, limits."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from karat.consensus import PairEstimator, position_bias
from karat.consensus._pairs import (
    balanced_limits,
    net_votes,
    picks_first,
    predictive_limits,
    tango_limits,
)
from karat.datasets import load_shared
from karat.exceptions import (
    ColumnError,
    DataError,
    LabelError,
    LengthMismatchError,
    NotIdentifiedWarning,
    ShapeError,
)

BIAS = np.array([0.0, 0.4, 0.9, -0.5])
SKILL = np.array([2.0, 1.5, 1.2, 1.0])


def drawn(n, rng, bias=BIAS, skill=SKILL):
    """Verdicts whose log-odds are skill and position; the truth of each judge's error rate."""
    y = rng.integers(0, 2, n)
    u = rng.normal(np.where(y == 0, 1.0, -1.0)[:, None] * skill, 1.0)
    return y, np.where(u + bias > 0, "A", "B"), np.where(u - bias > 0, "A", "B")


Y, FIRST, SECOND = drawn(200, np.random.default_rng(0))


def long_of(first, second):
    n, m = first.shape
    parts = [
        {"item": f"p{i}", "judge": f"j{j}", "order": o, "verdict": table[i, j]}
        for o, table in (("AB", first), ("BA", second))
        for i in range(n)
        for j in range(m)
    ]
    return pd.DataFrame(parts)


def test_by_hand():
    first = [["A"], ["A"], ["A"], ["B"], ["tie"], ["A"]]
    second = [["B"], ["A"], ["B"], ["A"], ["B"], [None]]
    found = position_bias(first, second)
    # first twice: 1, 3, half of the tie; second twice: 4; one pair has one order
    assert found.value.tolist() == [pytest.approx((2.5 - 1) / 5)]
    assert found.flips.value.tolist() == [pytest.approx(3.5 / 5)]
    assert (found.n.tolist(), found.one_order.tolist()) == ([5.0], [1.0])


def test_signs_and_votes():
    score = np.array([[[1.0], [1.0], [-1.0], [np.nan]], [[-1.0], [1.0], [0.0], [1.0]]])
    assert picks_first(score)[:3, 0].tolist() == [1.0, 0.0, -0.5]
    assert net_votes(score)[:, 0].tolist() == [-1, 0, 1, -2]


def test_tango_limits_invert_the_score_test():
    """Table I of Tango (1998) compares limits; here the test is inverted by brute force."""
    from karat.consensus._annotator_test import student_p_value

    low, high = tango_limits(np.array([9.0]), np.array([3.0]), np.array([60.0]), 0.025)
    assert low[0] < 0.1 < high[0]
    wide, _ = tango_limits(np.array([0.0]), np.array([0.0]), np.array([30.0]), 0.025)
    assert wide[0] == pytest.approx(-(1.96**2) / (30 + 1.96**2), abs=1e-3)  # Wilson's limit
    big_low, big_high = tango_limits(
        np.array([900.0]), np.array([300.0]), np.array([6000.0]), 0.025
    )
    assert student_p_value(900, 300, 6000, big_high[0]) == pytest.approx(0.025, abs=0.002)
    assert student_p_value(300, 900, 6000, -big_low[0]) == pytest.approx(0.025, abs=0.002)


def test_limits_of_the_error_rate():
    one = np.array([0.1]), np.array([0.05]), np.array([0.2])
    value, low, high = balanced_limits(one, (np.array([0.2]), np.array([0.2]), np.array([0.2])))
    assert value[0] == pytest.approx(0.1 * 0.8 + 0.1)
    assert (low[0], high[0]) == (pytest.approx(0.14), pytest.approx(0.26))


@pytest.mark.parametrize("e", [0.1, 0.8])
def test_each_source_of_error_alone_moves_the_limits_as_the_formula_does(e):
    """Where one of e and s is known, the limits are those of the other in e(1 - s) + s/2."""

    def one(value, low, high):
        return np.array([value]), np.array([low]), np.array([high])

    def formula(e, s):
        return e * (1 - s) + s / 2

    _, low, high = balanced_limits(one(e, e, e), one(0.2, 0.15, 0.4))
    ends = sorted(formula(e, s) for s in (0.15, 0.4))
    assert (low[0], high[0]) == (pytest.approx(ends[0]), pytest.approx(ends[1]))
    value, both_low, both_high = balanced_limits(one(e, e - 0.03, e + 0.08), one(0.2, 0.15, 0.4))
    below, above = formula(e - 0.03, 0.2), formula(e + 0.08, 0.2)
    assert value[0] - both_low[0] == pytest.approx(np.hypot(value - low, value - below)[0])
    assert both_high[0] - value[0] == pytest.approx(np.hypot(high - value, above - value)[0])


def test_limits_of_further_items_add_the_variance_of_their_mean():
    spread, n = np.array([0.6]), 40.0
    bias, lower, upper = np.array([0.2]), np.array([0.15]), np.array([0.4])
    low, high = predictive_limits(bias, lower, upper, spread, n, 0.025)
    error = np.sqrt(0.6 / 40)
    assert low[0] == pytest.approx(0.2 - np.hypot(0.05, norm.isf(0.025) * error))
    assert high[0] == pytest.approx(0.2 + np.hypot(0.2, norm.isf(0.025) * error))


def test_every_table_gives_the_same():
    wide = position_bias(FIRST, SECOND)
    long = long_of(FIRST, SECOND)
    two_columns = long[long["order"] == "AB"].rename(columns={"verdict": "verdict_order1"})
    two_columns["verdict_order2"] = long[long["order"] == "BA"]["verdict"].to_numpy()
    turned = np.where(SECOND == "A", "B", "A")
    for other in (
        position_bias(long),
        position_bias(pl.from_pandas(long)),
        position_bias(two_columns),
        position_bias(FIRST, turned, says="position"),
        position_bias(long.replace({"AB": "z"}), first_order="z"),
    ):
        assert other.value == pytest.approx(wide.value)
        assert other.lower == pytest.approx(wide.lower)
    assert position_bias(long).judges == ("j0", "j1", "j2", "j3")


@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")  # 100 pairs each
def test_wide_tables_are_matched_by_their_names():
    names = ["a", "b", "c", "d"]
    first = pd.DataFrame(FIRST, columns=names).assign(item=[f"p{i}" for i in range(200)])
    second = pd.DataFrame(SECOND, columns=names).assign(item=first["item"])
    mixed = second.sample(frac=1, random_state=0)[["d", "item", "b", "a", "c"]]
    base, other = position_bias(first, second), position_bias(first, mixed)
    assert base.judges == ("a", "b", "c", "d")
    assert other.value == pytest.approx(base.value)
    with pytest.raises(ColumnError, match="name them alike"):
        position_bias(first, second.rename(columns={"a": "z"}))
    with pytest.raises(DataError, match="swapped has the index of verdicts in another order"):
        position_bias(first.drop(columns="item"), mixed.drop(columns="item"))
    est = PairEstimator(dependence="none", draws=50, rng=0)
    est.fit(first.assign(domain=np.repeat(["x", "y"], 100)), second, y_true={"p3": "A"})
    assert est.result_.domains == ("x", "y")
    assert list(est.items_[:2]) == ["p0", "p1"]


def test_repeats_are_no_voters():
    long = long_of(FIRST, SECOND)
    again = position_bias(pd.concat([long, long, long]))
    assert again.value == pytest.approx(position_bias(long).value)
    assert again.n.tolist() == [200.0] * 4
    assert again.repeats == 2 * len(long)


def test_weight_is_duplication():
    weight = np.arange(200) % 3
    rows = np.repeat(np.arange(200), weight)
    one = position_bias(FIRST, SECOND, sample_weight=weight, weighting="frequency")
    two = position_bias(FIRST[rows], SECOND[rows])
    assert one.value == pytest.approx(two.value)
    assert one.upper == pytest.approx(two.upper)


@given(st.permutations(range(200)), st.permutations(range(4)))
@settings(max_examples=10, deadline=None)
def test_swapping_answers_and_orders_changes_nothing(rows, judges):
    base = position_bias(FIRST, SECOND)
    moved = position_bias(FIRST[rows][:, judges], SECOND[rows][:, judges])
    assert moved.value == pytest.approx(base.value[list(judges)])
    swap = {"A": "B", "B": "A"}
    mirror = position_bias(np.vectorize(swap.get)(SECOND), np.vectorize(swap.get)(FIRST))
    assert mirror.value == pytest.approx(base.value)
    assert position_bias(SECOND, FIRST).value == pytest.approx(-base.value)


def test_bad_input_is_said():
    with pytest.raises(ColumnError, match="'order'"):
        position_bias(FIRST)
    with pytest.raises(LengthMismatchError, match="same pairs"):
        position_bias(FIRST, SECOND[:10])
    with pytest.raises(LabelError, match="two answers"):
        position_bias([["A"], ["B"], ["C"]], [["A"], ["B"], ["C"]])
    with pytest.raises(DataError, match="both orders"):
        position_bias([["A", None], ["B", None]], [[None, "A"], [None, "B"]])
    with pytest.raises(ShapeError, match="at least two"):
        PairEstimator().fit(FIRST[:, :1], SECOND[:, :1])
    with pytest.raises(LabelError, match="y_true holds 'C'"):
        PairEstimator().fit(FIRST, SECOND, y_true=["C"] * 200)


@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")  # 100 pairs each
def test_error_rates_and_frames():
    long = long_of(FIRST, SECOND)
    est = PairEstimator(draws=100, rng=0).fit(pl.from_pandas(long), y_true={"p0": "A", "p1": "tie"})
    table = est.error_rates_
    assert isinstance(table, pl.DataFrame)
    assert table["value"].is_sorted()
    assert set(table["judge"]) == {"j0", "j1", "j2", "j3"}
    r = est.result_
    assert r.right_second - r.right_first == pytest.approx(r.bias.value[r.judge], abs=1e-9)
    assert est.label_proba_.shape == (200, 2)
    assert list(est.items_[:2]) == ["p0", "p1"]
    with_domains = PairEstimator(draws=50, rng=0).fit(
        FIRST, SECOND, domains=np.repeat(["x", "y"], 100)
    )
    assert with_domains.result_.domains == ("x", "y")
    assert len(with_domains.result_.value) == 8


def test_style_is_found_where_it_is():
    rng = np.random.default_rng(1)
    y, style = rng.integers(0, 2, 800), rng.normal(size=800)
    gamma = np.array([0.0, 1.0, 0.0, 0.0])
    u = rng.logistic(np.where(y == 0, 1.0, -1.0)[:, None] * 1.5 + style[:, None] * gamma)
    votes = np.where(u > 0, "A", "B")
    est = PairEstimator(draws=100, rng=0).fit(
        votes, votes, covariates=pd.DataFrame({"length": style})
    )
    ((name, effect, lower, upper),) = est.result_.style
    assert name == "length"
    assert lower[1] > 0
    assert effect[1] == pytest.approx(1.0, abs=0.35)
    assert ((lower < 0) & (upper > 0))[[0, 2, 3]].all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")
def test_limits_cover_under_the_model():
    """60 runs of 4 judges notice .95 against .89 for the bias, .93 against .86 for the rates."""
    rng, runs, skill = np.random.default_rng(2), 60, np.array([1.4, 1.2, 1.0, 0.9])
    y, first, second = drawn(200_000, rng, skill=skill)
    truth = position_bias(first, second).value
    gold = np.where(y == 0, "A", "B")[:, None]
    wrong = ((first != gold).mean(axis=0) + (second != gold).mean(axis=0)) / 2
    covered = np.zeros(2)
    for _ in range(runs):
        y, first, second = drawn(150, rng, skill=skill)
        est = PairEstimator(dependence="none", draws=150, rng=rng).fit(first, second)
        bias, rates = est.position_bias_, est.result_
        covered[0] += ((bias.lower <= truth) & (truth <= bias.upper)).sum()
        covered[1] += ((rates.lower <= wrong) & (wrong <= rates.upper)).sum()
    assert binomtest(int(covered[0]), 4 * runs, 0.95, alternative="less").pvalue > 0.001
    assert binomtest(int(covered[1]), 4 * runs, 0.93, alternative="less").pvalue > 0.001


def llmbar():
    said = load_shared("llm_judges_llmbar", "verdicts_long")
    said["judge"] = said["model"].astype(str) + "__" + said["strategy"].astype(str)
    return said.rename(columns={"item_id": "item"})


def test_half_of_llmbar_foretells_the_other(shared_data):
    """65 judges × 5 splits of 419 pairs: limits cover what the other half shows at their rate."""
    said = llmbar()
    said = said[said["subset"].astype(str).str.startswith("LLMBar/")]
    pairs = np.sort(said["item"].unique())
    inside = []
    for seed in range(5):
        chosen = np.random.default_rng(seed).permutation(pairs)[: len(pairs) // 2]
        one = position_bias(said[said["item"].isin(chosen)])
        rest = said[~said["item"].isin(chosen)]
        other = position_bias(rest)
        low, high = one.expected_on(len(pairs) - len(chosen))
        inside.append(((low <= other.value) & (other.value <= high)).mean())
    assert 0.92 <= np.mean(inside) <= 0.99


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")  # 65 judges, 6 models
def test_natural_covers_the_gold(shared_data):
    said = llmbar()
    said = said[said["subset"] == "LLMBar/Natural"]
    est = PairEstimator(rng=0).fit(said)
    wrong = [said[f"verdict_order{o}"] != said["gold"] for o in (1, 2)]
    truth = ((wrong[0].astype(float) + wrong[1]) / 2).groupby(said["judge"]).mean()
    table = est.error_rates_
    gold = truth.loc[table["judge"]].to_numpy()
    assert ((table["lower"] <= gold) & (gold <= table["upper"])).mean() >= 0.9


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
def test_the_answer_opens_with_what_is_not_known():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    u = rng.normal(np.where(y == 0, 1, -1)[:, None] * [2.0, 1.4, 1.2, 1.2], 1)
    one, two = np.where(u + 0.1 > 0, "A", "B"), np.where(u - 0.1 > 0, "A", "B")
    quick = PairEstimator(draws=100, chains=2, rng=0)
    found = quick.fit(one, two)
    assert found.status_ == {"all": "consistent"}
    assert found.result_.summary().startswith("Gold labels have not confirmed the verdicts")
    assert "95 % limits" in found.result_.summary()
    said = (few := quick.fit(one[:, 1:3], two[:, 1:3])).result_.summary()
    assert few.status_ == {"all": "not identified"}
    assert said.startswith("The votes do not identify the error rates, because two voters")
    assert "; taken at face value, " in said
    assert "% limits" not in said
    assert "votes cannot tell: " in said


def test_judges_without_a_bias_are_not_said_to_have_one():
    verdicts = np.array([["A", "B"], ["B", "B"], ["A", "A"]] * 10)
    said = position_bias(verdicts, verdicts).summary()
    assert said.startswith("none of 2 judges shows a position bias; one of up to 0.")
    assert "toward" not in said


def test_a_warning_points_to_the_caller_and_to_methods_that_are_there():
    rng = np.random.default_rng(0)
    one = np.where(rng.random((60, 2)) < 0.5, "A", "B")
    with pytest.warns(NotIdentifiedWarning, match=r"estimator_\.explanations\(\)") as caught:
        est = PairEstimator(draws=50, chains=2, rng=0).fit(one, one)
    mine = [w for w in caught if issubclass(w.category, NotIdentifiedWarning)]
    assert [w.filename for w in mine] == [__file__]
    assert est.estimator_.explanations() is not None


# --- gold labels


def better(n, y):
    return {f"p{i}": "A" if y[i] == 0 else "B" for i in range(n)}


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
def test_drawn_labels_confirm_good_judges_and_contradict_those_of_another_question():
    y, one, two = drawn(300, np.random.default_rng(3), skill=np.array([2.4, 2.2, 2.0, 2.0]))
    blind = PairEstimator(draws=100, rng=0).fit(long_of(one, two))
    todo = blind.label_next(60)
    assert set(todo["item"]) <= {f"p{i}" for i in range(300)}
    assert blind.estimator_.label_next(60)["item"].tolist() == todo["item"].tolist()
    chance = dict(zip(todo["item"], todo["probability"], strict=True))
    gold = better(300, y)
    est = PairEstimator(draws=100, rng=0).fit(
        long_of(one, two), y_true={item: gold[item] for item in chance}, labels="probability",
        label_probability=chance,
    )  # fmt: skip
    assert est.status_ == {"all": "confirmed"}
    assert "gold labels confirm the consensus: it is wrong on" in est.result_.summary()
    assert est.estimator_.from_labels_ is not None
    assert (est.estimator_.from_labels_["n_gold"] > 0).all()
    other = better(60, np.random.default_rng(4).integers(0, 2, 60))
    lost = PairEstimator(draws=100, rng=0).fit(long_of(one, two), y_true=other)
    assert lost.status_ == {"all": "contradicted"}
    assert lost.result_.summary().startswith("Gold labels contradict the consensus of the judges: ")
    picked = PairEstimator(draws=100, rng=0).fit(long_of(one, two), y_true=other, labels="picked")
    assert picked.status_["all"] not in ("confirmed", "contradicted")
    with pytest.raises(DataError, match="labels='probability'"):
        PairEstimator().fit(FIRST, SECOND, label_probability=[0.5] * 200)
