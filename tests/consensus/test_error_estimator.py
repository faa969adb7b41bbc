from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

from karat.bounds import performance_bounds
from karat.consensus import ErrorEstimator, compare_models
from karat.consensus._answers import warn_of_limits_of_the_fit
from karat.exceptions import (
    DataError,
    KaratWarning,
    LabelError,
    NotIdentifiedWarning,
    OptionError,
    ShapeError,
)

RATES = np.array([0.05, 0.1, 0.2, 0.3, 0.15])


def draw(rng, n=600, rates=RATES, classes=2):
    """Return the truth and votes of voters who err independently."""
    y = rng.integers(0, classes, n)
    other = (y[:, None] + rng.integers(1, classes, (n, len(rates)))) % classes
    return y, np.where(rng.random((n, len(rates))) < rates, other, y[:, None])


def draw_trick(rng, n=200, voters=12, strong=3, tricky=0.5):
    """Return votes of which most fall for a trick on some items, and the truth."""
    y = rng.integers(0, 2, n)
    trick = rng.random(n) < tricky
    falls = np.where(np.arange(voters) < strong, 0.15, 0.8)
    wrong = rng.random((n, voters)) < np.where(trick[:, None], falls, 0.05)
    return y, np.where(wrong, 1 - y[:, None], y[:, None])


@pytest.fixture(scope="module")
def simple():
    y, votes = draw(np.random.default_rng(0))
    return y, votes, ErrorEstimator(draws=200, rng=0).fit(votes)


def test_rates_are_found_with_limits_around_them(simple):
    y, votes, est = simple
    r = est.result_
    assert est.identified_ == {"all": True}
    assert np.abs(r.value - RATES).max() < 0.05
    assert ((r.lower <= r.value) & (r.value <= r.upper)).all()
    assert (r.upper - r.lower < 0.2).all()
    on_items = (votes != y[:, None]).mean(axis=0)
    assert ((r.finite.lower <= on_items) & (on_items <= r.finite.upper)).sum() >= 4
    assert (est.label_proba_.argmax(axis=1) == y).mean() > 0.95
    assert np.allclose(est.label_proba_.sum(axis=1), 1)
    assert np.allclose(r.confusion.sum(axis=2), 1)


def test_the_same_seed_gives_the_same_answer_and_another_does_not(simple):
    _, votes, est = simple
    assert ErrorEstimator(draws=200, rng=0).fit(votes).result_ == est.result_
    assert ErrorEstimator(draws=200, rng=1).fit(votes).result_ != est.result_


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_come_back_as_they_came(simple, frame):
    _, votes, est = simple
    columns = {f"judge {j}": votes[:, j] for j in range(votes.shape[1])}
    found = ErrorEstimator(draws=200, rng=0).fit(frame(columns))
    assert type(found.error_rates_) is type(frame(columns))
    assert found.classifiers_ == tuple(columns)
    assert np.array_equal(found.result_.value, est.result_.value)


def test_long_equals_wide_with_text_labels_and_missing_votes():
    rng = np.random.default_rng(1)
    _, codes = draw(rng, n=300)
    wide = pd.DataFrame(np.array(["ham", "spam"])[codes], columns=list("abcde"))
    wide = wide.mask(rng.random(wide.shape) < 0.2)
    long = (
        wide.rename_axis("item")
        .reset_index()
        .melt("item", var_name="classifier", value_name="vote")
    )
    one = ErrorEstimator(draws=100, dependence="none", rng=0).fit(wide)
    two = ErrorEstimator(draws=100, dependence="none", rng=0).fit(
        long.sample(frac=1, random_state=0)
    )
    assert np.abs(one.result_.value - two.result_.value).max() < 0.02
    assert np.abs(one.label_proba_ - two.label_proba_[np.argsort(two.items_)]).mean() < 0.02
    assert one.classes_.tolist() == ["ham", "spam"]


def test_weights_count_items():
    rng = np.random.default_rng(2)
    _, votes = draw(rng, n=200)
    weight = rng.integers(0, 4, 200)
    options = {"draws": 100, "dependence": "none", "rng": 0}
    one = ErrorEstimator(**options).fit(votes, sample_weight=weight, weighting="frequency")
    two = ErrorEstimator(**options).fit(np.repeat(votes, weight, axis=0))
    assert np.array_equal(one.result_.value, two.result_.value)
    # Importances say nothing of how many items there are: equal ones are none.
    half = ErrorEstimator(**options).fit(votes, sample_weight=np.full(200, 0.5))
    whole = ErrorEstimator(**options).fit(votes)
    assert np.array_equal(half.result_.upper, whole.result_.upper)
    # Half of the items have nearly all of the weight: as good as half of the items.
    some = np.where(np.arange(200) < 100, 1.0, 1e-6)
    few = ErrorEstimator(**options).fit(votes, sample_weight=some)
    wider = (few.result_.upper - few.result_.lower) / (whole.result_.upper - whole.result_.lower)
    assert wider.mean() > 1.2


