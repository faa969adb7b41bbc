"""Weighted areas: against scikit-learn, `np.sort` and confidenceinterval, in one run.

DeLong's limits are timed against the package confidenceinterval where it is installed
(``pip install confidenceinterval``), which ranks in single precision; it is no dependency of karat.
"""

import importlib.util
import subprocess
import sys
import tempfile
from itertools import product
from typing import Any

import numpy as np
from _timing import race
from sklearn.metrics import roc_auc_score

from karat.ranking import (
    FprBand,
    Uniform,
    average_precision,
    cost_curve,
    lift,
    net_benefit,
    precision_at,
    recall_at,
    weighted_auc,
)

BAND = FprBand(0, 0.1)
SHIFT = 1.5
# At least so many times faster than scikit-learn; at most so many times a sort.
FASTER = {"AUC": 5.0, "partial AUC, FPR ≤ .1": 8.0}
SORTS = 2.0
# What a subprocess runs to see how much memory a call adds. Nothing else in it is as large. On
# Linux the peak comes from /proc: that of getrusage starts at what the parent had used.
MEMORY = """
import resource, sys
from pathlib import Path
import numpy as np
from karat.ranking import FprBand, Uniform, weighted_auc
def peak():
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
n, rng = 10_000_000, np.random.default_rng(0)
weight = {weight}
small = rng.standard_normal(200_000)
weighted_auc(small > 1, small, weight=weight)
before = peak()
score, y = np.empty(n), np.empty(n, dtype={dtype})
for start in range(0, n, 100_000):
    part = slice(start, start + 100_000)
    y[part] = rng.random(100_000) < {share}
    score[part] = rng.standard_normal(100_000) + 1.5 * y[part]
weighted_auc(y, score, weight=weight)
size = score.nbytes + y.nbytes
print((peak() - before) / size)
"""


# The same for a table that is never read in.
STREAM = """
import time
from pathlib import Path
from karat.ranking import FprBand, weighted_auc
from karat.sources import scan
start = time.perf_counter()
counts = scan("{path}").roles(label="y", score="s").roc_counts(cells=1 << 20)
r = weighted_auc(counts, weight=FprBand(0, 0.1))
seconds = time.perf_counter() - start
status = Path("/proc/self/status").read_text() if Path("/proc/self/status").exists() else ""
peak = 1024 * int(status.split("VmHWM:")[1].split()[0]) if status else float("nan")
print(seconds, peak, r.upper - r.lower, r.value_range[1] - r.value_range[0])
"""


def limit(value: float, bound: float, *, at_most: bool = False) -> str:
    """Return a bound and whether it is kept."""
    kept = value <= bound if at_most else value >= bound
    return f"limit {bound:g}: {'kept' if kept else 'MISSED'}"


def rows_of(n: int, share: float) -> tuple[Any, Any]:
    """Return labels and scores without ties."""
    rng = np.random.default_rng(0)
    y = rng.random(n) < share
    score = rng.normal(size=n)
    score[y] += SHIFT
    return y, score


def against_peers(n: int, share: float, times: int) -> None:
    """Print ratios to scikit-learn and to a sort."""
    y, score = rows_of(n, share)
    size = f"10^{len(str(n)) - 1} scores, {100 * share:g} % positives"

    def area() -> float:
        return weighted_auc(y, score).value

    def partial() -> float:
        return weighted_auc(y, score, weight=BAND, normalize="mcclish").value

    peers = (lambda: roc_auc_score(y, score), lambda: roc_auc_score(y, score, max_fpr=0.1))
    apart = [abs(a() - b()) for a, b in zip((area, partial), peers, strict=True)]
    whole = y.astype(int)
    ours = (area, partial, lambda: np.sort(score), lambda: weighted_auc(whole, score))
    seconds = race(times, *ours, *peers, *ours)
    mine, theirs = [min(a, b) for a, b in zip(seconds[:4], seconds[6:], strict=True)], seconds[4:6]
    for i, (name, least) in enumerate(FASTER.items()):
        ratio, sorts = theirs[i] / mine[i], mine[i] / mine[2]
        print(
            f"{name} of {size}: ratio {ratio:.1f} to scikit-learn ({limit(ratio, least)}; karat "
            f"{mine[i]:.3f} s, scikit-learn {theirs[i]:.3f} s)"
        )
        print(f"  values apart by {apart[i]:.1e} ({limit(apart[i], 1e-12, at_most=True)})")
        print(
            f"  time over np.sort: ratio {sorts:.2f} ({limit(sorts, SORTS, at_most=True)}; np.sort "
            f"{mine[2]:.3f} s)"
        )
    print(f"AUC of {size}, integer labels: ratio {mine[3] / mine[2]:.2f} to np.sort")


