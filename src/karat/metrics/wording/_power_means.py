"""Power means of recalls in words."""

from collections.abc import Sequence

import numpy as np

from karat._typing import FloatArray

__all__ = ["describe_power_mean"]

_MOST = 6  # weights that a sentence can list
_LEAST_FOUND = -20.0  # below, the mean is the least recall but for the weights' part
_NAMED = {1.0: "arithmetic", 0.0: "geometric", -1.0: "harmonic"}


def describe_power_mean(
    title: str, weights: FloatArray, power: float, names: Sequence[str], *, decreasing: bool
) -> str:
    """Say what each class weighs, and what it means to be found seldom."""
    order = [int(i) for i in np.argsort(-weights, kind="stable") if weights[i] > 0]
    listed = ", ".join(f"{weights[i]:.3g} for {names[i]}" for i in order[:_MOST])
    more = f" and {len(order) - _MOST} smaller ones" if len(order) > _MOST else ""
    ignored = [names[i] for i in range(len(names)) if weights[i] == 0]
    without = f"; {', '.join(ignored)} {'does' if len(ignored) == 1 else 'do'} not count"
    head = f"{title[:1].upper()}{title[1:]}: {'minus ' if decreasing else ''}"
    return (
        f"{head}{_which(power)}, with the weights {listed}{more}{without if ignored else ''}. "
        f"{_seldom(power)}{' Less of the mean is better.' if decreasing else ''}"
    )


def _which(power: float) -> str:
    """Return which mean it is, by the means of a name that it lies between."""
    what = "mean of the share of each class that is found"
    if power in _NAMED:
        return f"the {_NAMED[power]} {what}"
    above = [name for at, name in reversed(_NAMED.items()) if at > power]
    below = [name for at, name in _NAMED.items() if at < power]
    where = (
        f"between the {above[0]} and the {below[0]} one"
        if above and below
        else f"beyond the {(above or below)[0]} one"
    )
    return f"a {what}, {where} (power {power:.3g})"


def _seldom(power: float) -> str:
    """Return what a class gains by being found seldom, and what happens where one never is."""
    if power == 1.0:
        return "A point of one class makes up for a point of another at the same rate everywhere."
    if power < _LEAST_FOUND:
        return "It is close to the share of the class that is found least."
    factor = 2.0 ** min(1.0 - power, 1000.0)
    text = (
        "Weights aside, a point more of a class that is found half as often as another counts "
        f"{factor:.3g} times as much"
    )
    return text + ("; it is 0 as soon as one class is never found." if power <= 0 else ".")
