"""Corollary 3.1 of Maia Polo et al. (2023): what its variances leave out, by simulation."""

from dataclasses import replace
from typing import Any

import numpy as np
from _show import say, show_table
from _weak_sparse import RIGHT, Law, draw_law, draw_sample
from numpy.typing import NDArray

__all__ = ["run_corollary"]

N = 2000


def run_corollary(*, quick: bool) -> None:
    """Print standard errors of the upper bounds of precision, recall and F1 over the true ones."""
    samples = 300 if quick else 3000
    law = replace(draw_law(2, np.random.default_rng(1)), prior=np.array([0.85, 0.15]))
    rng = np.random.default_rng(2)
    runs = np.array([_estimates(law, rng) for _ in range(samples)])
    spread = runs[:, :, 0].std(axis=0)
    rows = [
        [name, *(f"{runs[:, i, how].mean() / spread[i]:.2f}" for how in (1, 2, 3))]
        for i, name in enumerate(("precision", "recall", "F1"))
    ]
    columns = ["metric", "as printed", "with the square", "with the denominators"]
    show_table("Corollary 3.1: standard errors over the true spread", columns, rows)
    say(
        f"Over {samples:,} samples of {N:,} items with the dual fixed. The corollary takes P(h=1) "
        "and P(Y=1) as known and leaves out the error of estimating them from the same items (the "
        "label model's mean stands for P(Y=1)); its variance of F1, eq. 3.2, has P(h=1) + P(Y=1) "
        "in the denominator where the delta method has its square. karat's limits have both.\n"
    )


def _estimates(law: Law, rng: np.random.Generator) -> NDArray[Any]:
    """Return the estimate of each metric's upper bound and three standard errors: (3, 4)."""
    predicted, _, p, _ = draw_sample(law, N, rng)
    called, chance = predicted == 1, p[:, 1]
    q = RIGHT * chance + (1 - RIGHT) * (1 - chance)
    phi = np.where(q < chance, called, chance)  # its mean bounds P(Y=1, h=1) from above
    error = phi.std(ddof=1) / np.sqrt(N)
    found = []
    for share, factor in ((called, 1.0), (chance, 1.0), (called + chance, 2.0)):
        bottom = share.mean()
        value = factor * phi.mean() / bottom
        printed = factor * error / (np.sqrt(bottom) if factor == 2 else bottom)
        whole = (factor * phi - value * share).std(ddof=1) / bottom / np.sqrt(N)
        found.append([value, printed, factor * error / bottom, whole])
    return np.array(found)
