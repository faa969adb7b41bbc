"""``karat bounds``: how good the predictions in a file can and must be, with no labels."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from karat.bounds import PerformanceBounds, performance_bounds
from karat.cli._files import (
    named_columns,
    pick_column,
    pick_columns,
    read_metric,
    read_table,
)
from karat.exceptions import ColumnError, DataError
from karat.report import Section, Table, render_report, result_svg
from karat.weak import DawidSkene, MajorityVote, TripletLabelModel

__all__ = ["run_bounds"]

_MODELS: dict[str, Any] = {
    "dawid-skene": partial(DawidSkene, rng=0),
    "majority": MajorityVote,
    "triplet": TripletLabelModel,
}
_CODE = """\
from karat.bounds import performance_bounds
from karat.weak import {kind}

label_model = {kind}({options}).fit(frame[{weak}], null={null!r})
performance_bounds(
    frame[{pred!r}], frame[{weak}], label_model, metric={metric}{more}, rng=0
)
"""


def run_bounds(
    file: Path,
    *,
    pred: list[str],
    weak: list[str],
    label: str | None,
    group: str | None,
    metric: str,
    label_model: str,
    null: str,
    robustness: float,
    output: Path | None,
    as_json: bool,
) -> None:
    """Bound each column of predictions and print, save or dump the answers."""
    frame = read_table(file)
    predictions = named_columns(frame, pred, ("pred", "y_pred"))
    labelers = named_columns(frame, weak, ("lf_", "weak_", "vote_"))
    if not predictions or not labelers:
        missing = "--pred" if not predictions else "--weak"
        raise ColumnError(f"{missing}: name at least one column; there are {frame.columns}")
    if label_model not in _MODELS:
        raise DataError(f"--label-model {label_model}: expected one of {sorted(_MODELS)}")
    votes = pick_columns(frame, labelers, "--weak")
    null = null.replace("-", " ")
    model = _MODELS[label_model]().fit(votes, null=null)
    options: dict[str, Any] = {
        "metric": read_metric(metric), "robustness": robustness, "null": null, "rng": 0,
    }  # fmt: skip
    if group is not None:
        options["groups"] = pick_column(frame, group, "--group")
    if label is not None:
        options["y_true"] = pick_column(frame, label, "--label")
    results = {
        name: performance_bounds(pick_column(frame, name, "--pred"), votes, model, **options)
        for name in predictions
    }
    if as_json:
        print(json.dumps({name: b.to_dict() for name, b in results.items()}))  # noqa: T201
    else:
        _print(results, predictions, labelers)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        more = _more(robustness, group, label)
        more += f", null={null!r}"
        code = {name: _code(name, model, labelers, metric, more, null) for name in results}
        output.write_text(_page(file, results, code), encoding="utf-8")


def _more(robustness: float, group: str | None, label: str | None) -> str:
    """Return the options that were passed, as code."""
    more = f", robustness={robustness}" if robustness else ""
    more += f", groups=frame[{group!r}]" if group else ""
    return more + (f", y_true=frame[{label!r}]" if label else "")


def _code(pred: str, model: Any, weak: list[str], metric: str, more: str, null: str) -> str:
    """Return the lines that would give the same answer."""
    kind = type(model).__name__
    known = f"load_metric({metric!r})" if metric.endswith(".json") else repr(metric)
    code = _CODE.format(
        kind=kind,
        options="rng=0" if kind == "DawidSkene" else "",
        weak=weak,
        pred=pred,
        metric=known,
        more=more,
        null=null,
    )
    return code if known == repr(metric) else f"from karat.metrics import load_metric\n{code}"


def _print(results: dict[str, PerformanceBounds], pred: list[str], weak: list[str]) -> None:
    from rich.console import Console

    console = Console()
    console.print(f"predictions: {', '.join(pred)}; weak labels: {', '.join(weak)}", markup=False)
    for name, b in results.items():
        console.print(f"\n{name}: {b.summary()}", markup=False)
        for group, part in (b.groups or {}).items():
            console.print(f"  {group}: {part.summary()}", markup=False)


def _page(file: Path, results: dict[str, PerformanceBounds], code: dict[str, str]) -> str:
    sections = [_section(name, b, code[name]) for name, b in results.items()]
    return render_report(
        f"{file.name}: how good with no labels",
        "Bounds from weak labels: every law that agrees with the predictions, the votes and the "
        "label model has a value between them.",
        sections,
    )


def _section(name: str, b: PerformanceBounds, code: str) -> Section:
    rows = [("all", b), *((str(g), part) for g, part in (b.groups or {}).items())]
    reasons: tuple[str, ...] = () if b.check is None else b.check.reasons
    return Section(
        question=f"How good is {name}?",
        answer=b.summary(),
        figure=result_svg(b),
        figure_text=f"Interval of {b.metric.title} for {name}, with its confidence limits.",
        table=Table(
            columns=("items", "lower limit", "lower", "upper", "upper limit", "truth"),
            rows=tuple((f"{who} ({part.n:,})", *_numbers(part)) for who, part in rows),
        ),
        assumptions=(
            "P(Y | weak labels) comes from a label model that was fitted without labels; the "
            "bounds are only as right as it is.",
            *reasons,
        ),
        code=code,
    )


def _numbers(b: Any) -> tuple[str, ...]:
    values = (b.lower_limit, b.lower, b.upper, b.upper_limit, b.truth)
    return tuple("" if v is None else f"{v:.3f}" for v in values)
