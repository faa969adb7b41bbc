"""``karat score``: metrics of labelled rows, with their limits."""

import warnings
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from karat._code import Coded, call_code, script, values
from karat.audit import best_of_many
from karat.audit.result import ModelTiers
from karat.cli import _flags as flags
from karat.cli._run import Answer, Grid, Page, run, section
from karat.cli._table import InputTable, classes_of, read_metric, read_pos_label, read_table
from karat.evaluation.questions import below_one_class
from karat.exceptions import EmptyDataError, KaratWarning
from karat.metrics import GroupMetric, as_metric
from karat.metrics.result import MetricEstimate
from karat.report.parts import Verdict

_COLUMNS = ("items", "labels", "lower", "value", "upper")


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
        table = read_table(file).with_codes(group, cluster)
        chosen = {name: read_metric(name) for name in metric.split(",")}
        table.column("--label", label)
        names = table.names("--pred", pred, ("pred", "y_pred"))
        table.columns("--pred", names)
        table = table.matched([label, *names], classes_of(*chosen.values()))
        table.check_filled("--pred", names, label)
        known = table.frame.drop_nulls([label])
        if not len(known):
            raise EmptyDataError(f"--label {label} is empty in every row; label some rows first")
        positive = read_pos_label([known[label], *(known[n] for n in names)], pos_label)
        shared: dict[str, Any] = {"pos_label": positive, "confidence": confidence, "rng": 0}
        own = shared | {
            "groups": _coded(table, known, "--group", group),
            "clusters": _coded(table, known, "--cluster", cluster),
            "sample_weight": _coded(table, known, "--weight", weight),
        }
        results: dict[str, dict[str, MetricEstimate]] = {n: {} for n in names}
        codes: dict[tuple[str, str], str] = {}
        for title, value in chosen.items():
            found = as_metric(value.value)
            for name in names:
                used = {k: v for k, v in own.items() if v is not None}
                results[name][title] = found.estimate(known[label], known[name], **values(used))
                codes[name, title] = _code(table, label, name, value, used)
        tiers = _compared({n: known[n] for n in names}, known[label], chosen, weight, shared)
        below = below_one_class(
            known[label],
            {n: known[n] for n in names},
            weight=None if weight is None else known[weight],
            by=weight or "",
        )
        verdicts = () if below is None else (below,)
        sample = "Labelled rows are a random sample of what the limits speak of"
        sample += "." if weight is None else f" once each counts by its {weight}."
        return _answer(file, results, tiers, codes, sample, verdicts)

    run(work, output=output, as_json=as_json, reads=[file])


def _compared(
    models: dict[str, Any],
    truth: Any,
    metrics: dict[str, Coded],
    weight: str | None,
    options: dict[str, Any],
) -> dict[str, ModelTiers]:
    """Return which of several models are best, by metric; a metric of groups compares none."""
    plain = {
        title: metric.value
        for title, metric in metrics.items()
        if len(models) > 1 and not isinstance(as_metric(metric.value), GroupMetric)
    }
    if plain and weight is not None:
        said = "models are not compared: differences do not heed --weight"
        warnings.warn(said, KaratWarning, stacklevel=1)
        return {}
    return {
        title: best_of_many(models, truth, metric=metric, **options)
        for title, metric in plain.items()
    }


def _coded(table: InputTable, known: Any, flag: str, name: str | None) -> Coded | None:
    if name is None:
        return None
    table.column(flag, name)
    return Coded(known[name], f"known[{name!r}]")


def _code(table: InputTable, label: str, name: str, metric: Coded, used: dict[str, Any]) -> str:
    loads = "load_metric" in metric.code
    imports = "from karat.metrics import " + ("load_metric" if loads else "as_metric")
    maker = metric.code if loads else f"as_metric({metric.code})"
    truth, called = Coded(None, f"known[{label!r}]"), Coded(None, f"known[{name!r}]")
    return script(
        ("import polars as pl", imports),
        table.code,
        f"known = frame.drop_nulls({label!r})",
        call_code(f"{maker}.estimate", truth, called, **used),
    )


def _answer(
    file: Path,
    results: dict[str, dict[str, MetricEstimate]],
    tiers: dict[str, ModelTiers],
    codes: dict[tuple[str, str], str],
    sample: str,
    verdicts: tuple[Verdict, ...],
) -> Answer:
    text: list[str | Grid] = [f"[{verdict.badge}] {verdict.sentence}" for verdict in verdicts]
    for name, found in results.items():
        for estimate in found.values():
            text.append(f"{name}: {estimate.summary()}")
            text += [f"  {who}: {part.summary()}" for who, part in (estimate.groups or {}).items()]
            text += [f"  {gap.summary()}" for gap in estimate.gaps]
    for ranked in tiers.values():
        text.append(ranked.summary())
        text += [f"  {gap.summary()}" for gap in ranked.pairs]
    data = {"verdicts": verdicts, "results": results, "comparisons": tiers}
    page = partial(_page, file, results, tiers, codes, sample, verdicts)
    return Answer(data=data, text=text, page=page)


def _page(
    file: Path,
    results: dict[str, dict[str, MetricEstimate]],
    tiers: dict[str, ModelTiers],
    codes: dict[tuple[str, str], str],
    sample: str,
    verdicts: tuple[Verdict, ...],
) -> Page:
    parts = [
        section(
            f"Which model is best in {ranked.metric.title}?",
            ranked.summary(),
            result=ranked,
            picture="Every model with its limits, by tier.",
            grid=Grid(
                ("pair", "lower", "difference", "upper"),
                tuple(
                    (
                        f"{g.first} − {g.second}",
                        f"{g.lower:+.3f}",
                        f"{g.value:+.3f}",
                        f"{g.upper:+.3f}",
                    )
                    for g in ranked.pairs
                ),
            ),
            assumptions=(
                "Limits of the differences hold for all pairs together.",
                *(
                    ("Limits by each other metric hold by themselves.",)
                    if ranked.reversed_by
                    else ()
                ),
            ),
        )
        for ranked in tiers.values()
    ]
    for name, found in results.items():
        for title, e in found.items():
            rows = [("all", e), *((str(who), part) for who, part in (e.groups or {}).items())]
            parts.append(
                section(
                    f"How good is {name} in {e.metric.title}?",
                    e.summary(),
                    result=e,
                    picture=f"{e.metric.title} of {name} with its limits.",
                    grid=Grid(
                        _COLUMNS,
                        tuple(
                            (who, f"{p.n:,}", f"{p.lower:.3f}", f"{p.value:.3f}", f"{p.upper:.3f}")
                            for who, p in rows
                        ),
                    ),
                    assumptions=(sample,),
                    code=codes[name, title],
                )
            )
    return Page(f"{file.name}: scores", "Metrics of labelled rows, with limits.", parts, verdicts)
