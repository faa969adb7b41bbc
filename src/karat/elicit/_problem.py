"""What differs between one space and family of metrics and another: the prior and the searches.

A `Problem` is a value: a family of metrics on a space, with its options. `Elicitation` drives it.
It knows no answers: a search narrows the `Brackets` that it is given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.elicit.asking import ActiveSearch
from karat.elicit.families import Family
from karat.elicit.posterior import Brackets
from karat.elicit.search import Steps
from karat.elicit.spaces import QuestionSpace, Space


class Standing(NamedTuple):
    """Where a run stands, for what its answers leave arbitrary."""

    brackets: Brackets
    search: ActiveSearch | None  # of strategy "active"
    answers: tuple[str, ...]
    worst_rate: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem(ABC):
    """A family of metrics on a space: its prior, its searches, and what brackets say of it.

    Attributes
    ----------
    space : Space
        What classifiers attain.
    strategy : str
        How questions are chosen.
    tol : float
        Width at which searches stop halving.
    """

    space: Space
    strategy: str
    tol: float
    default_tol: ClassVar[float] = 0.01
    takes: ClassVar[tuple[str, ...]] = ()  # options that only some families take
    oriented: ClassVar[bool] = True  # whether less may be better: ``orientation``
    least_classes: ClassVar[int] = 2
    curved: ClassVar[bool] = False  # whether questions inside the feasible set say more
    wider: ClassVar[str | None] = None  # the wider family on the same space, if there is one
    wider_options: ClassVar[tuple[str, ...]] = ()  # of its own, that the wider family has too
    has_ratios: ClassVar[bool] = False  # whether the weights are costs that can be compared
    straight: ClassVar[bool] = True  # whether the metric is linear: opposite points then find it
    # What "corrected" changes of the printed algorithm; None where both words say the same.
    correction: ClassVar[str | None] = None

    def _keep(self, **checked: Any) -> None:
        """Keep options as they are after they were checked; for ``__post_init__`` alone."""
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def by_paper(self) -> bool:
        """Whether questions are those of Hiranandani 2021."""
        return self.strategy in ("published", "corrected")

    @property
    def question_space(self) -> QuestionSpace:
        """Where questions are asked: the space, unless groups are compared."""
        return self.space

    @property
    def options(self) -> dict[str, Any]:
        """The options that only some families take, as plain data."""
        return {name: getattr(self, name) for name in self.takes}

    @abstractmethod
    def family(self, flipped: bool = False) -> Family:
        """Return the family of metrics that is elicited: the prior of ``active``."""

    @abstractmethod
    def published(self, brackets: Brackets) -> Steps:
        """Ask as the published algorithm does, narrowing the brackets."""

    @abstractmethod
    def bisection(self, brackets: Brackets) -> Steps:
        """Ask one question for each halving, narrowing the brackets."""

    @abstractmethod
    def first_brackets(self) -> Brackets:
        """Return what is known of the angles before anything is asked."""

    @abstractmethod
    def parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        """Return the parameters (n, size) of the family for angles (n, brackets)."""

    def estimate(self, brackets: Brackets) -> FloatArray:
        """Return the parameters that the brackets point at."""
        angles = brackets.estimate(2 * self.tol)[None]
        return np.asarray(self.parameters(angles, brackets)[0])

    @property
    def explains(self) -> bool:
        """Whether the metric found is meant to explain every answer, and not only some of them."""
        # the published grid searches keep an error of their own, which is not the person's
        return self.straight or not self.by_paper

    @property
    def predicts(self) -> bool:
        """Whether what is known tells how often the metric agrees with the person."""
        return True

    def ratio_name(self, i: int, j: int) -> str:
        """Return what the ratio of two weights compares, in words."""
        return self.space.trade_off(i, j)

    def n_comparable(self, n: int) -> int:
        """Return how many of n weights can be compared with each other."""
        return n

    def affordable(self, draws: int) -> int:
        """Return how many metrics to draw where ``draws`` are wanted: fewer if each takes long."""
        return draws

    def wider_family(self) -> Family | None:
        """Return a family that holds metrics which this one misses; None if there is none."""
        return None

    def unidentified(self, run: Standing) -> str | None:
        """Return a sentence on what the answers leave arbitrary; None if nothing."""
        return None
