"""Bounds, error rates and areas from a file of counts."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from karat.bounds import PerformanceBounds, performance_bounds_from_counts
from karat.cli.frame import Coded, call_code, read_class_prior, read_pos_label, script
from karat.consensus import ErrorEstimator
from karat.exceptions import ColumnError, KaratWarning, OptionError
from karat.ranking import RankingComparison, WeightedAUC, compare_auc_from_counts
from karat.ranking import weighted_auc_from_counts as weighted_auc
from karat.sources import Counts

__all__ = ["counted_areas", "counted_bounds", "counted_judges", "refuse_flags"]


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
        classes, prior = read_class_prior(_series(counts.classes), options["class_prior"])
        used = {
            "metric": metric, "robustness": options["robustness"],
            "confidence": options["confidence"], "class_prior": prior,
            "pos_label": read_pos_label(_series(counts.classes), options["pos_label"]), "rng": 0,
        }  # fmt: skip
        fit = {} if prior is None else {"class_prior": prior, "classes": classes}
        model = build(**settings).fit(counts.votes(), **fit)
        plain = {k: v.value if isinstance(v, Coded) else v for k, v in used.items()}
        results[name] = performance_bounds_from_counts(counts, model, **plain)
        made = call_code(
            f"{call_code(build.__name__, **settings)}.fit", Coded(0, "counts.votes()"), **fit
        )
        lines[name] = script(
            ("from karat.bounds import performance_bounds_from_counts",
             "from karat.sources import Counts", f"from karat.weak import {build.__name__}"),
            f"counts = Counts.load({str(path)!r}).patterns[{name!r}]",
            f"label_model = {made}",
            call_code("performance_bounds_from_counts", Coded(0, "counts"),
                      Coded(0, "label_model"), **used),
        )  # fmt: skip
    if len(results) > 1:
        warnings.warn(
            "differences of two models need counts of both together, which the file has not; "
            "pass the rows, or difference_bounds_from_counts", KaratWarning,
            stacklevel=2,
        )  # fmt: skip
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
        call = call_code("weighted_auc_from_counts", Coded(0, f"counts[{name!r}]"), **options)
        codes[name] = script(both, load, call)
    if len(found) < 2 or options["certificate"] not in (
        "auto",
        "hinge",
        "kl",
        "nested",
        "dkw",
        "beta",
    ):
        return results, codes, None, ""
    compared = compare_auc_from_counts(found, **options)
    code = call_code("compare_auc_from_counts", Coded(0, "counts"), **options)
    imports = (*both[:1], imported.replace("weighted_auc_from_counts", "compare_auc_from_counts"))
    return results, codes, compared, script(imports, load, code)
