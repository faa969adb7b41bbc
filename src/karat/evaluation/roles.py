"""Which column of a table plays which part.

`roles_of` takes them from a source; `guess_roles` reads the names of the columns, and its guess is
shown before anybody uses it. `is_long` and `long_votes` find tables with a row per vote, and
`joined_code` is the code that makes their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from karat._result import Frozen
from karat._validate import named, refuse_option
from karat.exceptions import ColumnError
from karat.sources import Source
from karat.votes import read_table
from karat.votes.names import ID_NAMES, TRUTH_NAMES, VOTER_PREFIXES, LongColumns, find_long, fitting
from karat.votes.table import TableOfVotes

# Names as people give them, in the order in which they are looked for; a prefix ends in "_".
_NAMES: dict[str, tuple[str, ...]] = {
    "id": ID_NAMES,
    "group": ("group", "domain", "subset", "segment"),
    "label": (*TRUTH_NAMES, "label_", "y_true_"),
    "pred": ("pred", "prediction", "y_pred", "predicted", "pred_", "prediction_", "y_pred_"),
    "score": ("score", "y_score", "score_", "y_score_"),
    "prob": ("prob", "proba", "probability", "prob_", "proba_", "p_", "y_prob_"),
    "weak": ("lf_", "weak_", "wl_", "rule_"),
    "judge": VOTER_PREFIXES,
}
_ONE = ("id", "group")


def guess_roles(columns: Sequence[str]) -> Roles:
    """Return what the names of columns suggest; a column gets the first part that fits.

    Names alone decide: a column of numbers may be a score, an id or a label.
    """
    taken: set[str] = set()
    found: dict[str, Any] = {}
    for role, names in _NAMES.items():
        hits = [
            column
            for column in columns
            if column not in taken and _fits(column.lower().replace(" ", "_"), names)
        ]
        hits = hits[:1] if role in _ONE else hits
        taken.update(hits)
        found[role] = (hits[0] if hits else None) if role in _ONE else tuple(hits)
    if len(found["label"]) > 1 and not found["prob"]:
        # Several labels are one item's only where probabilities stand beside them.
        found["label"] = found["label"][:1]
    return Roles(**found)


def _fits(column: str, names: tuple[str, ...]) -> bool:
    return any(column.startswith(n) if n.endswith("_") else column == n for n in names)


# --- The columns of a table by the part that they play.


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


# --- Tables with a row per vote.

_PARTS = ("item", "voter", "vote", "domain", "gold")
_NEEDED = ("item", "voter", "vote")


def long_votes(frame: Any, given: Mapping[str, str] | None = None) -> TableOfVotes | None:
    """Return the votes of a Polars frame with a row per vote, None if it has none.

    Columns keep their names; others than those of the votes go, but for that of true labels.
    ``given`` names the columns of item, voter and vote, and of domain and gold if wanted; names
    joined by ``+`` are one name together.
    """
    if given is None:
        found = _found(frame, "long={{{part!r}: column, …}}")
        if found is None:
            return None
        given = {"item": found.item, "voter": found.voter, "vote": found.vote}
        given |= {} if found.domain is None else {"domain": found.domain}
        given |= {"gold": "gold"} if "gold" in frame.columns else {}
    elif set(given) - set(_PARTS) or not set(_NEEDED) <= set(given):
        refuse_option(
            dict(given), "long", "columns of item, voter and vote, also of domain and gold"
        )
    columns = {text: _column(frame, part, text) for part, text in given.items()}
    called = {part: text for part, text in given.items() if part != "gold"}
    return read_table(frame.select(**columns), columns=called)


def _column(frame: Any, part: str, text: str) -> Any:
    """Return a column by its name, or several whose names are joined by ``+`` as one."""
    names = [text] if text in frame.columns else text.split("+")
    for name in names:
        if name not in frame.columns:
            raise ColumnError(f"long: {part} is {name!r}; there are {named(frame.columns)}")
    joined = frame[names[0]]
    for name in names[1:]:
        joined = joined.cast(str) + "+" + frame[name].cast(str)
    return joined


def joined_code(given: Mapping[str, str]) -> str:
    """Return the code that joins the columns of which ``given`` makes one name."""
    made = [
        f"pl.concat_str({text.split('+')!r}, separator='+').alias({text!r})"
        for text in given.values()
        if "+" in text
    ]
    return f".with_columns({', '.join(made)})" if made else ""


def is_long(source: Source) -> bool:
    """Return whether a file has a row per vote; its rows are read if the names leave it open."""
    return all(fitting(part, source.names) for part in _NEEDED) and (
        _found(source.columns, "--long {part}=COLUMN,…") is not None
    )


def _found(frame: Any, how: str) -> LongColumns | None:
    """Return the columns of a table with a row per vote; ``how`` says how to name a part."""
    flags = {part: how.format(part=part) for part in _NEEDED}
    return find_long(frame, flags=flags, taken=["gold"])
