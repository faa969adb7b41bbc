"""Fit every domain of what was passed."""

from typing import NamedTuple

import numpy as np

from karat.consensus.fitting._domain_fit import DomainFit
from karat.consensus.fitting._fit_domain import fit_domain
from karat.consensus.fitting._fit_pooled import fit_pooled
from karat.consensus.fitting._settings import Settings
from karat.consensus.model_result import CoClustering
from karat.consensus.sampling import Progress
from karat.votes.reading import Votes

__all__ = ["VotesFit", "fit_votes"]


class VotesFit(NamedTuple):
    """The fit of each domain and, if domains share error rates, which of them do."""

    domains: tuple[DomainFit, ...]
    co_clustering: CoClustering | None


def fit_votes(data: Votes, settings: Settings, rng: np.random.Generator) -> VotesFit:
    """Fit every domain; an interrupt is raised as such wherever it arrives."""
    progress = Progress(settings.progress, len(data.domains))
    try:
        return _fit_all(data, settings, rng, progress)
    except SystemError as error:
        # A signal that arrives while a compiled loop returns its arrays is raised inside it.
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise
    finally:
        progress.close()


def _fit_all(
    data: Votes, settings: Settings, rng: np.random.Generator, progress: Progress
) -> VotesFit:
    fits, pooled, co_clustering = [], None, None
    if settings.structure != "independent":
        step = progress.all_domains()
        pooled, co_clustering = fit_pooled(data, settings, rng.spawn(1)[0], step)
    for d, domain in enumerate(data.domains):
        step = progress.domain(str(domain.name))
        of_all = None if pooled is None else pooled[d]
        fits.append(fit_domain(domain.table, settings, rng.spawn(1)[0], step, of_all))
    return VotesFit(tuple(fits), co_clustering)
