"""One study: the dashboard, its links, previews, bots, opening, closing and deleting."""

from typing import Annotated, Any

from fastapi import APIRouter, BackgroundTasks, Query, Request
from fastapi.responses import RedirectResponse, Response

from karat.exceptions import KaratError
from karat.studio.charts import boundary_svg, interval_svg, scatter_svg
from karat.studio.models import Study
from karat.studio.routes import deps
from karat.studio.routes.admin_common import AdminForm, StudyDep, rendered
from karat.studio.services import people, studies
from karat.studio.services.research import bots, dashboard
from karat.studio.services.research.boundary import boundary_of
from karat.studio.words import in_fields

router = APIRouter(prefix="/studies/{study_id}")
Kind = Annotated[str, Query(pattern="^(people|bots|previews)$")]
_MOST_BOTS = 200


def _pictures(overview: dashboard.Overview) -> dict[str, Any]:
    """Return what the dashboard draws."""
    agreement, times = overview.agreement, overview.times
    return {
        "quantities": [
            (
                found,
                interval_svg(
                    found.rows,
                    title=f"{found.name}, with 95 % limits, of {len(found.rows)} people",
                    axis=found.name,
                    log=True,
                ),
            )
            for found in overview.quantities[:8]
        ],
        "agreement": interval_svg(
            agreement.rows,
            title="How many percent of answers each person's metric gives too, with exact limits",
            axis="percent of evaluation answers that the metric gives too",
            ends=(0.0, 100.0),
        ),
        "times": scatter_svg(
            times.points,
            title="Seconds taken against how far apart both sides are by the person's metric",
            x_axis="margin between both sides, in units of the person's median (x: disagrees)",
            y_axis="seconds",
        ),
    }


def _dashboard(
    request: Request, store: Any, study: Study, kind: str, template: str, error: str = ""
) -> Response:
    overview = dashboard.overview_of(store, study, kind=kind)
    return rendered(
        request,
        store,
        template,
        study=study,
        kind=kind,
        overview=overview,
        error=error,
        pictures=_pictures(overview),
        config=studies.config_of(study),
        mark=dashboard.mark_of(store, study, kind=kind),
        shared=dashboard.known_shared(store, study, kind=kind),
        room=f"{store.settings.base_url}/join/{studies.room_token(store, study)}",
        status=422 if error else 200,
    )


@router.get("")
def show(
    request: Request, store: deps.StoreDep, study: StudyDep, show: Kind = "people"
) -> Response:
    """Show the dashboard."""
    return _dashboard(request, store, study, show, "study")


@router.get("/live")
def live(
    request: Request,
    store: deps.StoreDep,
    study: StudyDep,
    show: Kind = "people",
    mark: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """Return the part of the dashboard that changes; nothing where nobody has answered since."""
    if mark and mark == dashboard.mark_of(store, study, kind=show):
        return Response(status_code=204)
    return _dashboard(request, store, study, show, "_live")


@router.post("/shared")
def shared(store: deps.StoreDep, study: StudyDep, form: AdminForm) -> Response:
    """Work out the metric that people share."""
    kind = form.one("show") if form.one("show") in dashboard.KINDS else "people"
    dashboard.shared_of(store, study, kind=kind)
    return RedirectResponse(f"/admin/studies/{study.id}?show={kind}#shared", 303)


@router.get("/boundary")
def boundary(request: Request, store: deps.StoreDep, study: StudyDep) -> Response:
    """Show what classifiers attain, as counted and smoothed (guideline G1)."""
    found = boundary_of(store, study)
    picture = None
    if found is not None:
        picture = boundary_svg(
            found.counted, found.smoothed, x_axis=found.x_axis, y_axis=found.y_axis
        )
    return rendered(request, store, "boundary", study=study, picture=picture)


@router.post("/preview")
def preview(store: deps.StoreDep, study: StudyDep, _: AdminForm) -> Response:
    """Make someone who is not counted, and go through the study as they would."""
    person = people.create(store, study, label="preview", kind="preview")
    return RedirectResponse(f"/p/{people.token(store, person)}", 303)


@router.post("/bots")
def play(
    request: Request,
    store: deps.StoreDep,
    study: StudyDep,
    form: AdminForm,
    tasks: BackgroundTasks,
) -> Response:
    """Let bots play the study while the page shows how far they are."""
    try:
        wanted = bots.read_options(form.fields, most=_MOST_BOTS)
    except KaratError as error:
        return _dashboard(request, store, study, "bots", "study", error=in_fields(error.sentence))
    tasks.add_task(bots.play, store, study, **wanted)
    return RedirectResponse(f"/admin/studies/{study.id}?show=bots", 303)


@router.post("/status")
def set_status(store: deps.StoreDep, study: StudyDep, form: AdminForm) -> Response:
    """Open or close a study for new people."""
    studies.set_status(store, study.id, "closed" if form.one("status") == "closed" else "open")
    return RedirectResponse(f"/admin/studies/{study.id}", 303)


@router.get("/delete")
def confirm_delete(request: Request, store: deps.StoreDep, study: StudyDep) -> Response:
    """Ask whether all of a study is to be deleted."""
    return rendered(request, store, "delete", study=study, person=None)


@router.post("/delete")
def delete(store: deps.StoreDep, study: StudyDep, _: AdminForm) -> Response:
    """Delete a study with all its people and answers."""
    studies.delete(store, study.id)
    return RedirectResponse("/admin", 303)
