"""``karat judges``: how good voters are, from their votes in a file."""

from functools import partial
from typing import Annotated, Any

import typer

from karat._frozen import plain
from karat.cli.frame import (
    Answer,
    Coded,
    Grid,
    InputTable,
    Page,
    call_code,
    flags,
    read_null,
    read_table,
    run,
    script,
    section,
    values,
)
from karat.consensus import CoClustering, ErrorEstimator, ErrorRates
from karat.exceptions import ColumnError, OptionError

__all__ = ["judges"]

_LONG = ("item", "classifier", "vote")
_SHARING = ("coupled", "hierarchical")


def judges(
    file: flags.File,
    judge: flags.Voters = None,
    label: flags.KnownLabel = None,
    group: flags.Group = None,
    null: flags.Null = "not-asked",
    threshold: Annotated[
        float | None, typer.Option(help="Cut probabilities into votes here.")
    ] = None,
    structure: Annotated[
        str, typer.Option(help="How domains share: independent, coupled or hierarchical.")
    ] = "independent",
    errors: Annotated[
        str, typer.Option(help="class-conditional or symmetric.")
    ] = "class-conditional",
    dependence: Annotated[str, typer.Option(help="auto, none, difficulty or pairs.")] = "auto",
    confidence: flags.Confidence = 0.95,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Estimate how often each judge, annotator or classifier errs, from votes alone.

    A wide file has a column per voter (--judge); a long file has the
    columns item, classifier and vote, and perhaps domain. Domains are those
    of --group, else those of the column domain.
    """
    options: dict[str, Any] = {
        "structure": structure, "errors": errors, "dependence": dependence,
        "confidence": confidence, "rng": 0,
    }  # fmt: skip

    def work() -> Answer:
        meaning = read_null(null)
        table = read_table(file)
        votes = _votes(table, judge or [], group)
        columns = votes.value.columns
        if structure in _SHARING and group is None and "domain" not in columns:
            raise OptionError(
                f"--structure is {structure!r}; expected --group with it, which names the column "
                "of the domains that share"
            )
        fitted = {
            "domains": None if "classifier" in columns else table.coded("--group", group),
            "y_true": table.coded("--label", label),
            "threshold": threshold,
            "null": meaning,
        }
        estimator = ErrorEstimator(**options).fit(votes.value, **values(fitted))
        build = call_code("ErrorEstimator", **options)
        code = script(
            ("import polars as pl", "from karat.consensus import ErrorEstimator"),
            table.code,
            f"estimator = {call_code(f'{build}.fit', votes, **fitted)}",
            "estimator.error_rates_",
        )
        return _answer(file.name, estimator, columns, code)

    run(work, output=output, as_json=as_json, reads=[file])


def _votes(table: InputTable, judge: list[str], group: str | None) -> Coded:
    """Return the votes, wide or long, with the code that selects them from the frame."""
    names = set(table.frame.columns)
    if not judge and set(_LONG) <= names:
        if group is None:
            columns = [name for name in (*_LONG, "domain") if name in names]
            return Coded(table.frame.select(columns), f"frame[{columns}]")
        # The flag wins over a column that is called 'domain'. The library refuses domains that
        # come twice, so the column of the flag takes the place of the other.
        domain = table.column("--group", group).alias("domain")
        code = f"frame[{list(_LONG)}].with_columns(domain=frame[{group!r}])"
        return Coded(table.frame.select(_LONG).with_columns(domain), code)
    try:
        columns = table.names("--judge", judge, ("judge", "vote_"))
    except ColumnError as error:
        raise ColumnError(f"{error}. A long file has the columns {list(_LONG)}") from error
    return Coded(table.columns("--judge", columns), f"frame[{columns}]")


def _answer(name: str, estimator: ErrorEstimator, read: list[str], code: str) -> Answer:
    r, clusters = estimator.result_, estimator.co_clustering_
    data: dict[str, Any] = {"summary": r.summary(), "result": r}
    columns = ("domain", "voter", "error rate", _limits(r), "identified by the votes")
    rows = tuple(_row(r, i) for i in range(len(r.mean)))
    text: list[str | Grid] = [f"votes: {', '.join(read)}", r.summary(), Grid(columns, rows)]
    if clusters is not None:
        data["clusters"] = clusters
        text.append(clusters.summary())
    if estimator.powered_ is not None:
        data["powered"] = plain(estimator.powered_.to_dict(as_series=False))
        text += ["with the gold labels:", _powered(estimator.powered_)]
    text += [other.summary() for other in r.explanations if not other.identified]
    return Answer(data=data, text=text, page=partial(_page, name, estimator, code))


def _limits(r: ErrorRates) -> str:
    return f"{100 * r.confidence:g} % limits"


def _row(r: ErrorRates, i: int) -> tuple[str, ...]:
    return (
        str(r.domains[r.domain[i]]),
        str(r.classifiers[r.classifier[i]]),
        f"{r.mean[i]:.3f}",
        f"{r.lower[i]:.3f} to {r.upper[i]:.3f}",
        "yes" if r.identified[r.domain[i]] else "no",
    )


def _powered(frame: Any) -> Grid:
    rows = tuple(
        (
            str(row["domain"]), str(row["classifier"]), f"{row['estimate']:.3f}",
            f"{row['lower']:.3f} to {row['upper']:.3f}",
            f"{row['labels_lower']:.3f} to {row['labels_upper']:.3f}", str(row["n_gold"]),
        )
        for row in frame.iter_rows(named=True)
    )  # fmt: skip
    return Grid(("domain", "voter", "error rate", "limits", "labels alone", "gold votes"), rows)


def _page(name: str, estimator: ErrorEstimator, code: str) -> Page:
    result = estimator.result_
    sections = [_rates(result.of_domain(domain), code) for domain in result.domains]
    if estimator.co_clustering_ is not None:
        sections.insert(0, _clusters(estimator.co_clustering_))
    if estimator.powered_ is not None:
        sections.append(
            section(
                "What do the gold labels say?",
                "With gold labels on a random sample the error rates below are valid whatever the "
                "model of the votes; the consensus makes the limits narrower than the labels alone "
                "do.",
                grid=_powered(estimator.powered_),
                assumptions=("The labelled items are a random sample of the items.",),
                code="estimator.powered_",
            )
        )
    return Page(
        f"{name}: how good are the voters",
        "Error rates from votes alone. Where several explanations fit the votes as well, the page "
        "says so and shows them side by side.",
        sections,
    )


def _rates(r: ErrorRates, code: str) -> Any:
    only = r.domains == ("all",)
    picture = r if r.identified[0] else r.explanations[0]
    return section(
        "How often does each voter err?"
        if only
        else f"How often does each voter err in {r.domains[0]}?",
        picture.summary(),
        result=picture,
        picture="Error rate of each voter, with its limits or under each explanation.",
        grid=Grid(
            ("voter", "error rate", _limits(r)),
            tuple(_row(r, i)[1:4] for i in range(len(r.mean))),
        ),
        assumptions=(
            "Voters are better than chance on the whole; within a class they err independently, "
            "but for easy and hard items and for voters who copy one another.",
            *r.reasons[0],
        ),
        code=code,
    )


def _clusters(found: CoClustering) -> Any:
    rows = tuple(
        (str(name), str(cluster), f"{sure:.2f}")
        for name, cluster, sure in zip(found.names, found.labels, found.certainty, strict=True)
    )
    return section(
        "Who shares error rates with whom?",
        found.summary(),
        result=found,
        picture="Probability that two share their error rates, cluster by cluster.",
        grid=Grid(("what", "cluster", "certainty"), rows),
        assumptions=("Clusters come from a Dirichlet process; those that share have one rate.",),
    )
