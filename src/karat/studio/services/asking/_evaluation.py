"""The pairs that say whether the elicited metric predicts the person."""

from typing import Any

import numpy as np

from karat.elicit import evaluation_pairs
from karat.exceptions import ElicitationError
from karat.studio.services.asking._asked import COMPUTING, Asked
from karat.studio.services.asking._pairs import sides_of

__all__ = ["drawn_pairs"]


def drawn_pairs(asked: Asked, seed: int) -> list[dict[str, Any]]:
    """Return a person's evaluation pairs, with the side that each is shown on.

    Where no pairs are as good as the questions have to be, any that pose a question will do.
    """
    options = asked.config.options
    rng = np.random.default_rng([seed, 1])
    swapped = rng.random(options.n_evaluation) < 0.5
    with COMPUTING:
        for worst in (options.worst_rate, 1.0):
            try:
                pairs = evaluation_pairs(
                    asked.space, options.n_evaluation, out_of=options.out_of, worst_rate=worst,
                    rng=np.random.default_rng([seed, 2]),
                )  # fmt: skip
            except ElicitationError:
                continue
            return [
                {**sides_of(pair), "swapped": bool(side)}
                for pair, side in zip(pairs, swapped, strict=True)
            ]
    return []
