"""``karat judges``: how good voters are, from their votes in a file."""

import json
import warnings
from pathlib import Path
from typing import Any

from karat._frozen import plain
from karat.cli._files import named_columns, pick_column, pick_columns, read_table
from karat.consensus import CoClustering, ErrorEstimator, ErrorRates
from karat.exceptions import ColumnError, DataError, NotIdentifiedWarning
from karat.report import Section, Table, render_report, result_svg

__all__ = ["run_judges"]

_LONG = ("item", "classifier", "vote")


def run_judges(
    file: Path,
    *,
    judge: list[str],
    label: str | None,
    group: str | None,
    threshold: float | None,
    structure: str,
    errors: str,
    dependence: str,
    output: Path | None,
    as_json: bool,
) -> None:
    """Estimate the error rates and print, save or dump them."""
    frame = read_table(file)
    votes, shown = _votes(frame, judge)
    given: dict[str, Any] = {}
    if group is not None:
        given["domains"] = pick_column(frame, group, "--group")
    if label is not None:
        given["y_true"] = pick_column(frame, label, "--label")
    if threshold is not None:
        given["threshold"] = threshold
    if structure != "independent" and group is None and "domain" not in votes.columns:
        raise DataError(f"--structure {structure} shares between domains; name them with --group")
    options: dict[str, Any] = {
        "structure": structure, "errors": errors, "dependence": dependence,
    }  # fmt: skip
    estimator = ErrorEstimator(**options, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotIdentifiedWarning)  # the summary says it first
        warnings.filterwarnings(
            "ignore", "chains have not mixed"
        )  # so do the limits, by their width
        estimator.fit(votes, **given)
    result = estimator.result_
    if as_json:
        print(json.dumps(_as_data(estimator)))  # noqa: T201
    else:
        _print(estimator, shown)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        code = _code(shown, label, group, threshold, options)
        output.write_text(_page(file, estimator, result, code), encoding="utf-8")


def _votes(frame: Any, judge: list[str]) -> tuple[Any, str]:
    """Return the votes, wide or long, and how to select them from the frame."""
    if not judge and set(_LONG) <= set(frame.columns):
        columns = [c for c in (*_LONG, "domain") if c in frame.columns]
        return frame.select(columns), repr(columns)
    columns = named_columns(frame, judge, ("judge", "vote_"))
    if not columns:
        raise ColumnError(
            f"--judge: name the columns of votes; there are {frame.columns}. A long file has the "
            f"columns {list(_LONG)}"
        )
    return pick_columns(frame, columns, "--judge"), repr(columns)


def _as_data(estimator: ErrorEstimator) -> dict[str, Any]:
    data = {"summary": estimator.result_.summary(), "result": estimator.result_.to_dict()}
    if estimator.co_clustering_ is not None:
        data["clusters"] = estimator.co_clustering_.to_dict()
    if estimator.powered_ is not None:
        data["powered"] = plain(estimator.powered_.to_dict(as_series=False))
    return data


def _print(estimator: ErrorEstimator, shown: str) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as RichTable

    console, r = Console(), estimator.result_
    console.print(f"votes: {shown}\n{r.summary()}", markup=False)
    table = RichTable("domain", "voter", "error rate", "95 % limits", "settled by the votes")
    for i in range(len(r.mean)):
        table.add_row(*map(escape, _row(r, i)))
    console.print(table)
    if estimator.co_clustering_ is not None:
        console.print(estimator.co_clustering_.summary(), markup=False)
    for story in r.explanations:
        if not story.identified:
            console.print(story.summary(), markup=False)


def _row(r: ErrorRates, i: int) -> tuple[str, ...]:
    return (
        str(r.domains[r.domain[i]]),
        str(r.classifiers[r.classifier[i]]),
        f"{r.mean[i]:.3f}",
        f"{r.lower[i]:.3f} to {r.upper[i]:.3f}",
        "yes" if r.identified[r.domain[i]] else "no",
    )


def _page(file: Path, estimator: ErrorEstimator, result: ErrorRates, code: str) -> str:
    sections = [_section(result.of_domain(d), code) for d in result.domains]
    if estimator.co_clustering_ is not None:
        sections.insert(0, _clusters_section(estimator.co_clustering_))
    if estimator.powered_ is not None:
        sections.append(_powered_section(estimator))
    return render_report(
        f"{file.name}: how good are the voters",
        "Error rates from votes alone. Where the votes fit several accounts as well, the page "
        "says so and shows them side by side.",
        sections,
    )


def _section(r: ErrorRates, code: str) -> Section:
    story = r.explanations[0]
    picture = r if r.identified[0] else story
    return Section(
        question="How often does each voter err?"
        if r.domains == ("all",)
        else f"How often does each voter err in {r.domains[0]}?",
        answer=f"{(r if r.identified[0] else story).summary()}.",
        figure=result_svg(picture),
        figure_text="Error rate of each voter, with its limits or under each account.",
        table=Table(
            columns=("voter", "error rate", "limits"),
            rows=tuple(_row(r, i)[1:4] for i in range(len(r.mean))),
        ),
        assumptions=(
            "Voters are better than chance on the whole; within a class they err independently, "
            "but for easy and hard items and for voters who copy one another.",
            *r.reasons[0],
        ),
        code=code,
    )


def _clusters_section(found: CoClustering) -> Section:
    return Section(
        question="Who shares error rates with whom?",
        answer=f"{found.summary()}.",
        figure=result_svg(found),
        figure_text="Probability that two share their error rates, cluster by cluster.",
        table=Table(
            columns=("what", "cluster", "certainty"),
            rows=tuple(
                (name, str(cluster), f"{sure:.2f}")
                for name, cluster, sure in zip(
                    found.names, found.labels, found.certainty, strict=True
                )
            ),
        ),
        assumptions=("Clusters come from a Dirichlet process; those that share have one rate.",),
    )


def _powered_section(estimator: ErrorEstimator) -> Section:
    frame: Any = estimator.powered_
    rows = tuple(
        (
            str(row["domain"]), str(row["classifier"]), f"{row['estimate']:.3f}",
            f"{row['lower']:.3f} to {row['upper']:.3f}",
            f"{row['labels_lower']:.3f} to {row['labels_upper']:.3f}", str(row["n_gold"]),
        )
        for row in frame.iter_rows(named=True)
    )  # fmt: skip
    return Section(
        question="What do the gold labels say?",
        answer="With gold labels on a random sample the error rates below are valid whatever the "
        "model of the votes; the consensus makes the limits narrower than the labels alone do.",
        table=Table(
            columns=("domain", "voter", "error rate", "limits", "labels alone", "gold votes"),
            rows=rows,
        ),
        assumptions=("The labelled items are a random sample of the items.",),
        code="estimator.powered_",
    )


def _code(
    shown: str,
    label: str | None,
    group: str | None,
    threshold: float | None,
    chosen: dict[str, Any],
) -> str:
    """Return the lines that would give the same answer."""
    usual = {"structure": "independent", "errors": "class-conditional", "dependence": "auto"}
    options = "".join(f"{name}={v!r}, " for name, v in chosen.items() if v != usual[name])
    given = f"frame[{shown}]"
    given += f", domains=frame[{group!r}]" if group else ""
    given += f", y_true=frame[{label!r}]" if label else ""
    given += f", threshold={threshold}" if threshold is not None else ""
    return (
        "from karat.consensus import ErrorEstimator\n\n"
        f"estimator = ErrorEstimator({options}rng=0).fit({given})\n"
        "estimator.error_rates_\n"
    )
