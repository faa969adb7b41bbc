"""The cheapest panel, as a command answers it."""

from collections.abc import Sequence
from typing import Any

from karat.cli.frame import Answer, Grid, Page, section
from karat.consensus import ErrorEstimator, JudgePanel, PairEstimator, cheapest_panel
from karat.exceptions import OptionError

__all__ = ["panel_of", "panel_section", "panel_text", "parse_costs", "with_panel"]


def parse_costs(given: Sequence[str], voters: Sequence[Any]) -> dict[str, float] | None:
    """Return what each judge costs from ``name=number``; the others cost 1."""
    if not given:
        return None
    costs = {str(v): 1.0 for v in voters}
    for text in given:
        name, equals, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            equals = ""
        if not equals or name not in costs:
            raise OptionError(
                f"--cost is {text!r}; expected judge=number, for a judge among {list(costs)[:20]}"
            )
        costs[name] = value
    return costs


def panel_of(
    estimator: ErrorEstimator | PairEstimator, costs: Sequence[str], confidence: float
) -> list[JudgePanel]:
    """Return the cheapest panel of each domain."""
    fitted = estimator.estimator_ if isinstance(estimator, PairEstimator) else estimator
    price = parse_costs(costs, fitted.classifiers_)
    return [
        cheapest_panel(estimator, cost=price, domain=name, confidence=confidence)
        for name in fitted.result_.domains
    ]


def with_panel(
    answer: Answer, estimator: ErrorEstimator, costs: Sequence[str], confidence: float
) -> Answer:
    """Return an answer about votes with the cheapest panel at its end."""
    panels = panel_of(estimator, costs, confidence)

    def page() -> Page:
        assert answer.page is not None
        made = answer.page()
        return made._replace(sections=[*made.sections, *(panel_section(p) for p in panels)])

    return Answer(
        data=answer.data | {"panels": panels},
        text=[*answer.text, *panel_text(panels)],
        page=page if answer.page is not None else None,
    )


def panel_text(panels: Sequence[JudgePanel]) -> list[str]:
    """Return a line for each domain."""
    only = len(panels) == 1
    return [f"panel{'' if only else f' of {p.domain}'}: {p.summary()}" for p in panels]


def panel_section(panel: JudgePanel) -> Any:
    """Return the section of a page."""
    order = (-panel.left_out).argsort(kind="stable")
    rows = tuple(
        (
            str(panel.judges[j]), "yes" if panel.chosen[j] else "no", f"{panel.cost[j]:g}",
            f"{100 * panel.left_out[j]:.1f} %", f"{100 * panel.alone[j]:.1f} %",
        )
        for j in order
    )  # fmt: skip
    where = "" if panel.domain == "all" else f" in {panel.domain}"
    return section(
        f"Which judges are needed{where}?",
        panel.summary(),
        result=panel,
        picture="Share of items lost if one judge is left out.",
        grid=Grid(("judge", "on the panel", "cost", "lost without it", "lost with it alone"), rows),
        assumptions=("What is compared is the panel with all judges, not with the truth.",),
        code="cheapest_panel(estimator)",
    )
