"""A log that was cut, or whose parts have other types, is one sentence and never a traceback."""

import copy
import json
import os
import zipfile
from pathlib import Path

import pytest

import karat
from karat.exceptions import DataError, KaratError

NAMES = [
    "inspect_edited_slim.json", "promptfoo.json", "deepeval_results.json",
    "deepeval_latest_test_run.json", "mlflow_traces.json", "labelstudio_handmade.json",
    "samples_sums_2026-11-16T16-15-45.813911.jsonl",
    "samples_sums_mc_2026-11-16T16-15-45.813911.jsonl",
]  # fmt: skip
INSTEAD = [None, "text", "", 5, -0.5, True, [], {}, ["text"], [None], {"a": 1}, [{"a": [1]}]]
ABSENT = object()


@pytest.fixture(scope="module")
def logs():
    folder = Path(os.environ.get("KARAT_DATA", "")) / "eval_logs"
    if not os.environ.get("KARAT_DATA") or not folder.is_dir():
        pytest.skip("KARAT_DATA names no folder with eval_logs")
    return folder


def places(part, at=(), shape=()):
    """Yield a path to one part of every shape: of a list the first and the last entry."""
    yield at, shape
    if isinstance(part, dict):
        for key, value in part.items():
            yield from places(value, (*at, key), (*shape, key))
    elif isinstance(part, list) and part:
        for k in {0, len(part) - 1}:
            yield from places(part[k], (*at, k), (*shape, "[]"))


def changed(document, at, value):
    if not at:
        return value
    found = copy.deepcopy(document)
    inside = found
    for key in at[:-1]:
        inside = inside[key]
    if value is ABSENT:
        del inside[at[-1]]
    else:
        inside[at[-1]] = value
    return found


def read(path):
    """Read a log, and say whether it could be read; anything but karat's own error is raised."""
    try:
        data = karat.scan(path)
        if data.log is not None and "judge" in data.names:
            data.votes()
    except KaratError as error:
        said = str(error)
    else:
        return True
    assert len(said.splitlines()) == 1, said
    return False


def write(path, document):
    lines = path.suffix == ".jsonl" and isinstance(document, list)
    path.write_text("\n".join(map(json.dumps, document)) if lines else json.dumps(document))


