"""Run the fast tests on the other Pythons that karat allows, where they can be had.

Usage: python tools/other_pythons.py [--make] [VERSION ...]

A Python is looked for on the path, among those of pyenv and among those of uv. With ``--make``, as
root and with debootstrap, one that is missing comes from the suite of Debian that ships it. What
cannot be had is named, and is no failure. The tests are those of the sdist in dist, or of this
checkout if there is none; the packages are installed from outside, so what runs them has only them.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
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
    project,
    unpacked,
)

__all__ = ["run_other_pythons"]

SUITES = {"3.13": "trixie", "3.14": "sid"}
# Tests look at processes and at terminals. The mounts end with the command: they are its own.
INSIDE = 'mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; exec chroot "$0" "$@"'


def versions() -> list[str]:
    """Return the versions that the classifiers name, except the one that runs this."""
    mark = "Programming Language :: Python :: 3."
    named = [line[len(mark) - 2 :] for line in project()["classifiers"] if line.startswith(mark)]
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    return [version for version in named if version != here]


def found(version: str) -> Path | None:
    """Return an interpreter of that version that runs, or None."""
    homes = [Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"]
    homes.append(Path.home() / ".local" / "share" / "uv" / "python")
    places = [Path(name)] if (name := shutil.which(f"python{version}")) else []
    places += [p for home in homes for p in sorted(home.glob(f"*{version}.*/bin/python{version}"))]
    for place in places:
        said = subprocess.run([place, "--version"], capture_output=True, text=True, check=False)
        if said.returncode == 0 and said.stdout.startswith(f"Python {version}."):
            return place
    return None


def test_with(python: Path, sources: Path, folder: Path) -> str:
    """Run the fast tests with an interpreter of this machine; return what they came to."""
    inside = fresh_venv(folder / "venv", sources, *TEST_TOOLS, python=python)
    return last_line(call(inside, *PYTEST, *jobs(), "tests", cwd=sources))


def test_in_debian(version: str, sources: Path, folder: Path) -> str:
    """Make a small Debian that ships the version, and run the fast tests inside."""
    system = folder / "debian"
    call("debootstrap", "--variant=minbase", "--include=python3,tzdata", SUITES[version], system)
    inside = Path("/usr/bin") / f"python{version}"
    if not (system / inside.relative_to("/")).exists():
        raise StepFailedError(f"Debian {SUITES[version]} has no {inside.name} any more")
    # The packages come from outside: the small Debian needs neither pip nor a network.
    wheel = next((ROOT / "dist").glob("*.whl"), None)
    if wheel is None:
        raise StepFailedError("there is no wheel in dist; run `make release-check` first")
    call(
        sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--only-binary=:all:",
        f"--python-version={version}", "--target", system / "packages", wheel, *TEST_TOOLS,
    )  # fmt: skip
    shutil.copytree(sources, system / "karat")
    command = ("/usr/bin/env", "-C", "/karat", inside, *PYTEST, *jobs(), "tests")
    return last_line(
        call("unshare", "--mount", "sh", "-ec", INSIDE, system, *command, PYTHONPATH="/packages")
    )


def run_other_pythons(wanted: list[str], *, make: bool) -> list[str]:
    """Test each version and print a line for it; return those that failed."""
    can_make = make and os.geteuid() == 0 and shutil.which("debootstrap") is not None
    failed = []
    for version in wanted:
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="karat-python-") as name:
            folder = Path(name)
            sources = _sources(folder)
            try:
                if (python := found(version)) is not None:
                    said = test_with(python, sources, folder)
                elif can_make and version in SUITES:
                    said = test_in_debian(version, sources, folder)
                else:
                    print(f"python {version}: not on this machine, so not tested", flush=True)
                    continue
            except StepFailedError as error:
                failed.append(version)
                said = f"FAILED\n{error}"
        print(f"python {version}: {said} ({time.monotonic() - start:.0f} s)", flush=True)
    return failed


def _sources(folder: Path) -> Path:
    """Return a copy of the sources: of the sdist, or of this checkout without its caches."""
    sdist = next((ROOT / "dist").glob("karat-*.tar.gz"), None)
    if sdist is None:
        skipped = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "_build")
        return Path(shutil.copytree(ROOT, folder / "karat", ignore=skipped))
    return unpacked(sdist, folder)


def main() -> int:
    """Test what is asked for and return the exit code."""
    parser = argparse.ArgumentParser(description="Run the fast tests on other Pythons.")
    parser.add_argument("--make", action="store_true", help="make missing ones from Debian")
    parser.add_argument("versions", nargs="*", default=versions(), metavar="VERSION")
    options = parser.parse_args()
    return int(bool(run_other_pythons(options.versions, make=options.make)))


if __name__ == "__main__":
    sys.exit(main())
