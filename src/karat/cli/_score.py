"""``karat score``: metrics of labelled rows, with their limits."""

from typing import Annotated, Any

import typer

from karat._code import call_code, values
from karat.cli import _flags as flags
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


def score(
    file: flags.File,
    label: flags.Label,
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

    def work() -> Answer:
        metrics = {name: read_metric(name) for name in metric.split(",")}
        wanted = [label, group, cluster, weight, *(pred or ())]
        counted = cluster is None and weight is None
        table = read_table(
            file, None, wanted, () if pred else PREDICTIONS, counted=counted, codes=group
        ).with_codes(group, cluster)
        rows = known_rows(table, label, pred, *metrics.values())
        truth, models = rows.column("--label", label), rows.models
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
