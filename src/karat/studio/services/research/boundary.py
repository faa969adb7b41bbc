"""What classifiers of two classes attain, as counted and smoothed (G1; figure 8.1)."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray
from karat.elicit import BinarySpace
from karat.studio.data import StudyData, unpack_data
from karat.studio.models import Study
from karat.studio.services import asking, studies
from karat.studio.storage import Store

_POINTS = 400
Line = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """Two lines of points (right about the positive class, right about the negative class)."""

    counted: Line
    smoothed: Line
    x_axis: str
    y_axis: str


def boundary_of(store: Store, study: Study) -> Boundary | None:
    """Return the boundary of a study's space; None for other spaces than those of two classes.

    Counted are the classifiers of all thresholds, as in section 8.1.1; both lines are shown as far
    as questions are asked about them.
    """
    asked = studies.asked_of(store, _smoothed(study))
    if not isinstance(asked.space, BinarySpace):
        return None
    with store.reading() as session:
        data = unpack_data(session.get_one(Study, study.id).data)
    words, worst = asking.words_of(asked), asked.config.options.worst_rate
    return Boundary(
        counted=_shown(_thresholds(data), worst),
        smoothed=_shown(_best(asked.space), worst),
        x_axis=f"share that {words.truth[1]}, predicted “{words.predicted[1]}”",
        y_axis=f"share that {words.truth[0]}, predicted “{words.predicted[0]}”",
    )


def _smoothed(study: Study) -> Study:
    """Return a study that is smoothed, whatever the researcher chose; it is not kept."""
    config = studies.config_of(study)
    options = config.options.model_copy(update={"smooth": True})
    return Study(
        id=study.id,
        name=study.name,
        fingerprint=study.fingerprint,
        config=config.model_copy(update={"options": options}).model_dump(mode="json"),
    )


def _thresholds(data: StudyData) -> FloatArray:
    """Return the confusions (t, 2, 2) of every threshold on the scores, from high to low."""
    score = data.values if data.values.ndim == 1 else data.values[:, 1]
    order = np.argsort(-score, kind="stable")
    positive = data.codes[order] == 1
    last = np.append(score[order][1:] != score[order][:-1], True)  # of cases that score alike
    found = np.concatenate([[0], np.cumsum(positive)[last]])
    alarms = np.concatenate([[0], np.cumsum(~positive)[last]])
    ill, n = int(positive.sum()), len(positive)
    rows = [n - ill - alarms, alarms, ill - found, found]
    return np.asarray(np.stack(rows, axis=1).reshape(-1, 2, 2) / n)


def _best(space: BinarySpace) -> FloatArray:
    """Return the best confusions for trade-offs from one class alone to the other alone."""
    angles = np.linspace(0.0, np.pi / 2, _POINTS)
    with asking.COMPUTING:
        return space.boundary(np.column_stack([np.sin(angles), np.cos(angles)]))


def _shown(tables: FloatArray, worst: float) -> Line:
    """Return the shares that are right, where no class is wrong more often than ``worst``."""
    right = np.stack([tables[:, 1, 1], tables[:, 0, 0]], axis=1)
    kept = right[(right >= (1.0 - worst) * tables.sum(axis=2)[:, ::-1]).all(axis=1)]
    step = max(1, len(kept) // _POINTS)
    return tuple((float(x), float(y)) for x, y in kept[::step])
