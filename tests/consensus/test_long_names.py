"""Long tables by any natural names of their columns, in any order, for everybody who reads one."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from karat.consensus import ErrorEstimator, PairEstimator, ScoreEstimator, annotator_test
from karat.consensus._annotator_test import read_answers
from karat.consensus._pairs import read_pairs
from karat.consensus.scores import read_scores
from karat.evaluation import evaluate
from karat.exceptions import ColumnError, DataError
from karat.votes import read_patterns
from karat.weak import MajorityVote

ITEMS = ("item", "task_id", "Question ID", "example")
VOTERS = ("annotator", "rater", "Worker-Id")
VOTES = ("label", "answer", "Rating", "verdict", "category", "judgment", "choice", "class")
ORDERS = tuple(permutations(range(3)))
# 4 names of items × 3 of voters × 6 orders of the columns, with the names of votes in turn.
LAYOUTS = tuple(
    tuple((item, voter, VOTES[k % len(VOTES)])[place] for place in order)
    for k, (item, voter, order) in enumerate(product(ITEMS, VOTERS, ORDERS))
)

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


def parts(layout):
    return tuple(next(c for c in names if c in layout) for names in (ITEMS, VOTERS, VOTES))


OWN = table("item", "classifier", "vote")


def test_there_are_72_layouts():
    assert len(LAYOUTS) == len(set(LAYOUTS)) == 72


@pytest.mark.parametrize("layout", LAYOUTS, ids="-".join)
def test_every_layout_is_read_by_every_reader(layout):
    frame = table(*parts(layout), order=layout)
    known, found = read_patterns(OWN), read_patterns(frame)
    assert found.names == known.names
    np.testing.assert_array_equal(found.patterns[found.ids], known.patterns[known.ids])
    known, found = read_scores(OWN, most=8), read_scores(frame, most=8)
    np.testing.assert_array_equal(found.scores, known.scores)
    known, found = (read_answers("a", f, numeric=False) for f in (OWN, frame))
    assert found.names == known.names == ("b", "c", "d")
    np.testing.assert_array_equal(found.people, known.people)
    np.testing.assert_array_equal(found.judge, known.judge)
    both = [
        pl.concat([f.with_columns(order=pl.lit("AB")), f.with_columns(order=pl.lit("BA"))])
        for f in (OWN, frame)
    ]
    known, found = (
        read_pairs(f, None, classes=None, says="answer", first_order=None) for f in both
    )
    np.testing.assert_array_equal(found.score, known.score)
    assert MajorityVote().fit(frame).names_ == ("a", "b", "c", "d")


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
