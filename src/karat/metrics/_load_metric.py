"""Reading a saved metric."""

import json
from os import PathLike
from pathlib import Path
from typing import Any

from karat._files import first_words
from karat.exceptions import MetricError
from karat.metrics._accuracy import Accuracy
from karat.metrics._fair_metric import FairMetric
from karat.metrics._fair_quadratic_metric import FairQuadraticMetric
from karat.metrics._linear_fractional_metric import LinearFractionalMetric
from karat.metrics._linear_metric import LinearMetric
from karat.metrics._micro import Micro
from karat.metrics._polynomial_metric import PolynomialMetric
from karat.metrics._power_mean_metric import PowerMeanMetric
from karat.metrics._quadratic_metric import QuadraticMetric
from karat.metrics.base import SCHEMA, SCHEMA_VERSION, MetricBase
from karat.metrics.families import MCC, BalancedAccuracy, GMean, Macro

__all__ = ["load_metric", "metric_from_dict"]

_STUDY, _STUDY_VERSION = "karat.study", 1  # as karat.studio exports it
_KINDS: dict[str, type[MetricBase]] = {
    metric.kind: metric
    for metric in (
        Accuracy,
        BalancedAccuracy,
        FairMetric,
        FairQuadraticMetric,
        GMean,
        LinearFractionalMetric,
        LinearMetric,
        MCC,
        Macro,
        Micro,
        PolynomialMetric,
        PowerMeanMetric,
        QuadraticMetric,
    )
}


def load_metric(text_or_path: str | PathLike[str]) -> MetricBase:
    """Read a metric that ``metric.to_json()`` wrote, or the one of a study that was exported.

    Parameters
    ----------
    text_or_path : str or path
        The JSON text itself, or the path of a file that holds it. Of an export of ``karat studio``
        it is the metric of the whole study; people's own are in it under ``people``.

    Examples
    --------
    >>> from karat.metrics import f_beta
    >>> load_metric(f_beta(2).to_json()) == f_beta(2)
    True
    """
    is_text = isinstance(text_or_path, str) and text_or_path.lstrip()[:1] in ("{", "")
    try:
        text = str(text_or_path) if is_text else Path(text_or_path).read_text(encoding="utf-8")
    except (OSError, TypeError, ValueError) as error:
        raise MetricError(
            f"{text_or_path!r} is neither the JSON of a metric nor a readable file ({error})"
        ) from error
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:  # too deep, or a number with too many digits
        which = "the metric" if is_text else f"the metric {str(text_or_path)!r}"
        raise MetricError(
            f"{which} is not valid JSON ({first_words(error)}); expected what metric.to_json() "
            "writes"
        ) from error
    return metric_from_dict(_of_study(data))


def _of_study(data: Any) -> Any:
    """Return the metric of a study that was exported; anything else comes back as it is."""
    if not isinstance(data, dict) or data.get("schema") != _STUDY:
        return data
    if data.get("version") != _STUDY_VERSION:
        raise MetricError(
            f"the study has schema version {data.get('version')!r} and this karat reads "
            f"{_STUDY_VERSION}; update karat or export the study again"
        )
    if data.get("metric") is None:
        raise MetricError(
            f"the study has no metric of its own ({data.get('metric_of')}); pass the metric of one "
            "of its people"
        )
    return data["metric"]


def metric_from_dict(data: Any) -> MetricBase:
    """Build a metric from what ``metric.to_dict()`` gave."""
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise MetricError(
            f'this JSON is not a metric: expected an object with "schema": "{SCHEMA}", as '
            "metric.to_json() writes it"
        )
    if data.get("version") != SCHEMA_VERSION:
        raise MetricError(
            f"the metric has schema version {data.get('version')!r} and this karat reads "
            f"{SCHEMA_VERSION}; update karat or save the metric again"
        )
    if not isinstance(data.get("kind"), str) or data["kind"] not in _KINDS:
        raise MetricError(
            f"the metric has the kind {data.get('kind')!r}; expected one of {sorted(_KINDS)}"
        )
    # A metric may hold another one, such as the binary metric that is averaged over classes.
    fields = {
        key: metric_from_dict(value) if isinstance(value, dict) else value
        for key, value in data.items()
        if key not in ("schema", "version", "kind")
    }
    kind = _KINDS[data["kind"]]
    try:
        return kind._from_fields(fields)
    except (TypeError, KeyError) as error:
        raise MetricError(
            f"the metric of kind {data['kind']!r} cannot be built: {error}"
        ) from error
