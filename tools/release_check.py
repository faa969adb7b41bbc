"""Try the packages of a release as those who install them will, and say what fails.

Usage: python tools/release_check.py [--list] [--without STEP ...] [STEP ...]

Run by `make release-check`, whose environment has build and twine. Prints a line a step, with its
seconds; every step has a folder and, where it installs, an environment of its own. The packages are
left in dist. Exits with 1 if a step fails; a step that this machine cannot make says so.
"""

import argparse
import json
import os
import re
import shutil
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from _fresh import (
    PYTEST,
    ROOT,
    TEST_TOOLS,
    StepFailedError,
    call,
    fresh_venv,
    jobs,
    last_line,
    unpacked,
)
from other_pythons import run_other_pythons, versions

DIST = ROOT / "dist"
NEVER = re.compile(r"__pycache__|\.py[co]$|\.nb[ic]$|\.(parquet|csv|db|log)$|(^|/)\.(?!gitignore)")
NEEDED = (
    "karat/py.typed", "karat/report/templates/report.html", "karat/studio/static/studio.css",
    "karat/studio/static/studio.js", "karat/studio/static/icon.svg",
    "karat/studio/templates/base.html",
)  # fmt: skip
# Fast tests of each extra's own part, run with that extra alone.
OWN_TESTS = {
    "arviz": ("tests/consensus/test_error_estimator.py", "-k", "inference_data"),
    "duckdb": ("tests/validate/test_lazy_frames.py",),
    "studio": ("tests/studio/test_session.py", "tests/studio/test_security.py"),
    "torch": ("tests/torch",),
}
# Runs the command line where nothing may be reached over a network.
OFFLINE = """\
import socket, sys
def refuse(*_, **__): raise OSError("the release check allows no network")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from karat.cli import main
main(sys.argv[1:])
"""


def build(folder: Path) -> str:
    """Build the sdist, and the wheel from the sdist."""
    shutil.rmtree(DIST, ignore_errors=True)
    call(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    return ", ".join(f"{p.name} {p.stat().st_size / 1e6:.1f} MB" for p in sorted(DIST.iterdir()))


def twine(folder: Path) -> str:
    """Check that a package index would take and render them."""
    call(sys.executable, "-m", "twine", "check", "--strict", *DIST.iterdir())
    return "both would be taken"


def contents(folder: Path) -> str:
    """Check that nothing is missing from them, and nothing is in them that should not be."""
    with zipfile.ZipFile(wheel()) as archive:
        inside = set(archive.namelist())
    with tarfile.open(sdist()) as archive:
        sources = {name.partition("/")[2] for name in archive.getnames()}
    skipped = re.compile(r"__pycache__|\.py[co]$|\.nb[ic]$")
    wanted = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "karat").rglob("*")
        if path.is_file() and not skipped.search(str(path))
    }
    complain("the wheel lacks", (wanted | set(NEEDED)) - inside)
    complain(
        "the wheel has", {n for n in inside if not re.match(r"karat(-[\w.]+\.dist-info)?/", n)}
    )
    complain("the sdist lacks", {f"src/{name}" for name in wanted} - sources)
    needed = {"tests/conftest.py", "Makefile", "CHANGELOG.md", "LICENSE", "CITATION.cff"}
    complain("the sdist lacks", needed - sources)
    complain("not to be packed", {name for name in inside | sources if NEVER.search(name)})
    return f"{len(inside)} and {len(sources)} files"


def core(folder: Path) -> str:
    """Install the wheel alone; ask doctor, show the demo, evaluate a table."""
    python = fresh_venv(folder / "venv", wheel(), python=sys.executable)
    _missing_extras_are_named(python, folder)
    command = python.with_name("karat")
    found = json.loads(call(command, "doctor", "--json", cwd=folder))
    if found["karat"] != project_version() or not found["extras"]["core"]["ready"]:
        raise StepFailedError(f"karat doctor says {found}")
    call(python, "-m", "karat", "--version", cwd=folder)
    demo(python, folder / "empty")
    table = folder / "table.csv"
    rows = (f"{i % 2},{int(i % 7 < 3)},{i % 10 / 10}" for i in range(300))
    table.write_text("\n".join(["label,pred,score", *rows]))
    call(command, "evaluate", table, "--yes", "--output", folder / "page.html", cwd=folder)
    if "<svg" not in (folder / "page.html").read_text(encoding="utf-8"):
        raise StepFailedError("the report of karat evaluate has no picture")
    return "imports, doctor, demo and a report, with nothing but the wheel"


def isolated(folder: Path) -> str:
    """Run the demo as uvx does: the wheel in a folder of its own, and no other packages at all."""
    library = folder / "library"
    call(
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-compile",
        "--target",
        library,
        wheel(),
    )
    # -S: not even the packages of the interpreter that runs it.
    demo(Path(sys.executable), folder / "empty", "-S", PYTHONPATH=str(library))
    return "karat demo from a folder of its own"


def extra(folder: Path, *, name: str) -> str:
    """Install one extra, use it, and run the fast tests of its part."""
    if name == "spark" and shutil.which("java") is None:
        return "SKIPPED: Spark needs Java, and there is none"
    python = fresh_venv(folder / "venv", f"{wheel()}[{name}]", python=sys.executable)
    call(python, ROOT / "tools" / "use_extras.py", name, cwd=folder)
    if name not in OWN_TESTS:
        return "used"
    call(python, "-m", "pip", "install", "--quiet", "--no-compile", *TEST_TOOLS)
    said = call(python, *PYTEST, *OWN_TESTS[name], cwd=unpacked(sdist(), folder))
    return f"used; {last_line(said)}"


