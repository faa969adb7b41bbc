"""Read logs of DeepEval, promptfoo, MLflow, Label Studio and lm-evaluation-harness."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from karat._sentences import Argument, Expected
from karat.exceptions import DataError
from karat.sources.logs._records import (
    Log,
    fields,
    long_log,
    needed,
    number_in,
    objects,
    truth_in,
    verdict_of,
)


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
    times = Counter(names)
    rows = []
    for i, case in enumerate(cases):
        item = names[i] if times[names[i]] == 1 else f"{names[i]}#{case.get('order', i)}"
        for metric in objects(case.get("metricsData"), f"{where}, metricsData of {item}"):
            failed = bool(metric.get("error")) or metric.get("success") is None
            name = str(needed(metric, "name", where))
            held = truth_in(metric.get("success"), f"{where}, success of {name}")
            score = number_in(metric.get("score"), f"{where}, the score of {name}")
            grader = metric.get("evaluationModel")
            rows.append(
                {
                    "item": item,
                    "unit": item,
                    "epoch": 1,
                    "model": None,
                    "domain": name,
                    "judge": f"{name}:{grader}" if grader else name,
                    "vote": None if failed else held,
                    "score": None if failed else score,
                    "failed": failed,
                    "gold": None,
                    "reason": metric.get("reason"),
                    "metadata": case.get("metadata"),
                }
            )
    return long_log("deepeval", rows)


# --- Exports of Label Studio: annotators and models that answer named questions.


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
            {
                "item": item,
                "unit": item,
                "epoch": 1,
                "model": None,
                "domain": question,
                "judge": f"{question}:{who}",
                "vote": vote,
                "score": None,
                "failed": vote is None,
                "gold": gold.get(question),
                "metadata": task.get("data"),
            }
            for question, who, vote, truth in answers
            if not truth
        ]
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


# --- Samples of lm-evaluation-harness: one line per document and filter.

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
            "item": item,
            "unit": item,
            "domain": task,
            "model": path.parent.name or None,
            "epoch": 1,
            "metadata": line.get("doc"),
            "target": _text(line.get("target")),
            "filter": _text(line.get("filter")),
            **_choice(line.get("filtered_resps")),
        }
        for metric in _names(needed(line, "metrics", path.name), path.name):
            vote, score, graded = verdict_of(line.get(metric))
            rows.append(
                shared
                | {
                    "judge": f"{metric},{line.get('filter')}",
                    "vote": vote,
                    "score": score,
                    "graded": graded,
                    "failed": score is None,
                    "gold": None,
                }
            )
    options = max(len(row["logits"]) for row in rows) if rows else 0
    for row in rows:
        logits = row.pop("logits")
        row |= {f"prob_{k}": p for k, p in enumerate(_softmax(logits, options))}
    return long_log("lm-eval", rows)


def _names(metrics: Any, name: str) -> list[str]:
    if not isinstance(metrics, list) or not all(isinstance(one, str) for one in metrics):
        raise DataError(
            Argument.of(name),
            f": metrics is {metrics!r}; expected ",
            Expected("the names of metrics"),
        )
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


# --- Traces of MLflow with their assessments: judges, people and expectations.


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
                {
                    "item": item,
                    "unit": item,
                    "epoch": 1,
                    "model": None,
                    "domain": "all",
                    "judge": name,
                    "vote": None if failed else vote,
                    "score": None if failed else score,
                    "graded": graded,
                    "gold": gold,
                    "failed": failed,
                    "reason": str(one.get("rationale") or "") or None,
                    "metadata": {
                        "request": trace.get("request"),
                        "response": trace.get("response"),
                    },
                }
            )
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


# --- Results of promptfoo: judges are assertions that a model grades; people rate in the viewer.

_VERSIONS = (3,)
_GRADED = (
    "llm-rubric",
    "g-eval",
    "factuality",
    "answer-relevance",
    "context-faithfulness",
    "context-recall",
    "context-relevance",
    "select-best",
    "closedqa",
    "search-rubric",
    "conversation-relevance",
    "trajectory:goal-success",
)
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
        "item": item,
        "unit": unit if seen[unit] == 1 else f"{unit}#{seen[unit]}",
        "model": system,
        "epoch": seen[unit],
        "metadata": record.get("vars"),
    }
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
                shared
                | {
                    "judge": _judge(assertion),
                    "domain": question,
                    "vote": verdicts[-1],
                    "score": None if failed else score,
                    "failed": failed,
                    "gold": None,
                    "reason": _text(part.get("reason")),
                }
            )
    if thumb is None:
        return rows
    if len(questions) == 1:  # the output passes if and only if this one question is answered yes
        return [row | {"gold": thumb} for row in rows]
    return [*rows, shared | _whole(verdicts, thumb)]


def _whole(verdicts: list[int | None], thumb: int) -> dict[str, Any]:
    """Return the row of the whole output, which is what a person rates."""
    known = 0 in verdicts or (bool(verdicts) and None not in verdicts)
    return {
        "judge": "all assertions",
        "domain": "the whole output",
        "vote": int(0 not in verdicts) if known else None,
        "score": None,
        "failed": not known,
        "gold": thumb,
        "reason": None,
    }


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
