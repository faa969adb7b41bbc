"""Any function of the false-positive rate, with the norms that its owner declares."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from karat._frozen import plain
from karat._typing import FloatArray
from karat._validate import check_number, refuse_option
from karat.exceptions import DataError
from karat.ranking.weights._weight import Weight, gauss_rule

__all__ = ["FunctionWeight"]

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


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class FunctionWeight(Weight):
    """A weight given by a function, with its norms declared.

    A certificate is only as right as ``sup`` (and ``lipschitz``, where it is used): no program can
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
            raise DataError("function is 0 everywhere; give some false-positive rate a weight")

    def _check(self) -> None:
        u = np.linspace(0.0, 1.0, _LOOKED_AT)
        try:
            seen = np.asarray(self.function(u), dtype=float)
        except Exception as error:
            raise DataError(f"function fails on an array of rates: {error}") from error
        if seen.shape != u.shape:
            raise DataError(
                f"function returns shape {seen.shape} for {u.shape}; expected one weight per rate"
            )
        wrong = ~np.isfinite(seen) | (seen < 0) | (seen > self.sup * (1 + 1e-12))
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise DataError(
                f"function is {seen[at]:g} at the false-positive rate {u[at]:.4g}; expected a "
                f"weight between 0 and the declared sup={self.sup:g}"
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
