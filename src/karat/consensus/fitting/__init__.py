"""From tables of votes to all that was learned of each domain.

`fit_votes` fits every domain with checked `Settings`. `fit_domain` chooses models by votes held
out, samples them, and looks for explanations that compete with the consensus; a `DomainFit` holds
what it found, and gives means, limits and probabilities of labels over all models. `fit_pooled`
first samples the model in which all domains share error rates.
"""

from karat.consensus.fitting._co_clustering import (
    best_partition,
    certainty,
    same_label_pairs,
    shared_probability,
)
from karat.consensus.fitting._domain_fit import DomainFit, Fitted, PooledFit
from karat.consensus.fitting._fit_domain import fit_domain
from karat.consensus.fitting._fit_pooled import fit_pooled
from karat.consensus.fitting._fit_votes import VotesFit, fit_votes
from karat.consensus.fitting._settings import DEPENDENCE, ERRORS, STRUCTURES, Settings

__all__ = [
    "DEPENDENCE",
    "ERRORS",
    "STRUCTURES",
    "DomainFit",
    "Fitted",
    "PooledFit",
    "Settings",
    "VotesFit",
    "best_partition",
    "certainty",
    "fit_domain",
    "fit_pooled",
    "fit_votes",
    "same_label_pairs",
    "shared_probability",
]
