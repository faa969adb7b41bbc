"""A study's data as files to keep."""

import re
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import Response

from karat.studio.routes import deps
from karat.studio.routes.admin_common import StudyDep
from karat.studio.routes.admin_people import PersonDep
from karat.studio.services.research import exports

router = APIRouter(prefix="/studies/{study_id}")
Kind = Annotated[str, Query(pattern="^(people|bots|previews)$")]
_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
}


def _file(content: str | bytes, name: str, ending: str) -> Response:
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:60] or "study"
    return Response(
        content,
        media_type=_TYPES[ending],
        headers={"Content-Disposition": f'attachment; filename="{plain}.{ending}"'},
    )


@router.get("/export/{table}.{ending}")
def table(
    store: deps.StoreDep, study: StudyDep, table: str, ending: str, show: Kind = "people"
) -> Response:
    """Return a table as CSV or Parquet, or all of the study or its metric as JSON."""
    name = f"{study.name}-{table}"
    if (table, ending) == ("study", "json"):
        return _file(exports.study_json(store, study, kind=show), name, ending)
    if (table, ending) == ("metric", "json"):
        text = exports.metric_json(store, study, kind=show)
        if text is None:
            raise HTTPException(404)
        return _file(text, name, ending)
    rows = {"answers": exports.answers_table, "people": exports.people_table}.get(table)
    if rows is None or ending not in ("csv", "parquet"):
        raise HTTPException(404)
    found = rows(store, study, kind=show)
    text_or_bytes = exports.as_csv(found) if ending == "csv" else exports.as_parquet(found)
    return _file(text_or_bytes, name, ending)


@router.get("/people/{person_id}/{what}.json")
def person_file(store: deps.StoreDep, study: StudyDep, person: PersonDep, what: str) -> Response:
    """Return a person's metric or transcript."""
    if what not in ("metric", "transcript"):
        raise HTTPException(404)
    made = exports.person_metric_json if what == "metric" else exports.transcript_json
    text = made(store, person.id)
    if text is None:
        raise HTTPException(404)
    return _file(text, f"{person.label or person.id[:6]}-{what}", "json")
