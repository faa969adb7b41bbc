"""``karat evaluate``: everything that the columns of a file say."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from karat._files import replaced
from karat._validate import named, refuse_option
from karat.cli import _flags as flags
from karat.cli._calls import check_taken, class_columns
from karat.cli._run import console, run
from karat.cli._table import check_cells, read_metric, read_pos_label
from karat.evaluation import Evaluation
from karat.evaluation import evaluate as evaluate_table
from karat.evaluation.roles import Roles, guess_roles, is_long
from karat.exceptions import ColumnError
from karat.report.answer import Answer
from karat.sources import Counts, Source, scan
from karat.sources.cells import cells_of
from karat.sources.stored import is_counts

_ROLES = ("label", "pred", "score", "prob", "weak", "judge", "group", "id")


def evaluate(
    file: flags.File,
    pred: flags.Predictions = None,
    label: flags.Labels = None,
    weak: flags.WeakLabels = None,
    judge: flags.Voters = None,
    score: flags.Scores = None,
    prob: flags.Probabilities = None,
    group: flags.Group = None,
    item: flags.Id = None,
    metric: Annotated[
        str | None,
        typer.Option("--metric", help="Name of a metric, or a .json file that holds one."),
    ] = None,
    long: Annotated[
        str | None,
        typer.Option(
            "--long",
            help="A row per vote: item=COL,voter=COL,vote=COL, also domain=COL and gold=COL; "
            "voter=a+b joins two columns.",
        ),
    ] = None,
    pos_label: flags.PosLabel = None,
    confidence: flags.Confidence = 0.95,
    budget: Annotated[
        int | None, typer.Option("--budget", help="How many labels can be had next.")
    ] = None,
    errors: Annotated[
        str,
        typer.Option(
            "--errors",
            help="Samples of a log that ended in an error: failures of the system, or ignore.",
        ),
    ] = "failures",
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Use the roles that the names of columns suggest.")
    ] = False,
    markdown: flags.Markdown = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Answer every question that the columns of a file allow, in one report.

    Columns are named by their part: --pred, --label (may be empty in most rows), --score,
    --prob, --weak, --judge, --group, --id. A flag can be repeated, and takes patterns
    such as 'lf_*' and lists such as a,b. With no such flag the roles are guessed from the
    names, shown, and used after Enter or with --yes.

    Example:  karat evaluate scores.csv --label y --pred model --score p --output report.html
    """

    def counted() -> Answer:
        of_rows = {"label": label, "weak": weak, "judge": judge, "prob": prob, "group": group}
        of_rows |= {"id": item, "long": long}
        check_taken(of_rows, beside="a file of counts")
        counts = Counts.load(file)
        if metric is not None:
            read_metric(metric)
        tables: list[Any] = [
            *counts.confusions.values(),
            *counts.roc.values(),
            *counts.patterns.values(),
        ]
        labels = [column for one in tables for column in class_columns(one.classes)]
        how: dict[str, Any] = {
            "pred": pred and _split(pred, ()),
            "score": score and _split(score, ()),
        }
        positive = read_pos_label(labels, pos_label)
        how |= {"metric": metric, "confidence": confidence, "budget": budget}
        return told(evaluate_table(file, **how, pos_label=positive))

    def told(found: Evaluation) -> Answer:
        if markdown is not None:
            with replaced(markdown) as path:
                path.write_text(found.to_markdown(), encoding="utf-8")
        return found.answer()

    def work() -> Answer:
        if is_counts(file):
            return counted()
        source = scan(file, errors=errors)
        given = dict(zip(_ROLES, (label, pred, score, prob, weak, judge, group, item), strict=True))
        roles: dict[str, Any] = {
            name: _split(value, source.names) for name, value in given.items() if value
        }
        rows = None if long is None else _long(long)
        if rows is None and not set(roles) - {"group", "id"} and not _has_votes(source):
            roles |= _agreed(source.names, yes=yes or as_json)
        if metric is not None:
            read_metric(metric)  # refuses a file that is missing, by the name of the flag
        chosen = source.roles(label=roles.get("label"), pred=roles.get("pred"))
        seen, small = _values(chosen)
        for role, columns in chosen.chosen.items():
            for column in columns:
                check_cells(f"--{role}", column, seen[column], counted=not small)
        named = chosen.chosen.get("label", ()) or chosen.chosen.get("pred", ())
        labels = [seen[c] for c in named]
        found = evaluate_table(
            source.roles(**roles) if str(file) == "-" else file,
            **({} if str(file) == "-" else roles),
            metric=metric,
            pos_label=read_pos_label(labels, pos_label) if labels else pos_label,
            confidence=confidence,
            budget=budget,
            long=rows,
            errors=errors,
        )
        return told(found)

    run(work, output=output, as_json=as_json, reads=[file], writes={"--markdown": markdown})


def _split(given: Any, names: Sequence[str]) -> list[str]:
    """Return names, lists such as ``a,b`` split; a column with a comma in its name stays whole."""
    several = [given] if isinstance(given, str) else list(given)
    return [part for name in several for part in ([name] if name in names else name.split(","))]


def _long(text: str) -> dict[str, str]:
    """Return the columns of ``item=a,voter=b,vote=c`` by their parts."""
    pairs = [part.partition("=") for part in text.split(",")]
    parts = {part.strip() for part, equals, column in pairs if equals and column}
    if len(parts) < len(pairs) or not {"item", "voter", "vote"} <= parts:
        refuse_option(text, "--long", "item=COLUMN,voter=COLUMN,vote=COLUMN")
    return {part.strip(): column.strip() for part, _, column in pairs}


def _values(source: Source) -> tuple[Any, bool]:
    """Return the rows of the chosen columns, of a large table the distinct ones, and which."""
    if not source.chosen or source.is_small:
        return source.columns if source.chosen else None, True
    return cells_of(
        source.frame, [c for found in source.chosen.values() for c in found]
    ).rows, False


def _has_votes(source: Source) -> bool:
    """Return whether a file has a row per vote, as evaluation logs do: it needs no roles."""
    return source.log is not None or (source.is_small and is_long(source))


def _agreed(names: Sequence[str], *, yes: bool) -> dict[str, Any]:
    """Return the roles that the names suggest, once somebody has agreed to them."""
    guess = guess_roles(names)
    if not guess:
        raise ColumnError(
            "no column has a role; name some with --pred, --label, --judge …, or with --long those "
            f"of a file with a row per vote: there are {named(names)}"
        )
    err = console(stderr=True)
    err.print("By their names the columns are: " + _flags(guess), markup=False)
    if not yes:
        if not sys.stdin.isatty():
            raise ColumnError(
                f"no column has a role; add --yes to take them as their names say, or name them: "
                f"{_flags(guess)}"
            )
        typer.confirm("Go on with these?", default=True, abort=True, err=True)
    return {name: list(columns) for name, columns in guess.chosen()}


def _flags(guess: Roles) -> str:
    return " ".join(f"--{name} {column}" for name, columns in guess.chosen() for column in columns)
