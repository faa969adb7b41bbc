"""Which columns of a long table are the items, the voters and the votes: by their names.

A long table has a row per vote. Names are compared without case, spaces, hyphens, dots and
underscores, so ``Item ID``, ``item-id`` and ``itemId`` are one name. Those of a line of the lists
below are equally good; a name in an earlier line is better than one in a later.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from karat._validate import named
from karat.exceptions import ColumnError

# The first line are karat's own names: a table with all three of them is long, whatever it holds.
_ITEM_NAMES = (
    ("item",),
    (
        "item_id",
        "task",
        "task_id",
        "question",
        "question_id",
        "example",
        "example_id",
        "document",
        "document_id",
        "doc",
        "doc_id",
        "unit",
        "unit_id",
        "sample",
        "sample_id",
        "instance",
        "instance_id",
        "case",
        "case_id",
        "record",
        "record_id",
        "pair",
        "pair_id",
        "object",
        "object_id",
        "text_id",
        "prompt_id",
        "query_id",
        "sentence_id",
        "image_id",
        "comment_id",
        "post_id",
        "message_id",
        "passage_id",
    ),
    ("id", "uid", "uuid", "key", "row", "row_id", "index"),
    ("text", "sentence", "prompt", "query", "comment", "message", "passage", "image"),
)
_VOTER_NAMES = (
    ("classifier",),
    (
        "annotator",
        "judge",
        "rater",
        "worker",
        "coder",
        "labeler",
        "labeller",
        "grader",
        "voter",
        "reviewer",
        "evaluator",
        "assessor",
        "expert",
        "crowdworker",
        "turker",
    ),
    (
        "model",
        "user",
        "person",
        "participant",
        "respondent",
        "llm",
        "labeling_function",
        "labelling_function",
    ),
)
_VOTE_NAMES = (
    ("vote",),
    ("verdict",),
    (
        "label",
        "answer",
        "rating",
        "annotation",
        "judgement",
        "judgment",
        "prediction",
        "pred",
        "classification",
    ),
    ("category", "class", "response", "value", "choice", "decision", "grade"),
    ("score", "proba", "probability"),
)
NUMBER_NAMES = ("score", "rating", "proba", "probability")  # better than others for numbers
# What names a row, and how columns of voters begin, in tables that need not hold votes.
ID_NAMES = (_ITEM_NAMES[2][0], *_ITEM_NAMES[0], *_ITEM_NAMES[1], *_ITEM_NAMES[2][1:])
TRUTH_NAMES = (
    "label", "y_true", "y", "truth", "gold", "target", "gold_label", "true_label", "answer_key",
)  # fmt: skip
# Verdicts on a pair in one order of its answers and in the other, in a long table.
BOTH_ORDERS = (("verdict_order1", "verdict_order2"), ("vote_order1", "vote_order2"))
VOTER_PREFIXES = tuple(f"{name}_" for name in (*_VOTER_NAMES[1], "llm"))
_PARTS = ("item", "voter", "vote")
_WORTH = {"item": _ITEM_NAMES, "voter": _VOTER_NAMES, "vote": _VOTE_NAMES}
_ENDINGS = {"item": ("",), "voter": ("", "id", "name"), "vote": ("", "id", "name", "value")}
_MEANT = {"item": "items", "voter": "voters", "vote": "votes"}
_OWN = {"item": "item", "voter": "classifier", "vote": "vote"}
# Lines of names that name nothing else: a model may be a prediction, a user the author of a text,
# and texts repeat by chance.
_PLAIN = {"item": 3, "voter": 2}
_SEVERAL = 1.5  # rows per item from which a table is long whatever its names


class LongColumns(NamedTuple):
    """The columns of a long table; empty where a part was not asked for."""

    item: str
    voter: str
    vote: str
    domain: str | None = None


def find_long(
    frame: Any,
    *,
    given: Mapping[str, str | None] | None = None,
    taken: Collection[str | None] = (),
    parts: Sequence[str] = _PARTS,
    first: Sequence[str] = (),
    beside: Sequence[str] = (),
    sure: bool = False,
    flags: Mapping[str, str] | None = None,
    name: str = "the table",
) -> LongColumns | None:
    """Return the columns of a long table; None of a table that is none.

    Parameters
    ----------
    frame : frame
        An eager frame of Polars or narwhals.
    given : mapping, optional
        The columns of ``item``, ``voter`` and ``vote`` that somebody named.
    taken : collection of str
        Columns that play another part.
    parts : sequence of str
        What the table needs, of ``item``, ``voter`` and ``vote``.
    first : sequence of str
        Names of votes that are better than all others here.
    beside : sequence of str
        Columns that tell votes of one voter on one item apart, such as the order of a pair.
    sure : bool
        Whether the table can be nothing but long. Otherwise it is long if items have several rows:
        an ``id``, a ``model`` and a ``label`` may be a row's name, its prediction and its truth.
    flags : mapping, optional
        The flag by which a command takes each part.
    name : str
        What messages call the table.

    Raises
    ------
    ColumnError
        If several columns may be the same part, and the values do not show which.
    """
    said = {part: column for part, column in (given or {}).items() if column is not None}
    columns = [c for c in frame.columns if isinstance(c, str)]
    free = [c for c in columns if c not in taken and c not in said.values()]
    fits = {part: _lines(part, free, first if part == "vote" else ()) for part in _WORTH}
    fits |= {part: [[column]] for part, column in said.items()}
    if not all(fits[part] for part in parts):
        return None
    domain = next((c for c in free if is_domain(c)), None)
    best = {part: fits[part][0][0] for part in parts}
    own = all(
        len(fits[part][0]) == 1 and _folded(best[part]) == _OWN[part]
        for part in parts
        if part not in said
    )
    if not own:
        table = _Table(frame, name, flags, fits)
        again = table.repeated(fits["item"])
        fits["item"] = again or fits["item"]
        key = [*beside, *([] if domain is None else [domain])]
        guessed = not sure and "voter" not in said
        if guessed and not (again and table.is_long(fits["item"][0][0], fits["voter"][0][0], key)):
            return None
        best = {part: table.only(part, fits[part][0]) for part in parts}
        if "voter" in best and "voter" not in said:
            table.refuse_further_keys(best, key, said)
    return LongColumns(best["item"], best.get("voter", ""), best.get("vote", ""), domain)


def is_domain(column: str) -> bool:
    """Return whether a column is called like one of domains."""
    return _folded(column) == "domain"


def fitting(part: str, columns: Sequence[Any]) -> list[str]:
    """Return the columns whose names fit ``item``, ``voter`` or ``vote``, the best first."""
    return [c for line in _lines(part, [c for c in columns if isinstance(c, str)]) for c in line]


def long_help(columns: Sequence[Any], flags: Mapping[str, str] | None = None) -> str:
    """Return which columns of a long table were found, which not, and how to name them."""
    listed = [c for c in columns if isinstance(c, str)]
    found, absent = [], []
    for part in _WORTH:
        lines = _lines(part, listed)
        if lines:
            found.append(f"{_MEANT[part]} in {named(lines[0][:1])}")
        else:
            absent.append(part)
    text = f"the columns are {named(listed)}"
    if found:
        text += f", by their names {' and '.join(found)}"
    if absent:
        text += f", and none is named like {' or '.join(_MEANT[part] for part in absent)}"
    if flags is not None:
        return f"{text}; name those of a long table with {_listed(list(flags.values()))}"
    return (
        f"{text}; name those of a long table: karat.votes.read_table(frame, columns={{'item': …, "
        "'voter': …, 'vote': …})"
    )


def long_hint(frame: Any) -> str:
    """Return what to do if a table that was read as wide is long; empty if nothing suggests it."""
    items, *others = (fitting(part, frame.columns) for part in _PARTS)
    again = _Table(frame, "", None, {}).repeated([items])
    if not again or not (any(others) or len(frame.columns) <= len(_PARTS) + 1):
        return ""
    return f"If it is a long table, with a row per vote: {long_help(frame.columns)}"


class _Table(NamedTuple):
    """A table whose columns are looked at where their names do not suffice."""

    frame: Any
    name: str
    flags: Mapping[str, str] | None
    fits: dict[str, list[list[str]]]

    def groups(self, *columns: str) -> int:
        """Return how many different values some columns have together."""
        try:
            return len(self.frame.select(*dict.fromkeys(columns)).unique())
        except TypeError:  # cells that cannot be compared, such as lists
            return len(self.frame)

    def repeated(self, lines: list[list[str]]) -> list[list[str]]:
        """Return the columns that have a value in several rows: others name rows, not items."""
        rows = len(self.frame)
        kept = [[c for c in line if self.groups(c) < rows] for line in lines]
        return [line for line in kept if line]

    def alike(self, part: str, one: str, other: str) -> bool:
        """Return whether two columns tell the same rows apart; votes have to be the same."""
        if part == "vote":
            return bool(self.frame[one].to_list() == self.frame[other].to_list())
        return self.groups(one) == self.groups(other) == self.groups(one, other)

    def only(self, part: str, line: list[str]) -> str:
        """Return the column of a part; refuse several that differ."""
        others = [c for c in line[1:] if not self.alike(part, line[0], c)]
        if others:
            self.refuse(part, [line[0], *others], "have names that fit equally well")
        return line[0]

    def is_long(self, item: str, voter: str, beside: Sequence[str]) -> bool:
        """Return whether names that may mean something else are those of a long table here."""
        plain = True
        for part, column in (("item", item), ("voter", voter)):
            line = _line_of(part, column)
            plain &= line is None or line < _PLAIN[part]  # None: somebody named it
        rows = len(self.frame)
        return plain or (
            rows >= _SEVERAL * self.groups(item) and self.groups(item, voter, *beside) == rows
        )

    def refuse_further_keys(
        self, best: Mapping[str, str], beside: Sequence[str], said: Mapping[str, str]
    ) -> None:
        """Refuse a table whose rows item and voter do not tell apart where another column may.

        Votes on different things would be taken for repeats.
        """
        rows, key = len(self.frame), [best["item"], best["voter"], *beside]
        told = self.groups(*key)
        if told == rows:
            return
        for part in ("voter", "item"):
            others = [c for line in self.fits[part] for c in line if c != best[part]]
            finer = [c for c in others if self.groups(c) < rows and self.groups(*key, c) > told]
            if finer and part not in said:
                self.refuse(part, [best[part], *finer], "tell different rows apart")

    def refuse(self, part: str, columns: Sequence[str], why: str) -> None:
        """Refuse a table in which several columns may be the same part."""
        if self.flags is None:
            cure = (
                f"say which: karat.votes.read_table({self.name}, columns={{{part!r}: "
                f"{columns[0]!r}}}), and pass that"
            )
        else:
            cure = f"name the right one with {self.flags[part]}"
        raise ColumnError(
            f"{self.name} has the columns {named(self.frame.columns)}, of which {named(columns)} "
            f"may be the {_MEANT[part]} of a long table: they {why}. {cure[0].upper()}{cure[1:]}"
        )


def _folded(name: str) -> str:
    return re.sub(r"[\s_.\-]+", "", name).casefold()


def _line_of(part: str, column: str, first: Sequence[str] = ()) -> int | None:
    """Return how good a name is for a part: the line of the list that holds it."""
    folded = _folded(column)
    for k, line in enumerate([tuple(first), *_WORTH[part]]):
        if any(folded == _folded(name) + end for name in line for end in _ENDINGS[part]):
            return k - 1
    return None


def _lines(part: str, columns: Sequence[str], first: Sequence[str] = ()) -> list[list[str]]:
    """Return the columns whose names fit a part, line by line, the best first."""
    found: dict[int, list[str]] = {}
    for column in columns:
        k = _line_of(part, column, first)
        if k is not None:
            found.setdefault(k, []).append(column)
    return [found[k] for k in sorted(found)]


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:-1]) + f" and {words[-1]}" if len(words) > 1 else words[0]
