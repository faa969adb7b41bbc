"""Drawings of Hiranandani 2021: Figures 3.3, 8.1, A.1 to A.3, B.4 and B.5, as PNG files."""

from pathlib import Path
from typing import Any

import numpy as np
from _elicit_common import Array
from _elicit_curves import Curve, binary_curves, curves_of_classes
from _elicit_data import binary_set, model_half
from _elicit_smoothing import fit_boundary, law_confusions, threshold_confusions
from _show import Promise, number, say, show_table

from karat.datasets import LogisticLaw
from karat.elicit import BinarySpace

__all__ = ["draw_figures", "run_feasible_sets"]

_NOISE = (0.5, 1.0, 2.0, 5.0, 10.0, 50.0)  # the parameters a of Figure A.1
_LINES = 1000  # supporting lines in each panel
_TURNS = np.linspace(0.0, np.pi / 2, 401)


def run_feasible_sets() -> list[Promise]:
    """Print the sizes of the sets of Figure A.1, and how exactly karat's spaces have them."""
    rows, apart, areas = [], [], []
    ways = np.column_stack([np.cos(_TURNS), np.sin(_TURNS)])
    for a in _NOISE:
        curve = _upper(a)
        space = BinarySpace.from_density(LogisticLaw.binary(a).proba)
        points = space.extreme_points(ways)
        apart.append(float(np.abs(((points - curve) * ways).sum(axis=1)).max()))
        areas.append(_area(curve))
        rows.append([f"{a:g}", number(areas[-1], 4), number(4 * areas[-1], 3), f"{apart[-1]:.1e}"])
    say(
        "Figure A.1: what classifiers attain under η(x) = 1/(1 + e^(ax)), as TP and TN: from the "
        "diagonal that guessing attains to the whole square. --figures draws it.\n"
    )
    show_table(
        "Figure A.1: area of the feasible set, and distance of karat's boundary from equation A.3",
        ["a", "area", "share of the square", "largest distance"], rows,
    )  # fmt: skip
    return [
        Promise("Figure A.1, distance from the closed form", max(apart), 1e-4, at_most=True),
        Promise("Figure A.1, least growth of the area with a", float(np.diff(areas).min()), 0.0),
    ]


def _upper(a: float) -> Array:
    """Return the upper boundary in closed form (eq. A.3), by angle."""
    return law_confusions(a, 0.0, np.sin(_TURNS) / (np.sin(_TURNS) + np.cos(_TURNS)))


def _area(upper: Array) -> float:
    """Return the area between the upper boundary and the same turned by 180 degrees."""
    # Both ends, where all is predicted one class, lie at angles that the boundary may not reach.
    way = np.vstack([[0.5, 0.0], upper, [0.0, 0.5]])
    loop = np.vstack([way, 0.5 - way])
    x, y = loop.T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def draw_figures(folder: Path, *, data: bool) -> None:
    """Draw every figure that the data at hand allow, and say where."""
    import matplotlib as mpl

    mpl.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    _save(_feasible_sets(), folder / "figure_a1.png")
    _save(_smoothing(data=data), folder / "figure_8_1.png")
    _save(_curves(list(binary_curves("the law"))), folder / "figure_a2.png")
    if data:
        _save(_curves(list(binary_curves("magic"))), folder / "figure_a3.png")
    _save(_curves(curves_of_classes()), folder / "figures_b4_b5.png")


def _save(figure: Any, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure.savefig(path, dpi=110)
    plt.close(figure)
    say(f"drawn: {path}")


def _panels(rows: int, columns: int) -> tuple[Any, Array]:
    import matplotlib.pyplot as plt

    size = (3.4 * columns, 3.2 * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    return figure, np.asarray(axes)


def _feasible_sets() -> Any:
    """Draw supporting lines in random directions: what they leave white is feasible."""
    figure, axes = _panels(2, 3)
    rng, span = np.random.default_rng(0), 1.5
    for axis, a in zip(axes.ravel(), _NOISE, strict=True):
        upper = BinarySpace.from_density(LogisticLaw.binary(a).proba)
        turns = rng.uniform(0.0, 2 * np.pi, _LINES)
        ways = np.column_stack([np.cos(turns), np.sin(turns)])
        best = upper.extreme_points(ways)
        along = np.column_stack([-ways[:, 1], ways[:, 0]]) * span
        for start, end in zip(best - along, best + along, strict=True):
            axis.plot(*zip(start, end, strict=True), color="tab:blue", linewidth=0.2)
        axis.set(title=f"a = {a:g}", xlim=(-0.1, 0.6), ylim=(-0.1, 0.6), xlabel="TP", ylabel="TN")
        axis.set_aspect("equal")
    return figure


def _smoothing(*, data: bool) -> Any:
    """Draw the counted boundary and both smooth ones."""
    names = ("original", "diagnostic") if data else ("diagnostic",)
    figure, axes = _panels(1, len(names))
    for axis, name in zip(axes[0], names, strict=True):
        fitted = fit_boundary(model_half(binary_set(name), 1.0, 0))
        axis.plot(*threshold_confusions(fitted.half).T, color="tab:red", label="counted")
        law = law_confusions(fitted.slope, fitted.shift)
        axis.plot(*law.T, "--", color="tab:blue", label="least squares (thesis)")
        logistic = fitted.logistic
        smooth = np.stack([logistic.coordinates(logistic.at_angle(t)) for t in _TURNS])
        axis.plot(*smooth.T, ":", color="black", label="logistic (karat)")
        axis.set(title=f"breast cancer, {name}", xlabel="TP", ylabel="TN")
        axis.legend(fontsize="small")
    return figure


def _curves(curves: list[Curve]) -> Any:
    """Draw true and elicited values; a multiple brings elicited ones near the true ones."""
    columns = 4 if len(curves) > 6 else 3
    figure, axes = _panels(-(-len(curves) // columns), columns)
    for axis, curve in zip(axes.ravel(), curves, strict=False):
        axis.plot(curve.at, curve.truth, color="tab:green", label="true")
        axis.axvline(curve.at[curve.best()], color="tab:red", linewidth=1)
        styles = {"published": ("tab:blue", "--"), "bisection": ("black", ":")}
        for name, (colour, style) in styles.items():
            found = curve.elicited[name]
            found = found * (curve.truth @ found) / (found @ found)
            axis.plot(curve.at, found, style, color=colour, label=f"{name}, scaled")
            axis.axvline(curve.at[curve.best(name)], color=colour, linestyle=style, linewidth=1)
        axis.set_title(curve.title, fontsize="small")
        axis.set_xlabel(curve.along)
    axes[0, 0].legend(fontsize="small")
    return figure
