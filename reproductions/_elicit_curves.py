"""Curves of true and elicited ratios: Hiranandani 2021, Figures 3.3, A.2, A.3, B.4 and B.5."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from _elicit_binary import elicit_as_printed, ratio_metric, upper_boundary
from _elicit_common import Array, ask_all, vector
from _elicit_data import binary_set, model_half
from _elicit_multiclass import elicited_ratio_of_classes
from _elicit_printed import MULTIPLES, RATIOS, RATIOS_OF_CLASSES
from _show import Promise, number, say, show_table

from karat.datasets import LogisticLaw
from karat.elicit import BinarySpace, Elicitation
from karat.metrics.base import MetricBase

__all__ = ["Curve", "binary_curves", "curves_of_classes", "run_curves"]

_FINE = 0.005
_POINTS = 1000
# In Figure A.2 both maxima coincide in all of six metrics; in Figure A.3, in four.
_COINCIDE = {"the law": 6, "magic": 4}
_SAME = 0.05  # radians between maxima that coincide: the thesis' tolerance


class Curve(NamedTuple):
    """Values of a true metric and of elicited ones along confusions in a fixed order."""

    title: str
    along: str
    at: Array
    truth: Array
    elicited: dict[str, Array]

    def best(self, name: str | None = None) -> int:
        """Return where the true metric, or an elicited one, is greatest."""
        return int(np.argmax(self.truth if name is None else self.elicited[name]))

    def loss(self, name: str) -> float:
        """Return by how much the truth falls short where an elicited metric is greatest."""
        return float(self.truth[self.best()] - self.truth[self.best(name)])


def run_curves(*, data: bool, quick: bool) -> list[Promise]:
    """Print where true and elicited ratios are greatest; return what is promised."""
    say(
        "Where ratios are greatest. The thesis draws true and elicited values over the upper "
        "boundary, the one a multiple of the other. Answers settle the order only, and a ratio of "
        "the same order may be any rising function of the true one; so the curves are compared by "
        "what a rising function leaves as it is: where they are greatest, what is lost there, and "
        "Kendall's τ. --figures draws them.\n"
    )
    promises = []
    for name in ("the law", "magic") if data and not quick else ("the law",):
        promises += _show_binary(name)
    return promises + ([] if quick else _show_classes())


def binary_curves(name: str) -> Iterator[Curve]:
    """Return the curves of Figure A.2 (the law) or A.3 (magic)."""
    space = BinarySpace.from_density(LogisticLaw.binary(5.0).proba)
    if name == "magic":
        space = model_half(binary_set("magic"), 1.0, 0).space
    upper = upper_boundary(space)
    for true, *printed in RATIOS:
        truth = ratio_metric(true)
        procedure = Elicitation(space, "ratio", strategy="bisection", tol=_FINE)
        found: dict[str, MetricBase] = {
            "thesis": ratio_metric(printed[int(name == "magic")]),
            "published": ratio_metric(elicit_as_printed(space, true)),
            "bisection": ask_all(procedure, truth).metric,
        }
        values = {title: np.asarray(metric(upper)) for title, metric in found.items()}
        yield Curve(
            f"{vector(true.p)} / {vector(true.q)}",
            "θ",
            np.linspace(0.0, np.pi / 2, len(upper)),
            np.asarray(truth(upper)),
            values,
        )


def _show_binary(name: str) -> list[Promise]:
    figure = "3.3 and A.3" if name == "magic" else "3.3 and A.2"
    rows, losses = [], []
    same = dict.fromkeys(("thesis", "published", "bisection"), 0)
    for curve in binary_curves(name):
        line = [curve.title, number(float(curve.at[curve.best()]))]
        for title in same:
            apart = abs(curve.at[curve.best(title)] - curve.at[curve.best()])
            # On a sample several angles have the same confusion.
            same[title] += bool(apart <= _SAME or curve.loss(title) <= 0)
            line += [number(float(curve.at[curve.best(title)])), f"{curve.loss(title):.1g}"]
        losses.append(curve.loss("bisection"))
        rows.append(line)
    counts = [f"{n} of 6" for n in same.values()]
    rows.append([f"coincide (thesis: {_COINCIDE[name]} of 6)", ""])
    rows[-1] += [cell for count in counts for cell in (count, "")]
    show_table(
        f"Figures {figure}, on {name}: θ where a ratio is greatest, and what the truth loses there",
        ["true p / q", "true θ", "thesis' coefficients", "loss", "karat published", "loss",
         "bisection", "loss"], rows,
    )  # fmt: skip
    return [
        Promise(f"Figure {figure[-3:]}, maxima that coincide, bisection", same["bisection"], 6),
        Promise(f"Figure {figure[-3:]}, greatest loss, bisection", max(losses), 0.001, True),
    ]


def curves_of_classes(strategies: tuple[str, ...] = ("published", "bisection")) -> list[Curve]:
    """Return the curves of Figures B.4 and B.5, by the value of the true metric."""
    curves = []
    for line in RATIOS_OF_CLASSES:
        found = {name: elicited_ratio_of_classes(line, name) for name in strategies}
        any_ = found[strategies[0]]
        ways = np.abs(np.random.default_rng(0).normal(size=(_POINTS, any_.space.dim)))
        points = any_.space.boundary(any_.space.sign * ways)
        truth = np.asarray(any_.truth(points))
        order = np.argsort(truth)
        values = {name: np.asarray(each.metric(points))[order] for name, each in found.items()}
        at = np.arange(_POINTS, dtype=float)
        curves.append(Curve(line[0], "classifiers, by true value", at, truth[order], values))
    return curves


def _show_classes() -> list[Promise]:
    rows, losses = [], []
    for curve, (alpha, sigma) in zip(curves_of_classes(), MULTIPLES, strict=True):
        line = [curve.title, f"{alpha:g}, {sigma:g}", number(sigma / alpha, 3)]
        for name in ("published", "bisection"):
            line += [number(_spread(curve.elicited[name] / curve.truth), 3)]
            line += [f"{curve.loss(name):.1g}"]
        losses.append(curve.loss("bisection") / float(np.ptp(curve.truth)))
        rows.append(line)
    flat = max(_spread_on_the_ball(line) for line in RATIOS_OF_CLASSES if line[0] == "B.6")
    say(
        "Figures B.4 and B.5, on 1,000 classifiers that are best for random weights. σ/α is that "
        "of elicited / true, 0 for a multiple. The thesis takes σ for Table B.6 and Figure B.5 on "
        "the ball of its search, which is so small that the true metric itself varies by "
        f"{100 * flat:.1f} % there, and any other would be a multiple of it too. The lower row of "
        "Figure B.5, for four classes, cannot be repeated: its metrics are not printed, nor is the "
        "first line of Table B.6 legible.\n"
    )
    show_table(
        "Figures B.4 and B.5: spread of elicited / true, and what the truth loses at the maximum",
        ["table", "thesis α, σ", "thesis σ/α", "published σ/α", "loss", "bisection σ/α", "loss"],
        rows,
    )
    middle = float(np.median(losses))
    return [Promise("Figures B.4 and B.5, median loss / range, bisection", middle, 0.01, True)]


def _spread(values: Array) -> float:
    """Return the standard deviation as a share of the mean."""
    return float(abs(values.std() / values.mean()))


def _spread_on_the_ball(line: tuple[str, tuple[float, ...], tuple[float, ...], float]) -> float:
    """Return how much a true ratio varies where errors are fewer than by guessing, in the ball."""
    found = elicited_ratio_of_classes(line, "bisection")
    ways = np.abs(np.random.default_rng(0).normal(size=(_POINTS, found.space.dim)))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    points = found.space.confusion(found.space.center - found.space.radius * ways)
    return _spread(np.asarray(found.truth(points)))