def load(path):
    text = path.read_text()
    return (
        [json.loads(x) for x in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)
    )


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
@pytest.mark.parametrize("name", NAMES)
def test_every_part_may_be_of_another_type(logs, tmp_path, name):
    document, seen, read_anyway, refused = load(logs / name), set(), 0, 0
    target = tmp_path / name
    for at, shape in places(document):
        # Free text and what a user put into a log may hold anything, and is not looked into.
        if shape in seen or len(shape) > 7:
            continue
        seen.add(shape)
        # Three of the values in turn, so that all meet most kinds of parts in a few seconds.
        k = 3 * len(seen) % len(INSTEAD)
        for value in [*INSTEAD[k : k + 3], *([ABSENT] if at else [])]:
            write(target, changed(document, at, value))
            good = read(target)
            read_anyway, refused = read_anyway + good, refused + (not good)
    assert min(read_anyway, refused) > 3


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
@pytest.mark.parametrize("name", [*NAMES, "inspect.eval"])
def test_every_log_may_be_cut(logs, tmp_path, name):
    whole = (logs / name).read_bytes()
    target = tmp_path / name
    for cut in range(0, len(whole), max(1, len(whole) // 15)):
        target.write_bytes(whole[:cut])
        read(target)
    if name.endswith((".json", ".eval")):
        target.write_bytes(whole[: len(whole) // 2])
        assert not read(target)


def test_members_of_an_archive_may_be_of_another_type(logs, tmp_path):
    log = json.loads((logs / "inspect_edited_slim.json").read_text())
    samples = log.pop("samples")
    for member in ("header.json", "summaries.json"):
        for value in INSTEAD:
            parts = {"header.json": log, "summaries.json": samples} | {member: value}
            with zipfile.ZipFile(tmp_path / "odd.eval", "w") as archive:
                for name, part in parts.items():
                    archive.writestr(name, json.dumps(part))
            assert not read(tmp_path / "odd.eval")


ONE = {"version": 2, "eval": {"task": "t", "scorers": [{"name": "s"}]}}
BROKEN = {
    "no scores": (ONE | {"samples": [{"id": 1, "scores": None}]}, "holds no verdicts"),
    "a sample of text": (ONE | {"samples": ["one"]}, "samples lists text; expected objects"),
    "a score of text": (ONE | {"samples": [{"id": 1, "scores": {"s": "C"}}]},
                        "sample 1, scores.s holds text; expected an object"),
    "label studio": ([{"id": 1, "data": {}, "annotations": [
        {"completed_by": 1, "result": [{"from_name": "ok", "value": "yes"}]}]}],
                     "value of ok holds text; expected an object"),
    "a verdict of text": ({"testCases": [{"name": "a", "metricsData": [
        {"name": "m", "success": "false"}]}]}, "success of m holds text; expected true or false"),
    "wrench text": ({"0": {"label": 0, "weak_labels": [0, "x"]}}, "expected a list of whole"),
    "wrench mixed": ({"0": {"label": 0, "weak_labels": [0]},
                      "1": {"label": "a", "weak_labels": [1]}}, "labels of 2 kinds"),
    "wrench none": ({"0": {"label": 0, "weak_labels": []}}, "has no weak labels"),
}  # fmt: skip


@pytest.mark.parametrize(("document", "said"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_is_named(tmp_path, document, said):
    (tmp_path / "log.json").write_text(json.dumps(document))
    with pytest.raises(DataError, match=said):
        karat.scan(tmp_path / "log.json")


def test_pairs_of_words_are_no_log_likelihoods(tmp_path):
    line = {"doc": {}, "target": "yes", "metrics": ["acc"], "acc": 1.0, "filter": "f",
            "filtered_resps": [["yes", "a"], ["no", "b"]]}  # fmt: skip
    lines = [line | {"doc_id": i} for i in (0, 1)]
    (tmp_path / "samples.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = karat.scan(tmp_path / "samples.jsonl").columns
    assert found["prediction"].to_list() == ["['yes', 'a']"] * 2
    assert not [name for name in found.columns if name.startswith("prob_")]


def test_a_log_keeps_its_votes_among_its_columns(logs):
    for name in NAMES:
        assert {"vote", "judge", "gold"} <= set(karat.scan(logs / name).columns.columns)


def test_a_thumb_is_gold_for_the_whole_output_alone(logs, tmp_path):
    """A person rates an output; the first record asks three questions of it, and passes on two."""
    document = json.loads((logs / "promptfoo.json").read_text())
    record = document["results"]["results"][0]
    parts = record["gradingResult"]["componentResults"]
    parts.append({"pass": True, "assertion": {"type": "human"}})
    document["results"]["results"] = [record]
    (tmp_path / "log.json").write_text(json.dumps(document))
    found = karat.scan(tmp_path / "log.json").columns
    assert found.select("judge", "vote", "gold").rows() == [
        ("polite", 1, None), ("polite_b", 0, None), ("all assertions", 0, 1),
    ]  # fmt: skip
    assert found["domain"].to_list() == ["is polite", "is polite", "the whole output"]
    # Where one question is all that is asked, the person answers it.
    record["gradingResult"]["componentResults"] = [*parts[2:4], parts[-1]]
    (tmp_path / "log.json").write_text(json.dumps(document))
    assert karat.scan(tmp_path / "log.json").columns["gold"].to_list() == [1, 1]


@pytest.mark.parametrize(
    ("text", "said"),
    [("[" * 100_000, "nested too deep"), ('{"a": ' + "9" * 5000 + "}", "more than 4300 digits")],
    ids=["deep", "digits"],
)
@pytest.mark.parametrize("ending", ["json", "eval"])
def test_json_that_python_cannot_take_is_one_sentence(tmp_path, text, said, ending):
    path = tmp_path / f"log.{ending}"
    if ending == "json":
        path.write_text(text)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("header.json", text)
    with pytest.raises(DataError, match=said):
        karat.scan(path)