def measures_against_a_sort(n: int, share: float, times: int) -> None:
    """Print the time of every other measure, limits and curve included, over that of one sort."""
    y, score = rows_of(n, share)
    chance = 1 / (1 + np.exp(-score))
    calls = {
        "average precision": lambda: average_precision(y, score),
        "precision at 1 %": lambda: precision_at(y, score, share=0.01),
        "recall at 10 %": lambda: recall_at(y, score, share=0.1),
        "lift at 10 %": lambda: lift(y, score, share=0.1),
        "net benefit": lambda: net_benefit(y, chance, threshold=0.2),
        "expected cost": lambda: cost_curve(y, score, at=0.5),
    }
    sort, *seconds = race(times, lambda: np.sort(score), *calls.values())
    size = f"10^{len(str(n)) - 1} scores, {100 * share:g} % positives"
    for name, mine in zip(calls, seconds, strict=True):
        ratio = mine / sort
        print(
            f"{name} of {size}: ratio {ratio:.2f} to np.sort ({limit(ratio, SORTS, at_most=True)}; "
            f"karat {mine:.3f} s, np.sort {sort:.3f} s)"
        )


def bootstrapped() -> None:
    """Print the time of 1,000 resamples over that of one area."""
    y, score = rows_of(1_000_000, 0.1)
    one, many = race(
        3, lambda: weighted_auc(y, score), lambda: weighted_auc(y, score, limits="bootstrap")
    )
    ratio = many / one
    print(
        f"bootstrap limits of 10^6 scores: ratio {ratio:.1f} to one area "
        f"({limit(ratio, 50, at_most=True)}; {many:.3f} s, {one:.3f} s)"
    )


def against_confidenceinterval() -> None:
    """Print the ratio of DeLong's limits to those of confidenceinterval."""
    if importlib.util.find_spec("confidenceinterval") is None:
        print("no line for DeLong's limits: pip install confidenceinterval")
        return
    from confidenceinterval.auc import roc_auc_score as with_limits

    y, score = rows_of(1_000_000, 0.1)
    whole = y.astype(int)

    def mine() -> Any:
        return weighted_auc(y, score, limits="delong")

    def theirs() -> Any:
        return with_limits(whole, score, confidence_level=0.95)

    r, (_, (lower, upper)) = mine(), theirs()
    seconds = race(3, mine, theirs, mine, mine)
    best = min(seconds[0], *seconds[2:])
    ratio = seconds[1] / best
    print(
        f"DeLong's limits of 10^6 scores: ratio {ratio:.1f} ({limit(ratio, 15)}; karat {best:.3f} "
        f"s, confidenceinterval {seconds[1]:.3f} s; limits apart by "
        f"{max(abs(r.lower - lower), abs(r.upper - upper)):.1e})"
    )


def half_widths() -> None:
    """Print how wide distribution-free limits are at 10^6 rows, 10 % of them positives."""
    y, score = rows_of(1_000_000, 0.1)
    for name, weight, most in (("AUC", Uniform(), 0.0065), ("FPR ≤ .1", BAND, 0.0021)):
        r = weighted_auc(y, score, weight=weight, limits="dkw")
        half = (r.upper - r.lower) / 2
        print(
            f"half-width of dkw limits at 10^6 rows, {name}: {half:.5f}, closed form "
            f"{r.half_width:.5f} ({limit(float(r.half_width or 1), most, at_most=True)})"
        )


def memory() -> None:
    """Print the peak memory of a call, its input included, over the size of the input."""
    for weight in ("Uniform()", "FprBand(0, 0.1)"):
        for share, dtype in product((0.1, 0.5), ("bool", "int")):
            script = MEMORY.format(weight=weight, share=share, dtype=dtype)
            done = subprocess.run(
                [sys.executable, "-c", script], capture_output=True, text=True, check=True
            )
            ratio = float(done.stdout)
            assert ratio >= 1, "the input alone is as large as itself: the peak was not measured"
            print(
                f"peak memory at 10^7 rows, {weight}, {100 * share:g} % positives, {dtype} labels: "
                f"ratio {ratio:.2f} to the input ({limit(ratio, 3, at_most=True)})"
            )


def streamed() -> None:
    """Print the time and memory of 10^8 scores that are counted in Parquet files."""
    import polars as pl

    parts, rows = 10, 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        for part in range(parts):
            rng = np.random.default_rng(part)
            y = rng.random(rows) < 0.1
            score = rng.standard_normal(rows) + SHIFT * y
            pl.DataFrame({"y": y, "s": score}).write_parquet(f"{folder}/{part}.parquet")
        size = 9 * parts * rows
        told = subprocess.run(
            [sys.executable, "-c", STREAM.format(path=f"{folder}/*.parquet")],
            capture_output=True, text=True, check=True,
        ).stdout.split()  # fmt: skip
    seconds, peak, width, hidden = map(float, told)
    print(
        f"10^8 scores streamed from Parquet: ratio {peak / size:.2f} of the input in memory "
        f"({limit(peak / size, 3.0, at_most=True)}), {seconds:.0f} s; limits {width:.5f} wide, of "
        f"which the cells hide {hidden:.7f}"
    )


def main() -> None:
    """Print one line per comparison."""
    y, score = rows_of(200_000, 0.1)
    weighted_auc(y, score), weighted_auc(y, score, weight=BAND)  # compile
    for n, times in ((1_000_000, 6), (10_000_000, 2)):
        for share in (0.1, 0.5):
            against_peers(n, share, times)
    for share in (0.1, 0.5):
        measures_against_a_sort(10_000_000, share, 2)
    bootstrapped()
    against_confidenceinterval()
    half_widths()
    memory()
    streamed()


if __name__ == "__main__":
    main()
