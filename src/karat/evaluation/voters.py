"""Voters of all kinds, reported: whom to trust, how sure that is, and what to label next.

`of_votes` reports an `ErrorEstimator`, `of_ratings` a `ScoreEstimator`, `of_pairs` a
`PairEstimator` and `of_people` the tests of judges beside people. Each is an `Answer`, which the
command line prints and writes as a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from karat._result import plain
from karat._validate import native_frame
from karat.consensus import ErrorEstimator, PairEstimator, ScoreEstimator
from karat.consensus.judged import AnnotatorTest, JudgePanel, PairErrors, SystemRanking
from karat.consensus.result import CoClustering, ErrorRates, ScoreErrors
from karat.report.answer import Answer, Finding, finding, table
from karat.report.parts import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What stands in a report beside the fit.

    Attributes
    ----------
    name : str
        What the votes are called, such as a file.
    code : str
        The lines that fit the estimator.
    drawn : frame, optional
        The items drawn to be labelled next.
    path : Path, optional
        The file in which those stand.
    panels : sequence of JudgePanel
        The cheapest panel of each domain.
    """

    name: str
    code: str = ""
    drawn: Any = None
    path: Path | None = None
    panels: Sequence[JudgePanel] = ()

    def label(self, *, unknown: bool) -> str:
        """Return what to label next; ``unknown`` says that votes cannot tell somewhere."""
        drawn = self.drawn
        if drawn is None:
            why = (
                "where votes cannot tell, nothing else helps"
                if unknown
                else "labels confirm it or do not"
            )
            flags = f"--label-next {_NEXT} --todo todo.csv"
            return f"Label next: {flags} draws items with known probabilities; {why}."
        items = ", ".join(str(row[1]) for row in _framed(drawn).head(_SHOWN).iter_rows())
        more = f" and {len(drawn) - _SHOWN} more" if len(drawn) > _SHOWN else ""
        where = "" if self.path is None else f", in {self.path}"
        return (
            f"Label next ({len(drawn)} items, drawn with known probabilities{where}): "
            f"{items}{more}."
        )

    @property
    def data(self) -> dict[str, Any]:
        """The items and the panels, as data."""
        found: dict[str, Any] = {}
        if self.drawn is not None:
            found["label_next"] = plain(_framed(self.drawn).to_dict(as_series=False))
        return found | ({"panels": list(self.panels)} if self.panels else {})

    @property
    def text(self) -> list[str]:
        """A line for the panel of each domain."""
        only = len(self.panels) == 1
        return [f"panel{'' if only else f' of {p.domain}'}: {p.summary()}" for p in self.panels]

    @property
    def findings(self) -> list[Finding]:
        """The panels and the items to label, as sections."""
        return [*map(_panel, self.panels), *_to_label(self.drawn)]


def _framed(frame: Any) -> Any:
    """Return a table of any library as one of narwhals.

    Its first column holds domains, its second voters or items, called as in the input.
    """
    return native_frame(frame, "frame")


def _voter_in(frame: Any) -> str:
    """Return what the voters are called in a long table, ``voter`` in a wide one."""
    name = str(_framed(frame).columns[1])
    return "voter" if name == "classifier" else name


_NEXT = 30  # labels that a report asks for where none was asked for
_SHOWN = 10


# --- Votes.


def of_votes(estimator: ErrorEstimator, voters: Sequence[str], beside: Beside) -> Answer:
    """Report a fit to votes; ``voters`` are the columns that were read."""
    r, clusters = estimator.result_, estimator.co_clustering_
    opening = [
        *_trust(estimator),
        sure_of(r.domains, r.status),
        beside.label(unknown=not r.identified.all()),
    ]
    data: dict[str, Any] = {"summary": " ".join(opening), "status": _status(r), "result": r}
    text: list[str | Table] = list(opening)
    if estimator.from_labels_ is not None:
        data["from_labels"] = plain(_framed(estimator.from_labels_).to_dict(as_series=False))
        text += [
            "From the gold labels, with the votes as control; use this table first:",
            _from_labels(estimator),
        ]
        text.append("From the votes, with the labels as far as the model uses them:")
    text.append(_rates_table(r))
    if clusters is not None:
        data["clusters"] = clusters
        text.append(clusters.summary())
    text += [other.summary() for other in r.explanations if not other.identified]
    text += [estimator.robustness_curve(d).summary() for d in r.domains if _told(r, d)]
    text += [f"votes: {', '.join(voters)}", *beside.text]
    gold = bool((r.gold_votes > 0).any())
    return Answer(
        data=data | beside.data,
        text=text,
        title=f"{beside.name}: how good are the voters",
        introduction=f"Error rates from votes{' and gold labels' if gold else ' alone'}. Where "
        "several explanations fit the votes as well, the page says so and shows them side by side.",
        findings=lambda: _findings(estimator, opening, beside),
    )


