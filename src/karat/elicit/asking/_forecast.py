"""What more answers are expected to bring."""

import copy

import numpy as np

from karat.elicit.asking._active_search import ActiveSearch, best_question
from karat.elicit.posterior import named_first
from karat.elicit.result import AgreementHistory

__all__ = ["forecast_agreement"]


def forecast_agreement(
    progress: AgreementHistory, search: ActiveSearch, extra: int, n_people: int, seed: int
) -> AgreementHistory:
    """Return the history with the mean of what people drawn from the posterior would answer."""
    rng = np.random.default_rng(seed)
    runs = []
    for _ in range(n_people):
        drawn = int(rng.choice(len(search.posterior.shares), p=search.posterior.shares))
        runs.append(_agreement_of_person(copy.deepcopy(search), drawn, extra, rng))
    last = progress.n_queries[-1]
    return AgreementHistory(
        n_queries=progress.n_queries,
        agreement=progress.agreement,
        expected_n_queries=last + 1.0 + np.arange(extra),
        expected_agreement=np.mean(runs, axis=0),
        target=progress.target,
    )


def _agreement_of_person(
    search: ActiveSearch, person: int, extra: int, rng: np.random.Generator
) -> list[float]:
    """Return the predicted agreement after each of ``extra`` answers of one of the particles."""
    posterior, source, history = search.posterior, search.source, list[float]()
    metric = posterior.parameters[person : person + 1].copy()
    noise = type(posterior.noise)(*(part[person : person + 1] for part in posterior.noise))
    for _ in range(extra):
        index, _bits = best_question([posterior], source.candidates(posterior))
        if index is None:
            return history + [history[-1] if history else search.agreement()] * (
                extra - len(history)
            )
        asked = source.pick(index)
        values = posterior.family.values(metric, np.stack([asked.first, asked.second]))
        chance = float(named_first(values[:, :1] - values[:, 1:], noise)[0, 0])
        posterior.update(asked.first, asked.second, 1.0 if rng.random() < chance else -1.0)
        history.append(search.agreement())
    return history
