"""Counting a large Parquet table against a plain scan of the same columns, in one run.

10⁸ rows of a label, a prediction, a score with 10⁶ values, six weak labels and a group (10⁷ with
--quick) are written once to a folder of parts, counted by `karat.scan` on Polars and on DuckDB, and
turned into bounds, error rates and areas. Then commands answer from the table as users run them,
each in a process of its own, against a plain scan that counts the distinct rows of the same
columns. Ratios are of processor time, which other work on the machine changes least; the seconds
that passed are beside them.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import polars as pl

import karat
from karat.bounds import performance_bounds
from karat.consensus import ErrorEstimator
from karat.ranking import weighted_auc
from karat.sources.counting import warm

PART = 5_000_000
ROLES = {"label": "y", "pred": "pred", "score": "score", "weak": "lf_*", "group": "sex", "id": "id"}


def write(folder: Path, rows: int) -> None:
    """Write the table in parts, each from a seed of its own."""
    for start in range(0, rows, PART):
        n = min(PART, rows - start)
        rng = np.random.default_rng(start)
        y = rng.integers(0, 2, n).astype(np.int8)
        votes = {}
        for j in range(6):
            wrong = rng.random(n) < 0.1 + 0.05 * j
            votes[f"lf_{j}"] = np.where(rng.random(n) < 0.3, -1, np.where(wrong, 1 - y, y))
        score = np.rint((rng.normal(size=n) + 1.5 * y) * 1e5) / 1e5
        pl.DataFrame(
            {"id": np.arange(start, start + n), "y": y, "pred": (score > 0.75).astype(np.int8),
             "score": score, "rounded": np.rint(score * 1e3) / 1e3,  # some 10⁴ values
             "sex": rng.integers(0, 2, n).astype(np.int8)}
            | {name: column.astype(np.int8) for name, column in votes.items()}
        ).write_parquet(folder / f"part-{start // PART:03d}.parquet")  # fmt: skip


class Took(NamedTuple):
    """Seconds that passed, and seconds of all processors."""

    wall: float
    cpu: float


def timed(work):
    """Return what a call returns, and what it took."""
    start, cpu = time.perf_counter(), time.process_time()
    found = work()
    return found, Took(time.perf_counter() - start, time.process_time() - cpu)


def plain(folder: Path, columns: list[str], engine: str) -> Took:
    """Return what the engine's own scan of these columns takes: a sum of each."""
    if engine == "polars":
        lazy = pl.scan_parquet(folder / "*.parquet").select(pl.col(columns).cast(pl.Float64).sum())
        return timed(lambda: lazy.collect(engine="streaming"))[1]
    sums = ", ".join(f"sum({name}::double)" for name in columns)
    query = f"select {sums} from '{folder}/*.parquet'"
    return timed(lambda: duckdb.sql(query).fetchall())[1]


def main() -> None:
    """Print a line per count and engine, and the peak memory of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10⁷ rows")
    parser.add_argument("--rows", type=int, help="any other number of rows")
    options = parser.parse_args()
    rows = options.rows or (10**7 if options.quick else 10**8)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own, whose memory does not count.
        if child := os.fork():
            assert os.waitpid(child, 0)[1] == 0
        else:
            write(folder, rows)
            os._exit(0)
        warm()
        total = 0.0
        votes = [f"lf_{j}" for j in range(6)]
        work = {
            "bounds": ([*votes, "pred", "sex", "id"], lambda data: data.pattern_counts()),
            "judges": ([*votes, "sex"], lambda data: judged(data).vote_counts()),
            "areas": (["y", "score"], lambda data: data.roc_counts()),
            "confusion": (["y", "pred", "sex"], lambda data: data.confusion()),
        }
        counted = {}
        for engine in ("polars", "duckdb"):
            source = folder if engine == "polars" else f"select * from '{folder}/*.parquet'"
            data = karat.scan(source).roles(**ROLES)
            for what, (columns, count) in work.items():
                least = plain(folder, columns, engine)
                found, took = timed(lambda count=count, data=data: count(data))
                assert counted.setdefault(what, found) == found, "engines must count the same"
                total += took.wall if engine == "polars" else 0.0
                print(
                    f"{what} counts of {rows:.0e} rows on {engine}: "
                    f"ratio {took.cpu / least.cpu:.2f} "
                    f"({took.cpu:.1f} s of processor time, {took.wall:.1f} s passed; a plain scan "
                    f"{least.cpu:.1f} s and {least.wall:.1f} s)",
                    flush=True,
                )
        run_commands(folder, rows)
        _, answers = timed(lambda: answer(counted))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"all of {rows:.0e} rows: counts {total:.1f} s on polars, "
            f"answers {answers.wall:.1f} s, "
            f"peak memory {peak:.2f} GB of both engines"
        )


COMMANDS = {
    "karat score": (["y", "pred"], ["score", "--label", "y", "--pred", "pred"]),
    "karat auc": (["y", "rounded"], ["auc", "--label", "y", "--score", "rounded"]),
    "karat evaluate": (
        ["y", "pred", "rounded", "sex"],
        ["evaluate", "--label", "y", "--pred", "pred", "--score", "rounded", "--group", "sex"],
    ),
}
# The command runs on a few rows first, so that imports are apart.
RUN = """
import contextlib, io, re, sys, time
from pathlib import Path
from karat.cli import main
def run(path):
    with contextlib.redirect_stdout(io.StringIO()):
        try: main([sys.argv[1], path, *sys.argv[4:]])
        except SystemExit as done: assert not done.code, done.code
run(sys.argv[2])
start = time.process_time()
run(sys.argv[3])
used = time.process_time() - start
peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
print(used, start, peak / 2**20)
"""


def counted_rows(folder: Path, columns: list[str]) -> Took:
    """Return what a plain scan takes that counts the distinct rows of some columns."""
    lazy = pl.scan_parquet(folder / "*.parquet").group_by(columns).len()
    return timed(lambda: lazy.collect(engine="streaming"))[1]


def run_commands(folder: Path, rows: int) -> None:
    """Print a line per command: its processor time over that of a plain scan, and its memory."""
    few = folder / "few.arrow"
    pl.scan_parquet(folder / "*.parquet").head(1000).collect().write_ipc(few)
    for name, (columns, words) in COMMANDS.items():
        least = counted_rows(folder, columns)
        paths = [str(few), f"{folder}/*.parquet"]
        command = [sys.executable, "-c", RUN, words[0], *paths, *words[1:]]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        cpu, start, peak = map(float, done.stdout.splitlines()[-1].split())
        print(
            f"{name} on {rows:.0e} rows: ratio {cpu / least.cpu:.2f} ({cpu:.1f} s of processor "
            f"time, and {start:.1f} s to start; counting the distinct rows {least.cpu:.1f} s; peak "
            f"memory {peak:.2f} GB)",
            flush=True,
        )


def judged(data):
    """Return the table with the votes and the groups alone."""
    return karat.scan(data.frame.to_native()).roles(judge="lf_*", group="sex")


def answer(counted) -> None:
    """Turn the counts into bounds, error rates and an area."""
    performance_bounds(counted["bounds"], metric="f1")
    ErrorEstimator(draws=200, dependence="none", rng=0).fit(counted["judges"])
    weighted_auc(counted["areas"])


if __name__ == "__main__":
    main()
