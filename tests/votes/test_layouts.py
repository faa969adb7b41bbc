"""Long tables by any natural names of their columns, in any order, for everybody who reads one."""

import warnings
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from karat.consensus import (
    ErrorEstimator,
    PairEstimator,
    ScoreEstimator,
    annotator_test,
    cheapest_panel,
    compare_models,
    position_bias,
    rank_systems,
)
from karat.evaluation import evaluate
from karat.exceptions import ColumnError, DataError, KaratWarning, OptionError
from karat.votes import read_patterns, read_table
from karat.weak import (
    DawidSkene,
    DetectorLabelModel,
    MajorityVote,
    TripletLabelModel,
    check_label_model,
    vote_diagnostics,
)

ITEMS = ("item", "task", "question", "id")
VOTERS = ("annotator", "judge", "worker", "rater", "model", "classifier")
VOTES = ("label", "vote", "verdict", "answer", "rating")
LAYOUTS = tuple(product(ITEMS, VOTERS, VOTES))
SPELLINGS = (str, str.upper, lambda name: f" {name.title()} ")
CHEAP = {"dependence": "none", "chains": 2, "draws": 20, "rng": 0}

ALSO_ITEMS = (
    "item_id", "id", "example_id", "task", "question", "question_id", "document", "doc", "doc_id",
    "unit", "sample", "text_id", "row", "itemId", "instance", "pair_id", "text",
)  # fmt: skip
ALSO_VOTERS = (
    "annotator_id", "judge", "worker", "worker_id", "model", "coder", "user", "labeler", "labeller",
    "grader", "Annotator ID", "workerId", "classifier", "person", "reviewer", "model_name",
)  # fmt: skip
ALSO_VOTES = (
    "vote", "verdict", "rating", "category", "class", "response", "annotation", "value",
    "judgement", "judgment", "choice", "LABEL", "answer", "prediction", "score",
)  # fmt: skip


def rows(n=60, voters=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    item, who = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(voters), indexing="ij"))
    wrong = rng.random(len(item)) < np.linspace(0.05, 0.35, voters)[who]
    asked = rng.random(len(item)) < 0.9
    said = np.where(wrong, 1 - y[item], y[item])
    return (
        np.array([f"q{i:02}" for i in item[asked]]),
        np.array(list("abcd"))[who[asked]],
        said[asked],
    )


ROWS = rows()


def table(item, voter, vote, order=None, values=ROWS):
    frame = pl.DataFrame({item: values[0], voter: values[1], vote: values[2]})
    return frame if order is None else frame.select(order)


OWN = table("item", "classifier", "vote")


# --- Every layout, for everybody who reads votes.


class Layout(NamedTuple):
    """A long table, the same with two orders of a pair, and what its columns are called."""

    frame: Any
    both: Any
    item: str
    voter: str
    vote: str


def layout_of(k):
    """Return the k-th layout: its names spelled, ordered, typed and accompanied in turn."""
    spell = SPELLINGS[k % len(SPELLINGS)]
    item, voter, vote = (spell(name) for name in LAYOUTS[k])
    names, who, said = rows(n=24)
    ids = names if k % 4 < 2 else np.array([int(name[1:]) + 7 for name in names])
    columns = {
        item: ids, voter: who, vote: said, "gold": (ids == ids[0]).astype(int),
        "time": np.arange(len(said)) % 5, "comment": [f"so {i % 9}" for i in range(len(said))],
    }  # fmt: skip
    order = np.random.default_rng(k).permutation(list(columns))
    frame = pl.DataFrame({name: columns[name] for name in order})
    both = pl.concat([frame.with_columns(order=pl.lit(o)) for o in ("AB", "BA")])
    if k % 2:
        frame, both = frame.to_pandas(), both.to_pandas()
    return Layout(frame, both, item, voter, vote)


