"""What noisy answers say of a metric.

A `ParticlePosterior` holds weighted metrics, each with the noise of the person who answers: how
answers blur near indifference, how often one slips, and when ties are said (``log_likelihood``).
Its `Evidence` says whether the answers are those of someone with a metric in mind. An
`AgreementPanel` predicts how often two metrics agree, and `PosteriorDraws` are the metrics a result
is computed from.
"""

from karat.elicit.posterior._agreement_panel import AgreementPanel, by_point
from karat.elicit.posterior._choice_model import (
    CHOICE_PRIOR,
    N_NOISE,
    Answers,
    Noise,
    log_likelihood,
    named_first,
    read_noise,
    said_tie,
)
from karat.elicit.posterior._evidence import Evidence
from karat.elicit.posterior._particle_posterior import ParticlePosterior, single
from karat.elicit.posterior._posterior_draws import PosteriorDraws, thinned

__all__ = [
    "CHOICE_PRIOR",
    "N_NOISE",
    "AgreementPanel",
    "Answers",
    "Evidence",
    "Noise",
    "ParticlePosterior",
    "PosteriorDraws",
    "by_point",
    "log_likelihood",
    "named_first",
    "read_noise",
    "said_tie",
    "single",
    "thinned",
]
