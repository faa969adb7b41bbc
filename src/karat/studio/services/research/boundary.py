"""What classifiers of two classes attain, as counted and smoothed (G1; figure 8.1)."""

from dataclasses import dataclass

import numpy as np

from karat.elicit import BinarySpace
from karat.studio.models import Study
from karat.studio.services import asking, studies
from karat.studio.storage import Store

__all__ = ["Boundary", "boundary_of"]

_DIRECTIONS = 200
Line = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """Two lines of points (right about the positive class, right about the negative class)."""

    counted: Line
    smoothed: Line
    x_axis: str
    y_axis: str


def boundary_of(store: Store, study: Study) -> Boundary | None:
    """Return the boundary of a study's space; None for other spaces than those of two classes."""
    lines = []
    for smooth in (False, True):
        asked = studies.asked_of(store, _variant(study, smooth))
        if not isinstance(asked.space, BinarySpace):
            return None
        lines.append(_line(asked.space, asked.config.options.worst_rate))
    words = asking.words_of(asked)
    return Boundary(
        counted=lines[0],
        smoothed=lines[1],
        x_axis=f"share that {words.truth[1]}, predicted “{words.predicted[1]}”",
        y_axis=f"share that {words.truth[0]}, predicted “{words.predicted[0]}”",
    )


def _variant(study: Study, smooth: bool) -> Study:
    """Return a study that is smoothed or not, whatever the researcher chose; it is not kept."""
    config = studies.config_of(study)
    options = config.options.model_copy(update={"smooth": smooth})
    return Study(
        id=study.id,
        name=study.name,
        fingerprint=study.fingerprint,
        config=config.model_copy(update={"options": options}).model_dump(mode="json"),
    )


def _line(space: BinarySpace, worst: float) -> Line:
    """Return the best confusions for all trade-offs, as far as questions are asked about them."""
    angles = np.linspace(0.0, np.pi / 2, _DIRECTIONS)
    with asking.COMPUTING:
        tables = space.boundary(np.column_stack([np.sin(angles), np.cos(angles)]))
    totals = tables.sum(axis=2)
    right = np.column_stack([tables[:, 1, 1], tables[:, 0, 0]])
    asked = (right >= (1.0 - worst) * totals[:, ::-1]).all(axis=1)
    return tuple(sorted({(float(x), float(y)) for x, y in right[asked]}))
