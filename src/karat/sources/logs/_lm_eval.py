"""Samples of lm-evaluation-harness: one line per document and filter."""

import math
import re
from pathlib import Path
from typing import Any

from karat.exceptions import DataError
from karat.sources.logs._facts import Log, long_log, needed, objects, verdict_of

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
    for line in objects(document, path.name):
        item = str(line.get("doc_hash") or needed(line, "doc_id", path.name))
        shared = {
            "item": item, "unit": item, "domain": task, "model": path.parent.name or None,
            "epoch": 1, "metadata": line.get("doc"), "target": _text(line.get("target")),
            "filter": _text(line.get("filter")), **_choice(line.get("filtered_resps")),
        }  # fmt: skip
        for metric in _names(needed(line, "metrics", path.name), path.name):
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


def _names(metrics: Any, name: str) -> list[str]:
    if not isinstance(metrics, list) or not all(isinstance(one, str) for one in metrics):
        raise DataError(f"{name}: metrics is {metrics!r}; expected the names of metrics")
    return metrics


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _choice(responses: Any) -> dict[str, Any]:
    """Return the answer, and log-likelihoods of the options where the task has options.

    The log-likelihoods come as text.
    """
    if not isinstance(responses, list) or not responses:
        return {"prediction": None, "logits": []}
    pairs = all(isinstance(r, list) and len(r) == 2 for r in responses) and len(responses) > 1
    logits = [_logit(r[0]) for r in responses] if pairs else [math.nan]
    if any(math.isnan(x) for x in logits):  # answers in words, of which some tasks take two
        return {"prediction": _text(responses[0]), "logits": []}
    return {"prediction": str(max(range(len(logits)), key=logits.__getitem__)), "logits": logits}


def _logit(text: Any) -> float:
    """Return a log-likelihood, which comes as text; NaN for what is none."""
    try:
        found = float(text)
    except (TypeError, ValueError):
        return math.nan
    return found if found < math.inf else math.nan


def _softmax(logits: list[float], options: int) -> list[float | None]:
    if not logits:
        return [None] * options
    top = max(logits)
    if top == -math.inf:
        return [None] * options
    weights = [math.exp(x - top) for x in logits]
    shares = [w / sum(weights) for w in weights]
    return [*shares, *[None] * (options - len(shares))]
