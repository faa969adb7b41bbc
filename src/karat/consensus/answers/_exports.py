"""Posterior draws of a domain, for other tools."""

import warnings
from typing import Any

import numpy as np

from karat._extras import require
from karat._typing import FloatArray
from karat.consensus.fitting import DomainFit
from karat.consensus.model import Model
from karat.votes.em import State
from karat.votes.reading import Domain, Votes

__all__ = ["inference_data", "posterior_states"]


def posterior_states(fit: DomainFit) -> tuple[tuple[tuple[Model, State], ...], FloatArray]:
    """Return drawn states with their models, and how much each counts; the weights sum to 1."""
    members: list[tuple[Model, State]] = []
    weights: list[float] = []
    for f in fit.fitted:
        members += [(f.problem.model, state) for state in f.draws.states]
        weights += [f.weight / len(f.draws.states)] * len(f.draws.states)
    return tuple(members), np.array(weights) / sum(weights)


def inference_data(data: Votes, domain: Domain, fit: DomainFit) -> Any:
    """Return the draws of the best model of a domain as ArviZ inference data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # ArviZ announces its own next version
        arviz: Any = require("arviz", extra="arviz", purpose="inference data")
    draws, levels = fit.best.draws, fit.best.problem.model.levels
    shape = (*draws.weights.shape[:2], len(data.classes), levels)
    return arviz.from_dict(
        posterior={
            "error_rate": draws.rates,
            "error_on_items": draws.finite,
            "prevalence": draws.weights.reshape(shape).sum(axis=3),
        },
        sample_stats={"lp": draws.value},
        coords={
            "classifier": [data.classifiers[j] for j in domain.voters],
            "class": data.classes.tolist(),
        },
        dims={
            "error_rate": ["classifier"],
            "error_on_items": ["classifier"],
            "prevalence": ["class"],
        },
    )
