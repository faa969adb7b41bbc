"""The people of a study: their links, their answers with an interviewer's notes, withdrawing."""

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from karat.studio.charts import comparison_svg
from karat.studio.models import Person
from karat.studio.routes import deps
from karat.studio.routes.admin_common import AdminForm, StudyDep, rendered
from karat.studio.services import people, results
from karat.studio.services.research import answers, dashboard

router = APIRouter(prefix="/studies/{study_id}/people")
_MOST_LINKS = 500
_LINK_DAYS = 30.0


def person_of(study: StudyDep, person_id: str, store: deps.StoreDep) -> Person:
    """Return a person of a study."""
    person = people.get(store, person_id) if len(person_id) <= 32 else None
    if person is None or person.study_id != study.id:
        raise HTTPException(404)
    return person


PersonDep = Annotated[Person, Depends(person_of)]


@router.post("")
def make_links(
    request: Request, store: deps.StoreDep, study: StudyDep, form: AdminForm
) -> Response:
    """Make a link for each name, one a line, and show them."""
    names = [line.strip()[:100] for line in form.one("names").splitlines() if line.strip()]
    made = [people.create(store, study, label=name) for name in names[:_MOST_LINKS]]
    return rendered(
        request, store, "links", study=study, links=[(one.label, _link(store, one)) for one in made]
    )


def _link(store: deps.StoreDep, person: Person) -> str:
    return f"{store.settings.base_url}/p/{people.token(store, person)}"


@router.get("/{person_id}")
def show(request: Request, store: deps.StoreDep, study: StudyDep, person: PersonDep) -> Response:
    """Show what is known of a person, and every answer."""
    shown = [
        (answer, comparison_svg(answer.left, answer.right, **answer.drawing))
        for answer in answers.answers_of(store, study, person)
    ]
    return rendered(
        request,
        store,
        "person",
        study=study,
        person=person,
        answers=shown,
        known=results.person_result(store, person.id),
        notes=people.notes_of(store, person.id),
        link=_link(store, person),
    )


@router.post("/{person_id}/notes")
def note(store: deps.StoreDep, study: StudyDep, person: PersonDep, form: AdminForm) -> Response:
    """Keep what an interviewer noted beside an answer, or of a person."""
    seq, text = form.one("seq"), form.one("text")
    number = int(seq) if seq.isascii() and seq.isdigit() and len(seq) < 9 else None
    if text:
        people.add_note(store, person.id, text, seq=number)
    place = "#notes" if number is None else f"#answer-{number}"
    return RedirectResponse(f"/admin/studies/{study.id}/people/{person.id}{place}", 303)


@router.post("/{person_id}/extend")
def extend(store: deps.StoreDep, study: StudyDep, person: PersonDep, _: AdminForm) -> Response:
    """Let a link hold for another month."""
    people.extend(store, person.id, days=_LINK_DAYS)
    return RedirectResponse(f"/admin/studies/{study.id}/people/{person.id}", 303)


@router.get("/{person_id}/withdraw")
def confirm_withdraw(
    request: Request, store: deps.StoreDep, study: StudyDep, person: PersonDep
) -> Response:
    """Ask whether all data of a person are to be deleted."""
    return rendered(request, store, "delete", study=study, person=person)


@router.post("/{person_id}/withdraw")
def withdraw(store: deps.StoreDep, study: StudyDep, person: PersonDep, _: AdminForm) -> Response:
    """Delete a person everywhere."""
    people.withdraw(store, person.id)
    dashboard.forget(study.id, person.id)
    return RedirectResponse(f"/admin/studies/{study.id}", 303)
