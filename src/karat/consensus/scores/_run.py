"""Several chains of the model of scores."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.consensus.scores._formulas import level_chances

__all__ = ["PRIOR", "ScoreDraws", "run_scores", "starting_point"]

# Mean and spread of a separation, spread of a cut-point: voters are better than chance on the
# whole (an area of .86 in the middle), and hardly any score says nothing at all.
PRIOR = np.array([1.5, 1.0, 1.5])


@dataclass(frozen=True, slots=True)
class ScoreDraws:
    """What the chains drew: (chains, draws, …)."""

    share: FloatArray  # P(class 1)
    cuts: FloatArray  # voters × (levels − 1); infinite beyond a voter's own levels
    separation: FloatArray  # voters
    proba: FloatArray  # chains × patterns: P(class 1), averaged over draws

    def chances(self) -> FloatArray:
        """Return P(level | class) of every draw: chains × draws × voters × 2 × levels."""
        return level_chances(self.cuts, self.separation)


def starting_point(
    codes: IntArray, weight: FloatArray, levels: IntArray, rng: np.random.Generator
) -> tuple[float, FloatArray, FloatArray]:
    """Return a share, cut-points at each voter's own quantiles, and separations, dispersed."""
    from scipy.special import ndtri

    m, most = codes.shape[1], int(levels.max()) - 1
    cuts = np.full((m, most), np.inf)
    for j in range(m):
        said = codes[:, j] >= 0
        count = np.bincount(codes[said, j], weights=weight[said], minlength=levels[j]) + 0.5
        below = np.cumsum(count)[:-1] / count.sum()
        cuts[j, : levels[j] - 1] = np.sort(
            1.2 * ndtri(below) + 0.05 * rng.standard_normal(levels[j] - 1)
        )
    return float(rng.uniform(0.25, 0.75)), cuts, np.maximum(rng.normal(1.5, 0.7, m), 0.1)


def run_scores(
    codes: IntArray,
    weight: FloatArray,
    gold: IntArray,
    levels: IntArray,
    *,
    chains: int,
    draws: int,
    burn: int,
    rng: np.random.Generator,
    thin: int = 1,
    start: tuple[float, FloatArray, FloatArray] | None = None,
) -> ScoreDraws:
    """Run the chains, each from a start of its own unless ``start`` is given."""
    from karat.consensus.scores._loops import score_chain

    m, most = codes.shape[1], int(levels.max()) - 1
    share = np.zeros((chains, draws))
    cuts = np.zeros((chains, draws, m, most))
    separation = np.zeros((chains, draws, m))
    proba = np.zeros((chains, len(codes)))
    for c in range(chains):
        p, at, apart = starting_point(codes, weight, levels, rng) if start is None else start
        score_chain(
            rng.spawn(1)[0], np.ascontiguousarray(codes), weight, gold, levels, PRIOR, p, at.copy(),
            apart.copy(), burn, draws, thin, share[c], cuts[c], separation[c], proba[c],
        )  # fmt: skip
    return ScoreDraws(share, cuts, separation, proba)
