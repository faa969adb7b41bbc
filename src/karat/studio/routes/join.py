"""The link by which anyone may join a study."""

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from karat.studio.models import Study
from karat.studio.routes import deps
from karat.studio.security import check_csrf, csrf_token, new_nonce
from karat.studio.services import people, studies
from karat.studio.storage import Store

__all__ = ["router"]

router = APIRouter(dependencies=[Depends(deps.limited("join"))])


def _open_study(store: Store, room: str) -> Study:
    study = studies.by_room(store, room)
    if study is None:
        raise HTTPException(404)
    if study.status != "open":
        raise HTTPException(410)
    return study


@router.get("/join/{room}")
def welcome(
    request: Request,
    room: str,
    store: deps.StoreDep,
    pid: Annotated[str, Query(alias="PROLIFIC_PID", max_length=100)] = "",
) -> HTMLResponse:
    """Show what a study is called, with a button: only who presses it becomes a person."""
    study = _open_study(store, room)
    known = {"study": study, "pid": pid, "nonce": new_nonce(), "room": room,
             "token": csrf_token(store.secret, f"room:{study.id}")}  # fmt: skip
    return deps.templates().TemplateResponse(request, "participant/join.html", known)


@router.post("/join/{room}")
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
