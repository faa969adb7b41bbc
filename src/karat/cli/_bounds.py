"""``karat bounds``: how good the predictions in a file can and must be, with no labels."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from karat._code import Coded, call_code, script, values
from karat._validate import check_choice
from karat.bounds import (
    DifferenceBounds,
    PerformanceBounds,
    difference_bounds,
    performance_bounds,
)
from karat.bounds.result import ModelRanking
from karat.cli import _flags as flags
from karat.cli._count import counted_bounds, refuse_flags
from karat.cli._run import Answer, Grid, Page, run, section
from karat.cli._table import (
    classes_of,
    import_of,
    read_class_prior,
    read_metric,
    read_null,
    read_pos_label,
    read_table,
)
from karat.metrics import GroupMetric, as_metric
from karat.sources.stored import is_counts
from karat.weak import DawidSkene, DetectorLabelModel, MajorityVote, TripletLabelModel

# The class of each label model and its options.
_MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "detectors": (DetectorLabelModel, {}),
    "dawid-skene": (DawidSkene, {"rng": 0}),
    "majority": (MajorityVote, {}),
    "triplet": (TripletLabelModel, {}),
}

# How columns of predictions and of weak labelers begin.
_PREDICTIONS, _LABELERS = ("pred", "y_pred"), ("lf_", "weak_", "vote_")
_COLUMNS = ("items", "lower limit", "lower", "upper", "upper limit", "with true labels", "truth")


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
    null: flags.Null = None,
    robustness: Annotated[
        float, typer.Option(help="Total variation by which the label model may be off.")
    ] = 0.0,
    confidence: flags.Confidence = 0.95,
    rows: flags.Rows = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Bound how good predictions can and must be, from weak labels and no gold.

    Example:  karat bounds mails.csv --pred model --weak 'rule_*' --metric f1
    """

    def work() -> Answer:
        known = read_metric(metric)
        meaning = read_null(null) or "not asked"
        build, settings = _MODELS[check_choice(label_model, "--label-model", tuple(_MODELS))]
        if is_counts(file):
            said = null
            refuse_flags(
                {"--weak": weak, "--label": label, "--group": group, "--rows": rows, "--null": said}
            )
            texts: dict[str, Any] = {"pos_label": pos_label, "class_prior": class_prior}
            texts |= {"robustness": robustness, "confidence": confidence}
            counted = counted_bounds(file, pred, build, settings, known, texts)
            return _answer(file, counted[0], {}, *counted[1:])
        wanted = [label, group, *(pred or ()), *(weak or ())]
        starts = (*(() if pred else _PREDICTIONS), *(() if weak else _LABELERS))
        table = read_table(file, rows, wanted, starts).with_codes(group)
        models = table.names("--pred", pred, _PREDICTIONS, taken=(label, group))
        labelers = table.names("--weak", weak, _LABELERS, taken=(label, group, *models))
        table.columns("--pred", models)
        table = table.matched([*models, *labelers, label], classes_of(known))
        predictions = table.columns("--pred", models)
        votes = Coded(table.columns("--weak", labelers), f"frame[{labelers}]")
        classes, prior = read_class_prior([*predictions, *votes.value], class_prior)
        positive = read_pos_label([*predictions, *votes.value], pos_label)
        if classes is not None and prior is not None:
            classes, prior = _in_order(known, classes, prior, positive)
        labels = table.coded("--label", label)
        options = {
            "metric": known,
            "robustness": robustness,
            "confidence": confidence,
            "pos_label": positive,
            "null": meaning,
            "classes": classes,
            "class_prior": prior,
            "y_true": labels,
            "rng": 0,
        }
        fit: dict[str, Any] = {"null": meaning, "classes": classes, "class_prior": prior}
        if labels is not None:
            fit["y_true"] = labels
        fitted = build(**settings).fit(votes.value, **values(fit))
        groups = table.coded("--group", group)
        results = {
            name: performance_bounds(
                predictions[name], votes.value, fitted, **values(options | {"groups": groups})
            )
            for name in models
        }
        pairs = _pairs(results, predictions, votes.value, fitted, values(options))
        imports = (
            "import polars as pl",
            "from karat.bounds import performance_bounds",
            f"from karat.weak import {build.__name__}",
            import_of(known),
        )
        model = call_code(f"{call_code(build.__name__, **settings)}.fit", votes, **fit)
        model = f"label_model = {model}"

        def code(*names: str) -> str:
            which = "performance_bounds" if len(names) == 1 else "difference_bounds"
            frames = (Coded(None, f"frame[{name!r}]") for name in names)
            own = options | {"groups": groups} if len(names) == 1 else options
            call = call_code(which, *frames, votes, Coded(fitted, "label_model"), **own)
            lines = tuple(line.replace("performance_bounds", which) for line in imports)
            return script(lines, table.code, model, call)

        return _answer(file, results, pairs, labelers, code)

    run(work, output=output, as_json=as_json, reads=[file, Path(metric)])


def _in_order(
    metric: Coded, classes: list[Any], prior: list[float], positive: Any
) -> tuple[list[Any], list[float]]:
    """Return classes and their probabilities in the order of the metric."""
    shares = dict(zip(classes, prior, strict=True))
    order = as_metric(metric.value)._order_of(np.array(classes), pos_label=positive).tolist()
    return order, [shares[label] for label in order]


