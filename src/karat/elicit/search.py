"""Searches that need no noise model: which question to ask next, and what the answers leave open.

`Brackets` hold the interval of every parameter. Directions are searched angle by angle
(``angle_sweep``, ``sphere_cycles``), curves by halving (``unimodal``, ``halving``), slopes of a
metric at several places (`Site`, ``find_slope``) and then solved for its parameters
(``solve_slopes``), and ratios by two of their level sets (``level_set_search``).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.elicit.posterior import Brackets
from karat.elicit.spaces import DiagonalSpace, Space
from karat.elicit.transcript import Query

# A search: it yields queries, is sent answers, and narrows brackets on the way.
Steps = Generator[Query, str, None]

_STEEPEST = 1e6  # takes the place of a ratio without limit, as before anything is known


def curvature_of_ratios(slopes: list[FloatArray], step: float) -> FloatArray:
    """Return B (n, q, q) in units in which the gradient d at the center has norm 1.

    ``slopes`` are those at the center, a step along each axis, and a step back along the first.
    With ``F_ij`` the ratio of entry i to the first at axis j (0 at the center, − back along the
    first), equation 6.18 of Hiranandani 2021 without its slips is

    ``B_ij = [F_ij (1 + F_j1) − F_ij F_j0 − F_i0 + F_ij F_j1 t] d_1 / step``,
    ``t = (F⁻_21 + F_21 − 2 F_20) / (F⁻_21 − F_21)``.
    """
    n, q = slopes[0].shape
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [np.clip(np.nan_to_num(f / f[:, :1]), -_STEEPEST, _STEEPEST) for f in slopes]
        center, first, back = ratios[0], ratios[1], ratios[-1]
        spread = back[:, 1] - first[:, 1]
        t = np.nan_to_num((back[:, 1] + first[:, 1] - 2 * center[:, 1]) / spread)
        t = np.clip(t, -_STEEPEST, _STEEPEST)
    bend = np.empty((n, q, q))
    for j in range(q):
        along = 1.0 + first[:, j] - center[:, j] + first[:, j] * t
        bend[:, :, j] = ratios[1 + j] * along[:, None] - center
    lower = np.tril(bend)  # j ≤ i, as in equation 6.16
    whole = lower + np.tril(bend, -1).swapaxes(1, 2)
    return np.asarray(whole * slopes[0][:, :1, None] / step)


def face_searches(space: DiagonalSpace, brackets: Brackets, tol: float, *, start: int = 0) -> Steps:
    """Search the best point of each face (first class, i), as Algorithm 4.1 does.

    ``start`` chooses the brackets; with ``start`` above 0 the lower boundary is searched
    (Algorithm 4.3), whose points are those of the negative weights.
    """
    for i in range(1, space.dim):

        def table(m: float, i: int = i) -> FloatArray:
            ratio = (1.0 - m) / m if m > 0 else np.inf
            confusion = space.face_confusion(0, i, space.face(0, i).at_threshold(ratio))
            if start == 0:
                return confusion
            swapped_classes = confusion.copy()  # the lower boundary predicts the other class
            swapped_classes[:, [0, i]] = confusion[:, [i, 0]]
            return swapped_classes

        def query(s: float, t: float, i: int = i) -> Query:
            return Query(table(s, i), table(t, i))

        yield from unimodal(brackets, start + i - 1, tol, query)


def informative_places(features: FloatArray, n: int, first: tuple[int, ...] = ()) -> IntArray:
    """Choose n of c places with features (c, rows, size) such that slopes there say most.

    One place after another, each is the one that adds most to the determinants of the rows'
    information. ``first`` are places that are chosen in any case.
    """
    _, rows, size = features.shape
    information = np.tile(1e-6 * np.eye(size), (rows, 1, 1))
    chosen: list[int] = []
    while len(chosen) < min(n, len(features)):
        if len(chosen) < len(first):
            best = first[len(chosen)]
        else:
            spread = np.einsum(
                "crd,rde,cre->cr", features, np.linalg.inv(information), features, optimize=True
            )
            gain = np.log1p(spread).sum(axis=1)
            gain[chosen] = -np.inf
            # Rounded, so that the last digit of another machine does not choose another place.
            best = int(np.argmax(np.round(gain, 9)))
        chosen.append(best)
        information = information + features[best][:, :, None] * features[best][:, None, :]
    return np.array(chosen)


# --- Linear-fractional metrics: two of their level sets say all that preferences can.
#
# The level sets of ``N / D`` are hyperplanes ``N − τ·D = 0`` that all meet: a pencil of
# hyperplanes. Any two of them span it, and the order that a metric gives is known once the pencil
# is (Hiranandani 2021, sections 3.4.2 and 4.4; the grid searches of Algorithms 3.3, 4.4 and 4.6
# look for what is a closed form).

_TOWARD = 0.5  # how far the two centers lie from guessing toward the best and the worst


def two_centers(space: Space) -> tuple[FloatArray, FloatArray, float]:
    """Return two points far apart in value, and the radius of a ball around each.

    The convex hull of the ball around the center and a feasible point holds a smaller ball around
    any point between them.
    """
    ones = space.sign * np.ones(space.dim)
    best, worst = space.coordinates(space.boundary(np.stack([ones, -ones])))
    center = space.center
    return (
        center + _TOWARD * (best - center),
        center + _TOWARD * (worst - center),
        (1.0 - _TOWARD) * space.radius,
    )


def level_set_search(space: Space, brackets: Brackets, tol: float) -> Steps:
    """Find the level set through each of two centers, one question a halving.

    Comparing ``z + ρu`` with ``z − ρu`` is exact for a ratio: with N and D at z, n and d along u,
    ``(N+ρn)(D−ρd) > (N−ρn)(D+ρd)`` exactly when ``n − φ(z)·d > 0``, whatever ρ.
    """
    *centers, radius = two_centers(space)
    size = space.dim - 1
    for start, center in zip((0, size), centers, strict=True):

        def pair(u: FloatArray, center: FloatArray = center) -> Query:
            step = space.sign * radius * u
            tables = space.confusion(np.stack([center + step, center - step]))
            return Query(tables[0], tables[1])

        yield from angle_sweep(brackets, tol, pair, start=start, size=size)


def ratio_from_level_sets(
    upper: FloatArray,
    upper_at: FloatArray,
    lower: FloatArray,
    lower_at: FloatArray,
    top: FloatArray,
) -> FloatArray:
    """Return the parameters (n, 2·dim) of the ratio with two given level sets.

    ``upper`` and ``lower`` (n, dim) are normals of the level sets through ``upper_at`` and
    ``lower_at``, the first of the greater value. The member of the pencil that vanishes at 0 is the
    numerator, ``s̄/⟨s̄, z̄⟩ − s̲/⟨s̲, z̲⟩`` up to sign; the one that vanishes at ``top`` is the
    rest.
    """

    def member(vanishing_at: FloatArray) -> FloatArray:
        a = upper / np.sum(upper * (upper_at - vanishing_at), axis=1, keepdims=True)
        b = lower / np.sum(lower * (lower_at - vanishing_at), axis=1, keepdims=True)
        difference = a - b
        signed = difference * np.sign(difference.sum(axis=1, keepdims=True))
        # Weights are at least 0; what is below is error of the search.
        return np.asarray(np.maximum(signed, 0.0) + 1e-12)

    return np.hstack([member(np.zeros_like(top)), member(top)])


def level_set_normals(angles: FloatArray, dim: int) -> tuple[FloatArray, FloatArray]:
    """Return the normals (n, dim) of both level sets, of angles (n, 2·(dim−1))."""
    return direction(angles[:, : dim - 1]), direction(angles[:, dim - 1 :])


def grid_ratio(
    upper: FloatArray,
    upper_value: float,
    lower: FloatArray,
    lower_value: float,
    top: FloatArray,
    points: Callable[[int], FloatArray],
    *,
    step: float = 0.01,
) -> FloatArray:
    """Return the parameters (p, u) that Algorithms 3.3, 4.4 and 4.6 find on a grid.

    For each coordinate j after the first, the share of p_j against p_1 is the one for which the
    metrics that fit the upper and the lower level set are most nearly proportional on
    ``points(j)``. ``lower`` and ``lower_value`` are as in eq. 3.27 divided by −γ: positive.
    """
    shares = np.linspace(0.0, 1.0, round(1.0 / step) + 1)
    found = np.ones(len(top))
    for j in range(1, len(top)):
        p = np.zeros((len(shares), len(top)))
        p[:, 0], p[:, j] = 1.0 - shares, shares
        at = points(j)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = _fitted(p, upper, upper_value, top, at) / _fitted(
                p, lower, lower_value, top, at
            )
            spread = np.nanstd(np.where(np.isfinite(ratio), ratio, np.nan), axis=1)
        best = shares[int(np.nanargmin(spread))]
        found[j] = best / max(1.0 - best, 1e-9)
    p = found / found.sum()
    q, _ = _denominator(p[None], upper, upper_value, top)
    return np.concatenate([p, np.maximum(p - q[0], 0.0) + 1e-12])


def _denominator(
    p: FloatArray, slope: FloatArray, value: float, top: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return q and q₀ for each numerator p (Propositions 3.4, 4.5 and 4.7)."""
    above = p @ top
    scale = above / (above + value - slope @ top)
    return (p - slope) * scale[:, None], value * scale