def _told(r: ErrorRates, domain: Any) -> bool:
    return bool(r.identified[r.domains.index(domain)])


def status_rows(r: ErrorRates | PairErrors | ScoreErrors) -> list[dict[str, Any]]:
    """Return the status of each domain, with its reasons; names keep their type."""
    return [
        {
            "domain": plain(name),
            "status": r.status[d],
            "reasons": list(r.reasons[d]),
            "gold": r.evidence[d],
        }
        for d, name in enumerate(r.domains)
    ]


def _status(r: ErrorRates) -> list[dict[str, Any]]:
    """Return the same with the copies of each domain."""
    copies = [plain([list(block) for block in found]) for found in r.copies]
    return [row | {"copies": found} for row, found in zip(status_rows(r), copies, strict=True)]


def _where(r: ErrorRates, domain: Any) -> str:
    return "" if len(r.domains) == 1 else f"In {domain}: "


def _trust(estimator: ErrorEstimator) -> list[str]:
    """Return whom to trust, domain by domain: by gold labels where there are some."""
    r = estimator.result_
    if estimator.from_labels_ is None:
        return [f"{r.summary()}."]
    lines = []
    frame = _framed(estimator.from_labels_)
    voter = frame.columns[1]
    for domain in r.domains:
        rows = [row for row in frame.iter_rows(named=True) if row["domain"] == domain]
        rows = [row for row in rows if np.isfinite(row["value"])]
        if not rows:
            lines.append(f"{_where(r, domain)}too few gold labels to say whom to trust.")
            continue
        best = min(rows, key=lambda row: row["value"])
        rivals = sum(row["lower"] <= best["upper"] for row in rows) - 1
        others = len(rows) - 1
        where = _where(r, domain)
        lines.append(
            f"{where}{'trust' if where else 'Trust'} {best[voter]} most: wrong on "
            f"{100 * best['value']:.1f} % ({100 * r.confidence:g} % limits "
            f"{100 * best['lower']:.1f} to {100 * best['upper']:.1f}, with {best['n_gold']} gold "
            f"labels); {f'{rivals} of the {others} others' if rivals else f'no other of {others}'} "
            "may be as good."
        )
    return lines


def sure_of(domains: Sequence[Any], statuses: Sequence[str]) -> str:
    """Return how sure that is: the status of every domain."""
    words = {
        "not identified": "the votes cannot tell who errs",
        "consistent": "nothing in the votes speaks against it, and votes cannot say more",
        "confirmed": "random gold labels confirm the consensus of the voters",
        "contradicted": "random gold labels contradict the consensus of the voters",
    }
    parts = []
    for status, meaning in words.items():
        here = [str(d) for d, s in zip(domains, statuses, strict=True) if s == status]
        if here:
            where = "" if len(domains) == 1 else f" in {', '.join(here)}"
            parts.append(f"{status}{where} ({meaning})")
    return f"How sure: {'; '.join(parts)}."


def _rates_table(r: ErrorRates, *, domains: bool = True) -> Table:
    """Return the rates from votes, sorted; the limits of what votes cannot tell say so."""
    several = domains and len(r.domains) > 1
    voter = _voter_in(r.to_frame())
    head = ("domain",) * several + (voter, "error rate", _limits(r), "status")
    rows = []
    for i in np.lexsort((r.value, r.domain)):
        d = r.domain[i]
        limits = f"{r.lower[i]:.3f} to {r.upper[i]:.3f}"
        if not r.identified[d] and r.identified.any():
            limits = f"votes cannot tell: {limits}"
        row = (str(r.classifiers[r.classifier[i]]), f"{r.value[i]:.3f}", limits, r.status[d])
        rows.append(((str(r.domains[d]),) if several else ()) + row)
    return table(head, tuple(rows))


def _limits(r: ErrorRates) -> str:
    return f"{100 * r.confidence:g} % limits" if r.identified.any() else "votes cannot tell"


