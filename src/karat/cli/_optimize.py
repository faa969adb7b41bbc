"""``karat optimize``: decide by saved probabilities so that a metric is as great as it can be."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from karat._validate import check_scores
from karat.cli._files import as_label, named_columns, pick_column, read_metric, read_table
from karat.exceptions import ColumnError, DataError
from karat.metrics import MetricBase
from karat.optimize import ColumnBasis, FrankWolfeClassifier
from karat.optimize.basis import fit_basis
from karat.report import Section, Table, render_report, result_svg

__all__ = ["run_optimize"]

_CODE = """\
from karat.optimize import FrankWolfeClassifier

clf = FrankWolfeClassifier(metric={metric!r}, n_folds={folds}{options})
clf.fit_from_proba(proba, y{basis})
clf.predict_from_proba(new_proba{new_basis})
"""


def run_optimize(
    file: Path,
    *,
    label: str,
    score: str | None,
    prob: list[str],
    pos_label: str | None,
    metric: str,
    basis: list[str],
    folds: int,
    randomize: bool,
    predictions: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Find the decisions on labelled rows, and print, save or dump what came of it."""
    for path in (predictions, output):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
    frame = read_table(file)
    wanted = read_metric(metric)
    truth = pick_column(frame, label, "--label")
    known = ~truth.is_null().to_numpy()
    if not known.any():
        raise DataError(f"--label {label}: every row is empty; some rows need a label")
    labels = truth.drop_nulls()
    classes = labels.unique().sort()
    positive = as_label(labels, pos_label)
    table, order = _probabilities(frame, score, prob, classes.to_list(), positive)
    functions = _functions(frame, basis, labels) if basis else None
    clf = FrankWolfeClassifier(
        metric=wanted, n_folds=folds or None, deterministic=not randomize,
        pos_label=positive,
    )  # fmt: skip
    clf.fit_from_proba(
        table[known], labels, classes=order,
        basis_train=None if functions is None else functions.filter(known),
    )  # fmt: skip
    decided = clf.predict_from_proba(table, basis=functions)
    if predictions is not None:
        _write(frame, decided, predictions)
    if as_json:
        print(json.dumps(_answer(clf, decided)))  # noqa: T201
    else:
        _print(clf, decided, int((~known).sum()), predictions)
    if output is not None:
        shown = {"metric": metric, "folds": folds, "basis": basis, "randomize": randomize}
        output.write_text(_page(file, clf, wanted, decided, shown), encoding="utf-8")


def _probabilities(
    frame: Any, score: str | None, prob: list[str], classes: list[Any], positive: Any
) -> tuple[Any, list[Any]]:
    """Return the table of class probabilities and the classes in the order of its columns."""
    if score is not None:
        if len(classes) != 2:
            raise ColumnError(f"--score is for two classes and there are {classes}; pass --prob")
        if positive is not None and positive not in classes:
            raise DataError(f"--pos-label {positive}: the labels are {classes}")
        second = check_scores(pick_column(frame, score, "--score"), f"--score {score}")
        order = classes if positive in (None, classes[1]) else classes[::-1]
        return np.column_stack([1.0 - second, second]), order
    columns = named_columns(frame, prob, ("prob",))
    if len(columns) != len(classes):
        raise ColumnError(
            f"--prob: there are {len(classes)} classes {classes} and {len(columns)} columns "
            f"{columns}; name one column for each class, in the order of the labels"
        )
    for name in columns:
        pick_column(frame, name, "--prob")
    return frame.select(columns).to_numpy(), classes


def _functions(frame: Any, basis: list[str], labels: Any) -> Any:
    """Return a constant and an indicator of each value of some columns, as a frame."""
    import polars as pl

    for name in basis:
        pick_column(frame, name, "--basis")
    fitted = fit_basis(
        ["constant", *(ColumnBasis(name) for name in basis)], frame, labels.to_numpy()
    )
    return pl.DataFrame(fitted.values(frame), schema=list(fitted.names))


