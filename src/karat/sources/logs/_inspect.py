"""Read logs of inspect: JSON, and the compressed archives it writes by default."""

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from karat._files import first_words
from karat._sentences import Argument, Expected
from karat.exceptions import DataError, KaratError
from karat.sources._text import unpacked
from karat.sources.logs._records import Log, fields, long_log, needed, objects, verdict_of

_VERSIONS = (1, 2)
# What its scorers write: correct, partial, incorrect, and no answer.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def is_inspect(document: Any) -> bool:
    """Return whether a document is a log of inspect."""
    return isinstance(document, dict) and {"eval", "samples"} <= set(document)


def read_inspect(document: Any, path: Path, *, ignore_errors: bool = False) -> Log:
    """Return a row per sample, epoch and judge.

    A sample that ended in an error was judged by nobody. It is a failure of the system, a row with
    vote 0 for each judge and question of the log, unless ``ignore_errors``.
    """
    version = document.get("version")
    if version not in _VERSIONS:
        raise DataError(
            f"{path.name} is a log of inspect of version {version!r}; expected version "
            f"{' or '.join(map(str, _VERSIONS))}"
        )
    run = fields(needed(document, "eval", path.name), f"{path.name}, eval")
    task, model = needed(run, "task", f"{path.name}, eval"), run.get("model")
    models = _models_of_scorers(objects(run.get("scorers"), f"{path.name}, eval.scorers"))
    samples = objects(document.get("samples"), f"{path.name}, samples")
    epochs = [_epoch(sample.get("epoch"), path.name) for sample in samples]
    several = len(set(epochs)) > 1
    rows: list[dict[str, Any]] = []
    errored: list[dict[str, Any]] = []
    for sample, epoch in zip(samples, epochs, strict=True):
        item = str(needed(sample, "id", f"{path.name}, a sample"))
        shared = {
            "item": item,
            "unit": f"{item}#{epoch}" if several else item,
            "epoch": epoch,
            "model": model,
            "metadata": sample.get("metadata"),
        }
        where = f"{path.name}, sample {item}"
        scores = {
            scorer: fields(score, f"{where}, scores.{scorer}")
            for scorer, score in fields(sample.get("scores"), f"{where}, scores").items()
        }
        if not scores and sample.get("error"):
            errored.append(shared | {"reason": f"error: {_message(sample['error'])}"})
            continue
        rows += _sample_rows(scores, shared, str(task), models, where)
    packages = fields(run.get("packages"), f"{path.name}, eval.packages")
    if not ignore_errors:
        asked = dict.fromkeys((row["judge"], row["domain"]) for row in rows)
        known = asked or dict.fromkeys((name, str(task)) for name in models or ("the system",))
        failure = {"vote": 0, "score": 0.0, "graded": True, "failed": False, "errored": True}
        rows += [
            shared | failure | {"judge": judge, "domain": domain, "gold": None}
            for shared in errored
            for judge, domain in known
        ]
    return long_log(
        "inspect",
        rows,
        version=str(packages.get("inspect_ai") or version),
        errors=len(errored),
        errors_ignored=ignore_errors,
    )


def _message(error: Any) -> str:
    """Return what an error says, in one line: logs hold an object, their summaries a text."""
    said = error.get("message") if isinstance(error, Mapping) else error
    return " ".join(str(said).split())[:200]


def _epoch(value: Any, name: str) -> int:
    if value is None:
        return 1
    if not isinstance(value, int):
        raise DataError(
            Argument.of(name),
            f": a sample has the epoch {value!r}; expected ",
            Expected("a whole number"),
        )
    return int(value)


def _models_of_scorers(scorers: list[Any]) -> dict[str, list[str]]:
    """Return the models that grade, by the name under which a scorer's scores are stored.

    A second scorer of the same name is stored with a 1 behind it, a third with a 2.
    """
    found: dict[str, list[str]] = {}
    for scorer in scorers:
        name = base = str(scorer.get("name"))
        number = 0
        while name in found:
            number += 1
            name = f"{base}{number}"
        models = fields(scorer.get("options"), f"scorer {base}, options").get("model")
        listed = models if isinstance(models, list) else [models]
        found[name] = [str(m.get("model") if isinstance(m, Mapping) else m) for m in listed if m]
    return found


