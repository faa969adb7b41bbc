"""Weighted power means, with their slopes."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["power_mean", "power_mean_slopes"]

_ZERO = 1e-100  # a power closer to 0 is 0: the product with a logarithm would lose its digits


def power_mean(values: FloatArray, weights: FloatArray, power: FloatArray | float) -> FloatArray:
    """Return ``(Σ_i w_i v_i^ρ)^(1/ρ)``, or ``Π_i v_i^w_i`` for ρ = 0, over the last axis.

    ``values`` (..., k) are at least 0, ``weights`` (..., k) sum to 1, and ``power`` (...) is
    finite; all three are broadcast. What has no weight is left out, even where it is 0.
    """
    rho = np.asarray(power, dtype=float)
    flat = np.abs(rho) < _ZERO
    steep = np.where(flat, 1.0, rho)
    # The classes first: sums over them are then sums of whole arrays.
    weight = np.moveaxis(np.asarray(weights, dtype=float), -1, 0)
    with np.errstate(divide="ignore"):
        logs = np.log(np.moveaxis(values, -1, 0))
    counts = weight > 0
    full = bool(counts.all())  # whether every value has a weight, which is most often so
    high: FloatArray = np.maximum.reduce(logs if full else np.where(counts, logs, -np.inf))
    low: FloatArray = np.minimum.reduce(logs if full else np.where(counts, logs, np.inf))
    # Relative to the greatest value (or the least, for ρ < 0) no power overflows, and the
    # difference of the sum from 1 keeps its digits where ρ is near 0.
    top = np.where(rho > 0, high, low)
    found = np.isfinite(top)
    logs = logs - np.where(found, top, 0.0)
    logs = logs if full else np.where(counts, logs, 0.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # where nothing weighs
        product = (weight * logs).sum(axis=0) if flat.any() else 0.0
        rise = weight * np.expm1(np.multiply(logs, steep, out=logs), out=logs)
        total = rise.sum(axis=0)
        part = np.log1p(total)
        if (small := total < -0.5).any():  # the sum itself has more digits there
            part = np.where(small, np.log((weight + rise).sum(axis=0)), part)
        mean = np.exp(top + np.where(flat, product, part / steep))
    return np.asarray(np.where(found, mean, 0.0))


def power_mean_slopes(values: FloatArray, weights: FloatArray, power: float) -> FloatArray:
    """Return the derivatives ``w_i (v_i / mean)^(ρ−1)`` in each value; infinite or NaN at 0."""
    if power == 1.0:
        return np.broadcast_to(weights, values.shape).copy()
    mean = power_mean(values, weights, power)[..., None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        steepness = np.exp((power - 1.0) * (np.log(values) - np.log(mean)))
        return np.asarray(np.where(weights > 0, weights * steepness, 0.0))
