"""Exports of Label Studio: annotators and models that answer named questions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from karat.sources.logs._facts import Log, fields, long_log, needed, objects, truth_in

__all__ = ["is_label_studio", "read_label_studio"]


def is_label_studio(document: Any) -> bool:
    """Return whether a document lists tasks with annotations."""
    first = document[0] if isinstance(document, list) and document else None
    return isinstance(first, dict) and {"annotations", "data"} <= set(first)


def read_label_studio(document: Any, path: Path) -> Log:
    """Return a row per task, question and voter; what is marked as ground truth is gold."""
    rows: list[dict[str, Any]] = []
    for task in objects(document, path.name):
        item = str(needed(task, "id", path.name))
        answers = list(_answers(task, f"{path.name}, task {item}"))
        gold = {question: vote for question, _, vote, truth in answers if truth}
        rows += [
            {"item": item, "unit": item, "epoch": 1, "model": None, "domain": question,
             "judge": f"{question}:{who}", "vote": vote, "score": None, "failed": vote is None,
             "gold": gold.get(question), "metadata": task.get("data")}
            for question, who, vote, truth in answers
            if not truth
        ]  # fmt: skip
    return long_log("label-studio", rows)


def _answers(task: Any, where: str) -> Iterator[tuple[str, str, str | None, bool]]:
    """Yield question, voter, answer and whether it is the ground truth."""
    for annotation in objects(task.get("annotations"), f"{where}, annotations"):
        if truth_in(annotation.get("was_cancelled"), f"{where}, was_cancelled"):
            continue
        truth = bool(truth_in(annotation.get("ground_truth"), f"{where}, ground_truth"))
        person = annotation.get("completed_by")
        who = person.get("email") or person.get("id") if isinstance(person, dict) else person
        for region in objects(annotation.get("result"), f"{where}, result"):
            yield str(region.get("from_name")), str(who), _answer(region, where), truth
    for prediction in objects(task.get("predictions"), f"{where}, predictions"):
        for region in objects(prediction.get("result"), f"{where}, result"):
            model = str(prediction.get("model_version"))
            yield str(region.get("from_name")), model, _answer(region, where), False


def _answer(region: Any, where: str) -> str | None:
    """Return the answer of a region; several choices are one answer, an unknown type is none."""
    value = fields(region.get("value"), f"{where}, value of {region.get('from_name')}")
    if value.get("choices"):
        chosen = value["choices"]
        return "|".join(sorted(map(str, chosen if isinstance(chosen, list) else [chosen])))
    if value.get("rating") is not None:
        return str(value["rating"])
    if value.get("taxonomy"):
        paths = value["taxonomy"] if isinstance(value["taxonomy"], list) else [value["taxonomy"]]
        return "|".join("/".join(map(str, p if isinstance(p, list) else [p])) for p in paths)
    return None if value.get("selected") is None else str(value["selected"])