def _write(frame: Any, decided: Any, path: Path) -> None:
    """Write the table with a column of decisions."""
    import polars as pl

    writers = {".csv": "write_csv", ".parquet": "write_parquet", ".arrow": "write_ipc"}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise DataError(f"{path.name} ends in {path.suffix!r}; expected one of {list(writers)}")
    name = "decision"
    while name in frame.columns:
        name += "_"
    getattr(frame.with_columns(pl.Series(name, decided)), writer)(path)


def _counts(decided: Any) -> dict[str, int]:
    names, counts = np.unique(decided, return_counts=True)
    return {str(n): int(c) for n, c in zip(names, counts, strict=True)}


def _answer(clf: FrankWolfeClassifier, decided: Any) -> dict[str, Any]:
    answer = {
        "history": clf.history_.to_dict(),
        "weights": clf.weights_.to_dict(),
        "decisions": _counts(decided),
    }
    if len(clf.classes_) == 2:
        regions = clf.decision_regions()
        thresholds = [t if np.isfinite(t) else None for t in regions.thresholds.tolist()]
        answer["thresholds"] = dict(zip(regions.kinds, thresholds, strict=True))
    return answer


def _print(
    clf: FrankWolfeClassifier, decided: Any, n_unlabelled: int, written: Path | None
) -> None:
    from rich.console import Console

    console = Console()
    console.print(clf.history_.summary(), markup=False)
    if len(clf.classes_) == 2:
        console.print(clf.decision_regions().summary(), markup=False)
    else:
        console.print(clf.weights_.summary(), markup=False)
    counts = ", ".join(f"{n:,} {c}" for c, n in _counts(decided).items())
    unlabelled = f" ({n_unlabelled:,} of them without a label)" if n_unlabelled else ""
    console.print(f"decisions on {len(decided):,} rows{unlabelled}: {counts}", markup=False)
    if written is not None:
        console.print(f"written to {written}", markup=False)


def _page(
    file: Path, clf: FrankWolfeClassifier, metric: MetricBase, decided: Any, shown: dict[str, Any]
) -> str:
    history = clf.history_
    rows = [
        ("the most probable class", f"{history.baseline:.4f}", f"{history.held_out_baseline:.4f}"),
        ("these decisions", f"{history.deterministic:.4f}", f"{history.held_out:.4f}"),
    ]
    some = ", basis_train=basis" if shown["basis"] else ""
    more = ", basis=new_basis" if shown["basis"] else ""
    options = "" if shown["randomize"] else ", deterministic=True"
    sections = [
        Section(
            question=f"How great can {metric.title} be with these probabilities?",
            answer=f"{history.summary()}.",
            figure=result_svg(history),
            figure_text="The metric after each iteration.",
            table=Table(
                columns=("decisions", "on the labelled rows", "on rows not used"), rows=tuple(rows)
            ),
            assumptions=(
                "Labelled rows are independent draws of the rows to decide, and the model was not "
                "trained on them.",
                "Limits are by the delta method; they take the decisions of each fold as given.",
            ),
            code=_CODE.format(
                metric=shown["metric"], folds=shown["folds"] or None, options=options, basis=some,
                new_basis=more,
            ),
        ),
        Section(
            question="What is each class worth?",
            answer=f"{clf.weights_.summary()}.",
            figure=result_svg(clf.weights_),
            figure_text="Weights of the classes.",
        ),
    ]  # fmt: skip
    if len(clf.classes_) == 2:
        regions = clf.decision_regions()
        sections.append(
            Section(
                question="Where is the line?",
                answer=f"{regions.summary()}.",
                figure=result_svg(regions),
                figure_text="Share of the second class by its probability.",
            )
        )
    return render_report(
        f"{file.name}: decisions for {metric.title}",
        f"The model is as it was; only what is done with its probabilities changes. "
        f"{len(decided):,} rows were decided.",
        sections,
    )
