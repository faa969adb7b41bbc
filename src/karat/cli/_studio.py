"""``karat studio``: a web study that turns people's preferences into a metric."""

import os
from dataclasses import replace
from typing import Annotated, Any

import typer

from karat._extras import require
from karat._validate import refuse_option
from karat.cli import _flags as flags
from karat.cli._help import Command, Group
from karat.cli._run import run
from karat.report.answer import Answer, table

studio = typer.Typer(
    cls=Group,
    add_completion=False,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    rich_markup_mode=None,
)
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        help="Where studies are kept: sqlite:///file, or postgresql://user@host/name "
        "(sqlite:///karat-studio.db)."
    ),
]
_PACKAGES = (
    "fastapi",
    "uvicorn",
    "sqlalchemy",
    "alembic",
    "itsdangerous",
    "python_multipart",
    "argon2",
)


def _settings(**given: Any) -> Any:
    """Return the settings of the environment, changed by what flags say."""
    for package in _PACKAGES:
        require(package, extra="studio", purpose="karat studio")
    from karat.studio import Settings

    # One that is refused without the flags may be right with them: a host and its password.
    known = {name: value for name, value in given.items() if value is not None}
    prefix = "KARAT_STUDIO_"
    left_out = {f"{prefix}{name.upper()}" for name in known}
    environ = {name: value for name, value in os.environ.items() if name not in left_out}
    return replace(Settings.from_environment(environ), **known)


@studio.callback()
def serve(
    context: typer.Context,
    host: Annotated[
        str | None,
        typer.Option(
            help="Address to listen on (127.0.0.1). Any other needs a password, in the variable "
            "KARAT_STUDIO_ADMIN_PASSWORD."
        ),
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on (8000).")] = None,
    database_url: DatabaseUrl = None,
    public_url: Annotated[
        str | None, typer.Option(help="How people reach the server, if not by host and port.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the researcher's page.")] = True,
) -> None:
    """Serve a web study that asks people which of two classifiers is better.

    Example:  karat studio --port 8000 --no-browser
    """
    if context.invoked_subcommand is not None:
        given = {"--host": host, "--port": port, "--public-url": public_url}
        for flag, value in given.items():
            if value is not None:
                refuse_option(value, flag, f"nothing beside {context.invoked_subcommand}")
        context.obj = {"database_url": database_url}
        return
    settings = _settings(host=host, port=port, database_url=database_url, public_url=public_url)
    from karat.studio import create_app
    from karat.studio.services import accounts, demo, studies

    app = create_app(settings)
    store = app.state.store
    if not studies.list_all(store):
        demo.ensure_demo(store)
    link = f"{settings.base_url}/admin"
    if settings.admin_password is None:
        link = f"{link}/enter/{accounts.login_token(store)}"
    typer.echo(f"studies are kept in {settings.database_name}")
    typer.echo(f"open {link}")
    if browser:
        import webbrowser

        webbrowser.open(link)
    uvicorn = require("uvicorn", extra="studio", purpose="karat studio")
    uvicorn.run(app, host=settings.host, port=settings.port, log_level="warning")


@studio.command(cls=Command)
def simulate(
    context: typer.Context,
    people: Annotated[int, typer.Option(help="Number of bots.")] = 20,
    ratio: Annotated[
        float,
        typer.Option(help="How many times as bad an error about the last class is as the first's."),
    ] = 6.0,
    flip: Annotated[float, typer.Option(help="Share of answers that are slips.")] = 0.1,
    seed: Annotated[int, typer.Option(help="Seed of the slips.")] = 0,
    study: Annotated[
        str | None, typer.Option(help="Name or id of the study; by default the demo.")
    ] = None,
    database_url: DatabaseUrl = None,
    as_json: flags.AsJson = False,
) -> None:
    """Let bots play a study to its end, to try it out before people do."""
    url = database_url or (context.obj or {}).get("database_url")
    settings = _settings(database_url=url)

    def work() -> Answer:
        from karat.studio.services import demo, results, studies
        from karat.studio.services.research import bots
        from karat.studio.storage import Store

        store = Store(settings)
        store.migrate()
        try:
            if study is None:
                chosen = demo.ensure_demo(store)
            else:
                known = [one for one, _, _ in studies.list_all(store)]
                found = [one for one in known if study in (one.id, one.name)]
                if not found:
                    names = ", ".join(repr(one.name) for one in known) or "no study yet"
                    refuse_option(study, "--study", f"the name or id of one of: {names}")
                chosen = found[0]
            played = bots.play(store, chosen, n_people=people, ratio=ratio, flip=flip, rng=seed)
            return _answer(
                chosen, [results.person_result(store, p.person_id) for p in played], ratio
            )
        finally:
            store.close()

    run(work, as_json=as_json)


def _answer(study: Any, found: list[Any], ratio: float) -> Answer:
    rows, records, covered, limited = [], [], 0, 0
    for known in found:
        result, evaluated = known.result, known.evaluation
        main = result.ratios[0] if len(result.ratios) == 1 else None
        if main is not None and (result.space, result.family) == ("binary", "linear"):
            limited += 1
            covered += main.lower <= ratio <= main.upper
        rows.append(
            (
                known.person.label,
                result.status,
                str(result.n_queries),
                "–" if main is None else f"{main.value:.3g} ({main.lower:.3g} to {main.upper:.3g})",
                f"{100 * result.agreement:.0f} %",
                "–" if evaluated is None else f"{100 * evaluated.value:.0f} %",
                "–"
                if evaluated is None or evaluated.baseline is None
                else f"{100 * evaluated.baseline.value:.0f} %",
            )
        )
        records.append(
            {
                "label": known.person.label,
                "status": result.status,
                "n_answers": result.n_queries,
                "ratios": result.ratios,
                "expected_agreement": result.agreement,
                "agreement": None if evaluated is None else evaluated.value,
            }
        )
    certified = sum(known.result.status == "certified" for known in found)
    said = f"{len(found)} bots played {study.name!r} to its end; {certified} are certified."
    if limited:
        said += f" The limits of {covered} of {limited} hold their ratio of {ratio:g}."
    columns = (
        "bot",
        "status",
        "answers",
        "ratio, 95 % limits",
        "expected agreement",
        "agreement on pairs not learned from",
        "of the guess",
    )
    return Answer(
        data={"summary": said, "study": study.id, "bots": records},
        text=[said, table(columns, rows)],
    )
