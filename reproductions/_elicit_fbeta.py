"""Corollary A.1 of Hiranandani 2021: Algorithm 3.1 alone finds β of an F-measure."""

import numpy as np
from _elicit_binary import ratio_metric, with_known_numerator
from _elicit_common import ask_all, inner_confusions, order_agreement
from _elicit_data import binary_set, model_half
from _show import Promise, number, say, show_table

from karat.datasets import LogisticLaw
from karat.elicit import BinarySpace, Elicitation
from karat.metrics import f_beta

__all__ = ["run_f_beta"]

_BETAS = (0.5, 1.0, 2.0)
_TOLERANCES = (0.05, 0.005)


def run_f_beta(*, data: bool, quick: bool) -> list[Promise]:
    """Print β as found from the slope at the optimum; return what is promised."""
    spaces = {"the law": BinarySpace.from_density(LogisticLaw.binary(5.0).proba)}
    if data and not quick:
        spaces["magic"] = model_half(binary_set("magic"), 1.0, 0).space.smoothed()
    rows, apart, orders = [], [], []
    for name, space in spaces.items():
        inner = inner_confusions(space)
        for beta in _BETAS:
            truth = f_beta(beta)
            line = [name, f"{beta:g}"]
            for tol in _TOLERANCES:
                procedure = Elicitation(space, strategy="published", tol=tol)
                found = ask_all(procedure, truth)
                guess = _beta(space, float(np.arctan2(found.weights[1], found.weights[0])))
                order = order_agreement(f_beta(guess), truth, inner)
                line += [number(guess, 3), number(order, 4), str(found.n_queries)]
            apart.append(abs(guess / beta - 1.0))
            orders.append(order)
            printed = ratio_metric(with_known_numerator(space, found.weights, (1.0, 0.0)))
            rows.append([*line, number(order_agreement(printed, truth, inner), 4)])
    say(
        "F_β with β unknown, by Algorithm 3.1 alone. The proof of Corollary A.1 puts p11 = 1 into "
        "Proposition 3.4, which takes the length of the slope for known; no answer tells it. What "
        "it gives ranks as F_β does (last column) but is no multiple of it (σ > 0 in lines 1 and 2 "
        "of Table A.2). Since β is all that is unknown, F_β itself can be had: at its optimum the "
        "threshold is s = m00/(m11 + m00) = F_β/(1 + β²), and β² = (TP/s − TP + TN − (1 − ζ))/ζ.\n"
    )
    columns = [c for tol in _TOLERANCES for c in (f"β̂ at {tol:g}", "τ", "questions")]
    title = "Corollary A.1: β from the slope at the optimum, and Kendall's τ with the truth"
    show_table(title, ["on", "true β", *columns, "τ, Proposition 3.4"], rows)
    fine = _TOLERANCES[-1]
    return [
        Promise(
            f"Corollary A.1, greatest error of β at {fine:g}, relative", max(apart), 0.02, True
        ),
        Promise(f"Corollary A.1, least τ at {fine:g}", min(orders), 0.995),
    ]


def _beta(space: BinarySpace, angle: float) -> float:
    """Return the β whose F-measure is best at an angle."""
    tp, tn = space.coordinates(space.at_angle(angle))
    threshold = np.sin(angle) / (np.sin(angle) + np.cos(angle))
    positive = float(space.prior[1])
    square = (tp / threshold - tp + tn - (1.0 - positive)) / positive
    return float(np.sqrt(max(square, 1e-12)))
