"""Read a saved metric, from its JSON or its file."""

import json
import re
from os import PathLike
from pathlib import Path
from typing import Any

from karat._files import first_words, version_error
from karat._sentences import Argument, Option, Remedy
from karat._typing import Column
from karat._validate import check_flag
from karat.exceptions import LabelError, MetricError
from karat.metrics._group import FairMetric, FairQuadraticMetric
from karat.metrics.base import SCHEMA, SCHEMA_VERSION, MetricBase
from karat.metrics.families import (
    LinearFractionalMetric,
    LinearMetric,
    PolynomialMetric,
    PowerMeanMetric,
    QuadraticMetric,
)
from karat.metrics.named import MCC, Accuracy, BalancedAccuracy, CohenKappa, GMean, Macro, Micro

_STUDY, _STUDY_VERSION = "karat.study", 2  # as karat.studio exports it
_NAMELESS = 1  # the version of metrics without the names of their classes
_FORMULA = re.compile(r"precision|recall|jaccard|F[0-9.e+-]+")  # which need no names
_KINDS: dict[str, type[MetricBase]] = {
    metric.kind: metric
    for metric in (
        Accuracy,
        BalancedAccuracy,
        CohenKappa,
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


def load_metric(
    text_or_path: str | PathLike[str], *, classes: Column | None = None, flagged: bool = False
) -> MetricBase:
    """Read a metric that ``metric.to_json()`` wrote, or the one of a study that was exported.

    Parameters
    ----------
    text_or_path : str or path
        The JSON text itself, or the path of a file that holds it. Of an export of ``karat studio``
        it is the metric of the whole study; people's own are in it under ``people``.
    classes : column (k,), optional
        Names of the metric's classes, for a file that lacks them: in the order of the weights, of
        two the positive one last.
    flagged : bool, default False
        Whether to read a metric whose own answers speak against it.

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
            f"{text_or_path!r} is neither the JSON of a metric nor a readable file (",
            error,
            ")",
        ) from error
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:  # too deep, or a number with too many digits
        which = "the metric" if is_text else f"the metric {str(text_or_path)!r}"
        raise MetricError(
            f"{which} is not valid JSON ({first_words(error)}); expected what metric.to_json() "
            "writes"
        ) from error
    body = _of_study(data)
    metric = metric_from_dict(body)
    if classes is not None:
        metric = _named(metric, classes)
    _check_names(metric, body["version"], "..." if is_text else repr(str(text_or_path)))
    _check_status(metric, check_flag(flagged, "flagged"))
    return metric


def _named(metric: MetricBase, classes: Column) -> MetricBase:
    """Return the metric with names; those that it has already must be the same."""
    named = metric.with_classes(classes)
    if metric.classes is not None and named.classes != metric.classes:
        raise MetricError(
            Argument("classes"),
            f" is {list(named.classes or ())} and the metric is about {list(metric.classes)}",
            Remedy("leave ", Option("classes"), " out"),
        )
    return named


def _of_study(data: Any) -> Any:
    """Return the metric of a study that was exported; anything else comes back as it is."""
    if not isinstance(data, dict) or data.get("schema") != _STUDY:
        return data
    if data.get("version") != _STUDY_VERSION:
        again = "export the study again"
        raise version_error(
            MetricError, "the study", data.get("version"), _STUDY_VERSION, again=again
        )
    if data.get("metric") is None:
        raise MetricError(
            f"the study has no metric of its own ({data.get('metric_of')}); pass the metric of one "
            "of its people"
        )
    metric = data["metric"]
    if isinstance(metric, dict) and metric.get("classes") is None:
        metric = metric | {"classes": data.get("classes")}
    return metric


def metric_from_dict(data: Any) -> MetricBase:
    """Build a metric from what ``metric.to_dict()`` gave."""
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise MetricError(
            f'this JSON is not a metric: expected an object with "schema": "{SCHEMA}", as '
            "metric.to_json() writes it"
        )
    if data.get("version") not in (_NAMELESS, SCHEMA_VERSION):
        again = "save the metric again with metric.to_json()"
        raise version_error(
            MetricError, "the metric", data.get("version"), SCHEMA_VERSION, again=again
        )
    if not isinstance(data.get("kind"), str) or data["kind"] not in _KINDS:
        raise MetricError(
            f"the metric has the kind {data.get('kind')!r}; expected one of {sorted(_KINDS)}"
        )
    # A metric may hold another one, such as the binary metric that is averaged over classes.
    fields = {
        key: metric_from_dict(value) if key == "metric" else value
        for key, value in data.items()
        if key not in ("schema", "version", "kind")
    }
    kind = _KINDS[data["kind"]]
    try:
        metric = kind._from_fields(fields)
    except LabelError as error:
        raise MetricError(
            "the classes of the metric are wrong: ",
            error,
        ) from error
    except (TypeError, KeyError) as error:
        raise MetricError(
            f"the metric of kind {data['kind']!r} cannot be built: ",
            error,
        ) from error
    return metric


def _check_names(metric: MetricBase, version: Any, where: str) -> None:
    """Refuse weights of an old file that does not say which classes they are about."""
    formula = isinstance(metric, LinearFractionalMetric) and _FORMULA.fullmatch(metric.name or "")
    if version != _NAMELESS or metric.classes is not None or formula:
        return
    if metric.depends_on_order:
        named = f"load_metric({where}, classes=['negative', 'positive']).to_json()"
        code = f"from karat.metrics import load_metric; print({named})"
        raise MetricError(
            f"the metric has version {version} and this karat reads version "
            f"{SCHEMA_VERSION}: the older one has no names of the classes, so its weights do not "
            "say which class is which",
            Remedy(
                f"Name the {metric.n_classes} labels in the order of the weights, of two the "
                f"positive one last, and save it again: "
                f"load_metric({where}, classes=[...]).to_json()",
                after=". ",
                elsewhere=f'add them, the positive one last: python -c "{code}" > named.json',
            ),
        )


def _check_status(metric: MetricBase, flagged: bool) -> None:
    """Refuse a metric whose own answers speak against it."""
    if metric.elicited is not None and metric.elicited.status == "flagged" and not flagged:
        raise MetricError(
            f"the metric is flagged ({metric.elicited}): the answers speak against any metric of "
            "its family, so it does not say what the person wants",
            Remedy(
                "Ask again, or load it all the same with ",
                Option("flagged", True),
                after=". ",
                elsewhere="ask again with karat elicit",
            ),
        )
