"""The pages of a person: one address, which always shows the page that is next."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from karat.studio.routes import deps
from karat.studio.services import pages, session
from karat.studio.services.session import Here

__all__ = ["router"]

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
            request, store, here, token, errors=outcome.errors, values=form,
            view=(form.get("view") or [""])[0], rates=(form.get("rates") or [""])[0],
        )  # fmt: skip
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
