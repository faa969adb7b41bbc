"""A study's space and its procedure, kept by the process."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from karat.elicit import BinarySpace, Procedure, RateSpace, Space
from karat.elicit.by_name import FAMILIES, GROUPED
from karat.exceptions import ElicitationError
from karat.studio.data import StudyData, unpack_data
from karat.studio.schemas import StudyConfig, StudyOptions

__all__ = ["COMPUTING", "Asked", "asked_about", "asked_apart", "check_space"]

_KEPT = 16  # studies whose spaces a process keeps
COMPUTING = threading.RLock()
_spaces: OrderedDict[Any, "Asked"] = OrderedDict()


class Asked(NamedTuple):
    """What people of a study are asked about, and by which procedure."""

    space: Space
    build: type[Procedure]
    config: StudyConfig
    fair: bool

    @property
    def classes(self) -> list[str]:
        """The labels, as text."""
        return [str(label) for label in self.space.classes.tolist()]

    @property
    def groups(self) -> list[str] | None:
        """The names of the groups, as text; None where none are compared."""
        groups = getattr(self.space, "groups", None)
        return None if groups is None else [str(name) for name in groups.tolist()]


def check_space(data: StudyData, config: StudyConfig) -> str:
    """Build the space of new data, ask a first question, and return the space's fingerprint.

    Raises what the data lack, before anyone is asked.
    """
    with COMPUTING:
        asked = _build(data, config)
        options = config.options
        procedure = asked.build(asked.space, out_of=options.out_of, worst_rate=options.worst_rate)
        if procedure.ask() is None:
            raise ElicitationError("there is nothing to ask about these data")
        return str(asked.space.fingerprint)


def asked_about(key: tuple[str, str], config: StudyConfig, load: Callable[[], bytes]) -> Asked:
    """Return the space of a study, built where this process has not seen it yet.

    ``key`` is the study's id and fingerprint; ``load`` reads its data.
    """
    with COMPUTING:
        place = (*key, config.options.family, config.options.smooth)
        asked = _spaces.pop(place, None)
        if asked is None:
            asked = _build(unpack_data(load()), config)
        elif asked.config is not config:
            asked = asked._replace(config=config)
        _spaces[place] = asked
        if len(_spaces) > _KEPT:
            _spaces.popitem(last=False)
        return asked


def asked_apart(config: StudyConfig, packed: bytes) -> Asked:
    """Return the space of a study, built anew: for long work, which keeps nobody waiting."""
    return _build(unpack_data(packed), config)


def _build(data: StudyData, config: StudyConfig) -> Asked:
    options = config.options
    two, more, kind = FAMILIES[options.family]
    fair = options.family in GROUPED
    if fair and data.members is None:
        raise ElicitationError(
            f"the family is {options.family!r} and the data have no groups; choose the column "
            "that holds them"
        )
    labels = np.asarray(data.classes)
    space = _space(data, options, kind, labels, fair)
    space = space.smoothed() if options.smooth else space
    build = two if space.n_classes == 2 else more
    return Asked(space=space, build=build, config=config, fair=fair)


def _space(
    data: StudyData, options: StudyOptions, kind: type[Space], labels: Any, fair: bool
) -> Space:
    y_true, values = labels[data.codes], data.values
    if values.ndim == 1 and kind is not RateSpace:
        return BinarySpace.from_scores(y_true, values, classes=labels, pos_label=labels[1])
    proba = np.column_stack([1.0 - values, values]) if values.ndim == 1 else values
    if kind is RateSpace:
        groups = np.asarray(data.groups)[data.members] if fair else None
        return RateSpace.from_proba(y_true, proba, groups=groups, classes=labels)
    chosen = BinarySpace if len(labels) == 2 else kind
    return chosen.from_proba(y_true, proba, classes=labels)
