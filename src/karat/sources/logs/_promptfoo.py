"""Results of promptfoo: judges are assertions that a model grades; people rate in the viewer."""

from collections import Counter
from pathlib import Path
from typing import Any

from karat.exceptions import DataError
from karat.sources.logs._facts import Log, fields, long_log, needed, number_in, objects, truth_in

__all__ = ["is_promptfoo", "read_promptfoo"]

_VERSIONS = (3,)
_GRADED = ("llm-rubric", "g-eval", "factuality", "answer-relevance", "context-faithfulness",
           "context-recall", "context-relevance", "select-best", "closedqa", "search-rubric",
           "conversation-relevance", "trajectory:goal-success")  # fmt: skip
_HUMAN = "human"
_ERROR = 2  # failureReason: the system or the grader failed; 1: an assertion did not hold
# How a grader says that it could not read its own answer; the verdict it then gives is no verdict.
_UNPARSED = ("could not extract json", "malformed response", "no output", "could not parse")


def is_promptfoo(document: Any) -> bool:
    """Return whether a document, or lines, are results of promptfoo."""
    if isinstance(document, dict):
        return "evalId" in document and "results" in document
    first = document[0] if isinstance(document, list) and document else None
    return isinstance(first, dict) and {"promptIdx", "testIdx", "provider"} <= set(first)


def read_promptfoo(document: Any, path: Path) -> Log:
    """Return a row per test, system and assertion that a model grades."""
    version = ""
    records = document
    if isinstance(document, dict):
        results = fields(needed(document, "results", path.name), f"{path.name}, results")
        if results.get("version") not in _VERSIONS:
            raise DataError(
                f"{path.name} holds results of promptfoo of version {results.get('version')!r}; "
                "expected version 3"
            )
        version = str(results["version"])
        records = needed(results, "results", path.name)
    rows: list[dict[str, Any]] = []
    seen: Counter[str] = Counter()
    for record in objects(records, f"{path.name}, results"):
        rows += _record_rows(record, seen, path.name)
    return long_log("promptfoo", rows, version=version)


def _record_rows(record: Any, seen: Counter[str], name: str) -> list[dict[str, Any]]:
    provider = needed(record, "provider", name)
    who = provider.get("label") or provider.get("id") if isinstance(provider, dict) else provider
    system = f"{who}, prompt {record.get('promptIdx')}"
    item = str(needed(record, "testIdx", name))
    unit = f"{item}|{system}"
    seen[unit] += 1  # repeats of a test share its number
    shared = {
        "item": item, "unit": unit if seen[unit] == 1 else f"{unit}#{seen[unit]}",
        "model": system, "epoch": seen[unit], "metadata": record.get("vars"),
    }  # fmt: skip
    where = f"{name}, test {item}"
    grading = fields(record.get("gradingResult"), f"{where}, gradingResult")
    thumb, rows, verdicts = None, [], []
    questions: set[str] = set()
    for part in objects(grading.get("componentResults"), f"{where}, componentResults"):
        assertion = fields(part.get("assertion"), f"{where}, assertion")
        kind = str(assertion.get("type", "")).removeprefix("not-")
        if kind == _HUMAN:
            thumb = truth_in(part.get("pass"), f"{where}, pass of a person")
            continue
        question = str(assertion.get("value") or kind)
        questions.add(question)
        failed = _has_failed(record, part, where)
        held = truth_in(part.get("pass"), f"{where}, pass")
        verdicts.append(None if failed else held)
        if kind in _GRADED or kind.startswith("model-graded"):
            score = number_in(part.get("score"), f"{where}, score")
            rows.append(
                shared | {"judge": _judge(assertion), "domain": question, "vote": verdicts[-1],
                          "score": None if failed else score, "failed": failed, "gold": None,
                          "reason": _text(part.get("reason"))}
            )  # fmt: skip
    if thumb is None:
        return rows
    if len(questions) == 1:  # the output passes if and only if this one question is answered yes
        return [row | {"gold": thumb} for row in rows]
    return [*rows, shared | _whole(verdicts, thumb)]


def _whole(verdicts: list[int | None], thumb: int) -> dict[str, Any]:
    """Return the row of the whole output, which is what a person rates."""
    known = 0 in verdicts or (bool(verdicts) and None not in verdicts)
    return {
        "judge": "all assertions", "domain": "the whole output",
        "vote": int(0 not in verdicts) if known else None, "score": None, "failed": not known,
        "gold": thumb, "reason": None,
    }  # fmt: skip


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _judge(assertion: Any) -> str:
    if assertion.get("metric"):
        return str(assertion["metric"])
    provider = assertion.get("provider")
    named = provider.get("id") if isinstance(provider, dict) else provider
    return f"{assertion.get('type')}:{named}" if named else str(assertion.get("type"))


def _has_failed(record: Any, part: Any, where: str) -> bool:
    if record.get("failureReason") == _ERROR or part.get("error") or part.get("pass") is None:
        return True
    reason = str(part.get("reason") or "").lower()
    said = fields(part.get("metadata"), f"{where}, metadata").get("graderError")
    return bool(said) or (not part["pass"] and any(sign in reason for sign in _UNPARSED))