def _from_labels(estimator: ErrorEstimator) -> Table:
    """Return the error rates that gold labels give, helped by the consensus."""
    frame = _framed(estimator.from_labels_)
    voter = frame.columns[1]
    several = len(estimator.result_.domains) > 1
    rows = tuple(
        (
            *((str(row["domain"]),) if several else ()),
            str(row[voter]),
            f"{row['value']:.3f}",
            f"{row['lower']:.3f} to {row['upper']:.3f}",
            f"{row['labels_lower']:.3f} to {row['labels_upper']:.3f}",
            str(row["n_gold"]),
        )
        for row in frame.iter_rows(named=True)
    )
    level = f"{100 * estimator.result_.confidence:g} % limits"
    head = ("domain",) * several + (_voter_in(frame), "error rate", level)
    head += ("labels alone", "gold votes")
    return table(head, rows)


def _findings(estimator: ErrorEstimator, opening: list[str], beside: Beside) -> list[Finding]:
    result = estimator.result_
    found = [_opening(opening, beside)]
    if estimator.from_labels_ is not None:
        found.append(_gold(estimator))
    if estimator.co_clustering_ is not None:
        found.append(_clusters(estimator.co_clustering_))
    for domain in result.domains:
        found.append(_rates(result.of_domain(domain), domain))
        if _told(result, domain):
            found.append(_robust(estimator, domain))
    return [*found, *beside.findings]


def _opening(said: Sequence[str], beside: Beside) -> Finding:
    return finding("Whom to trust, how sure, and what to label?", " ".join(said), code=beside.code)


def _gold(estimator: ErrorEstimator) -> Finding:
    return finding(
        "What do the gold labels say?",
        "Use this table first: with labels drawn at random or with known probabilities it "
        "is valid whatever the model of the votes; the consensus makes the limits narrower than "
        "the labels alone do.",
        table=_from_labels(estimator),
        assumptions=("The labelled items were drawn at random, or with the probabilities given.",),
        code="estimator.from_labels_",
    )


def _rates(r: ErrorRates, domain: Any) -> Finding:
    only = domain == "all"
    picture = r if r.identified[0] else r.explanations[0]
    return finding(
        "How often does each voter err?" if only else f"How often does each voter err in {domain}?",
        picture.summary(),
        picture,
        picture="Error rate of each voter, with its limits or under each explanation.",
        table=_rates_table(r, domains=False),
        assumptions=(
            "Voters are better than chance on the whole; within a class they err independently, "
            "but for easy and hard items and for voters who copy one another.",
            *(f"{' = '.join(map(str, block))} have one vote together." for block in r.copies[0]),
            *r.reasons[0],
        ),
    )


def _robust(estimator: ErrorEstimator, domain: Any) -> Finding:
    curve = estimator.robustness_curve(domain)
    where = "" if domain == "all" else f" in {domain}"
    return finding(
        f"What if most voters are fooled together{where}?",
        curve.summary(),
        curve,
        picture="Limits of the best voters as more of the items fool most voters together.",
        assumptions=("Votes cannot show an error that all voters share.",),
    )


def _clusters(found: CoClustering) -> Finding:
    rows = tuple(
        (str(name), str(cluster), f"{sure:.2f}")
        for name, cluster, sure in zip(found.names, found.labels, found.certainty, strict=True)
    )
    return finding(
        "Who shares error rates with whom?",
        found.summary(),
        found,
        picture="Probability that two share their error rates, cluster by cluster.",
        table=table(("what", "cluster", "certainty"), rows),
        assumptions=("Clusters come from a Dirichlet process; those that share have one rate.",),
    )


# --- Items to label next, and the cheapest panel.


def _to_label(drawn: Any) -> list[Finding]:
    """Return the section of a page that lists the items to label, none without items."""
    if drawn is None:
        return []
    frame = _framed(drawn)
    item = frame.columns[1]
    several = frame["domain"].n_unique() > 1
    rows = tuple(
        (*((str(row["domain"]),) if several else ()), str(row[item]), f"{row['probability']:.4g}")
        for row in frame.iter_rows(named=True)
    )
    return [
        finding(
            "Which items to label next?",
            "Each was drawn with the probability beside it, which --label-probability takes back "
            "together with the labels.",
            table=table(("domain",) * several + (item, "probability"), rows),
        )
    ]


def _panel(panel: JudgePanel) -> Finding:
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
    return finding(
        f"Which judges are needed{where}?",
        panel.summary(),
        panel,
        picture="Share of items lost if one judge is left out.",
        table=table(
            ("judge", "on the panel", "cost", "lost without it", "lost with it alone"), rows
        ),
        assumptions=(
            "On items without a label the panel is compared with all judges, not with the truth.",
        ),
        code="cheapest_panel(estimator)",
    )


