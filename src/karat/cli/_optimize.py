"""``karat optimize``: decide by saved probabilities so that a metric is as great as it can be."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from karat._validate import check_scores
from karat.cli.frame import (
    Answer,
    Grid,
    InputTable,
    Page,
    flags,
    read_metric,
    read_pos_label,
    read_table,
    replaced,
    run,
    section,
    table_writer,
)
from karat.exceptions import ColumnError, DataError
from karat.optimize import ColumnBasis, FrankWolfeClassifier
from karat.optimize.basis import fit_basis

__all__ = ["optimize"]

_CODE = """\
from karat.optimize import FrankWolfeClassifier

clf = FrankWolfeClassifier(metric={metric!r}, n_folds={folds}{options})
clf.fit_from_proba(proba, y{fitted})
clf.predict_from_proba(new_proba{decided})
"""


def optimize(
    file: flags.File,
    label: Annotated[
        str,
        typer.Option("--label", help="Column of true labels, empty where a row is to be decided."),
    ],
    score: flags.Score = None,
    prob: flags.Probabilities = None,
    pos_label: flags.PosLabel = None,
    group: flags.Group = None,
    metric: flags.Metric = "g_mean",
    basis: Annotated[
        list[str] | None,
        typer.Option(help="Column along whose values decisions may differ; repeat."),
    ] = None,
    folds: Annotated[
        int, typer.Option(help="Folds to measure on rows that were not used; 0 for none.")
    ] = 5,
    randomize: Annotated[
        bool, typer.Option("--randomize", help="Draw decisions from the mixture.")
    ] = False,
    predictions: Annotated[
        Path | None, typer.Option(help="Write the table with a column of decisions here.")
    ] = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Decide by saved probabilities so that a metric is as great as it can be."""
    write = None if predictions is None else table_writer("--predictions", predictions)

    def work() -> Answer:
        wanted = read_metric(metric)
        table = read_table(file)
        truth = table.column("--label", label)
        known = ~truth.is_null().to_numpy()
        if not known.any():
            raise DataError(f"--label {label}: every row is empty; some rows need a label")
        positive = read_pos_label([truth], pos_label)
        proba, order = _probabilities(table, truth, score, prob, positive)
        functions = _functions(table, basis) if basis else None
        groups = table.optional("--group", group)
        clf = FrankWolfeClassifier(
            metric=wanted, n_folds=folds or None, deterministic=not randomize, pos_label=positive,
        ).fit_from_proba(
            proba[known], truth.drop_nulls(), classes=order,
            basis_train=None if functions is None else functions.filter(known),
            groups_val=None if groups is None else groups.filter(known),
        )  # fmt: skip
        decided = clf.predict_from_proba(proba, basis=functions)
        if predictions is not None and write is not None:
            with replaced(predictions) as path:
                write(_with_decisions(table.frame, decided), path)
        code = _code(metric, folds, basis, group, positive, randomize)
        return _answer(file.name, clf, decided, int((~known).sum()), predictions, code)

    run(
        work,
        output=output,
        as_json=as_json,
        reads=[file, Path(metric)],
        writes={"--predictions": predictions},
    )


def _probabilities(
    table: InputTable, truth: Any, score: str | None, prob: list[str] | None, positive: Any
) -> tuple[Any, list[Any]]:
    """Return the table of class probabilities and the classes in the order of its columns."""
    classes = truth.drop_nulls().unique().sort().to_list()
    if score is not None:
        if prob:
            raise ColumnError("--score and --prob say the same thing twice; pass one of them")
        if len(classes) != 2:
            raise ColumnError(f"--score is for two classes and there are {classes}; pass --prob")
        second = check_scores(table.column("--score", score), f"--score {score}")
        order = classes if positive in (None, classes[1]) else classes[::-1]
        return np.column_stack([1.0 - second, second]), order
    columns = table.names("--prob", prob, ("prob",))
    if len(columns) != len(classes):
        raise ColumnError(
            f"--prob: there are {len(classes)} classes {classes} and {len(columns)} columns "
            f"{columns}; name one column for each class, in the order of the labels"
        )
    return table.columns("--prob", columns).to_numpy(), classes


