"""One classifier, for the page that explains the picture (figure 8.5)."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from karat._typing import IntArray
from karat.studio.charts.confusions import (
    Side,
    bars_svg,
    confusion_table,
    flow_svg,
    numbers_table,
)
from karat.studio.charts.elements import element, wide

__all__ = ["single_svg"]


def single_svg(
    counts: IntArray | Sequence[object],
    *,
    out_of: int,
    class_names: Sequence[str],
    view: str = "flow",
    conditioned: bool = False,
    name: str = "A system",
    truth: Sequence[str] | None = None,
) -> Markup:
    """Return a figure of one classifier's counts (k, k); options as in `comparison_svg`."""
    rows = np.asarray(counts).tolist()
    what = tuple(truth or [f"are {label}" for label in class_names])
    side = Side(
        name=name, counts=rows, other=None, out_of=out_of, truth=what,
        class_names=tuple(class_names),
        conditioned=conditioned,
    )  # fmt: skip
    if view == "bars":
        picture = bars_svg(side)
    elif len(rows) == 2 and view != "table":
        picture = flow_svg(side)
    else:
        picture = wide(confusion_table(side), name)
    return element(
        "figure",
        picture,
        numbers_table((name,), (rows,), what, class_names, f"Out of {out_of:,}"),
        class_="comparison single",
    )
