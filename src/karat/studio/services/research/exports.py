"""A study's data as files: CSV and Parquet for tables, JSON for all of it.

The JSON names its schema and version. `karat.metrics.load_metric` reads it and returns the metric
of the study; every person's metric and transcript is in it as karat writes them, so that metrics
score and transcripts replay.
"""

import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from karat import __version__
from karat._extras import require
from karat._files import escape_cell
from karat._result import plain
from karat.elicit import SharedMetric
from karat.studio.models import Study
from karat.studio.services import people, results, session, studies
from karat.studio.services.flow import COMPARISONS
from karat.studio.services.research.dashboard import KINDS, name_of, shared_of
from karat.studio.services.results import PersonResult
from karat.studio.storage import Store

SCHEMA = "karat.study"
SCHEMA_VERSION = 2
Rows = list[dict[str, Any]]


def answers_table(store: Store, study: Study, *, kind: str = "people") -> Rows:
    """Return one row for each comparison that a person answered, in order; undone ones too."""
    rows = []
    for person in people.list_of(store, study.id, kinds=KINDS[kind]):
        entries = people.log_of(store, person.id)
        undone = {entry.undoes for entry in entries if entry.phase == "undo"}
        notes: dict[int, list[str]] = {}
        for note in people.notes_of(store, person.id):
            if note.seq is not None:
                notes.setdefault(note.seq, []).append(note.text)
        for entry in entries:
            if entry.phase not in COMPARISONS:
                continue
            told = entry.payload
            rows.append(
                {
                    "person": person.id,
                    "label": person.label,
                    "number": told["number"],
                    "phase": entry.phase,
                    "kind": told["kind"],
                    "answer": told["answer"],
                    "choice": told["choice"],
                    "swapped": told["swapped"],
                    "undone": entry.seq in undone,
                    "seconds": told["kept"]["seconds"],
                    "client_seconds": entry.client_seconds,
                    "server_seconds": entry.seconds,
                    "view": told["view"],
                    "rates": told["rates"],
                    "first": json.dumps(told["first"]),
                    "second": json.dumps(told["second"]),
                    "note": "\n".join(notes.get(entry.seq, [])),
                    "at": entry.created_at,
                }
            )
    return rows


def people_table(store: Store, study: Study, *, kind: str = "people") -> Rows:
    """Return one row for each person: metric with limits, agreement, checks, and what they said."""
    rows = []
    for person in people.list_of(store, study.id, kinds=KINDS[kind]):
        known = results.person_result(store, person.id)
        if known is not None:
            rows.append(_person_row(known))
    # Everyone has the same columns, whatever they have answered.
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row.get(name) for name in names} for row in rows]


def _person_row(known: PersonResult) -> dict[str, Any]:
    person, result = known.person, known.result
    row: dict[str, Any] = {
        "person": person.id,
        "label": person.label,
        "kind": person.kind,
        "prolific_pid": person.prolific_pid,
        "finished": known.finished,
        "phase": known.phase,
        "guess_order": person.guess_order,
        "n_answers": known.n_answers,
        "status": None if result is None else result.status,
        "expected_agreement": None if result is None else result.agreement,
    }
    if result is not None:
        worth = [] if result.trade_off is None else [result.trade_off.worth]
        for weight in (*result.weights, *result.ratios, *worth):
            row |= {
                weight.name: weight.value,
                f"{weight.name}, lower": weight.lower,
                f"{weight.name}, upper": weight.upper,
            }
    if known.evaluation is not None:
        found = known.evaluation
        row |= {
            "agreement": found.value,
            "agreement, lower": found.lower,
            "agreement, upper": found.upper,
            "agreement, n": found.n,
            "agreement of guess": None if found.baseline is None else found.baseline.value,
        }
    if known.checks is not None:
        checks = known.checks
        row |= {
            "dominated right": checks.n_right,
            "dominated": checks.n_dominated,
            "repeated same": checks.n_same,
            "repeated": checks.n_repeated,
        }
    row |= {f"quiz, {page}": score for page, (score, _) in known.quiz.items()}
    row |= {f"guess, {name}": value for name, value in (known.guess or {}).items()}
    for part, answers in (("background", known.background), ("post", known.post)):
        for name, value in answers.items():
            text = "; ".join(map(str, value)) if isinstance(value, list) else value
            row[f"{part}, {name}"] = text
    return row


def as_csv(rows: Rows) -> str:
    """Return rows as CSV that no spreadsheet takes for formulas."""
    file = io.StringIO()
    names = list(rows[0]) if rows else []
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([escape_cell(name) for name in names])
    writer.writerows([[escape_cell(row[name]) for name in names] for row in rows])
    return file.getvalue()


