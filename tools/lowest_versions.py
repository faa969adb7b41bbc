"""Print the lowest versions that pyproject.toml allows, one pin a line, for ``pip install -r``.

The dependencies, the extras that tests use, and what runs the tests; not PyTorch and Spark, which
are large, and not the linters and what drives the browser, whose versions change no result.
"""

import re
import sys
import tomllib
from pathlib import Path

EXTRAS = ("arviz", "duckdb", "studio", "dev")
LEFT_OUT = {
    "axe-playwright-python",
    "dask",
    "ibis-framework",
    "import-linter",
    "karat",
    "mypy",
    "playwright",
    "ruff",
    "torch",
}


def lowest(requirements: list[str]) -> list[str]:
    """Return ``name==bound`` of requirements of the form ``name>=bound``."""
    pins = []
    for requirement in requirements:
        name = re.match(r"[\w-]+(\[\w+\])?", requirement)[0]
        if name.partition("[")[0] in LEFT_OUT:
            continue
        bound = re.search(r">=([\w.]+)", requirement)
        if bound is None:
            raise SystemExit(f"{requirement!r} has no lower bound; write one as name>=version")
        pins.append(f"{name}=={bound[1]}")
    return pins


def main() -> None:
    """Print the pins."""
    file = Path(__file__).parent.parent / "pyproject.toml"
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(line for extra in EXTRAS for line in extras[extra])]
    sys.stdout.write("\n".join(lowest(wanted)) + "\n")


if __name__ == "__main__":
    main()
