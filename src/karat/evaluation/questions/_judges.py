"""How good the judges are, from their votes."""

import warnings
from dataclasses import replace
from typing import Any

from karat._extras import require
from karat._result import basis_of
from karat.consensus import ErrorEstimator
from karat.consensus.result import ErrorRates
from karat.evaluation.questions._finding import (
    Evidence,
    LeftOut,
    code_of,
    flag,
    percent,
    script,
    several,
)
from karat.exceptions import KaratWarning
from karat.report.answer import Finding, sentence
from karat.report.parts import NextStep, Table, Verdict

_QUESTION = "How good are the judges?"
_LABELS = 30  # asked for where the user named no budget


def judges(asked: Evidence) -> Finding | LeftOut:
    """Return the error rate of every judge, and whether the votes can tell."""
    if asked.no_votes:
        unlock = f"other judges of the same items: {asked.no_votes}"
        return LeftOut(question=_QUESTION, unlock=unlock)
    written = _written_out(asked)
    e = written.by_row() if written.n_known and written.counted is None else written
    votes, given = _votes(e)
    names = e.roles.judge if e.votes is None else e.votes.column("voter").unique()
    if len(names) < 3:
        return LeftOut(
            question=_QUESTION,
            unlock=f"at least three judges; there are {len(names)}, and two voters who disagree "
            "do not show which of them errs",
        )
    estimator = ErrorEstimator(confidence=e.confidence, rng=e.rng)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", KaratWarning)
        estimator.fit(votes, **given)
    r = estimator.result_
    said = dict.fromkeys(str(w.message) for w in warned if issubclass(w.category, KaratWarning))
    from_labels = _own_names(e, estimator.from_labels_)
    verdict = _verdict(r) if from_labels is None else _gold_verdict(r, from_labels)
    votes_say, picture = sentence(r.summary()), "For each judge, the error rate and its limits."
    if from_labels is not None:  # the rates of votes are other numbers than those of labels
        votes_say = f"From the votes, with the labels as a test: {votes_say}"
        picture = (
            "For each judge, the error rate from votes and its limits; those from true labels are "
            "in the table."
        )
    return Finding(
        key="judges",
        question=_QUESTION,
        answer=_answer(r, verdict.sentence, votes_say, gold=from_labels is not None),
        results={"error rates": r},
        drawn=r,
        picture=picture,
        table=_table(r) if from_labels is None else _gold_table(r, from_labels),
        assumptions=(
            "Judges are mostly right, and no error is shared by most of them: votes cannot show "
            "an error that all judges share.",
            *e.drawn,
            *said,
        ),
        code=_code(e if asked.counted is None else asked, from_labels is not None),
        verdicts=(verdict,),
        next_steps=() if e.all_known else (_step(e),),
    )


def _written_out(e: Evidence) -> Evidence:
    """Return votes that were counted with true labels as rows with their numbers.

    Rates from labels are those of rows, of which each counts once. Counts without labels, or of
    weights, stay as they are.
    """
    votes = None if e.counted is None else e.counted.votes
    if votes is None or votes.label is None or not (votes.label >= 0).any():
        return e
    if votes.counts.dtype.kind != "i":
        return e
    pl = require("polars", purpose="an evaluation")
    classes = votes.classes.tolist()
    abstained = "-1" if isinstance(classes[0], str) else -1
    named = {-2: None, -1: abstained} | dict(enumerate(classes))
    columns = {
        str(name): pl.Series([named[code] for code in votes.votes[:, j].tolist()])
        for j, name in enumerate(votes.names)
    }
    label, group = e.roles.label[0], None
    columns[label] = pl.Series([None if c < 0 else classes[c] for c in votes.label.tolist()])
    if votes.domains is not None and votes.domain is not None:
        group = "group"
        columns[group] = pl.Series(votes.domains[votes.domain].tolist())
    roles = replace(e.roles, group=group)
    return replace(e, frame=pl.DataFrame(columns), counts=votes.counts, counted=None, roles=roles)


