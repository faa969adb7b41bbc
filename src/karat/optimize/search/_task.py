"""A problem that is read and checked: its rows, its classes, its metric."""

from typing import Any, NamedTuple

from karat._typing import AnyArray
from karat.optimize.feedback import ValidationRows
from karat.optimize.probes import Sample

__all__ = ["Task"]


class Task(NamedTuple):
    """A problem that is read and checked; columns are in the order of the metric's classes.

    ``metric`` is a metric of karat.metrics, a function of the validation rows, or `Preferences`.
    """

    validation: Sample
    training: Sample | None
    classes: AnyArray
    metric: Any
    rows: ValidationRows
    basis_names: tuple[str, ...]
