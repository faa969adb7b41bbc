"""Logs of inspect: scorers, panels of judges, epochs, and scores that people edited."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from karat.exceptions import DataError
from karat.sources.logs._facts import Log, long_log, needed, verdict_of

__all__ = ["is_inspect", "read_inspect"]

_VERSIONS = (1, 2)


def is_inspect(document: Any) -> bool:
    """Return whether a document is a log of inspect."""
    return isinstance(document, dict) and {"eval", "samples"} <= set(document)


def read_inspect(document: Any, path: Path) -> Log:
    """Return a row per sample, epoch and judge."""
    version = document.get("version")
    if version not in _VERSIONS:
        raise DataError(
            f"{path.name} is a log of inspect of version {version!r}; expected version "
            f"{' or '.join(map(str, _VERSIONS))}"
        )
    run = needed(document, "eval", path.name)
    task, model = needed(run, "task", f"{path.name}, eval"), run.get("model")
    models = _models_of_scorers(run.get("scorers") or [])
    samples = document.get("samples") or []
    several = len({sample.get("epoch") for sample in samples}) > 1
    rows: list[dict[str, Any]] = []
    for sample in samples:
        item, epoch = str(needed(sample, "id", f"{path.name}, a sample")), sample.get("epoch") or 1
        shared = {
            "item": item,
            "unit": f"{item}#{epoch}" if several else item,
            "epoch": epoch,
            "model": model,
            "metadata": sample.get("metadata"),
        }
        rows += _sample_rows(sample, shared, str(task), models)
    packages = run.get("packages") or {}
    return long_log("inspect", rows, version=str(packages.get("inspect_ai") or version))


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
        models = (scorer.get("options") or {}).get("model")
        listed = models if isinstance(models, list) else [models]
        found[name] = [str(m.get("model") if isinstance(m, Mapping) else m) for m in listed if m]
    return found


def _sample_rows(
    sample: Any, shared: dict[str, Any], task: str, models: dict[str, list[str]]
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    gold: dict[str, Any] = {}
    edited: dict[str, str] = {}
    for scorer, score in (sample.get("scores") or {}).items():
        own, person, when = _own_and_edited(score)
        for judge, question, value, corrected in _verdicts(
            scorer, score, own, person, models.get(scorer, [])
        ):
            domain = task if question is None else f"{task}/{question}"
            vote, number, graded = verdict_of(value)
            failed = vote is None and number is None
            rows.append(
                shared | {"judge": judge, "domain": domain, "vote": vote, "score": number,
                          "graded": graded, "failed": failed, "reason": score.get("reason")}
            )  # fmt: skip
            label = verdict_of(corrected).vote if corrected is not None else None
            if label not in (None, -1) and when >= edited.get(domain, ""):
                gold[domain], edited[domain] = label, when
    return [row | {"gold": gold.get(row["domain"])} for row in rows]


def _own_and_edited(score: Any) -> tuple[Any, Any, str]:
    """Return the scorer's own value, what a person put in its place (or None), and when."""
    value, history = score.get("value"), score.get("history") or []
    edits = [edit for edit in history if edit.get("provenance")]
    if not edits:
        return value, None, ""
    own = history[0].get("value", value) if not history[0].get("provenance") else None
    when = str((edits[-1].get("provenance") or {}).get("timestamp") or "")
    # An edit that leaves the value as it is has a person behind it all the same.
    return own, value, when


def _verdicts(
    scorer: str, score: Any, own: Any, person: Any, models: list[str]
) -> Iterator[tuple[str, str | None, Any, Any]]:
    """Yield judge, question (None: is it correct?), the judge's value and the person's."""
    panel = (score.get("metadata") or {}).get("panel")
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