def answers_of(frame, both):
    """Return what each estimator of votes answers, as numbers and as tables."""
    est = ErrorEstimator(**CHEAP).fit(frame)
    scored = ScoreEstimator(chains=2, draws=20, rng=0).fit(frame)
    pairs = PairEstimator(**CHEAP).fit(both)
    biased = position_bias(both)
    person = annotator_test("a", frame, epsilon=0.1, fewest=5)
    models = compare_models(frame, dependence=["none"], errors=["symmetric"], folds=2, rng=0)
    panel = cheapest_panel(est, draws=2)
    ranked = rank_systems(est, ["x", "y"] * 12, ["y", "x"] * 12, rng=0)
    weak = {kind: kind().fit(frame) for kind in WEAK}
    found = read_patterns(frame)
    checked = check_label_model(frame)
    shares = vote_diagnostics(frame)
    numbers = {
        "rates": est.result_.value, "labels": est.label_proba_, "models": models.log_likelihood,
        "scores": scored.result_.value, "pairs": pairs.result_.value, "bias": biased.value,
        "people": person.p_value, "panel": panel.left_out, "ranked": ranked.value,
        "patterns": found.patterns[found.ids], "coverage": shares.coverage,
        "check": checked.status, "again": read_patterns(read_table(frame)).counts,
        **{kind.__name__: model.predict_proba(frame) for kind, model in weak.items()},
    }  # fmt: skip
    tables = {
        "rates": est.error_rates_, "result": est.result_.to_frame(), "labels": est.labels_,
        "next": est.label_next(3), "scores": scored.error_rates_,
        "calibration": scored.calibration_, "score result": scored.result_.to_frame(),
        "pairs": pairs.error_rates_, "pair result": pairs.result_.to_frame(),
        "pairs next": pairs.label_next(3), "bias": biased.to_frame(), "people": person.to_frame(),
        "panel": panel.to_frame(), "agreement": est.explanations().to_frame(),
        "coverage": shares.to_frame(), "pair labels": pairs.labels_,
    }  # fmt: skip
    names = [found.names, person.people, pairs.result_.judges, est.classifiers_, shares.names]
    names += [model.names_ for model in weak.values()]
    return numbers, tables, names


WEAK = (MajorityVote, DawidSkene, TripletLabelModel, DetectorLabelModel)


