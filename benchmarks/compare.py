"""Compare the benchmarks of this checkout with those of another commit.

    python benchmarks/compare.py BASE [names ...] [--rounds 3] [--limit 1.25] [--clock cpu]

BASE is checked out into a temporary worktree. The scripts of the two trees take turns, so that
whatever else the machine does falls on both, and each figure is the median over the rounds. Where
a line measures karat beside a peer, karat's time over the peer's is compared, because the peer is a
yardstick of the machine in that very moment; else the time itself. Times are processor time of all
threads, which does not grow while other programs have the processor; ``--clock wall`` is for a
machine that does nothing else, and notices work that no longer runs in parallel. The exit code is 1
if a figure of this checkout is more than ``--limit`` times that of BASE, or if a script fails.
"""

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median

__all__ = ["compared", "cost_of", "costs_of"]

ROOT = Path(__file__).resolve().parent.parent
# Lines that count answers, not time, take most of this script.
ARGUMENTS = {"bench_elicit.py": ["--metrics", "2"]}
# Python runs this at its start, so the clock of the scripts and of what they start is another.
PROCESSOR_CLOCK = "import time\ntime.perf_counter = time.process_time\n"
UNITS = {"s": 1.0, "ms": 1e-3}
Key = tuple[str, str, int]


def cost_of(line: str) -> float | None:
    """Return what a printed line says to be kept low: a time, or a time over a peer's.

    >>> cost_of("AUC of 10^6: ratio 8.0 to scikit-learn (karat 0.1 s, scikit-learn 0.8 s)")
    0.125
    >>> cost_of("  time over np.sort: ratio 1.31 (limit 2: kept; np.sort 0.070 s)")
    1.31
    >>> cost_of("coupled, 4 chains: 40.1 s, within 60 s (0 chains ran again)")
    40.1
    """
    _, colon, rest = line.partition(": ")
    ratio = re.search(r"ratio ([\d,.]+)", rest)
    value = float(ratio[1].replace(",", "").rstrip(".")) if ratio else None
    if not colon:
        return None
    if value and "karat" in rest:
        return 1.0 / value  # the peer's time over karat's
    if value and "np.sort" in line:
        return value
    if found := re.search(r"median ms ([\d.e+-]+)", rest):
        return float(found[1]) * UNITS["ms"]
    if found := re.search(r"(?<!to )(?<!within )(?<!OVER )(?<![\d.,])([\d,.]+) (m?s)\b", rest):
        return float(found[1].replace(",", "")) * UNITS[found[2]]
    bounded = value is not None and re.search(r"ratio [\d,.]+ to ([\d.]+ s|the input)\b", rest)
    return value if bounded else None


def costs_of(script: str, printed: str) -> dict[Key, float]:
    """Return the costs of all lines; a title that is printed again is counted."""
    seen: Counter[str] = Counter()
    costs: dict[Key, float] = {}
    for line in printed.splitlines():
        cost = cost_of(line)
        if cost is not None and cost > 0:
            title = line.partition(": ")[0].strip()
            costs[script, title, seen[title]] = cost
            seen[title] += 1
    return costs


@contextlib.contextmanager
def worktree(base: str, clock: str) -> Iterator[Path]:
    """Check a commit out into a folder that is removed afterwards; beside it stands the clock."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "base"
        start = PROCESSOR_CLOCK if clock == "cpu" else ""
        (Path(folder) / "sitecustomize.py").write_text(start, encoding="utf-8")
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), base], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def run(tree: Path, script: str, clock: Path) -> dict[Key, float]:
    """Return the costs that a script of a tree prints, timed by the clock of a folder."""
    data = os.environ.get("KARAT_DATA") or str(ROOT / "../shared/data")
    done = subprocess.run(
        [sys.executable, str(tree / "benchmarks" / script), *ARGUMENTS.get(script, [])],
        capture_output=True,
        text=True,
        check=False,
        cwd=tree,
        env={
            **os.environ,
            "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{clock}",
            "KARAT_DATA": str(Path(data).resolve()),
        },
    )
    if "Traceback" in done.stderr:  # a script that misses a limit of its own exits with 1 as well
        raise SystemExit(f"{tree / 'benchmarks' / script} failed:\n{done.stderr}")
    return costs_of(script, done.stdout)


def compared(old: dict[Key, list[float]], new: dict[Key, list[float]], limit: float) -> list[Key]:
    """Print the ratio of medians of every figure that both trees have; return those beyond."""
    over = []
    for key in [key for key in old if key in new]:
        ratio = median(new[key]) / median(old[key])
        over += [key] if ratio > limit else []
        mark = f"  OVER {limit:g}" if ratio > limit else ""
        script, title, again = key
        print(f"{ratio:5.2f}  {script}: {title}{f' ({again + 1})' if again else ''}{mark}")
    for name, here, there in (("BASE", old, new), ("this checkout", new, old)):
        for script, title, _ in [key for key in here if key not in there]:
            print(f"    —  {script}: {title} (in {name} only)")
    return over


def main() -> int:
    """Run, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", help="a commit, branch or tag")
    parser.add_argument("names", nargs="*", help="such as ranking; all by default")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=1.25)
    parser.add_argument("--clock", choices=("cpu", "wall"), default="cpu")
    given = parser.parse_args()
    with worktree(given.base, given.clock) as base:
        scripts = [f"bench_{name}.py" for name in given.names]
        scripts = scripts or sorted(path.name for path in (ROOT / "benchmarks").glob("bench_*.py"))
        both = [s for s in scripts if all((t / "benchmarks" / s).is_file() for t in (base, ROOT))]
        for script in set(scripts) - set(both):
            print(f"    —  {script} is not in both trees")
        costs: dict[Path, dict[Key, list[float]]] = {t: defaultdict(list) for t in (base, ROOT)}
        for script in both:
            for turn in range(given.rounds):
                for tree in (base, ROOT) if turn % 2 == 0 else (ROOT, base):
                    for key, cost in run(tree, script, base.parent).items():
                        costs[tree][key].append(cost)
        print(f"this checkout over {given.base}, medians of {given.rounds} rounds:")
        over = compared(costs[base], costs[ROOT], given.limit)
    print(f"{len(over)} figures are over {given.limit:g}")
    return int(bool(over))


if __name__ == "__main__":
    sys.exit(main())
