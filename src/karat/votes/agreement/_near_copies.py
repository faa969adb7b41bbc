"""Near copies: voters that say the same so often that together they are one vote."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.votes.agreement._ballots import ballots
from karat.votes.tables import VoteTable

__all__ = ["Kappas", "NearCopies", "kappas", "near_copies", "one_vote_each", "unseen_copies"]

_SHARED = 40  # items that two voters must share before they can be called copies
_FEWEST = 10  # items on which agreement throughout says something
_PART = 0.25  # of all items that two voters must share for their agreement to bear on the panel
_BLOCK = 0.85  # κ with the medoid from which a voter may belong to its block
_SPARE = 0.05  # κ of two outside voters below which they say nothing of a third
_COPIED = 0.8  # share of the agreement beyond chance and beyond being right that makes a copy
_QUARTILE = 0.75  # of R over outside pairs: pairs that err together make R too small
_ALONE = 0.9  # κ that makes a copy where too few others vote to tell copies from good voters


class Kappas(NamedTuple):
    """Cohen's κ of pairs of voters, dense over the voters who have a pair; NaN without one."""

    voters: IntArray
    value: FloatArray


class NearCopies(NamedTuple):
    """Voters who count once together.

    ``blocks`` holds the members of each, the medoid first, which speaks for the block; ``kappa`` is
    the median agreement inside each block, and ``known`` says which blocks were named by a user.
    """

    blocks: tuple[tuple[int, ...], ...]
    kappa: tuple[float, ...]
    known: tuple[bool, ...]

    def distinct(self, n_voters: int) -> int:
        """Return how many voters there are once every block counts as one."""
        return n_voters - sum(len(block) - 1 for block in self.blocks)


def kappas(table: VoteTable, at_least: float = _SHARED) -> Kappas:
    """Return κ of every pair of voters with enough items in common; abstentions do not count."""
    cast = np.flatnonzero(table.outcome < table.n_classes)
    pattern = table.pattern_of_vote[cast]
    votes = np.bincount(table.voter[cast], weights=table.count[pattern], minlength=table.n_voters)
    voters = np.flatnonzero(votes >= at_least - 1e-9)
    place = np.full(table.n_voters, -1)
    place[voters] = np.arange(len(voters))
    kept = place[table.voter[cast]] >= 0
    cast, pattern = cast[kept], pattern[kept]
    shape = (table.n_patterns, len(voters))
    root = np.sqrt(table.count)[pattern]

    def said_by(which: BoolArray) -> Any:
        at = place[table.voter[cast][which]]
        return ballots(root[which], pattern[which], at, shape)

    def common(one: Any, other: Any) -> FloatArray:
        product = one.T @ other
        return product if isinstance(product, np.ndarray) else np.asarray(product.toarray())

    everything = said_by(np.ones(len(cast), dtype=bool))
    n = common(everything, everything)
    same, chance = np.zeros_like(n), np.zeros_like(n)
    for o in range(table.n_classes):
        said = said_by(table.outcome[cast] == o)
        same += common(said, said)
        share = common(said, everything) / np.maximum(n, 1e-300)  # i says o, shared with j
        chance += share * share.T
    observed = same / np.maximum(n, 1e-300)
    value = np.full(n.shape, np.nan)
    enough = n >= at_least - 1e-9
    # Two voters who always say one and the same thing agree by chance alone: κ is not defined.
    np.divide(observed - chance, 1 - chance, out=value, where=enough & (chance < 1 - 1e-9))
    np.fill_diagonal(value, np.nan)
    return Kappas(voters, value)


def near_copies(table: VoteTable, known: Sequence[Sequence[int]] = ()) -> NearCopies:
    r"""Return the blocks of voters that are copies of one another but for a few votes.

    Good voters agree because both are right, copies beyond that. How often voter i would agree with
    the truth shows in voters k, l outside its block, :math:`R_i = κ_{ik} κ_{il} / κ_{kl}` (upper
    quartile over pairs: k and l that err together make it too small), and a block is one vote where
    its pairs agree beyond :math:`\sqrt{R_i R_j}` by 80 % of what is left.
    Where fewer than two blocks stand outside, nothing tells copies from voters who are all right: κ
    of .9 then makes a copy. ``known`` are blocks that are one vote whatever their votes.
    """
    found = kappas(table)
    blocks = [
        ([int(found.voters[i]) for i in block], kappa)
        for block, kappa in _found_blocks(found.value)
    ]
    return _joined([list(map(int, block)) for block in known], blocks, found)


def unseen_copies(table: VoteTable, copies: NearCopies) -> list[tuple[int, int]]:
    """Return the pairs that agree like copies on too few items to tell whether they are.

    They share fewer items than it takes to look for copies, yet at least ten and a quarter of all
    (in a crowd, where two voters share few of many items, a pair decides nothing).
    """
    least = max(_FEWEST, _PART * float(table.count.sum()))
    if least >= _SHARED:
        return []
    some, many = kappas(table, least), kappas(table)
    looked = np.zeros(some.value.shape, dtype=bool)
    at = np.searchsorted(some.voters, many.voters)  # who has many items has some
    looked[np.ix_(at, at)] = np.isfinite(many.value)
    near = np.triu((np.nan_to_num(some.value, nan=-1.0) >= _BLOCK) & ~looked, 1)
    pairs = [(int(some.voters[i]), int(some.voters[j])) for i, j in np.argwhere(near)]
    blocks = [set(block) for block in copies.blocks]
    return [pair for pair in pairs if not any(block.issuperset(pair) for block in blocks)]


