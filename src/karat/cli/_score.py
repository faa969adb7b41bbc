"""``karat score``: metrics of labelled rows, with their limits."""

from typing import Annotated, Any

import typer

from karat._code import Coded, call_code, lines_of_code, values
from karat.cli import _flags as flags
from karat.cli._calls import (
    check_taken,
    chosen_counts,
    class_columns,
    needed_label,
    warn_of_no_pairs,
)
from karat.cli._run import run
from karat.cli._table import (
    PREDICTIONS,
    code_of_metric,
    known_rows,
    read_metric,
    read_pos_label,
    read_table,
)
from karat.evaluation.scores import score_models
from karat.report.answer import Answer
from karat.sources import Counts
from karat.sources.stored import is_counts


def score(
    file: flags.File,
    label: flags.KnownLabel = None,
    pred: flags.Predictions = None,
    metric: flags.Metric = "accuracy",
    pos_label: flags.PosLabel = None,
    group: flags.Group = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Column of what rows belong to together, such as a person or a prompt."),
    ] = None,
    weight: flags.Weight = None,
    confidence: flags.Confidence = 0.95,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Score predictions against labels, with limits for every metric.

    Example:  karat score labelled.csv --label truth --pred model --metric f1,mcc

    Rows without a label are left out: the others are taken for a random sample, or for one that
    --weight makes even. Several models are compared on the same rows, with limits that hold for all
    pairs together; with --weight each is scored alone.
    """

    def of_counts(metrics: dict[str, Coded]) -> Answer:
        of_rows = {"label": label, "group": group, "cluster": cluster, "weight": weight}
        check_taken(of_rows, beside="a file of counts")
        found = chosen_counts(Counts.load(file).confusions, pred, "--pred", file)
        labels = [column for one in found.values() for column in class_columns(one.classes)]
        how: dict[str, Any] = {
            "pos_label": read_pos_label(labels, pos_label),
            "confidence": confidence,
            "rng": 0,
        }
        scores = score_models(found, None, values(metrics), **how)
        warn_of_no_pairs(found)
        read = f"counts = Counts.load({str(file)!r}).confusions"
        codes = {}
        for name in found:
            one = Coded(None, f"counts[{name!r}]")
            for title, chosen in metrics.items():
                line = call_code(f"{code_of_metric(chosen)}.estimate", one, **how)
                codes[name, title] = lines_of_code(read, line)
        return scores.answer(file.name, codes)

    def work() -> Answer:
        metrics = {name: read_metric(name) for name in metric.split(",")}
        if is_counts(file):
            return of_counts(metrics)
        known_label = needed_label(label)
        wanted = [known_label, group, cluster, weight, *(pred or ())]
        counted = cluster is None and weight is None
        table = read_table(
            file, None, wanted, () if pred else PREDICTIONS, counted=counted, codes=group
        ).with_codes(group, cluster)
        rows = known_rows(table, known_label, pred, *metrics.values())
        truth, models = rows.column("--label", known_label), rows.models
        labels = [truth.value, *(said.value for said in models.values())]
        options: dict[str, Any] = {
            "groups": rows.optional("--group", group),
            "clusters": rows.optional("--cluster", cluster),
            "sample_weight": rows.optional("--weight", weight),
            "pos_label": read_pos_label(labels, pos_label),
            "confidence": confidence,
            "rng": 0,
        } | rows.repeats
        scores = score_models(
            truth.value, values(models), values(metrics), weight=weight or "", **values(options)
        )
        codes = {
            (name, title): rows.code(
                call_code(f"{code_of_metric(chosen)}.estimate", truth, said, **options)
            )
            for name, said in models.items()
            for title, chosen in metrics.items()
        }
        return scores.answer(file.name, codes)

    run(work, output=output, as_json=as_json, reads=[file])
