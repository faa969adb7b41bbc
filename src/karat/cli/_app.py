"""The commands."""

from pathlib import Path
from typing import Annotated

import typer

from karat import __version__

app = typer.Typer(
    help="Measure classifiers when gold labels are scarce.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"karat {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write the report.")
    ] = Path("karat-demo.html"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Show on real data what karat answers, and write a report."""
    from karat.cli._demo import run_demo

    run_demo(output, quiet=quiet)


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Show what is installed, and what each extra would add."""
    from karat.cli._doctor import run_doctor

    run_doctor(as_json=as_json)
