"""Run every reproduction and say which of them miss a figure that they promise.

Usage: python tools/reproduce.py [--full]

With ``--full`` each takes as long as it needs, some of them hours; without it, ``--quick`` is
passed on, and two run at a time. Exits with 1 if any promised figure is missed.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "reproductions"


def run(script: Path) -> subprocess.CompletedProcess[str]:
    """Run one script and return what it said."""
    quick = [] if "--full" in sys.argv[1:] else ["--quick"]
    return subprocess.run(
        [sys.executable, str(script), *quick],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
    )


def main() -> int:
    """Run all of them and return the exit code."""
    scripts = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("_"))
    missed = []
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        for script, done in zip(scripts, workers.map(run, scripts), strict=True):
            kept = done.returncode == 0 and "MISSED" not in done.stdout
            print(f"{script.stem}: {'kept' if kept else 'MISSED'}", flush=True)
            if not kept:
                missed.append(script.stem)
                print(done.stdout, done.stderr, sep="\n", flush=True)
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
