"""A metric from its name or its file."""

from pathlib import Path

from karat._code import Coded
from karat._validate import refuse_option
from karat.metrics import load_metric

__all__ = ["import_of", "read_metric"]


def read_metric(metric: str) -> Coded:
    """Return a metric's name as it is, or the metric in a file that ``metric.to_json()`` wrote."""
    if not metric.endswith(".json"):
        return Coded(metric, repr(metric))
    path = Path(metric)
    if not path.is_file():
        refuse_option(metric, "--metric", "the name of a metric, or a .json file that exists")
    return Coded(load_metric(path), f"load_metric({metric!r})")


def import_of(metric: Coded) -> str:
    """Return the import that the code of a metric needs; none for a name."""
    return "" if isinstance(metric.value, str) else "from karat.metrics import load_metric"
