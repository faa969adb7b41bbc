"""``karat people``: whether a judge may replace a person who labels."""

from typing import Annotated

import typer

from karat.cli import _flags as flags
from karat.cli._calls import call
from karat.cli._run import run
from karat.cli._table import read_table
from karat.cli._votes import Reading, judges_beside, named_items
from karat.consensus import annotator_test
from karat.evaluation.voters import of_people
from karat.report.answer import Answer


def people(
    file: flags.File,
    person: Annotated[
        list[str],
        typer.Option(
            "--person",
            help="Column of a person's answers, or the person's name in a long file, or a pattern "
            "such as 'person_*'; repeat.",
        ),
    ],
    epsilon: Annotated[
        float,
        typer.Option(
            "--epsilon",
            help="How far a person may be ahead of the judge: .2 for experts, .15 for skilled "
            "people, .1 for crowd workers.",
        ),
    ],
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            help="Column of a judge's answers, or its name in a long file, or a pattern; repeat. "
            "By default all others that answer as people do.",
        ),
    ] = None,
    item: flags.Id = None,
    voter: flags.VoterColumn = None,
    vote: flags.VoteColumn = None,
    alignment: Annotated[
        str, typer.Option("--alignment", help="accuracy (labels) or rmse (ratings).")
    ] = "accuracy",
    confidence: flags.Confidence = 0.95,
    rows: flags.Rows = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Test whether a judge may replace a person who labels.

    Example:  karat people answers.csv --person 'person_*' --epsilon 0.15

    On each item, whoever agrees more with the remaining people is ahead, the judge or a person. A
    judge may replace a person if it is ahead often enough; the people are the only reference, and
    no true label is needed. A wide file has a column per person and per judge, a long file a row
    per answer.
    """
    reading = Reading(judge or (), None, None, item, voter, vote)

    def work() -> Answer:
        table = named_items(read_table(file, rows), reading)
        tested = {
            one.judge: call(
                annotator_test,
                one.answers,
                one.people,
                read=[table.code],
                epsilon=epsilon,
                alignment=alignment,
                confidence=confidence,
            )
            for one in judges_beside(table, reading, person, rated=alignment == "rmse")
        }
        results = {name: found.result for name, found in tested.items()}
        codes = {name: found.code for name, found in tested.items()}
        return of_people(results, file.name, codes)

    run(work, output=output, as_json=as_json, reads=[file])
