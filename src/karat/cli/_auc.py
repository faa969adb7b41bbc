"""``karat auc``: how good the rankings in a file are where it matters."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from karat._validate import refuse_option
from karat.cli.frame import (
    Answer,
    Grid,
    Page,
    flags,
    read_pos_label,
    read_table,
    run,
    section,
)
from karat.exceptions import OptionError
from karat.ranking import (
    AucComparison,
    FprBand,
    TprBand,
    Uniform,
    WeightedAUC,
    compare_auc,
    weighted_auc,
    weighted_auc_from_counts,
)

__all__ = ["auc"]

_COMPARED = ("dkw", "beta", "delong")  # certificates that also hold for differences
_DEFAULTS = {"confidence": 0.95, "normalize": "raw", "pos_label": None}
_CODE = """\
from karat.ranking import {names}

{call}
"""


def auc(
    file: flags.File,
    label: flags.Label,
    score: flags.Scores = None,
    pos_label: flags.PosLabel = None,
    group: flags.Group = None,
    fpr: Annotated[
        str | None, typer.Option(help="False-positive rates that count, such as 0,0.1.")
    ] = None,
    tpr: Annotated[
        str | None, typer.Option(help="True-positive rates that count, such as 0.8,1.")
    ] = None,
    certificate: Annotated[
        str, typer.Option(help="dkw or beta (certain), maurer-pontil, delong, bootstrap.")
    ] = "dkw",
    confidence: flags.Confidence = 0.95,
    normalize: Annotated[str, typer.Option(help="raw, mcclish or mean.")] = "raw",
    stream: Annotated[
        bool, typer.Option("--stream", help="Count a large Parquet file without reading it in.")
    ] = False,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Measure how good a ranking is where it matters, with limits that hold."""
    options: dict[str, Any] = {
        "certificate": certificate, "confidence": confidence, "normalize": normalize,
    }  # fmt: skip

    def work() -> Answer:
        options["weight"] = _weight(fpr, tpr)
        if stream:
            results = _streamed(file, score or [], label, pos_label, group, options)
            return _answer(file, results, None, label, options)
        table = read_table(file)
        names = table.names("--score", score, ("score", "y_score", "prob"))
        y_true = table.column("--label", label)
        options["pos_label"] = read_pos_label([y_true], pos_label)
        scores = table.columns("--score", names)
        groups = table.optional("--group", group)
        results = {
            name: weighted_auc(y_true, scores[name], groups=groups, **options) for name in names
        }
        comparison = None
        if len(names) > 1 and certificate in _COMPARED:
            comparison = compare_auc(y_true, scores, **options)
        return _answer(file, results, comparison, label, options)

    run(work, output=output, as_json=as_json, reads=[file])


def _weight(fpr: str | None, tpr: str | None) -> Any:
    """Return the weight function of the two bands of rates."""
    across, up = _band(fpr, "--fpr"), _band(tpr, "--tpr")
    if across is None:
        return Uniform() if up is None else TprBand(*up)
    return FprBand(*across) if up is None else FprBand(*across) & TprBand(*up)


def _band(text: str | None, flag: str) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        first, second = (float(part) for part in text.replace(":", ",").split(","))
    except ValueError:
        refuse_option(text, flag, "two rates such as 0,0.1")
    return first, second


def _streamed(
    file: Path,
    score: list[str],
    label: str,
    pos_label: str | None,
    group: str | None,
    options: dict[str, Any],
) -> dict[str, WeightedAUC]:
    """Measure without reading the file into memory."""
    from karat.statistics import scan_roc_counts

    if group is not None or not score:
        raise OptionError("--stream is True; expected --score with it, and no --group")
    # The labels are not read, so the type of the positive one is told from its text alone.
    whole = pos_label is not None and pos_label.lstrip("-").isdigit()
    positive: Any = int(pos_label or 0) if whole else pos_label
    return {
        name: weighted_auc_from_counts(
            scan_roc_counts(file, label=label, score=name, pos_label=positive),
            cells=True,
            **options,
        )
        for name in score
    }


def _answer(
    file: Path,
    results: dict[str, WeightedAUC],
    comparison: AucComparison | None,
    label: str,
    options: dict[str, Any],
) -> Answer:
    data: dict[str, Any] = dict(results)
    text = []
    for name, r in results.items():
        text.append(f"{name}: {r.summary()}")
        text += [f"  {who}: {part.summary()}" for who, part in (r.groups or {}).items()]
    if comparison is not None:
        data["differences"] = {"pairs": comparison.differences}
        text += [difference.summary() for difference in comparison.differences]
    page = partial(_page, file.name, results, comparison, label, options)
    return Answer(data=data, text=text, page=page)


def _page(
    name: str,
    results: dict[str, WeightedAUC],
    comparison: AucComparison | None,
    label: str,
    options: dict[str, Any],
) -> Page:
    sections = [_ranking(score, r, label, options) for score, r in results.items()]
    if comparison is not None:
        sections.append(_comparison(comparison, label, options))
    return Page(
        f"{name}: how good the ranking is",
        "Areas under the ROC curve, with limits. Those of certificate 'dkw' hold for any law of "
        "the scores, any ties and any number of rows.",
        sections,
    )


def _code(function: str, columns: str, options: dict[str, Any]) -> str:
    """Return the lines that would give the same answer."""
    weight = repr(options["weight"])
    names = [kind for kind in ("FprBand", "TprBand", "Uniform") if kind in weight]
    chosen = f"weight={weight}, certificate={options['certificate']!r}"
    for name, usual in _DEFAULTS.items():
        if options.get(name) != usual:
            chosen += f", {name}={options[name]!r}"
    return _CODE.format(
        names=", ".join([*names, function]), call=f"{function}({columns}, {chosen})"
    )


def _ranking(name: str, r: WeightedAUC, label: str, options: dict[str, Any]) -> Any:
    parts = [("all", r), *((str(who), part) for who, part in (r.groups or {}).items())]
    rows = tuple(
        (
            who, f"{p.n_positive:,.6g}", f"{p.n_negative:,.6g}", f"{p.lower:.4f}", f"{p.value:.4f}",
            f"{p.upper:.4f}",
        )
        for who, p in parts
    )  # fmt: skip
    return section(
        f"How good is the ranking of {name}?",
        r.summary(),
        result=r,
        picture=f"{r.title} of {name}, with its limits.",
        grid=Grid(("rows", "positives", "negatives", "lower", "value", "upper"), rows),
        assumptions=(
            "Rows are independent draws of the population that the limits speak of, and the scores "
            "were not fitted to these labels.",
        ),
        code=_code("weighted_auc", f"frame[{label!r}], frame[{name!r}]", options),
    )


def _comparison(comparison: AucComparison, label: str, options: dict[str, Any]) -> Any:
    rows = tuple(
        (
            f"{d.first} − {d.second}", f"{d.value:+.4f}", f"{d.lower:+.4f}", f"{d.upper:+.4f}",
            "" if d.p_value is None else f"{d.p_value:.2g}",
        )
        for d in comparison.differences
    )  # fmt: skip
    return section(
        "Which ranking is better?",
        comparison.summary(),
        result=comparison,
        picture="ROC curves of all models.",
        grid=Grid(("pair", "difference", "lower", "upper", "paired p"), rows),
        assumptions=("The limits hold for all models and differences together.",),
        code=_code("compare_auc", f"frame[{label!r}], frame[{list(comparison.models)}]", options),
    )
