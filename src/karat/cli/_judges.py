"""``karat judges``: how often voters err, from their votes or their ratings."""

from typing import Annotated, Any

import typer

from karat.cli import _flags as flags
from karat.cli._calls import check_taken, fit
from karat.cli._run import run
from karat.cli._table import InputTable, is_large, read_null, read_table
from karat.cli._votes import (
    Gold,
    Reading,
    Todo,
    counted_votes,
    matched_votes,
    named_items,
    panel_of,
    ratings_of,
    read_error_model,
)
from karat.consensus import ErrorEstimator, ScoreEstimator
from karat.evaluation.voters import Beside, of_ratings, of_votes
from karat.exceptions import OptionError
from karat.report.answer import Answer
from karat.sources.stored import is_counts


def judges(
    file: flags.File,
    judge: flags.Voters = None,
    score: Annotated[
        list[str] | None,
        typer.Option(
            "--score",
            help="Column of a voter's ratings or probabilities, used as they are, or a pattern; "
            "repeat. In a long file the one column of all ratings.",
        ),
    ] = None,
    label: flags.KnownLabel = None,
    group: flags.Group = None,
    item: flags.Id = None,
    voter: flags.VoterColumn = None,
    vote: flags.VoteColumn = None,
    design: flags.Design = None,
    label_probability: flags.LabelProbability = None,
    same: flags.Same = None,
    label_next: flags.LabelNext = None,
    todo: flags.TodoFile = None,
    null: flags.Null = None,
    threshold: Annotated[
        float | None, typer.Option(help="Cut probabilities into votes here.")
    ] = None,
    structure: Annotated[
        str | None,
        typer.Option(help="How domains share: independent (the default), coupled or hierarchical."),
    ] = None,
    error_model: flags.ErrorModel = None,
    dependence: flags.Dependence = None,
    panel: flags.Panel = False,
    cost: flags.Cost = None,
    confidence: flags.Confidence = 0.95,
    rows: flags.Rows = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Estimate how often each judge, annotator or classifier errs, from their votes.

    Example:  karat judges verdicts.csv --judge 'judge_*' --output judges.html

    A wide file has a column per voter: all columns that no flag names, or those of --judge. A long
    file has a row per vote: columns of items, voters and votes, known by names such as item,
    annotator, label or task_id, worker, answer, or named by --id, --voter and --vote. Domains are
    those of --group, else those of the column domain. Ratings are named by --score. For verdicts on
    pairs of answers see karat pairs; to compare judges with people, karat people.
    """
    items = Todo(label_next, todo)
    items.check()
    options: dict[str, Any] = {"confidence": confidence, "rng": 0}
    model = {
        "structure": structure,
        "errors": read_error_model(error_model),
        "dependence": dependence,
    }
    of_votes_alone = {
        "judge": judge,
        "vote": vote,
        "label_probability": label_probability,
        "same": same,
        "label_next": label_next,
        "todo": todo,
        "null": null,
        "threshold": threshold,
        "panel": panel,
        "cost": cost,
    }
    also, cut = [label_probability], threshold is not None
    reading = Reading(judge or (), label, group, item, voter, vote, also, cut)
    gold = Gold(label, group, design, label_probability, same or ())

    def counted() -> Answer:
        columns = {"score": score, "label": label, "group": group, "id": item, "voter": voter}
        check_taken(of_votes_alone | columns | {"rows": rows}, beside="a file of counts")
        read, votes = counted_votes(file)
        how: dict[str, Any] = {"read": read, "then": [_LAST], "labels": design}
        fitted = fit(ErrorEstimator, options | model, votes, **how)
        names = [str(name) for name in votes.value.names]
        return of_votes(fitted.result, names, Beside(name=file.name, code=fitted.code))

    def rated(table: InputTable) -> Answer:
        check_taken(of_votes_alone | model, beside="--score")
        ratings = ratings_of(table, reading, score or ())
        how: dict[str, Any] = {"read": [table.code], "then": [_LAST]} | gold.options(table)
        fitted = fit(ScoreEstimator, options, ratings, **how)
        return of_ratings(fitted.result, Beside(name=file.name, code=fitted.code))

    def voted(table: InputTable) -> Answer:
        table, found, known = matched_votes(table, reading, gold)
        if structure in _SHARING and group is None and "domain" not in found.votes.value.columns:
            raise OptionError(
                f"--structure is {structure!r}; expected --group with it, which names the column "
                "of the domains that share"
            )
        how: dict[str, Any] = {
            "read": [table.code],
            "then": [_LAST, items.code],
            "threshold": threshold,
        }
        how |= known.options(table, found.voters, long=found.long) | {"null": read_null(null)}
        how |= table.repeats
        fitted = fit(ErrorEstimator, options | model, found.votes, **how)
        beside = Beside(
            name=file.name,
            code=fitted.code,
            drawn=items.draw(fitted.result, found.item),
            path=todo,
            panels=panel_of(fitted.result, cost or (), confidence) if panel else (),
        )
        return of_votes(fitted.result, found.columns, beside)

    def work() -> Answer:
        if is_counts(file):
            return counted()
        by_row = (score, label, item, voter, vote, label_probability, label_next, threshold, rows)
        if judge and not any(by_row) and is_large(file):
            table = read_table(file, None, [*judge, group], counted=True, codes=group)
            return voted(table.with_codes(group))
        table = named_items(read_table(file, rows), reading)
        return rated(table) if score else voted(table)

    run(work, output=output, as_json=as_json, reads=[file], writes={"--todo": todo})


_LAST = "estimator.error_rates_"
_SHARING = ("coupled", "hierarchical")
