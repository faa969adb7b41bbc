"""Panels of few items, on which copies cannot be looked for: what is flagged, and what with it.

Fewer than forty items in common are too few to tell copies from good voters. There a pair that
agrees at Cohen's κ of .85 or more makes the status "not identified". Panels of five voters and few
items are drawn from the shared sets as they are, and once more with two of the five replaced by
copies of a third. Of four levels of κ, .85 is the largest that flags 97 % of the latter on the sets
on which rules are settled; it is confirmed on the others.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from _show import Promise, number, say, show_table
from _votes_data import VoteSet
from numpy.typing import NDArray

from karat.votes.agreement import kappas
from karat.votes.domains import read_votes

__all__ = ["run_small"]

_ITEMS = (15, 20, 30)
_VOTERS = 5
_PANELS = 40  # of each set and number of items
_COPIED = 0.95
_OTHER = 3  # votes for another class that the voter who is copied must have cast
_LEVELS = (0.80, 0.85, 0.90, 0.95)
_TAKEN = 0.85  # what the library takes


class Seen(NamedTuple):
    """Of the panels of one half, the largest κ of each: as they are, and with copies."""

    plain: NDArray[Any]
    copied: NDArray[Any]

    def share(self, level: float) -> tuple[float, float]:
        """Return the shares that are flagged at a level of κ."""
        return float((self.plain >= level).mean()), float((self.copied >= level).mean())


def run_small(halves: Mapping[str, Sequence[VoteSet]], *, quick: bool) -> list[Promise]:
    """Print what each level of κ flags in either half; return what is promised."""
    rows, found = [], {}
    times = 3 if quick else _PANELS
    for name, sets in halves.items():
        seen = [panel for data in sets for panel in _panels(data, times)]
        found[name] = Seen(*(np.array(column) for column in zip(*seen, strict=True)))
        for level in _LEVELS:
            plain, copied = found[name].share(level)
            rows.append([name, str(len(seen)), f"{level:g}", number(copied), number(plain)])
    columns = ["half", "panels", "κ", "copies flagged", "others flagged"]
    show_table(f"Panels of {_VOTERS} voters on {', '.join(map(str, _ITEMS))} items", columns, rows)
    say(
        f"Two of the five copy a third on {100 * _COPIED:.0f} % of the items. The rule takes κ = "
        f"{_TAKEN:g}. 'others flagged' are panels as they are, among which may be copies too.\n"
    )
    return [
        Promise(f"copies on few items flagged: {name}", seen.share(_TAKEN)[1], 0.97)
        for name, seen in found.items()
    ]


def _panels(data: VoteSet, times: int) -> Iterator[tuple[float, float]]:
    """Return the largest κ of panels of one set, as they are and with copies."""
    rng = np.random.default_rng(0)
    for votes in _dense(data):
        for n in _ITEMS:
            for _ in range(times):
                panel = _draw(votes, n, rng)
                if panel is None:
                    break
                if np.bincount(panel[:, 0]).max() > n - _OTHER:
                    continue  # κ of a voter who nearly always says the same is not defined
                with_copies = panel.copy()
                for j in (1, 2):
                    same = rng.random(n) < _COPIED
                    with_copies[same, j] = panel[same, 0]
                yield _largest(panel), _largest(with_copies)


def _dense(data: VoteSet) -> Iterator[NDArray[Any]]:
    """Return one matrix per domain, items × voters, -1 where there is no vote."""
    if "classifier" not in data.votes:
        for _, rows in data.votes.groupby(np.asarray(data.domains)):
            yield rows.to_numpy()
        return
    codes = data.votes.assign(vote=np.unique(data.votes["vote"], return_inverse=True)[1])
    parts = [codes] if "domain" not in codes else [p for _, p in codes.groupby("domain")]
    for part in parts:
        wide = part.pivot(index="item", columns="classifier", values="vote")
        yield wide.fillna(-1).to_numpy().astype(np.int64)


def _draw(votes: NDArray[Any], n: int, rng: np.random.Generator) -> NDArray[Any] | None:
    """Return the votes of five voters, or of all, on n items that all of them saw."""
    cast = votes >= 0
    for _ in range(20):
        chosen = [int(rng.integers(votes.shape[1]))]
        while len(chosen) < min(_VOTERS, votes.shape[1]):
            here = cast[:, chosen].all(axis=1)
            common = here.astype(np.int64) @ cast
            common[chosen] = -1
            most = np.argsort(-common, kind="stable")[: 2 * _VOTERS]
            chosen.append(int(rng.choice(most[common[most] >= 0])))
        rows = np.flatnonzero(cast[:, chosen].all(axis=1))
        if len(rows) >= n and len(chosen) >= 3:
            return np.asarray(votes[np.ix_(rng.choice(rows, n, replace=False), chosen)])
    return None


def _largest(panel: NDArray[Any]) -> float:
    """Return the largest κ of two voters, 0 if none is defined; 1 if nobody ever disagrees.

    Voters who never disagree are not identified in any case.
    """
    if (panel == panel[:, :1]).all():
        return 1.0
    classes = np.arange(max(2, int(panel.max()) + 1))
    table = read_votes(panel, classes=classes).domains[0].table
    return float(np.nan_to_num(kappas(table, 10).value, nan=0.0).max(initial=0.0))
