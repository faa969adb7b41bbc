"""The answer of ``karat judges``: whom to trust, how sure that is, and what to label."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from karat._frozen import plain
from karat.cli.frame import Answer, Grid, Page, section
from karat.cli.voters._todo import Todo, todo_section
from karat.consensus import CoClustering, ErrorEstimator, ErrorRates, PairErrors, ScoreErrors

__all__ = ["powered_grid", "report", "status_rows", "sure_of"]


def report(
    name: str, estimator: ErrorEstimator, read: list[str], code: str, todo: Todo, drawn: Any
) -> Answer:
    """Return the answer; ``drawn`` are the items to label, None if ``todo`` asks for none."""
    r, clusters = estimator.result_, estimator.co_clustering_
    label = todo.sentence(drawn, unknown=not r.identified.all())
    opening = [*_trust(estimator), sure_of(r.domains, r.status), label]
    data: dict[str, Any] = {"summary": " ".join(opening), "status": _status(r), "result": r}
    text: list[str | Grid] = list(opening)
    if estimator.powered_ is not None:
        data["powered"] = plain(estimator.powered_.to_dict(as_series=False))
        text += ["With the gold labels, which is the table that counts:", powered_grid(estimator)]
        text.append("From the votes, with the labels as far as the model uses them:")
    text.append(_rates_grid(r))
    if clusters is not None:
        data["clusters"] = clusters
        text.append(clusters.summary())
    text += [other.summary() for other in r.explanations if not other.identified]
    text += [estimator.robustness_curve(d).summary() for d in r.domains if _told(r, d)]
    if drawn is not None:
        data["label_next"] = plain(drawn.to_dict(as_series=False))
    text.append(f"votes: {', '.join(read)}")
    return Answer(data=data, text=text, page=partial(_page, name, estimator, opening, code, drawn))


def _told(r: ErrorRates, domain: Any) -> bool:
    return bool(r.identified[r.domains.index(domain)])


def status_rows(r: ErrorRates | PairErrors | ScoreErrors) -> list[dict[str, Any]]:
    """Return the status of each domain, with its reasons; names keep their type."""
    return [
        {
            "domain": plain(name), "status": r.status[d], "reasons": list(r.reasons[d]),
            "gold": r.evidence[d],
        }
        for d, name in enumerate(r.domains)
    ]  # fmt: skip


def _status(r: ErrorRates) -> list[dict[str, Any]]:
    """Return the same with the copies of each domain."""
    copies = [plain([list(block) for block in found]) for found in r.copies]
    return [row | {"copies": found} for row, found in zip(status_rows(r), copies, strict=True)]


def _where(r: ErrorRates, domain: Any) -> str:
    return "" if len(r.domains) == 1 else f"In {domain}: "


def _trust(estimator: ErrorEstimator) -> list[str]:
    """Return whom to trust, domain by domain: by gold labels where there are some."""
    r = estimator.result_
    if estimator.powered_ is None:
        return [f"{r.summary()}."]
    lines = []
    frame = estimator.powered_
    for domain in r.domains:
        rows = [row for row in frame.iter_rows(named=True) if row["domain"] == domain]
        rows = [row for row in rows if np.isfinite(row["estimate"])]
        if not rows:
            lines.append(f"{_where(r, domain)}too few gold labels to say whom to trust.")
            continue
        best = min(rows, key=lambda row: row["estimate"])
        rivals = sum(row["lower"] <= best["upper"] for row in rows) - 1
        others = len(rows) - 1
        where = _where(r, domain)
        lines.append(
            f"{where}{'trust' if where else 'Trust'} {best['classifier']} most: wrong on "
            f"{100 * best['estimate']:.1f} % ({100 * r.confidence:g} % limits "
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


def _rates_grid(r: ErrorRates, *, domains: bool = True) -> Grid:
    """Return the rates from votes, sorted; the limits of what votes cannot tell say so."""
    several = domains and len(r.domains) > 1
    head = ("domain",) * several + ("voter", "error rate", _limits(r), "status")
    rows = []
    for i in np.lexsort((r.mean, r.domain)):
        d = r.domain[i]
        limits = f"{r.lower[i]:.3f} to {r.upper[i]:.3f}"
        if not r.identified[d] and r.identified.any():
            limits = f"votes cannot tell: {limits}"
        row = (str(r.classifiers[r.classifier[i]]), f"{r.mean[i]:.3f}", limits, r.status[d])
        rows.append(((str(r.domains[d]),) if several else ()) + row)
    return Grid(head, tuple(rows))


def _limits(r: ErrorRates) -> str:
    return f"{100 * r.confidence:g} % limits" if r.identified.any() else "votes cannot tell"


def powered_grid(estimator: ErrorEstimator) -> Grid:
    """Return the error rates that gold labels give, helped by the consensus."""
    frame: Any = estimator.powered_
    several = len(estimator.result_.domains) > 1
    rows = tuple(
        (
            *((str(row["domain"]),) if several else ()), str(row["classifier"]),
            f"{row['estimate']:.3f}", f"{row['lower']:.3f} to {row['upper']:.3f}",
            f"{row['labels_lower']:.3f} to {row['labels_upper']:.3f}", str(row["n_gold"]),
        )
        for row in frame.iter_rows(named=True)
    )  # fmt: skip
    level = f"{100 * estimator.result_.confidence:g} % limits"
    head = ("domain",) * several + ("voter", "error rate", level, "labels alone", "gold votes")
    return Grid(head, rows)


def _page(name: str, estimator: ErrorEstimator, opening: list[str], code: str, drawn: Any) -> Page:
    result = estimator.result_
    sections = [
        section(
            "Whom to trust, how sure, and what to label?",
            " ".join(opening),
            code=code,
        )
    ]
    if estimator.powered_ is not None:
        sections.append(_gold(estimator))
    if estimator.co_clustering_ is not None:
        sections.append(_clusters(estimator.co_clustering_))
    for domain in result.domains:
        sections.append(_rates(result.of_domain(domain), domain))
        if _told(result, domain):
            sections.append(_robust(estimator, domain))
    sections += todo_section(drawn)
    gold = bool((result.gold_votes > 0).any())
    return Page(
        f"{name}: how good are the voters",
        f"Error rates from votes{' and gold labels' if gold else ' alone'}. Where several "
        "explanations fit the votes as well, the page says so and shows them side by side.",
        sections,
    )


def _gold(estimator: ErrorEstimator) -> Any:
    return section(
        "What do the gold labels say?",
        "This is the table that counts: with labels drawn at random or with known probabilities it "
        "is valid whatever the model of the votes; the consensus makes the limits narrower than "
        "the labels alone do.",
        grid=powered_grid(estimator),
        assumptions=("The labelled items were drawn at random, or with the probabilities given.",),
        code="estimator.powered_",
    )


def _rates(r: ErrorRates, domain: Any) -> Any:
    only = domain == "all"
    picture = r if r.identified[0] else r.explanations[0]
    return section(
        "How often does each voter err?" if only else f"How often does each voter err in {domain}?",
        picture.summary(),
        result=picture,
        picture="Error rate of each voter, with its limits or under each explanation.",
        grid=_rates_grid(r, domains=False),
        assumptions=(
            "Voters are better than chance on the whole; within a class they err independently, "
            "but for easy and hard items and for voters who copy one another.",
            *(f"{' = '.join(map(str, block))} have one vote together." for block in r.copies[0]),
            *r.reasons[0],
        ),
    )


def _robust(estimator: ErrorEstimator, domain: Any) -> Any:
    curve = estimator.robustness_curve(domain)
    where = "" if domain == "all" else f" in {domain}"
    return section(
        f"What if most voters are fooled together{where}?",
        curve.summary(),
        result=curve,
        picture="Limits of the best voters as more of the items fool most voters together.",
        assumptions=("Votes cannot show an error that all voters share.",),
    )


def _clusters(found: CoClustering) -> Any:
    rows = tuple(
        (str(name), str(cluster), f"{sure:.2f}")
        for name, cluster, sure in zip(found.names, found.labels, found.certainty, strict=True)
    )
    return section(
        "Who shares error rates with whom?",
        found.summary(),
        result=found,
        picture="Probability that two share their error rates, cluster by cluster.",
        grid=Grid(("what", "cluster", "certainty"), rows),
        assumptions=("Clusters come from a Dirichlet process; those that share have one rate.",),
    )
