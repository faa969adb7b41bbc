"""Sphinx extension: every block of Python is run, and its output and pictures go below it.

Pages run when the build starts, each in a process of its own (`run_page.py`), as many at once as
there are processors (or ``KARAT_DOCS_JOBS``). What a page did is kept in ``docs/_generated`` until
its code or the library changes. An error is a warning of the build, and so is output that differs
from what the page shows.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from run_page import BLOCK, missing
from sphinx.util import logging

log = logging.getLogger(__name__)
_RUNNER = Path(__file__).with_name("run_page.py")
_SECONDS = 900  # a page that hangs must not hang the build; on a busy machine all take longer


def _failed(error):
    return {"said": "", "warned": [], "pictures": [], "error": error}


def _library(root):
    """Return a digest of the library's source."""
    digest = hashlib.sha256(_RUNNER.read_bytes())
    for path in sorted((root / "src").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _ran(path, source, kept, library):
    """Run one page unless it is kept; return its blocks, or the reason why there are none."""
    text = path.read_text(encoding="utf-8")
    if not BLOCK.search(text):
        return []
    if reason := missing(text):
        return reason
    name = path.relative_to(source).with_suffix("").as_posix().replace("/", "-")
    code = "\0".join(found[1] for found in BLOCK.finditer(text))
    digest = hashlib.sha256((code + library).encode()).hexdigest()[:16]
    folder = kept / name / digest
    if not (folder / "ran.json").is_file():
        shutil.rmtree(kept / name, ignore_errors=True)
        try:
            done = subprocess.run(
                [sys.executable, str(_RUNNER), str(path), str(folder)],
                capture_output=True, text=True, timeout=_SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return [_failed(f"took more than {_SECONDS} s")]
        if done.returncode:
            return [_failed(done.stderr[-1000:])]
    ran = json.loads((folder / "ran.json").read_text(encoding="utf-8"))
    for block in ran:
        for picture in block["pictures"]:
            picture["file"] = f"/{(folder / picture['file']).relative_to(source).as_posix()}"
    return ran


def run_pages(app):
    """Run every page of the documentation."""
    source = Path(app.srcdir)
    kept = source / "_generated"
    kept.mkdir(exist_ok=True)
    names = sorted(app.env.project.discover(app.config.exclude_patterns))
    paths = {name: Path(app.env.doc2path(name)) for name in names}
    library = _library(source.parent)
    jobs = int(os.environ.get("KARAT_DOCS_JOBS", os.cpu_count() or 1))
    with ThreadPoolExecutor(jobs) as workers:
        results = workers.map(lambda path: _ran(path, source, kept, library), paths.values())
        app.karat_ran = dict(zip(paths, results, strict=True))
    for name, ran in app.karat_ran.items():
        if isinstance(ran, str):
            log.info("%s was not run: %s", name, ran)


def _output(said):
    """Return a block of output: sentences wrap; tables, with columns below each other, scroll."""
    kind = "output" if "│" in said or "  " in said else "output sentences"
    return f"\n```{{code-block}} text\n:class: {kind}\n\n{said}\n```\n"


def show(app, docname, content):
    """Put below each block what it printed and drew."""
    ran = app.karat_ran.get(docname, [])
    text = content[0]
    if isinstance(ran, str):
        content[0] = f"{text}\n\n*The code of this page was not run in this build: {ran}.*\n"
        return
    pieces, end = [], 0
    for found, block in zip(BLOCK.finditer(text), ran, strict=False):
        line = text.count("\n", 0, found.start()) + 1
        if block["error"]:
            log.warning("a block fails: %s", block["error"], location=(docname, line))
        shown = found[2]
        if shown is not None and shown.split() != block["said"].split():
            log.warning("a block prints %r", block["said"], location=(docname, line))
        pieces.append(text[end : found.end()])
        below = [block["said"].rstrip()] if shown is None and block["said"].strip() else []
        pieces.extend(map(_output, below + block["warned"]))
        for picture in block["pictures"]:
            # For those who cannot see it: the heading that it stands under, and its own words.
            above = re.findall(r"^##+ (.+)$", text[: found.start()], re.MULTILINE)
            words = ". ".join([*above[-1:], picture["text"]])
            alt = re.sub(r"[\[\]\s]+", " ", words)
            pieces.append(f"\n![{alt}]({picture['file']})\n")
        end = found.end()
    content[0] = "".join(pieces) + text[end:]


def outdated(app, env, added, changed, removed):
    """Read pages with code again: what they did may have changed though their text has not."""
    return [name for name, ran in app.karat_ran.items() if ran]


def setup(app):
    app.connect("builder-inited", run_pages)
    app.connect("env-get-outdated", outdated)
    app.connect("source-read", show)
    return {"parallel_read_safe": True, "version": "1"}
