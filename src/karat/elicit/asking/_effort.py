"""How much is computed for each question and each result."""

from typing import NamedTuple

__all__ = ["Effort"]


class Effort(NamedTuple):
    """Numbers of particles, candidates and draws: more are slower and less noisy."""

    particles: int = 1500  # of the posterior
    rival_particles: int = 1000  # of the posterior of a wider family
    pool: int = 600  # classifiers to choose pairs from
    candidates: int = 1200  # pairs looked at for each question
    panel: int = 400  # random pairs on which the agreement is predicted
    draws: int = 1000  # metrics drawn from what brackets leave open
    history_steps: int = 25  # answers after which the agreement of brackets is computed
    history_draws: int = 200  # metrics drawn for each of them
    kept: int = 1000  # draws that a result keeps
    boundary: int = 300  # classifiers that show what is attainable
