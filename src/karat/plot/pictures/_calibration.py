"""Pictures of calibration: each label, all labels jointly, and what is proven."""

from typing import TYPE_CHECKING, Any

import numpy as np

from karat.calibration.result import (
    CalibrationCertificate,
    CalibratorScore,
    CanonicalCalibration,
    LabelPairs,
    MarginalCalibration,
)
from karat.limits.proportions import wilson_limits
from karat.plot.style import COLORS, GRID, INK, MARKERS, literal, new_axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST = 20  # labels that can be read in one picture
_CURVES = 6
_ERROR = 0.025  # on either side of a band


def draw_reliability(result: MarginalCalibration, ax: "Axes | None" = None) -> "Axes":
    """Draw frequency against probability, with bands, for the labels that are furthest off."""
    ax = new_axes(ax, (5.2, 4.8))
    ax.plot([0, 1], [0, 1], color=GRID, linestyle=":", label="calibrated")
    worst = np.argsort(-result.per_label)[:_CURVES]
    for i, j in enumerate(worst):
        mean, rate, share = result.predicted[j], result.observed[j], result.weight[j]
        rows = share * result.n
        low, high = wilson_limits(rate * rows, rows, _ERROR)
        color = COLORS[i % len(COLORS)]
        name = f"{literal(result.names[j])} ({result.per_label[j]:.3f})"
        ax.plot(mean, rate, color=color, marker=MARKERS[i % len(MARKERS)], markersize=3, label=name)
        ax.fill_between(mean, low, high, color=color, alpha=0.12, linewidth=0)
    ax.set_xlabel("probability")
    ax.set_ylabel("frequency")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    more = len(result.names) - len(worst)
    ax.set_title(
        "Marginal calibration" + (f" (the worst {len(worst)})" if more else ""), fontsize=10
    )
    ax.legend(frameon=False, fontsize=8)
    quiet(ax)
    return ax


def draw_canonical(result: CanonicalCalibration, ax: "Axes | None" = None) -> "Axes":
    """Draw each label's canonical error beside its marginal error."""
    order = np.argsort(-result.per_label)[:_MOST]
    ax = new_axes(ax, (6.0, 1.6 + 0.36 * len(order)))
    rows = np.arange(len(order))
    ax.barh(rows - 0.18, result.per_label[order], 0.34, color=COLORS[0], label="canonical")
    ax.barh(rows + 0.18, result.marginal[order], 0.34, color=COLORS[5], label="marginal")
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_yticks(rows, [literal(result.names[j]) for j in order])
    ax.invert_yaxis()
    ax.set_xlabel(
        "squared error" + (", without the bias of chance" if result.debiased is not None else "")
    )
    # The legend stands between title and bars: inside, it would cover the bars of short lists.
    ax.set_title(_verdict(result), fontsize=10, pad=22)
    ax.legend(
        frameon=False,
        fontsize=8,
        ncols=2,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.2,
    )
    quiet(ax, grid="x")
    return ax


def _verdict(result: CanonicalCalibration) -> str:
    if result.debiased is None or result.guaranteed is None:
        return f"CE{result.p:g} {result.value:.4f}"
    proven, root = result.guaranteed.lower, float(np.sqrt(max(result.debiased, 0.0)))
    sure = f", at least {proven:.4f} guaranteed" if proven else ""
    head = f"CE2 {root:.4f}" + f"; CE{result.p:g}" * (result.p != 2)
    return f"{head} ({result.lower:.4f} to {result.upper:.4f}){sure}"


def draw_pairs(result: LabelPairs, ax: "Axes | None" = None) -> "Axes":
    """Draw which label's residual (row) goes with which label's probability (column)."""
    k = min(len(result.names), _MOST)
    order = np.argsort(-np.abs(result.z_values).max(axis=1))[:k]
    ax = new_axes(ax, (2.4 + 0.32 * k, 2.0 + 0.32 * k))
    shown = result.z_values[np.ix_(order, order)]
    top = max(3.0, float(np.abs(shown).max()))
    image: Any = ax.imshow(shown, cmap="RdBu_r", vmin=-top, vmax=top)
    names = [literal(result.names[j]) for j in order]
    ax.set_xticks(range(k), names, rotation=90, fontsize=8)
    ax.set_yticks(range(k), names, fontsize=8)
    ax.set_xlabel("probability of")
    ax.set_ylabel("residual of")
    ax.set_title("Which pairs carry the error (z-values)", fontsize=10)
    ax.figure.colorbar(image, ax=ax, shrink=0.8)
    return ax


def draw_certificate(result: CalibrationCertificate, ax: "Axes | None" = None) -> "Axes":
    """Draw what a map of all probabilities gains on rows it did not see, and what that proves."""
    ax = new_axes(ax, (5.8, 1.9))
    ax.axvline(0, color=INK, linewidth=0.8)
    color = COLORS[1] if result.proves else GRID
    end = max(result.value, result.lower) * 1.4 + 1e-4
    if result.proves:
        ax.axvspan(result.lower, end, color=color, alpha=0.15, linewidth=0)
        ax.axvline(result.lower, color=color, linewidth=2, label="CE2² is at least this")
    ax.plot([result.value], [0], marker=MARKERS[0], color=COLORS[0], linestyle="", label="gain")
    ax.set_xlim(min(0.0, result.value) * 1.4 - 1e-4, end)
    ax.set_yticks([])
    ax.set_xlabel("squared error that a map of all probabilities takes away")
    ax.set_title("Proven: not calibrated" if result.proves else "Nothing is proven", fontsize=10)
    ax.legend(frameon=False, fontsize=8)
    quiet(ax)
    return ax


def draw_calibrator(result: CalibratorScore, ax: "Axes | None" = None) -> "Axes":
    """Draw the log-loss without and with the map, of all rows and of each group."""
    names = ["all rows", *(literal(str(group)) for group in result.groups)]
    before = np.append(result.before, result.group_before)
    after = np.append(result.after, result.group_after)
    shown = min(len(names), _MOST + 1)
    ax = new_axes(ax, (6.0, 1.4 + 0.4 * shown))
    rows = np.arange(shown)
    ax.barh(rows - 0.18, before[:shown], 0.34, color=COLORS[5], label="without the map")
    ax.barh(rows + 0.18, after[:shown], 0.34, color=COLORS[0], label="with the map")
    ax.set_yticks(rows, names[:shown])
    ax.invert_yaxis()
    ax.set_xlabel(f"log-loss a {result.per}")
    ax.set_title(
        f"Log-loss {result.after:.4f} with the map, {result.before:.4f} without", fontsize=10
    )
    ax.set_xlim(0, 1.45 * float(max(before[:shown].max(), after[:shown].max(), 1e-6)))
    ax.legend(frameon=False, fontsize=8, loc="center right")
    quiet(ax, grid="x")
    return ax
