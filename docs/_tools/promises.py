"""Sphinx extension: the promised figures of kept runs, in place of a comment in a page.

``docs/reproductions/*.md`` keep what each script printed in a full run. Their lines ``kept: what:
value (promised: at least figure)`` become three things: a table of all scripts that leads to their
outputs, a table of what was missed, and what was kept, folded by script. Why a figure was missed is
written by hand in ``docs/reproductions/why_missed.toml``.
"""

import ast
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

LINE = re.compile(
    r"^\s*(kept|MISSED): (.+): (-?[\d.]+|nan|-?inf) \(promised: ([^)]+)\)$", re.MULTILINE
)
HERE = "<!-- promises -->"
_REASONS = "why_missed.toml"
_NO_REASON = "Not explained yet."


class Figure(NamedTuple):
    """A promised figure of a run."""

    kept: bool
    what: str
    value: str
    wanted: str


class Run(NamedTuple):
    """What a page of a run says."""

    name: str
    title: str
    date: str
    figures: list[Figure]

    @property
    def missed(self) -> list[Figure]:
        return [figure for figure in self.figures if not figure.kept]


def read(path):
    """Return the run that a page keeps."""
    text = path.read_text(encoding="utf-8")
    opening = text.partition("```")[0]
    title = re.search(r"^# (.+)$", opening, re.MULTILINE)
    date = re.search(r"^\| run on \| (.*) \|$", opening, re.MULTILINE)
    found = LINE.findall(text.replace("|", r"\|"))
    figures = [Figure(state == "kept", *rest) for state, *rest in found]
    name = path.stem
    return Run(name, title[1] if title else name, date[1] if date else "–", figures)


def _table(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _link(run):
    return f"[`{run.name}`](reproductions/{run.name}.md)"


def _count(run):
    if not run.figures:
        return "none was reached"
    return f"{len(run.figures) - len(run.missed)} kept, {len(run.missed)} missed"


def _overview(runs, scripts):
    """Return a table with one row per script, those without a kept run last."""
    rows = [[_link(run), run.title, run.date, _count(run)] for run in runs]
    kept = {run.name for run in runs}
    rows += [
        [f"`{name}`", title, "no full run is kept", "–"]
        for name, title in sorted(scripts.items())
        if name not in kept
    ]
    return _table(["script", "what it prints", "run on", "promised figures"], rows)


def _missed(runs, reasons):
    """Return a list of what was missed, with the reasons."""
    items = []
    for run in runs:
        for figure in run.missed:
            why = reasons.get(run.name, {}).get(figure.what.replace(r"\|", "|"), _NO_REASON)
            items.append(
                f"- {_link(run)}, *{figure.what}*: {figure.value}, promised was {figure.wanted}. "
                f"{why}\n"
            )
    total = sum(len(run.figures) for run in runs)
    if not items:
        return f"None of {total} promised figures was missed.\n"
    return f"{len(items)} of {total} promised figures:\n\n{''.join(items)}"


def _kept(run):
    """Return the promises that a run kept, folded; nothing where it kept none."""
    kept = [figure[1:] for figure in run.figures if figure.kept]
    if not kept:
        return ""
    summary = f"<summary>{run.name}: {len(kept)} of {len(run.figures)}</summary>"
    table = _table(["figure", "measured", "promised"], kept)
    return f"<details>{summary}\n\n{table}\n</details>\n"


def titles(folder):
    """Return the first line of each script's docstring, by its name."""
    found = {}
    for path in sorted(folder.glob("[a-z]*.py")):
        words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem
        found[path.stem] = words.splitlines()[0].rstrip(".").replace("``", "`")
    return found


def tables(folder, scripts=None):
    """Return the tables of all kept runs as Markdown."""
    runs = [read(path) for path in sorted(folder.glob("[a-z]*.md"))]
    if not runs:
        return "No full run is kept in this copy of the documentation.\n"
    written = folder / _REASONS
    reasons = tomllib.loads(written.read_text(encoding="utf-8")) if written.is_file() else {}
    parts = [
        _overview(runs, scripts or {}),
        "### What was missed\n",
        _missed(runs, reasons),
        "### What was kept\n",
        *filter(None, map(_kept, runs)),
    ]
    return "\n".join(parts)


def fill(app, docname, content):
    """Put the tables into the page."""
    if HERE in content[0]:
        source = Path(app.srcdir)
        made = tables(source / "reproductions", titles(source.parent / "reproductions"))
        content[0] = content[0].replace(HERE, made)


def outdated(app, env, added, changed, removed):
    return ["reproduced"] if "reproduced" in env.found_docs else []


def setup(app):
    app.connect("source-read", fill)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "version": "1"}
