"""How wide the limits are: Theorem 2 of Maurer & Pontil (2020) and karat."""

import math

import numpy as np
from _show import Promise, say, show_table

from karat.ranking import FprBand, Uniform, Weight, weighted_auc

__all__ = ["run_widths"]

_SHARE, _DELTA, _SHIFT = 0.1, 0.05, 1.5
_WEIGHTS: tuple[tuple[str, Weight], ...] = (("AUC", Uniform()), ("FPR ≤ .1", FprBand(0, 0.1)))
_WANTED = {"AUC": 0.0065, "FPR ≤ .1": 0.0021}  # at most, at n = 10^6


def run_widths(*, quick: bool) -> list[Promise]:
    """Print half-widths over n; return what is promised."""
    say(
        "Half-widths of 95 % limits with 10 % positives (scores normal, positives 1.5 higher). "
        "'auto' is the default, distribution-free through pairs of rows; 'band' is the worst case "
        "inside two DKW bands; 'closed form' bounds it for any scores; Theorem 2 needs no law "
        "either. For the step, Theorem 2 is that of the ramp below it. An area cannot exceed 1 "
        "(AUC) or .1 (FPR ≤ .1).\n"
    )
    rng = np.random.default_rng(0)
    rows, closed, band, loosest = [], {}, {}, {}
    for power in range(3, 7 if quick else 8):
        n = 10**power
        y = np.arange(n) < round(_SHARE * n)
        score = rng.normal(size=n)
        score[y] += _SHIFT
        for name, weight in _WEIGHTS:
            r = weighted_auc(y, score, weight=weight, limits="dkw", confidence=1 - _DELTA)
            auto = weighted_auc(y, score, weight=weight, confidence=1 - _DELTA)
            asymptotic = weighted_auc(y, score, weight=weight, limits="delong")
            closed[name, power], band[name, power] = r.half_width, (r.upper - r.lower) / 2
            loosest[name, power] = theorem = _theorem_2(weight, n)
            rows.append(
                [f"10^{power}", name, _short(theorem), _short(r.half_width),
                 _short(band[name, power]), _short((auto.upper - auto.lower) / 2),
                 _short((asymptotic.upper - asymptotic.lower) / 2),
                 f"{theorem / r.half_width:,.0f}"]
            )  # fmt: skip
    columns = [
        "n",
        "area",
        "Theorem 2",
        "closed form",
        "band",
        "auto",
        "DeLong",
        "Theorem 2 / closed form",
    ]
    show_table("Half-widths, 10 % positives", columns, rows)
    return _promises(closed, band, loosest)


def _promises(closed: dict, band: dict, loosest: dict) -> list[Promise]:
    found = [
        Promise(f"half-width at n = 10^6 in thousandths, {name}, {form}", 1000 * widths[name, 6],
                1000 * most, at_most=True)
        for name, most in _WANTED.items()
        for form, widths in (("closed form", closed), ("band", band))
    ]  # fmt: skip
    exceeds = max(band[key] / closed[key] for key in closed)
    return [
        *found,
        Promise("band form over closed form, largest", exceeds, 1.0, at_most=True),
        Promise("Theorem 2 for the AUC at n = 10^3 (an area is at most 1)", loosest["AUC", 3], 84),
        Promise("Theorem 2 for the AUC at n = 10^5 (an area is at most 1)", loosest["AUC", 5], 8.4),
        Promise(
            "rows before Theorem 2 says anything of the AUC, in millions",
            (9 / _SHARE**2) ** 2 * 2 * math.log(4 / _DELTA) / 1e6,
            7,
        ),
    ]


def _theorem_2(weight: Weight, n: int) -> float:
    """Return the bound of Theorem 2; for a step, that of the ramp that karat would take."""
    root = math.sqrt(2 * math.log(4 / _DELTA) / n)
    if isinstance(weight, FprBand):
        weight = weight.sandwich(math.sqrt(2 * root / (_SHARE**2 * weight.variation))).below
    return (weight.lipschitz + 9 * weight.sup) / _SHARE**2 * root


def _short(value: float) -> str:
    return f"{value:.3g}"
