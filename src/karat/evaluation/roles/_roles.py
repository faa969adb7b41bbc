"""Which column of a table plays which part."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from karat._validate import refuse_option
from karat.exceptions import ColumnError

__all__ = ["Roles", "find_roles"]

_SEVERAL = ("label", "pred", "score", "prob", "weak", "judge")
_SINGLE = ("group", "id")
# A prediction may also vote, and a score may also be a probability; no other column has two parts.
_MAY_SHARE = ({"pred", "judge"}, {"pred", "weak"}, {"score", "prob"}, {"weak", "judge"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The columns of a table by the part that they play.

    Attributes
    ----------
    label : tuple of str
        True labels, empty where unknown; several columns for several labels of one item.
    pred, score, prob : tuple of str
        Predictions, scores of the positive class, and probabilities.
    weak, judge : tuple of str
        Weak labels, and votes of judges.
    group, id : str or None
        Groups, and names of the items.
    """

    label: tuple[str, ...] = ()
    pred: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    prob: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    judge: tuple[str, ...] = ()
    group: str | None = None
    id: str | None = None

    def chosen(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each part that has columns, with them."""
        for field in fields(self):
            value = getattr(self, field.name)
            columns = (value,) if isinstance(value, str) else value
            if columns:
                yield field.name, columns

    def __bool__(self) -> bool:
        return any(name not in _SINGLE for name, _ in self.chosen())


def find_roles(columns: Sequence[str], given: dict[str, Any]) -> Roles:
    """Return the roles that names, lists and patterns such as ``"lf_*"`` choose among columns."""
    found: dict[str, Any] = {}
    for role in _SEVERAL:
        found[role] = _several(columns, role, given.get(role))
    for role in _SINGLE:
        names = _several(columns, role, given.get(role))
        if len(names) > 1:
            refuse_option(given[role], role, f"one column, and it names {list(names)}")
        found[role] = names[0] if names else None
    roles = Roles(**found)
    _check_shared(roles)
    return roles


def _several(columns: Sequence[str], role: str, given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    asked = list(given) if isinstance(given, list | tuple) else [given]
    found: list[str] = []
    for name in asked:
        if not isinstance(name, str):
            refuse_option(given, role, "the name of a column, a pattern, or a list of them")
        found += [c for c in _matching(columns, role, name) if c not in found]
    return tuple(found)


def _matching(columns: Sequence[str], role: str, name: str) -> list[str]:
    if name in columns:
        return [name]
    if any(mark in name for mark in "*?["):
        hits = [column for column in columns if fnmatchcase(column, name)]
        if hits:
            return hits
    close = get_close_matches(name, columns, n=1)
    meant = f"did you mean {close[0]!r}?" if close else f"there are {list(columns)}"
    raise ColumnError(f"{role} is {name!r} and there is no such column; {meant}")


def _check_shared(roles: Roles) -> None:
    """Refuse a column with two parts that cannot be one, such as label and prediction."""
    parts: dict[str, str] = {}
    for role, columns in roles.chosen():
        for column in columns:
            other = parts.setdefault(column, role)
            if other != role and {other, role} not in _MAY_SHARE:
                refuse_option(column, role, f"a column that is not {other} as well")
