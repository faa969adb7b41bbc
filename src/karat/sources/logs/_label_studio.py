"""Exports of Label Studio: annotators and models that answer named questions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from karat.sources.logs._facts import Log, long_log, needed

__all__ = ["is_label_studio", "read_label_studio"]


def is_label_studio(document: Any) -> bool:
    """Return whether a document lists tasks with annotations."""
    first = document[0] if isinstance(document, list) and document else None
    return isinstance(first, dict) and {"annotations", "data"} <= set(first)


def read_label_studio(document: Any, path: Path) -> Log:
    """Return a row per task, question and voter; what is marked as ground truth is gold."""
    rows: list[dict[str, Any]] = []
    for task in document:
        item = str(needed(task, "id", path.name))
        answers = list(_answers(task))
        gold = {question: vote for question, _, vote, truth in answers if truth}
        rows += [
            {"item": item, "unit": item, "epoch": 1, "model": None, "domain": question,
             "judge": f"{question}:{who}", "vote": vote, "score": None, "failed": vote is None,
             "gold": gold.get(question), "metadata": task.get("data")}
            for question, who, vote, truth in answers
            if not truth
        ]  # fmt: skip
    return long_log("label-studio", rows)


def _answers(task: Any) -> Iterator[tuple[str, str, str | None, bool]]:
    """Yield question, voter, answer and whether it is the ground truth."""
    for annotation in task.get("annotations") or []:
        if annotation.get("was_cancelled"):
            continue
        person = annotation.get("completed_by")
        who = person.get("email") or person.get("id") if isinstance(person, dict) else person
        for region in annotation.get("result") or []:
            truth = bool(annotation.get("ground_truth"))
            yield str(region.get("from_name")), str(who), _answer(region), truth
    for prediction in task.get("predictions") or []:
        for region in prediction.get("result") or []:
            model = str(prediction.get("model_version"))
            yield str(region.get("from_name")), model, _answer(region), False


def _answer(region: Any) -> str | None:
    """Return the answer of a region; several choices are one answer, an unknown type is none."""
    value = region.get("value") or {}
    if value.get("choices"):
        return "|".join(sorted(map(str, value["choices"])))
    if value.get("rating") is not None:
        return str(value["rating"])
    if value.get("taxonomy"):
        return "|".join("/".join(map(str, path)) for path in value["taxonomy"])
    return None if value.get("selected") is None else str(value["selected"])
