"""The confidence and the sides that are asked for, and the result they lead to."""

from typing import Any

from karat._validate import check_choice, check_confidence
from karat.limits.result import Limits

__all__ = ["LimitRequest", "check_request"]

_SIDES = ("both", "lower", "upper")


class LimitRequest:
    """The confidence and the sides that are asked for, checked."""

    __slots__ = ("confidence", "delta", "side")

    def __init__(self, confidence: float, side: str) -> None:
        self.confidence, self.side = confidence, side
        error = 1.0 - confidence
        self.delta = error / 2 if side == "both" else error

    def limits(
        self,
        ends: tuple[float, float],
        *,
        estimate: float,
        n: float,
        method: str,
        guarantee: str,
        whole: tuple[float, float] = (0.0, 1.0),
    ) -> Limits:
        """Return the result; an end that was not asked for is that of the whole range."""
        return Limits(
            estimate=float(estimate),
            lower=float(whole[0] if self.side == "upper" else ends[0]),
            upper=float(whole[1] if self.side == "lower" else ends[1]),
            confidence=self.confidence,
            side=self.side,
            method=method,
            guarantee=guarantee,
            n=float(n),
        )


def check_request(confidence: Any, side: Any) -> LimitRequest:
    """Check ``confidence=`` and ``side=``."""
    return LimitRequest(check_confidence(confidence), check_choice(side, "side", _SIDES))
