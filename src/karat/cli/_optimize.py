"""karat optimize: choose decision thresholds that maximise a metric."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer

from karat._code import Coded, call_code, script, values
from karat._files import replaced
from karat._typing import BoolArray
from karat.calibration import CopulaCalibrator
from karat.calibration.result import CalibratorScore
from karat.cli import _flags as flags
from karat.cli._run import Answer, Grid, Page, run, section, table_writer
from karat.cli._table import (
    InputTable,
    classes_of,
    import_of,
    positive_of,
    read_metric,
    read_pos_label,
    read_probabilities,
    read_table,
)
from karat.exceptions import ColumnError, DataError, EmptyDataError, OptionError
from karat.metrics import GroupMetric
from karat.optimize import ColumnBasis, FrankWolfeClassifier
from karat.optimize.basis import fit_basis

if TYPE_CHECKING:
    from karat.report import Section


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
    folds: Annotated[int, typer.Option(help="Folds to measure on unused rows; 0 for none.")] = 5,
    randomize: Annotated[bool, typer.Option("--randomize", help="Draw from the mixture.")] = False,
    predictions: Annotated[
        Path | None, typer.Option(help="Write the table with a column of decisions here.")
    ] = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Choose decision thresholds that maximise a metric.

    Example:  karat optimize mails.csv --label truth --score p_spam --metric f1
    """
    write = None if predictions is None else table_writer("--predictions", predictions)

    def work() -> Answer:
        wanted = read_metric(metric)
        _check_options(wanted.value, metric, group, folds)
        table = read_table(file).with_codes(group)
        if write is not None:
            write.check(table.frame)
        table.column("--label", label)
        as_written = table.as_written if write is not None else None
        table = table.matched([label], classes_of(wanted))
        rows = _read(table, wanted, label, score, prob, pos_label, basis, group)
        options = {
            "metric": wanted,
            "n_folds": folds or None,
            "deterministic": not randomize,
            "pos_label": rows.positive,
        }
        clf = FrankWolfeClassifier(**values(options))
        clf.fit_from_proba(rows.proba[rows.known], rows.labels, **values(rows.fitted))
        decided = clf.predict_from_proba(rows.proba, **values(rows.decided))
        if predictions is not None and write is not None:
            with replaced(predictions) as path:
                write(_with_decisions(as_written, decided), path)
        code = _code(table, rows, options, label)
        return _answer(file.name, clf, decided, int((~rows.known).sum()), predictions, code)

    run(
        work,
        output=output,
        as_json=as_json,
        reads=[file, Path(metric)],
        writes={"--predictions": predictions},
    )


def _check_options(wanted: Any, metric: str, group: str | None, folds: int) -> None:
    """Refuse options that do not go together, in the words of the command."""
    compares = isinstance(wanted, GroupMetric)
    if group is not None and not compares:
        raise OptionError(f"--group is {group!r}; expected with a metric that compares groups")
    if group is None and compares:
        raise OptionError(
            f"--metric is {metric!r}, which compares {wanted.n_groups} groups; expected --group "
            "with it, the column of groups"
        )
    if folds < 0 or folds == 1:
        raise OptionError(f"--folds is {folds}; expected 0 for none, or at least 2")


class _Rows(NamedTuple):
    """What the classifier is found with and what it decides, with the code of each part."""

    known: Any  # whether a row has a label
    labels: Any
    positive: Any
    proba: Any
    fitted: dict[str, Any]  # options of fit_from_proba
    decided: dict[str, Any]  # options of predict_from_proba
    made: tuple[str, ...]  # lines that make proba and the basis


