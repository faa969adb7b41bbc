"""Run the reproductions and say which of them miss a figure that they promise.

Usage:
    python tools/reproduce.py [NAME ...]
    python tools/reproduce.py --full [--again] [NAME ...]
    python tools/reproduce.py --keep FILE NAME DATE COMMIT SECONDS

Without ``--full``, ``--quick`` is passed on, each takes well under a minute, and as many run at a
time as there are cores. With it they run one after the other, each as long as it needs (some of
them hours), and each is kept as docs/reproductions/NAME.md as soon as it has ended; those that were
made of the same code are skipped unless ``--again`` is given. ``--keep`` makes that page of a text
file with the output of a run. Exits with 1 if a promised figure is missed or a script fails.
"""

import argparse
import ast
import datetime as dt
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "reproductions"
PAGES = ROOT / "docs" / "reproductions"
# What a figure depends on: a run of the same code need not be made again.
CODE = ("src", "reproductions")


def main() -> int:
    """Run what is asked for and return the exit code."""
    options = _options()
    if options.keep is not None:
        file, name, date, commit, seconds = options.keep
        output = Path(file).read_text(encoding="utf-8", errors="replace")
        print(keep(output, name=name, date=date, commit=commit, seconds=float(seconds)))
        return 0
    if options.full:
        return run_in_full(options.names, again=options.again)
    return run_quickly(options.names)


def _options() -> argparse.Namespace:
    every = sorted(path.stem for path in SCRIPTS.glob("*.py") if not path.name.startswith("_"))
    parser = argparse.ArgumentParser(description="Run the reproductions.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(every))
    parser.add_argument("--full", action="store_true", help="not --quick; keep every output")
    parser.add_argument("--again", action="store_true", help="also those that are kept already")
    parser.add_argument("--keep", nargs=5, metavar=("FILE", "NAME", "DATE", "COMMIT", "SECONDS"))
    options = parser.parse_args()
    unknown = {*options.names, *(options.keep or [])[1:2]} - set(every)
    if unknown:
        parser.error(f"there is no reproduction {min(unknown)!r}; there are {', '.join(every)}")
    options.names = options.names or every
    return options


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one script and return what it said."""
    return subprocess.run(
        [sys.executable, str(SCRIPTS / f"{name}.py"), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )


def run_quickly(names: list[str]) -> int:
    """Run them side by side with --quick, and show the output of those that fail."""
    failed = False
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        runs = workers.map(lambda name: run(name, "--quick"), names)
        for name, done in zip(names, runs, strict=True):
            print(f"{name}: {'kept' if done.returncode == 0 else 'MISSED'}", flush=True)
            if done.returncode:
                failed = True
                print(done.stdout, done.stderr, sep="\n", flush=True)
    return int(failed)


def run_in_full(names: list[str], *, again: bool) -> int:
    """Run one after the other and keep each output; return 1 if one failed."""
    failed = False
    for name in names:
        if not again and _made_of_this_code(name):
            print(f"{name}: made of this code before", flush=True)
            continue
        commit, date, start = _commit(), dt.date.today().isoformat(), time.monotonic()
        done = run(name)
        seconds = time.monotonic() - start
        output = done.stdout + done.stderr
        print(keep(output, name=name, date=date, commit=commit, seconds=seconds), flush=True)
        failed |= done.returncode != 0
    return int(failed)


def keep(output: str, *, name: str, date: str, commit: str, seconds: float) -> str:
    """Write the page of one run, whole or not at all; return its name and what it came to."""
    output = _without_this_machine(output)
    promised = re.findall(r"^  (kept|MISSED): (.*)$", output, re.MULTILINE)
    missed = [text for state, text in promised if state == "MISSED"]
    came_to = f"{len(promised) - len(missed)} kept, {len(missed)} missed"
    if not promised:
        came_to = "none was reached: the run ended before them"
    title = ast.get_docstring(ast.parse((SCRIPTS / f"{name}.py").read_text(encoding="utf-8")))
    fence = "`" * max([3, *(1 + len(run) for run in re.findall("`{3,}", output))])
    page = [
        "---", "orphan: true", "---", f"# {(title or name).splitlines()[0].rstrip('.')}", "",
        "| | |", "|---|---|",
        f"| run on | {date} |",
        f"| at commit | `{commit}` |",
        f"| seconds | {seconds:,.0f} |",
        f"| command | `python reproductions/{name}.py` |",
        f"| promised figures | {came_to} |", "",
        *(["Promised figures that were missed:", "", *(f"- {text}" for text in missed), ""]
          if missed else []),
        f"{fence}text", output, fence, "",
    ]  # fmt: skip
    PAGES.mkdir(exist_ok=True)
    half = PAGES / f".{name}.md"
    half.write_text("\n".join(page), encoding="utf-8")
    half.replace(PAGES / f"{name}.md")
    return f"{name}: {came_to}"


def _without_this_machine(output: str) -> str:
    """Return the output without colours, blanks at the ends of lines, and names of folders."""
    output = re.sub(r"\x1b\[[0-9;]*m", "", output).replace("\r\n", "\n")
    data = os.environ.get("KARAT_DATA")
    for folder, word in ((data, "$KARAT_DATA"), (str(ROOT), "."), (str(Path.home()), "~")):
        if folder and len(folder) > 1:  # /karat also ends the name /src/karat
            output = re.sub(rf"(?<![\w.~-]){re.escape(folder)}(?![\w-])", word, output)
    return "\n".join(line.rstrip() for line in output.strip("\n").splitlines())


def _commit() -> str:
    """Return the commit that is checked out, and say so where the code differs from it."""
    commit = _git("rev-parse", "--short=10", "HEAD").stdout.strip() or "unknown"
    return commit if _git("diff", "--quiet", "HEAD", "--", *CODE).returncode == 0 else f"{commit}+"


def _made_of_this_code(name: str) -> bool:
    """Whether the page that is kept was made of the code that is here now."""
    page = PAGES / f"{name}.md"
    made = (
        re.search(r"^\| at commit \| `(\w+)` \|$", page.read_text(), re.M)
        if page.exists()
        else None
    )
    return made is not None and _git("diff", "--quiet", made[1], "--", *CODE).returncode == 0


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False
    )


if __name__ == "__main__":
    sys.exit(main())
