"""What the researcher's pages share: who is logged in, the posted form, and rendering."""

from typing import Annotated, Any, NamedTuple

from fastapi import Depends, HTTPException, Request
from fastapi.responses import HTMLResponse
from starlette.datastructures import UploadFile

from karat.studio.models import Study
from karat.studio.routes import deps
from karat.studio.services import studies


class FormIn(NamedTuple):
    """A posted form: its fields with all their values, and the file in it."""

    fields: dict[str, list[str]]
    filename: str
    content: bytes

    def one(self, name: str, default: str = "") -> str:
        """Return the first value of a field, as text that every database can hold."""
        text = str((self.fields.get(name) or [default])[0]).replace("\x00", "").strip()
        return text.encode("utf-8", "replace").decode("utf-8")


async def admin_form(
    request: Request, _: deps.AdminDep, __: Annotated[None, Depends(deps.check_admin_csrf)]
) -> FormIn:
    """Return the form of a researcher who is logged in and sent it from our own page."""
    form: Any = await request.form()  # read by the check already, with its limits
    fields: dict[str, list[str]] = {}
    filename, content = "", b""
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            filename, content = value.filename or "", await value.read()
        else:
            fields.setdefault(name, []).append(value)
    await form.close()
    return FormIn(fields, filename, content)


AdminForm = Annotated[FormIn, Depends(admin_form)]


def study_of(study_id: str, store: deps.StoreDep, _: deps.AdminDep) -> Study:
    """Return the study of an address."""
    study = studies.get(store, study_id) if len(study_id) <= 32 else None
    if study is None:
        raise HTTPException(404)
    return study


StudyDep = Annotated[Study, Depends(study_of)]


def rendered(
    request: Request, store: Any, template: str, *, status: int = 200, **known: Any
) -> HTMLResponse:
    """Return a researcher's page; forms on it carry ``csrf``."""
    known |= {"csrf": deps.admin_csrf(store, request), "base_url": store.settings.base_url}
    return deps.templates().TemplateResponse(
        request, f"admin/{template}.html", known, status_code=status
    )
