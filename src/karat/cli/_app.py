"""The commands by name; the file of a command is imported only when the command is called."""

import os
from importlib import import_module
from typing import Annotated, Any

import typer

from karat import __version__
from karat.cli._help import Command, Group

# The commands in the panels of `karat --help`, each with the sentence that is shown beside it, the
# first of its own description.
_PANELS = {
    "Commands": {
        "evaluate": "Answer every question that the columns of a file allow, in one report.",
        "audit": "Choose which items to label, and say what the labels tell so far.",
        "gate": "Pass, fail or wait: hold a metric to what it has to reach, whenever you look.",
        "elicit": "Find out what should be measured, by asking which of two classifiers is better.",
    },
    "One question each": {
        "score": "Score predictions against labels, with limits for every metric.",
        "auc": "Measure how good a ranking is where it matters, with limits that hold.",
        "calibration": "Measure whether probabilities of several labels can be trusted jointly.",
        "judges": "Estimate how often each judge, annotator or classifier errs, from their votes.",
        "pairs": "Estimate how often judges prefer the worse of two answers, and the first one.",
        "people": "Test whether a judge may replace a person who labels.",
        "bounds": "Bound how good predictions can and must be, from weak labels and no gold.",
        "optimize": "Choose decision thresholds that maximise a metric.",
    },
    "Set-up": {
        "demo": "Show on real data what karat answers, and write a report.",
        "studio": "Serve a web study that asks people which of two classifiers is better.",
        "count": "Reduce rows to counts, from which other commands answer without the rows.",
        "doctor": "Show what is installed, and what each extra would add.",
        "skill": "Print a SKILL.md that tells coding agents how to use karat.",
    },
}
_COMMANDS = {name: said for panel in _PANELS.values() for name, said in panel.items()}


class _Commands(Group):
    """A group whose commands are functions of the same name in files of the same name."""

    panels = _PANELS

    def list_commands(self, ctx: Any) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a stand-in with the name and the sentence, enough for the list of commands."""
        sentence = _COMMANDS.get(cmd_name)
        return None if sentence is None else Command(cmd_name, help=sentence)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command to run, whose file is imported here and no earlier."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, None if command is None else _load(str(name)), rest


def _load(name: str) -> Any:
    found = getattr(import_module(f"karat.cli._{name}"), name)
    if isinstance(found, typer.Typer):  # a command with commands of its own
        return typer.main.get_command(found)
    one = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    one.command(name, cls=Command)(found)
    return typer.main.get_command(one)


app = typer.Typer(
    cls=_Commands,
    help="Measure classifiers when gold labels are scarce.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
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
    color: Annotated[
        bool,
        typer.Option("--no-color", help="Print without colours, as with the variable NO_COLOR."),
    ] = False,
) -> None:
    if color:
        os.environ["NO_COLOR"] = "1"
