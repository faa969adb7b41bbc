"""The researcher's pages: logging in, the list of studies, and the routers of all others."""

from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from karat.studio.routes import (
    admin_exports,
    admin_making,
    admin_people,
    admin_study,
    deps,
)
from karat.studio.routes.admin_common import AdminForm, rendered
from karat.studio.services import accounts, studies

router = APIRouter(prefix="/admin")
for part in (admin_making, admin_study, admin_people, admin_exports):
    router.include_router(part.router)


def _enter(request: Request, store: Any, cookie: str) -> RedirectResponse:
    answer = RedirectResponse("/admin", 303)
    answer.set_cookie(
        deps.COOKIE,
        cookie,
        httponly=True,
        samesite="strict",
        path="/admin",
        secure=store.settings.https_only,
        max_age=int(store.settings.session_hours * 3600),
    )
    return answer


@router.get("")
def home(request: Request, store: deps.StoreDep, _: deps.AdminDep) -> Response:
    """Show all studies."""
    return rendered(request, store, "studies", studies=studies.list_all(store))


@router.get("/login", dependencies=[Depends(deps.limited("login"))])
def login_page(request: Request, store: deps.StoreDep) -> Response:
    """Show where to log in."""
    return rendered(request, store, "login", error="", password=_has_password(store))


@router.post(
    "/login", dependencies=[Depends(deps.limited("login")), Depends(deps.check_admin_csrf)]
)
def log_in(request: Request, store: deps.StoreDep, form: deps.FormDep) -> Response:
    """Log in by a password."""
    name, password = ((form.get(key) or [""])[0] for key in ("name", "password"))
    cookie = accounts.log_in(store, name[:100], password[:1000])
    if cookie is None:
        error = "This name or this password is wrong."
        return rendered(
            request, store, "login", status=401, error=error, password=_has_password(store)
        )
    return _enter(request, store, cookie)


@router.get("/enter/{token}", dependencies=[Depends(deps.limited("login"))])
def enter(request: Request, token: str, store: deps.StoreDep) -> Response:
    """Log in by the link that the server printed at its start."""
    cookie = accounts.log_in_by_link(store, token[:500])
    if cookie is None:
        raise HTTPException(410)
    return _enter(request, store, cookie)


@router.post("/logout")
def log_out(admin: deps.AdminDep, store: deps.StoreDep, _: AdminForm) -> Response:
    """End all sessions of the researcher."""
    accounts.log_out(store, admin.id)
    answer = RedirectResponse("/admin/login", 303)
    answer.delete_cookie(deps.COOKIE, path="/admin")
    return answer


def _has_password(store: Any) -> bool:
    return store.settings.admin_password is not None
