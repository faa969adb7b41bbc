"""``karat pairs``: verdicts on pairs of answers that were shown in both orders."""

from typing import Annotated, Any

import typer

from karat.cli import _flags as flags
from karat.cli._calls import fit
from karat.cli._run import run
from karat.cli._table import read_table
from karat.cli._votes import (
    Gold,
    Reading,
    Todo,
    judges_of,
    named_items,
    panel_of,
    read_error_model,
    verdicts_of,
)
from karat.consensus import PairEstimator, rank_systems
from karat.evaluation.voters import Beside, of_pairs
from karat.exceptions import OptionError
from karat.report.answer import Answer


def pairs(
    file: flags.File,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            help="Column of a judge's verdicts in a wide file, or a pattern such as '*_ab'; "
            "repeat.",
        ),
    ] = None,
    swapped: Annotated[
        list[str] | None,
        typer.Option(
            "--swapped",
            help="Column of the same judge's verdicts with the two answers swapped, or a pattern "
            "such as '*_ba'; one for each --judge, or one for --vote.",
        ),
    ] = None,
    label: flags.KnownLabel = None,
    group: flags.Group = None,
    item: flags.Id = None,
    voter: flags.VoterColumn = None,
    vote: flags.VoteColumn = None,
    order: Annotated[
        str | None,
        typer.Option(
            "--order",
            help="Column that says which order was shown, in a long file; by default order.",
        ),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            "--system",
            help="Column of who wrote the first answer, and again for the second: ranks them.",
        ),
    ] = None,
    design: flags.Design = None,
    label_probability: flags.LabelProbability = None,
    same: flags.Same = None,
    label_next: flags.LabelNext = None,
    todo: flags.TodoFile = None,
    error_model: flags.ErrorModel = None,
    dependence: flags.Dependence = None,
    panel: flags.Panel = False,
    cost: flags.Cost = None,
    confidence: flags.Confidence = 0.95,
    rows: flags.Rows = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Estimate how often judges prefer the worse of two answers, and the first one.

    Example:  karat pairs pairs.csv --judge '*_ab' --swapped '*_ba' --output pairs.html

    Every pair of answers was shown in both orders. A verdict names the answer that is better,
    wherever it stood, or says tie. A wide file has two columns per judge: --judge names those of
    one order and --swapped those of the other. A long file has a row per verdict, with a column
    that says the order (--order), or with the verdicts of both orders in two columns (--vote and
    --swapped).
    """
    items = Todo(label_next, todo)
    items.check()
    if system and len(system) != 2:
        raise OptionError(
            f"--system is {system}; expected two columns: who wrote the first answer, and who the "
            "second"
        )
    options: dict[str, Any] = {
        "errors": read_error_model(error_model),
        "dependence": dependence,
        "confidence": confidence,
        "rng": 0,
    }
    also = [*(system or ()), label_probability]
    reading = Reading(judge or (), label, group, item, voter, vote, also)
    gold = Gold(label, group, design, label_probability, same or ())

    def work() -> Answer:
        table = named_items(read_table(file, rows), reading)
        verdicts = verdicts_of(table, reading, swapped or (), order)
        both = [v for v in (verdicts.first, verdicts.swapped) if v is not None]
        how = {"read": [table.code], "then": ["estimator.error_rates_", items.code]}
        given = gold.options(table, judges_of(verdicts.first))
        fitted = fit(PairEstimator, options, *both, **how, **given)
        ranking = None
        if system:
            blind = fitted.result
            if label is not None:  # gold helps a ranking only if judges are blind to it
                unseen = {name: given[name] for name in ("domains", "same")}
                blind = fit(PairEstimator, options, *both, **how, **unseen).result
            wrote = [table.column("--system", name) for name in system]
            truth = table.optional("--label", label)
            by_item = verdicts.item if blind.items_ is not None else None
            wrote, truth = _by_item(table, by_item, wrote, truth)
            ranking = rank_systems(blind, *wrote, y_true=truth, confidence=confidence, rng=0)
        beside = Beside(
            name=file.name,
            code=fitted.code,
            drawn=items.draw(fitted.result, verdicts.item),
            path=todo,
            panels=panel_of(fitted.result, cost or (), confidence) if panel else (),
        )
        return of_pairs(fitted.result, beside, ranking)

    run(work, output=output, as_json=as_json, reads=[file], writes={"--todo": todo})


def _by_item(table: Any, item: str | None, wrote: list[Any], truth: Any) -> tuple[list[Any], Any]:
    """Return columns as a value for each item, where the verdicts have names."""
    if item is None:
        return wrote, truth
    names = table.frame[item].to_list()
    named = [
        None if column is None else dict(zip(names, column.to_list(), strict=True))
        for column in (*wrote, truth)
    ]
    return named[:2], named[2]