def resolves(folder: Path, *, name: str) -> str:
    """Check that an extra of those who work on karat can be installed."""
    call(sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", f"{wheel()}[{name}]")
    return "can be installed"


def sdist_tests(folder: Path) -> str:
    """Run the fast tests of the unpacked sdist against the wheel that is made of it."""
    sources = unpacked(sdist(), folder)
    python = fresh_venv(folder / "venv", sources, *TEST_TOOLS, python=sys.executable)
    return last_line(call(python, *PYTEST, *jobs(), "tests", cwd=sources))


def lowest(folder: Path) -> str:
    """Run the fast tests on the lowest versions allowed."""
    said = call(
        "make", "--no-print-directory", "test-lowest", f"JOBS={os.environ.get('JOBS') or 'auto'}"
    )
    return last_line(said)


def pythons(folder: Path) -> str:
    """Run the fast tests on the other Pythons of this machine; MAKE_THEM=1 makes missing ones."""
    if failed := run_other_pythons(versions(), make=bool(os.environ.get("MAKE_THEM"))):
        raise StepFailedError(f"the fast tests fail on Python {', '.join(failed)}")
    return "see above"


USERS = ("arviz", "duckdb", "spark", "studio", "torch")
STEPS: dict[str, Callable[[Path], str]] = {
    "build": build, "twine": twine, "contents": contents, "core": core, "isolated": isolated,
    **{f"extra-{name}": partial(extra, name=name) for name in USERS},
    **{f"extra-{name}": partial(resolves, name=name) for name in ("dev", "docs")},
    "sdist-tests": sdist_tests, "lowest": lowest, "pythons": pythons,
}  # fmt: skip


def demo(python: Path, folder: Path, *flags: str, **changes: str) -> None:
    """Run ``karat demo`` in an empty folder, without a network and without a home to write to."""
    folder.mkdir()
    (folder.parent / "file").touch()
    nowhere = str(folder.parent / "file" / "home")  # below a file: not even root can make it
    home = {"HOME": nowhere, "XDG_CACHE_HOME": nowhere, "XDG_CONFIG_HOME": nowhere}
    call(python, *flags, "-c", OFFLINE, "demo", cwd=folder, **home, **changes)
    made = [path.name for path in folder.iterdir()]
    if made != ["karat-demo.html"]:
        raise StepFailedError(f"karat demo left {made}; expected karat-demo.html alone")
    page = (folder / "karat-demo.html").read_text(encoding="utf-8")
    if page.count("<svg") < 5 or "</html>" not in page:
        raise StepFailedError(f"the page of karat demo has {page.count('<svg')} pictures")


def _missing_extras_are_named(python: Path, folder: Path) -> None:
    """Import every package that needs no extra; the others must say which one."""
    code = """\
import importlib, karat
from karat.exceptions import MissingExtraError
for name in karat.__all__[1:]:
    try:
        for public in importlib.import_module(f"karat.{name}").__all__:
            getattr(importlib.import_module(f"karat.{name}"), public)
    except MissingExtraError as error:
        assert name in ("studio", "torch") and f"karat[{name}]" in str(error), error
"""
    call(python, "-W", "error", "-c", code, cwd=folder)
    # What they say to run adds the extra to the karat that is here; an index need not have karat.
    said = call(python, "-m", "pip", "install", "--dry-run", "karat[duckdb]", cwd=folder)
    if not last_line(said).startswith("Would install duckdb-"):
        raise StepFailedError(f"pip install 'karat[duckdb]' would add something else:\n{said}")


def wheel() -> Path:
    """Return the wheel in dist."""
    return _only("*.whl")


def sdist() -> Path:
    """Return the sdist in dist."""
    return _only("*.tar.gz")


def _only(pattern: str) -> Path:
    there = list(DIST.glob(pattern))
    if len(there) != 1:
        raise StepFailedError(f"dist has {len(there)} files {pattern}; run the step build")
    return there[0]


def project_version() -> str:
    """Return the version of the wheel, by its name."""
    return wheel().name.split("-")[1]


def complain(what: str, names: set[str]) -> None:
    """Fail if there are names."""
    if names:
        raise StepFailedError(f"{what} {', '.join(sorted(names)[:20])}")


def main() -> int:
    """Run the steps and return the exit code."""
    parser = argparse.ArgumentParser(description="Try the packages of a release.")
    parser.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(STEPS))
    parser.add_argument("--without", nargs="*", default=[], metavar="STEP")
    options = parser.parse_args()
    if unknown := {*options.steps, *options.without} - set(STEPS):
        parser.error(f"there is no step {min(unknown)!r}; there are {', '.join(STEPS)}")
    failed = []
    for name in options.steps or STEPS:
        if name in options.without:
            continue
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="karat-release-") as folder:
            try:
                said = STEPS[name](Path(folder))
            except StepFailedError as error:
                failed.append(name)
                said = f"FAILED\n{error}"
        print(f"{name}: {said} ({time.monotonic() - start:.0f} s)", flush=True)
        if failed == ["build"]:
            break
    print(f"failed: {', '.join(failed)}" if failed else "every step passed", flush=True)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
