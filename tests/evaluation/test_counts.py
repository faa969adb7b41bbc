"""Counts in the place of rows: what they allow has the numbers of the rows, the rest is named."""

import numpy as np
import polars as pl
import pytest

import karat
from karat.evaluation import evaluate
from karat.exceptions import ColumnError, OptionError
from karat.sources import Counts
from karat.statistics import Confusion

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
N = 3000
ENDS = ("value", "lower", "upper", "n")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    y = rng.random(N) < 0.4
    score = np.round(1 / (1 + np.exp(-(1.5 * y - 1 + rng.normal(size=N)))), 2)
    names = np.array(["no", "yes"])
    flip = lambda share: names[np.where(rng.random(N) < share, ~y, y).astype(int)]  # noqa: E731
    columns = {
        "y": names[y.astype(int)],
        "a": flip(0.1),
        "b": flip(0.2),
        "worse": flip(0.7),
        "s": score,
        "t": np.round(score + rng.normal(size=N), 2),
        "g": rng.choice(["north", "south", "west"], N),
    }
    return pl.DataFrame(columns | {f"judge_{j}": flip(0.1 + 0.05 * j) for j in range(5)})


def same(whole, counted):
    """Check that estimates of both are equal; return how many there are."""
    own, other = whole.to_frame(), counted.to_frame()
    key = ["question", "result", "of"]
    both = own.join(other, on=key, how="inner", suffix="_counted")
    assert len(both) == len(other), "every number of counts is one of rows"
    for column in ENDS:
        pairs = both[column].to_numpy(), both[f"{column}_counted"].to_numpy()
        assert np.allclose(*pairs, rtol=0, atol=1e-12, equal_nan=True), column
    return len(both)


ASKED = {
    "a model": {"label": "y", "pred": "a"},
    "models and groups": {"label": "y", "pred": ["a", "b"], "group": "g"},
    "a metric": {"label": "y", "pred": ["a", "b"], "metric": "f1", "group": "g"},
    "a metric by its slope": {"label": "y", "pred": "a", "metric": "mcc"},
    "one class": {"label": "y", "pred": "worse"},
    "scores": {"label": "y", "score": ["s", "t"]},
    "models and scores": {"label": "y", "pred": "a", "score": "s"},
    "judges": {"judge": "judge_*"},
    "judges with labels": {"label": "y", "judge": "judge_*"},
    "weak labels": {"pred": ["a", "b"], "weak": "judge_*", "metric": "accuracy"},
    "weak labels and groups": {"pred": "a", "weak": "judge_*", "group": "g"},
    "labels beside weak labels": {"label": "y", "pred": "a", "weak": "judge_*"},
}
APART = ("comparison", "better_rule")


@pytest.mark.parametrize("asked", ASKED)
def test_the_numbers_are_those_of_the_rows(table, asked, tmp_path):
    roles = {name: value for name, value in ASKED[asked].items() if name != "metric"}
    about = {"metric": ASKED[asked].get("metric")}
    whole = evaluate(table, **roles, **about)
    counts = karat.scan(table).roles(**roles).counts()
    counted = evaluate(counts, **about)
    assert same(whole, counted)
    wanted = [f.key for f in whole.findings if f.key not in APART]
    assert [f.key for f in counted.findings] == wanted
    said = {v.sentence for f in counted.findings for v in f.verdicts}
    assert said <= {v.sentence for f in whole.findings for v in f.verdicts}
    counts.save(tmp_path / "c.parquet")
    filed = evaluate(tmp_path / "c.parquet", **about)
    assert same(counted, filed) == len(counted.to_frame())


def test_some_labels_are_said_to_be_some(table):
    some = table.with_columns(y=pl.when(pl.int_range(pl.len()) % 3 == 0).then("y"))
    roles = {"label": "y", "pred": "a"}
    judged = karat.scan(some).roles(**roles, judge="judge_*").counts()
    counted = evaluate(judged, pred="a")
    said = counted.findings[0].verdicts[0].sentence
    assert "if the 1,000 labelled rows of 3,000 were drawn at random" in said
    assert said == evaluate(some, **roles).findings[0].verdicts[0].sentence
    assert same(evaluate(some, **roles, judge="judge_*"), evaluate(judged)) > 5


def test_what_takes_rows_is_named(table):
    roles = {"label": "y", "pred": ["a", "b"], "score": ["s", "t"]}
    found = evaluate(karat.scan(table).roles(**roles).counts(), metric="f1")
    left = {one.question: one.unlock for one in found.left_out}
    assert "counts hold no rows of two models together" in left["Which of a and b is better?"]
    assert "which counts do not keep apart" in left["Which rule is best for F1?"]
    (ranking,) = [f for f in found.findings if f.key == "ranking"]
    assert any("no rows of two scores together" in said for said in ranking.assumptions)


def test_columns_are_chosen_among_those_that_were_counted(table):
    counts = karat.scan(table).roles(label="y", pred=["a", "b"], score=["s", "t"]).counts()
    assert evaluate(counts, pred="b").roles.pred == ("b",)
    assert evaluate(counts, score="*").roles.score == ("s", "t")
    assert evaluate(counts, score="s").roles.pred == ()
    with pytest.raises(ColumnError, match="'c', which was not counted; there are \\['a', 'b'\\]"):
        evaluate(counts, pred="c")


@pytest.mark.parametrize("role", ["label", "group", "judge", "weak", "prob", "id"])
def test_counts_have_their_parts(table, role):
    counts = karat.scan(table).roles(label="y", pred="a").counts()
    with pytest.raises(OptionError, match=f"{role}.* does not go with counts"):
        evaluate(counts, **{role: "y"})


def test_the_positive_class_of_scores_was_counted(table):
    counts = karat.scan(table).roles(label="y", pred="a", score="s").counts()
    with pytest.raises(OptionError, match="'yes', which the scores s were counted for"):
        evaluate(counts, pos_label="no")
    recall = evaluate(counts, pred="a", metric="recall", pos_label="no").findings[0].results
    rows = evaluate(table, label="y", pred="a", metric="recall", pos_label="no").findings[0].results
    assert recall["a: recall"].value == rows["a: recall"].value


def test_the_code_of_a_page_runs(table, tmp_path):
    roles = {"label": "y", "pred": ["worse", "a"], "score": "s", "group": "g"}
    karat.scan(table).roles(**roles).counts().save(tmp_path / "c.parquet")
    found = evaluate(tmp_path / "c.parquet")
    assert [f.key for f in found.findings] == ["one_class", "how_good", "groups", "ranking"]
    for one in found.findings:
        exec(one.code, {})
    assert "Counts.load(" in found.to_html()
    assert found.command.startswith(f"karat evaluate {tmp_path / 'c.parquet'}")


def test_a_fingerprint_is_of_the_counts():
    classes = np.array([0, 1])
    one, two = (
        Counts(confusions={"a": Confusion(counts=np.array(cells), classes=classes)})
        for cells in ([[5, 1], [2, 4]], [[4, 2], [2, 4]])
    )
    prints = [dict(evaluate(c).facts)["fingerprint of these columns"] for c in (one, two, one)]
    assert prints[0] != prints[1]
    assert prints[0] == prints[2]