def _read(
    table: InputTable,
    metric: Coded,
    label: str,
    score: str | None,
    prob: list[str] | None,
    pos_label: str | None,
    basis: list[str] | None,
    group: str | None,
) -> _Rows:
    truth = table.column("--label", label)
    known = ~truth.is_null().to_numpy()
    if not known.any():
        raise DataError(f"--label {label}: every row is empty; some rows need a label")
    if truth.drop_nulls().n_unique() == 1:
        only = truth.drop_nulls()[0]
        raise DataError(
            f"--label {label}: every labelled row is {only!r}; label some rows of another class too"
        )
    classes = truth.drop_nulls().unique().sort().to_list()
    positive = positive_of(metric, classes, read_pos_label([truth], pos_label))
    proba, order = read_probabilities(table, truth, score, prob, positive)
    fitted: dict[str, Any] = {"classes": order}
    decided: dict[str, Any] = {}
    made = [f"proba = {proba.code}"]
    if basis:
        functions = _functions(table, basis)
        made.append(functions.code)
        fitted["basis"] = Coded(functions.value.filter(known), "basis.filter(known)")
        decided["basis"] = Coded(functions.value, "basis")
    groups = table.coded("--group", group)
    if groups is not None:
        absent = np.flatnonzero(groups.value.is_null().to_numpy() & known)
        if absent.size:
            raise DataError(
                f"--group {group} row {absent[0]} is missing ({absent.size} such labelled rows in "
                "all); give them a group of their own, or drop them"
            )
        fitted["groups_val"] = Coded(groups.value.filter(known), f"{groups.code}.filter(known)")
    return _Rows(known, truth.drop_nulls(), positive, proba.value, fitted, decided, tuple(made))


def _functions(table: InputTable, basis: list[str]) -> Coded:
    """Return a constant and an indicator of each value of some columns, as a frame."""
    import polars as pl

    table.columns("--basis", basis)
    unused = np.empty(0)  # neither a constant nor an indicator looks at labels
    fitted = fit_basis(["constant", *map(ColumnBasis, basis)], table.frame, unused)
    functions = ", ".join(["'constant'", *(f"ColumnBasis({name!r})" for name in basis)])
    code = (
        f"fitted = fit_basis([{functions}], frame, np.empty(0))\n"
        "basis = pl.DataFrame(fitted.values(frame), schema=list(fitted.names))"
    )
    return Coded(pl.DataFrame(fitted.values(table.frame), schema=list(fitted.names)), code)


def _with_decisions(frame: Any, decided: Any) -> Any:
    """Return the table with a column of decisions, under a name that is free."""
    import polars as pl

    name = "decision"
    while name in frame.columns:
        name += "_"
    return frame.with_columns(pl.Series(name, decided))


