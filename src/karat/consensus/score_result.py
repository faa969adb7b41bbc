"""The frozen answer about voters who give scores."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._result import Result
from karat._typing import AnyArray, FloatArray, IntArray
from karat.consensus.identification import doubts

__all__ = ["ScoreErrors"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ScoreErrors(Result):
    """How well voters' scores tell two classes apart, estimated from the scores alone.

    One entry per domain and voter.

    Attributes
    ----------
    domains, classifiers : tuple
        The domains and the voters, named as they were passed.
    classes : array (2,)
        The classes; a higher score speaks for the second.
    domain, classifier : array (r,)
        Domain and voter of each entry, as positions.
    scores : array (r,)
        Scores given.
    mean, lower, upper : array (r,)
        Error rate of the voter alone, each of its scores read as the more probable class: no
        threshold is chosen by hand.
    area, area_lower, area_upper : array (r,)
        Its area under the ROC curve.
    share, share_lower, share_upper : array (domains,)
        Share of the second class.
    level_from, level_proba : tuple of arrays
        By entry: the least score of each level (the first has none: NaN), and the calibration:
        P(second class) given the level.
    status : tuple of str
        By domain: "not identified", "consistent" (the scores do not contradict the rates), or with
        random gold labels "confirmed" or "contradicted" by an exact test of the consensus.
    identified : array (domains,)
        Whether the status is "consistent" or "confirmed".
    evidence : tuple of str
        By domain, what gold labels say of the consensus; empty without a test.
    reasons : tuple of tuples
        By domain: why the scores alone do not identify the rates; empty if they do.
    r_hat, ess : array (domains,)
        Whether chains agree, and effective draws.
    slack, confidence : float
        By how much limits of error rates were widened, and their level.
    """

    domains: tuple[Any, ...]
    classifiers: tuple[Any, ...]
    domain: IntArray
    classifier: IntArray
    scores: FloatArray
    mean: FloatArray
    lower: FloatArray
    upper: FloatArray
    classes: AnyArray
    slack: float
    confidence: float
    area: FloatArray
    area_lower: FloatArray
    area_upper: FloatArray
    share: FloatArray
    share_lower: FloatArray
    share_upper: FloatArray
    level_from: tuple[FloatArray, ...]
    level_proba: tuple[FloatArray, ...]
    status: tuple[str, ...]
    identified: AnyArray
    evidence: tuple[str, ...]
    reasons: tuple[tuple[str, ...], ...]
    r_hat: FloatArray
    ess: FloatArray

    _COLUMNS = (
        "domain=domains[domain]", "classifier=classifiers[classifier]", "mean", "lower", "upper",
        "scores", "area", "area_lower", "area_upper", "status=status[domain]",
        "identified=identified[domain]", "confidence",
    )  # fmt: skip

    def summary(self) -> str:
        """Return first what is not known, then the best voter."""
        told = self.identified[self.domain]
        best = int(np.where(told, self.mean, np.inf).argmin() if told.any() else self.mean.argmin())
        limits = f"{100 * self.lower[best]:.1f} to {100 * self.upper[best]:.1f} %"
        limits = (
            f"{100 * self.confidence:g} % limits {limits}"
            if told.any()
            else f"the scores cannot tell: {limits}"
        )
        d = int(self.domain[best])
        where = "" if len(self.domains) == 1 else f" in {self.domains[d]}"
        text = (
            f"the scores of {self.classifiers[self.classifier[best]]} err least{where}: "
            f"{100 * self.mean[best]:.1f} % ({limits}), area {self.area[best]:.2f}"
        )
        if self.status[d] == "consistent":
            labels = (
                f"too few labels confirm this (the consensus is {self.evidence[d]})"
                if self.evidence[d]
                else "no test on labels stands behind this"
            )
            text = (
                f"{labels}, and scores cannot show an error that most voters share; if they share "
                f"none, {text}"
            )
        if self.status[d] == "confirmed":
            text += f"; gold labels confirm it: the consensus is {self.evidence[d]}"
        text = "; ".join([*self._doubts(), f"{self._face()}{text}"])
        return text[0].upper() + text[1:]

    def _doubts(self) -> list[str]:
        """Return what gold labels contradict, and what the scores do not identify."""
        return doubts(
            self.domains, self.status, self.reasons, self.evidence, of="scores",
            unknown="the scores alone",
        )  # fmt: skip

    def _face(self) -> str:
        if self.identified.all():
            return ""
        return "where they do, " if self.identified.any() else "taken at face value, "

    def _table(self) -> list[tuple[Any, str]]:
        return [
            (
                self.classifiers[j],
                f"{m:.3f} [{'' if told else 'scores cannot tell: '}{low:.3f}, {high:.3f}], "
                f"area {a:.3f}",
            )
            for j, m, low, high, a, told in zip(
                self.classifier, self.mean, self.lower, self.upper, self.area,
                self.identified[self.domain], strict=True,
            )
        ]  # fmt: skip