def test_domains_are_fitted_apart_and_a_voter_may_be_absent_from_one():
    rng = np.random.default_rng(3)
    _, first = draw(rng, n=400)
    _, second = draw(rng, n=400, rates=RATES[::-1])
    votes = np.concatenate([first, second]).astype(float)
    votes[:400, 4] = np.nan
    est = ErrorEstimator(draws=100, rng=0).fit(votes, domains=["x"] * 400 + ["y"] * 400)
    table = est.error_rates_
    assert len(table) == 9
    assert not ((table["domain"] == "x") & (table["classifier"] == "4")).any()
    y = est.result_.of_domain("y")
    assert np.abs(y.value - RATES[::-1]).max() < 0.08
    assert set(est.identified_) == {"x", "y"}
    with pytest.raises(OptionError, match="domain is None; expected one of"):
        est.as_label_model()
    with pytest.raises(OptionError, match="domain is 'z'; expected one of"):
        est.result_.of_domain("z")


def test_abstentions_are_an_outcome_of_their_own():
    rng = np.random.default_rng(4)
    y, votes = draw(rng, n=800)
    votes[:, 0] = np.where((y == 1) & (rng.random(800) < 0.8), -1, votes[:, 0])  # silent on class 1
    est = ErrorEstimator(draws=200, rng=0).fit(votes)
    assert est.result_.confusion.shape == (5, 2, 3)
    assert est.result_.confusion[0, 1, 2] == pytest.approx(0.8, abs=0.08)
    assert est.result_.confusion[0, 0, 2] < 0.05


def test_abstentions_may_count_as_missing():
    rng = np.random.default_rng(14)
    _, votes = draw(rng, n=800)
    votes[:, 0] = np.where(rng.random(800) < 0.5, -1, votes[:, 0])
    options = {"draws": 100, "dependence": "none", "rng": 0}
    dropped = ErrorEstimator(abstain="missing", **options).fit(votes)
    null = ErrorEstimator(**options).fit(np.where(votes < 0, np.nan, votes))
    assert np.abs(dropped.result_.value - null.result_.value).max() < 0.01
    assert dropped.result_.confusion.shape == (5, 2, 2)
    assert dropped.result_.votes[0] == (votes[:, 0] >= 0).sum()


def test_many_classes_have_recall_columns():
    rng = np.random.default_rng(5)
    _, votes = draw(rng, n=600, classes=4)
    est = ErrorEstimator(draws=100, rng=0).fit(np.array(["a", "b", "c", "d"])[votes])
    assert {"recall_a", "recall_d"} <= set(est.error_rates_.columns)
    assert np.abs(est.result_.value - RATES).max() < 0.07


def test_probabilities_are_cut_only_when_asked():
    rng = np.random.default_rng(6)
    y, _ = draw(rng, n=300)
    scores = pd.DataFrame(np.clip(y[:, None] * 0.4 + rng.random((300, 4)) * 0.6, 0, 1))
    with pytest.raises(DataError, match="threshold="):
        ErrorEstimator(rng=0).fit(scores)
    est = ErrorEstimator(draws=50, rng=0).fit(scores, threshold=[0.5, 0.5, 0.5, 0.9])
    assert est.result_.confusion[3, 1, 0] > 0.5  # a high cut misses most
    with pytest.raises(OptionError, match="one per voter"):
        ErrorEstimator(rng=0).fit(scores, threshold=[0.5, 0.5])


def test_a_shared_trick_is_not_identified_and_no_ranking_is_printed():
    y, votes = draw_trick(np.random.default_rng(7))
    with pytest.warns(NotIdentifiedWarning, match="no ranking"):
        est = ErrorEstimator(draws=300, rng=0).fit(votes)
    assert est.identified_ == {"all": False}
    assert "Votes cannot tell the error rates" in est.result_.summary()
    assert "lowest error rate" not in est.result_.summary()
    found = est.explanations()
    assert found.moved.max() > 0.1
    assert found.labels_needed > 0
    true = (votes != y[:, None]).mean(axis=0)
    inside = (est.result_.lower <= true) & (true <= est.result_.upper)
    assert inside.mean() > 0.8, "the limits span both explanations"


