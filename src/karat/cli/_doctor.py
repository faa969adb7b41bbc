"""``karat doctor``: what is installed, and what each extra would add."""

import json
import os
import platform
import re
import time
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from karat import __version__

__all__ = ["compile_everything", "examine", "run_doctor"]

_PURPOSE = {
    "": "the library, its pictures, reports and this command line",
    "arviz": "posterior draws as ArviZ data",
    "duckdb": "relations of DuckDB",
    "torch": "training losses for PyTorch",
}


def examine() -> dict[str, Any]:
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
                "ready": all(found is not None for found in packages.values()),
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


def compile_everything() -> float:
    """Compile every loop, or load it where that was done before; return the seconds it took."""
    from karat.bounds.transport import warm as warm_bounds
    from karat.consensus.sampling import warm as warm_consensus
    from karat.ranking._warm import warm as warm_ranking

    start = time.perf_counter()
    for warm in (warm_bounds, warm_consensus, warm_ranking):
        warm()
    return time.perf_counter() - start


def run_doctor(*, as_json: bool, warm: bool = False) -> None:
    """Print the examination, as a table or as JSON; with ``warm`` compile every loop first."""
    found = examine()
    if warm:
        found["compiled"] = {"seconds": round(compile_everything(), 2)}
    if as_json:
        print(json.dumps(found, indent=2))  # noqa: T201
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(f"karat {found['karat']} on Python {found['python']}, {found['platform']}")
    table = Table("extra", "for", "installed", "missing")
    for extra, entry in found["extras"].items():
        packages = entry["packages"]
        have = ", ".join(f"{name} {v}" for name, v in packages.items() if v)
        lack = ", ".join(name for name, v in packages.items() if not v)
        table.add_row(extra, entry["purpose"], have, lack)
    console.print(table)
    for extra, entry in found["extras"].items():
        if not entry["ready"]:
            what = "karat" if extra == "core" else f"'karat[{extra}]'"
            console.print(f"pip install {what} brings {entry['purpose']}", markup=False)
    if warm:
        seconds = found["compiled"]["seconds"]
        console.print(f"every compiled loop is ready, after {seconds:.1f} s")
    data = found["data"]
    state = "found" if data["found"] else "not there"
    console.print(
        f"KARAT_DATA is {data['KARAT_DATA']} ({state})"
        if data["KARAT_DATA"]
        else "KARAT_DATA is not set: shared datasets are looked for in ../shared/data"
    )
