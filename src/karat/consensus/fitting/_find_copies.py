"""Near copies of each domain, and families that a user names: they have one vote together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from karat._validate import named, refuse_option
from karat.exceptions import OptionError
from karat.votes.agreement import NearCopies, near_copies, one_vote_each
from karat.votes.reading import Votes

__all__ = ["count_copies_once", "families_of"]


def families_of(same: Any, classifiers: Sequence[Any]) -> list[list[int]]:
    """Return the voters of each family as positions; what is no family of voters is refused."""
    if same is None:
        return []
    if not isinstance(same, Mapping):
        expected = "a mapping from the name of a family to its voters, such as {'gpt': [...]}"
        refuse_option(same, "same", expected)
    place = {name: j for j, name in enumerate(classifiers)}
    found = []
    for family, members in same.items():
        if isinstance(members, str) or not isinstance(members, Sequence):
            refuse_option(members, f"same[{family!r}]", "a list of voters")
        # The columns of an array are named by their numbers, as text.
        members = [name if name in place else str(name) for name in members]
        unknown = [name for name in members if name not in place]
        if unknown:
            refuse_option(
                unknown[0], f"a voter of same[{family!r}]", f"one of {named(classifiers)}"
            )
        found.append([place[name] for name in members])
        for other, earlier in zip(same, found[:-1], strict=False):
            both = [name for name in members if place[name] in earlier]
            if both:
                raise OptionError(
                    f"same[{other!r}] and same[{family!r}] both hold {both[0]!r}; a voter "
                    "belongs to one family: drop it from one, or make the two one family"
                )
    return found


def count_copies_once(
    data: Votes, families: Sequence[Sequence[int]]
) -> tuple[Votes, tuple[NearCopies, ...]]:
    """Return the votes with those of near copies marked, and the copies of each domain."""
    domains, copies = [], []
    for domain in data.domains:
        here = {int(j): at for at, j in enumerate(domain.voters)}
        known = [[here[j] for j in family if j in here] for family in families]
        found = near_copies(domain.table, known)
        table = domain.table
        # Fewer than three voters tell nothing in any case. Where nobody named the copies, the rates
        # are then those that hold if the voters are right and no copies.
        few = found.distinct(table.n_voters) < 3 and not any(found.known)
        if found.blocks and not few:
            table = replace(table, counted=one_vote_each(table, found))
        domains.append(replace(domain, table=table))
        copies.append(found)
    return replace(data, domains=tuple(domains)), tuple(copies)