def test_gold_labels_identify_the_rates_and_turn_the_ranking_round():
    y, votes = draw_trick(np.random.default_rng(8))
    true = (votes != y[:, None]).mean(axis=0)
    with pytest.warns(NotIdentifiedWarning):
        before = ErrorEstimator(draws=300, rng=0).fit(votes)
    items = before.label_next(40, how="contested")["item"].to_numpy()
    assert (np.sort(items)[1:] != np.sort(items)[:-1]).all()
    gold = {int(i): y[i] for i in items}
    after = ErrorEstimator(draws=300, rng=0).fit(votes, y_true=gold, labels="picked")
    assert after.status_ == {"all": "consistent"}
    assert after.from_labels_ is None
    with pytest.raises(DataError, match="labels='picked'"):
        after.from_labels()
    assert np.corrcoef(before.result_.value, true)[0, 1] < 0
    assert np.corrcoef(after.result_.value, true)[0, 1] > 0.9
    assert (np.abs(after.result_.gold_moved) > 0.1).any()
    assert (after.result_.gold_votes == 40).all()
    assert not set(after.label_next(20)["item"]) & set(items), "labelled items are not asked again"


def test_the_label_model_bounds_another_model_and_widens_with_the_posterior():
    rng = np.random.default_rng(9)
    y, votes = draw(rng, n=6000, rates=[0.1, 0.15, 0.2])
    y_pred = np.where(rng.random(6000) < 0.85, y, 1 - y)
    width, spread = [], []
    for n in (60, 300, 6000):
        est = ErrorEstimator(draws=400, dependence="none", rng=0).fit(votes[:n])
        model = est.as_label_model()
        assert np.allclose(model.predict_proba(votes[:n]), est.label_proba_, atol=0.1)
        draws = model.draws(40)
        spread.append(np.std([d.predict_proba(votes[:50])[:, 1] for d in draws], axis=0).mean())
        b = performance_bounds(
            y_pred, votes, model, metric="accuracy", label_model_draws=draws, rng=0
        )
        assert b.lower_limit <= 0.85 <= b.upper_limit
        width.append(b.upper_limit - b.lower_limit)
    assert spread[0] > spread[1] > spread[2], "the posterior of fewer items is wider"
    assert width[0] > width[1] > width[2], "and the limits of the bounds with it"


def test_label_model_keeps_silence_apart():
    rng = np.random.default_rng(10)
    y, votes = draw(rng, n=600)
    votes[:, 0] = np.where(y == 1, -1, votes[:, 0])  # it speaks on class 0 only
    model = ErrorEstimator(draws=100, rng=0).fit(votes).as_label_model()
    silent = model.predict_proba([[-1, 0, 0, 1, 1]])
    spoken = model.predict_proba([[0, 0, 0, 1, 1]])
    assert silent[0, 1] > spoken[0, 1] + 0.2
    with pytest.raises(DataError, match="fit an ErrorEstimator"):
        model.fit(votes)


def test_inference_data(simple):
    pytest.importorskip("arviz")
    data = simple[2].to_inference_data()
    assert data.posterior["error_rate"].shape == (4, 200, 5)
    assert data.posterior["prevalence"].sum("class").values == pytest.approx(1.0)


def test_compare_models_prefers_what_drew_the_votes():
    _, votes = draw_trick(np.random.default_rng(11), n=1000)
    found = compare_models(votes, rng=0)
    best = int(found.behind.argmin())
    assert (found.errors[best], found.dependence[best])[1] == "difficulty"
    assert found.weight.sum() == pytest.approx(1)
    by_domain = compare_models(votes, domains=np.arange(1000) % 2, dependence=["none"], rng=0)
    assert by_domain.n == 1000


# Bad input. The contracts try one voter, a silent voter, one class and votes outside the classes.


@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")  # two are alike
def test_contradicting_repeats_are_named_and_the_last_counts():
    rows = [(i, j, (i + (j == 2) * (i % 5 == 0)) % 2) for i in range(60) for j in range(3)]
    long = pd.DataFrame(rows, columns=["item", "classifier", "vote"])
    clash = pd.concat([long, pd.DataFrame({"item": [7], "classifier": [1], "vote": [0]})])
    with pytest.warns(KaratWarning, match="classifier 1 on item 7"):
        est = ErrorEstimator(draws=20, rng=0).fit(clash)
    assert est.result_.votes.tolist() == [60, 60, 60]
    same = pd.concat([long, long.iloc[:5]])
    ErrorEstimator(draws=20, rng=0).fit(same)  # equal repeats say nothing new


