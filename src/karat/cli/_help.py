"""The help of the commands, laid out for the width of the terminal.

Names stand on the left and what they mean on the right; a name that is long has a line of its own,
so that neither side is squeezed. Nothing is cut: at forty columns the same words take more lines.
"""

from __future__ import annotations

import inspect
import shlex
import textwrap
from collections.abc import Iterable, Sequence
from shutil import get_terminal_size
from typing import Any, ClassVar

from typer.core import TyperCommand, TyperGroup

from karat.cli._run import console

_WIDEST = 100  # a line of text that is longer is hard to read
_NAMES = 22  # columns for names; one that is longer has a line of its own
_FRAME = 4  # columns that the frame of a panel takes
_ARGUMENTS, _COLUMNS, _OPTIONS, _OUTPUT = "Arguments", "Columns", "Options", "Output and help"
# Flags that say where the answer goes, or that every command has.
_ABOUT_OUTPUT = {"--output", "--json", "--markdown", "--help"}


class Command(TyperCommand):
    """A command whose help reads well at eighty columns."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help to the terminal."""
        _show(self, ctx, {})


class Group(TyperGroup):
    """A group of commands whose list stands in panels, in the order of ``panels``."""

    panels: ClassVar[dict[str, dict[str, str]]] = {}

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands to the terminal."""
        own = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        said = {name: _first_line(one.help) for name, one in own.items() if one is not None}
        _show(self, ctx, self.panels or {"Commands": said})


def _first_line(text: str | None) -> str:
    return inspect.cleandoc(text or "").partition("\n")[0]


def _show(command: Any, ctx: Any, commands: dict[str, dict[str, str]]) -> None:
    """Print usage, description, and a panel for each kind of argument, flag and command."""
    from rich.text import Text

    out = console()
    width = get_terminal_size().columns
    width = width if width > 200 else min(width, _WIDEST)  # tools that read the help ask for more
    out.width = width
    out.print()
    params = [p for p in command.get_params(ctx) if not getattr(p, "hidden", False)]
    named = [_name(p) for p in params if p.param_type_name == "argument"]
    usage = [ctx.command_path, *named, "[FLAGS]", *["COMMAND …"] * bool(commands)]
    out.print(Text.assemble((" Usage: ", "bold"), " ".join(usage)))
    out.print()
    for line in _description(command.help or "", width - 2):
        out.print(Text(f" {line}".rstrip()))
    out.print()
    panels = {title: list(rows.items()) for title, rows in commands.items()}
    for title in (_ARGUMENTS, _COLUMNS, _OPTIONS, _OUTPUT):
        own = [p for p in params if _panel_of(p, grouped=bool(commands)) == title]
        panels[title] = [(_name(param), _meaning(param)) for param in own]
    inside = width - _FRAME
    for title, rows in panels.items():
        if rows:
            beside = [
                r
                for t, other in panels.items()
                if (t in commands) == (title in commands)
                for r in other
            ]
            names = min(max(len(name) for name, _ in beside), _NAMES, inside // 2) + 2
            _panel(out, title, [_entry(*row, names, inside) for row in rows], width)


def _description(text: str, width: int) -> Iterable[str]:
    """Return the lines of a docstring, filled; a line that shows a command can be copied."""
    for number, paragraph in enumerate(inspect.cleandoc(text).split("\n\n")):
        if number:
            yield ""
        one = " ".join(paragraph.split())
        if "karat " in one and one.split(":")[0] in ("Example", "Go on"):
            head, _, command = one.partition(":")
            yield f"{head}:"
            yield from command_lines(command.strip(), width - 2)
        else:
            yield from textwrap.wrap(one, width, break_long_words=False, break_on_hyphens=False)


def command_lines(command: str, width: int) -> Iterable[str]:
    """Return a command on lines that a shell takes for one."""
    parts: list[str] = []  # a flag stays beside its value
    for word in map(shlex.quote, shlex.split(command)):
        if parts and parts[-1].startswith("-") and " " not in parts[-1] and word[0] != "-":
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = parts[:1]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) + 5 > width:  # with two spaces before and " \\" behind
            lines.append(f"  {part}")
        else:
            lines[-1] += f" {part}"
    for line in lines[:-1]:
        yield f"  {line} \\"
    yield f"  {lines[-1]}"


def _panel_of(param: Any, *, grouped: bool) -> str:
    """Return the panel that a parameter stands in; those of a group of commands are options."""
    if param.param_type_name == "argument":
        return _ARGUMENTS
    if grouped:
        return _OPTIONS
    if _ABOUT_OUTPUT & set(param.opts):
        return _OUTPUT
    return _COLUMNS if (param.help or "").startswith("Column") else _OPTIONS


def _name(param: Any) -> str:
    """Return an argument in capitals, or a flag with what follows it."""
    if param.param_type_name == "argument":
        return str(param.name).upper()
    names = ", ".join(sorted(param.opts, key=len, reverse=True))
    if param.secondary_opts:
        return f"{names}/{param.secondary_opts[0]}"
    if getattr(param, "is_flag", False):
        return names
    if param.metavar:
        return f"{names} {param.metavar}"
    if (param.help or "").startswith("Column"):
        return f"{names} COL"
    known = getattr(param, "type_descriptor", None)  # what click calls ``type``
    kind = str(getattr(param, "type", "") if known is None else known.annotation).lower()
    words = {"int": "N", "float": "X", "path": "FILE"}
    return f"{names} {next((word for name, word in words.items() if name in kind), 'TEXT')}"


def _meaning(param: Any) -> str:
    """Return what a parameter does, and what it is by default."""
    said = " ".join((param.help or "").split())
    default = param.default
    if getattr(param, "required", False):
        return f"{said} [required]"
    if default in (None, False, True, ()) or callable(default) or not _shows(param):
        return said
    return f"{said} [default: {default}]"


def _shows(param: Any) -> bool:
    return param.param_type_name == "option" and getattr(param, "show_default", True) is not False


def _panel(out: Any, title: str, entries: Sequence[Sequence[Any]], width: int) -> None:
    """Print a frame with names on the left and their meaning on the right."""
    from rich.panel import Panel
    from rich.text import Text

    lines = Text("\n").join([line for entry in entries for line in entry])
    out.print(Panel(lines, title=title, title_align="left", border_style="dim", width=width))


def _entry(name: str, meaning: str, names: int, inside: int) -> Sequence[Any]:
    from rich.text import Text

    wrapped = textwrap.wrap(
        meaning, inside - names, break_long_words=False, break_on_hyphens=False
    ) or [""]
    if len(name) + 2 > names:
        first = [Text(part, style="bold cyan") for part in textwrap.wrap(name, inside)]
    else:
        beside = Text.assemble((name.ljust(names), "bold cyan"), wrapped.pop(0))
        first = [beside]
    return [*first, *(Text(" " * names + line) for line in wrapped)]
