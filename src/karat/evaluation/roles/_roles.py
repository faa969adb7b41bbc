"""The columns of a table by the part that they play."""

from collections.abc import Iterator
from dataclasses import dataclass, fields

from karat._frozen import Frozen
from karat.sources import Source

__all__ = ["Roles", "roles_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Roles(Frozen):
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
        return any(name not in ("group", "id") for name, _ in self.chosen())


def roles_of(source: Source) -> Roles:
    """Return the roles that a source has, those of one column as its name."""
    several = ("label", "pred", "score", "prob", "weak", "judge")
    found = {name: source.chosen.get(name, ()) for name in several}
    return Roles(**found, group=source.chosen.maybe("group"), id=source.chosen.maybe("id"))
