"""Fit every domain of what was passed."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from karat.consensus.fitting._domain_fit import DomainFit
from karat.consensus.fitting._find_copies import count_copies_once, families_of
from karat.consensus.fitting._fit_domain import fit_domain
from karat.consensus.fitting._fit_pooled import fit_pooled
from karat.consensus.fitting._settings import Settings
from karat.consensus.model_result import CoClustering
from karat.consensus.sampling import Progress
from karat.votes.agreement import NearCopies
from karat.votes.reading import Votes

__all__ = ["VotesFit", "fit_votes"]


class VotesFit(NamedTuple):
    """The fit of each domain and, if domains share error rates, which of them do."""

    data: Votes
    domains: tuple[DomainFit, ...]
    co_clustering: CoClustering | None


def fit_votes(
    data: Votes,
    settings: Settings,
    rng: np.random.Generator,
    *,
    same: Any = None,
    tested: bool = True,
) -> VotesFit:
    """Fit every domain; an interrupt is raised as such wherever it arrives.

    ``same`` are families of voters that count once, as a user names them; ``tested`` says that gold
    labels may test the consensus.
    """
    marked, copies = count_copies_once(data, families_of(same, data.classifiers))
    progress = Progress(settings.progress, len(data.domains))
    try:
        return _fit_all(marked, copies, settings, rng, progress, tested)
    except SystemError as error:
        # A signal that arrives while a compiled loop returns its arrays is raised inside it.
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise
    finally:
        progress.close()


def _fit_all(
    data: Votes,
    copies: Sequence[NearCopies],
    settings: Settings,
    rng: np.random.Generator,
    progress: Progress,
    tested: bool,
) -> VotesFit:
    fits, pooled, co_clustering = [], None, None
    if settings.structure != "independent":
        step = progress.all_domains()
        pooled, co_clustering = fit_pooled(data, settings, rng.spawn(1)[0], step)
    for d, domain in enumerate(data.domains):
        step = progress.domain(str(domain.name))
        of_all = None if pooled is None else pooled[d]
        one = fit_domain(
            domain.table, settings, rng.spawn(1)[0], step, of_all, copies=copies[d], tested=tested
        )
        fits.append(one)
    return VotesFit(data, tuple(fits), co_clustering)
