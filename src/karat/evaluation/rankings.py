"""Rankings, reported: areas under the ROC curve or another measure of each, and which is better.

`of_rankings` makes an `Answer`, which the command line prints and writes as a page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karat._sentences import Sentence
from karat.ranking import WeightedAUC
from karat.ranking.result import RankingComparison, RankingMeasure
from karat.report.answer import Answer, Finding, finding, table
from karat.report.parts import Table


def of_rankings(
    results: Mapping[str, WeightedAUC | RankingMeasure],
    name: str,
    comparison: RankingComparison | None = None,
    *,
    codes: Mapping[str, str] | None = None,
    comparison_code: str = "",
) -> Answer:
    """Report measures of the same rows by several models, and their differences.

    Parameters
    ----------
    results : mapping
        The measure of each model, by its name.
    name : str
        What the rows are called.
    comparison : RankingComparison, optional
        The differences.
    codes, comparison_code : mapping, str
        The lines that give the measure of each model, and the differences.
    """
    data: dict[str, Any] = {"results": results}
    text: list[str | Table] = []
    for model, r in results.items():
        text.append(Sentence(f"{model}: ", r.summary()))
        text += [f"  {who}: {part.summary()}" for who, part in (r.groups or {}).items()]
    if comparison is not None:
        data["differences"] = {"pairs": comparison.differences}
        text += [difference.summary() for difference in comparison.differences]
    title, introduction = _head(next(iter(results.values())))
    return Answer(
        data=data,
        text=text,
        title=f"{name}: {title}",
        introduction=introduction,
        findings=lambda: [
            *(_ranking(model, r, (codes or {}).get(model, "")) for model, r in results.items()),
            *([] if comparison is None else [_compared(comparison, comparison_code)]),
        ],
    )


def _head(first: WeightedAUC | RankingMeasure) -> tuple[str, str]:
    """Return title and introduction of a page."""
    if isinstance(first, RankingMeasure):
        return f"{first.measure} of the ranking", (
            f"{first.title[0].upper()}{first.title[1:]}, with limits of it in the population that "
            "the rows were drawn from."
        )
    return "how good the ranking is", (
        "Areas under the ROC curve, with limits. Those of method 'auto' hold for any law of the "
        "scores, any ties and any number of rows"
        + ("; with weights of rows they are approximate." if first.approximate else ".")
    )


def _ranking(name: str, r: WeightedAUC | RankingMeasure, code: str) -> Finding:
    measured = isinstance(r, RankingMeasure)
    population = ", with its share of positives" if measured else ""
    parts = [("all", r), *((str(who), part) for who, part in (r.groups or {}).items())]
    columns = ["rows", "positives", "negatives", "lower", "value", "upper"]
    return finding(
        f"What is the {r.measure} of {name}?"
        if isinstance(r, RankingMeasure)
        else f"How good is the ranking of {name}?",
        r.summary(),
        r,
        picture=f"{r.title} of {name}, with its limits.",
        table=table(
            [*columns, "by chance"] if measured else columns,
            [
                (
                    who,
                    f"{p.n_positive:,.6g}",
                    f"{p.n_negative:,.6g}",
                    *(f"{v:.4f}" for v in (p.lower, p.value, p.upper)),
                    *((f"{p.chance:.4f}",) if isinstance(p, RankingMeasure) else ()),
                )
                for who, p in parts
            ],
        ),
        assumptions=(
            f"Rows are independent draws of the population that the limits speak of{population}, "
            "and the scores were not fitted to these labels.",
        ),
        code=code,
    )


def _compared(comparison: RankingComparison, code: str) -> Finding:
    rows = [
        (
            f"{d.first} − {d.second}",
            *(f"{v:+.4f}" for v in (d.value, d.lower, d.upper)),
            "" if d.p_value is None else f"{d.p_value:.2g}",
        )
        for d in comparison.differences
    ]
    return finding(
        "Which ranking is better?",
        comparison.summary(),
        comparison,
        picture="The curves of all models.",
        table=table(("pair", "difference", "lower", "upper", "paired p"), rows),
        assumptions=("The limits hold for all models and differences together.",),
        code=code,
    )
