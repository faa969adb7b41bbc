"""Whether the answers are those of someone with a metric in mind.

The model predicts each answer from those before it. The product Z of these probabilities is
compared with that of two explanations without a metric: a coin, and someone who names one side more
often than the other whatever is shown (a Beta(1, 1) rate), each with weight one half. By Ville's
inequality Z exceeds e³ times a coin's ``2⁻ⁿ`` at any time with a probability of at most 5 % if the
answers are a coin's. Only answers that name a side count; ties are compared by themselves with
someone who says tie at one rate whatever is shown.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

__all__ = ["Evidence"]

_MANY_TIES = 6  # a few ties at the beginning are no sign of carelessness
_CLEAR = 3.0  # e³ = 20: one in twenty of those without a metric would get so far by chance


@dataclass(slots=True)
class Evidence:
    """Log-probabilities of the answers so far, and how many there are of each kind."""

    named: float = 0.0  # log-probability of the sides that were named, given that one was
    ties: float = 0.0  # log-probability of where ties were said
    n_first: int = 0
    n_second: int = 0
    n_ties: int = 0
    contradicted: bool = False  # whether a person without a metric was ever clearly more likely

    def add(self, sign: float, chance: float, tie: float) -> None:
        """Record an answer of a predicted probability, where a tie had another one."""
        self.ties += float(np.log(tie if sign == 0 else 1.0 - tie))
        if sign != 0:
            self.named += float(np.log(chance / (1.0 - tie)))
        self.n_first += sign > 0
        self.n_second += sign < 0
        self.n_ties += sign == 0
        tied = self.n_ties >= _MANY_TIES and self.ties_above_one_rate <= -_CLEAR
        self.contradicted = self.contradicted or tied or self.above_no_metric <= -_CLEAR

    @property
    def n_named(self) -> int:
        """Number of answers that name a side."""
        return self.n_first + self.n_second

    @property
    def above_coin(self) -> float:
        """Log of how much more probable the answers are than a coin's."""
        return self.named + self.n_named * float(np.log(2.0))

    @property
    def above_no_metric(self) -> float:
        """Log of how much more probable they are than those of a coin or of a favourite side."""
        coin = -self.n_named * np.log(2.0)
        side = betaln(1 + self.n_first, 1 + self.n_second)
        return self.named - float(np.logaddexp(coin, side) - np.log(2.0))

    @property
    def ties_above_one_rate(self) -> float:
        """Log of how much more probable the ties are than ties that are said at one rate."""
        return self.ties - float(betaln(1 + self.n_ties, 1 + self.n_named))

    def excludes_coin(self, tries: int = 1) -> bool:
        """Whether a coin would lead to such answers in at most 5 % of cases, over all tries.

        With two families that may be certified on the same answers each has half of the 5 %.
        """
        return not self.contradicted and self.above_coin >= _CLEAR + np.log(tries)