def _fitted(
    p: FloatArray, slope: FloatArray, value: float, top: FloatArray, at: FloatArray
) -> FloatArray:
    """Return the value at points (m, dim) of each metric that fits a hyperplane: (grid, m)."""
    q, constant = _denominator(p, slope, value, top)
    return np.asarray((p @ at.T) / (q @ at.T + constant[:, None]))


# --- The search of the slope of a metric at a place.
#
# Around a place the metric is linear, or antipodal pairs make it so: for a quadratic φ, ``φ(z+u) −
# φ(z−u) = 2⟨∇φ(z), u⟩`` exactly. The linear search then finds the direction f of the gradient, of
# any signs, but not its length.

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


# --- The search of a direction, one angle after another.

# Where in the bracket a question is asked: in the middle, and elsewhere after each skip. When all
# were skipped the search moves on.
_SHARES = (0.5, 0.4, 0.6, 0.3)


def halving(
    brackets: Brackets,
    i: int,
    tol: float,
    ask: Callable[[float], Query | None],
    *,
    guesses: tuple[float, ...] = (),
) -> Steps:
    """Halve bracket i with one question at a time, until it is no wider than ``tol``.

    ``ask(value)`` is a query whose first side is preferred by whoever is above the value. A tie
    leaves the middle half; a skip asks nearby. Values that are likely ends come first.
    """
    skipped = 0
    while brackets.width(i) > tol and skipped < len(_SHARES):
        value = brackets.low[i] + _SHARES[skipped] * brackets.width(i)
        likely = [guess for guess in guesses if brackets.low[i] < guess < brackets.high[i]]
        if likely and not skipped:
            value = likely[0]
        query = ask(float(value))
        if query is None:
            return
        answer = yield query
        if answer == "first":
            brackets.raise_low(i, value)
        elif answer == "second":
            brackets.cut_high(i, value)
        elif answer == "tie":
            quarter = brackets.width(i) / 4
            brackets.raise_low(i, max(brackets.low[i], value - quarter))
            brackets.cut_high(i, min(brackets.high[i], value + quarter))
        skipped = skipped + 1 if answer == "skip" else 0