def _code(table: InputTable, rows: _Rows, options: dict[str, Any], label: str) -> str:
    """Return the lines that give the same answer."""
    some, labels = Coded(None, "proba[known]"), Coded(None, f"frame[{label!r}].drop_nulls()")
    column_basis = "ColumnBasis, " if rows.decided else ""
    return script(
        (
            "import numpy as np",
            "import polars as pl",
            import_of(options["metric"]),
            f"from karat.optimize import {column_basis}FrankWolfeClassifier",
            "from karat.optimize.basis import fit_basis" if rows.decided else "",
        ),
        table.code,
        f"known = frame[{label!r}].is_not_null().to_numpy()",
        *rows.made,
        f"clf = {call_code('FrankWolfeClassifier', **options)}",
        call_code("clf.fit_from_proba", some, labels, **rows.fitted),
        call_code("clf.predict_from_proba", Coded(None, "proba"), **rows.decided),
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
    columns: tuple[str, ...] = ("decisions", "on the labelled rows")
    rows: tuple[tuple[str, ...], ...] = (
        ("the most probable class", f"{history.baseline:.4f}"),
        ("these decisions", f"{history.value:.4f}"),
    )
    if not np.isnan(history.held_out.value):
        columns += ("cross-validated",)
        unused = (history.held_out_baseline, history.held_out.value)
        rows = tuple((*row, f"{v:.4f}") for row, v in zip(rows, unused, strict=True))
    sections = [
        section(
            f"How great can {history.metric} be with these probabilities?",
            history.summary(),
            result=history,
            picture="The metric after each iteration.",
            grid=Grid(columns, rows),
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
    if len(history.groups):
        sections.insert(1, _by_group(clf))
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


def _by_group(clf: FrankWolfeClassifier) -> Any:
    """Return a section on how often each class is predicted rightly in each group."""
    history, classes = clf.history_, clf.weights_.classes.tolist()
    columns = ["group"]
    for c in classes:
        columns += [f"{c}, before", f"{c}, now"]
    pairs = np.stack([history.baseline_rates, history.rates], axis=2).reshape(-1, 2 * len(classes))
    rows = tuple(
        (str(group), *(f"{rate:.3f}" for rate in own))
        for group, own in zip(history.groups.tolist(), pairs, strict=True)
    )
    moved = np.abs(history.rates - history.baseline_rates)
    g, c = np.unravel_index(np.nanargmax(moved), moved.shape)
    was, now = history.baseline_rates[g, c], history.rates[g, c]
    return section(
        "What changes for whom?",
        f"Rows of {classes[c]} in the group {history.groups[g]} change most: the most probable "
        f"class was right for {was:.1%} of them, and these decisions are for {now:.1%}.",
        grid=Grid(tuple(columns), rows),
    )


# --- A file with calibrated probabilities beside the columns that it had.

_START = "calibrated_"
_FOLDS = 5
Columns = Callable[[InputTable, list[str], list[str]], tuple[Coded, Coded]]


@dataclass(frozen=True, slots=True)
class MappedTable:
    """The frame to write, and what the map is worth on rows that it was not fitted to."""

    frame: Any
    score: CalibratorScore
    n_new: int

    def summary(self, name: str) -> str:
        """Return what was written, and how each row was mapped."""
        return f"{name}: {self.score.summary()}. {self._how()}"

    def _how(self) -> str:
        how = (
            f"Each row with labels was mapped by what was fitted to the other {_FOLDS - 1} of "
            f"{_FOLDS} folds, so its own labels have no part in its probabilities"
        )
        if not self.n_new:
            return how
        return f"{how}; {self.n_new:,} rows without labels by what was fitted to all others"

    def section(self) -> "Section":
        """Return the section of the page."""
        return section(
            "What do calibrated probabilities gain?",
            self.score.summary(),
            result=self.score,
            picture="Log-loss without and with the map.",
            assumptions=(self._how(),),
        )


def check_new_columns(table: InputTable, probs: list[str]) -> None:
    """Refuse a table that already has a column of a name to be added."""
    for name in probs:
        if _START + name in table.frame.columns:
            raise ColumnError(
                f"--calibrated adds the column {_START + name!r} and the table has one; rename it"
            )


def labelled(table: InputTable, labels: list[str]) -> InputTable:
    """Return the rows to measure and to fit to: all but those without any label."""
    keep = _has_label(table, labels)
    if not keep.any():
        raise EmptyDataError("--label: no row has a label; expected some rows that have one")
    return InputTable(table.path, table.frame.filter(keep))


def _has_label(table: InputTable, labels: list[str]) -> BoolArray:
    chosen = table.columns("--label", labels)
    return np.asarray(np.any([chosen[name].is_not_null().to_numpy() for name in labels], axis=0))


def mapped_table(
    table: InputTable, known: InputTable, labels: list[str], probs: list[str], columns: Columns
) -> MappedTable:
    """Return the table with a calibrated column for each column of probabilities."""
    import polars as pl

    y, h = columns(known, labels, probs)
    calibrator = CopulaCalibrator(rng=0)
    inside = calibrator.cross_fit_transform(y.value, h.value, n_folds=_FOLDS)
    keep = _has_label(table, labels)
    found = np.empty((len(keep), inside.shape[1]))
    found[keep] = inside
    if not keep.all():
        _, new = columns(InputTable(table.path, table.frame.filter(~keep)), labels, probs)
        found[~keep] = calibrator.transform(new.value)
    added = [pl.Series(_START + name, found[:, j]) for j, name in enumerate(probs)]
    return MappedTable(
        table.as_written.with_columns(added), calibrator.cross_score_, int((~keep).sum())
    )
