"""Two classes, a law known exactly and magic: Tables 3.1, 3.2, A.1 and A.2 of Hiranandani 2021."""

import numpy as np
from _elicit_common import (
    Array,
    ask_all,
    inner_confusions,
    largest,
    order_agreement,
    vector,
)
from _elicit_data import binary_set, model_half
from _elicit_printed import LINEAR, RATIOS, Ratio
from _show import Promise, number, say, show_table

from karat.datasets import LogisticLaw
from karat.elicit import BinarySpace, Elicitation
from karat.metrics import LinearFractionalMetric, LinearMetric

__all__ = [
    "elicit_as_printed",
    "ratio_metric",
    "run_linear",
    "run_ratios",
    "upper_boundary",
    "with_known_numerator",
]

_COARSE, _FINE = 0.05, 0.005  # radians: the thesis' tolerance for ratios, and karat's default


def run_linear() -> list[Promise]:
    """Print Tables 3.1 and A.1; return what is promised."""
    space = BinarySpace.from_density(LogisticLaw.binary(5.0).proba)
    rows, apart = [], []
    for degrees, truth, printed in LINEAR:
        turn = np.deg2rad(degrees)
        metric = LinearMetric([[np.sin(turn), 0.0], [0.0, np.cos(turn)]])
        line = [vector(truth), vector(printed)]
        for strategy in ("bisection", "published"):
            found = ask_all(
                Elicitation(space, strategy=strategy, tol=0.02, orientation="ask"), metric
            )
            line[2:2] = [vector(found.weights, 3), str(found.n_queries)]
        apart.append(largest(found.weights, printed))
        rows.append(line)
    say("Weights of true positives and true negatives, from answers about thresholds of a law.\n")
    show_table(
        "Tables 3.1 and A.1: a·TP + b·TN, tolerance 0.02 radians",
        ["true", "published", "karat published", "questions", "karat bisection", "questions"],
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
        "coefficients too. Lines 1 and 2 take p11 = 1 as known, as the thesis does. The tolerance "
        f"is {_COARSE} radians, but for the last column, at karat's default of {_FINE}; the number "
        "of questions is in parentheses (the thesis asks 40).\n"
    )
    law = BinarySpace.from_density(LogisticLaw.binary(5.0).proba)
    promises = [_show_ratios("the law", law, [row[1] for row in RATIOS])]
    if data:
        # With gamma rays as positives: with hadrons the denominator of line 2 changes its sign.
        space = model_half(binary_set("magic"), 1.0, 0).space
        promises.append(_show_ratios("magic", space, [row[2] for row in RATIOS]))
    return promises


def _show_ratios(name: str, space: BinarySpace, printed: list[Ratio]) -> Promise:
    inner = inner_confusions(space)
    rows, orders = [], []
    for (true, *_), theirs in zip(RATIOS, printed, strict=True):
        truth = ratio_metric(true)
        line = [_text(true)]
        for ratio in (theirs, elicit_as_printed(space, true)):
            order = order_agreement(ratio_metric(ratio), truth, inner)
            line += [_text(ratio), number(ratio.alpha), number(ratio.sigma, 3), number(order, 3)]
        for tol in (_COARSE, _FINE):
            found = ask_all(Elicitation(space, "ratio", strategy="bisection", tol=tol), truth)
            orders.append(order_agreement(found.metric, truth, inner))
            line.append(f"{orders[-1]:.3f} ({found.n_queries})")
        rows.append(line)
    columns = [
        "true p / q", "thesis p / q", "α", "σ", "τ", "karat published p / q", "α", "σ", "τ",
        "bisection τ", f"τ at {_FINE}",
    ]  # fmt: skip
    show_table(f"Tables 3.2 and A.2 on {name}", columns, rows)
    median = float(np.median(orders[1::2]))
    return Promise(f"Table A.2 on {name}, median τ of bisection at {_FINE}", median, 0.995)


def elicit_as_printed(space: BinarySpace, true: Ratio) -> Ratio:
    """Elicit as Algorithms 3.1 to 3.3 do, and solve for q by Proposition 3.4."""
    truth = ratio_metric(true)
    slope = ask_all(Elicitation(space, strategy="published", tol=_COARSE), truth).weights
    p = true.p
    if p != (1.0, 0.0):
        found = ask_all(Elicitation(space, "ratio", strategy="published", tol=_COARSE), truth)
        p = (float(found.weights[0]), float(found.weights[1]))
    elicited = with_known_numerator(space, slope, p)
    upper = upper_boundary(space)
    values = np.asarray(truth(upper))
    defined = values > 0
    ratio = np.asarray(ratio_metric(elicited)(upper))[defined] / values[defined]
    return elicited._replace(alpha=float(ratio.mean()), sigma=float(ratio.std()))


def with_known_numerator(space: BinarySpace, slope: Array, p: tuple[float, float]) -> Ratio:
    """Return the ratio with numerator p and a slope at its optimum, by Proposition 3.4."""
    best = space.coordinates(space.at_angle(float(np.arctan2(slope[1], slope[0]))))
    total = float(np.array(p) @ space.top)
    scale = total / (total + float(slope @ (best - space.top)))
    q11, q00 = (np.array(p) - slope) * scale
    return Ratio(p, (float(q11), float(q00), float(slope @ best) * scale))


def upper_boundary(space: BinarySpace) -> Array:
    """Return the confusions of 1000 angles, as Algorithm 3.3 takes them."""
    return np.stack([space.at_angle(turn) for turn in np.linspace(0.0, np.pi / 2, 1000)])


def ratio_metric(ratio: Ratio) -> LinearFractionalMetric:
    """Return (p11·TP + p00·TN) / (q11·TP + q00·TN + q0)."""
    q11, q00, q0 = ratio.q
    return LinearFractionalMetric(np.diag(ratio.p[::-1]), np.diag([q00, q11]), q0)


def _text(ratio: Ratio) -> str:
    return f"{vector(ratio.p)} / {vector(ratio.q)}"
