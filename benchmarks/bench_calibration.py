"""Canonical calibration: against Panda & Garain's (2023) estimator in one run, and large tables."""

import subprocess
import sys

import numpy as np
from _timing import race

from karat.calibration.latent import DequantizedCopula, LatentCopula
from karat.datasets import MultilabelLaw

ROWS, LABELS = 100_000, 20
# What a subprocess runs to see its own time and peak memory; on Linux the peak comes from /proc.
SCRIPT = """
import resource, time
from pathlib import Path
import numpy as np
from karat.calibration import canonical_calibration_error
from karat.datasets import MultilabelLaw
def peak():
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
law = MultilabelLaw("latent", n_labels={labels})
small = law.sample(1000, rng=0)
canonical_calibration_error(small.y_true, small.y_prob, rng=0)
y, h, _ = law.sample({rows}, rng=1)
best, cpu = 1e9, 1e9
for _ in range({times}):
    start, ticks = time.perf_counter(), time.process_time()
    canonical_calibration_error(y, h, confidence={confidence}, rng=0)
    best = min(best, time.perf_counter() - start)
    cpu = min(cpu, time.process_time() - ticks)
print(best, cpu, peak() / 1e6, (y.nbytes + h.nbytes) / 1e6)
"""


def limit(value: float, bound: float, *, at_most: bool = False) -> str:
    """Return a bound and whether it is kept."""
    kept = value <= bound if at_most else value >= bound
    return f"limit {bound:g}: {'kept' if kept else 'MISSED'}"


def against_panda_and_garain(n: int, k: int) -> None:
    """Print the ratio to the sum over all pairs of rows, fitted and evaluated on the same rows."""
    y, h, _ = MultilabelLaw("latent", n_labels=k).sample(n, rng=0)

    def mine() -> object:
        return LatentCopula(y, h).fitted

    def theirs() -> object:
        return DequantizedCopula(y, h, np.random.default_rng(0)).fitted

    mine()
    ours, peer, again = race(1, mine, theirs, mine)
    ours = min(ours, again)
    print(
        f"E[y | h] of {n:,} rows and {k} labels: ratio {peer / ours:.0f} to Panda and Garain's sum "
        f"({limit(peer / ours, 100)}; karat {ours:.3f} s, theirs {peer:.1f} s)"
    )


def large() -> None:
    """Print time and memory of a large table, over what they may be."""
    for name, confidence, times, most in (("value alone", None, 3, 1.0), ("in full", 0.95, 1, 8.0)):
        script = SCRIPT.format(labels=LABELS, rows=ROWS, confidence=confidence, times=times)
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        seconds, cpu, peak, size = map(float, done.stdout.split())
        print(
            f"10^5 rows, {LABELS} labels, {name}: ratio {peak / size:.1f} of peak memory to the "
            f"input ({peak:.0f} MB; {limit(peak, 500, at_most=True)}), {cpu:.2f} s of processor "
            f"time ({limit(cpu, most, at_most=True)}), {seconds:.2f} s by the clock"
        )


def main() -> None:
    """Print one line per comparison."""
    against_panda_and_garain(8000, 5)
    against_panda_and_garain(8000, 20)
    large()


if __name__ == "__main__":
    main()
