"""``karat bounds``: how good the predictions in a file can and must be, with no labels."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from karat._validate import check_choice
from karat.bounds import PerformanceBounds, performance_bounds
from karat.cli.frame import (
    Answer,
    Grid,
    InputTable,
    Page,
    flags,
    read_metric,
    read_null,
    read_pos_label,
    read_table,
    run,
    section,
)
from karat.weak import DawidSkene, MajorityVote, TripletLabelModel

__all__ = ["bounds"]

# The class of each label model, and how its constructor is called.
_MODELS: dict[str, tuple[Any, str]] = {
    "dawid-skene": (partial(DawidSkene, rng=0), "DawidSkene(rng=0)"),
    "majority": (MajorityVote, "MajorityVote()"),
    "triplet": (TripletLabelModel, "TripletLabelModel()"),
}
_CODE = """\
{also}from karat.bounds import performance_bounds
from karat.weak import {kind}

label_model = {model}.fit(frame[{weak}]{null})
performance_bounds(
    frame[{pred!r}], frame[{weak}], label_model, metric={metric}{options}{null}, rng=0
)
"""


def bounds(
    file: flags.File,
    pred: flags.Predictions = None,
    weak: flags.WeakLabels = None,
    label: flags.KnownLabel = None,
    pos_label: flags.PosLabel = None,
    group: flags.Group = None,
    metric: flags.Metric = "accuracy",
    label_model: Annotated[
        str, typer.Option(help="dawid-skene, majority or triplet.")
    ] = "dawid-skene",
    null: flags.Null = "not-asked",
    robustness: Annotated[
        float, typer.Option(help="Total variation by which the label model may be off.")
    ] = 0.0,
    confidence: flags.Confidence = 0.95,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Bound how good predictions can and must be, from weak labels and no gold."""

    def work() -> Answer:
        known = read_metric(metric)
        meaning = read_null(null)
        build, built = _MODELS[check_choice(label_model, "--label-model", tuple(_MODELS))]
        table = read_table(file)
        models = table.names("--pred", pred, ("pred", "y_pred"))
        predictions = table.columns("--pred", models)
        labelers = table.names("--weak", weak, ("lf_", "weak_", "vote_"))
        votes = table.columns("--weak", labelers)
        positive = read_pos_label([*predictions, *votes], pos_label)
        fitted = build().fit(votes, null=meaning)
        results = {
            name: performance_bounds(
                predictions[name], votes, fitted, metric=known, robustness=robustness,
                confidence=confidence, pos_label=positive, null=meaning,
                groups=table.optional("--group", group),
                y_true=table.optional("--label", label), rng=0,
            )
            for name in models
        }  # fmt: skip
        options = _options(robustness, confidence, positive, group, label)
        code = partial(
            _code, model=built, weak=labelers, metric=metric, options=options, null=meaning
        )
        return _answer(table, results, labelers, code)

    run(work, output=output, as_json=as_json, reads=[file, Path(metric)])


def _options(
    robustness: float, confidence: float, positive: Any, group: str | None, label: str | None
) -> str:
    """Return the options that were passed, as code."""
    options = f", robustness={robustness}" if robustness else ""
    options += f", confidence={confidence}" if confidence != 0.95 else ""
    options += f", pos_label={positive!r}" if positive is not None else ""
    options += f", groups=frame[{group!r}]" if group else ""
    return options + (f", y_true=frame[{label!r}]" if label else "")


def _code(pred: str, *, model: str, weak: list[str], metric: str, options: str, null: str) -> str:
    """Return the lines that would give the same answer."""
    saved = metric.endswith(".json")
    return _CODE.format(
        also="from karat.metrics import load_metric\n" if saved else "",
        kind=model.partition("(")[0],
        model=model,
        weak=weak,
        pred=pred,
        metric=f"load_metric({metric!r})" if saved else repr(metric),
        options=options,
        null="" if null == "not asked" else f", null={null!r}",
    )


def _answer(
    table: InputTable, results: dict[str, PerformanceBounds], labelers: list[str], code: Any
) -> Answer:
    text = [f"predictions: {', '.join(results)}; weak labels: {', '.join(labelers)}"]
    for name, b in results.items():
        text += ["", f"{name}: {b.summary()}"]
        text += [f"  {group}: {part.summary()}" for group, part in (b.groups or {}).items()]
    return Answer(
        data=dict(results),
        text=text,
        page=lambda: Page(
            f"{table.path.name}: how good with no labels",
            "Bounds from weak labels: every law that agrees with the predictions, the votes and "
            "the label model has a value between them.",
            [_section(name, b, code(name)) for name, b in results.items()],
        ),
    )


def _section(name: str, b: PerformanceBounds, code: str) -> Any:
    parts = [("all", b), *((str(group), part) for group, part in (b.groups or {}).items())]
    columns = ("items", "lower limit", "lower", "upper", "upper limit", "truth")
    return section(
        f"How good is {name}?",
        b.summary(),
        result=b,
        picture=f"Interval of {b.metric.title} for {name}, with its confidence limits.",
        grid=Grid(columns, tuple((f"{who} ({p.n:,})", *_numbers(p)) for who, p in parts)),
        assumptions=(
            "P(Y | weak labels) comes from a label model that was fitted without labels; the "
            "bounds are only as right as it is.",
            *(() if b.check is None else b.check.reasons),
        ),
        code=code,
    )


def _numbers(b: Any) -> tuple[str, ...]:
    values = (b.lower_limit, b.lower, b.upper, b.upper_limit, b.truth)
    return tuple("" if v is None else f"{v:.3f}" for v in values)
