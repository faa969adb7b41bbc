"""A metric from its name or its file."""

from pathlib import Path

from karat._validate import refuse_option
from karat.metrics import MetricBase, load_metric

__all__ = ["read_metric"]


def read_metric(metric: str) -> str | MetricBase:
    """Return a metric's name as it is, or the metric in a file that ``metric.to_json()`` wrote."""
    if not metric.endswith(".json"):
        return metric
    path = Path(metric)
    if not path.is_file():
        refuse_option(metric, "--metric", "the name of a metric, or a .json file that exists")
    return load_metric(path)