def _votes(e: Evidence) -> tuple[Any, dict[str, Any]]:
    """Return the votes, and what is passed beside them."""
    if e.counted is not None:
        return e.counted.votes, {}
    if e.votes is None:
        votes = e.frame.select(e.roles.judge)
        if e.roles.id is not None and e.roles.id in e.frame.columns:
            votes = votes.with_columns(e.column(e.roles.id).alias("item"))
        given = {
            "domains": e.groups,
            "y_true": e.column(e.roles.label[0]) if e.n_known else None,
        }
        if e.counts is not None:
            given |= {"sample_weight": e.counts, "weighting": "frequency"}
        return votes, given
    gold = _gold(e)
    if gold is None:
        return e.votes, {}
    # People who correct a log choose what they correct, so those labels are no random sample.
    return e.votes, {"y_true": e.frame[gold], "labels": "picked"}


def _gold(e: Evidence) -> str | None:
    """Return the column of true labels beside votes; None where it holds none."""
    name = e.patterns.get("long", {}).get("gold", "gold")
    return name if name in e.frame.columns and e.frame[name].count() else None


def _own_names(e: Evidence, rates: Any) -> Any:
    """Return a table of rates whose columns are called as in this module."""
    if rates is None or e.votes is None:
        return rates
    called = e.votes.named(classifier="voter", domain="domain")
    return rates.rename({own: name for name, own in called.items()})


def _table(r: ErrorRates) -> Table:
    many = len(r.domains) > 1
    order = sorted(range(len(r.value)), key=lambda i: (r.domain[i], r.value[i]))
    rows = []
    for i in order:
        d = int(r.domain[i])
        limits = "votes cannot tell" if not r.identified[d] else r.status[d]
        where = (str(r.domains[d]),) if many else ()
        rows.append(
            (
                str(r.classifiers[r.classifier[i]]),
                *where,
                f"{100 * r.value[i]:.1f} %",
                f"{100 * r.lower[i]:.1f} %",
                f"{100 * r.upper[i]:.1f} %",
                limits,
            )
        )
    columns = ("judge", *(("domain",) if many else ()), "error rate", "lower", "upper", "status")
    caption = f"Error rates, {percent(r.confidence)} limits where the votes can tell"
    return Table(columns=columns, rows=tuple(rows), caption=caption)


def _answer(r: ErrorRates, verdict: str, said: str, *, gold: bool) -> str:
    """Return the verdict and the summary, or the summary alone where it says all of the verdict."""
    if not gold and set(r.status) == {"not identified"}:
        return said
    return " ".join(dict.fromkeys((verdict, said)))


def _verdict(r: ErrorRates) -> Verdict:
    """Return who errs least where that can be said of every domain, and else that it cannot."""
    lost = [str(d) for d, s in zip(r.domains, r.status, strict=True) if s == "contradicted"]
    open_ = [str(d) for d, s in zip(r.domains, r.status, strict=True) if s == "not identified"]
    where = "" if len(r.domains) == 1 else f" in {several(lost or open_)}"
    if lost:
        return Verdict(
            sentence=f"True labels contradict the consensus of the judges{where}: their votes "
            "do not show who is right.",
            badge=r.basis,
            change="rates from true labels alone; label more items drawn at random",
        )
    if open_:
        reason = r.reasons[r.status.index("not identified")][0]
        first = "" if len(open_) == 1 else f"in {open_[0]} "
        return Verdict(
            sentence=f"Votes alone cannot tell who errs{where}: {first}{reason}.",
            badge=r.basis,
            change=f"{_LABELS} true labels drawn at random",
        )
    best = min(range(len(r.value)), key=lambda i: r.value[i])
    confirmed = all(s == "confirmed" for s in r.status)
    here = [i for i in range(len(r.value)) if r.domain[i] == r.domain[best]]
    rivals = sum(bool(r.lower[i] <= r.upper[best]) for i in here) - 1
    domain = "" if len(r.domains) == 1 else f" in {r.domains[r.domain[best]]}"
    said = (
        f"{r.classifiers[r.classifier[best]]} {_least(rivals, len(here) - 1)}{domain}: "
        f"{100 * r.value[best]:.1f} % (between {100 * r.lower[best]:.1f} and "
        f"{100 * r.upper[best]:.1f} %)"
    )
    tested = "confirmed by true labels" if confirmed else "if most judges share no error"
    return Verdict(
        sentence=f"{said}, {tested}.",
        badge=r.basis,
        change="more true labels" if confirmed else f"{_LABELS} true labels would test it",
    )


