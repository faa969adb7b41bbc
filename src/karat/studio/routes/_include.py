"""All routes, and the pages of errors."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException

from karat.studio.routes import deps, participant
from karat.studio.security import HEADERS

_WORDS = {
    400: "This form could not be read. Go back and send it again.",
    403: "This page has expired, or was sent from somewhere else. Load it anew.",
    404: "There is no such page.",
    405: "This page cannot be used like that.",
    410: "This link has expired. Ask whoever sent it to you for a new one.",
    413: "This is too large.",
    422: "This form could not be read. Go back and send it again.",
    503: "The server is busy. Nothing is lost: wait a moment, then load this page anew.",
    500: "Something failed here. Nothing that you have sent is lost: load the page anew.",
    429: "That was too much at once. Wait a minute, then go on.",
}


def include_routes(app: FastAPI) -> None:
    """Add all routes to the application."""
    app.include_router(participant.router)
    app.include_router(participant.joining)
    if find_spec("karat.studio.routes.admin") is not None:
        app.include_router(import_module("karat.studio.routes.admin").router)
    app.add_exception_handler(HTTPException, _http_error)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _unreadable)  # type: ignore[arg-type]
    app.add_exception_handler(OperationalError, _busy)
    app.add_exception_handler(Exception, _failed)


async def _http_error(request: Request, error: HTTPException) -> Response:
    if error.status_code == 303 and error.headers:
        return RedirectResponse(error.headers["Location"], 303)
    return _page(request, error.status_code, error.headers)


async def _unreadable(request: Request, _: RequestValidationError) -> Response:
    return _page(request, 422, None)


async def _busy(request: Request, _: Exception) -> Response:
    """Answer where the database is locked for too long, or cannot be reached."""
    return _page(request, 503, {"Retry-After": "5"})


async def _failed(request: Request, _: Exception) -> Response:
    """Answer where a page fails; the headers are not added here by anyone else."""
    return _page(request, 500, HEADERS)


def _page(request: Request, status: int, headers: Any) -> HTMLResponse:
    words = _WORDS.get(status, "This did not work.")
    return deps.templates().TemplateResponse(
        request,
        "participant/error.html",
        {"words": words, "status": status},
        status_code=status,
        headers=headers,
    )
