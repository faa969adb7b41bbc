"""Axes for pictures of numbers: ticks that are round, on a plain or a logarithmic scale."""

import math
from collections.abc import Callable

__all__ = ["Scale", "log_ticks", "plain_ticks", "scale"]

Scale = Callable[[float], float]


def plain_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers between two ends."""
    if high <= low:
        return [low]
    raw = (high - low) / about
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * m for m in (1, 2, 5, 10) if size * m >= raw)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(step * n, 12) for n in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten between two ends; powers alone if they are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if len(powers) <= 4 else (1,)
    found = [f * 10.0**p for p in powers for f in factors]
    return [t for t in found if low * (1 - 1e-9) <= t <= high * (1 + 1e-9)]


def scale(low: float, high: float, start: float, end: float, *, log: bool) -> Scale:
    """Return the map from values between ``low`` and ``high`` to places; what is outside is cut."""
    at = math.log if log else float
    left, right = at(low), at(high)
    span = right - left or 1.0

    def place(value: float) -> float:
        inside = min(max(value, low), high)
        return start + (end - start) * (at(inside) - left) / span

    return place
