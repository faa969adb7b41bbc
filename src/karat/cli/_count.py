"""karat count: count a large file once, and answer from the counts."""

import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from karat._files import replaced
from karat._validate import check_choice, named, refuse_option
from karat.cli import _flags as flags
from karat.cli._run import console, run
from karat.cli._table import check_once, read_classes, read_null, read_pos_label
from karat.exceptions import ColumnError, KaratWarning, OptionError
from karat.report.answer import Answer
from karat.sources import Counts, Source, scan
from karat.sources.engines import collect
from karat.sources.sql import read_result

# What columns are called where no flag names them.
_STARTS = {
    "pred": ("pred", "y_pred"),
    "weak": ("lf_", "weak_", "vote_"),
    "score": ("score", "y_score", "prob"),
}


def count(
    file: Annotated[
        str | None,
        typer.Argument(
            help="A file, a folder, a pattern such as 'scores/*.parquet', a DuckDB query, a table "
            "such as duckdb:mails.db#scores or spark:db.scores, or - for the standard input; with "
            "--sql the name of the table to query."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the counts to this .parquet file, or with --sql the query to this file.",
        ),
    ] = None,
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
    sql: Annotated[
        str | None,
        typer.Option(
            help="Count nothing, and print the query that does, for bigquery, snowflake, "
            "postgres, spark or duckdb."
        ),
    ] = None,
    result: Annotated[
        Path | None,
        typer.Option("--from", help="Read the result of that query, a .csv, .jsonl or .parquet."),
    ] = None,
    as_json: flags.AsJson = False,
) -> None:
    """Reduce rows to counts, from which other commands answer without the rows.

    Example:  karat count mails.csv --pred model --weak 'rule_*' -o counts.parquet

    Where the rows are in a warehouse, let it count; no connector is needed:

    karat count mails --sql bigquery --label y --pred a > count.sql

    karat count --from result.csv -o counts.parquet

    Only counts leave: predictions by pattern of weak labels, votes by pattern, positives
    and negatives per score, truth against prediction, whatever the columns allow. With
    none of --pred, --weak, --judge and --score, these columns are found by their names
    (pred…, lf_…, score…); with one of them, only what flags name is counted. Scores that
    all differ are as many counts as rows: --cells counts them in cells. The file is
    written whole or not at all.
    """
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

    def work() -> Answer:
        _check_way(file, output, sql, result, given)
        for role in ("pred", "score", "weak", "judge"):
            check_once(f"--{role}", given[role] or ())
        if sql is not None:
            return _query(str(file), sql, given, weighting, output, as_json=as_json)
        if result is not None:
            return _from_result(result, output, pos_label, cells, classes, null)
        source = scan(str(file))
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
        return _saved(counts, source.summary(), source.chosen, output)

    read = [Path(str(path)) for path in (file, result) if path is not None and sql is None]
    run(work, as_json=as_json, reads=read, writes={"--output": output})


def _saved(counts: Counts, said: str, roles: Mapping[str, Any], output: Path | None) -> Answer:
    """Write the counts and return what was counted."""
    assert output is not None  # it was checked first
    _warn_of_single_scores(counts)
    counts.save(output)
    data = {
        "roles": {role: list(columns) for role, columns in roles.items()},
        "patterns": list(counts.patterns),
        "scores": list(counts.roc),
        "confusions": list(counts.confusions),
        "voters": [],
        "output": str(output),
    }
    if counts.votes is not None:
        data["voters"] = [str(name) for name in counts.votes.names]
    return Answer(data=data, text=[said, f"{counts.summary()}.", f"Wrote {output}."])


# --- The query that counts in a warehouse, and its result.


def _check_way(
    file: str | None,
    output: Path | None,
    sql: str | None,
    result: Path | None,
    given: Mapping[str, Any],
) -> None:
    """Refuse flags that do not go together: rows are counted, or a query is printed, or read."""
    if result is not None:
        for flag, value in {"FILE": file, "--sql": sql}.items():
            if value is not None:
                refuse_option(str(result), "--from", f"no {flag} with it, and there is {value}")
        for role, value in given.items():
            if value:
                flag = "--" + role
                refuse_option(str(result), "--from", f"no {flag} with it: the query named columns")
    elif file is None:
        raise OptionError("FILE is missing; expected what to count, or --from with a result")
    if sql is None and output is None:
        raise OptionError("--output is missing; expected the .parquet file to write")


def _query(
    table: str,
    dialect: str,
    given: Mapping[str, Any],
    weighting: str | None,
    output: Path | None,
    *,
    as_json: bool,
) -> Answer:
    """Print or write the query; nothing else stands on standard output, so that it can be piped."""
    check_choice(dialect, "--sql", ("bigquery", "snowflake", "postgres", "spark", "duckdb"))
    if not any(given.values()):
        raise ColumnError(
            "no column is named, and a query is written without a look at the table; name the "
            "columns to count with --label, --pred, --score, --weak or --judge"
        )
    roles = {role: value for role, value in given.items() if value}
    query = Counts.query(table, dialect, weighting=weighting, **roles)
    if output is not None:
        with replaced(output) as path:
            path.write_text(query, encoding="utf-8")
    elif not as_json:
        sys.stdout.write(query)
    said = [] if output is None else [f"Wrote {output}."]
    return Answer(data={"dialect": dialect, "query": query}, text=said)


def _from_result(
    result: Path,
    output: Path | None,
    pos_label: str | None,
    cells: int | None,
    classes: str | None,
    null: str | None,
) -> Answer:
    """Write the counts that the result of the query holds."""
    found = read_result(result)

    def distinct(*roles: str) -> list[Any]:
        parts = [part.rows for part in found.parts.values()]
        names = [name for role in roles for name in found.roles.get(role, ())]
        held = [next((p[n] for p in parts if n in p.columns), None) for n in names]
        return [column.unique() for column in held if column is not None]

    positive = None if pos_label is None else read_pos_label(distinct("label"), pos_label)
    every = None
    if classes is not None:
        every = read_classes(distinct("label", "pred", "judge", "weak"), classes)
    counts = Counts.from_query(
        found,
        null=read_null(null) or "not asked",
        pos_label=positive,
        cells=cells,
        classes=every,
    )
    roles = "; ".join(f"{role}: {', '.join(columns)}" for role, columns in found.roles.items())
    said = f"{found.name}, {found.rows:,} rows counted by a query ({roles})."
    return _saved(counts, said, found.roles, output)


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
