"""Flags of karat judges: which go together, and the columns that they name."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from karat.cli._run import Answer, Grid, Page, section
from karat.cli._table import InputTable
from karat.cli._voters import LONG_FLAGS, item_of
from karat.consensus import ErrorEstimator, JudgePanel, PairEstimator, cheapest_panel
from karat.exceptions import ColumnError, OptionError
from karat.votes.long_names import LongColumns, find_long


class LongNames(NamedTuple):
    """What the flags call the columns of a long file; None where they do not say."""

    item: str | None = None
    voter: str | None = None
    vote: str | None = None

    def item_of(self, table: InputTable) -> str | None:
        """Return the column that names the items of a wide file."""
        return item_of(table, self.item)

    def found(self, table: InputTable, **how: Any) -> LongColumns | None:
        """Return the columns of a long file, None if it is none; ``how`` is for `find_long`."""
        given = {"item": self.item, "voter": self.voter, "vote": self.vote}
        for part, name in given.items():
            table.optional(LONG_FLAGS[part], name)
        return find_long(table.frame, given=given, flags=LONG_FLAGS, name=table.path.name, **how)


def matching(table: InputTable, flag: str, patterns: Sequence[str]) -> list[str]:
    """Return the columns that names and patterns choose, each once."""
    found: list[str] = []
    for pattern in patterns:
        hits = [n for n in table.frame.columns if n == pattern or fnmatchcase(n, pattern)]
        if not hits:
            raise ColumnError(
                f"{flag} {pattern}: no column matches; there are {table.frame.columns}"
            )
        found += [n for n in hits if n not in found]
    return found


def limits_text(lower: float, upper: float, signed: bool = False) -> str:
    """Return limits as a table shows them."""
    return f"{lower:+.3f} to {upper:+.3f}" if signed else f"{lower:.3f} to {upper:.3f}"


def cannot_tell(what: str, told: Sequence[bool], domain: int) -> str:
    """Return what stands before limits of a domain where votes cannot tell, beside others.

    Where no domain is told, the head of the table says it.
    """
    return f"{what} cannot tell: " if any(told) and not told[domain] else ""


def parse_families(given: Sequence[str], voters: Sequence[Any]) -> dict[str, list[Any]] | None:
    """Return families of voters that count once from ``name=a,b`` or ``name=pattern*``."""
    if not given:
        return None
    families: dict[str, list[Any]] = {}
    for text in given:
        name, equals, members = text.partition("=")
        if not equals or not members:
            raise OptionError(f"--same is {text!r}; expected name=a,b,c or name=pattern*")
        chosen = []
        for part in members.split(","):
            hits = [v for v in voters if str(v) == part or fnmatchcase(str(v), part)]
            if not hits:
                raise OptionError(f"--same {text}: no voter is {part!r}; there are {voters[:20]}")
            chosen += hits
        families[name] = chosen
    return families


VoterColumn = Annotated[
    str | None, typer.Option("--voter", help="Column of the voters' names in a long file.")
]
VoteColumn = Annotated[
    str | None, typer.Option("--vote", help="Column of the votes in a long file.")
]
LabelsChosen = Annotated[
    str | None,
    typer.Option(
        "--labels",
        help="How labelled items were chosen: random, probability or picked. By default "
        "probability with --label-probability, else random.",
    ),
]
LabelProbability = Annotated[
    str | None,
    typer.Option(
        "--label-probability", help="Column of the chance with which each label was drawn."
    ),
]
Same = Annotated[
    list[str] | None,
    typer.Option(
        "--same",
        help="Voters that count once: name=a,b,c or a pattern, such as gpt=gpt*. Repeat.",
    ),
]
LabelNext = Annotated[
    int | None, typer.Option("--label-next", help="Draw so many items to label next.")
]
TodoFile = Annotated[
    Path | None,
    typer.Option("--todo", help="Write the items to label to this CSV, Parquet or Arrow file."),
]
Threshold = Annotated[float | None, typer.Option(help="Cut probabilities into votes here.")]
Structure = Annotated[
    str, typer.Option(help="How domains share: independent, coupled or hierarchical.")
]
Errors = Annotated[
    str | None,
    typer.Option(help="class-conditional or symmetric. By default symmetric with --order."),
]
Dependence = Annotated[str, typer.Option(help="auto, none, difficulty or pairs.")]
Order = Annotated[
    list[str] | None,
    typer.Option(
        "--order",
        help="Pairs in two orders: the column that says the order, or two columns (or "
        "patterns) of verdicts, with the first answer first and with it second.",
    ),
]
System = Annotated[
    list[str] | None,
    typer.Option(
        "--system", help="With --order: columns of who wrote the first and the second answer."
    ),
]
People = Annotated[
    list[str] | None,
    typer.Option(
        "--people",
        help="May a judge replace a person? Columns, or voters, that are people. The judges are "
        "all others, or those of --judge.",
    ),
]
Epsilon = Annotated[
    float | None, typer.Option(help="With --people: how far a person may be ahead.")
]
Alignment = Annotated[str, typer.Option(help="With --people: accuracy (labels) or rmse (ratings).")]
Scored = Annotated[
    bool, typer.Option("--scores", help="Votes are ratings or probabilities, used as they are.")
]
Panel = Annotated[
    bool, typer.Option("--panel", help="Name the cheapest judges that decide as all do.")
]
Cost = Annotated[
    list[str] | None, typer.Option("--cost", help="With --panel: judge=number. Repeat.")
]


# --- The cheapest panel, as a command answers it.


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
            str(panel.judges[j]),
            "yes" if panel.chosen[j] else "no",
            f"{panel.cost[j]:g}",
            *(f"{round(100 * lost[j], 1) + 0.0:.1f} %" for lost in (panel.left_out, panel.alone)),
        )
        for j in order
    )
    where = "" if panel.domain == "all" else f" in {panel.domain}"
    return section(
        f"Which judges are needed{where}?",
        panel.summary(),
        result=panel,
        picture="Share of items lost if one judge is left out.",
        grid=Grid(("judge", "on the panel", "cost", "lost without it", "lost with it alone"), rows),
        assumptions=(
            "On items without a label the panel is compared with all judges, not with the truth.",
        ),
        code="cheapest_panel(estimator)",
    )