# --- Verdicts on pairs of answers.

_LABELS_OF_PAIRS = (
    "With the gold labels, on pairs where both orders give one verdict; valid whatever the model:"
)


def of_pairs(
    estimator: PairEstimator, beside: Beside, ranking: SystemRanking | None = None
) -> Answer:
    """Report a fit to verdicts on pairs; ``ranking`` is of the systems that wrote the answers."""
    r, fitted = estimator.result_, estimator.estimator_
    label = beside.label(unknown=not all(estimator.identified_.values()))
    opening = [f"{r.summary()}.", sure_of(r.domains, r.status), label]
    data: dict[str, Any] = {
        "summary": " ".join(opening),
        "status": status_rows(r),
        "result": r,
        "position_bias": r.bias,
    }
    text: list[str | Table] = [*opening, r.bias.summary(), _pairs_table(r)]
    if fitted.from_labels_ is not None:
        text += [_LABELS_OF_PAIRS, _from_labels(fitted)]
    if ranking is not None:
        data["systems"] = ranking
        text.append(ranking.summary())
    return Answer(
        data=data | beside.data,
        text=[*text, *beside.text],
        title=f"{beside.name}: judges on pairs in two orders",
        introduction="Every pair was shown in both orders: what the position does to each judge, "
        "and how often each errs without it.",
        findings=lambda: [
            _opening(opening, beside),
            *_of_bias(r),
            *([] if ranking is None else [_systems(ranking)]),
            *([] if fitted.from_labels_ is None else [_gold_of_pairs(fitted)]),
            *beside.findings,
        ],
    )


def _pairs_table(r: PairErrors) -> Table:
    order = sorted(range(len(r.value)), key=lambda i: (r.domain[i], r.value[i]))
    level = f"{100 * r.confidence:g} % limits"
    told = [status in ("consistent", "confirmed") for status in r.status]
    several = len(r.domains) > 1
    rows = tuple(
        (
            *((str(r.domains[r.domain[i]]),) if several else ()),
            str(r.judges[r.judge[i]]),
            f"{r.value[i]:.3f}",
            _cannot_tell("votes", told, r.domain[i]) + _between(r.lower[i], r.upper[i]),
            f"{r.bias.value[r.judge[i]]:+.3f}",
            _between(r.bias.lower[r.judge[i]], r.bias.upper[r.judge[i]], signed=True),
            f"{r.cost.value[i]:.3f}",
            r.status[r.domain[i]],
        )
        for i in order
    )
    of_rate = level if any(told) else "votes cannot tell"
    names = ("domain",) * several + (
        "judge",
        "error rate",
        of_rate,
        "position bias",
        level,
        "cost of one order",
        "status",
    )
    return table(names, rows)


def _of_bias(r: PairErrors) -> list[Finding]:
    return [
        finding(
            "How often does each judge prefer the worse answer?",
            "These are the rates with the position bias out: a tie, and a verdict that the order "
            f"changes, count as half an error. {sure_of(r.domains, r.status)}",
            r,
            picture="Error rate of each judge with the bias out, and in one order only.",
            table=_pairs_table(r),
            assumptions=(
                "A pair and its mirror image are alike to a judge, but for the position.",
                f"The votes leave the rates {', '.join(sorted(set(r.status)))}.",
            ),
            code="estimator.error_rates_",
        ),
        finding(
            "Who follows the position of an answer?",
            r.bias.summary(),
            r.bias,
            picture="Position bias of each judge with its limits.",
            code="estimator.position_bias_",
        ),
    ]


def _systems(ranking: SystemRanking) -> Finding:
    return finding(
        "Which systems answer better?",
        ranking.summary(),
        ranking,
        picture="Strength of each system, by tier.",
        code="rank_systems(estimator, first, second)",
    )


def _gold_of_pairs(estimator: ErrorEstimator) -> Finding:
    return finding(
        "What do the gold labels say?",
        _LABELS_OF_PAIRS,
        table=_from_labels(estimator),
        assumptions=("The labelled pairs were drawn at random, or with known probabilities.",),
        code="estimator.estimator_.from_labels_",
    )


# --- Ratings and probabilities, used as numbers.


