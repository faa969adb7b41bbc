"""Every genuine log is read into the right votes, gold labels, epochs and failures."""

import json
import os
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat
from karat.exceptions import DataError, EmptyDataError, KaratWarning

SUMS = "samples_sums_2026-11-16T16-15-45.813911.jsonl"
CHOICES = "samples_sums_mc_2026-11-16T16-15-45.813911.jsonl"


@pytest.fixture(scope="module")
def logs():
    folder = Path(os.environ.get("KARAT_DATA", "")) / "eval_logs"
    if not os.environ.get("KARAT_DATA") or not folder.is_dir():
        pytest.skip("KARAT_DATA names no folder with eval_logs")
    return folder


def rows(path):
    return karat.scan(path).frame.to_native().collect()


def table(found, *columns):
    return [tuple(row) for row in found.select(columns).iter_rows()]


PANEL = [f"model_graded_qa1:mockllm/judge-{who}" for who in "abc"]


def test_inspect_archive(logs):
    data = karat.scan(logs / "inspect.eval")
    found = rows(logs / "inspect.eval")
    assert len(found) == 12 * 7
    assert found["item"].unique().sort().to_list() == [f"q{i}" for i in range(6)]
    assert found["epoch"].unique().sort().to_list() == [1, 2]
    assert found["unit"].n_unique() == 12
    assert found["gold"].null_count() == len(found)
    first = found.filter(pl.col("unit") == "q0#1")
    assert table(first, "judge", "domain", "vote", "score") == [
        ("match", "sums", 0, 0.0),
        ("model_graded_qa:mockllm/judge-a", "sums", 1, 1.0),
        *zip(PANEL, ["sums"] * 3, [1, 1, 0], [1.0, 1.0, 0.0], strict=True),
        ("rubric.helpful", "sums/rubric.helpful", None, 2.0),
        ("rubric.safe", "sums/rubric.safe", 1, 1.0),
    ]
    # The third judge's answer could not be parsed on q2 and q5: no vote, and not a wrong one.
    failed = found.filter(pl.col("judge") == PANEL[2], pl.col("vote").is_null())
    assert table(failed.sort("unit"), "unit") == [("q2#1",), ("q2#2",), ("q5#1",), ("q5#2",)]
    assert data.log.failures == 4
    assert data.log.epochs == 2
    assert data.log.systems == ("mockllm/model",)
    assert data.chosen["cluster"] == ("item",)
    assert "0.3.285" in data.summary()


def test_inspect_with_a_score_that_a_person_edited(logs):
    found = rows(logs / "inspect_edited_slim.json")
    assert len(found) == 12 * 7
    labelled = found.filter(pl.col("gold").is_not_null())
    # A person changed the grade of q1 in the first epoch from incorrect to correct: the judge's own
    # vote stays 0, and the label is 1 for all who judged whether the answer is correct.
    assert labelled["unit"].unique().to_list() == ["q1#1"]
    assert table(labelled, "judge", "vote", "gold") == [
        ("match", 0, 1),
        ("model_graded_qa:mockllm/judge-a", 0, 1),
        *zip(PANEL, [0, 1, 1], [1, 1, 1], strict=True),
    ]


def test_an_archive_with_deflate_and_no_summaries(logs, tmp_path):
    """Old logs are packed otherwise; the samples are then read one by one."""
    log = json.loads((logs / "inspect_edited_slim.json").read_text())
    samples = log.pop("samples")
    with zipfile.ZipFile(tmp_path / "old.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(log))
        for sample in samples:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))
    key = ["unit", "judge"]
    wanted = rows(logs / "inspect_edited_slim.json").sort(key)
    assert rows(tmp_path / "old.eval").sort(key).equals(wanted)


def test_lm_eval(logs):
    found = rows(logs / SUMS)
    assert len(found) == 8  # four documents under two filters
    assert found["item"].n_unique() == 4
    assert found["domain"].unique().to_list() == ["sums"]
    assert set(found["judge"]) == {f"exact_match,{f}" for f in set(found["filter"])}
    assert found["vote"].to_list() == [0] * 8
    assert found["target"].to_list()[:2] == ["0", "2"]
    assert found["prediction"].to_list()[0] == "lol"


def test_several_logs_are_scanned_one_at_a_time(logs):
    with pytest.raises(DataError, match="2 logs are named; scan one log at a time"):
        karat.scan(f"{logs}/samples_*.jsonl")


