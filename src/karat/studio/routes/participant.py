"""Pages of participants: join a study, then answer its questions."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from karat.studio.models import Study
from karat.studio.routes import deps
from karat.studio.security import check_csrf, csrf_token, new_nonce
from karat.studio.services import pages, people, session, studies
from karat.studio.services.session import Here
from karat.studio.storage import Store

joining = APIRouter(dependencies=[Depends(deps.limited("join"))])


def _open_study(store: Store, room: str) -> Study:
    study = studies.by_room(store, room)
    if study is None:
        raise HTTPException(404)
    if study.status != "open":
        raise HTTPException(410)
    return study


@joining.get("/join/{room}")
def welcome(
    request: Request,
    room: str,
    store: deps.StoreDep,
    pid: Annotated[str, Query(alias="PROLIFIC_PID", max_length=100)] = "",
) -> HTMLResponse:
    """Show what a study is called, with a button: only who presses it becomes a person."""
    study = _open_study(store, room)
    known = {
        "study": study,
        "pid": pid,
        "nonce": new_nonce(),
        "room": room,
        "token": csrf_token(store.secret, f"room:{study.id}"),
    }
    return deps.templates().TemplateResponse(request, "participant/join.html", known)


@joining.post("/join/{room}")
def start(room: str, store: deps.StoreDep, form: deps.FormDep) -> Response:
    """Make a person, and send them to their own link."""
    study = _open_study(store, room)
    first = {name: values[0] for name, values in form.items()}
    if not check_csrf(store.secret, f"room:{study.id}", first.get("csrf")):
        raise HTTPException(403)
    nonce = first.get("nonce", "")
    if len(nonce) != 32 or not nonce.isalnum() or not nonce.isascii():
        raise HTTPException(400)
    pid = first.get("pid", "").replace("\x00", "")
    person = people.join(store, study, join_nonce=nonce, prolific_pid=pid)
    return RedirectResponse(f"/p/{people.token(store, person)}", 303)


# --- The pages of a person: one address, which always shows the page that is next.

router = APIRouter(prefix="/p/{token}")
View = Annotated[str, Query(max_length=10)]
Rates = Annotated[str, Query(max_length=5)]


def _shown(
    request: Request,
    store: Any,
    here: Here,
    token: str,
    *,
    view: str = "",
    rates: str = "",
    errors: dict[str, str] | None = None,
    values: dict[str, list[str]] | None = None,
) -> HTMLResponse:
    page = pages.page_at(store, here, view=view, rates=rates == "1")
    known = {
        "page": page,
        "here": f"/p/{token}",
        "token": deps.person_csrf(store, here.person),
        "errors": errors or {},
        "values": values or {},
    }
    status = 422 if errors else 200
    return deps.templates().TemplateResponse(request, page.template, known, status_code=status)


@router.get("")
def show(
    request: Request,
    token: str,
    here: deps.HereDep,
    store: deps.StoreDep,
    view: View = "",
    rates: Rates = "",
) -> HTMLResponse:
    """Show the page that is next."""
    return _shown(request, store, here, token, view=view, rates=rates)


@router.post("/answer", dependencies=[Depends(deps.check_person_csrf)])
def answer(
    request: Request,
    token: str,
    here: deps.HereDep,
    store: deps.StoreDep,
    form: deps.FormDep,
) -> Response:
    """Take an answer, if it is to the page that is next, and show what comes then."""
    seq, nonce = _place(form)
    outcome = session.answer(store, here.person.id, seq=seq, nonce=nonce, form=form, here=here)
    if outcome.status == "invalid":
        return _shown(
            request,
            store,
            here,
            token,
            errors=outcome.errors,
            values=form,
            view=(form.get("view") or [""])[0],
            rates=(form.get("rates") or [""])[0],
        )
    return RedirectResponse(f"/p/{token}", 303)


@router.post("/undo", dependencies=[Depends(deps.check_person_csrf)])
def undo(token: str, here: deps.HereDep, store: deps.StoreDep, form: deps.FormDep) -> Response:
    """Take back the last answer."""
    seq, nonce = _place(form)
    session.undo(store, here.person.id, seq=seq, nonce=nonce)
    return RedirectResponse(f"/p/{token}", 303)


def _place(form: dict[str, list[str]]) -> tuple[int, str]:
    """Return the number and the nonce of a form's page; of no page where it has none."""
    seq, nonce = (form.get("seq") or [""])[0], (form.get("nonce") or [""])[0]
    number = int(seq) if seq.isascii() and seq.isdigit() and len(seq) < 10 else -1
    return number, nonce
