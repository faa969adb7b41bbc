"""What every limit is asked for: data in a range, a confidence level, one side or two."""

from typing import Any

import numpy as np

from karat._result import Estimate, Guarantee
from karat._sentences import Argument, Expected, Option, Remedy, Row, Shown
from karat._typing import Column, FloatArray
from karat._validate import (
    check_choice,
    check_confidence,
    check_number,
    check_scores,
    refuse_option,
)
from karat.exceptions import DataError
from karat.limits.result import Limits


def check_trials(successes: Any, n: Any) -> tuple[float, float]:
    """Check a count of successes among n trials; neither has to be a whole number."""
    trials = check_number(n, "n", at_least=0.0)
    count = check_number(successes, "successes", at_least=0.0)
    if count > trials:
        raise DataError(
            Argument("successes"),
            f" is {successes!r} and n is {n!r}; expected ",
            Expected("at most n successes"),
            Remedy("Pass the number of successes first, then the number of trials", after=". "),
        )
    return count, trials


def check_range(low: Any, high: Any) -> tuple[float, float]:
    """Check the range that values are known to lie in."""
    least, most = check_number(low, "low"), check_number(high, "high")
    if least >= most:
        refuse_option(low, "low", f"a number below high={most:g}: the range of what items can be")
    return least, most


def bounded_values(values: Column, name: str, low: float, high: float) -> FloatArray:
    """Check values that must lie in a range."""
    x = check_scores(values, name)
    outside = np.flatnonzero((x < low) | (x > high))
    if len(outside):
        raise DataError(
            Argument.of(name),
            Row(outside[0]),
            f" is {x[outside[0]]:g}; expected ",
            Expected(
                "numbers between ",
                Option("low", Shown(f"{low:g}")),
                " and ",
                Option("high", Shown(f"{high:g}")),
            ),
            Remedy("Pass the range that no item can leave, not that of the sample", after=". "),
        )
    return x


# --- The confidence and the sides that are asked for, and the result they lead to.

_SIDES = ("both", "lower", "upper")


class LimitRequest:
    """The confidence and the sides that are asked for, checked."""

    __slots__ = ("confidence", "delta", "side")

    def __init__(self, confidence: float, side: str) -> None:
        self.confidence, self.side = confidence, side
        error = 1.0 - confidence
        self.delta = error / 2 if side == "both" else error

    @property
    def shared(self) -> float:
        """Number of limits among which ``1 − confidence`` is divided."""
        return 2.0 if self.side == "both" else 1.0

    def limits(
        self,
        ends: tuple[float, float],
        *,
        value: float,
        n: float,
        method: str,
        guarantee: Guarantee,
        whole: tuple[float, float] = (0.0, 1.0),
    ) -> Limits:
        """Return the result; an end that was not asked for is that of the whole range."""
        return Limits(
            estimate=Estimate.of(
                float(value),
                float(whole[0] if self.side == "upper" else ends[0]),
                float(whole[1] if self.side == "lower" else ends[1]),
                self.confidence,
                guarantee,
            ),
            side=self.side,
            method=method,
            n=float(n),
        )


def check_request(confidence: Any, side: Any) -> LimitRequest:
    """Check ``confidence=`` and ``side=``."""
    return LimitRequest(check_confidence(confidence), check_choice(side, "side", _SIDES))