def test_lm_eval_multiple_choice(logs):
    found = rows(logs / CHOICES)
    assert len(found) == 8  # four documents, two metrics
    first = found.filter(pl.col("judge") == "acc,none")
    proba = first.select("^prob_.*$").to_numpy()
    assert proba.shape == (4, 4)
    assert proba.sum(axis=1) == pytest.approx(1.0)
    logits = np.array([-0.10905784593110368, -0.5512672460905512, -0.7065614098668896,
                       -0.5474409113284238])  # fmt: skip
    assert proba[0] == pytest.approx(np.exp(logits) / np.exp(logits).sum())
    assert first["prediction"].to_list() == [str(k) for k in proba.argmax(axis=1)]
    right = (first["prediction"] == first["target"]).cast(pl.Int64).to_list()
    assert first["vote"].to_list() == right


def test_promptfoo(logs):
    found = rows(logs / "promptfoo.json")
    assert table(found, "item", "model", "judge", "domain", "vote", "score") == [
        ("0", "model-a, prompt 0", "polite", "is polite", 1, 1.0),
        ("0", "model-a, prompt 0", "polite_b", "is polite", 0, 0.2),
        ("0", "model-a, prompt 1", "polite", "is polite", 1, 1.0),
        ("0", "model-a, prompt 1", "polite_b", "is polite", 0, 0.2),
        ("1", "model-a, prompt 0", "polite", "is polite", 1, 1.0),
        ("1", "model-a, prompt 1", "polite", "is polite", 1, 1.0),
    ]
    assert found["unit"].n_unique() == 4


def test_ratings_by_people_and_failures_in_promptfoo(logs, tmp_path):
    log = json.loads((logs / "promptfoo.json").read_text())
    records = log["results"]["results"]
    parts = records[0]["gradingResult"]["componentResults"]
    parts.append({"pass": False, "score": 0, "assertion": {"type": "human"}})
    parts[3] |= {
        "pass": False,
        "score": 0,
        "reason": "Could not extract JSON from llm-rubric response",
    }
    records.append(records[0])  # --repeat runs a test again under its number
    (tmp_path / "out.jsonl").write_text("\n".join(map(json.dumps, records)))
    found = rows(tmp_path / "out.jsonl")
    first = found.filter(pl.col("unit") == "0|model-a, prompt 0")
    assert table(first, "judge", "vote", "score", "gold") == [
        ("polite", 1, 1.0, None),
        ("polite_b", None, None, None),
        ("all assertions", 0, None, 0),  # a person rated the output, and not whether it is polite
    ]
    assert found.filter(pl.col("epoch") == 2)["unit"].unique().to_list() == [
        "0|model-a, prompt 0#2"
    ]
    assert karat.scan(tmp_path / "out.jsonl").log.failures == 2


@pytest.mark.parametrize("name", ["deepeval_latest_test_run.json", "deepeval_results.json"])
def test_deepeval(logs, name):
    found = rows(logs / name)
    helpful = found.filter(pl.col("domain") == "Helpful")
    assert table(helpful, "item", "judge", "vote", "score") == [
        (f"case-{i}", "Helpful:mock-Helpful", vote, score)
        for i, vote, score in zip(
            range(1, 6), [0, 1, 1, 1, 1], [0.25, 0.5, 0.75, 1.0, 1.0], strict=True
        )
    ]
    assert found.filter(pl.col("domain") == "Brief")["vote"].to_list() == [0, 0, 0, 1, 1]
    with pytest.raises(EmptyDataError, match="judged by one judge alone"):
        karat.scan(logs / name).votes()


def test_mlflow(logs):
    found = rows(logs / "mlflow_traces.json").sort("item", "judge")
    assert len(found) == 15
    voted = found.filter(pl.col("vote").is_not_null())
    assert table(voted, "judge", "vote", "gold") == [
        ("judge_a", 1, 1), ("judge_b", 0, 1), ("judge_a", 1, 1), ("judge_b", 0, 1),
        ("judge_a", 0, 1), ("judge_b", 0, 0), ("judge_a", 0, 0), ("judge_b", 1, 0),
        ("judge_a", 0, 0), ("judge_b", 0, 0),
    ]  # fmt: skip
    rated = found.filter(pl.col("judge") == "helpful")
    assert sorted(rated["score"].to_list()) == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert rated["vote"].null_count() == 5
    # A person says of one trace that judge_a is wrong, and the expectation says that it is right.
    with pytest.warns(KaratWarning, match="two different labels"):
        votes = karat.scan(logs / "mlflow_traces.json").votes()
    assert votes.group_by("item").agg(pl.col("gold").n_unique())["gold"].max() == 1


