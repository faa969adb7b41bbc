"""``karat bounds``: how good the predictions in a file can and must be, with no labels."""

from pathlib import Path
from typing import Annotated, Any

import typer

from karat._validate import check_choice
from karat.bounds import PerformanceBounds, performance_bounds
from karat.cli.frame import (
    Answer,
    Coded,
    Grid,
    InputTable,
    Page,
    call_code,
    flags,
    import_of,
    read_class_prior,
    read_metric,
    read_null,
    read_pos_label,
    read_table,
    run,
    script,
    section,
    values,
)
from karat.weak import DawidSkene, DetectorLabelModel, MajorityVote, TripletLabelModel

__all__ = ["bounds"]

# The class of each label model and its options.
_MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "detectors": (DetectorLabelModel, {}),
    "dawid-skene": (DawidSkene, {"rng": 0}),
    "majority": (MajorityVote, {}),
    "triplet": (TripletLabelModel, {}),
}


def bounds(
    file: flags.File,
    pred: flags.Predictions = None,
    weak: flags.WeakLabels = None,
    label: flags.KnownLabel = None,
    pos_label: flags.PosLabel = None,
    group: flags.Group = None,
    metric: flags.Metric = "accuracy",
    label_model: Annotated[
        str, typer.Option(help="detectors, dawid-skene, majority or triplet.")
    ] = "detectors",
    class_prior: Annotated[
        str | None,
        typer.Option(help="P(Y) where it is known, such as ham=0.8,spam=0.2: worth most."),
    ] = None,
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
        build, settings = _MODELS[check_choice(label_model, "--label-model", tuple(_MODELS))]
        table = read_table(file)
        models = table.names("--pred", pred, ("pred", "y_pred"))
        predictions = table.columns("--pred", models)
        labelers = table.names("--weak", weak, ("lf_", "weak_", "vote_"))
        votes = Coded(table.columns("--weak", labelers), f"frame[{labelers}]")
        classes, prior = read_class_prior([*predictions, *votes.value], class_prior)
        options = {
            "metric": known, "robustness": robustness, "confidence": confidence,
            "pos_label": read_pos_label([*predictions, *votes.value], pos_label),
            "null": meaning, "classes": classes, "class_prior": prior,
            "groups": table.coded("--group", group),
            "y_true": table.coded("--label", label), "rng": 0,
        }  # fmt: skip
        fit = {"null": meaning, "classes": classes, "class_prior": prior}
        fitted = build(**settings).fit(votes.value, **fit)
        results = {
            name: performance_bounds(predictions[name], votes.value, fitted, **values(options))
            for name in models
        }
        imports = (
            "import polars as pl", "from karat.bounds import performance_bounds",
            f"from karat.weak import {build.__name__}", import_of(known),
        )  # fmt: skip
        model = call_code(f"{call_code(build.__name__, **settings)}.fit", votes, **fit)
        model = f"label_model = {model}"

        def code(name: str) -> str:
            arguments = (Coded(None, f"frame[{name!r}]"), votes, Coded(fitted, "label_model"))
            call = call_code("performance_bounds", *arguments, **options)
            return script(imports, table.code, model, call)

        return _answer(table, results, labelers, code)

    run(work, output=output, as_json=as_json, reads=[file, Path(metric)])


def _answer(
    table: InputTable, results: dict[str, PerformanceBounds], labelers: list[str], code: Any
) -> Answer:
    text = [f"predictions: {', '.join(results)}; weak labels: {', '.join(labelers)}"]
    for name, b in results.items():
        text += ["", f"{name}: {b.summary()}"]
        text += _checked(b)
        for group, part in (b.groups or {}).items():
            text.append(f"  {group}: {part.summary()}")
            text += [] if part.truth is None else [f"  {group}: {_truth(part)}"]
    return Answer(
        data={"results": results},
        text=text,
        page=lambda: Page(
            f"{table.path.name}: how good with no labels",
            "Bounds from weak labels: every law that agrees with the predictions, the votes and "
            "the label model has a value between them.",
            [_section(name, b, code(name)) for name, b in results.items()],
        ),
    )


def _checked(b: PerformanceBounds) -> list[str]:
    """Return what the true labels say, if there are some, and whether the label model fits."""
    said = [] if b.truth is None else [_truth(b)]
    # A check that failed is the first thing that the summary of the bounds says.
    if b.check is not None and b.check.passed:
        said.append(f"check of the label model: {b.check.summary()}")
    return said


def _truth(b: PerformanceBounds) -> str:
    return f"{b.metric.title} with the true labels: {b.truth:.4f}"


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
