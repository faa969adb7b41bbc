"""Labels that look like a slip: nearly another class, or the text of a missing value."""

import warnings
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._typing import AnyArray, IntArray
from karat._validate._columns import shown
from karat.exceptions import KaratWarning, LabelError

__all__ = ["check_alike", "nearest_class"]

_SHOWN = 3  # classes of a column that a warning names
_MISSING = {"none", "null", "na", "n/a", "<na>", "missing", ""}


def nearest_class(value: Any, classes: Sequence[Any]) -> str:
    """Return which class a label may have meant, as the end of a sentence; empty if none."""
    texts = {str(c): c for c in classes}
    word = str(value).strip()
    for text, c in texts.items():
        if text.strip().casefold() == word.casefold():
            return f"; did you mean {shown(c)}?"
    close = get_close_matches(word, texts, n=1)
    return f"; did you mean {shown(texts[close[0]])}?" if close else ""


def check_alike(codes: Mapping[str, IntArray], classes: AnyArray) -> None:
    """Look at classes that were found, not named: refuse or warn of those that seem to be a slip.

    Classes that differ by spaces alone, one number that two columns write in two ways ('1' and
    '1.0'), and the text NaN, are refused; classes that differ by case alone, other words for a
    missing value that are never predicted, and columns of two classes or more that have none in
    common, get a warning. Whoever means them passes ``classes=``. The last column of ``codes``
    holds predictions.
    """
    _check_common(codes, classes)
    if classes.dtype.kind != "U":
        return
    texts: list[str] = classes.tolist()
    stripped: dict[str, str] = {}
    folded: dict[str, str] = {}
    numbers: dict[str, str] = {}
    *_, called = codes.values()
    for code, text in enumerate(texts):
        word = text.strip()
        if word.casefold() == "nan":
            raise LabelError(
                f"{_first(codes, code)} is {shown(text)}, the text of a missing value; leave such "
                "rows out, or pass classes= if it is a class"
            )
        if (other := stripped.setdefault(word, text)) != text:
            raise LabelError(
                f"{_first(codes, code)} is {shown(text)} and there is the class {shown(other)}, "
                "which differs by spaces alone; strip them, or pass classes= if they are two "
                "classes"
            )
        other = numbers.setdefault(_number(word), text)
        if other != text and _in_other_columns(codes, code, texts.index(other)):
            raise LabelError(
                f"{_first(codes, code)} is {shown(text)} and there is the class {shown(other)}, "
                "the same number written another way; make numbers of both columns, or pass "
                "classes= if they are two classes"
            )
        if (other := folded.setdefault(word.casefold(), text)) != text:
            _warn(f"{_first(codes, code)} is {shown(text)} and there is the class {shown(other)}, "
                  "which differs by case alone; they count as two classes. Make them one, or pass "
                  "classes= if they are two")  # fmt: skip
        if word.casefold() in _MISSING and not (called == code).any():
            _warn(f"{_first(codes, code)} is {shown(text)}, which is never predicted and may mean "
                  "a missing value; it counts as a class. Leave such rows out, or pass classes= if "
                  "it is one")  # fmt: skip


def _first(codes: Mapping[str, IntArray], code: int) -> str:
    """Return the column and the row where a class occurs first."""
    for name, column in codes.items():
        at = np.flatnonzero(column == code)
        if len(at):
            return f"{name} row {at[0]}"
    return next(iter(codes))


def _check_common(codes: Mapping[str, IntArray], classes: AnyArray) -> None:
    """Warn of two columns that share no class: one of them is probably another column."""
    if len(codes) != 2:
        return
    found = [np.unique(column[column >= 0]) for column in codes.values()]
    if min(len(one) for one in found) < 2 or np.intersect1d(found[0], found[1]).size:
        return
    words = [{_number(str(classes[c]).strip().casefold()) for c in one.tolist()} for one in found]
    if words[0] & words[1]:  # a slip of case, spaces or zeros, which has a sentence of its own
        return
    first, second = codes
    held = [", ".join(shown(classes[c]) for c in one[:_SHOWN].tolist()) for one in found]
    _warn(f"{first} and {second} have no class in common ({held[0]} and {held[1]}), so that every "
          "prediction counts as wrong; is one of them another column?")  # fmt: skip


def _in_other_columns(codes: Mapping[str, IntArray], one: int, other: int) -> bool:
    """Return whether no column holds both classes; one that does means both: 1.1 and 1.10."""
    return not any((c == one).any() and (c == other).any() for c in codes.values())


def _number(word: str) -> str:
    """Return a decimal number as it is written in short: 1.0 is 1; other words as they are.

    Whole numbers stay: 07 and 7 may be two codes.
    """
    if "." not in word and "e" not in word.casefold():
        return word
    try:
        return f"{float(word):.15g}"
    except ValueError:
        return word


def _warn(said: str) -> None:
    warnings.warn(said, KaratWarning, stacklevel=caller_level())
