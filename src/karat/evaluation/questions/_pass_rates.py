"""How often each judge of an evaluation log lets an answer pass."""

from typing import Any

import numpy as np

from karat._result import basis_of
from karat.evaluation.questions._finding import Evidence, percent, script
from karat.metrics import as_metric
from karat.report.answer import Finding
from karat.report.parts import Table, Verdict

_MOST = 3  # verdicts, one a judge


def pass_rates(e: Evidence) -> Finding | None:
    """Return the share of answers that each judge lets pass, with limits; of a log alone."""
    assert e.log is not None
    cast = e.log.filter(e.log["vote"].is_not_null())
    if not cast["vote"].dtype.is_integer() or set(cast["vote"].unique()) - {0, 1}:
        return None  # votes for classes: none of them is a pass
    keys = ["model", "domain", "judge"]
    results: dict[str, Any] = {}
    rows, verdicts = [], []
    for key, part in cast.group_by(keys, maintain_order=True):
        r = _rate(e, part)
        name = _name(*map(str, key), many=cast["model"].n_unique() > 1)
        results[name] = r
        people = part.filter(part["gold"].is_not_null())
        agreed = int((people["gold"].cast(str) == people["vote"].cast(str)).sum())
        rows.append(
            (
                name,
                f"{int(part['vote'].sum())} of {len(part)}",
                f"{100 * r.value:.1f} %",
                f"{100 * r.lower:.1f} %",
                f"{100 * r.upper:.1f} %",
                f"{agreed} of {len(people)}" if len(people) else "no labels",
            )
        )
        verdicts.append(_verdict(name, part, r))
    order = np.argsort([r.value for r in results.values()], kind="stable")  # the worst first
    return Finding(
        key="pass_rates",
        question="How often do the answers pass?",
        answer=" ".join(verdicts[i].sentence for i in order),
        results=results,
        table=Table(
            columns=("judge", "passes", "share", "lower", "upper", "agrees with people"),
            rows=tuple(rows[i] for i in order),
            caption=f"Answers that each judge lets pass, with {percent(e.confidence)} limits",
        ),
        assumptions=(
            "A pass is what the judge says, not the truth; how often judges err is the question "
            "after this one.",
            "Items are a random draw of what the system will meet; answers to one item in several "
            "epochs count as one cluster, which makes limits of few items approximate.",
            "Answers that people labelled were chosen by people, so agreement has no limits.",
        ),
        code=_code(e),
        verdicts=tuple(verdicts[i] for i in order[:_MOST]),
    )


def _rate(e: Evidence, part: Any) -> Any:
    repeated = part["item"].n_unique() < len(part)
    return as_metric("accuracy").estimate(
        np.ones(len(part), dtype=int),
        part["vote"].to_numpy(),
        classes=[0, 1],
        clusters=part["item"] if repeated else None,
        confidence=e.confidence,
        rng=e.rng,
    )


def _name(model: str, domain: str, judge: str, *, many: bool) -> str:
    what = judge if domain in ("all", judge) else f"{judge} ({domain})"
    return f"{what}, {model}" if many else what


def _verdict(name: str, part: Any, r: Any) -> Verdict:
    return Verdict(
        sentence=f"{name} lets {int(part['vote'].sum())} of {len(part)} answers pass: "
        f"{100 * r.value:.1f} % (between {100 * r.lower:.1f} and {100 * r.upper:.1f} %).",
        badge=basis_of(r),
        change=f"more items (now {part['item'].n_unique():,}), and labels by people: a pass is the "
        "judge's opinion",
    )


def _code(e: Evidence) -> str:
    return script(
        e.read.replace(".votes()", ".columns"),
        "from karat.metrics import as_metric",
        "one = frame.filter(pl.col('judge') == frame['judge'][0]).drop_nulls('vote')",
        f"as_metric('accuracy').estimate([1] * len(one), one['vote'], classes=[0, 1], "
        f"clusters=one['item'], confidence={e.confidence!r}, rng={e.rng!r})",
    )
