"""Sphinx extension: the promised figures of kept runs, in place of a comment in a page.

``docs/reproductions/*.md`` keep what each script printed in a full run. Their lines ``kept: what:
value (promised: at least figure)`` become a table, one per script, the missed ones first.
"""

import re
from pathlib import Path

LINE = re.compile(
    r"^\s*(kept|MISSED): (.+): (-?[\d.]+|nan|inf) \(promised: ([^)]+)\)$",
    re.MULTILINE,
)
HERE = "<!-- promises -->"


def tables(folder):
    """Return the tables of all kept runs as Markdown."""
    parts = []
    for path in sorted(folder.glob("*.md")):
        found = LINE.findall(path.read_text(encoding="utf-8").replace("|", r"\|"))
        if not found:
            continue
        found.sort(key=lambda line: line[0] == "kept")
        missed = sum(line[0] != "kept" for line in found)
        count = (
            f"{len(found) - missed} of {len(found)} kept" if missed else f"all {len(found)} kept"
        )
        rows = "".join(
            f"| {'kept' if state == 'kept' else '**missed**'} | {what} | {value} | {wanted} |\n"
            for state, what, value, wanted in found
        )
        link = f"[{path.stem}](reproductions/{path.name})"
        parts.append(
            f"### {path.stem}\n\n{link}: {count}.\n\n"
            f"| | what | measured | promised |\n|---|---|---|---|\n{rows}"
        )
    return "\n".join(parts) or "No full run is kept in this copy of the documentation.\n"


def fill(app, docname, content):
    """Put the tables into the page; show what a script printed as it was printed."""
    if docname.startswith("reproductions/") and "```" not in content[0]:
        name = docname.rpartition("/")[2]
        content[0] = f"# {name}\n\n```text\n{content[0].rstrip()}\n```\n"
    if HERE in content[0]:
        content[0] = content[0].replace(HERE, tables(Path(app.srcdir) / "reproductions"))


def outdated(app, env, added, changed, removed):
    return ["reproduced"] if "reproduced" in env.found_docs else []


def setup(app):
    app.connect("source-read", fill)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "version": "1"}