def of_ratings(estimator: ScoreEstimator, beside: Beside) -> Answer:
    """Report a fit to ratings."""
    r = estimator.result_
    opening = [f"{r.summary()}.", sure_of(r.domains, r.status)]
    found = finding(
        "How well does each voter tell the classes apart?",
        r.summary(),
        r,
        picture="Error rate of each voter's scores with its limits.",
        table=_ratings_table(r),
        assumptions=(
            "Voters err independently given the class; pairs of voters are checked.",
            *(reason for reasons in r.reasons for reason in reasons),
        ),
        code=beside.code,
    )
    return Answer(
        data={"summary": " ".join(opening), "status": status_rows(r), "result": r},
        text=[*opening, _ratings_table(r)],
        title=f"{beside.name}: how good are the scores",
        introduction="Error rates from scores as they are: their order counts, and no threshold "
        "was chosen.",
        findings=lambda: [found],
    )


def _ratings_table(r: ScoreErrors) -> Table:
    order = sorted(range(len(r.value)), key=lambda i: (r.domain[i], r.value[i]))
    level = f"{100 * r.confidence:g} % limits"
    told, several = r.identified.tolist(), len(r.domains) > 1
    rows = tuple(
        (
            *((str(r.domains[r.domain[i]]),) if several else ()),
            str(r.classifiers[r.classifier[i]]),
            f"{r.value[i]:.3f}",
            _cannot_tell("scores", told, r.domain[i]) + _between(r.lower[i], r.upper[i]),
            f"{r.area.value[i]:.3f}",
            _cannot_tell("scores", told, r.domain[i]) + _between(r.area.lower[i], r.area.upper[i]),
            r.status[r.domain[i]],
        )
        for i in order
    )
    limits = level if any(told) else "scores cannot tell"
    voter = _voter_in(r.to_frame())
    head = ("domain",) * several + (voter, "error rate", limits, "area", limits, "status")
    return table(head, rows)


# --- Judges beside people.


def of_people(
    tests: Mapping[str, AnnotatorTest], name: str, codes: Mapping[str, str] | None = None
) -> Answer:
    """Report whether each judge may replace a person; the judge that does best comes first.

    ``tests`` and ``codes`` are by the judges' names.
    """
    tests = dict(sorted(tests.items(), key=lambda one: -one[1].advantage_rate.value))
    closest = next(iter(tests.values()))
    passed = [judge for judge, test in tests.items() if test.passed]
    summary = (
        f"{len(passed)} of {len(tests)} judges may replace a person: {', '.join(passed)}"
        if passed
        else f"none of {len(tests)} judges is shown to replace a person"
    )
    return Answer(
        data={
            "summary": summary,
            "tests": [{"judge": judge, "result": test} for judge, test in tests.items()],
        },
        text=[summary, _people_table(tests), f"the closest: {closest.summary()}"],
        title=f"{name}: judges beside people",
        introduction=f"{summary}.",
        findings=lambda: [
            finding(
                f"May {judge} replace a person?",
                test.summary(),
                test,
                picture="Judge and person beside the other people, person by person.",
                table=_people_table({judge: test}),
                assumptions=(
                    "People are the reference: what they get wrong together counts as right.",
                    "The items are a random sample of those to be judged.",
                ),
                code=(codes or {}).get(judge, ""),
            )
            for judge, test in tests.items()
        ],
    )


def _people_table(tests: Mapping[str, AnnotatorTest]) -> Table:
    level = f"{100 * next(iter(tests.values())).confidence:g} % limits"
    rows = tuple(
        (
            judge,
            "yes" if test.passed else "no",
            f"{test.value:.2f}",
            _between(test.lower, test.upper),
            f"{test.exact_winning_rate:.2f}",
            f"{test.advantage_rate.value:.2f}",
            _between(test.advantage_rate.lower, test.advantage_rate.upper),
        )
        for judge, test in tests.items()
    )
    names = ("judge", "may replace a person", "ω", level, "ω, exact tests", "ρ", level)
    return table(names, rows)


# --- Words of all tables.


def _between(lower: float, upper: float, signed: bool = False) -> str:
    """Return limits as a table shows them."""
    return f"{lower:+.3f} to {upper:+.3f}" if signed else f"{lower:.3f} to {upper:.3f}"


def _cannot_tell(what: str, told: Sequence[bool], domain: int) -> str:
    """Return what stands before limits of a domain where votes cannot tell, beside others.

    Where no domain is told, the head of the table says it.
    """
    return f"{what} cannot tell: " if any(told) and not told[domain] else ""
