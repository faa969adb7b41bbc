"""Test runs of deepeval: every metric of a case is a verdict by a model."""

from pathlib import Path
from typing import Any

from karat.sources.logs._facts import Log, fields, long_log, needed, number_in, objects, truth_in

__all__ = ["is_deepeval", "read_deepeval"]


def is_deepeval(document: Any) -> bool:
    """Return whether a document is a test run, wrapped or not."""
    if not isinstance(document, dict):
        return False
    return "testRunData" in document or "testCases" in document


def read_deepeval(document: Any, path: Path) -> Log:
    """Return a row per case and metric; a metric is a question of its own."""
    where = path.name
    run = fields(document.get("testRunData", document), f"{where}, testRunData")
    cases = [
        *objects(needed(run, "testCases", where), f"{where}, testCases"),
        *objects(run.get("conversationalTestCases"), f"{where}, conversationalTestCases"),
    ]
    names = [str(case.get("name") or case.get("order")) for case in cases]
    rows = []
    for i, case in enumerate(cases):
        item = names[i] if names.count(names[i]) == 1 else f"{names[i]}#{case.get('order', i)}"
        for metric in objects(case.get("metricsData"), f"{where}, metricsData of {item}"):
            failed = bool(metric.get("error")) or metric.get("success") is None
            name = str(needed(metric, "name", where))
            held = truth_in(metric.get("success"), f"{where}, success of {name}")
            score = number_in(metric.get("score"), f"{where}, the score of {name}")
            grader = metric.get("evaluationModel")
            rows.append(
                {"item": item, "unit": item, "epoch": 1, "model": None, "domain": name,
                 "judge": f"{name}:{grader}" if grader else name,
                 "vote": None if failed else held,
                 "score": None if failed else score, "failed": failed, "gold": None,
                 "reason": metric.get("reason"), "metadata": case.get("metadata")}
            )  # fmt: skip
    return long_log("deepeval", rows)