def angle_sweep(
    brackets: Brackets,
    tol: float,
    pair: Callable[[FloatArray], Query],
    *,
    start: int = 0,
    size: int | None = None,
    guesses: tuple[float, ...] = (),
) -> Steps:
    """Find the angles of a linear metric, the last one first; one sweep is exact.

    The best θ_j depends only on the later angles: with ``u`` the unit vector along which θ_j moves
    at a trial value, ``⟨a, u⟩ > 0`` exactly when θ_j lies above it. ``pair(u)`` asks about two
    points that differ along u. ``start`` and ``size`` choose some of the brackets.
    """
    n = len(brackets.low) if size is None else size
    for j in range(n - 1, -1, -1):

        def ask(value: float, j: int = j) -> Query:
            return pair(_tangent(brackets.middle[start : start + n], j, value))

        yield from halving(brackets, start + j, tol, ask, guesses=guesses)


def _tangent(angles: FloatArray, j: int, value: float) -> FloatArray:
    """Return the unit vector along which the direction moves when θ_j passes ``value``."""
    moved = angles.copy()
    moved[:j] = np.pi / 2  # earlier angles scale the part that θ_j moves; here they do not matter
    moved[j] = value + np.pi / 2
    return direction(moved)


def sphere_cycles(
    brackets: Brackets,
    tol: float,
    pair: Callable[[FloatArray, FloatArray], Query],
    *,
    start: int = 0,
    size: int | None = None,
    cycles: int = 2,
) -> Steps:
    """Find the best direction angle by angle, again and again (Hiranandani 2021, 4.2).

    ``pair(v, w)`` asks about the points of the sphere in two directions.
    """
    n = len(brackets.low) if size is None else size
    angles = np.full(n, np.pi / 4)
    for _ in range(cycles):
        for j in range(n):
            brackets.reopen(start + j, 0.0, np.pi / 2)

            def query(s: float, t: float, j: int = j) -> Query:
                sides = np.repeat(angles[None], 2, axis=0)
                sides[:, j] = s, t
                first, second = direction(sides)
                return pair(first, second)

            yield from unimodal(brackets, start + j, tol, query)
            angles[j] = brackets.middle[start + j]


