"""Finite samples: Table A.3 (magic, breast cancer) and Figure 4.2 (vehicle) of the thesis."""

import os
from collections.abc import Callable
from functools import partial
from multiprocessing import Pool
from typing import NamedTuple

import numpy as np
from _elicit_common import Array, ask_all, diagonal_metric, largest
from _elicit_data import Half, binary_set, model_half, vehicle
from _elicit_printed import FAILURES
from _show import Promise, number, say, show_table
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from karat.elicit import BinaryLinear, BinarySpace, DiagonalLinear, DiagonalSpace
from karat.metrics import LinearMetric

__all__ = ["run_failures", "run_vehicle"]

_TOLERANCES = (0.02, 0.05, 0.08, 0.11)
# 28 angles: π/18 to 5π/12 in steps of π/36, and the same turned by π.
_TURNS = np.deg2rad(np.concatenate([np.arange(10, 76, 5), np.arange(190, 256, 5)]))
# What the thesis' λ may mean for scikit-learn's C: its inverse, or itself.
_STRENGTHS = ((10, 0.1), (10, 10.0), (1, 1.0))


class _Reading(NamedTuple):
    """A way to count confusions on the second half, and a strategy."""

    name: str
    space: Callable[[Half], BinarySpace]
    strategy: str


_READINGS = (
    _Reading("as printed", lambda half: half.space, "thesis"),
    _Reading("best thresholds", lambda half: half.best_thresholds, "thesis"),
    _Reading("no labels", lambda half: half.unlabelled, "thesis"),
    _Reading("smoothed", lambda half: half.space.smoothed(), "thesis"),
    _Reading("bisection", lambda half: half.space, "bisection"),
)
_NAMES = {
    "magic": "M",
    "diagnostic": "BC, diagnostic (569 rows)",
    "original": "BC, original (683 rows)",
}
_SHARES = (0.5, 0.75, 1.0)
_WITHIN = (0.04, 0.06, 0.08, 0.10, 0.12, 0.16, 0.20)


def run_failures(*, quick: bool) -> list[Promise]:
    """Print Table A.3 under several readings of it; return what is promised."""
    halves = 2 if quick else 20
    say(_introduction(halves))
    shown = tuple(
        r.name for r in _READINGS if not quick or r.name in ("best thresholds", "bisection")
    )
    rows, apart = [], []
    with Pool(min(halves, os.cpu_count() or 1), threadpool_limits, (1,)) as pool:
        for name, strength, c in _settings(quick=quick):
            each = pool.map(partial(_failures, name, c, shown), range(halves), chunksize=1)
            found = dict(zip(shown, np.mean(each, axis=0), strict=True))
            printed = FAILURES.get((name, strength))
            line = [_NAMES[name], f"{strength} ({c:g})"]
            line.append("–" if printed is None else _cells(np.array(printed)))
            rows.append([*line, *map(_cells, found.values())])
            if name == "magic" and printed is not None:
                apart.append(largest(found["best thresholds"], printed))
    columns = ["data", "λ (C)", "thesis", *shown]
    show_table("Table A.3: proportion of 28 metrics not recovered within ε", columns, rows)
    if not quick:
        say(_reading_of_the_table())
    # The mean of two halves is too noisy to be held to more.
    wanted = 0.25 if quick else 0.15
    return [Promise("Table A.3, magic, best thresholds", max(apart), wanted, at_most=True)]


def _settings(*, quick: bool) -> list[tuple[str, int, float]]:
    if quick:
        return [
            (n, strength, 1 / strength) for n in ("magic", "diagnostic") for strength in (10, 1)
        ]
    return [(name, strength, c) for name in _NAMES for strength, c in _STRENGTHS]


def _introduction(halves: int) -> str:
    return (
        "How often a search on a sample misses the angle by more than ε: proportions at ε = 0.02, "
        f"0.05, 0.08 and 0.11, the mean over {halves} random halves. The thesis does not say how "
        "the best classifier of a slope is found on the second half. 'As printed' puts the "
        "threshold of Proposition 3.1 on the model's probabilities and counts labels; 'best "
        "thresholds' takes the threshold that is best on that half; 'no labels' takes the "
        "probabilities at their word; 'smoothed' recalibrates them on that half and takes them at "
        "their word (karat's space.smoothed()). Bisection is karat's, on the sample as it is.\n"
    )