def _pairs(
    results: dict[str, PerformanceBounds],
    predictions: dict[str, Any],
    votes: Any,
    fitted: Any,
    options: dict[str, Any],
) -> dict[tuple[str, str], DifferenceBounds]:
    """Return the difference of the best model and each other one."""
    if len(results) < 2 or isinstance(options["metric"], GroupMetric):
        return {}

    def standing(name: str) -> float:
        b = results[name]
        return (b.lower + b.upper) / 2 if b.gold is None else b.value

    best, *others = sorted(results, key=standing, reverse=True)
    return {
        (best, other): difference_bounds(
            predictions[best], predictions[other], votes, fitted, **options
        )
        for other in others
    }


def _answer(
    file: Path,
    results: dict[str, PerformanceBounds],
    pairs: dict[tuple[str, str], DifferenceBounds],
    labelers: list[str],
    code: Any,
) -> Answer:
    text = [f"predictions: {', '.join(results)}; weak labels: {', '.join(labelers)}"]
    for name, b in results.items():
        text += ["", f"{name}: {b.summary()}"]
        text += _checked(b)
        for group, part in (b.groups or {}).items():
            text.append(f"  {group}: {part.summary()}")
            text += [] if part.truth is None else [f"  {group}: {_truth(part)}"]
    for (best, other), d in pairs.items():
        text += ["", f"{best} or {other}? {_verdict(best, other, d)}. {d.what_decides()}"]
    data: dict[str, Any] = {"results": results}
    if pairs:
        data["differences"] = [
            d.to_dict() | {"first": best, "second": other, "what_decides": d.what_decides()}
            for (best, other), d in pairs.items()
        ]

    def page() -> Page:
        together = [_together(results)] if len(results) > 1 else []
        return Page(
            f"{file.name}: how good with {_how_many(results)}",
            "Bounds from weak labels: every law that agrees with the predictions, the votes and "
            "the label model has a value between them.",
            [
                *together,
                *(
                    _difference(best, other, d, code(best, other))
                    for (best, other), d in pairs.items()
                ),
                *(_section(name, b, code(name)) for name, b in results.items()),
            ],
        )

    return Answer(data=data, text=text, page=page)


def _how_many(results: dict[str, PerformanceBounds]) -> str:
    gold = next(iter(results.values())).gold
    return "no labels" if gold is None else f"{gold.n:,} true labels"


def _verdict(best: str, other: str, d: DifferenceBounds) -> str:
    """Return which of the two is better, or that it cannot be said, and the limits."""
    limits = f"{d.metric.title} of {best} minus {other} between {d.lower_limit:.3f} and "
    limits += f"{d.upper_limit:.3f}"
    if d.lower_limit > 0:
        return f"{best} is better: {limits}"
    if d.upper_limit < 0:
        return f"{other} is better: {limits}"
    return f"It cannot be decided yet: {limits}"


def _together(results: dict[str, PerformanceBounds]) -> Any:
    """Return the section that shows all models on one axis."""
    first = next(iter(results.values()))
    said = "; ".join(
        f"{name} between {b.lower_limit:.3f} and {b.upper_limit:.3f}" for name, b in results.items()
    )
    every = ModelRanking(
        names=tuple(results), bounds=tuple(results.values()), by="average", certain=False
    )
    said = f"{first.metric.title[:1].upper()}{first.metric.title[1:]} of {said}"
    return section(
        "Which model is better?",
        said if first.gold is not None else first.with_caveat(said),
        result=every,
        picture=f"Bounds and limits of {first.metric.title} of every model on one axis.",
        grid=Grid(_COLUMNS, tuple((name, *_numbers(b)) for name, b in results.items())),
    )


def _difference(best: str, other: str, d: DifferenceBounds, code: str) -> Any:
    return section(
        f"Is {best} better than {other}?",
        f"{_verdict(best, other, d)}. {d.what_decides()}",
        result=d,
        picture=f"Interval of the difference in {d.metric.title}, with its confidence limits.",
        assumptions=(d.summary(),),
        code=code,
    )


def _checked(b: PerformanceBounds) -> list[str]:
    """Return the metric itself, where every true label is known."""
    return [] if b.truth is None else [_truth(b)]


def _truth(b: PerformanceBounds) -> str:
    return f"{b.metric.title} with the true labels: {b.truth:.4f}"


def _section(name: str, b: PerformanceBounds, code: str) -> Any:
    parts = [("all", b), *((str(group), part) for group, part in (b.groups or {}).items())]
    return section(
        f"How good is {name}?",
        b.summary(),
        result=b,
        picture=f"Interval of {b.metric.title} for {name}, with its confidence limits.",
        grid=Grid(_COLUMNS, tuple((f"{who} ({p.n:,})", *_numbers(p)) for who, p in parts)),
        assumptions=(
            "P(Y | weak labels) comes from a label model; the bounds are only as right as it is.",
            *(
                ()
                if b.gold is None
                else ("The limits with true labels hold if those were drawn at random.",)
            ),
            *(() if b.check is None else b.check.reasons),
        ),
        code=code,
    )


def _numbers(b: PerformanceBounds) -> tuple[str, ...]:
    shown = (b.bounds_limits.lower, b.lower, b.upper, b.bounds_limits.upper, b.truth)
    gold = "" if b.gold is None else f"{b.gold.lower:.3f} to {b.gold.upper:.3f}"
    return (
        *("" if v is None else f"{v:.3f}" for v in shown[:4]),
        gold,
        "" if b.truth is None else f"{b.truth:.3f}",
    )
