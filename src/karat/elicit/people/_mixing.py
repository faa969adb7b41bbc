"""Whether the chains have mixed, for all that is reported."""

import warnings

import numpy as np

from karat._callers import caller_level
from karat._convergence import bulk_ess, split_r_hat
from karat._typing import FloatArray
from karat.elicit.people._chart import Chart
from karat.elicit.people._people_chains import PeopleChains, PeopleDraws
from karat.exceptions import KaratWarning

__all__ = ["LEAST_DRAWS", "MOST_R_HAT", "draw_mixed", "warn_of_mixing"]

MOST_R_HAT = 1.05
LEAST_DRAWS = 400.0
_ROUNDS = 4  # each of twice as many sweeps as the one before


def draw_mixed(chains: PeopleChains, warm_up: int, draws: int) -> tuple[PeopleDraws, float, float]:
    """Return draws of chains that agree, the greatest R-hat and the least effective number.

    Where they do not agree yet, all draws so far count as warm-up, and twice as many sweeps follow;
    a few times, if need be.
    """
    chains.warm_up(warm_up)
    for doubled in range(_ROUNDS):
        drawn = chains.run(draws, thin=2**doubled)
        watched = _watched(chains.chart, drawn)
        r_hat, effective = float(split_r_hat(watched).max()), float(bulk_ess(watched).min())
        if r_hat <= MOST_R_HAT and effective >= LEAST_DRAWS:
            break
    return drawn, r_hat, effective


def warn_of_mixing(r_hat: float, effective: float) -> None:
    """Warn of chains that disagree, or of few effective draws."""
    if r_hat > MOST_R_HAT or effective < LEAST_DRAWS:
        warnings.warn(
            f"chains have not mixed (R-hat {r_hat:.2f}, {effective:.0f} effective draws): the "
            "limits are rough; raise warm_up= and draws=, or ask each person more questions",
            KaratWarning,
            stacklevel=caller_level(),
        )


def _watched(chart: Chart, drawn: PeopleDraws) -> FloatArray:
    """Return (chains, draws, quantities): the law, and the weights of the center and of everyone.

    Where only directions count, the coordinates have a scale that nothing tells, and are not
    watched themselves.
    """
    chains, draws, _, dim = drawn.each.shape

    def weights(z: FloatArray) -> FloatArray:
        return chart.family.weights(chart.parameters(z.reshape(-1, dim)))

    spreads = chart.spreads(drawn.center.reshape(-1, dim), drawn.spread.reshape(chains * draws, -1))
    straight = [part.kind != "angle" for part in chart.parts]
    columns = [
        drawn.center[:, :, np.array(straight)[chart.of]],
        drawn.spread[:, :, straight],
        spreads.reshape(chains, draws, -1),
        weights(drawn.center).reshape(chains, draws, -1),
        weights(drawn.each).reshape(chains, draws, -1),
    ]
    return np.concatenate(columns, axis=2)