def _reading_of_the_table() -> str:
    return (
        "No one reading gives the whole table. Magic is reproduced with the best thresholds of the "
        "half, and whether C is λ or 1/λ makes no difference there. Breast cancer is not: a half "
        "of 285 rows has some seven best thresholds in all, too few for the printed proportions. "
        "Smoothed, its proportions come near for λ = 10 and stay below the printed ones for λ = 1, "
        "but then magic has no failures at all. The shared file is the original data of 699 rows "
        "(683 without gaps); the thesis names the diagnostic data of 569 rows, which scikit-learn "
        "carries. Bisection asks about the ends of chords and not about neighbours, so that the "
        "steps of a sample do not stop it.\n"
    )


def _failures(name: str, c: float, shown: tuple[str, ...], seed: int) -> list[list[float]]:
    """Return the proportion of failures on one half, for each reading and tolerance."""
    half, failed = model_half(binary_set(name), c, seed), []
    for reading in _READINGS:
        if reading.name in shown:
            space = reading.space(half)
            failed.append([_missed(space, reading.strategy, tol) for tol in _TOLERANCES])
    return failed


def _missed(space: BinarySpace, strategy: str, tol: float) -> float:
    """Return the proportion of the 28 metrics whose angle is missed by more than ``tol``."""
    missed = 0
    for turn in _TURNS:
        metric = LinearMetric([[np.sin(turn), 0.0], [0.0, np.cos(turn)]])
        procedure = BinaryLinear(space, strategy=strategy, tol=tol, orientation="ask")
        found = ask_all(procedure, metric).weights
        missed += np.arccos(np.clip(found @ [np.cos(turn), np.sin(turn)], -1.0, 1.0)) > tol
    return missed / len(_TURNS)


def _cells(values: Array) -> str:
    return " ".join(number(value).replace("0.", ".", 1) for value in values)


def run_vehicle(*, quick: bool) -> None:
    """Print what Figure 4.2 shows for vehicle; its values are not printed in the thesis."""
    metrics, halves, shares = (20, 1, (1.0,)) if quick else (100, 5, _SHARES)
    drawn = np.random.default_rng(0).dirichlet(np.ones(4), size=metrics)
    rows = []
    for share in shares:
        errors: dict[str, list[float]] = {}
        for seed in range(halves):
            half = model_half(vehicle().part(share, seed), 1.0, seed)
            for name, where, strategy in _searches(half):
                errors.setdefault(name, []).extend(_errors(where, strategy, drawn))
        for name, values in errors.items():
            reached = [float(np.mean(np.array(values) <= within)) for within in _WITHIN]
            rows.append([f"{share:.0%}", name, *map(number, reached)])
    say(
        f"Vehicle, four classes: the proportion of {metrics} metrics, uniform on the simplex, "
        f"whose largest error is within ω; halves: {halves}. The thesis draws it and prints no "
        "figures. 'No labels' and 'smoothed' are as above. What bisection misses on any number of "
        "rows are metrics that give next to nothing to the class that the others are measured "
        "against.\n"
    )
    columns = ["rows", "search", *(f"ω = {within:g}" for within in _WITHIN)]
    show_table("Figure 4.2: Σ a_i·C_ii on vehicle, tolerance 0.01", columns, rows)


def _searches(half: Half) -> list[tuple[str, DiagonalSpace, str]]:
    space = DiagonalSpace.from_proba(half.y, half.proba)
    smooth = space.smoothed()
    return [
        ("thesis", space, "thesis"),
        ("thesis, no labels", DiagonalSpace.from_calibrated(half.proba), "thesis"),
        ("thesis, smoothed", smooth, "thesis"),
        ("bisection", space, "bisection"),
        ("bisection, smoothed", smooth, "bisection"),
    ]


def _errors(space: DiagonalSpace, strategy: str, drawn: Array) -> list[float]:
    return [
        largest(ask_all(DiagonalLinear(space, strategy=strategy), diagonal_metric(a)).weights, a)
        for a in drawn
    ]
