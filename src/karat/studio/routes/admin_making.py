"""Making a study: from a file, whose columns are then chosen, or from a demo."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from karat.exceptions import KaratError
from karat.studio.routes import deps
from karat.studio.routes.admin_common import AdminForm, FormIn, StudyDep, rendered
from karat.studio.schemas import FAMILY_NAMES, StudyConfig
from karat.studio.services import studies, uploads
from karat.studio.services.research import making
from karat.studio.services.research.making import questions_as_text
from karat.studio.words import in_fields

router = APIRouter()


def _first_page(
    request: Request, store: Any, *, error: str = "", name: str = "", status: int = 200
) -> Response:
    return rendered(
        request,
        store,
        "new",
        demos=making.DEMOS,
        error=error,
        name=name,
        status=status,
        endings=", ".join(uploads.ENDINGS),
        most=store.settings.max_upload,
    )


@router.get("/new")
def new_study(request: Request, store: deps.StoreDep, _: deps.AdminDep) -> Response:
    """Ask for a file or a demo."""
    return _first_page(request, store)


@router.post("/new/demo")
def new_demo(request: Request, store: deps.StoreDep, form: AdminForm) -> Response:
    """Make a study of a demo."""
    try:
        data, config = making.demo_of(form.one("demo"))
        name = form.one("name") or making.DEMOS[form.one("demo")].partition(":")[0]
        study = studies.create(store, name=name, config=config, data=data)
    except KaratError as error:
        return _first_page(
            request, store, error=in_fields(error.sentence), name=form.one("name"), status=422
        )
    return RedirectResponse(f"/admin/studies/{study.id}", 303)


@router.post("/new/upload")
def new_upload(request: Request, store: deps.StoreDep, form: AdminForm) -> Response:
    """Take a file, and ask what its columns are."""
    if not form.content:
        error = "Choose a file with at least one row."
        return _first_page(request, store, error=error, name=form.one("name"), status=422)
    try:
        columns = uploads.inspect(store, form.content, form.filename)
        kept = uploads.keep(store, form.content, form.filename)
    except KaratError as error:
        return _first_page(
            request, store, error=in_fields(error.sentence), name=form.one("name"), status=422
        )
    name = form.one("name") or form.filename.rpartition(".")[0][:100]
    return _columns_page(request, store, columns, kept, name, making.guessed_columns(columns.names))


def _columns_page(
    request: Request,
    store: Any,
    columns: uploads.Columns,
    kept: str,
    name: str,
    chosen: dict[str, Any],
    *,
    error: str = "",
) -> Response:
    return rendered(
        request,
        store,
        "columns",
        columns=columns,
        kept=kept,
        name=name,
        chosen=chosen,
        families=FAMILY_NAMES,
        error=error,
        status=422 if error else 200,
    )


@router.post("/new/columns")
def new_from_file(request: Request, store: deps.StoreDep, form: AdminForm) -> Response:
    """Make a study of a file whose columns were chosen."""
    kept, name = form.one("kept"), form.one("name")
    chosen = _chosen(form)
    try:
        content = uploads.kept(store, kept)
    except KaratError as error:
        return _first_page(request, store, error=in_fields(error.sentence), name=name, status=422)
    try:
        data = uploads.read(
            store,
            content,
            kept,
            label=chosen["label"],
            score=chosen["score"],
            proba=chosen["proba"],
            positive=chosen["positive"],
            group=chosen["group"],
        )
        config = making.read_config(form.fields, making.config_for(data))
        study = studies.create(store, name=name, config=config, data=data)
    except KaratError as error:
        columns = uploads.inspect(store, content, kept)
        return _columns_page(
            request, store, columns, kept, name, chosen, error=in_fields(error.sentence)
        )
    uploads.drop(store, kept)
    return RedirectResponse(f"/admin/studies/{study.id}/edit", 303)


def _chosen(form: FormIn) -> dict[str, Any]:
    chosen: dict[str, Any] = {
        key: form.one(key) for key in ("label", "score", "positive", "group", "family")
    }
    return chosen | {"proba": [str(name) for name in form.fields.get("proba", ())]}


@router.get("/studies/{study_id}/edit")
def edit(request: Request, store: deps.StoreDep, study: StudyDep) -> Response:
    """Show texts and options."""
    return _edit_page(request, store, study, studies.config_of(study))


@router.post("/studies/{study_id}/edit")
def save(request: Request, store: deps.StoreDep, study: StudyDep, form: AdminForm) -> Response:
    """Change texts and options."""
    before = studies.config_of(study)
    try:
        config = making.read_config(form.fields, before)
        making.check_change(store, study, config)
        studies.update_config(store, study.id, config)
    except KaratError as error:
        return _edit_page(request, store, study, before, error=in_fields(error.sentence), form=form)
    return RedirectResponse(f"/admin/studies/{study.id}", 303)


def _edit_page(
    request: Request,
    store: Any,
    study: Any,
    config: StudyConfig,
    *,
    error: str = "",
    form: FormIn | None = None,
) -> Response:
    typed = {} if form is None else {key: values[0] for key, values in form.fields.items()}
    return rendered(
        request,
        store,
        "edit",
        study=study,
        config=config,
        families=FAMILY_NAMES,
        error=error,
        status=422 if error else 200,
        typed=typed,
        questionnaire=typed.get("questionnaire", questions_as_text(config.questionnaire)),
        post=typed.get("post", questions_as_text(config.post)),
    )