def one_vote_each(table: VoteTable, copies: NearCopies) -> BoolArray:
    """Return which votes count when a block has one: of the members who vote, the first."""
    counts = np.ones(len(table.voter), dtype=bool)
    pattern = table.pattern_of_vote
    for block in copies.blocks:
        rank = np.full(table.n_voters, len(block))
        rank[list(block)] = np.arange(len(block))
        mine = np.flatnonzero(rank[table.voter] < len(block))
        best = np.full(table.n_patterns, len(block))
        np.minimum.at(best, pattern[mine], rank[table.voter[mine]])
        counts[mine] = rank[table.voter[mine]] == best[pattern[mine]]
    return counts


def _found_blocks(kappa: FloatArray) -> list[tuple[list[int], float]]:
    """Return the blocks of two voters or more that pass the test, with their median κ."""
    near = np.nan_to_num(kappa, nan=-1.0) >= _BLOCK
    if not near.any():
        return []
    groups = _groups(kappa, near)
    label = np.empty(len(kappa), dtype=np.int64)
    for g, group in enumerate(groups):
        label[group] = g
    passed = []
    for g, group in enumerate(groups):
        if len(group) < 2:
            continue
        inside = kappa[np.ix_(group, group)]
        excess = _excess(kappa, group, label, g)
        median = float(np.nanmedian(inside))
        if (np.isnan(excess) and median >= _ALONE) or excess >= _COPIED:
            passed.append((group, median))
    return passed


def _groups(kappa: FloatArray, near: BoolArray) -> list[list[int]]:
    """Return medoids with all voters near them, the largest groups first; every voter is in one."""
    free = np.ones(len(kappa), dtype=bool)
    closeness = np.nansum(np.where(near, kappa, 0.0), axis=1)
    groups = []
    while free.any():
        size = np.where(free, (near & free).sum(axis=1), -1)
        best = np.flatnonzero(size == size.max())
        medoid = int(best[np.argmax(closeness[best])])
        others = np.flatnonzero(near[medoid] & free)
        others = others[np.argsort(-kappa[medoid, others], kind="stable")]
        group = [medoid, *(int(j) for j in others if j != medoid)]
        free[group] = False
        groups.append(group)
    return groups


def _excess(kappa: FloatArray, group: list[int], label: IntArray, g: int) -> float:
    """Return the median share of agreement that being right does not explain; NaN if unknown."""
    outside = np.flatnonzero(label != g)
    if len(np.unique(label[outside])) < 2:
        return float("nan")
    among = kappa[np.ix_(outside, outside)]
    use = (label[outside][:, None] < label[outside][None, :]) & (np.nan_to_num(among) > _SPARE)
    k, m = np.nonzero(use)
    if not len(k):
        return float("nan")
    right = np.full(len(group), np.nan)
    for at, i in enumerate(group):
        ratio = kappa[i, outside[k]] * kappa[i, outside[m]] / among[k, m]
        if np.isfinite(ratio).any():
            right[at] = np.clip(np.nanquantile(ratio, _QUARTILE), 0.0, 0.999)
    both = np.sqrt(np.outer(right, right))
    upper = np.triu_indices(len(group), 1)
    share = ((kappa[np.ix_(group, group)] - both) / (1 - both))[upper]
    return float(np.nanmedian(share)) if np.isfinite(share).any() else float("nan")


def _joined(
    known: list[list[int]], found: list[tuple[list[int], float]], kappa: Kappas
) -> NearCopies:
    """Put families and the blocks that were found together; those that share a voter are one."""
    parts = [(list(dict.fromkeys(block)), True) for block in known if len(set(block)) > 1]
    parts += [(block, False) for block, _ in found]
    joined: list[tuple[list[int], bool]] = []
    for block, named in parts:
        touching = [one for one in joined if set(one[0]) & set(block)]
        joined = [one for one in joined if one not in touching]
        everyone = list(dict.fromkeys([*(j for one, _ in touching for j in one), *block]))
        joined.append((everyone, named or any(was for _, was in touching)))
    place = {int(j): at for at, j in enumerate(kappa.voters)}
    blocks, median = [], []
    for block, _ in joined:
        inside = np.full((len(block), len(block)), np.nan)
        at = [place.get(j, -1) for j in block]
        seen = [i for i, a in enumerate(at) if a >= 0]
        inside[np.ix_(seen, seen)] = kappa.value[
            np.ix_([at[i] for i in seen], [at[i] for i in seen])
        ]
        # The medoid speaks for the block; of a family that shares too few items, the first named.
        lead = np.argsort(-np.nan_to_num(inside).sum(axis=1), kind="stable")
        blocks.append(tuple(block[i] for i in lead))
        median.append(float(np.nanmedian(inside)) if np.isfinite(inside).any() else float("nan"))
    return NearCopies(tuple(blocks), tuple(median), tuple(named for _, named in joined))
