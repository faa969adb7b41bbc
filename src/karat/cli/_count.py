"""karat count: count a large file once, and answer from the counts."""

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from karat._validate import named
from karat.cli import _flags as flags
from karat.cli._run import console, run
from karat.cli._table import check_once, read_classes, read_null, read_pos_label
from karat.exceptions import ColumnError, KaratWarning, OptionError
from karat.report.answer import Answer
from karat.sources import Counts, Source, scan
from karat.sources.engines import collect

# What columns are called where no flag names them.
_STARTS = {
    "pred": ("pred", "y_pred"),
    "weak": ("lf_", "weak_", "vote_"),
    "score": ("score", "y_score", "prob"),
}


def count(
    file: Annotated[
        str,
        typer.Argument(
            help="A file, a folder, a pattern such as 'scores/*.parquet', a DuckDB query, or - for "
            "the standard input."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write the counts to this .parquet file.")
    ],
    label: flags.KnownLabel = None,
    pred: flags.Predictions = None,
    score: flags.Scores = None,
    weak: flags.WeakLabels = None,
    judge: flags.Voters = None,
    group: flags.Group = None,
    weight: flags.Weight = None,
    weighting: flags.Weighting = None,
    item: flags.Id = None,
    cells: Annotated[
        int | None,
        typer.Option(help="Count scores in so many cells, and not each, which shows the scores."),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(help="All classes, such as ham,spam, where not all occur in every file."),
    ] = None,
    pos_label: flags.PosLabel = None,
    null: flags.Null = None,
    as_json: flags.AsJson = False,
) -> None:
    """Reduce rows to counts, of which bounds, judges and auc answer without the rows.

    Example:  karat count mails.csv --pred model --weak 'rule_*' -o counts.parquet

    Only counts leave: predictions by pattern of weak labels, votes by pattern, positives
    and negatives per score, truth against prediction, whatever the columns allow. With
    none of --pred, --weak, --judge and --score, these columns are found by their names
    (pred…, lf_…, score…); with one of them, only what flags name is counted. Scores that
    all differ are as many counts as rows: --cells counts them in cells. The file is
    written whole or not at all.
    """

    def work() -> Answer:
        source = scan(file)
        given: dict[str, Any] = {
            "label": label,
            "pred": pred,
            "score": score,
            "weak": weak,
            "judge": judge,
            "group": group,
            "weight": weight,
            "id": item,
        }
        for role in ("pred", "score", "weak", "judge"):
            check_once(f"--{role}", given[role] or ())
        if pos_label is not None and label is None:
            raise OptionError(f"--pos-label is {pos_label!r}; expected --label with it")
        source = _with_roles(source, given, weighting or "importance")
        if pos_label is not None and "score" not in source.chosen:
            raise OptionError(f"--pos-label is {pos_label!r}; expected scores, which it is for")
        with console(stderr=True).status(f"reading {source.name}") as status:
            positive = None
            if pos_label is not None and label is not None:
                positive = read_pos_label([_distinct(source, label)], pos_label)
            every = None
            if classes is not None:
                labelled = ("label", "pred", "judge", "weak")
                held = [c for role in labelled for c in source.chosen.get(role, ())]
                every = read_classes([_distinct(source, name) for name in held], classes)
            counts = source.counts(
                null=read_null(null) or "not asked",
                pos_label=positive,
                cells=cells,
                classes=every,
                progress=status.update,
            )
        _warn_of_single_scores(counts)
        counts.save(output)
        said = [source.summary(), f"{counts.summary()}.", f"Wrote {output}."]
        data = {
            "roles": {role: list(columns) for role, columns in source.chosen.items()},
            "patterns": list(counts.patterns),
            "scores": list(counts.roc),
            "confusions": list(counts.confusions),
            "voters": [],
            "output": str(output),
        }
        if counts.votes is not None:
            data["voters"] = [str(name) for name in counts.votes.names]
        return Answer(data=data, text=said)

    run(work, as_json=as_json, reads=[Path(file)], writes={"--output": output})


def _warn_of_single_scores(counts: Counts) -> None:
    """Say where counts of scores are as good as the rows."""
    for name, one in counts.roc.items():
        rows = one.positives + one.negatives
        alone = int((rows == 1).sum())
        if not one.cells and one.squares is None and alone > 0.5 * rows.sum():
            warnings.warn(
                f"{alone:,} of {int(rows.sum()):,} rows have a value of {name} of their own, so "
                "the counts show their scores and labels; --cells 1000 counts in cells",
                KaratWarning,
                stacklevel=2,
            )


def _distinct(source: Source, column: str) -> Any:
    """Return some distinct labels of a column, without -1, which abstains."""
    found = collect(source.frame.select(column).unique().head(1000))[column]
    return found.filter(found.cast(str) != "-1")


def _with_roles(source: Source, given: dict[str, Any], weighting: str) -> Source:
    """Return the source with the columns that flags name, or whose names say what they are."""
    taken = {
        c
        for value in given.values()
        if value
        for c in ([value] if isinstance(value, str) else value)
    }
    by_flag = any(given[role] for role in (*_STARTS, "judge"))
    for role, starts in _STARTS.items():
        if by_flag or (role == "score" and not given["label"]):
            continue
        names = [n for n in source.names if n.lower().startswith(starts) and n not in taken]
        given[role] = names or None
    if not any(given.values()):
        raise ColumnError(
            f"name the columns to count with --judge, --pred, --weak, --score and --label; there "
            f"are {named(source.names)}"
        )
    return source.roles(
        **{role: value for role, value in given.items() if value}, weighting=weighting
    )
