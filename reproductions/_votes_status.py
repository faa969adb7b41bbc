"""What the status of error rates is worth: coverage, flags and refits over all shared sets."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from _show import Promise, number, say, show_table
from _votes_data import (
    CHOSEN_ON,
    CONFIRMED,
    CUTS,
    VoteSet,
    beside_truth,
    crowd,
    default_fit,
    judgebench,
    llmbar,
    nell,
    people,
    pooled_judgebench,
)
from scipy.stats import spearmanr

from karat.consensus import ErrorEstimator
from karat.exceptions import KaratWarning

__all__ = ["halves_of", "run_status"]

_GOLD_VOTES = 20  # of a voter, below which its true error rate is not known well enough
_RIGHT, _COVERED = 0.5, 0.9  # a ranking that is right, limits that cover
_FAILS = 0.7  # coverage below which a set that is not flagged is a known failure
_REFITS = 20
# Known failures: consistent, and fewer than 70 % covered; see docs/theory/failures.md.
KNOWN = ("JudgeBench: coding",)


class Told(NamedTuple):
    """What the estimator says of one domain of a set, beside the truth."""

    name: str
    voters: int
    status: str
    covered: float
    width: float
    ranking: float

    @property
    def flagged(self) -> bool:
        """Whether no ranking is given."""
        return self.status not in ("consistent", "confirmed")

    def line(self) -> list[str]:
        """Return the row of the table."""
        return [
            self.name, str(self.voters), self.status, number(self.covered), number(self.width, 3),
            number(self.ranking),
        ]  # fmt: skip


def run_status(*, quick: bool) -> list[Promise]:
    """Print the status of every domain of every set; return what is promised."""
    rows: list[Told] = []
    for title, sets in halves_of(quick=quick).items():
        here = [row for data in sets for row in _told(data)]
        rows += here
        columns = ["set", "voters", "status", "covered", "width", "Spearman"]
        show_table(f"Status: {title}", columns, [row.line() for row in here])
    _say_failures(rows)
    if quick:  # too few sets to promise a share of them
        return [p for p in _promises(rows) if not p.what.startswith("share")]
    return [*_promises(rows), *_refits()]


def halves_of(*, quick: bool) -> dict[str, list[VoteSet]]:
    """Return the sets on which rules were settled, and those on which they were confirmed."""
    return {
        "sets on which the rules were settled": _settled(quick=quick),
        "sets on which they were confirmed, unchanged": _confirmed(quick=quick),
    }


def _settled(*, quick: bool) -> list[VoteSet]:
    crowds = ("face_sentiment", "snow_temp") if quick else CHOSEN_ON
    others = [] if quick else [nell(next(iter(CUTS))), people("edge")]
    return [*(crowd(n) for n in crowds), llmbar(), *others]


def _confirmed(*, quick: bool) -> list[VoteSet]:
    crowds = ("bluebird",) if quick else CONFIRMED
    others = [] if quick else [nell(list(CUTS)[1]), people("sketch")]
    return [*(crowd(n) for n in crowds), judgebench(), pooled_judgebench(), *others]


def _told(data: VoteSet) -> list[Told]:
    estimator, _ = default_fit(data)
    table = beside_truth(estimator, data.truth, at_least=_GOLD_VOTES)
    rows = []
    for domain, voters in table.groupby("domain"):
        rank = spearmanr(voters["value"], voters["error"]).statistic if len(voters) > 2 else np.nan
        rows.append(
            Told(
                name=data.name if domain == "all" else f"{data.name}: {domain}",
                voters=len(voters),
                status=estimator.status_[domain],
                covered=float(voters["inside"].mean()),
                width=float((voters["upper"] - voters["lower"]).mean()),
                ranking=float(rank),
            )
        )
    return rows


def _pooled(rows: Sequence[Told]) -> float:
    return float(np.average([r.covered for r in rows], weights=[r.voters for r in rows]))


def _promises(rows: Sequence[Told]) -> list[Promise]:
    told = [row for row in rows if not row.flagged]
    good = [row for row in rows if row.ranking >= _RIGHT and row.covered >= _COVERED]
    unknown = [row for row in told if row.covered < _FAILS and row.name not in KNOWN]
    return [
        Promise("coverage pooled over the sets that are consistent", _pooled(told), 0.90),
        Promise(
            "share flagged of the sets whose ranking is right and whose limits cover",
            sum(row.flagged for row in good) / max(len(good), 1), 0.30, True,
        ),
        Promise("sets under .7, neither flagged nor a known failure", len(unknown), 0, True),
    ]  # fmt: skip


def _say_failures(rows: Sequence[Told]) -> None:
    flagged = [row for row in rows if row.flagged]
    low = [f"{r.name} ({r.covered:.2f})" for r in rows if not r.flagged and r.covered < _FAILS]
    say(
        f"{len(rows) - len(flagged)} of {len(rows)} sets are consistent, {len(flagged)} flagged. "
        f"Consistent, and covered under {_FAILS:g}: {', '.join(low) or 'none'}. Where votes cannot "
        f"tell, the limits of all accounts together cover {_pooled(flagged):.3f} of the voters, at "
        f"a mean width of {np.mean([r.width for r in flagged]):.2f}.\n"
    )


def _refits() -> list[Promise]:
    """Fit again with other seeds, another order of the voters, wide and long, and compare."""
    rows, least = [], 1.0
    for data in (pooled_judgebench(), judgebench(), llmbar(), people("sketch")):
        found: dict[Any, list[str]] = {}
        for seed in range(_REFITS):
            for domain, status in _refit(data, seed).status_.items():
                found.setdefault(domain, []).append(status)
        for domain, said in found.items():
            most = max(said.count(word) for word in set(said))
            rows.append([f"{data.name}: {domain}", f"{most} of {len(said)}", ", ".join(set(said))])
            least = min(least, most / len(said))
    title = f"{_REFITS} refits that differ in seed, order of voters and shape of the table"
    show_table(title, ["set", "agree", "status"], rows)
    return [Promise("refits that agree on the status, worst set", least, 0.95)]


def _refit(data: VoteSet, seed: int) -> ErrorEstimator:
    """Fit once more: rows shuffled, voters renamed into another order, odd seeds wide."""
    rng = np.random.default_rng(1000 + seed)
    names = np.unique(data.votes["classifier"])
    order = dict(zip(names, rng.permutation([f"v{i:03d}" for i in range(len(names))]), strict=True))
    votes = data.votes.assign(classifier=data.votes["classifier"].map(order))
    votes = votes.sample(frac=1.0, random_state=seed).reset_index(drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        if seed % 2 == 0:
            return ErrorEstimator(rng=seed).fit(votes)
        keys = ["item", "domain"] if "domain" in votes else ["item"]
        wide = votes.pivot(index=keys, columns="classifier", values="vote").reset_index()
        return ErrorEstimator(rng=seed).fit(wide)