def test_label_studio(logs):
    found = rows(logs / "labelstudio_handmade.json")
    assert table(found, "item", "domain", "judge", "vote") == [
        ("1", "pw", "pw:10", "left"),
        ("1", "ok", "ok:10", "yes"),
        ("1", "ok", "ok:judge-a", "no"),
    ]


def test_ground_truth_and_cancelled_answers_in_label_studio(logs, tmp_path):
    (task,) = json.loads((logs / "labelstudio_handmade.json").read_text())
    first = task["annotations"][0]
    task["annotations"] += [
        first | {"completed_by": {"id": 11, "email": "a@b"}, "ground_truth": True},
        first | {"completed_by": 12, "was_cancelled": True},
    ]
    (tmp_path / "export.json").write_text(json.dumps([task]))
    found = rows(tmp_path / "export.json")
    assert table(found, "judge", "vote", "gold") == [
        ("pw:10", "left", "left"), ("ok:10", "yes", "yes"), ("ok:judge-a", "no", "yes"),
    ]  # fmt: skip


def test_snorkel_and_wrench(tmp_path):
    matrix = np.array([[0, -1, 1], [1, 1, -1]])
    np.save(tmp_path / "L.npy", matrix)
    found = karat.scan(tmp_path / "L.npy").roles(weak="lf_*")
    assert found.columns.to_numpy().tolist() == matrix.tolist()
    wrench = {
        "0": {"label": 1, "weak_labels": [1, -1], "data": {"text": "a"}},
        "1": {"label": -1, "weak_labels": [0, 0], "data": {"text": "b"}},
    }
    (tmp_path / "train.json").write_text(json.dumps(wrench))
    columns = karat.scan(tmp_path / "train.json").columns
    assert columns.to_dict(as_series=False) == {
        "id": ["0", "1"], "label": [1, None], "lf_0": [1, 0], "lf_1": [-1, 0],
    }  # fmt: skip


def test_partial_credit_is_no_verdict_and_keeps_its_score(tmp_path):
    log = {
        "version": 2, "eval": {"task": "t", "model": "m", "scorers": [{"name": "grade"}]},
        "samples": [
            {"id": i, "epoch": 1, "scores": {"grade": {"value": value}, "same": {"value": "C"}}}
            for i, value in enumerate(["C", "P", "I", "N", "", float("nan"), "yes", True])
        ],
    }  # fmt: skip
    (tmp_path / "log.json").write_text(json.dumps(log))
    found = rows(tmp_path / "log.json").filter(pl.col("judge") == "grade")
    assert found["vote"].to_list() == [1, -1, 0, 0, None, None, 1, 1]
    assert found["score"].to_list() == [1.0, 0.5, 0.0, 0.0, None, None, 1.0, 1.0]


BROKEN = {
    "version": ({"version": 9, "eval": {"task": "t"}, "samples": []}, "of version 9; expected"),
    "field": ({"version": 2, "eval": {}, "samples": []}, "has no field 'task'"),
    "promptfoo": ({"evalId": "x", "results": {"version": 7, "results": []}}, "version 7; expected"),
    "unknown": ({"hello": 1}, "no log that is known: an object with the fields"),
    "empty": ({"testCases": []}, "holds no verdicts"),
}


@pytest.mark.parametrize(("document", "said"), BROKEN.values(), ids=BROKEN)
def test_a_log_of_another_version_says_so(tmp_path, document, said):
    (tmp_path / "log.json").write_text(json.dumps(document))
    with pytest.raises(DataError, match=said):
        karat.scan(tmp_path / "log.json")


def test_files_that_are_no_logs(tmp_path):
    (tmp_path / "log.json").write_text('{"a": 1')
    with pytest.raises(DataError, match=r"log.json cannot be read as JSON: line 1"):
        karat.scan(tmp_path / "log.json")
    (tmp_path / "run.eval").write_bytes(b"not a zip")
    with pytest.raises(DataError, match="is no ZIP archive"):
        karat.scan(tmp_path / "run.eval")
    with zipfile.ZipFile(tmp_path / "half.eval", "w") as archive:
        archive.writestr("_journal/start.json", "{}")
    with pytest.raises(DataError, match="its run was not finished"):
        karat.scan(tmp_path / "half.eval")
    np.save(tmp_path / "L.npy", np.ones((2, 2)))
    with pytest.raises(DataError, match="expected a matrix"):
        karat.scan(tmp_path / "L.npy")
    with pytest.raises(DataError, match="one log at a time"):
        karat.scan(tmp_path / "*.*")
