"""The search of the slope of a metric at a place.

Around a place the metric is linear, or antipodal pairs make it so: for a quadratic φ,
``φ(z+u) − φ(z−u) = 2⟨∇φ(z), u⟩`` exactly. The linear search then finds the direction f of the
gradient, of any signs, but not its length.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray
from karat.elicit.search._angle_search import angle_sweep, sphere_cycles
from karat.elicit.search._angles import direction
from karat.elicit.search._brackets import Brackets, Steps
from karat.elicit.transcript import Query

__all__ = ["Site", "find_slope", "site_brackets", "slope_of", "trace_slope"]

_ASKED_AGAIN = 3  # times that a skipped sign is asked for once more


@dataclass(frozen=True, slots=True)
class Site:
    """A place around which the slope of a metric is searched.

    Attributes
    ----------
    table : callable
        Returns the confusions at offsets (n, width) of length 1 at most, in units of a ball that
        is attained.
    width : int
        Number of entries of the slope.
    dim : int
        Number of dimensions that it may lie in; fewer if it lies in a known plane.
    sign : int
        1 if the slope is that of what people prefer, -1 if it is that of a cost.
    positive : bool
        Whether no entry of the slope is negative.
    """

    table: Callable[[FloatArray], FloatArray]
    width: int
    dim: int
    sign: int
    positive: bool = False

    def query(self, first: FloatArray, second: FloatArray) -> Query:
        """Ask about two offsets; the first is preferred if the slope rises from second to it."""
        tables = self.table(self.sign * np.stack([first, second]))
        return Query(tables[0], tables[1])


def site_brackets(sites: Sequence[Site]) -> Brackets:
    """Return what is known of the angles of all slopes before anything is asked."""
    ends = [np.full(site.dim - 1, np.pi / 2 if site.positive else np.pi) for site in sites]
    high = np.concatenate([np.empty(0), *ends])
    low, widest = np.zeros(len(high)), max((site.dim for site in sites), default=0)
    return Brackets(
        low,
        high.copy(),
        np.zeros((len(high), 2)),
        (low.copy(), high.copy()),
        signs=np.ones((len(sites), widest)),
    )


def _start(sites: Sequence[Site], i: int) -> int:
    return sum(site.dim - 1 for site in sites[:i])


def find_slope(
    brackets: Brackets, sites: Sequence[Site], i: int, tol: float, *, sparse: bool = False
) -> Steps:
    """Find the slope at site i: its last sign, then one sweep over the whole sphere.

    With ``sparse`` the first guess of each entry is 0, which takes two questions to see.
    """
    site, basis = sites[i], brackets.bases.get(i)

    def ask(vector: FloatArray) -> Query:
        along = vector if basis is None else basis @ vector
        return site.query(along, -along)

    axes = np.eye(site.dim)
    yield from _signs(brackets, i, site, ask, axes[-1:])
    signs = brackets.signs[i, : site.dim].copy()
    if signs.any():
        near = (np.pi / 2 - tol / 2, np.pi / 2 + tol / 2) if sparse else ()
        yield from angle_sweep(
            brackets,
            tol,
            lambda u: ask(signs * u),
            start=_start(sites, i),
            size=site.dim - 1,
            guesses=near,
        )


def trace_slope(
    brackets: Brackets, sites: Sequence[Site], i: int, tol: float, cycles: int
) -> Steps:
    """Find the slope at site i as published: all signs, then cycles over the orthant."""
    site = sites[i]
    yield from _signs(brackets, i, site, lambda u: site.query(u, -u), np.eye(site.dim))
    signs = brackets.signs[i, : site.dim].copy()
    if signs.any():
        yield from sphere_cycles(
            brackets,
            tol,
            lambda v, w: site.query(signs * v, signs * w),
            start=_start(sites, i),
            size=site.dim - 1,
            cycles=cycles,
        )


def _signs(
    brackets: Brackets, i: int, site: Site, ask: Callable[[FloatArray], Query], axes: FloatArray
) -> Steps:
    """Ask for the signs of some entries; where nothing makes a difference, set all to 0."""
    first = np.full((1, site.dim), site.dim**-0.5) if site.positive else axes
    flat = True
    for axis in first:
        answer = yield from _insisted(ask(axis))
        flat = flat and answer == "tie"
        if answer == "second" and not site.positive:
            brackets.signs[i, int(np.argmax(axis))] = -1.0
    if flat and not site.positive:
        for axis in np.eye(site.dim)[: site.dim - len(axes)]:
            if (yield from _insisted(ask(axis))) != "tie":
                return
    if flat:
        brackets.signs[i] = 0.0


def _insisted(query: Query) -> Generator[Query, str, str]:
    """Ask, and ask again a few times if the question is skipped."""
    answer = "skip"
    for _ in range(1 + _ASKED_AGAIN):
        if answer == "skip":
            answer = yield query
    return answer


def slope_of(angles: FloatArray, brackets: Brackets, sites: Sequence[Site], i: int) -> FloatArray:
    """Return the unit slopes (n, q) at site i of angles (n, brackets); 0 where it is flat."""
    start, dim = _start(sites, i), sites[i].dim
    found = brackets.signs[i, :dim] * direction(angles[:, start : start + dim - 1])
    if dim == sites[i].width:
        return found
    basis = brackets.bases.get(i)  # not there before the search of this slope began
    return np.zeros((len(angles), sites[i].width)) if basis is None else found @ basis.T