# --- Directions as angles.
#
# ``a_1 = cos θ_1``, ``a_i = sin θ_1 ⋯ sin θ_{i−1} cos θ_i``, ``a_q = sin θ_1 ⋯ sin θ_{q−1}``
# (Hiranandani 2021, section 4.2.2): all a are at least 0 when every angle lies in [0, π/2].


def direction(angles: FloatArray) -> FloatArray:
    """Return the unit vectors (..., q) of angles (..., q−1)."""
    sines = np.cumprod(np.sin(angles), axis=-1)
    ones = np.ones((*angles.shape[:-1], 1))
    cosines = np.concatenate([np.cos(angles), ones], axis=-1)
    return np.asarray(np.concatenate([ones, sines], axis=-1) * cosines)


def angles_of(vector: FloatArray) -> FloatArray:
    """Return the angles of a vector of at least two coordinates, none negative."""
    tails = np.sqrt(np.cumsum(vector[::-1] ** 2)[::-1])  # norm of what follows, itself included
    return np.arctan2(tails[1:], vector[:-1])


# --- What slopes at several places say of the parameters of a metric.
#
# Where the gradient is ``Jθ`` for parameters θ and a known matrix J, the slope f (the gradient's
# direction) says ``(I − ffᵀ)Jθ = 0``; all slopes together leave one direction of θ, found as a null
# vector (Hiranandani 2021, sections 5.3 and 6.2, solves ratios of single entries in its place).
#
# For groups each gradient is ``h + Jθ`` with h known, in units of what errors cost: ``(I − ffᵀ)(h +
# Jθ) = 0``. Where gaps hardly cost anything, weights that no violation may have, or very great
# ones, have nearly the same slopes.

_DESCENTS = 300  # accelerated gradient steps
_STILL = 1e-14  # a step this short, relative to the weights, is rounding
_LEAST = 1.0  # times tol: weight of the rows that pull costs of gaps toward 0
_REWEIGHED = 3  # rounds in which sites are weighed by the lengths of their gradients
_SHORT = 1e-3  # of the unit of errors: a shorter gradient is taken for 0
_SLACK = 10.0  # times tol: by how much errors of slopes make weights inadmissible
_GREAT = 10.0  # what gaps may cost in units of errors before smaller costs are tried


