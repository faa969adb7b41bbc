"""What noisy answers say of a metric, and the question that would say most.

A `ParticlePosterior` holds weighted metrics under a likelihood with slips and ties; `Belief` is the
state of ``active_search``, which asks the ``best_question`` of a source (`AttainablePairs`,
`SpherePairs`) until the agreement that an `AgreementPanel` predicts is reached. `PosteriorDraws`
are the metrics a result is computed from, ``forecast_agreement`` looks ahead, and `PeopleChains`
samples the weights of several people.
"""

from karat.elicit.posterior._active_search import (
    Belief,
    active_search,
    answer_information,
    best_question,
)
from karat.elicit.posterior._agreement_panel import AgreementPanel
from karat.elicit.posterior._effort import Effort
from karat.elicit.posterior._forecast import forecast_agreement
from karat.elicit.posterior._particle_posterior import ParticlePosterior
from karat.elicit.posterior._people_chains import PeopleChains
from karat.elicit.posterior._posterior_draws import PosteriorDraws
from karat.elicit.posterior._question_sources import AttainablePairs, SpherePairs

__all__ = [
    "AgreementPanel",
    "AttainablePairs",
    "Belief",
    "Effort",
    "ParticlePosterior",
    "PeopleChains",
    "PosteriorDraws",
    "SpherePairs",
    "active_search",
    "answer_information",
    "best_question",
    "forecast_agreement",
]
