"""Which column of a table plays which part.

`roles_of` takes them from a source; `guess_roles` reads the names of the columns, and its guess is
shown before anybody uses it. `is_long` and `long_votes` find tables with a row per vote, and
`long_code` is their selection as code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from karat._result import Frozen
from karat._validate import refuse_option
from karat.exceptions import ColumnError
from karat.sources import Source
from karat.votes.names import LongColumns, find_long, fitting

# Names as people give them, in the order in which they are looked for; a prefix ends in "_".
_NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "item", "item_id", "row", "uid", "key"),
    "group": ("group", "domain", "subset", "segment"),
    "label": ("label", "y_true", "y", "truth", "gold", "target", "gold_label", "label_", "y_true_"),
    "pred": ("pred", "prediction", "y_pred", "predicted", "pred_", "prediction_", "y_pred_"),
    "score": ("score", "y_score", "score_", "y_score_"),
    "prob": ("prob", "proba", "probability", "prob_", "proba_", "p_", "y_prob_"),
    "weak": ("lf_", "weak_", "wl_", "rule_"),
    "judge": ("judge_", "llm_", "annotator_", "worker_", "rater_"),
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

_PARTS = {"item": "item", "voter": "classifier", "vote": "vote", "domain": "domain", "gold": "gold"}
_NEEDED = ("item", "voter", "vote")


def long_votes(frame: Any, given: Mapping[str, str] | None = None) -> Any:
    """Return the votes of a Polars frame with a row per vote, None if it has none.

    Columns get the names of the library; ``domain`` and ``gold`` are kept where there are any.
    ``given`` names the columns of item, voter and vote, and of domain and gold if wanted; names
    joined by ``+`` are one name together.
    """
    if given is not None:
        return _named_votes(frame, given)
    found = _found(frame, "long={{{part!r}: column, …}}")
    if found is None:
        return None
    called = {found.item: "item", found.voter: "classifier", found.vote: "vote"}
    called |= {} if found.domain is None else {found.domain: "domain"}
    kept = ["gold"] if "gold" in frame.columns else []
    return frame.select(*called, *kept).rename(called)


def _named_votes(frame: Any, given: Mapping[str, str]) -> Any:
    if set(given) - set(_PARTS) or not set(_NEEDED) <= set(given):
        refuse_option(
            dict(given), "long", "columns of item, voter and vote, also of domain and gold"
        )
    columns = []
    for part, text in given.items():
        names = [text] if text in frame.columns else text.split("+")
        for name in names:
            if name not in frame.columns:
                raise ColumnError(f"long: {part} is {name!r}; there are {frame.columns}")
        joined = frame[names[0]]
        for name in names[1:]:
            joined = joined.cast(str) + "+" + frame[name].cast(str)
        columns.append(joined.alias(_PARTS[part]))
    return frame.select(columns)


def long_code(given: Mapping[str, str]) -> str:
    """Return the code that selects the columns that ``given`` names from a frame."""
    picked = []
    for part, text in given.items():
        names = text.split("+")
        column = repr(text) if len(names) == 1 else f"pl.concat_str({names!r}, separator='+')"
        picked.append(f"{_PARTS[part]}={column}")
    return f".select({', '.join(picked)})"


def is_long(source: Source) -> bool:
    """Return whether a file has a row per vote; its rows are read if the names leave it open."""
    return all(fitting(part, source.names) for part in _NEEDED) and (
        _found(source.columns, "--long {part}=COLUMN,…") is not None
    )


def _found(frame: Any, how: str) -> LongColumns | None:
    """Return the columns of a table with a row per vote; ``how`` says how to name a part."""
    flags = {part: how.format(part=part) for part in _NEEDED}
    return find_long(frame, flags=flags, taken=["gold"])