@cache
def known():
    """Return the numbers of the same votes under the names of the library."""
    names, who, said = rows(n=24)
    frame = pl.DataFrame({"item": names, "classifier": who, "vote": said})
    both = pl.concat([frame.with_columns(order=pl.lit(o)) for o in ("AB", "BA")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        return answers_of(frame, both)[0]


def test_there_are_120_layouts():
    assert len(set(LAYOUTS)) == 120


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")  # few items, few labels
@pytest.mark.parametrize("k", range(len(LAYOUTS)), ids=["-".join(names) for names in LAYOUTS])
def test_every_layout_is_read_by_every_estimator_of_votes(k):
    """The numbers are those of the library's own names, and the names those of the table."""
    given = layout_of(k)
    numbers, tables, names = answers_of(given.frame, given.both)
    for name, wanted in known().items():
        np.testing.assert_array_equal(numbers[name], wanted, err_msg=name)
    assert {tuple(voters) for voters in names} == {tuple("abcd"), tuple("bcd")}
    for name, table_ in tables.items():
        assert type(table_) is type(given.frame), name
        columns = [c for c in table_.columns if c.strip().lower() in {*ITEMS, *VOTERS, *VOTES}]
        wanted = {
            "labels": [given.item, given.vote], "pair labels": [given.item, given.vote],
            "next": [given.item], "pairs next": [given.item],
            "people": [given.voter, *["judge"] * (given.voter != "judge")],
        }.get(name, [given.voter])  # fmt: skip
        assert columns == wanted, name
    ids = tables["labels"][given.item]
    assert ids.dtype == given.frame[given.item].dtype
    assert set(ids) == set(given.frame[given.item])


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
@pytest.mark.parametrize("k", range(0, len(LAYOUTS), 23))
def test_an_evaluation_names_its_rates_as_the_votes_were(k):
    given = layout_of(k)
    rates = evaluate(given.frame).findings[0].results["error rates"]
    assert list(rates.to_frame().columns)[:2] == ["domain", given.voter]


@pytest.mark.parametrize(
    "names",
    [
        *((name, "annotator", "label") for name in ALSO_ITEMS),
        *(("item", name, "label") for name in ALSO_VOTERS),
        *(("item", "annotator", name) for name in ALSO_VOTES),
    ],
    ids="-".join,
)
def test_every_name_is_known(names):
    found, known = read_patterns(table(*names)), read_patterns(OWN)
    assert found.names == known.names
    np.testing.assert_array_equal(found.patterns[found.ids], known.patterns[known.ids])


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_answers_are_named_as_the_columns_were(kind):
    frame = table("Question ID", "rater", "answer").with_columns(Domain=pl.lit("x"))
    passed = {"pandas": frame.to_pandas, "polars": frame.clone, "pyarrow": frame.to_arrow}[kind]()
    options = {"dependence": "none", "chains": 2, "draws": 60, "rng": 0}
    gold = {f"q{i:02}": i % 2 for i in range(10)}
    est = ErrorEstimator(**options).fit(passed, y_true=gold)

    def columns(answer):
        return answer.column_names if isinstance(answer, pa.Table) else list(answer.columns)

    assert columns(est.error_rates_)[:2] == ["Domain", "rater"]
    assert columns(est.from_labels_)[:2] == ["Domain", "rater"]
    assert columns(est.label_next(5))[:2] == ["Domain", "Question ID"]
    own = ErrorEstimator(**options).fit(
        frame.select(
            item="Question ID", classifier="rater", vote="answer", domain="Domain"
        ).to_pandas(),
        y_true=gold,
    )
    assert list(own.label_next(5).columns) == ["domain", "item", "probability", "doubt"]
    assert (
        list(own.error_rates_["value"]) == est.error_rates_["value"].to_pylist()
        if (kind == "pyarrow")
        else list(own.error_rates_["value"]) == list(est.error_rates_["value"])
    )


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
def test_pairs_and_scores_are_named_as_the_columns_were():
    item, who, said = ROWS
    frame = pl.DataFrame({"task_id": item, "grader": who, "choice": np.array(["A", "B"])[said]})
    both = pl.concat([frame.with_columns(order=pl.lit(o)) for o in ("AB", "BA")])
    pairs = PairEstimator(dependence="none", chains=2, draws=60, rng=0).fit(both)
    assert pairs.error_rates_.columns[:2] == ["domain", "grader"]
    assert pairs.label_next(5).columns[:2] == ["domain", "task_id"]
    stars = pl.DataFrame({"doc": item, "coder": who, "rating": said + 0.0})
    scored = ScoreEstimator(chains=2, draws=60, rng=0).fit(stars)
    assert scored.error_rates_.columns[:2] == ["domain", "coder"]


def test_the_judge_has_items_by_any_name():
    people = table("doc_id", "annotator", "label")
    judge = pl.DataFrame({"Doc ID": [f"q{i:02}" for i in range(60)], "answer": [0, 1] * 30})
    known = annotator_test(
        dict(zip(judge["Doc ID"], judge["answer"], strict=True)), people, epsilon=0.1
    )
    found = annotator_test(judge, people, epsilon=0.1)
    np.testing.assert_array_equal(found.p_value, known.p_value)


def test_an_id_a_model_and_a_label_are_no_long_table_if_ids_do_not_repeat():
    frame = pd.DataFrame({"id": range(30), "model": [0, 1, 1] * 10, "label": [0, 1, 0] * 10})
    found = evaluate(frame, label="label", pred="model", id="id")
    assert found.verdicts[0].sentence.startswith("Accuracy of model is 0.667")
    with pytest.raises(ColumnError, match="no column has a role"):
        evaluate(frame)
    votes = frame.rename(columns={"id": "item"})
    assert read_patterns(votes).names == ("model", "label")


def test_a_text_that_repeats_is_no_long_table():
    """A row per text, with who wrote it or labelled it: two texts are the same by chance."""
    truth, said = [0, 1] * 15, [0, 1, 1] * 10
    frame = pl.DataFrame({"text": ["so", "so", *map(str, range(28))], "label": truth, "pred": said})
    for who in ("user", "annotator"):
        wide = frame.with_columns(pl.Series(who, ["ann", "bob", "cem"] * 10))
        with pytest.raises(ColumnError, match="no column has a role; by their names"):
            evaluate(wide)
    patient = pl.DataFrame({"id": [0, 0, *range(1, 29)], "model": said, "label": truth})
    with pytest.raises(ColumnError, match="no column has a role; by their names"):
        evaluate(patient)


def test_two_columns_of_one_part_are_refused():
    """Which of two columns is the vote, and which the truth, is not guessed."""
    frame = table("item", "annotator", "label").with_columns(answer=1 - pl.col("label"))
    with pytest.raises(
        ColumnError, match=r"\['label', 'answer'\] may be the votes .*'vote': 'label'"
    ):
        read_patterns(frame)
    with pytest.raises(ColumnError, match=r"long={'vote': column"):
        evaluate(frame)
    alike = table("item", "worker_id", "label").with_columns(worker_name="worker_id")
    assert read_patterns(alike).names == ("a", "b", "c", "d")
    better = table("item", "judge", "verdict").with_columns(label=pl.lit("right"))
    np.testing.assert_array_equal(read_patterns(better).counts, read_patterns(OWN).counts)


def test_a_further_key_is_not_dropped_in_silence():
    """Verdicts of judges on several models: the votes on an item are not on one thing."""
    frame = pl.concat(
        [table("item", "judge", "verdict").with_columns(model=pl.lit(m)) for m in ("x", "y")]
    )
    with pytest.raises(ColumnError, match=r"\['judge', 'model'\] may be the voters"):
        read_patterns(frame)


def test_rows_that_are_numbered_are_no_items():
    frame = table("text", "annotator", "label").with_row_index("id")
    known, found = read_patterns(OWN), read_patterns(frame)
    np.testing.assert_array_equal(found.patterns[found.ids], known.patterns[known.ids])


def test_a_table_without_a_part_says_which():
    frame = table("item", "annotator", "label").rename({"annotator": "who"})
    with pytest.raises(DataError) as refused:
        ErrorEstimator().fit(frame)
    said = str(refused.value)
    assert "the columns are ['item', 'who', 'label']" in said
    assert "items in ['item'] and votes in ['label']" in said
    assert "none is named like voters" in said
    assert "read_table(frame, columns={'item': …, 'voter': …, 'vote': …})" in said
    for fit in (read_patterns, MajorityVote().fit, ErrorEstimator().fit):
        for item in ("item", "task"):
            with pytest.raises(DataError, match="none is named like voters"):
                fit(frame.rename({"item": item}))


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")  # few items
def test_a_table_whose_columns_are_named_is_taken_by_every_estimator():
    frame = table("email", "by", "spam", values=rows(n=24)).with_columns(label=1 - pl.col("spam"))
    both = pl.concat([frame.with_columns(order=pl.lit(o)) for o in ("AB", "BA")])
    columns = {"item": "email", "voter": "by", "vote": "spam"}
    numbers, tables, _ = answers_of(*(read_table(f, columns=columns) for f in (frame, both)))
    for name, wanted in known().items():
        np.testing.assert_array_equal(numbers[name], wanted, err_msg=name)
    assert tables["labels"].columns == ["email", "spam", "probability"]
    assert tables["pairs"].columns[:2] == ["domain", "by"]


def test_a_wide_table_keeps_the_name_of_its_items():
    names = [f"mail {i}" for i in range(40)]
    votes = pl.DataFrame({"email_id": names, "a": [0, 1] * 20, "b": [0, 1, 1, 1] * 10})
    votes = votes.with_columns(c=pl.col("a"))
    found = read_table(votes, columns={"item": "email_id"})
    assert not found.is_long
    assert MajorityVote().fit(found).names_ == ("a", "b", "c")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        est = ErrorEstimator(**CHEAP).fit(found)
        again = ErrorEstimator(**CHEAP).fit(votes.rename({"email_id": "Task ID"}))
    assert est.labels_.columns == ["email_id", "vote", "probability"]
    assert est.labels_["email_id"].to_list() == names
    assert again.label_next(3).columns[:2] == ["domain", "Task ID"]
    assert est.error_rates_.columns[:2] == ["domain", "classifier"]


def test_columns_that_are_not_there_or_no_part_are_refused():
    frame = table("item", "annotator", "label")
    with pytest.raises(ColumnError, match="columns names 'who' for voter; votes has"):
        read_table(frame, columns={"voter": "who"})
    with pytest.raises(OptionError, match=r"columns is .*'item', 'voter', 'vote', 'domain'"):
        read_table(frame, columns={"judge": "annotator"})
    with pytest.raises(ColumnError, match="votes is no frame, so it has no columns of the names"):
        read_table(np.zeros((3, 3)), columns={"item": "a"})
    with pytest.raises(ColumnError, match="has columns of voters and votes and none of items"):
        read_table(frame.rename({"item": "what"}), columns={"voter": "annotator", "vote": "label"})
