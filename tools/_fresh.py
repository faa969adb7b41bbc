"""Commands and virtual environments that know nothing of the shell that started them."""

import os
import subprocess
import tarfile
import tomllib
from pathlib import Path
from typing import Any

__all__ = [
    "PYTEST", "ROOT", "TEST_TOOLS", "StepFailedError", "call", "fresh_venv", "jobs", "last_line",
    "project", "unpacked",
]  # fmt: skip

ROOT = Path(__file__).parents[1]
# What runs the tests, and the frames that they hand over; everything else that karat can use is
# absent, and tests of that skip with a reason.
TEST_TOOLS = ("duckdb", "httpx", "hypothesis", "pandas", "pyarrow", "pytest", "pytest-xdist")
# Of many skipped tests the reasons would hide what failed.
PYTEST = ("-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-rfE")
_HIDDEN = ("KARAT_DATA", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "NUMBA_CACHE_DIR")
_SHOWN = 150  # lines of what a failed command said


class StepFailedError(Exception):
    """A command failed, or what it made is not as it has to be."""


def project() -> dict[str, Any]:
    """Return the table ``project`` of pyproject.toml."""
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"])


def environment(**changes: str) -> dict[str, str]:
    """Return the variables of this process without those that lead to other code or data."""
    kept = {name: value for name, value in os.environ.items() if name not in _HIDDEN}
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return kept | one_thread | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"} | changes


def call(*command: str | Path, cwd: Path = ROOT, **changes: str) -> str:
    """Run a command and return what it printed; its last lines are the message if it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment(**changes),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        said = "\n".join([*done.stdout.splitlines(), *done.stderr.splitlines()][-_SHOWN:])
        words = " ".join(map(str, command))
        raise StepFailedError(f"{words}\nended with {done.returncode}:\n{said}")
    return done.stdout


# The one version of PyTorch that is tested; others pull gigabytes.
TORCH = "torch==2.13.0"


def fresh_venv(folder: Path, *requirements: str | Path, python: str | Path) -> Path:
    """Make a virtual environment with what is required and nothing else; return its Python."""
    call(python, "-m", "venv", "--clear", folder)
    inside = folder / "bin" / "python"
    constraints = folder / "constraints.txt"
    constraints.write_text(f"{TORCH}\n")
    # Compiled when first imported: most modules never are.
    call(
        inside, "-m", "pip", "install", "--quiet", "--no-compile", "-c", constraints, *requirements
    )
    call(inside, "-m", "pip", "check")
    return inside


def jobs() -> tuple[str, ...]:
    """Return how many processes pytest takes; JOBS=1 is kind to those who share the machine."""
    return ("-n", os.environ.get("JOBS") or "auto", "--dist", "worksteal")


def unpacked(sdist: Path, folder: Path) -> Path:
    """Unpack an sdist, and return the folder that it makes."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return folder / sdist.name.removesuffix(".tar.gz")


def last_line(said: str) -> str:
    """Return the last line of what pytest said: how many tests passed."""
    return said.strip().splitlines()[-1].strip("= ")
