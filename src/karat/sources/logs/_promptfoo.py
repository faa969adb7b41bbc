"""Results of promptfoo: judges are assertions that a model grades; people rate in the viewer."""

from collections import Counter
from pathlib import Path
from typing import Any

from karat.exceptions import DataError
from karat.sources.logs._facts import Log, long_log, needed

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
        results = needed(document, "results", path.name)
        if results.get("version") not in _VERSIONS:
            raise DataError(
                f"{path.name} holds results of promptfoo of version {results.get('version')!r}; "
                "expected version 3"
            )
        version = str(results["version"])
        records = needed(results, "results", path.name)
    rows: list[dict[str, Any]] = []
    seen: Counter[str] = Counter()
    for record in records:
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
    parts = (record.get("gradingResult") or {}).get("componentResults") or []
    gold = None
    rows = []
    for part in parts:
        assertion = part.get("assertion") or {}
        kind = str(assertion.get("type", "")).removeprefix("not-")
        if kind == _HUMAN:
            gold = int(bool(part.get("pass")))
        elif kind in _GRADED or kind.startswith("model-graded"):
            failed = _has_failed(record, part)
            rows.append(
                shared | {"judge": _judge(assertion), "domain": str(assertion.get("value") or kind),
                          "vote": None if failed else int(bool(part.get("pass"))),
                          "score": None if failed else part.get("score"), "failed": failed,
                          "reason": part.get("reason")}
            )  # fmt: skip
    return [row | {"gold": gold} for row in rows]


def _judge(assertion: Any) -> str:
    if assertion.get("metric"):
        return str(assertion["metric"])
    provider = assertion.get("provider")
    named = provider.get("id") if isinstance(provider, dict) else provider
    return f"{assertion.get('type')}:{named}" if named else str(assertion.get("type"))


def _has_failed(record: Any, part: Any) -> bool:
    if record.get("failureReason") == _ERROR or part.get("error") or part.get("pass") is None:
        return True
    reason = str(part.get("reason") or "").lower()
    said = (part.get("metadata") or {}).get("graderError")
    return bool(said) or (not part["pass"] and any(sign in reason for sign in _UNPARSED))
