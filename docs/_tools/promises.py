"""Sphinx extension: the promised figures of kept runs, in place of a comment in a page.

``docs/reproductions/*.md`` keep what each script printed in a full run. Their lines ``kept: what:
value (promised: at least figure)`` become tables by script: what was missed in sight, what was kept
folded.
"""

import re
from pathlib import Path

LINE = re.compile(
    r"^\s*(kept|MISSED): (.+): (-?[\d.]+|nan|inf) \(promised: ([^)]+)\)$", re.MULTILINE
)
RUN_ON = re.compile(r"^\| run on \| (.*) \|\n\| at commit \| (.*) \|$", re.MULTILINE)
HERE = "<!-- promises -->"


def _table(found):
    rows = "".join(f"| {what} | {value} | {wanted} |\n" for what, value, wanted in found)
    return f"| figure | measured | promised |\n|---|---|---|\n{rows}"


def tables(folder):
    """Return the tables of all kept runs as Markdown."""
    parts = []
    for path in sorted(folder.glob("[a-z]*.md")):
        text = path.read_text(encoding="utf-8")
        run = RUN_ON.search(text)
        found = LINE.findall(text.replace("|", r"\|"))
        kept = [line[1:] for line in found if line[0] == "kept"]
        missed = [line[1:] for line in found if line[0] == "MISSED"]
        when = f", run on {run[1]} at commit {run[2]}" if run else ""
        parts.append(f"### {path.stem}\n\n[Output](reproductions/{path.name}){when}.\n")
        if missed:
            parts.append(f"**Missed, {len(missed)} of {len(found)}:**\n\n{_table(missed)}")
        if kept:
            summary = f"<summary>Kept, {len(kept)} of {len(found)}</summary>"
            parts.append(f"<details>{summary}\n\n{_table(kept)}\n</details>\n")
    return "\n".join(parts) or "No full run is kept in this copy of the documentation.\n"


def fill(app, docname, content):
    """Put the tables into the page."""
    if HERE in content[0]:
        content[0] = content[0].replace(HERE, tables(Path(app.srcdir) / "reproductions"))


def outdated(app, env, added, changed, removed):
    return ["reproduced"] if "reproduced" in env.found_docs else []


def setup(app):
    app.connect("source-read", fill)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "version": "1"}
