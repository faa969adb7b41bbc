"""What more answers are expected to bring."""

import copy

import numpy as np

from karat._typing import FloatArray
from karat.elicit.posterior._active_search import Belief, best_question
from karat.elicit.result import AgreementHistory
from karat.exceptions import ElicitationError

__all__ = ["forecast_agreement"]


def forecast_agreement(
    progress: AgreementHistory, belief: Belief, extra: int, n_people: int, seed: int
) -> AgreementHistory:
    """Return the history with the mean of what people drawn from the posterior would answer."""
    rng = np.random.default_rng(seed)
    runs = []
    for _ in range(n_people):
        drawn = int(rng.choice(len(belief.posterior.shares), p=belief.posterior.shares))
        person = belief.posterior.parameters[drawn].copy()
        runs.append(_agreement_of_person(copy.deepcopy(belief), person, extra, rng))
    last = progress.n_queries[-1]
    return AgreementHistory(
        n_queries=progress.n_queries,
        agreement=progress.agreement,
        expected_n_queries=last + 1.0 + np.arange(extra),
        expected_agreement=np.mean(runs, axis=0),
        target=progress.target,
    )


def _agreement_of_person(
    belief: Belief, person: FloatArray, extra: int, rng: np.random.Generator
) -> list[float]:
    """Return the predicted agreement after each of ``extra`` answers of a person."""
    posterior, source = belief.posterior, belief.source
    if source is None:
        raise ElicitationError("nothing was asked yet; answer the first question, then look ahead")
    lapse, history = posterior.lapse_mean, list[float]()
    for _ in range(extra):
        index = best_question(posterior, *source.candidates(posterior))
        if index is None:
            return history + [history[-1] if history else belief.agreement()] * (
                extra - len(history)
            )
        first, second, _query = source.pick(index)
        values = posterior.family.values(person[None], np.stack([first, second]))[0]
        sign = 1.0 if values[0] > values[1] else -1.0
        posterior.update(first, second, -sign if rng.random() < lapse else sign)
        history.append(belief.agreement())
    return history
