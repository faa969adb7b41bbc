"""Audits and gates, reported: what the labels tell so far, and whether a metric reaches its goal.

`of_audit` reports an `Audit` and `of_gate` a `GateResult`; each is an `Answer`, which the command
line prints and writes as a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from karat.audit import Audit
from karat.audit.result import AuditResult, GateResult
from karat.report.answer import Answer, Finding, finding, table
from karat.report.parts import Table, Verdict


def of_audit(
    audit: Audit,
    model: str,
    name: str,
    *,
    precision: float = 0.05,
    said: Sequence[str] = (),
    then: str = "",
    code: str = "",
) -> Answer:
    """Report what the labels tell so far.

    Parameters
    ----------
    audit : Audit
        The audit.
    model, name : str
        What the predictions and the items are called.
    precision : float, default 0.05
        Tell how many labels limits of ± this take.
    said : sequence of str
        What was just done: these lines stand first.
    then : str
        What to do next: this line stands last.
    code : str
        The lines that open the audit and look at its result.
    """
    result, budget = audit.result, audit.budget(precision)
    told = [f"{budget.summary()}."]
    if result.n_labels:
        told = [f"{result.summary()}."]
        told += [f"  {who}: {part.summary()}" for who, part in (result.groups or {}).items()]
    waiting = audit.waiting["item"].to_list()
    return Answer(
        data={"result": result, "budget": budget, "waiting": waiting},
        text=[*said, "", *told, "", _strata(result), *([then] if then else [])],
        title=f"{name}: what {result.n_labels:,} labels tell",
        introduction="An audit asks for the items whose labels tell most of a metric.",
        findings=lambda: [
            _how_good(result, model, code),
            *([] if result.groups is None else [_groups(result)]),
            finding(
                "How many labels does it take?",
                budget.summary(),
                budget,
                picture="Precision against the number of labels, random and chosen.",
                assumptions=(
                    "The numbers rest on the guesses of the truth that the audit was given.",
                ),
            ),
        ],
    )


def _how_good(result: AuditResult, model: str, code: str) -> Finding:
    return finding(
        f"How good is {model}?",
        result.summary(),
        result,
        picture=f"{result.title} against the number of labels, with limits at every look, and the "
        "share of items and labels in every stratum.",
        table=_strata(result),
        assumptions=(
            f"{_OF_AUDIT} The limits hold however wrong the probabilities are.",
            "Limits for this number of labels do not allow for stopping as soon as they please; "
            "those at every look do.",
        ),
        code=code,
    )


def _strata(result: AuditResult) -> Table:
    rows = [
        (s.why, f"{s.n_items:,}", f"{s.n_labels:,}", f"{100 * s.share:.0f} %")
        for s in result.strata
    ]
    return table(("items", "all", "labelled", "share of the labels"), rows)


def _groups(result: AuditResult) -> Finding:
    parts = result.groups or {}
    rows = [
        (
            str(name),
            f"{part.n_labels:,}",
            f"{part.lower:.3f}",
            "no label yet"
            if not part.n_labels and part.value != part.value
            else f"{part.value:.3f}",
            f"{part.upper:.3f}",
        )
        for name, part in parts.items()
    ]
    few = len(result.unlabelled)
    said = f"{result.title} of each of {len(rows)} groups, with limits of its own"
    if few:
        said += f"; {few} of them have no label yet, so that nothing is known of them"
    return finding(
        "How good is it in each group?",
        said,
        table=table(("group", "labels", "lower", "value", "upper"), rows),
        assumptions=("Each group's limits hold for it alone, not for all groups together.",),
    )


# --- Gates.

_OF_SAMPLE = "Labelled rows are a random sample, in the order in which they were labelled."
_MIXED = (
    "Labelled rows are a random sample. The order in which they were labelled is not known, so the "
    "limits hold at one look."
)
_EVERY_LOOK = "The limits hold after every label together, so a pipeline may look at any time."
_OF_AUDIT = (
    "Items were drawn by the audit, and labels were filled in without passing over items because "
    "they are hard."
)


def of_gate(
    result: GateResult,
    name: str,
    *,
    audited: bool = False,
    below: Verdict | None = None,
    code: str = "",
) -> Answer:
    """Report a gate; ``audited`` says that an audit drew its labels.

    ``below`` is the verdict that one class alone would do better: it stands first.
    """
    data: dict[str, Any] = {"gate": {**result.to_dict(), "exit_code": result.exit_code}}
    if below is not None:
        data["below_one_class"] = below.sentence
    rests = f"{_OF_AUDIT if audited else _OF_SAMPLE} {_EVERY_LOOK}"
    if not result.every_look:
        rests = _MIXED
    return Answer(
        data=data,
        text=[*([] if below is None else [below.sentence]), result.summary()],
        title=f"{name}: {result.status}",
        introduction="A gate decides by limits" + " at every look" * result.every_look + ".",
        findings=lambda: [
            finding(
                f"Is {result.title} at least {result.at_least:g}?",
                result.summary(),
                result,
                picture="The estimate with its limits, beside what has to be reached.",
                assumptions=(rests,),
                code=code,
            )
        ],
    )
