"""Measure what an installation holds: the size of each package, and which commands need it.

Usage: python tools/install_size.py [REQUIREMENT]

The requirement is this checkout unless another is given, such as ``.[duckdb]``. It is installed
into a virtual environment of its own; then every command is run on small files, once with each
large package hidden. The table in ``docs/how-to/install.md`` is what this prints.
"""

import subprocess
import sys
import tempfile
from collections import defaultdict
from importlib.metadata import Distribution, distributions
from pathlib import Path

import numpy as np
from _fresh import ROOT, StepFailedError, call, fresh_venv

MB = 1e6
SMALL = 5.0  # megabytes below which packages share a line
# Distributions that come and go together, under the name of the one that karat asks for.
TOGETHER = {
    "llvmlite": "numba", "polars-runtime-32": "polars", "fonttools": "matplotlib",
    "pillow": "matplotlib", "kiwisolver": "matplotlib", "contourpy": "matplotlib",
    "cycler": "matplotlib", "pyparsing": "matplotlib", "joblib": "scikit-learn",
    "threadpoolctl": "scikit-learn", "pydantic-core": "pydantic", "pygments": "rich",
    "markdown-it-py": "rich", "mdurl": "rich",
}  # fmt: skip
IMPORTED = {"scikit-learn": "sklearn"}
ANSWERS = "1\n" * 9  # of a person who is asked
RUN = (
    "import sys, os; hidden = sys.argv.pop(1); "
    "sys.modules.update({hidden: None} if hidden else {}); "
    "from karat.cli import main; sys.exit(main(sys.argv[1:]))"
)
COMMANDS = {
    "evaluate": ("evaluate", "rows.csv", "--label", "y", "--pred", "pred", "--score", "p"),
    "evaluate --output": (
        "evaluate", "rows.csv", "--label", "y", "--pred", "pred", "--output", "page.html",
    ),
    "audit": ("audit", "rows.csv", "--pred", "pred", "--todo", "todo.csv"),
    "gate": ("gate", "rows.csv", "--label", "y", "--pred", "pred", "--at-least", "0.5"),
    "elicit": ("elicit", "rows.csv", "--label", "y", "--score", "p", "--max-queries", "2"),
    "score": ("score", "rows.csv", "--label", "y", "--pred", "pred"),
    "auc": ("auc", "rows.csv", "--label", "y", "--score", "p"),
    "calibration": ("calibration", "rows.csv", "--label", "y", "--prob", "p"),
    "judges": ("judges", "votes.csv", "--judge", "judge*"),
    "bounds": ("bounds", "rows.csv", "--pred", "pred", "--weak", "rule*"),
    "optimize": ("optimize", "rows.csv", "--label", "y", "--score", "p", "--metric", "f1"),
    "count": ("count", "rows.csv", "--label", "y", "--pred", "pred", "--output", "counts.parquet"),
}  # fmt: skip


def size(one: Distribution) -> float:
    """Return the megabytes of a distribution's files, without byte code."""
    files = (Path(str(one.locate_file(f))) for f in one.files or () if f.suffix != ".pyc")
    return sum(path.stat().st_size for path in files if path.exists()) / MB


def sizes(site: Path) -> dict[str, float]:
    """Return megabytes by package, those that come together as one."""
    found: dict[str, float] = defaultdict(float)
    for one in distributions(path=[str(site)]):
        name = one.metadata["Name"].lower().replace("_", "-")
        found[TOGETHER.get(name, name)] += size(one)
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def write_rows(folder: Path) -> None:
    """Write the files that the commands read."""
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.4).astype(int)
    p = 1 / (1 + np.exp(-2 * (2 * y - 1) - rng.normal(size=300)))
    rules = np.where(rng.random((300, 4)) < 0.2, 1 - y[:, None], y[:, None])
    rows = ["y,pred,p,rule1,rule2,rule3,rule4"]
    rows += [
        f"{a},{int(b > 0.5)},{b:.3f},{','.join(map(str, r))}"
        for a, b, r in zip(y, p, rules, strict=True)
    ]
    (folder / "rows.csv").write_text("\n".join(rows))
    votes = ["judge1,judge2,judge3,judge4", *(",".join(map(str, r)) for r in rules)]
    (folder / "votes.csv").write_text("\n".join(votes))


def answer(python: Path, words: tuple[str, ...], hidden: str) -> int:
    """Return the exit code of a command while a package is hidden."""
    with tempfile.TemporaryDirectory() as name:
        write_rows(Path(name))
        command = [str(python), "-c", RUN, hidden, *words]
        done = subprocess.run(
            command, cwd=name, input=ANSWERS, capture_output=True, text=True, check=False
        )
    if not hidden and done.returncode not in (0, 4):  # 4: a gate that says no
        raise StepFailedError(f"karat {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.returncode


def main() -> None:
    """Install, measure and print the table."""
    requirement = sys.argv[1] if len(sys.argv) > 1 else str(ROOT)
    with tempfile.TemporaryDirectory() as name:
        python = fresh_venv(Path(name) / "venv", requirement, python=sys.executable)
        site = Path(
            call(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        )
        found = sizes(site)
        large = {package: mb for package, mb in found.items() if mb >= SMALL}
        plain = {title: answer(python, words, "") for title, words in COMMANDS.items()}
        print("| package | MB | commands that do not run without it |")
        print("|---|---|---|")
        for package, mb in large.items():
            if package in ("karat", "pip", "setuptools"):
                print(f"| {package} | {mb:.0f} | |")
                continue
            module = IMPORTED.get(package, package.replace("-", "_"))
            need = [t for t, w in COMMANDS.items() if answer(python, w, module) != plain[t]]
            said = "all" if len(need) == len(COMMANDS) else ", ".join(f"`{n}`" for n in need)
            print(f"| {package} | {mb:.0f} | {said or 'none of these'} |")
        rest = sum(found.values()) - sum(large.values())
        print(f"| {len(found) - len(large)} others | {rest:.0f} | |")
        print(f"| together | {sum(found.values()):.0f} | |")


if __name__ == "__main__":
    main()
