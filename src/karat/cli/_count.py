"""karat count: count a large file once, and answer from the counts."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from karat._code import Coded, call_code, script
from karat.bounds import PerformanceBounds, performance_bounds
from karat.cli import _flags as flags
from karat.cli._run import Answer, console, run
from karat.cli._table import check_once, read_class_prior, read_classes, read_null, read_pos_label
from karat.consensus import ErrorEstimator
from karat.exceptions import ColumnError, KaratWarning, OptionError
from karat.ranking import WeightedAUC, compare_rankings, weighted_auc
from karat.ranking.result import RankingComparison
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
    weighting: flags.Weighting = "importance",
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
        source = _with_roles(source, given, weighting)
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
    named = any(given[role] for role in (*_STARTS, "judge"))
    for role, starts in _STARTS.items():
        if named or (role == "score" and not given["label"]):
            continue
        names = [n for n in source.names if n.lower().startswith(starts) and n not in taken]
        given[role] = names or None
    if not any(given.values()):
        raise ColumnError(
            f"name the columns to count with --judge, --pred, --weak, --score and --label; there "
            f"are {source.names}"
        )
    return source.roles(
        **{role: value for role, value in given.items() if value}, weighting=weighting
    )


# --- Bounds, error rates and areas from a file of counts.


def refuse_flags(given: Mapping[str, Any]) -> None:
    """Refuse flags that name rows or columns: what was counted is what the file holds."""
    for flag, value in given.items():
        if value not in (None, False, "", [], ()):
            raise OptionError(
                f"{flag} does not go with a file of counts; expected it where the rows are "
                "counted, or a file of rows"
            )


def _chosen(found: Mapping[str, Any], names: Sequence[str] | None, flag: str, path: Path) -> Any:
    """Return the counts that a flag names, or all there are."""
    missing = [name for name in names or () if name not in found]
    if missing or not found:
        what = missing[0] if missing else "…"
        raise ColumnError(
            f"{flag} {what}: {path.name} holds no such counts; there are {list(found)}. Count them "
            "with karat count"
        )
    return {name: found[name] for name in names or found}


def _series(classes: Any) -> list[Any]:
    import polars as pl

    return [pl.Series(classes.tolist())]


def counted_bounds(
    path: Path,
    pred: Sequence[str] | None,
    build: Any,
    settings: dict[str, Any],
    metric: Any,
    options: dict[str, Any],
) -> tuple[dict[str, PerformanceBounds], list[str], Any]:
    """Return bounds by prediction, the labelers, and the code of each.

    ``build`` and ``settings`` make the label model; ``options`` holds pos_label and class_prior as
    text, and robustness and confidence.
    """
    found = _chosen(Counts.load(path).patterns, pred, "--pred", path)
    results, lines = {}, {}
    for name, counts in found.items():
        classes, shares = read_class_prior(_series(counts.classes), options["class_prior"])
        prior = (
            None if classes is None or shares is None else dict(zip(classes, shares, strict=True))
        )
        used = {
            "metric": metric,
            "robustness": options["robustness"],
            "confidence": options["confidence"],
            "class_prior": prior,
            "pos_label": read_pos_label(_series(counts.classes), options["pos_label"]),
            "rng": 0,
        }
        fit = {} if prior is None else {"class_prior": prior}
        model = build(**settings).fit(counts.votes(), **fit)
        plain = {k: v.value if isinstance(v, Coded) else v for k, v in used.items()}
        results[name] = performance_bounds(counts, label_model=model, **plain)
        made = call_code(
            f"{call_code(build.__name__, **settings)}.fit", Coded(0, "counts.votes()"), **fit
        )
        lines[name] = script(
            (
                "from karat.bounds import performance_bounds",
                "from karat.sources import Counts",
                f"from karat.weak import {build.__name__}",
            ),
            f"counts = Counts.load({str(path)!r}).patterns[{name!r}]",
            f"label_model = {made}",
            call_code(
                "performance_bounds",
                Coded(0, "counts"),
                label_model=Coded(0, "label_model"),
                **used,
            ),
        )
    if len(results) > 1:
        warnings.warn(
            "differences of two models need counts of both together, which the file has not; "
            "pass the rows, or such counts to difference_bounds",
            KaratWarning,
            stacklevel=2,
        )
    return results, [str(n) for n in next(iter(found.values())).names], lines.__getitem__


def counted_judges(
    path: Path, options: dict[str, Any], labels: str | None
) -> tuple[ErrorEstimator, list[str], str]:
    """Return an estimator fitted to the votes of a file, the voters, and the code.

    ``labels`` says how the items with a true label were chosen.
    """
    votes = Counts.load(path).votes
    if votes is None:
        raise ColumnError(f"{path.name} holds no votes; count them with karat count --judge …")
    chosen: dict[str, Any] = {} if labels is None else {"labels": labels}
    code = script(
        ("from karat.consensus import ErrorEstimator", "from karat.sources import Counts"),
        f"votes = Counts.load({str(path)!r}).votes",
        f"estimator = {call_code('ErrorEstimator', **options)}",
        call_code("estimator.fit", Coded(votes, "votes"), **chosen),
        "estimator.error_rates_",
    )
    fitted = ErrorEstimator(**options).fit(votes, **chosen)
    return fitted, [str(name) for name in votes.names], code


def counted_areas(
    path: Path, score: Sequence[str] | None, options: dict[str, Any], imported: str
) -> tuple[dict[str, WeightedAUC], dict[str, str], RankingComparison | None, str]:
    """Return areas by score with the code of each, and the comparison of several with its code."""
    found = _chosen(Counts.load(path).roc, score, "--score", path)
    load = f"counts = Counts.load({str(path)!r}).roc"
    both = ("from karat.sources import Counts", imported)
    results, codes = {}, {}
    for name, counts in found.items():
        results[name] = weighted_auc(counts, **options)
        call = call_code("weighted_auc", Coded(0, f"counts[{name!r}]"), **options)
        codes[name] = script(both, load, call)
    if len(found) < 2 or options["limits"] not in (
        "auto",
        "hinge",
        "kl",
        "nested",
        "dkw",
        "beta",
    ):
        return results, codes, None, ""
    compared = compare_rankings(found, **options)
    code = call_code("compare_rankings", Coded(0, "counts"), **options)
    imports = (*both[:1], imported.replace("weighted_auc", "compare_rankings"))
    return results, codes, compared, script(imports, load, code)
