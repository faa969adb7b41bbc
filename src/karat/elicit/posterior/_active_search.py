"""Ask what splits the posterior best, until the metric would agree with the person."""

import copy
from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np
from scipy.special import entr

from karat._typing import FloatArray
from karat.elicit.posterior._agreement_panel import AgreementPanel
from karat.elicit.posterior._particle_posterior import ParticlePosterior
from karat.elicit.posterior._question_sources import QuestionSource
from karat.elicit.transcript import SIGNS, Query

__all__ = ["Belief", "active_search", "answer_information", "best_question"]


@dataclass(slots=True)
class Belief:
    """The state of an active search: the posterior, and the agreement it predicts."""

    posterior: ParticlePosterior
    panel: AgreementPanel
    history: list[float] = field(default_factory=list)  # predicted agreement, from 0 answers on
    source: QuestionSource | None = None

    @property
    def estimate(self) -> FloatArray:
        """The parameters of the mean metric of the posterior."""
        return self.posterior.family.mean(self.posterior.parameters, self.posterior.shares)

    def agreement(self, shares: FloatArray | None = None) -> float:
        """Return the predicted agreement, under cautious shares of the particles or others."""
        posterior = self.posterior
        estimate = (
            self.estimate if shares is None else posterior.family.mean(posterior.parameters, shares)
        )
        shares = posterior.cautious()[0] if shares is None else shares
        return self.panel.agreement(posterior.family, estimate, posterior.parameters, shares)

    def next_agreement(self) -> float:
        """Return the agreement expected after one more answer, to the best question there is."""
        if self.source is None:
            return float("nan")
        posterior, source = self.posterior, copy.copy(self.source)
        source.rng = copy.deepcopy(source.rng)  # the next question must not depend on looking ahead
        index = best_question(posterior, *source.candidates(posterior))
        if index is None:
            return self.agreement()
        first, second, _ = source.pick(index)
        values = posterior.family.values(posterior.parameters, np.stack([first, second]))
        prefers_first = values[:, 0] > values[:, 1]
        shares, lapse = posterior.cautious()
        expected = 0.0
        for answer in (prefers_first, ~prefers_first):
            joint = shares * np.where(answer, 1.0 - lapse, lapse)
            expected += joint.sum() * self.agreement(joint / joint.sum())
        return float(expected)


def active_search(
    belief: Belief, source: QuestionSource, *, agreement: float, max_queries: int
) -> Generator[Query, str, None]:
    """Ask until the predicted agreement is reached, or ``max_queries`` questions were answered."""
    posterior, belief.source = belief.posterior, source
    for _ in range(max_queries):
        if belief.history[-1] >= agreement:
            return
        index = best_question(posterior, *source.candidates(posterior))
        if index is None:
            return  # every pair whose sides differ was asked about
        first, second, query = source.pick(index)
        answer = yield query
        source.record(index, answer)
        if answer != "skip":
            posterior.update(first, second, SIGNS[answer])
        belief.history.append(belief.agreement())


def best_question(
    posterior: ParticlePosterior, margins: FloatArray, scale: FloatArray, seen: FloatArray
) -> int | None:
    """Return the index of the most informative candidate; None if no pair differs.

    The information of a pair is the entropy of its answer less that of a slip. Among pairs that
    split the particles alike, the one along which they spread most leaves the least spread.
    """
    shares = posterior.shares[:: posterior.stride]
    shares = shares / shares.sum()
    usable = scale > 1e-9
    if not usable.any():
        return None
    chance = (margins > 0) @ shares
    information = answer_information(chance, posterior.lapse_mean)
    variance = np.einsum("cn,cn,n->c", margins, margins, shares) - (margins @ shares) ** 2
    spread = np.maximum(variance, 0.0) / np.where(usable, scale, 1.0) ** 2
    # Information counts most, spread breaks its ties, and wide pairs are easier to judge.
    score = (
        information / max(float(information[usable].max(initial=0.0)), 1e-300)
        + 0.5 * np.sqrt(spread / max(float(spread[usable].max(initial=0.0)), 1e-300))
        + 0.1 * seen / max(float(seen.max()), 1e-300)
    )
    # Rounded, so that another machine's last digit does not choose another question.
    return int(np.argmax(np.round(np.where(usable, score, -np.inf), 9)))


def answer_information(chance: FloatArray, lapse: float) -> FloatArray:
    """Return the information in bits of an answer that is "first" with a chance, but for slips."""
    answered = lapse + (1.0 - 2.0 * lapse) * chance
    bits = (entr(answered) + entr(1.0 - answered)) / np.log(2.0)
    noise = (entr(lapse) + entr(1.0 - lapse)) / np.log(2.0)
    return np.asarray(np.maximum(bits - noise, 0.0))
