"""The flags of ``karat judges`` that no other command has, as types of its arguments."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Alignment",
    "Cost",
    "Dependence",
    "Epsilon",
    "Errors",
    "LabelNext",
    "LabelProbability",
    "LabelsChosen",
    "Order",
    "Panel",
    "People",
    "Same",
    "Scored",
    "Structure",
    "System",
    "Threshold",
    "TodoFile",
    "VoteColumn",
    "VoterColumn",
]

VoterColumn = Annotated[
    str | None, typer.Option("--voter", help="Column of the voters' names in a long file.")
]
VoteColumn = Annotated[
    str | None, typer.Option("--vote", help="Column of the votes in a long file.")
]
LabelsChosen = Annotated[
    str | None,
    typer.Option(
        "--labels",
        help="How labelled items were chosen: random, probability or picked. By default "
        "probability with --label-probability, else random.",
    ),
]
LabelProbability = Annotated[
    str | None,
    typer.Option(
        "--label-probability", help="Column of the chance with which each label was drawn."
    ),
]
Same = Annotated[
    list[str] | None,
    typer.Option(
        "--same",
        help="Voters that count once: name=a,b,c or a pattern, such as gpt=gpt*. Repeat.",
    ),
]
LabelNext = Annotated[
    int | None, typer.Option("--label-next", help="Draw so many items to label next.")
]
TodoFile = Annotated[
    Path | None,
    typer.Option("--todo", help="Write the items to label to this CSV, Parquet or Arrow file."),
]
Threshold = Annotated[float | None, typer.Option(help="Cut probabilities into votes here.")]
Structure = Annotated[
    str, typer.Option(help="How domains share: independent, coupled or hierarchical.")
]
Errors = Annotated[
    str | None,
    typer.Option(help="class-conditional or symmetric. By default symmetric with --order."),
]
Dependence = Annotated[str, typer.Option(help="auto, none, difficulty or pairs.")]
Order = Annotated[
    list[str] | None,
    typer.Option(
        "--order",
        help="Pairs in two orders: the column that says the order, or two columns (or "
        "patterns) of verdicts, with the first answer first and with it second.",
    ),
]
System = Annotated[
    list[str] | None,
    typer.Option(
        "--system", help="With --order: columns of who wrote the first and the second answer."
    ),
]
People = Annotated[
    list[str] | None,
    typer.Option(
        "--people",
        help="May a judge replace a person? Columns, or voters, that are people. The judges are "
        "all others, or those of --judge.",
    ),
]
Epsilon = Annotated[
    float | None, typer.Option(help="With --people: how far a person may be ahead.")
]
Alignment = Annotated[str, typer.Option(help="With --people: accuracy (labels) or rmse (ratings).")]
Scored = Annotated[
    bool, typer.Option("--scores", help="Votes are ratings or probabilities, used as they are.")
]
Panel = Annotated[
    bool, typer.Option("--panel", help="Name the cheapest judges that decide as all do.")
]
Cost = Annotated[
    list[str] | None, typer.Option("--cost", help="With --panel: judge=number. Repeat.")
]
