"""The predicted agreement after each answer of a run."""

from typing import TYPE_CHECKING

import numpy as np

from karat.elicit.posterior import AgreementPanel, PosteriorDraws
from karat.elicit.result import AgreementHistory

if TYPE_CHECKING:
    from karat.elicit.procedure._procedure import Procedure

__all__ = ["agreement_history"]


def agreement_history(procedure: "Procedure", draws: PosteriorDraws) -> AgreementHistory:
    """Return the agreement after each answer."""
    if procedure._search is None:
        return _history_of_brackets(procedure, draws)
    known_after = procedure._search.history
    # The question of the orientation says nothing of the weights.
    before = len(procedure.answers) + 1 - len(known_after)
    history = np.array([*[known_after[0]] * before, *known_after])
    return AgreementHistory(
        n_queries=np.arange(len(history), dtype=float),
        agreement=history,
        target=procedure.agreement,
    )


def _history_of_brackets(procedure: "Procedure", draws: PosteriorDraws) -> AgreementHistory:
    """Return the agreement of metrics drawn evenly from the brackets, after some of the answers."""
    effort, rng = procedure.effort, np.random.default_rng(procedure.seed)
    if not procedure.predicts:
        ends = np.unique([0.0, len(procedure.answers)])
        return AgreementHistory(n_queries=ends, agreement=np.full(len(ends), np.nan))
    panel = AgreementPanel.of(procedure.question_space, effort.panel, rng)
    trail = [procedure._first_brackets(), *procedure._trail]
    steps = np.linspace(0, len(trail) - 1, procedure._affordable(effort.history_steps))
    steps = np.unique(np.round(steps).astype(int))
    # The same shares at every step, so that the history does not jump by chance.
    rng = np.random.default_rng(procedure.seed)
    share = rng.random((procedure._affordable(effort.history_draws), len(trail[0].low)))
    values = []
    for step in steps:
        low, high = trail[step].open_low, trail[step].open_high
        parameters = procedure._parameters(low + share * (high - low), trail[step])
        middle = (
            draws.estimate
            if step == len(trail) - 1
            else procedure._parameters(trail[step].middle[None], trail[step])[0]
        )
        even = np.full(len(share), 1.0 / len(share))
        values.append(panel.agreement(draws.family, middle, parameters, even))
    return AgreementHistory(n_queries=steps.astype(float), agreement=np.array(values))
