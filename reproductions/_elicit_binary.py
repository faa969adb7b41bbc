"""Two classes: Tables 3.1, 3.2, A.1 and A.2 of the thesis."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from _elicit_common import Array, ask_all, inner_confusions, largest, order_agreement, vector
from _elicit_data import binary_half, binary_set
from _show import Promise, number, say, show_table

from karat.datasets import LogisticLaw
from karat.elicit import BinaryLinear, BinaryLinearFractional, BinarySpace
from karat.metrics import LinearFractionalMetric, LinearMetric, Metric

__all__ = ["run_linear", "run_ratios"]

# Table A.1, of which Table 3.1 is a part: degrees, true metric and elicited metric as printed.
_LINEAR = (
    (10, (0.98, 0.17), (0.99, 0.17)),
    (30, (0.87, 0.50), (0.87, 0.50)),
    (50, (0.64, 0.77), (0.64, 0.77)),
    (70, (0.34, 0.94), (0.34, 0.94)),
    (200, (-0.94, -0.34), (-0.94, -0.34)),
    (220, (-0.77, -0.64), (-0.77, -0.64)),
    (240, (-0.50, -0.87), (-0.50, -0.87)),
    (260, (-0.17, -0.98), (-0.17, -0.99)),
)


class _Printed(NamedTuple):
    """Coefficients (p11, p00), (q11, q00, q0) as the thesis prints them, with α and σ."""

    p: tuple[float, float]
    q: tuple[float, float, float]
    alpha: float
    sigma: float

    def text(self) -> list[str]:
        return [_short(self.p, self.q), number(self.alpha), number(self.sigma, 3)]

    @property
    def metric(self) -> LinearFractionalMetric:
        return _ratio(np.array(self.p), np.array(self.q))


class _Row(NamedTuple):
    """A line of Table A.2: the truth, and what the thesis elicits on the law and on magic."""

    p: tuple[float, float]
    q: tuple[float, float, float]
    law: _Printed
    magic: _Printed
    known: bool = False  # p11 = 1 is taken as known

    @property
    def truth(self) -> LinearFractionalMetric:
        return _ratio(np.array(self.p), np.array(self.q))


# Table A.2, of which Table 3.2 is the first and the last line. The fourth line's q0 is printed as
# "76" on the law.
_RATIOS = (
    _Row((1.0, 0.0), (0.5, -0.5, 0.5), _Printed((1.0, 0.0), (0.25, -0.75, 0.75), 0.92, 0.03),
         _Printed((1.0, 0.0), (0.25, -0.75, 0.75), 0.90, 0.06), known=True),
    _Row((1.0, 0.0), (0.8, -0.8, 0.5), _Printed((1.0, 0.0), (0.73, -1.09, 0.68), 0.94, 0.02),
         _Printed((1.0, 0.0), (0.72, -1.13, 0.57), 1.06, 0.05), known=True),
    _Row((0.8, 0.2), (0.3, 0.1, 0.3), _Printed((0.86, 0.14), (-0.13, -0.07, 0.60), 0.90, 0.06),
         _Printed((0.23, 0.77), (-0.87, 0.66, 0.76), 0.84, 0.09)),
    _Row((0.6, 0.4), (0.4, 0.2, 0.2), _Printed((0.67, 0.33), (-0.07, -0.44, 0.76), 0.82, 0.05),
         _Printed((0.16, 0.84), (-0.89, 0.25, 0.89), 0.65, 0.05)),
    _Row((0.4, 0.6), (-0.1, -0.2, 0.65), _Printed((0.36, 0.64), (-0.21, -0.25, 0.73), 0.97, 0.01),
         _Printed((0.08, 0.92), (-0.75, 0.12, 0.82), 0.79, 0.08)),
    _Row((0.2, 0.8), (-0.4, -0.2, 0.8), _Printed((0.12, 0.88), (-0.43, 0.002, 0.71), 1.02, 0.006),
         _Printed((0.19, 0.81), (-0.38, -0.13, 0.70), 1.02, 0.004)),
)  # fmt: skip
_COARSE, _FINE = 0.05, 0.005  # radians: the thesis' tolerance, and karat's default


def run_linear() -> list[Promise]:
    """Print Tables 3.1 and A.1; return what is promised."""
    space = _law()
    rows, apart, queries = [], [], []
    for degrees, truth, printed in _LINEAR:
        turn = np.deg2rad(degrees)
        metric = LinearMetric([[np.sin(turn), 0.0], [0.0, np.cos(turn)]])
        ours = ask_all(BinaryLinear(space, strategy="thesis", tol=0.02, orientation="ask"), metric)
        fewer = ask_all(
            BinaryLinear(space, strategy="bisection", tol=0.02, orientation="ask"), metric
        )
        apart.append(largest(ours.weights, printed))
        queries.append(ours.n_queries)
        rows.append(
            [vector(truth), vector(printed), vector(ours.weights, 3), str(ours.n_queries),
             vector(fewer.weights, 3), str(fewer.n_queries)]
        )  # fmt: skip
    say("Weights of true positives and true negatives, from answers about thresholds of a law.\n")
    show_table(
        "Tables 3.1 and A.1: a·TP + b·TN, tolerance 0.02 radians",
        ["true", "thesis", "karat thesis", "questions", "karat bisection", "questions"],
        rows,
    )
    return [Promise("Tables 3.1 and A.1, largest difference", max(apart), 0.01, at_most=True)]


def run_ratios(*, data: bool) -> list[Promise]:
    """Print Tables 3.2 and A.2; return what is promised."""
    say(
        "A ratio is settled by preferences as an order only: many coefficients give the same "
        "order, so coefficients are shown beside the printed ones and not compared. α and σ are "
        "mean and standard deviation of elicited / true on the upper boundary, as in the thesis; τ "
        "is Kendall's with the truth on feasible confusions off the boundary, for the printed "
        "coefficients too. Lines 1 and 2 take p11 = 1 as "
        f"known, as the thesis does. All at a tolerance of {_COARSE} radians, but for the last "
        f"column, at karat's default of {_FINE}.\n"
    )
    promises = [_show_ratios("the law", _law(), [row.law for row in _RATIOS])]
    if data:
        # With gamma rays as positives: with hadrons the denominator of line 2 changes its sign.
        space = binary_half(binary_set("magic"), 1.0, 0).space
        promises.append(_show_ratios("magic", space, [row.magic for row in _RATIOS]))
    return promises


def _show_ratios(name: str, space: BinarySpace, printed: list[_Printed]) -> Promise:
    turns = np.linspace(0.0, np.pi / 2, 1000)
    upper = np.stack([space.at_angle(turn) for turn in turns])
    inner = inner_confusions(space)
    rows, orders = [], []
    for row, theirs in zip(_RATIOS, printed, strict=True):
        mine = _as_printed(space, row, upper)
        line = [_short(row.p, row.q)]
        for coefficients in (theirs, mine):
            order = order_agreement(coefficients.metric, row.truth, inner)
            line += [*coefficients.text(), number(order, 3)]
        for tol in (_COARSE, _FINE):
            found = ask_all(
                BinaryLinearFractional(space, strategy="bisection", tol=tol), row.truth
            )
            orders.append(order_agreement(found.metric, row.truth, inner))
            line.append(f"{orders[-1]:.3f} ({found.n_queries})")
        rows.append(line)
    columns = [
        "true p / q", "thesis p / q", "α", "σ", "τ", "karat thesis p / q", "α", "σ", "τ",
        "bisection τ", f"τ at {_FINE}",
    ]  # fmt: skip
    show_table(f"Tables 3.2 and A.2 on {name}: ratios", columns, rows)
    median = float(np.median(orders[1::2]))
    return Promise(f"Table A.2 on {name}, median τ of bisection", median, 0.995)


def _as_printed(space: BinarySpace, row: _Row, upper: Array) -> _Printed:
    """Elicit as Algorithms 3.1 to 3.3 do, and solve for q by Proposition 3.4."""
    slope = ask_all(BinaryLinear(space, strategy="thesis", tol=_COARSE), row.truth).weights
    p = np.array([1.0, 0.0])
    if not row.known:
        found = ask_all(BinaryLinearFractional(space, strategy="thesis", tol=_COARSE), row.truth)
        p = found.weights[:2]
    best = space.coordinates(space.at_angle(float(np.arctan2(slope[1], slope[0]))))
    total = float(p @ space.top)
    scale = total / (total + float(slope @ (best - space.top)))
    q = np.append((p - slope) * scale, float(slope @ best) * scale)
    truth = row.truth(upper)
    defined = truth > 0
    ratio = _ratio(p, q)(upper)[defined] / truth[defined]
    return _Printed(
        (p[0], p[1]), (q[0], q[1], q[2]), float(ratio.mean()), float(ratio.std())
    )


def _short(p: Iterable[float], q: Iterable[float]) -> str:
    """Return coefficients as text, without the zeros before the points."""
    sides = (" ".join(f"{v + 0.0:.2f}".replace("0.", ".") for v in side) for side in (p, q))
    return " / ".join(sides)


def _ratio(p: Array, q: Array) -> LinearFractionalMetric:
    """Return (p11·TP + p00·TN) / (q11·TP + q00·TN + q0)."""
    return LinearFractionalMetric(np.diag(p[::-1]), np.diag(q[1::-1]), float(q[2]))


def _law() -> BinarySpace:
    return BinarySpace.from_density(LogisticLaw.binary(5.0).proba)