def as_parquet(rows: Rows) -> bytes:
    """Return rows as a Parquet file."""
    polars = require("polars", purpose="writing a Parquet file")
    file = io.BytesIO()
    polars.DataFrame(rows, infer_schema_length=None, strict=False).write_parquet(file)
    return file.getvalue()


def metric_json(store: Store, study: Study, *, kind: str = "people") -> str | None:
    """Return the metric of a study as `load_metric` reads it; None where nobody has one."""
    metric = _metric(store, study, kind)[0]
    return None if metric is None else json.dumps(metric, ensure_ascii=False)


def _metric(store: Store, study: Study, kind: str) -> tuple[dict[str, Any] | None, str]:
    """Return the metric that people share, or that of the only one, and whose it is."""
    shared = shared_of(store, study, kind=kind)
    if isinstance(shared, SharedMetric):
        return json.loads(shared.metric.to_json()), "shared"
    found = [
        results.person_result(store, person.id)
        for person in people.list_of(store, study.id, kinds=KINDS[kind])
    ]
    usable = [
        known
        for known in found
        if known is not None and known.result is not None and known.result.status != "flagged"
    ]
    if len(usable) != 1:
        return None, shared
    return _own_metric(store, usable[0]), "the only person whose answers fit one"


def _own_metric(store: Store, known: PersonResult) -> dict[str, Any] | None:
    """Return the metric of a person, with whose it is and when the last answer was given."""
    if known.result is None:
        return None
    metric = known.result.metric
    asked = [e.created_at for e in people.log_of(store, known.person.id) if e.phase in COMPARISONS]
    when = datetime.fromtimestamp(max(asked), UTC).date().isoformat() if asked else None
    if metric.elicited is not None:
        metric = metric._with(elicited=replace(metric.elicited, who=name_of(known), when=when))
    return metric.to_dict()


def transcript_json(store: Store, person_id: str) -> str | None:
    """Return the questions and answers of a person, as `load_transcript` reads them."""
    person = people.get(store, person_id)
    elicitation = None if person is None else session.elicitation_of(store, person)
    return None if elicitation is None else elicitation.transcript.to_json()


def study_json(store: Store, study: Study, *, kind: str = "people") -> str:
    """Return all of a study but its predictions: texts, people, answers, metrics, transcripts."""
    metric, whose = _metric(store, study, kind)
    shared = shared_of(store, study, kind=kind)
    everyone = []
    for person in people.list_of(store, study.id, kinds=KINDS[kind]):
        known = results.person_result(store, person.id)
        if known is None:
            continue
        said = None if known.result is None else known.result
        transcript = transcript_json(store, person.id)
        everyone.append(
            {
                "person": person.id,
                "label": name_of(known),
                "kind": person.kind,
                "finished": known.finished,
                "guess": known.guess,
                "background": known.background,
                "post": known.post,
                "quiz": known.quiz,
                "metric": _own_metric(store, known),
                "status": None if said is None else said.status,
                "summary": None if said is None else said.summary(),
                "weights": None if said is None else said.weights,
                "ratios": None if said is None else said.ratios,
                "evaluation": known.evaluation,
                "checks": known.checks,
                "transcript": None if transcript is None else json.loads(transcript),
                "log": [
                    {
                        "seq": entry.seq,
                        "phase": entry.phase,
                        "payload": entry.payload,
                        "undoes": entry.undoes,
                        "seconds": entry.seconds,
                        "client_seconds": entry.client_seconds,
                        "at": entry.created_at,
                    }
                    for entry in people.log_of(store, person.id)
                ],
                "notes": [
                    {"seq": note.seq, "text": note.text, "at": note.created_at}
                    for note in people.notes_of(store, person.id)
                ],
            }
        )
    return json.dumps(
        plain(
            {
                "schema": SCHEMA,
                "version": SCHEMA_VERSION,
                "karat": __version__,
                "name": study.name,
                "fingerprint": study.fingerprint,
                "config": study.config,
                "metric": metric,
                "metric_of": whose,
                "shared": None if isinstance(shared, str) else shared,
                "people": everyone,
                "classes": studies.asked_of(store, study).classes,
            }
        ),
        ensure_ascii=False,
    )


def person_metric_json(store: Store, person_id: str) -> str | None:
    """Return the metric of a person as `load_metric` reads it; None before the first answer."""
    known = results.person_result(store, person_id)
    metric = None if known is None else _own_metric(store, known)
    return None if metric is None else json.dumps(metric, ensure_ascii=False)
