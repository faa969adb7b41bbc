"""Roles of columns."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from karat.exceptions import ColumnError

__all__ = ["ROLES", "ChosenRoles", "Roles", "choose_roles"]

Roles: TypeAlias = str | Sequence[str] | None
ROLES = (
    "label", "pred", "score", "prob", "weak", "judge", "order", "group", "cluster", "weight", "id",
)  # fmt: skip
_SINGLE = ("group", "cluster", "weight", "id")
# A column can be a prediction and a voter at once, and a domain can be a cluster too; a true label
# or an identifier is nothing else.
_ALONE = ("label", "weight", "id")


class ChosenRoles(dict[str, tuple[str, ...]]):
    """The columns of each role; a copy is made to change it."""

    def need(self, role: str) -> tuple[str, ...]:
        """Return the columns of a role that must be there."""
        if not self.get(role):
            raise ColumnError(
                f"no column has the role {role!r}; name it with roles({role}=...). Roles: {self}"
            )
        return self[role]

    def one(self, role: str, named: str | None) -> str:
        """Return the one column of a role, or the named one of several."""
        columns = self.need(role)
        if named is None and len(columns) > 1:
            raise ColumnError(
                f"{len(columns)} columns have the role {role!r}: name one of {list(columns)}"
            )
        if named is not None and named not in columns:
            raise ColumnError(f"{named!r} has not the role {role!r}; {list(columns)} have")
        return columns[0] if named is None else named

    def maybe(self, role: str) -> str | None:
        """Return the first column of a role, None if there is none."""
        return self[role][0] if self.get(role) else None

    def listed(self, most: int = 8) -> str:
        """Return the columns of every role, the first few of many."""
        parts = []
        for role, columns in self.items():
            more = f" and {len(columns) - most} more" if len(columns) > most else ""
            parts.append(f"{role}: {', '.join(columns[:most])}{more}")
        return "; ".join(parts)

    def refuse(self, role: str, why: str) -> None:
        """Refuse a role with which something cannot be counted."""
        if role in self:
            raise ColumnError(f"the column {self[role][0]!r} has the role {role!r}: {why}")


def choose_roles(
    names: Sequence[str], given: Mapping[str, Any], before: ChosenRoles
) -> ChosenRoles:
    """Return the columns of each role, those given now in place of those before."""
    asked = {role: _as_list(role, value) for role, value in given.items() if value is not None}
    kept = {role: columns for role, columns in before.items() if role not in asked}
    exact = {
        role: [p for p in patterns if p in names or not _is_pattern(p)]
        for role, patterns in asked.items()
    }
    taken = {
        column: role for role, columns in [*kept.items(), *exact.items()] for column in columns
    }
    chosen = dict(kept)
    for role, patterns in asked.items():
        found: list[str] = []
        for pattern in patterns:
            if pattern in exact[role]:
                found += [_existing(role, pattern, names)]
                continue
            hits = [n for n in names if fnmatchcase(n, pattern) and taken.get(n, role) == role]
            if not hits:
                raise ColumnError(f"{role}={pattern!r}: no column matches; there are {list(names)}")
            found += hits
        twice = [c for i, c in enumerate(found) if c in found[:i] and c in exact[role]]
        if twice and exact[role].count(twice[0]) > 1:
            raise ColumnError(f"{role} names the column {twice[0]!r} twice; name it once")
        chosen[role] = tuple(dict.fromkeys(found))
        if role in _SINGLE and len(chosen[role]) != 1:
            raise ColumnError(f"{role} is {list(chosen[role])}; expected one column")
    _refuse_two_roles(chosen)
    return ChosenRoles({role: chosen[role] for role in ROLES if role in chosen})


def _as_list(role: str, value: Any) -> list[str]:
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    patterns = list(value) if listed else [value]
    wrong = [p for p in patterns if not isinstance(p, str)]
    if wrong or not patterns:
        raise ColumnError(
            f"{role} is {value!r}; expected the name of a column, a pattern or a list of them"
        )
    return patterns


def _is_pattern(text: str) -> bool:
    return any(mark in text for mark in "*?[")


def _existing(role: str, name: str, names: Sequence[str]) -> str:
    if name in names:
        return name
    same = [other for other in names if other.casefold() == name.casefold()]
    close = same or get_close_matches(name, names, n=1)
    meant = f"did you mean {close[0]!r}?" if close else f"there are {list(names)}"
    raise ColumnError(f"{role}={name!r}: there is no such column; {meant}")


def _refuse_two_roles(chosen: Mapping[str, Sequence[str]]) -> None:
    for alone in _ALONE:
        for role, columns in chosen.items():
            both = set(columns) & set(chosen.get(alone, ()))
            if role != alone and both:
                raise ColumnError(
                    f"the column {sorted(both)[0]!r} is named as {alone} and as {role}; expected "
                    "one role"
                )