def _sample_rows(
    scores: dict[str, Any],
    shared: dict[str, Any],
    task: str,
    models: dict[str, list[str]],
    where: str,
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    gold: dict[str, Any] = {}
    edited: dict[str, str] = {}
    for scorer, score in scores.items():
        own, person, when = _own_and_edited(score, f"{where}, scores.{scorer}")
        for judge, question, value, corrected in _verdicts(
            scorer, score, own, person, models.get(scorer, []), where
        ):
            domain = task if question is None else f"{task}/{question}"
            vote, number, graded = verdict_of(value, _LETTERS)
            failed = vote is None and number is None
            rows.append(
                shared
                | {
                    "judge": judge,
                    "domain": domain,
                    "vote": vote,
                    "score": number,
                    "graded": graded,
                    "failed": failed,
                    "errored": False,
                    "reason": _text(score.get("reason")),
                }
            )
            label = verdict_of(corrected, _LETTERS).vote if corrected is not None else None
            if label not in (None, -1) and when >= edited.get(domain, ""):
                gold[domain], edited[domain] = label, when
    return [row | {"gold": gold.get(row["domain"])} for row in rows]


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _own_and_edited(score: Any, where: str) -> tuple[Any, Any, str]:
    """Return the scorer's own value, what a person put in its place (or None), and when."""
    value, history = score.get("value"), objects(score.get("history"), f"{where}.history")
    edits = [edit for edit in history if edit.get("provenance")]
    if not edits:
        return value, None, ""
    own = history[0].get("value", value) if not history[0].get("provenance") else None
    when = str(fields(edits[-1]["provenance"], f"{where}.history").get("timestamp") or "")
    # An edit that leaves the value as it is has a person behind it all the same.
    return own, value, when


def _verdicts(
    scorer: str, score: Any, own: Any, person: Any, models: list[str], where: str
) -> Iterator[tuple[str, str | None, Any, Any]]:
    """Yield judge, question (None: is it correct?), the judge's value and the person's."""
    panel = fields(score.get("metadata"), f"{where}, metadata of {scorer}").get("panel")
    if isinstance(panel, Mapping) and isinstance(panel.get("votes"), list):
        for k, vote in enumerate(panel["votes"]):
            who = models[k] if k < len(models) else str(k)
            yield f"{scorer}:{who}", None, vote, person
    elif isinstance(own, Mapping):
        for key, value in own.items():
            edited = person.get(key) if isinstance(person, Mapping) else None
            yield f"{scorer}.{key}", f"{scorer}.{key}", value, edited
    else:
        who = f"{scorer}:{models[0]}" if models else scorer
        yield who, None, own, person


# --- The members of an ``.eval`` archive, which Zstandard packs in a way that Python may not know.

_ZSTANDARD = 93
_ANY_SIZE = 1 << 24  # JSON takes twenty times its size in memory
_CUT = "Key removed from summary"
# What Python raises for archives that are cut, changed, encrypted or packed in another way.
_BROKEN = (zipfile.BadZipFile, OSError, EOFError, RuntimeError, struct.error, zlib.error)


def open_archive(path: Path) -> dict[str, Any]:
    """Return an archive as the JSON form of a log: the header, with the samples under their name.

    Summaries hold the scores without the transcripts; single samples are read only where the votes
    of a panel were cut from the summary, or where there are no summaries.
    """
    try:
        return _opened(path)
    except _BROKEN as error:
        raise DataError(f"{path.name} is a damaged archive: {first_words(error)}") from error


def _opened(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive, path.open("rb") as raw:
        members = {info.filename: info for info in archive.infolist()}

        def read(name: str) -> Any:
            try:
                return json.loads(_unpacked(archive, raw, members[name]))
            except KaratError:
                raise
            except (ValueError, RecursionError, *_BROKEN) as error:
                said = f"{path.name}: {name} cannot be read: {first_words(error)}"
                raise DataError(said) from error

        if "header.json" not in members:
            start = "_journal/start.json" in members
            why = "its run was not finished" if start else "it is no log of inspect"
            raise DataError(f"{path.name} has no header.json: {why}")
        header = read("header.json")
        if "summaries.json" in members:
            samples = list(objects(read("summaries.json"), f"{path.name}, summaries.json"))
        else:
            every = (read(n) for n in sorted(members) if n.startswith("samples/"))
            samples = [_slim(sample) for sample in every]
        for i, sample in enumerate(objects(samples, f"{path.name}, samples")):
            full = f"samples/{sample.get('id')}_epoch_{sample.get('epoch')}.json"
            if full in members and _is_cut(sample):
                samples[i] = _slim(read(full))
    return {**fields(header, f"{path.name}, header.json"), "samples": samples}


def _slim(sample: Any) -> Any:
    """Return a sample without its transcript, which is most of it."""
    kept = ("id", "epoch", "metadata", "scores", "error")
    return {k: sample[k] for k in kept if k in sample} if isinstance(sample, dict) else sample


def _is_cut(sample: Any) -> bool:
    for score in fields(sample.get("scores"), f"the scores of sample {sample.get('id')}").values():
        if not isinstance(score, dict):
            continue
        metadata = score.get("metadata")
        if str(metadata).startswith(_CUT):
            return True
        if isinstance(metadata, dict) and str(metadata.get("panel", "")).startswith(_CUT):
            return True
        if any(str(score.get(key, "")).startswith(_CUT) for key in ("value", "history")):
            return True
    return False


def _unpacked(archive: zipfile.ZipFile, raw: Any, info: zipfile.ZipInfo) -> bytes:
    name, packed = f"{info.filename} of {Path(raw.name).name}", info.compress_size
    if info.compress_type != _ZSTANDARD:
        with archive.open(info) as stream:
            return unpacked(stream, packed, name, any_size=_ANY_SIZE)
    raw.seek(info.header_offset)
    local = raw.read(30)
    named, extra = struct.unpack("<HH", local[26:30])
    raw.seek(named + extra, 1)
    from zstandard import ZstdDecompressor, ZstdError

    try:
        # Of several frames too.
        with ZstdDecompressor().stream_reader(raw.read(packed), read_across_frames=True) as reader:
            return unpacked(reader, packed, name, any_size=_ANY_SIZE)
    except ZstdError as error:
        raise DataError(
            Argument.of(name),
            f" cannot be unpacked: {first_words(error)}",
        ) from error
