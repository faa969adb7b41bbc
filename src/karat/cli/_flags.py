"""The flags that mean the same in every command, as types of a command's arguments."""

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[
    Path,
    typer.Argument(
        help="A CSV, TSV, Parquet, Arrow or JSON-lines file (.gz too), one row per item, an empty "
        "cell is missing; a folder or a pattern of such files; - for the standard input; an "
        "evaluation log; or counts of karat count."
    ),
]
Label = Annotated[str, typer.Option("--label", help="Column of true labels.")]
KnownLabel = Annotated[
    str | None, typer.Option("--label", help="Column of true labels, empty where unknown.")
]
Labels = Annotated[
    list[str] | None,
    typer.Option("--label", help="Column of a label, 0 or 1; repeat. Or one column of classes."),
]
Predictions = Annotated[
    list[str] | None,
    typer.Option(
        "--pred",
        help="Column of predictions, or a pattern such as 'model_*'; repeat for several models.",
    ),
]
WeakLabels = Annotated[
    list[str] | None,
    typer.Option(
        "--weak",
        help="Column of a weak labeler, or a pattern such as 'rule_*'; -1: it abstained. Repeat.",
    ),
]
Voters = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        help="Column of a voter's votes, or a pattern such as 'gpt*'; -1: it abstained. Repeat. By "
        "default every column that no other flag names.",
    ),
]
Score = Annotated[
    str | None, typer.Option("--score", help="Column of scores of the positive class.")
]
Scores = Annotated[
    list[str] | None,
    typer.Option("--score", help="Column of scores; repeat for several models."),
]
Probabilities = Annotated[
    list[str] | None,
    typer.Option(
        "--prob", help="Column of probabilities; repeat, in the order of the sorted labels."
    ),
]
Group = Annotated[
    str | None,
    typer.Option("--group", help="Column of groups, or of domains, that are measured apart."),
]
Id = Annotated[
    str | None,
    typer.Option("--id", help="Column that names the items."),
]
Weight = Annotated[str | None, typer.Option("--weight", help="Column of weights.")]
Weighting = Annotated[
    str | None,
    typer.Option(
        "--weighting",
        help="What weights are: importance (the default), or frequency (a row stands for so many).",
    ),
]
Markdown = Annotated[
    Path | None,
    typer.Option("--markdown", help="Write a summary in Markdown here; its folder must exist."),
]
PosLabel = Annotated[
    str | None,
    typer.Option(
        "--pos-label",
        help="The positive class. By default the metric's, the 1 of 0 and 1, or a word such as "
        "yes, spam or fraud; two other labels need the flag.",
    ),
]
Metric = Annotated[
    str, typer.Option("--metric", help="Name of a metric, or a .json file that holds one.")
]
Confidence = Annotated[
    float, typer.Option("--confidence", help="Probability that the limits hold.")
]
Rows = Annotated[int | None, typer.Option("--rows", help="Read a random sample of so many rows.")]
Null = Annotated[
    str | None,
    typer.Option(
        "--null",
        help="What an empty cell of a voter is: not-asked (the voter did not see the item, the "
        "default as in Python), or abstain (it saw the item and did not vote, as in files of "
        "labeling functions).",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write an HTML page here; its folder must exist."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON and nothing else on the standard output.")
]
VoterColumn = Annotated[
    str | None, typer.Option("--voter", help="Column of the voters' names in a long file.")
]
VoteColumn = Annotated[
    str | None, typer.Option("--vote", help="Column of the votes in a long file.")
]
Design = Annotated[
    str | None,
    typer.Option(
        "--design",
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
ErrorModel = Annotated[
    str | None,
    typer.Option(
        "--error-model",
        help="What errors depend on: class-conditional (the default for votes) or symmetric (the "
        "default for pairs).",
    ),
]
Dependence = Annotated[
    str | None,
    typer.Option(
        "--dependence",
        help="How errors may go together: auto (the default), none, difficulty or pairs.",
    ),
]
Panel = Annotated[
    bool, typer.Option("--panel", help="Name the cheapest judges that decide as all do.")
]
Cost = Annotated[
    list[str] | None,
    typer.Option("--cost", help="What a judge costs, for --panel: judge=number. Repeat."),
]
