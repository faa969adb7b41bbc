"""Traces of MLflow with their assessments: judges, people and expectations."""

from pathlib import Path
from typing import Any

from karat.sources.logs._facts import Log, fields, long_log, needed, objects, verdict_of

__all__ = ["is_mlflow", "read_mlflow"]


def is_mlflow(document: Any) -> bool:
    """Return whether a document lists traces with assessments."""
    first = document[0] if isinstance(document, list) and document else None
    return isinstance(first, dict) and {"trace_id", "assessments"} <= set(first)


def read_mlflow(document: Any, path: Path) -> Log:
    """Return a row per trace and judge.

    Feedback of a person under the name of a judge is the gold vote of that judge; an expectation
    that is a verdict (true, no, …) is the gold label of the trace. Of several by one source the
    latest valid one counts.
    """
    rows: list[dict[str, Any]] = []
    for trace in objects(document, path.name):
        item = str(needed(trace, "trace_id", path.name))
        where = f"{path.name}, trace {item}"
        listed = objects(trace.get("assessments"), f"{where}, assessments")
        judged, people, expected = _sorted_out(listed, where)
        for name, one in judged.items():
            said = fields(one.get("feedback"), f"{where}, feedback of {name}")
            vote, score, graded = verdict_of(said.get("value"))
            failed = bool(said.get("error")) or (vote is None and score is None)
            gold = people.get(name, expected)
            rows.append(
                {"item": item, "unit": item, "epoch": 1, "model": None, "domain": "all",
                 "judge": name, "vote": None if failed else vote,
                 "score": None if failed else score, "graded": graded, "gold": gold,
                 "failed": failed, "reason": str(one.get("rationale") or "") or None,
                 "metadata": {"request": trace.get("request"), "response": trace.get("response")}}
            )  # fmt: skip
    return long_log("mlflow", rows)


def _sorted_out(assessments: list[Any], where: str) -> tuple[dict[str, Any], dict[str, Any], Any]:
    """Return assessments of judges by name, verdicts of people by name, and the gold label."""
    judged: dict[str, Any] = {}
    people: dict[str, Any] = {}
    expected = None
    valid = [a for a in assessments if a.get("valid") is not False]
    for one in sorted(valid, key=lambda a: str(a.get("last_update_time") or a.get("create_time"))):
        name = str(one.get("assessment_name") or one.get("name"))
        source = fields(one.get("source"), f"{where}, source of {name}")
        by_person = source.get("source_type") == "HUMAN"
        if "expectation" in one:
            label = verdict_of(fields(one["expectation"], f"{where}, expectation").get("value"))
            # An expected answer in words is no verdict on the answer that was given.
            if label.graded and label.score is not None and label.vote in (0, 1):
                expected = label.vote
        elif by_person:
            vote = verdict_of(fields(one.get("feedback"), f"{where}, feedback").get("value")).vote
            if vote is not None:
                people[name] = vote
        else:
            judged[name] = one
    return judged, people, expected
