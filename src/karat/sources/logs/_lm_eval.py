"""Samples of lm-evaluation-harness: one line per document and filter."""

import math
import re
from pathlib import Path
from typing import Any

from karat.sources.logs._facts import Log, long_log, needed, verdict_of

__all__ = ["is_lm_eval", "read_lm_eval"]

_NAME = re.compile(r"samples_(?P<task>.+)_\d{4}-\d\d-\d\dT")


def is_lm_eval(document: Any) -> bool:
    """Return whether lines are samples of lm-eval."""
    first = document[0] if isinstance(document, list) and document else None
    return isinstance(first, dict) and {"doc_id", "filtered_resps", "doc"} <= set(first)


def read_lm_eval(document: Any, path: Path) -> Log:
    """Return a row per document, filter and metric; a judge is a metric under a filter."""
    named = _NAME.match(path.name)
    task = named["task"] if named else path.stem
    rows = []
    for line in document:
        item = str(line.get("doc_hash") or needed(line, "doc_id", path.name))
        shared = {
            "item": item, "unit": item, "domain": task, "model": path.parent.name or None,
            "epoch": 1, "metadata": line.get("doc"), "target": _text(line.get("target")),
            "filter": line.get("filter"), **_choice(line.get("filtered_resps")),
        }  # fmt: skip
        for metric in needed(line, "metrics", path.name):
            vote, score, graded = verdict_of(line.get(metric))
            rows.append(
                shared | {"judge": f"{metric},{line.get('filter')}", "vote": vote, "score": score,
                          "graded": graded, "failed": score is None, "gold": None}
            )  # fmt: skip
    options = max(len(row["logits"]) for row in rows) if rows else 0
    for row in rows:
        logits = row.pop("logits")
        row |= {f"prob_{k}": p for k, p in enumerate(_softmax(logits, options))}
    return long_log("lm-eval", rows)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _choice(responses: Any) -> dict[str, Any]:
    """Return the answer, and log-likelihoods of the options where the task has options.

    The log-likelihoods come as text.
    """
    if not isinstance(responses, list) or not responses:
        return {"prediction": None, "logits": []}
    if not all(isinstance(r, list) and len(r) == 2 for r in responses) or len(responses) < 2:
        return {"prediction": _text(responses[0]), "logits": []}
    logits = [float(first) for first, _ in responses]
    return {"prediction": str(max(range(len(logits)), key=logits.__getitem__)), "logits": logits}


def _softmax(logits: list[float], options: int) -> list[float | None]:
    if not logits:
        return [None] * options
    top = max(logits)
    weights = [math.exp(x - top) for x in logits]
    shares = [w / sum(weights) for w in weights]
    return [*shares, *[None] * (options - len(shares))]
