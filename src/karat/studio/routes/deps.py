"""What routes need: the store, the person of a link, the researcher of a session, a form."""

from collections.abc import Callable, Coroutine
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from fastapi.templating import Jinja2Templates
from markupsafe import Markup
from starlette.datastructures import FormData, UploadFile

from karat.studio.charts import comparison_svg, single_svg
from karat.studio.models import Admin, Person
from karat.studio.security import check_csrf, csrf_token
from karat.studio.services import accounts, session
from karat.studio.services.pages import Pair
from karat.studio.services.session import Here
from karat.studio.storage import Store

COOKIE = "karat_studio"
_MOST_FIELDS = 300


@cache
def templates() -> Jinja2Templates:
    """Return the templates; all that is put into them is escaped."""
    found = Jinja2Templates(directory=Path(__file__).parent.parent / "templates")
    found.env.filters["paragraphs"] = _paragraphs
    found.env.globals |= {"comparison": _comparison, "single": _single}
    return found


def _paragraphs(text: str) -> Markup:
    """Return a text as paragraphs, which are parted by empty lines; nothing in it is HTML."""
    parts = [part.strip() for part in text.replace("\r\n", "\n").split("\n\n")]
    return Markup("").join(Markup("<p>{}</p>").format(part) for part in parts if part)


def _comparison(pair: Pair, systems: tuple[str, str]) -> Markup:
    return comparison_svg(
        pair.left,
        pair.right,
        out_of=pair.out_of,
        class_names=pair.predicted_names,
        truth=pair.truth,
        view=pair.view,
        conditioned=pair.rates,
        groups=pair.groups,
        names=systems,
    )


def _single(pair: Pair, system: str) -> Markup:
    counts = pair.left if pair.groups is None else pair.left[0]
    return single_svg(
        counts,
        out_of=pair.out_of,
        class_names=pair.predicted_names,
        truth=pair.truth,
        view=pair.view,
        conditioned=pair.rates,
        name=system,
    )


async def store_of(request: Request) -> Store:
    """Return the database of the application."""  # async: no thread for what waits for nothing
    return request.app.state.store  # type: ignore[no-any-return]


StoreDep = Annotated[Store, Depends(store_of)]


def client_address(request: Request) -> str:
    """Return where a request comes from."""
    return request.client.host if request.client else "unknown"


def limited(kind: str) -> Callable[[Request], Coroutine[Any, Any, None]]:
    """Return a dependency that lets one address ask so often; ``kind`` is join or login."""

    async def check(request: Request) -> None:
        if not request.app.state.limits[kind].allows(client_address(request)):
            raise HTTPException(429, headers={"Retry-After": "60"})

    return check


def here_of(request: Request, token: str, store: StoreDep) -> Here:
    """Return where the person of a link is; refuse one not signed here, or that has expired."""
    here = session.by_link(store, token)
    if here is None:
        raise HTTPException(404)
    if here.expired(store.clock()):
        raise HTTPException(410)
    if not request.app.state.limits["answer"].allows(here.person.id):
        raise HTTPException(429, headers={"Retry-After": "60"})
    return here


HereDep = Annotated[Here, Depends(here_of)]


async def form_of(request: Request) -> dict[str, list[str]]:
    """Return the fields of a posted form, each with all its values; files are left out."""
    try:
        form: FormData = await request.form(max_fields=_MOST_FIELDS, max_files=0)
    except (ValueError, AssertionError) as error:
        raise HTTPException(400) from error
    fields: dict[str, list[str]] = {}
    for name, value in form.multi_items():
        if not isinstance(value, UploadFile):
            fields.setdefault(name, []).append(value)
    return fields


FormDep = Annotated[dict[str, list[str]], Depends(form_of)]


def person_csrf(store: Store, person: Person) -> str:
    """Return what the forms of a person carry."""
    return csrf_token(store.secret, f"person:{person.id}")


def refuse_other_sites(request: Request) -> None:
    """Refuse what a browser says that another site has sent."""
    if request.headers.get("sec-fetch-site") == "cross-site":
        raise HTTPException(403)


async def check_person_csrf(
    request: Request, here: HereDep, store: StoreDep, form: FormDep
) -> None:
    """Refuse a form that was not made for this person."""
    refuse_other_sites(request)
    if not check_csrf(store.secret, f"person:{here.person.id}", (form.get("csrf") or [""])[0]):
        raise HTTPException(403)


def admin_of(request: Request, store: StoreDep) -> Admin:
    """Return the researcher who is logged in; send others to the page where they can."""
    admin = accounts.by_session(store, request.cookies.get(COOKIE))
    if admin is None:
        raise HTTPException(303, headers={"Location": "/admin/login"})
    return admin


AdminDep = Annotated[Admin, Depends(admin_of)]


def admin_csrf(store: Store, request: Request) -> str:
    """Return what the forms of a researcher carry; bound to the session, or to nobody's."""
    return csrf_token(store.secret, f"admin:{request.cookies.get(COOKIE, '')}")


async def check_admin_csrf(request: Request, store: StoreDep) -> None:
    """Refuse a form that was not made for this session; files may be in it."""
    refuse_other_sites(request)
    try:
        form: Any = await request.form(max_fields=_MOST_FIELDS, max_files=1)
    except (ValueError, AssertionError) as error:
        raise HTTPException(400) from error
    given = form.get("csrf") or request.headers.get("x-csrf-token")
    subject = f"admin:{request.cookies.get(COOKIE, '')}"
    if not (isinstance(given, str) and check_csrf(store.secret, subject, given)):
        raise HTTPException(403)