def _functions(table: InputTable, basis: list[str]) -> Any:
    """Return a constant and an indicator of each value of some columns, as a frame."""
    import polars as pl

    table.columns("--basis", basis)
    unused = np.empty(0)  # neither a constant nor an indicator looks at labels
    fitted = fit_basis(["constant", *map(ColumnBasis, basis)], table.frame, unused)
    return pl.DataFrame(fitted.values(table.frame), schema=list(fitted.names))


def _with_decisions(frame: Any, decided: Any) -> Any:
    """Return the table with a column of decisions, under a name that is free."""
    import polars as pl

    name = "decision"
    while name in frame.columns:
        name += "_"
    return frame.with_columns(pl.Series(name, decided))


def _code(
    metric: str,
    folds: int,
    basis: list[str] | None,
    group: str | None,
    positive: Any,
    randomize: bool,
) -> str:
    """Return the lines that would give the same answer."""
    options = "" if randomize else ", deterministic=True"
    options += "" if positive is None else f", pos_label={positive!r}"
    fitted = ", basis_train=basis" if basis else ""
    fitted += f", groups_val=frame[{group!r}]" if group else ""
    decided = ", basis=new_basis" if basis else ""
    return _CODE.format(
        metric=metric, folds=folds or None, options=options, fitted=fitted, decided=decided
    )


def _answer(
    name: str,
    clf: FrankWolfeClassifier,
    decided: Any,
    n_unlabelled: int,
    written: Path | None,
    code: str,
) -> Answer:
    classes, counts = np.unique(decided, return_counts=True)
    chosen = {str(c): int(n) for c, n in zip(classes, counts, strict=True)}
    data = {"history": clf.history_, "weights": clf.weights_, "decisions": chosen}
    two = len(clf.classes_) == 2
    if two:
        regions = clf.decision_regions()
        data["thresholds"] = dict(zip(regions.kinds, regions.thresholds, strict=True))
    unlabelled = f" ({n_unlabelled:,} of them without a label)" if n_unlabelled else ""
    listed = ", ".join(f"{n:,} {c}" for c, n in chosen.items())
    text = [
        clf.history_.summary(),
        clf.decision_regions().summary() if two else clf.weights_.summary(),
        f"decisions on {len(decided):,} rows{unlabelled}: {listed}",
        *([] if written is None else [f"written to {written}"]),
    ]
    return Answer(data=data, text=text, page=partial(_page, name, clf, len(decided), code))


def _page(name: str, clf: FrankWolfeClassifier, n_rows: int, code: str) -> Page:
    history = clf.history_
    rows = (
        ("the most probable class", f"{history.baseline:.4f}", f"{history.held_out_baseline:.4f}"),
        ("these decisions", f"{history.deterministic:.4f}", f"{history.held_out:.4f}"),
    )
    sections = [
        section(
            f"How great can {history.metric} be with these probabilities?",
            history.summary(),
            result=history,
            picture="The metric after each iteration.",
            grid=Grid(("decisions", "on the labelled rows", "on rows not used"), rows),
            assumptions=(
                "Labelled rows are independent draws of the rows to decide, and the model was not "
                "trained on them.",
                "Limits are by the delta method; they take the decisions of each fold as given.",
            ),
            code=code,
        ),
        section(
            "What is each class worth?",
            clf.weights_.summary(),
            result=clf.weights_,
            picture="Weights of the classes.",
        ),
    ]
    if len(clf.classes_) == 2:
        regions = clf.decision_regions()
        picture = "Share of the second class by its probability."
        sections.append(
            section("Where is the line?", regions.summary(), result=regions, picture=picture)
        )
    return Page(
        f"{name}: decisions for {history.metric}",
        "The model is as it was; only what is done with its probabilities changes. "
        f"{n_rows:,} rows were decided.",
        sections,
    )
