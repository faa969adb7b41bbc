"""How good is the ranking where it matters? Partial areas with limits that hold."""

from typing import Any

from karat.cli.demo._models import Models
from karat.ranking import FprBand, RankingComparison, RocPoint, compare_auc, roc_at
from karat.report import Section, Table, result_svg

__all__ = ["where_it_matters"]

_BAND = FprBand(0, 0.1)
_CODE = """\
from karat.ranking import FprBand, compare_auc, roc_at

compare_auc(y_true, {"logistic regression": a, "naive Bayes": b},
            weight=FprBand(0, 0.1), normalize="mean")   # or certificate="delong"
roc_at(y_true, a, fpr=0.1, certificate="beta")
"""


def where_it_matters(models: Models) -> Section:
    """Compare the models at false-positive rates up to a tenth, and at the tenth."""
    options: dict[str, Any] = {
        "weight": _BAND, "normalize": "mean", "pos_label": models.positive,
    }  # fmt: skip
    sure = compare_auc(models.y_true, models.scores, **options)
    paired = compare_auc(models.y_true, models.scores, certificate="delong", **options)
    points = {
        name: roc_at(models.y_true, score, fpr=0.1, certificate="beta", pos_label=models.positive)
        for name, score in models.scores.items()
    }
    return Section(
        question="How good is the ranking where it matters?",
        answer=_answer(sure, paired, points),
        figure=result_svg(sure),
        figure_text="ROC curves of both models, the false-positive rates that count shaded.",
        table=_table(sure, paired, points),
        assumptions=(
            "A screening that can follow up a tenth of the healthy looks at false-positive rates "
            "up to 0.1 alone; the mean true-positive rate there is the partial AUC, rescaled.",
            "Certain limits hold for any law of the scores, ties included, at 95 % for both models "
            "together: the worst case inside bands around both distribution functions. Normal "
            "limits are narrower and rest on a large sample.",
        ),
        code=_CODE,
    )


def _answer(sure: RankingComparison, paired: RankingComparison, points: dict[str, RocPoint]) -> str:
    best = sure.best
    area, point, difference = sure.models[best], points[best], paired.differences[0]
    verdict = "is" if difference.lower > 0 else "may or may not be"
    return (
        f"At false-positive rates up to a tenth, {best} finds {100 * area.value:.0f} % of the "
        f"cancers on average, and for certain at least {100 * area.lower:.0f} %; at exactly a "
        f"tenth, {100 * point.value:.0f} % and at least {100 * point.lower:.0f} %. It {verdict} "
        f"better than {difference.second} there (difference {100 * difference.value:.1f} points, "
        f"paired limits {100 * difference.lower:.1f} to {100 * difference.upper:.1f})."
    )


def _table(
    sure: RankingComparison, paired: RankingComparison, points: dict[str, RocPoint]
) -> Table:
    rows = tuple(
        (
            name,
            f"{area.value:.3f}",
            f"{area.lower:.3f} – {area.upper:.3f}",
            f"{paired.models[name].lower:.3f} – {paired.models[name].upper:.3f}",
            f"{points[name].value:.3f} ({points[name].lower:.3f} – {points[name].upper:.3f})",
        )
        for name, area in sure.models.items()
    )
    columns = ("model", "mean TPR, FPR ≤ 0.1", "certain", "normal", "TPR at FPR 0.1, certain")
    return Table(columns=columns, rows=rows, caption="True-positive rates where it matters")