def _least(rivals: int, others: int) -> str:
    """Return how far the first place is settled, in words before a rate."""
    if not rivals:
        return "errs least"
    return f"has the lowest error rate, though {rivals} of the {others} others may be as good"


def _gold_verdict(r: ErrorRates, from_labels: Any) -> Verdict:
    """Return who errs least by true labels, which is valid whatever the votes say."""
    told = from_labels.filter(from_labels["value"].is_finite())
    if not len(told):
        return _verdict(r)
    best = told.sort("value").row(0, named=True)
    here = told.filter(told["domain"] == best["domain"])
    rivals = int((here["lower"] <= best["upper"]).sum()) - 1
    domain = "" if len(r.domains) == 1 else f" in {best['domain']}"
    lost = "contradicted" in r.status
    votes = "; the consensus of the votes is contradicted and tells nothing" if lost else ""
    return Verdict(
        sentence=f"{best['classifier']} {_least(rivals, len(here) - 1)}{domain}: "
        f"{100 * best['value']:.1f} % (between {100 * best['lower']:.1f} and "
        f"{100 * best['upper']:.1f} %), from {best['n_gold']:,} true labels{votes}.",
        badge=basis_of("approximate"),  # as `prediction_powered_mean`, from which the table is made
        change="more true labels drawn at random",
    )


def _gold_table(r: ErrorRates, from_labels: Any) -> Table:
    """Return the rates from true labels, helped by the votes: those that count."""
    many = len(r.domains) > 1
    rows = tuple(
        (
            str(row["classifier"]),
            *((str(row["domain"]),) if many else ()),
            *(f"{100 * row[k]:.1f} %" for k in ("value", "lower", "upper")),
            f"{row['n_gold']:,}",
        )
        for row in from_labels.sort("domain", "value").iter_rows(named=True)
    )
    where = ("domain",) * many
    return Table(
        columns=("judge", *where, "error rate", "lower", "upper", "true labels"),
        rows=rows,
        caption=f"Error rates from true labels, which the votes make narrower; "
        f"{percent(r.confidence)} limits",
    )


def _step(e: Evidence) -> NextStep:
    n = e.budget or _LABELS
    what = f"Label {n} items drawn with known probabilities, to test the consensus"
    if "+" in e.patterns.get("long", {}).get("voter", ""):
        return NextStep(what=f"{what}: estimator.label_next({n}), with the code above.")
    return NextStep(
        what=f"{what}:",
        command=f"karat judges {e.file}{_columns(e)} --label-next {n} --todo todo.csv",
    )


def _columns(e: Evidence) -> str:
    """Return the flags by which ``karat judges`` finds the same votes."""
    long = e.patterns.get("long")
    if long is not None:
        group = flag("group", long["domain"]) if "domain" in long else ""
        gold = flag("label", long["gold"]) if "gold" in long else ""
        return (
            f"{flag('id', long['item'])}{flag('voter', long['voter'])}{flag('vote', long['vote'])}"
            f"{group}{gold}"
        )
    item = flag("id", e.roles.id) if e.roles.id and e.votes is None else ""
    return f"{e.named('judge')}{e.named('group')}{item}{e.named('label')}"


def _code(e: Evidence, gold: bool) -> str:
    options = {"domains": e.roles.group, "y_true": e.roles.label[0] if e.n_known else None}
    passed = "".join(f", {k}=frame[{v!r}]" for k, v in options.items() if v is not None)
    votes = f"frame.select({list(e.roles.judge)!r})"
    imports = ["from karat.consensus import ErrorEstimator"]
    if e.counted is not None:
        votes, passed, gold = "counts.votes", "", False
    if e.votes is not None:
        truth, long = _gold(e), e.patterns.get("long")
        votes = "frame"
        if long is not None:
            named = {part: name for part, name in long.items() if part != "gold"}
            votes = f"read_table(frame, columns={named!r})"
            imports.append("from karat.votes import read_table")
        passed = "" if truth is None else f", y_true=frame[{truth!r}], labels='picked'"
    build = code_of("ErrorEstimator", confidence=e.confidence, rng=e.rng)
    return script(
        e.read,
        *imports,
        f"estimator = {build}.fit({votes}{passed})",
        f"estimator.error_rates_, estimator.status_{', estimator.from_labels_' * gold}",
    )