def solve_slopes(
    slopes: list[FloatArray],
    knowns: list[FloatArray],
    designs: list[FloatArray],
    admissible: Callable[[FloatArray], FloatArray],
    tol: float,
) -> FloatArray:
    """Return θ (n, size) such that each gradient ``known + design θ`` is along its slope.

    Slopes and knowns are (n, q), designs (q, size); ``admissible`` returns the nearest θ that a
    violation may have. If all knowns are 0 (errors do not count) θ has norm 1.
    """
    free = not any(known.any() for known in knowns)
    wholes = []
    for slope, known, design in zip(slopes, knowns, designs, strict=True):
        whole = np.broadcast_to(design, (len(slope), *design.shape))
        wholes.append(whole if free else np.concatenate([known[:, :, None], whole], axis=2))
    rows = [off_slope(slope, whole) for slope, whole in zip(slopes, wholes, strict=True)]
    found = _null_vectors_by_angle(rows, wholes, 0.0 if free else _LEAST * tol)
    along = sum(
        np.einsum("nq,nqd,nd->n", slope, whole, found)
        for slope, whole in zip(slopes, wholes, strict=True)
    )
    found = np.where(along < 0, -1.0, 1.0)[:, None] * found
    if free:
        return admissible(found)
    # The first entry is the weight of errors, which is not negative: 0 if only gaps count.
    theta = found[:, 1:] / np.maximum(found[:, :1], 1e-12)
    nearest = admissible(theta)
    size = 1.0 + np.linalg.norm(theta, axis=1)
    far = np.linalg.norm(nearest - theta, axis=1) > _SLACK * tol * size
    doubtful = np.flatnonzero(far | (found[:, 0] <= 0) | (size > _GREAT))
    if len(doubtful):  # take the smallest admissible weights that explain the slopes as well
        least = least_squares_within(np.concatenate(rows, axis=1)[doubtful], admissible)
        sites = [(f[doubtful], w[doubtful]) for f, w in zip(slopes, wholes, strict=True)]
        before = np.max([_sine(f, w, nearest[doubtful]) for f, w in sites], axis=0)
        after = np.max([_sine(f, w, least) for f, w in sites], axis=0)
        better = after <= np.maximum(before, tol)
        nearest[doubtful[better]] = least[better]
    return nearest


def _null_vectors_by_angle(
    rows: list[FloatArray], wholes: list[FloatArray], least: float
) -> FloatArray:
    """Return null vectors of rows, each site weighed by the length of its gradient.

    A slope is known to the same angle, however long the gradient is. With ``least`` above 0, what
    rounding leaves open is not taken for a large cost: the solution shifts by less than rounding
    shifts it.
    """
    n, _, size = rows[0].shape
    ridge = [np.broadcast_to(least * np.eye(size)[1:], (n, size - 1, size))] if least else []
    found = null_vectors(np.concatenate([*rows, *ridge], axis=1))
    for _ in range(_REWEIGHED):
        lengths = [np.linalg.norm((w @ found[:, :, None])[:, :, 0], axis=1) for w in wholes]
        lengths += [np.max(lengths, axis=0)] * len(ridge)
        weighed = [
            row / np.maximum(length, _SHORT)[:, None, None]
            for row, length in zip([*rows, *ridge], lengths, strict=True)
        ]
        found = null_vectors(np.concatenate(weighed, axis=1))
    return found


