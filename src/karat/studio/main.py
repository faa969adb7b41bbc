"""The application, assembled: settings, database, limits, pages."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from anyio import to_thread
from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from karat.studio.routes import include_routes
from karat.studio.security import BodyLimit, HideSecrets, RateLimit, SecurityHeaders
from karat.studio.services import accounts
from karat.studio.settings import Settings
from karat.studio.storage import Store

_HERE = Path(__file__).parent
_MOST_FORM = 300_000  # bytes of any form but an upload
_THREADS = 8  # that a worker answers requests in


def create_app(settings: Settings | None = None, *, store: Any = None) -> FastAPI:
    """Return the study server as an ASGI application.

    Parameters
    ----------
    settings : Settings, optional
        How it runs; by default a SQLite file in the working directory.
    store : Store, optional
        The database, where it is open already; its settings then hold.
    """
    kept: Store = Store(settings or Settings()) if store is None else store
    options = kept.settings
    kept.migrate()
    accounts.ensure_admin(kept)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # Threads compute one after another: more of them only take turns more often.
        to_thread.current_default_thread_limiter().total_tokens = _THREADS
        yield
        if store is None:
            kept.close()

    # No pages that describe the interface: it is none to program against.
    app = FastAPI(
        title="karat studio", openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan
    )
    app.state.store = kept
    app.state.limits = {
        "join": RateLimit(options.joins_per_minute, kept.clock),
        "login": RateLimit(options.logins_per_minute, kept.clock),
        "answer": RateLimit(options.answers_per_minute, kept.clock),
    }
    static = _HERE / "static"
    if static.is_dir():
        app.mount("/static", StaticFiles(directory=static), name="static")
    include_routes(app)
    app.add_middleware(BodyLimit, most=_MOST_FORM, uploads=options.max_upload + _MOST_FORM)
    app.add_middleware(SecurityHeaders, https=options.https_only)
    for name in ("uvicorn.access", "uvicorn.error"):
        log = logging.getLogger(name)
        if not any(isinstance(found, HideSecrets) for found in log.filters):
            log.addFilter(HideSecrets())
    return app


def from_environment() -> FastAPI:
    """Return the application with the settings of the environment, for workers of a server."""
    return create_app(Settings.from_environment())
