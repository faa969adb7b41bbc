"""What a point of the ROC curve is worth: weights on false-positive rates, and bands of rates.

A `Weight` W is a function of the false-positive rate with its norms and its integral
``K(v) = ∫₀ᵛ W``, which is all that areas and their limits ask of it. `TprBand` and `TwoWayBand` are
not such functions: the first becomes one with the classes swapped (`TprBand.mirrored`), the second
is a box that has formulas of its own. `AnyWeight` names all three kinds, and `check_weight` and
`scale_of` are what public functions do with an option ``weight=``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from karat._result import Frozen, plain
from karat._sentences import Argument, Expected, Option, Remedy, Shown
from karat._typing import FloatArray
from karat._validate import check_number, check_scores, refuse_option
from karat.exceptions import DataError

# --- A weight on false-positive rates: what a point of the ROC curve is worth there.


def gauss_rule(n: int) -> tuple[FloatArray, FloatArray]:
    """Return Gauss–Legendre nodes and shares on [0, 1], exact for polynomials of degree 2n − 1."""
    nodes, shares = np.polynomial.legendre.leggauss(n)
    return (nodes + 1) / 2, shares / 2


_NODES, _SHARES = gauss_rule(8)
_PANELS = 1024  # of the integral: a jump then costs about 1e-4 of its height
_LOOKED_AT = 4097  # points at which the declared bound is checked


class _Integral:
    """K of a function, by Gauss–Legendre quadrature on panels."""

    def __init__(self, function: Callable[[FloatArray], Any]) -> None:
        self.function = function

    def density(self, v: FloatArray) -> FloatArray:
        return np.asarray(self.function(1.0 - np.asarray(v, dtype=float)), dtype=float)

    @cached_property
    def at_panels(self) -> FloatArray:
        """K at the edges of the panels."""
        return self._summed(self.density)

    @cached_property
    def twice_at_panels(self) -> FloatArray:
        """The integral of K at the edges of the panels."""
        return self._summed(self)

    @staticmethod
    def _summed(function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        nodes = (np.arange(_PANELS)[:, None] + _NODES) / _PANELS
        each = function(nodes.ravel()).reshape(nodes.shape) @ _SHARES / _PANELS
        return np.concatenate([[0.0], np.cumsum(each)])

    def __call__(self, v: FloatArray) -> FloatArray:
        return _up_to(v, self.density, self.at_panels)

    def twice(self, v: FloatArray) -> FloatArray:
        return _up_to(v, self, self.twice_at_panels)


def _up_to(
    v: FloatArray, function: Callable[[FloatArray], FloatArray], at_panels: FloatArray
) -> FloatArray:
    """Return the integral of a function from 0, given those up to the edges of the panels."""
    x = np.asarray(v, dtype=float)
    panel = np.minimum((x * _PANELS).astype(np.intp), _PANELS - 1)
    start, total = panel / _PANELS, at_panels[panel]
    for node, share in zip(_NODES, _SHARES, strict=True):
        total = total + share * (x - start) * function(start + node * (x - start))
    return np.asarray(total)


class Weight(Frozen, ABC):
    """Base of the weights on false-positive rates.

    Users think of false-positive rates u; the formulas are shorter in the true-negative rate
    v = 1 − u, on which Maurer & Pontil (2020) put their weight W. ``cumulative(v)`` is
    ``K(v) = ∫₀ᵛ W``, of which areas and their limits are made.
    """

    __slots__ = ()
    _rule: ClassVar[tuple[FloatArray, FloatArray]] = gauss_rule(8)  # for K on each of its pieces

    @property
    @abstractmethod
    def area(self) -> float:
        """``‖W‖₁``."""

    @property
    @abstractmethod
    def sup(self) -> float:
        """``‖W‖_∞``."""

    @property
    @abstractmethod
    def lipschitz(self) -> float:
        """``‖W‖_Lip``."""

    @property
    @abstractmethod
    def variation(self) -> float:
        """Total variation."""

    @abstractmethod
    def density(self, v: FloatArray) -> FloatArray:
        """Return W at true-negative rates."""

    @abstractmethod
    def cumulative(self, v: FloatArray) -> FloatArray:
        """Return ``K(v) = ∫₀ᵛ W``."""

    def mean_cumulative(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return ``K̄(a, b) = ∫ₐᵇ K / (b − a)``, and ``K(b)`` where a = b."""
        a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        total = np.zeros(np.broadcast_shapes(a.shape, b.shape))
        for low, high in self._pieces():
            start, end = np.clip(a, low, high), np.clip(b, low, high)
            width = end - start
            for node, share in zip(*self._rule, strict=True):
                total += share * width * self.cumulative(start + node * width)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(b > a, total / (b - a), self.cumulative(b))

    def _pieces(self) -> list[tuple[float, float]]:
        """Return intervals of v on which K is smooth."""
        return [(0.0, 1.0)]

    @property
    def chance(self) -> float:
        """Area of a ranking by chance, ``∫ u W(1−u) du``."""
        return float(self.mean_cumulative(np.array(0.0), np.array(1.0)))

    @property
    @abstractmethod
    def title(self) -> str:
        """What the area is called, for summaries and axes."""

    def __call__(self, fpr: Any) -> FloatArray:
        """Return the weight at false-positive rates."""
        return self.density(1.0 - np.asarray(fpr, dtype=float))

    def __repr__(self) -> str:
        options = ", ".join(f"{k}={v!r}" for k, v in self.to_dict().items() if k != "kind")
        return f"{type(self).__name__}({options})"

    def to_dict(self) -> dict[str, Any]:
        """Return the kind of weight and its options."""
        return {"kind": type(self).__name__, **super().to_dict()}


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class FunctionWeight(Weight):
    """A weight given by a function, with its norms declared.

    Limits are only as right as ``sup`` (and ``lipschitz``, where it is used): no program can
    find the bound of a function by looking at it. What is seen at 4,097 points is checked. The
    integral is exact to many digits for a smooth function, and to about 1e-4 of each jump; weights
    with jumps are better given as `PiecewiseLinear`.

    Parameters
    ----------
    function : callable
        Takes an array of false-positive rates and returns weights of at least 0.
    sup : float
        A bound on the weight.
    lipschitz : float, optional
        A bound on its slope; infinite by default.
    variation : float, optional
        A bound on its total variation; by default the Lipschitz bound.
    name : str, optional
        What the area is called.

    Examples
    --------
    >>> import numpy as np
    >>> weight = FunctionWeight(lambda u: np.exp(-10 * u), sup=1.0, lipschitz=10.0)
    >>> round(weight.area, 6)
    0.099995
    """

    function: Callable[[FloatArray], Any]
    sup: float
    lipschitz: float
    variation: float
    name: str
    integral: _Integral = field(compare=False)

    def __init__(
        self,
        function: Callable[[FloatArray], Any],
        *,
        sup: float,
        lipschitz: float = float("inf"),
        variation: float | None = None,
        name: str = "weighted AUC",
    ) -> None:
        if not callable(function):
            refuse_option(function, "function", "a function of false-positive rates")
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "sup", check_number(sup, "sup", at_least=0.0))
        slope = _norm(lipschitz, "lipschitz")
        object.__setattr__(self, "lipschitz", slope)
        varies = slope if variation is None else _norm(variation, "variation")
        object.__setattr__(self, "variation", varies)
        object.__setattr__(self, "name", name)
        self._check()
        object.__setattr__(self, "integral", _Integral(function))
        if self.area <= 0:
            raise DataError(
                Argument("function"),
                " is 0 everywhere",
                Remedy("give some false-positive rate a weight"),
            )

    def _check(self) -> None:
        u = np.linspace(0.0, 1.0, _LOOKED_AT)
        try:
            seen = np.asarray(self.function(u), dtype=float)
        except Exception as error:
            raise DataError(
                "function fails on an array of rates: ",
                error,
            ) from error
        if seen.shape != u.shape:
            raise DataError(
                f"function returns shape {seen.shape} for {u.shape}; expected one weight per rate"
            )
        wrong = ~np.isfinite(seen) | (seen < 0) | (seen > self.sup * (1 + 1e-12))
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise DataError(
                Argument("function"),
                f" is {seen[at]:g} at the false-positive rate {u[at]:.4g}; expected ",
                Expected(
                    "a weight between 0 and the declared ", Option("sup", Shown(f"{self.sup:g}"))
                ),
            )

    @property
    def area(self) -> float:
        """``‖W‖₁``."""
        return float(self.integral.at_panels[-1])

    def density(self, v: FloatArray) -> FloatArray:
        """Return W at true-negative rates."""
        return self.integral.density(v)

    def cumulative(self, v: FloatArray) -> FloatArray:
        """Return ``K(v)``."""
        return self.integral(v)

    def mean_cumulative(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return ``K̄(a, b)``; a difference of integrals loses digits where a is near b."""
        a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
        value = np.array(Weight.mean_cumulative(self, a, b))
        wide = b - a > 1 / _PANELS
        total = self.integral.twice(b[wide]) - self.integral.twice(a[wide])
        value[wide] = total / (b[wide] - a[wide])
        return value

    @property
    def title(self) -> str:
        """What the area is called."""
        return self.name

    def to_dict(self) -> dict[str, Any]:
        """Return the kind of weight and its norms; a function has no text."""
        norms = {"sup": self.sup, "lipschitz": self.lipschitz, "variation": self.variation}
        return {"kind": "FunctionWeight", "name": self.name, **plain(norms)}


def _norm(value: Any, name: str) -> float:
    """Check a bound, which may be infinite."""
    if isinstance(value, float) and value == np.inf:
        return value
    return check_number(value, name, at_least=0.0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Power(Weight):
    """The weight ``(1 − FPR)**exponent``: early false positives matter more, with no cut.

    Parameters
    ----------
    exponent : float
        At least 0; 0 is the AUC, and larger values look at smaller rates.

    Examples
    --------
    >>> Power(9).area
    0.1
    """

    exponent: float

    def __post_init__(self) -> None:
        """Check the exponent."""
        object.__setattr__(self, "exponent", check_number(self.exponent, "exponent", at_least=0.0))

    @property
    def area(self) -> float:
        """``‖W‖₁``."""
        return 1.0 / (self.exponent + 1.0)

    @property
    def sup(self) -> float:
        """``‖W‖_∞``."""
        return 1.0

    @property
    def lipschitz(self) -> float:
        """``‖W‖_Lip``; infinite for exponents between 0 and 1."""
        return self.exponent if self.exponent == 0 or self.exponent >= 1 else float("inf")

    @property
    def variation(self) -> float:
        """Total variation."""
        return 1.0 if self.exponent else 0.0

    def density(self, v: FloatArray) -> FloatArray:
        """Return W at true-negative rates."""
        return np.asarray(v, dtype=float) ** self.exponent

    def cumulative(self, v: FloatArray) -> FloatArray:
        """Return ``K(v)``."""
        return np.asarray(v, dtype=float) ** (self.exponent + 1.0) * self.area

    def mean_cumulative(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return ``K̄(a, b)``; the closed form loses digits where a is near b."""
        a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        p = self.exponent + 2.0
        start, end = a**p, b**p
        with np.errstate(invalid="ignore", divide="ignore"):
            exact = self.area / p * (end - start) / (b - a)
        # Where the power no more than doubles, the quadrature of the base is exact to rounding.
        return np.where(start < end / 2, exact, Weight.mean_cumulative(self, a, b))

    @property
    def title(self) -> str:
        """What the area is called."""
        return f"AUC with the weight (1 − FPR)^{self.exponent:g}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RateBand(Frozen):
    """The rates between ``low`` and ``high``, ``0 ≤ low < high ≤ 1``."""

    low: float
    high: float

    def __post_init__(self) -> None:
        """Check the ends."""
        low = check_number(self.low, "low", at_least=0.0, at_most=1.0)
        high = check_number(self.high, "high", at_least=0.0, at_most=1.0)
        if low >= high:
            refuse_option(
                self.low, "low", f"a rate below high, which is {high:g}; the band is empty"
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def area(self) -> float:
        """Width of the band: the area of a perfect ranking."""
        return self.high - self.low


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TprBand(RateBand):
    """The area right of the ROC curve between two true-positive rates.

    It is ``∫ (1 − roc⁻¹(t)) dt``: the mean true-negative rate over the band, times its width. With
    labels swapped and scores negated it is the partial AUC of `mirrored`.

    Parameters
    ----------
    low, high : float
        The band, ``0 ≤ low < high ≤ 1``.

    Examples
    --------
    >>> TprBand(0.8, 1.0).mirrored()
    FprBand(low=0.0, high=0.19999999999999996)
    """

    # Both orders of ``FprBand(...) & TprBand(...)`` are defined here, so that `FprBand`, of which a
    # `TprBand` is made by `mirrored`, need not know this class.
    def __and__(self, other: FprBand) -> TwoWayBand:
        return TwoWayBand(fpr=other, tpr=self) if isinstance(other, FprBand) else NotImplemented

    def __rand__(self, other: FprBand) -> TwoWayBand:
        return self.__and__(other)

    def mirrored(self) -> FprBand:
        """Return the band of false-negative rates that these true-positive rates are."""
        return FprBand(1.0 - self.high, 1.0 - self.low)

    @property
    def chance(self) -> float:
        """Area of a ranking by chance."""
        return self.mirrored().chance

    @property
    def title(self) -> str:
        """What the area is called."""
        return f"partial AUC (TPR {self.low:g}–{self.high:g})"

    def __repr__(self) -> str:
        return f"TprBand(low={self.low!r}, high={self.high!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return the kind of weight and its options."""
        return {"kind": "TprBand", "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TwoWayBand(Frozen):
    """The area under the ROC curve inside a box, ``FprBand(a, b) & TprBand(c, d)``.

    Parameters
    ----------
    fpr : FprBand
        The false-positive rates of the box.
    tpr : TprBand
        Its true-positive rates.

    Examples
    --------
    >>> from karat.ranking import FprBand, TprBand
    >>> box = FprBand(0, 0.1) & TprBand(0.5, 1)
    >>> box.area, box.chance
    (0.05, 0.0)
    """

    fpr: FprBand
    tpr: RateBand

    def __post_init__(self) -> None:
        if not isinstance(self.fpr, FprBand):
            refuse_option(self.fpr, "fpr", "a band such as FprBand(0, 0.1)")
        if not isinstance(self.tpr, RateBand) or isinstance(self.tpr, FprBand):
            refuse_option(self.tpr, "tpr", "a band such as TprBand(0.5, 1)")

    @property
    def area(self) -> float:
        """Area of a perfect ranking: that of the box."""
        return self.fpr.area * self.tpr.area

    @property
    def chance(self) -> float:
        """Area under the diagonal inside the box."""

        def above(t: float) -> float:  # ∫ (u − t)₊ du over the band of u
            low, high = max(self.fpr.low, t), max(self.fpr.high, t)
            return ((high - t) ** 2 - (low - t) ** 2) / 2

        return above(self.tpr.low) - above(self.tpr.high)

    @property
    def title(self) -> str:
        """What the area is called."""
        return (
            f"two-way partial AUC (FPR {self.fpr.low:g}–{self.fpr.high:g}, "
            f"TPR {self.tpr.low:g}–{self.tpr.high:g})"
        )

    def __repr__(self) -> str:
        return f"{self.fpr!r} & {self.tpr!r}"

    def to_dict(self) -> dict[str, Any]:
        """Return the kind of weight and its options."""
        return {"kind": "TwoWayBand", "fpr": self.fpr.to_dict(), "tpr": self.tpr.to_dict()}


# --- The weight of the partial AUC.


class Sandwich(NamedTuple):
    """Two weights without jumps: one below a step and one above it."""

    below: Weight
    above: Weight


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FprBand(RateBand, Weight):
    """Weight 1 at false-positive rates between ``low`` and ``high``: the partial AUC.

    ``FprBand(0, 0.1) & TprBand(0.8, 1)`` is the two-way partial AUC.

    Parameters
    ----------
    low, high : float
        The band, ``0 ≤ low < high ≤ 1``.

    Examples
    --------
    >>> band = FprBand(0, 0.1)
    >>> band.area, round(band.chance, 4)
    (0.1, 0.005)
    """

    _rule: ClassVar[tuple[FloatArray, FloatArray]] = gauss_rule(1)  # K is straight

    @property
    def sup(self) -> float:
        """``‖W‖_∞``."""
        return 1.0

    @property
    def lipschitz(self) -> float:
        """``‖W‖_Lip``; infinite unless the band is everything."""
        return 0.0 if self.variation == 0 else float("inf")

    @property
    def variation(self) -> float:
        """Total variation: 1 for each end inside [0, 1]."""
        return float((self.low > 0) + (self.high < 1))

    def density(self, v: FloatArray) -> FloatArray:
        """Return W at true-negative rates."""
        x = np.asarray(v, dtype=float)
        return ((x >= 1.0 - self.high) & (x <= 1.0 - self.low)).astype(float)

    def cumulative(self, v: FloatArray) -> FloatArray:
        """Return ``K(v)``."""
        return np.clip(np.asarray(v, dtype=float) - (1.0 - self.high), 0.0, self.area)

    def _pieces(self) -> list[tuple[float, float]]:
        ends = sorted({0.0, 1.0 - self.high, 1.0 - self.low, 1.0})
        return list(pairwise(ends))

    def sandwich(self, width: float = 0.02) -> Sandwich:
        """Return two weights without jumps, one below the band and one above it.

        Each end of the band inside (0, 1) becomes a ramp. The area of ``below`` is at most that of
        the band, and the area of ``above`` at least (Maurer & Pontil 2020, remark 2
        to Theorem 2).

        Parameters
        ----------
        width : float, default 0.02
            Width of the ramps; where there is less room, they are narrower.
        """
        width = check_number(width, "width", at_least=0.0)
        if width == 0:
            refuse_option(width, "width", "a number above 0: a weight without jumps needs ramps")
        sides = (self.low > 0) + (self.high < 1)
        inner = min(width, self.area / sides) if sides else width
        return Sandwich(self._ramped(inner, inside=True), self._ramped(width, inside=False))

    def _ramped(self, width: float, *, inside: bool) -> PiecewiseLinear:
        knots: list[tuple[float, float]] = []
        if self.low > 0:
            foot = self.low if inside else max(self.low - width, 0.0)
            top = self.low + width if inside else self.low
            knots += [(foot, 0.0 if foot > 0 else 1 - (top - foot) / width), (top, 1.0)]
        else:
            knots.append((0.0, 1.0))
        if self.high < 1:
            top = self.high - width if inside else self.high
            foot = self.high if inside else min(self.high + width, 1.0)
            knots += [(top, 1.0), (foot, 0.0 if foot < 1 else 1 - (foot - top) / width)]
        else:
            knots.append((1.0, 1.0))
        fpr, values = zip(*knots, strict=True)
        return PiecewiseLinear(np.maximum.accumulate(fpr), values)

    @property
    def title(self) -> str:
        """What the area is called."""
        return f"partial AUC (FPR {self.low:g}–{self.high:g})"


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class PiecewiseLinear(Weight):
    """A weight that is linear between knots, and 0 outside them.

    Parameters
    ----------
    fpr : column (knots,)
        False-positive rates in ascending order; one that is named twice is a jump.
    values : column (knots,)
        The weight at each knot, at least 0.

    Examples
    --------
    Full weight up to a false-positive rate of 5 %, then less, none from 10 % on:

    >>> weight = PiecewiseLinear([0, 0.05, 0.1], [1, 1, 0])
    >>> weight([0.0, 0.075, 0.5]).round(4).tolist()
    [1.0, 0.5, 0.0]
    >>> round(weight.area, 4), round(weight.lipschitz, 4)
    (0.075, 20.0)
    """

    fpr: FloatArray
    values: FloatArray
    _rule: ClassVar[tuple[FloatArray, FloatArray]] = gauss_rule(2)  # K is a parabola

    def __init__(self, fpr: Any, values: Any) -> None:
        knots, heights = check_scores(fpr, "fpr"), check_scores(values, "values")
        if len(knots) != len(heights) or len(knots) < 2:
            raise DataError(
                Argument("fpr"),
                f" has {len(knots)} knots and values has {len(heights)}; expected ",
                Expected("as many values as knots, and at least two"),
            )
        if (np.diff(knots) < 0).any() or knots[0] < 0 or knots[-1] > 1 or knots[0] == knots[-1]:
            raise DataError(
                Argument("fpr"),
                f" is {knots.tolist()}; expected ",
                Expected("false-positive rates between 0 and 1 in ascending order, not all equal"),
            )
        if (heights < 0).any() or not np.any((heights[1:] + heights[:-1]) * np.diff(knots)):
            raise DataError(
                Argument("values"),
                f" is {heights.tolist()}; expected ",
                Expected("weights of at least 0, and some above 0 between two knots"),
            )
        object.__setattr__(self, "fpr", knots)
        object.__setattr__(self, "values", heights)
        Weight.__post_init__(self)

    @property
    def _knots(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Knots and weights in ascending v, and K at the knots."""
        v, w = 1.0 - self.fpr[::-1], self.values[::-1]
        steps = np.diff(v) * (w[1:] + w[:-1]) / 2
        return v, w, np.concatenate([[0.0], np.cumsum(steps)])

    def _located(self, x: FloatArray) -> tuple[FloatArray, ...]:
        """Return how far x is into its piece, and start, slope and K of that piece."""
        v, w, k = self._knots
        piece = np.clip(np.searchsorted(v, x, side="right") - 1, 0, len(v) - 2)
        width = np.diff(v)
        slope = np.divide(np.diff(w), width, out=np.zeros_like(width), where=width > 0)
        return np.clip(x, v[0], v[-1]) - v[piece], w[piece], slope[piece], k[piece]

    def density(self, v: FloatArray) -> FloatArray:
        """Return W at true-negative rates."""
        x = np.asarray(v, dtype=float)
        into, start, slope, _ = self._located(x)
        knots = self._knots[0]
        return np.where((x < knots[0]) | (x > knots[-1]), 0.0, start + slope * into)

    def cumulative(self, v: FloatArray) -> FloatArray:
        """Return ``K(v) = ∫₀ᵛ W``."""
        into, start, slope, k = self._located(np.asarray(v, dtype=float))
        return np.asarray(k + into * (start + slope * into / 2))

    def _pieces(self) -> list[tuple[float, float]]:
        ends = np.unique([0.0, 1.0, *self._knots[0].tolist()]).tolist()
        return list(pairwise(ends))

    @property
    def _closed(self) -> FloatArray:
        """The weights from u = 0 to 1, with 0 outside the knots."""
        before = [0.0] if self.fpr[0] > 0 else []
        after = [0.0] if self.fpr[-1] < 1 else []
        return np.array([*before, *self.values.tolist(), *after])

    @property
    def area(self) -> float:
        """``‖W‖₁``."""
        return float(self._knots[2][-1])

    @property
    def sup(self) -> float:
        """``‖W‖_∞``."""
        return float(self.values.max())

    @property
    def variation(self) -> float:
        """Total variation."""
        return float(np.abs(np.diff(self._closed)).sum())

    @property
    def lipschitz(self) -> float:
        """``‖W‖_Lip``."""
        width, rise = np.diff(self.fpr), np.abs(np.diff(self.values))
        jumps = rise[width == 0].any()
        ends = (self.fpr[0] > 0 and self.values[0] > 0) or (
            self.fpr[-1] < 1 and self.values[-1] > 0
        )
        if jumps or ends:
            return float("inf")
        return float((rise[width > 0] / width[width > 0]).max())

    @property
    def title(self) -> str:
        """What the area is called."""
        return "weighted AUC"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Uniform(Weight):
    """The same weight at every false-positive rate: the AUC.

    Examples
    --------
    >>> Uniform().area, Uniform().chance
    (1.0, 0.5)
    """

    @property
    def area(self) -> float:
        """``‖W‖₁``."""
        return 1.0

    @property
    def sup(self) -> float:
        """``‖W‖_∞``."""
        return 1.0

    @property
    def lipschitz(self) -> float:
        """``‖W‖_Lip``."""
        return 0.0

    @property
    def variation(self) -> float:
        """Total variation."""
        return 0.0

    def density(self, v: FloatArray) -> FloatArray:
        """Return W at true-negative rates."""
        return np.ones_like(np.asarray(v, dtype=float))

    def cumulative(self, v: FloatArray) -> FloatArray:
        """Return ``K(v) = v``."""
        return np.asarray(v, dtype=float)

    def mean_cumulative(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return ``K̄(a, b) = (a + b) / 2``."""
        return (np.asarray(a, dtype=float) + b) / 2

    @property
    def title(self) -> str:
        """What the area is called."""
        return "AUC"


# --- Every kind of weight that an area can have, as the option ``weight=`` of public functions.

AnyWeight = Weight | TprBand | TwoWayBand


def check_weight(weight: Any) -> AnyWeight:
    """Check the option ``weight=`` of an area."""
    if not isinstance(weight, Weight | TprBand | TwoWayBand):
        refuse_option(
            weight,
            "weight",
            "FunctionWeight(function, sup=...), which declares the bound of a function"
            if callable(weight) and not isinstance(weight, type)
            else "Uniform(), FprBand(0, 0.1) or another weight of karat.ranking",
        )
    return weight


def scale_of(weight: AnyWeight, normalize: str) -> tuple[float, float]:
    """Return the factor and the shift that turn a raw area into one on the scale ``normalize``."""
    if normalize == "raw":
        return 1.0, 0.0
    if normalize == "mean":
        return 1.0 / weight.area, 0.0
    above_chance = weight.area - weight.chance
    if above_chance <= 1e-12 * weight.area:  # rounding of two equal areas
        refuse_option(
            normalize,
            "normalize",
            f"'raw' or 'mean', since {weight!r} has no room above the diagonal and 'mcclish' "
            "compares with chance",
        )
    factor = 0.5 / above_chance
    return factor, 0.5 - factor * weight.chance