def least_squares_within(
    equations: FloatArray, nearest: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Return θ (n, size) in a convex set that best solves equations (n, r, 1 + size) in (1, θ).

    ``nearest`` is the projection onto the set. By accelerated gradient steps from 0, so that what
    the equations leave open stays near 0.
    """
    left, right = equations[:, :, 1:], -equations[:, :, 0]
    gram = left.swapaxes(1, 2) @ left
    target = (left.swapaxes(1, 2) @ right[:, :, None])[:, :, 0]
    step = 1.0 / (np.linalg.eigvalsh(gram)[:, -1:] + 1e-300)
    theta = ahead = nearest(np.zeros_like(target))
    for n in range(_DESCENTS):
        slope = (gram @ ahead[:, :, None])[:, :, 0] - target
        moved = nearest(ahead - step * slope)
        if np.abs(moved - ahead).max() <= _STILL * (1.0 + np.abs(moved).max()):
            return moved  # a point that a step leaves where it is solves the problem
        ahead = moved + (moved - theta) * n / (n + 3.0)
        theta = moved
    return theta


def _sine(slope: FloatArray, whole: FloatArray, theta: FloatArray) -> FloatArray:
    """Return the sine of the angle between slopes (n, q) and gradients; 1 beyond 90 degrees."""
    gradient = whole[:, :, 0] + (whole[:, :, 1:] @ theta[:, :, None])[:, :, 0]
    along = np.einsum("nq,nq->n", slope, gradient)
    off = np.linalg.norm(gradient - slope * along[:, None], axis=1)
    return np.where(along > 0, off / (np.linalg.norm(gradient, axis=1) + 1e-300), 1.0)


def off_slope(slopes: FloatArray, design: FloatArray) -> FloatArray:
    """Return ``(I − ffᵀ)J``, (n, q, size): the part of J across the slopes f; J where f is 0."""
    along = np.einsum("nq,...qd->nd" if design.ndim == 2 else "nq,nqd->nd", slopes, design)
    return np.asarray(design - slopes[:, :, None] * along[:, None, :])


def null_vectors(rows: FloatArray) -> FloatArray:
    """Return the unit vectors (n, size) that rows (n, r, size) send nearest to 0.

    By inverse iteration, which is some ten times faster than a decomposition of each.
    """
    gram = rows.swapaxes(1, 2) @ rows
    size = gram.shape[-1]
    scale = np.einsum("ndd->n", gram)[:, None, None] + 1e-300
    inverse = np.linalg.inv(gram / scale + 1e-14 * np.eye(size))  # not singular
    vector = np.tile(np.cos(np.arange(size)), (len(rows), 1))  # any start that is not orthogonal
    for _ in range(5):
        vector = (inverse @ vector[:, :, None])[:, :, 0]
        vector /= np.linalg.norm(vector, axis=1, keepdims=True)
    return np.asarray(vector)


# --- The search for the greatest point of a function that rises and then falls.


def unimodal(
    brackets: Brackets,
    i: int,
    tol: float,
    query: Callable[[float, float], Query],
    *,
    n_questions: int = 4,
) -> Steps:
    """Find the greatest point of a unimodal function by halving bracket i.

    ``query(s, t)`` asks whether the point at s is better than that at t. With four questions a
    halving it is Algorithm 3.1 of Hiranandani 2021 as printed; with two (c against d, then e
    against d) the same bracket is found with half the questions or fewer.
    """
    while brackets.width(i) > tol:
        spoken: list[str] = []
        low, high = float(brackets.low[i]), float(brackets.high[i])
        c, d, e = (3 * low + high) / 4, (low + high) / 2, (low + 3 * high) / 4
        if n_questions == 4:
            at = [low, c, d, e, high]
            rises = yield from _rises(at, query, spoken)
            for n in range(3):  # line 7: down then up cannot be; take it as up, left to right
                rises[n] = rises[n] or rises[n + 1]
            falls = next((n for n, up in enumerate(rises) if not up), 4)
            low, high = ((low, d), (low, d), (c, e), (d, high), (d, high))[falls]
        elif (yield from _unless_same(query(c, d), spoken)) == "first":
            high = d
        elif (yield from _unless_same(query(e, d), spoken)) == "first":
            low = d
        else:
            low, high = c, e
        if not {"first", "second"} & set(spoken):  # no preference: no answer set an end
            brackets.low[i], brackets.high[i] = low, high
            continue
        if low > brackets.low[i]:
            brackets.raise_low(i, low)
        if high < brackets.high[i]:
            brackets.cut_high(i, high)


def _unless_same(query: Query, spoken: list[str]) -> Generator[Query, str, str]:
    """Ask, unless there is nothing to choose between."""
    if query.identical:
        return "tie"
    spoken.append((yield query))
    return spoken[-1]


def _rises(
    at: list[float], query: Callable[[float, float], Query], spoken: list[str]
) -> Generator[Query, str, list[bool]]:
    """Ask whether each point is better than the one before it.

    Where the boundary is flat both sides are the same, which is a tie: it leads up to what comes
    next on the left of the peak, and is level with it on the right.
    """
    for left, right in pairwise(at):
        spoken.append((yield query(right, left)))
    rises = []
    for n, answer in enumerate(spoken):
        if answer in ("tie", "skip"):
            before = [a for a in spoken[:n] if a in ("first", "second")]
            after = [a for a in spoken[n:] if a in ("first", "second")]
            rises.append(bool(after) and (after[0] == "first" or not before))
        else:
            rises.append(answer == "first")
    return rises


def swapped(steps: Steps) -> Steps:
    """Run a search for someone who prefers the other way round, or for the lowest point."""
    other = {"first": "second", "second": "first"}
    try:
        query = next(steps)
        while True:
            answer = yield query
            query = steps.send(other.get(answer, answer))
    except StopIteration:
        return
