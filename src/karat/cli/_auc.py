"""``karat auc``: how good the rankings in a file are where it matters."""

import json
from pathlib import Path
from typing import Any

from karat.cli._files import as_label, named_columns, pick_column, pick_columns, read_table
from karat.exceptions import ColumnError, DataError
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
from karat.report import Section, Table, render_report, result_svg

__all__ = ["run_auc"]

_CODE = """\
from karat.ranking import {names}

{call}
"""


def run_auc(
    file: Path,
    *,
    score: list[str],
    label: str,
    pos_label: str | None,
    group: str | None,
    fpr: str | None,
    tpr: str | None,
    certificate: str,
    confidence: float,
    normalize: str,
    stream: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Measure each column of scores and print, save or dump the answers."""
    options: dict[str, Any] = {
        "weight": _weight(fpr, tpr), "certificate": certificate, "confidence": confidence,
        "normalize": normalize,
    }  # fmt: skip
    comparison = None
    if stream:
        results = _streamed(file, score, label, pos_label, group, options)
    else:
        frame = read_table(file)
        columns = named_columns(frame, score, ("score", "y_score", "prob"))
        if not columns:
            raise ColumnError(f"--score: name at least one column; there are {frame.columns}")
        y_true = pick_column(frame, label, "--label")
        options["pos_label"] = as_label(y_true, pos_label)
        if len(columns) > 1 and certificate in ("dkw", "beta", "delong"):
            comparison = compare_auc(y_true, pick_columns(frame, columns, "--score"), **options)
        groups = {} if group is None else {"groups": pick_column(frame, group, "--group")}
        results = {
            name: weighted_auc(y_true, pick_column(frame, name, "--score"), **options, **groups)
            for name in columns
        }
    if as_json:
        answer = {name: r.to_dict() for name, r in results.items()}
        if comparison is not None:
            answer["differences"] = {"pairs": [d.to_dict() for d in comparison.differences]}
        print(json.dumps(answer))  # noqa: T201
    else:
        _print(results, comparison)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(_page(file, results, comparison, label, options), encoding="utf-8")


def _weight(fpr: str | None, tpr: str | None) -> Any:
    """Return the weight that the two bands say."""
    low, high = _band(fpr, "--fpr"), _band(tpr, "--tpr")
    if low is None:
        return Uniform() if high is None else TprBand(*high)
    return FprBand(*low) if high is None else FprBand(*low) & TprBand(*high)


def _band(text: str | None, flag: str) -> tuple[float, float] | None:
    if text is None:
        return None
    parts = text.replace(":", ",").split(",")
    try:
        first, second = (float(part) for part in parts)
    except ValueError as error:
        raise DataError(f"{flag} {text}: expected two rates such as 0,0.1") from error
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
        raise DataError("--stream needs --score and knows no --group")
    positive: Any = pos_label
    if pos_label is not None and pos_label.lstrip("-").isdigit():
        positive = int(pos_label)
    return {
        name: weighted_auc_from_counts(
            scan_roc_counts(file, label=label, score=name, pos_label=positive),
            cells=True,
            **options,
        )
        for name in score
    }


def _print(results: dict[str, WeightedAUC], comparison: AucComparison | None) -> None:
    from rich.console import Console

    console = Console()
    for name, r in results.items():
        console.print(f"{name}: {r.summary()}", markup=False)
        for who, part in (r.groups or {}).items():
            console.print(f"  {who}: {part.summary()}", markup=False)
    if comparison is not None:
        for difference in comparison.differences:
            console.print(difference.summary(), markup=False)


def _page(
    file: Path,
    results: dict[str, WeightedAUC],
    comparison: AucComparison | None,
    label: str,
    options: dict[str, Any],
) -> str:
    sections = [_section(name, r, label, options) for name, r in results.items()]
    if comparison is not None:
        sections.append(_compared(comparison, label, options))
    return render_report(
        f"{file.name}: how good the ranking is",
        "Areas under the ROC curve, with limits. Those of certificate 'dkw' hold for any law of "
        "the scores, any ties and any number of rows.",
        sections,
    )


def _said(options: dict[str, Any]) -> str:
    said = f"weight={options['weight']!r}, certificate={options['certificate']!r}"
    if options["confidence"] != 0.95:
        said += f", confidence={options['confidence']!r}"
    if options["normalize"] != "raw":
        said += f", normalize={options['normalize']!r}"
    positive = options.get("pos_label")
    return said if positive is None else f"{said}, pos_label={positive!r}"


def _names(options: dict[str, Any], function: str) -> str:
    shown = repr(options["weight"])
    kinds = [k for k in ("FprBand", "TprBand", "Uniform") if k in shown]
    return ", ".join([*kinds, function])


def _section(name: str, r: WeightedAUC, label: str, options: dict[str, Any]) -> Section:
    rows = [("all", r), *((str(g), part) for g, part in (r.groups or {}).items())]
    call = f"weighted_auc(frame[{label!r}], frame[{name!r}], {_said(options)})"
    return Section(
        question=f"How good is the ranking of {name}?",
        answer=f"{r.summary()}.",
        figure=result_svg(r),
        figure_text=f"{r.title} of {name}, with its limits.",
        table=Table(
            columns=("rows", "positives", "negatives", "lower", "value", "upper"),
            rows=tuple(
                (who, f"{p.n_positive:,.6g}", f"{p.n_negative:,.6g}", f"{p.lower:.4f}",
                 f"{p.value:.4f}", f"{p.upper:.4f}")
                for who, p in rows
            ),
        ),
        assumptions=(
            "Rows are independent draws of the population that the limits speak of, and the scores "
            "were not fitted to these labels.",
        ),
        code=_CODE.format(names=_names(options, "weighted_auc"), call=call),
    )  # fmt: skip


def _compared(comparison: AucComparison, label: str, options: dict[str, Any]) -> Section:
    call = f"compare_auc(frame[{label!r}], frame[{list(comparison.models)}], {_said(options)})"
    return Section(
        question="Which ranking is better?",
        answer=f"{comparison.summary()}.",
        figure=result_svg(comparison),
        figure_text="ROC curves of all models.",
        table=Table(
            columns=("pair", "difference", "lower", "upper", "paired p"),
            rows=tuple(
                (f"{d.first} − {d.second}", f"{d.value:+.4f}", f"{d.lower:+.4f}",
                 f"{d.upper:+.4f}", "" if d.p_value is None else f"{d.p_value:.2g}")
                for d in comparison.differences
            ),
        ),
        assumptions=("The limits hold for all models and differences together.",),
        code=_CODE.format(names=_names(options, "compare_auc"), call=call),
    )  # fmt: skip
