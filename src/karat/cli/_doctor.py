"""``karat doctor``: what is installed, and what each extra would add."""

import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Annotated, Any

import typer

from karat import __version__
from karat.cli import _flags as flags
from karat.cli._run import run
from karat.report.answer import Answer, table
from karat.report.parts import Table

_PURPOSE = {
    "": "the library, its pictures, reports and this command line",
    "arviz": "posterior draws as ArviZ data",
    "duckdb": "relations and queries of DuckDB",
    "spark": "tables of Apache Spark",
    "studio": "web studies that ask people",
    "torch": "training losses for PyTorch",
}


def doctor(
    warm: Annotated[
        bool,
        typer.Option(
            "--warm", help="Also compile every loop now, for images: set NUMBA_CACHE_DIR there."
        ),
    ] = False,
    as_json: flags.AsJson = False,
) -> None:
    """Show what is installed, and what each extra would add.

    Example:  karat doctor --json
    """

    def work() -> Answer:
        found = _examine()
        if warm:
            found["compiled"] = {"seconds": round(_compile_everything(), 2)}
        return Answer(data=found, text=_text(found))

    run(work, as_json=as_json)


def _examine() -> dict[str, Any]:
    """Return the versions of Python, karat and its dependencies, by extra."""
    extras = {extra: _packages(extra) for extra in _PURPOSE}
    data = os.environ.get("KARAT_DATA")
    return {
        "karat": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "data": {"KARAT_DATA": data, "found": bool(data) and Path(data or "").is_dir()},
        "extras": {
            extra or "core": {
                "purpose": _PURPOSE[extra],
                # An install from before the extra knows no package of it.
                "ready": bool(packages) and all(v is not None for v in packages.values()),
                "packages": packages,
            }
            for extra, packages in extras.items()
        },
    }


def _packages(extra: str) -> dict[str, str | None]:
    """Return the packages of an extra ("": of karat itself) and their installed versions."""
    packages: dict[str, str | None] = {}
    for line in requires("karat") or []:
        package = re.match(r"[\w.-]+", line)
        belongs = re.search(r"extra == ['\"]([\w-]+)['\"]", line)
        if package is None or package[0] == "karat" or (belongs[1] if belongs else "") != extra:
            continue
        try:
            packages[package[0]] = version(package[0])
        except PackageNotFoundError:
            packages[package[0]] = None
    return packages


def _compile_everything() -> float:
    """Compile every loop, or load it where that was done before; return the seconds it took."""
    from karat.bounds.frechet import warm as warm_bounds
    from karat.consensus.sampling import warm as warm_sampling
    from karat.consensus.scores import warm as warm_scores
    from karat.decisions.population import warm as warm_decisions
    from karat.elicit.people_arrays import warm as warm_people
    from karat.ranking.learning import warm as warm_learning
    from karat.ranking.placements import warm as warm_placements
    from karat.sources.counting import warm as warm_counting

    start = time.perf_counter()
    # Sampling takes as long as all others together: a process beside this one compiles it. Here it
    # is then only loaded, or compiled after all where that process failed or could keep nothing.
    with _process_beside("from karat.consensus.sampling import warm; warm()"):
        for warm in (
            warm_bounds,
            warm_scores,
            warm_decisions,
            warm_people,
            warm_learning,
            warm_placements,
            warm_counting,
        ):
            warm()
    warm_sampling()
    return time.perf_counter() - start


@contextmanager
def _process_beside(code: str) -> Iterator[None]:
    """Run code in another process, if one can be started, and wait for it at the end."""
    # -P: nothing is imported from the folder where the command was given.
    command, nothing = [sys.executable or "", "-P", "-c", code], subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, stdout=nothing, stderr=nothing)
    except OSError:
        yield
        return
    with process:
        yield


def _text(found: dict[str, Any]) -> list[str | Table]:
    rows = []
    for extra, entry in found["extras"].items():
        packages = entry["packages"]
        have = ", ".join(f"{name} {v}" for name, v in packages.items() if v)
        lack = ", ".join(name for name, v in packages.items() if not v)
        rows.append((extra, entry["purpose"], have, lack))
    text: list[str | Table] = [
        f"karat {found['karat']} on Python {found['python']}, {found['platform']}",
        table(("extra", "for", "installed", "missing"), rows),
    ]
    for extra, entry in found["extras"].items():
        if not entry["ready"]:
            what = "karat" if extra == "core" else f"'karat[{extra}]'"
            text.append(f"pip install {what} brings {entry['purpose']}")
    if "compiled" in found:
        seconds = found["compiled"]["seconds"]
        text.append(f"every compiled loop is ready, after {seconds:.1f} s")
    folder, there = found["data"]["KARAT_DATA"], found["data"]["found"]
    text.append(
        f"KARAT_DATA is {folder} ({'found' if there else 'not there'})"
        if folder
        else "KARAT_DATA is not set: shared datasets are looked for in ../shared/data"
    )
    return text