@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")
def test_a_tiny_domain_is_named():
    votes = np.tile([[0, 0, 1], [1, 1, 1], [0, 0, 0]], (40, 1))
    domains = ["big"] * 118 + ["tiny"] * 2
    with pytest.warns(KaratWarning, match="'tiny' has 2 items"):
        ErrorEstimator(draws=20, rng=0).fit(votes, domains=domains)


@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")
def test_votes_that_never_differ_are_named():
    with pytest.warns(KaratWarning, match="every vote is 1"):
        est = ErrorEstimator(draws=20, rng=0).fit(np.ones((30, 3), dtype=int), classes=[0, 1])
    assert not est.identified_["all"]


@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")
def test_gold_that_contradicts_every_voter_is_named():
    y, votes = draw(np.random.default_rng(12), n=100)
    gold = np.where(np.arange(100) < 20, 1 - y, -1)
    with pytest.warns(KaratWarning, match="coded like those of votes"):
        ErrorEstimator(draws=20, rng=0).fit(votes, y_true=gold)


def test_two_voters_are_never_identified():
    _, votes = draw(np.random.default_rng(13), rates=RATES[:2])
    with pytest.warns(NotIdentifiedWarning):
        est = ErrorEstimator(draws=20, rng=0).fit(votes)
    assert "two voters cannot tell" in est.result_.summary()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"errors": "both"}, "errors is 'both'"),
        ({"dependence": "some"}, "dependence is 'some'"),
        ({"chains": 1}, "chains"),
        ({"draws": 3}, "draws"),
        ({"confidence": 1.0}, "between 0 and 1"),
        ({"structure": "loose"}, "structure is 'loose'"),
        ({"abstain": "never"}, "abstain is 'never'"),
        ({"progress": 1}, "progress is 1; expected True or False"),
        ({"rng": True}, "rng is True"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(OptionError, match=message):
        ErrorEstimator(**options).fit([[0, 1, 1], [1, 1, 0]] * 10)


def test_other_mistakes_say_what_to_do():
    votes = pd.DataFrame({"a": [0, 1, 1, 0], "b": [0, 1, 0, 0], "c": [0, 1, 1, 1]})
    with pytest.raises(NotFittedError, match="not fitted"):
        ErrorEstimator().label_next(3)
    with pytest.raises(LabelError, match="labels the item 9"):
        ErrorEstimator(rng=0).fit(votes, y_true={9: 1})
    long = pd.DataFrame({"item": [0, 0], "classifier": [0, 1], "vote": [1, 0], "domain": "x"})
    with pytest.raises(DataError, match="pass one of them"):
        ErrorEstimator(rng=0).fit(long, domains=["x", "x"])
    with pytest.raises(DataError, match="none of items"):
        ErrorEstimator(rng=0).fit(pd.DataFrame({"classifier": [0], "vote": [1]}))
    long = pd.DataFrame({"item": [0, 0, 1], "classifier": [0, 1, 0], "vote": [1, 0, 1]})
    with pytest.raises(DataError, match="two values for the item 0"):
        ErrorEstimator(rng=0).fit(long, y_true=[1, 0, 1])
    with pytest.raises(ShapeError, match="shape"):
        ErrorEstimator(rng=0).fit([0, 1, 0])
    with pytest.raises(OptionError, match="list of at least one"):
        compare_models(votes, errors="symmetric")


# What was once wrong.


def test_limits_of_the_prevalence_span_the_explanations():
    rng = np.random.default_rng(15)
    y = (rng.random(600) < 0.7).astype(int)
    fooled = (y == 1) & (rng.random(600) < 0.5)
    falls = np.where(np.arange(12) < 3, 0.1, 0.85)
    wrong = rng.random((600, 12)) < np.where(fooled[:, None], falls, 0.05)
    with pytest.warns(NotIdentifiedWarning):
        est = ErrorEstimator(draws=200, rng=0).fit(np.where(wrong, 1 - y[:, None], y[:, None]))
    row = est.prevalence_.set_index("class").loc[1]
    assert row["lower"] <= y.mean() <= row["upper"]


@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")
def test_minus_one_abstains_under_a_threshold_too():
    y, _ = draw(np.random.default_rng(16), n=100)
    scores = np.repeat(y[:, None] * 0.8 + 0.1, 4, axis=1)
    scores[:20, 0] = -1
    est = ErrorEstimator(draws=20, dependence="none", rng=0).fit(scores, threshold=0.5)
    assert est.result_.votes.tolist() == [80, 100, 100, 100]
    assert est.result_.value[0] < 0.1


def test_sensitivity_is_that_of_the_larger_label_in_any_order():
    rng = np.random.default_rng(17)
    y = rng.integers(0, 2, 600)
    wrong = rng.random((600, 4)) < np.where(y, 0.4, 0.05)[:, None]
    votes = np.where(wrong, 1 - y[:, None], y[:, None])
    options = {"draws": 100, "dependence": "none", "rng": 0}
    for classes in ([0, 1], [1, 0]):
        table = ErrorEstimator(**options).fit(votes, classes=classes).error_rates_
        assert table["sensitivity"].mean() < 0.75 < 0.9 < table["specificity"].mean()


def test_powered_rates_refuse_weights_and_ignore_their_scale():
    y, votes = draw(np.random.default_rng(18), n=200)
    gold = np.where(np.arange(200) < 50, y, -1)
    options = {"draws": 20, "dependence": "none", "rng": 0}
    est = ErrorEstimator(**options).fit(votes, y_true=gold, sample_weight=1.0 + (y == 1))
    assert est.from_labels_ is None
    with pytest.raises(DataError, match="sample_weight="):
        est.from_labels()
    one = ErrorEstimator(**options).fit(votes, y_true=gold).from_labels(finite=True)
    two = ErrorEstimator(**options).fit(votes, y_true=gold, sample_weight=np.full(200, 0.5))
    assert np.abs(two.from_labels(finite=True)["upper"] - one["upper"]).max() < 0.02


def test_a_voter_who_only_abstains_has_limits():
    _, votes = draw_trick(np.random.default_rng(19))
    silent = np.column_stack([votes, np.full(len(votes), -1)])
    with pytest.warns(NotIdentifiedWarning):
        est = ErrorEstimator(draws=50, rng=0).fit(silent)
    assert np.isfinite(est.result_.lower).all()


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
def test_votes_that_say_nothing_identify_nothing():
    assert ErrorEstimator(draws=50, rng=0).fit([[0, 1, 1]]).identified_ == {"all": False}


def test_items_to_label_do_not_change_from_call_to_call(simple):
    est = simple[2]
    assert est.label_next(10)["item"].tolist() == est.label_next(10)["item"].tolist()
    said = est.result_.summary()
    assert said.startswith(
        "Gold labels have not tested the consensus, and votes cannot show an err"
    )
    assert ". 0 has the lowest error rate" in said


def test_what_a_fit_leaves_open_is_named(simple):
    result = simple[2].result_
    warn_of_limits_of_the_fit(result)  # nothing to say
    two = replace(
        result, domains=(1, 2), domain=np.array([0, 0, 1, 1, 1]),
        status=("contradicted", "not identified"), identified=np.array([False] * 2),
        copies=((), ()), evidence=("wrong on 9 of 10", ""),
    )  # fmt: skip
    with pytest.warns(NotIdentifiedWarning) as said:
        warn_of_limits_of_the_fit(two)
    assert "contradict the consensus in [1]: it is wrong on 9 of 10" in str(said[0].message)
    assert "do not identify the error rates in 1 of 2 domains" in str(said[1].message)
    alike = replace(result, copies=((("a", "b"), ("c", "d")),))
    with pytest.warns(KaratWarning, match="near copies count as one voter: a = b; c = d"):
        warn_of_limits_of_the_fit(alike)


def test_questions_check_their_options(simple):
    est = simple[2]
    with pytest.raises(OptionError, match="finite is 'yes'; expected True or False"):
        est.error_rates(finite="yes")
    with pytest.raises(OptionError, match="how is 'best'"):
        est.label_next(3, how="best")
    with pytest.raises(OptionError, match="n is 0"):
        est.label_next(0)
    with pytest.raises(OptionError, match="domain is 'some'"):
        est.label_next(3, domain="some")


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
def test_a_gold_label_that_no_vote_holds_is_refused():
    """'Yes' beside votes 'yes' and 'no' would silently be a third class."""
    rng = np.random.default_rng(0)
    votes = np.where(rng.random((40, 3)) < 0.5, "yes", "no")
    quick = ErrorEstimator(draws=50, chains=2, rng=0)
    with pytest.raises(LabelError, match=r"'Yes' and.*replace \{'Yes': 'yes'\}"):
        quick.fit(votes, y_true={0: "Yes"})
    with pytest.raises(LabelError, match=r"'maybe' \(row 1\).*name all classes with classes="):
        quick.fit(votes, y_true=["yes", "maybe", *[None] * 38])
    named = quick.fit(votes, y_true={0: "maybe"}, classes=["maybe", "no", "yes"])
    assert named.classes_.tolist() == ["maybe", "no", "yes"]
