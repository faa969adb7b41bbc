"""``karat bounds``: how good the predictions in a file can and must be, with no labels."""

from pathlib import Path
from typing import Annotated, Any

import typer

from karat._code import Coded, call_code, lines_of_code, values
from karat._validate import check_choice
from karat.bounds import performance_bounds
from karat.cli import _flags as flags
from karat.cli._calls import call, check_taken, chosen_counts, class_columns, warn_of_no_pairs
from karat.cli._run import run
from karat.cli._table import (
    classes_of,
    in_order,
    read_class_prior,
    read_metric,
    read_null,
    read_pos_label,
    read_table,
)
from karat.evaluation.bounded import ModelBounds, bound_models
from karat.report.answer import Answer
from karat.sources import Counts
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
    check_choice(label_model, "--label-model", tuple(_MODELS))
    kind, settings = _MODELS[label_model]
    common: dict[str, Any] = {"robustness": robustness, "confidence": confidence, "rng": 0}

    def fitted_code(votes: Coded, fit: dict[str, Any]) -> str:
        build = call_code(kind.__name__, **settings)
        return f"label_model = {call_code(f'{build}.fit', votes, **fit)}"

    def counted(known: Coded) -> Answer:
        rows_alone = {"weak": weak, "label": label, "group": group, "rows": rows, "null": null}
        check_taken(rows_alone, beside="a file of counts")
        patterns = chosen_counts(Counts.load(file).patterns, pred, "--pred", file)
        results, codes = {}, {}
        for name, counts in patterns.items():
            labels = class_columns(counts.classes)
            classes, shares = read_class_prior(labels, class_prior)
            prior = dict(zip(classes, shares, strict=True)) if classes and shares else None
            fit = {} if prior is None else {"class_prior": prior}
            model = kind(**settings).fit(counts.votes(), **fit)
            bounded = call(
                performance_bounds,
                Coded(counts, "counts"),
                read=[
                    f"counts = Counts.load({str(file)!r}).patterns[{name!r}]",
                    fitted_code(Coded(None, "counts.votes()"), fit),
                ],
                label_model=Coded(model, "label_model"),
                metric=known,
                class_prior=prior,
                pos_label=read_pos_label(labels, pos_label),
                **common,
            )
            results[name], codes[name] = bounded.result, bounded.code
        warn_of_no_pairs(results)
        labelers = tuple(str(n) for n in next(iter(patterns.values())).names)
        found = ModelBounds(results=results, differences={}, labelers=labelers)
        return found.answer(file.name, codes.__getitem__)

    def work() -> Answer:
        known = read_metric(metric)
        if is_counts(file):
            return counted(known)
        wanted = [label, group, *(pred or ()), *(weak or ())]
        starts = (*(() if pred else _PREDICTIONS), *(() if weak else _LABELERS))
        table = read_table(file, rows, wanted, starts).with_codes(group)
        models = table.names("--pred", pred, _PREDICTIONS, taken=(label, group))
        labelers = table.names("--weak", weak, _LABELERS, taken=(label, group, *models))
        table.columns("--pred", models)
        table = table.matched([*models, *labelers, label], classes_of(known))
        votes = Coded(table.columns("--weak", labelers), f"frame[{labelers}]")
        said = table.columns("--pred", models)
        held = [*said, *votes.value]
        positive = read_pos_label(held, pos_label)
        classes, prior = in_order(known, *read_class_prior(held, class_prior), positive)
        meaning = read_null(null)
        fit: dict[str, Any] = {"null": meaning, "classes": classes, "class_prior": prior}
        fit["y_true"] = table.coded("--label", label)
        fit = {name: value for name, value in fit.items() if value is not None}
        options: dict[str, Any] = common | fit | {"metric": known, "pos_label": positive}
        groups = table.coded("--group", group)
        model = kind(**settings).fit(votes.value, **values(fit))
        found = bound_models(
            {name: said[name] for name in models},
            votes.value,
            model,
            groups=None if groups is None else groups.value,
            labelers=labelers,
            **values(options),
        )

        def code(*names: str) -> str:
            which = "performance_bounds" if len(names) == 1 else "difference_bounds"
            own = options | {"groups": groups} if len(names) == 1 else options
            columns = [Coded(None, f"frame[{name!r}]") for name in names]
            line = call_code(which, *columns, votes, Coded(model, "label_model"), **own)
            return lines_of_code(table.code, fitted_code(votes, fit), line)

        return found.answer(file.name, code)

    run(work, output=output, as_json=as_json, reads=[file, Path(metric)])
