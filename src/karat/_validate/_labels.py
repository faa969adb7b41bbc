"""Class labels: code them, match their spellings, tell the positive class, read weak labels.

No class order is ever taken from the alphabet where the positive class matters: `order_classes`
holds the one rule, and its table of words.
"""

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from karat._callers import caller_level
from karat._result import refuse_other_order
from karat._sentences import Argument, Expected, Given, Option, Part, Remedy, Row, Wording, shown
from karat._typing import AnyArray, BoolArray, Column, Frame, IntArray
from karat._validate._values import (
    check_pos_label,
    named,
    quoted_text,
    read_column,
    read_columns,
    refuse_option,
)
from karat.exceptions import ColumnError, KaratWarning, LabelError, PositiveClassError

# --- Which class is which: the positive one of two, and the order in which a metric names classes.
#
# The positive class is never taken from the alphabet. It is, in this order: what was said
# (``pos_label=``, or ``classes=`` in an order of the caller's); the last class that a metric names;
# the 1 of 0 and 1 or of −1 and 1, and True; the word of a short table of pairs that has one meaning
# (yes and no, fraud and genuine). Otherwise whatever needs a positive class is refused.

# Positive words, and the negative ones that each may stand beside.
_PAIRS: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (frozenset(first.split("|")), frozenset(second.split("|")))
    for first, second in (
        ("1|1.0", "0|-1|0.0|-1.0"),
        ("yes|y", "no|n"),
        ("true|t", "false|f"),
        ("positive|pos|+", "negative|neg|-"),
        ("pass|passed", "fail|failed"),
        ("correct|right", "incorrect|wrong"),
        ("spam", "ham|genuine|legitimate|legit|normal|valid"),
        ("malignant|malign|cancer", "benign|healthy|normal"),
        ("ill|sick|diseased|disease", "healthy|well|fine|normal"),
        ("fraud|fraudulent", "genuine|legitimate|legit|normal|valid"),
        ("default|defaulted", "paid|repaid"),
        ("high", "low"),
        ("abnormal|anomaly|anomalous", "normal"),
        ("toxic|harmful|hateful|unsafe", "safe|clean|neutral|normal|harmless|benign"),
    )
)
_NEGATIONS = ("not ", "no ", "non ", "non")  # toxic and non-toxic, event and no event


class Ordered(NamedTuple):
    """Two classes with the positive one last, and whether a word alone told which it is."""

    classes: AnyArray
    by_word: bool = False


def order_classes(
    classes: AnyArray,
    pos_label: Any = None,
    *,
    stated: bool = False,
    name: str | Sequence[str] = "y_true",
) -> Ordered:
    """Return two classes with the positive one last, or refuse where nothing tells which it is.

    ``stated`` says that the caller put the classes in this order.
    """
    if len(classes) != 2:
        raise LabelError(
            Argument.several(name),
            f" holds {len(classes)} class{'es' * (len(classes) > 1)}, ",
            f"{named(list(classes))}; expected ",
            Expected("two"),
            Remedy(
                "Name them with ",
                Option("classes"),
                " if one does not occur",
                after=". ",
                elsewhere="",
            ),
        )
    if pos_label is not None:
        return Ordered(classes if check_pos_label(pos_label, classes) == 1 else classes[::-1])
    if stated:
        return Ordered(classes)
    at = told_positive(classes)
    if at is None:
        first, second = classes.tolist()
        raise PositiveClassError(
            f"labels are {shown(first)} and {shown(second)}",
            Remedy("say which is positive, for example ", Option("pos_label", first)),
            argument=str(Argument.several(name)),
        )
    plain = _word(classes[at]) in ("1", "1.0", "true")
    return Ordered(classes if at == 1 else classes[::-1], not plain)


def told_positive(classes: Sequence[Any] | AnyArray) -> int | None:
    """Return which of two labels is positive by what it says; None where they do not tell."""
    words = [_word(label) for label in np.asarray(classes).tolist()]
    for at in (0, 1):
        here, other = words[at], words[1 - at]
        if any(here in first and other in second for first, second in _PAIRS):
            return at
        if here and any(other == f"{negation}{here}" for negation in _NEGATIONS):
            return at
    return None


def _word(label: Any) -> str:
    """Return a label in small letters, with single spaces in place of hyphens and underscores."""
    return " ".join(re.sub(r"(?<=\w)[-_](?=\w)", " ", str(label)).casefold().split())


def same_label(one: Any, other: Any) -> bool:
    """Return whether two labels are one: equal, or a number and the text of it."""
    if isinstance(one, str) == isinstance(other, str):
        return bool(one == other)
    text, value = (one, other) if isinstance(one, str) else (other, one)
    if isinstance(value, bool | np.bool_):
        return str(text).strip().casefold() == str(value).casefold()
    return text == _text(value)


def _text(label: Any) -> str:
    """Return a label as text; whole floats as whole numbers."""
    whole = isinstance(label, float) and label.is_integer()
    return str(int(label)) if whole else str(label)


def align_classes(
    known: Sequence[Any], found: AnyArray, name: str | Sequence[str], of: str
) -> AnyArray:
    """Return the labels of data in the order in which ``known`` names them.

    A label that does not occur is taken as ``known`` has it. Labels that ``known`` lacks are
    refused with both lists; ``of`` says whose the known ones are.
    """
    held: list[Any] = found.tolist()
    order, taken = [], set()
    for label in known:
        at = next((i for i, seen in enumerate(held) if same_label(label, seen)), None)
        order.append(label if at is None else held[at])
        taken.add(at)
    names = (name,) if isinstance(name, str) else tuple(name)
    unknown = [c for i, c in enumerate(held) if i not in taken]
    if unknown:
        raise LabelError(
            Argument.several(names),
            f" hold{'s' * (len(names) == 1)} {named(list(found))} and {of} is "
            f"about {named(list(known))}: {named(unknown)} "
            f"{'is' if len(unknown) == 1 else 'are'} not among these",
            _remedy(known, found, unknown, names),
        )
    return _one_kind(order, found)


def _remedy(
    known: Sequence[Any], found: AnyArray, unknown: list[Any], names: Sequence[str]
) -> Remedy:
    folded = {str(k).strip().casefold(): k for k in known}
    mapping = {
        u: folded[str(u).strip().casefold()] for u in unknown if str(u).strip().casefold() in folded
    }
    if mapping and len(mapping) == len(unknown):
        return Remedy(f"Replace them by {mapping}", after=". ")
    if list(names) == ["groups"]:
        return Remedy("Rename the groups, or pass a metric of these", after=". ")
    if len(found) == len(known):
        return Remedy(
            "Rename the labels, or name the metric's classes with metric.with_classes([...])",
            after=". ",
            elsewhere="rename the labels",
        )
    return Remedy("Leave these rows out, or pass a metric for these classes", after=". ")


def _one_kind(order: list[Any], found: AnyArray) -> AnyArray:
    """Return labels as an array of the kind that the data hold."""
    if all(isinstance(c, str) for c in found.tolist()):
        return np.array([_text(c) for c in order])
    if found.dtype.kind == "b":
        truths = {"true": True, "false": False}
        if all(str(c).strip().casefold() in truths for c in order):
            return np.array([truths[str(c).strip().casefold()] for c in order])
    try:
        return np.array([int(c) if isinstance(c, str) else c for c in order])
    except ValueError:
        raise LabelError(
            f"the labels of the data are numbers, {named(list(found))}, and the classes to match "
            f"are {named(order)}; give both the same labels"
        ) from None


# --- Class labels and groups: from anything to codes 0..k-1 and a sorted array of classes.

# Integer labels that span no more than this are encoded by a table instead of a sort.
_TABLE = 1 << 20
# More classes than this are nearly always identifiers passed by mistake; k×k tables need memory.
_MOST_CLASSES = 10_000


def encode_labels(
    columns: Mapping[Any, Column], classes: Column | None = None
) -> tuple[list[IntArray], AnyArray]:
    """Encode label columns together: codes of each, and the classes in order.

    ``classes`` fixes the order; without it the classes are those found, sorted.
    """
    refuse_other_order(columns)
    values = {name: as_label_values(*read_column(c, name), name) for name, c in columns.items()}
    if classes is None:
        order = union_of_values(values)
        check_spellings(values, order)
    else:
        order = check_classes(classes)
    return [look_up(v, order, name) for name, v in values.items()], order


def encode_names(column: Column, name: str | Argument) -> tuple[IntArray, AnyArray]:
    """Encode what has names of its own, such as items and judges: codes and the sorted names."""
    values = {name: as_label_values(*read_column(column, name), name)}
    found = union_of_values(values)
    return look_up(values[name], found, name), found


def encode_groups(
    groups: Column | None, *, name: str | Argument = "groups"
) -> tuple[IntArray | None, AnyArray | None]:
    """Encode groups: codes and the sorted names, or (None, None) if there are none.

    ``name`` is the argument that messages speak of, such as ``clusters``.
    """
    if groups is None:
        return None, None
    return encode_names(groups, name)


def require_two_classes(classes: AnyArray, *names: str) -> None:
    """Refuse a single class, or very many: both nearly always mean a slip in the data."""
    if len(classes) > _MOST_CLASSES:
        raise LabelError(
            Argument.several(names),
            f" hold {len(classes):,} classes (first {named(list(classes[:3]))}); expected ",
            Expected(f"at most {_MOST_CLASSES:,}"),
            ". Are these identifiers, not labels?",
        )
    if len(classes) < 2:
        raise LabelError(
            # Outside Python nobody lists classes: they are those of the labels.
            Wording(
                Argument.several(names),
                f" hold{'s' if len(names) == 1 else ''}",
                elsewhere="the labels are of" if names == ("classes",) else None,
            ),
            " one class only, ",
            Given(classes[0]),
            "; expected ",
            Expected("at least two"),
            Remedy(
                "If the others just do not occur here, name them all with ",
                Option("classes"),
                ", of two the positive one last",
                after=". ",
                elsewhere="add rows of another class",
            ),
        )


def check_classes(classes: Column) -> AnyArray:
    """Check a user's ``classes=``: no repeats, one type, at least two."""
    order = as_label_values(*read_column(classes, "classes"), "classes")
    unique, counts = np.unique(order, return_counts=True)
    if len(unique) < len(order):
        raise LabelError(
            Argument("classes"),
            " holds ",
            Given(unique[counts > 1][0]),
            " twice",
            Remedy("list each class once"),
        )
    require_two_classes(order, "classes")
    return order


def as_label_values(array: AnyArray, mask: AnyArray | None, name: str | Argument) -> AnyArray:
    """Check that a column holds labels, none missing; whole floats become integers."""
    if mask is not None:
        row, n = int(np.flatnonzero(mask)[0]), int(mask.sum())
        raise LabelError(
            Argument.of(name),
            Row(row, f" is missing ({n} missing in all)", f" is empty in {n} rows"),
            Remedy(
                "drop these rows or fill them in before the call",
                elsewhere="drop these rows or fill them in",
            ),
        )
    return whole_numbers(array, name) if array.dtype.kind == "f" else array


def whole_numbers(array: AnyArray, name: str | Argument, mask: AnyArray | None = None) -> AnyArray:
    """Turn floats that are whole numbers into integers, or say which row is not one."""
    present = array if mask is None else np.where(mask, 0.0, array)
    broken = ~np.isfinite(present) | (present != np.floor(present)) | (np.abs(present) > 2**53)
    if broken.any():
        row = int(np.flatnonzero(broken)[0])
        fix = (
            "threshold scores first, or pass class probabilities with one column per class "
            "where they are accepted"
            if Argument.of(name).name.startswith("y_")
            else "cut numbers into classes first, or pass them as text"
        )
        raise LabelError(
            Argument.of(name),
            Row(row, " holds "),
            Given(array[row]),
            ", which is not a class label",
            Remedy(fix),
        )
    return present.astype(np.int64)


def union_of_values(values: Mapping[Any, AnyArray]) -> AnyArray:
    """Return the sorted distinct labels of all columns."""
    _check_one_kind(values)
    arrays = list(values.values())
    if all(a.dtype.kind in "biu" for a in arrays):
        found = _distinct_integers(arrays)
        return found.astype(bool) if all(a.dtype.kind == "b" for a in arrays) else found
    # A set of Python strings is several times faster than a sort of them.
    return np.array(sorted(set().union(*(set(a.tolist()) for a in arrays))))


def _check_one_kind(values: Mapping[Any, AnyArray]) -> None:
    text = {name: a.dtype.kind == "U" for name, a in values.items()}
    if len(set(text.values())) > 1:
        is_text = next(name for name in text if text[name])
        is_number = next(name for name in text if not text[name])
        text_shown = quoted_text(values[is_text], distinct=True)
        raise LabelError(
            Argument.of(is_text),
            " holds text (",
            text_shown,
            ") and ",
            Argument.of(is_number),
            f" holds numbers (first {shown(values[is_number][0])})",
            Remedy("give both the same labels"),
        )


def _distinct_integers(arrays: list[AnyArray]) -> IntArray:
    low = min(int(a.min()) for a in arrays)
    high = max(int(a.max()) for a in arrays)
    span = high - low + 1
    if span > _TABLE:
        return np.unique(np.concatenate([np.unique(a) for a in arrays]))
    present = np.zeros(span, dtype=bool)
    present[[0, -1]] = True
    if span > 2:
        for a in arrays:
            present |= np.bincount(_offset(a, low), minlength=span) > 0
    return np.flatnonzero(present).astype(np.int64) + low


def _offset(array: AnyArray, low: int) -> IntArray:
    """Return ``array - low`` as indices, without a copy when there is nothing to do."""
    indices = array.astype(np.intp, copy=False)
    return indices - low if low else indices


def look_up(values: AnyArray, classes: AnyArray, name: str | Argument) -> IntArray:
    """Return the position of each value in ``classes``."""
    _check_one_kind({name: values, "classes": classes})
    if values.dtype.kind in "biu" and classes.dtype.kind in "biu":
        codes = _look_up_integers(values, classes.astype(np.int64))
    else:
        codes = _look_up_text(values, classes)
    unknown = codes < 0
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        raise LabelError(
            Argument.of(name),
            Row(row, " holds "),
            Given(values[row]),
            f", which is not among the classes {named(list(classes))}",
            Remedy("add it to ", Option("classes"), " or drop the row", elsewhere="drop the row"),
        )
    return codes


def _look_up_integers(values: AnyArray, classes: IntArray) -> IntArray:
    low, high = int(classes.min()), int(classes.max())
    if high - low >= _TABLE:
        return _look_up_sorted(values, classes)
    inside = int(values.min()) >= low and int(values.max()) <= high
    if inside and np.array_equal(classes, np.arange(low, low + len(classes))):
        return _offset(values, low)
    table = np.full(high - low + 2, -1, dtype=np.intp)  # the last entry is for what is outside
    table[classes - low] = np.arange(len(classes))
    if inside:
        return table[_offset(values, low)]
    outside = (values < low) | (values > high)
    return table[np.where(outside, high - low + 1, values.astype(np.int64) - low)]


def _look_up_text(values: AnyArray, classes: AnyArray) -> IntArray:
    place = {label: code for code, label in enumerate(classes.tolist())}
    found = (place.get(v, -1) for v in values.tolist())
    return np.fromiter(found, dtype=np.intp, count=len(values))


def _look_up_sorted(values: AnyArray, classes: AnyArray) -> IntArray:
    order = np.argsort(classes)
    where = np.searchsorted(classes[order], values).clip(max=len(classes) - 1)
    codes = order[where]
    return np.where(classes[codes] == values, codes, -1)


# --- Labels that look like a slip: one class spelt in several ways, or the text of a missing value.
#
# There is one policy for spellings that differ by case or by spaces at the ends alone. Functions of
# the library refuse them and say what to replace (`check_spellings`). Commands and ``evaluate``,
# which read tables, make them one and say so (`match_spellings`). Whoever means two classes says so
# with ``classes=``.

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


class Spellings(NamedTuple):
    """What to replace in columns of labels, and what to say of it: a line for each class."""

    replace: dict[str, str | None]
    said: tuple[str, ...]


def by_frequency(column: Any, counts: IntArray | None = None) -> list[Any]:
    """Return the distinct labels of a Polars column, the most frequent first.

    ``counts`` are the rows that each place of the column stands for, if not one.
    """
    number: Counter[Any] = Counter()
    if counts is None:
        found = column.drop_nulls().value_counts(name="n")
        number.update(dict(zip(found[column.name].to_list(), found["n"].to_list(), strict=True)))
    else:
        for label, n in zip(column.to_list(), counts.tolist(), strict=True):
            number[label] += n
        number.pop(None, None)
    return sorted(number, key=lambda label: (-number[label], str(label)))


def match_spellings(columns: Mapping[str, Sequence[Any]], known: Sequence[Any] = ()) -> Spellings:
    """Return which spellings of distinct labels mean one class.

    ``columns`` holds the distinct labels of each column, the most frequent first, ``known`` those
    of a metric, which win. Else the first spelling without spaces is kept, column by column. Two
    spellings of different case that every column holds may be two classes, and are refused.
    """
    kinds: dict[str, list[str]] = {}
    for labels in (known, *columns.values()):
        for text in (label for label in labels if isinstance(label, str)):
            kinds.setdefault(_folded(text), [])
            if text not in kinds[_folded(text)]:
                kinds[_folded(text)].append(text)
    replace: dict[str, str | None] = dict.fromkeys(kinds.pop("", ()))
    said = ["empty cells were read as missing"] if replace else []
    held = [{c for c in labels if isinstance(c, str)} for labels in columns.values()]
    for texts in (t for t in kinds.values() if len(t) > 1):
        kept = next((t for t in texts if t in known), None)
        if kept is None:
            _refuse_collision(texts, held)
            kept = next((t for t in texts if t == t.strip()), texts[0].strip())
        replace |= {text: kept for text in texts if text != kept}
        listed = ", ".join(shown(text) for text in texts)
        said.append(f"{len(texts)} spellings of {shown(kept)} were read as one: {listed}")
    return Spellings(replace, tuple(said))


def _folded(text: str) -> str:
    return text.strip().casefold()


def _refuse_collision(texts: Sequence[str], held: Sequence[set[str]]) -> None:
    """Refuse spellings that may be two classes: each column that has one has another too."""
    own = [{t.strip() for t in labels if t in texts} for labels in held]
    own = [words for words in own if words]
    if len(own) > 1 and all(len(words) > 1 for words in own):
        raise LabelError(
            f"the labels {' and '.join(shown(t) for t in texts)} differ by case alone and every "
            "column holds them, so that they may be two classes or one; rename one of them, or "
            "spell them alike"
        )


def check_spellings(
    values: Mapping[Any, AnyArray], classes: AnyArray, *, rows: bool = True
) -> None:
    """Refuse classes that differ by case or spaces alone, with the mapping that makes them one.

    ``rows`` says that the values are those of rows, in their order.
    """
    if classes.dtype.kind != "U":
        return
    kinds: dict[str, list[str]] = {}
    for text in classes.tolist():
        kinds.setdefault(_folded(text), []).append(text)
    several = [texts for texts in kinds.values() if len(texts) > 1]
    if not several:
        return
    seen = {name: set(v.tolist()) for name, v in values.items()}
    ordered = [
        sorted(texts, key=lambda t: (t != t.strip(), t.strip() != t.strip().casefold(), t))
        for texts in several
    ]
    replace = {text: texts[0].strip() for texts in ordered for text in texts if text != texts[0]}
    odd = ordered[0][1]
    name = next(name for name, held in seen.items() if odd in held)
    where: list[Part] = [Argument.of(name), " holds "]
    if rows:
        where = [Argument.of(name), Row(values[name].tolist().index(odd), " is ")]
    how = "spaces" if odd.strip() == ordered[0][0].strip() else "case"
    raise LabelError(
        *where,
        Given(odd),
        f" and there is the class {shown(ordered[0][0])}, which differs by {how} alone",
        Remedy(
            f"replace {replace} in the labels, or pass ",
            Option("classes"),
            " if they are two classes",
            elsewhere=f"replace {replace} in the file",
        ),
    )


def check_alike(codes: Mapping[Any, IntArray], classes: AnyArray) -> None:
    """Look at classes that were found, not named: refuse or warn of those that seem to be a slip.

    One number that two columns write in two ways ('1' and '1.0'), the text NaN, and columns that
    have no class in common are refused; other words for a missing value that are never predicted
    get a warning. Whoever means them passes ``classes=``. The last column of ``codes`` holds
    predictions.
    """
    check_common(codes, classes)
    if classes.dtype.kind != "U":
        return
    texts: list[str] = classes.tolist()
    numbers: dict[str, str] = {}
    *_, called = codes.values()
    for code, text in enumerate(texts):
        word = text.strip()
        if word.casefold() == "nan":
            raise LabelError(
                *_first(codes, code),
                Given(text),
                ", the text of a missing value",
                _unless("leave such rows out", "it is a class"),
            )
        other = numbers.setdefault(_number(word), text)
        if other != text and _in_other_columns(codes, code, texts.index(other)):
            raise LabelError(
                *_first(codes, code),
                Given(text),
                f" and there is the class {shown(other)}, the same number written another way",
                _unless("make numbers of both columns", "they are two classes"),
            )
        if word.casefold() in _MISSING and not (called == code).any():
            _warn(
                *_first(codes, code),
                Given(text),
                ", which is never predicted and may mean a missing value; it counts as a class",
                Remedy(
                    "Leave such rows out, or pass ",
                    Option("classes"),
                    " if it is one",
                    after=". ",
                    elsewhere="leave such rows out if it is none",
                ),
            )


def _unless(fix: str, meant: str) -> Remedy:
    """Return a remedy, beside which Python has ``classes=`` for whoever means what is there."""
    return Remedy(f"{fix}, or pass ", Option("classes"), f" if {meant}", elsewhere=fix)


def _first(codes: Mapping[Any, IntArray], code: int) -> list[Part]:
    """Return the column and the row where a class occurs first, and a verb."""
    for name, column in codes.items():
        at = np.flatnonzero(column == code)
        if len(at):
            return [Argument.of(name), Row(at[0], " is ")]
    return [Argument.of(next(iter(codes))), " is "]


def check_common(codes: Mapping[Any, IntArray], classes: AnyArray) -> None:
    """Refuse labels and predictions that share no class: one of them is another column.

    One class each is none such: a classifier may say the one class that never is true.
    """
    if len(codes) != 2:
        return
    found = [np.unique(column[column >= 0]) for column in codes.values()]
    if max(len(one) for one in found) < 2 or np.intersect1d(found[0], found[1]).size:
        return
    words = [{_number(str(classes[c]).strip()) for c in one.tolist()} for one in found]
    if words[0] & words[1]:  # one number written in two ways, which has a sentence of its own
        return
    first, second = codes
    held = [", ".join(shown(classes[c]) for c in one[:_SHOWN].tolist()) for one in found]
    raise LabelError(
        Argument.of(first),
        " and ",
        Argument.of(second),
        " have no class in common "
        f"({held[0]} and {held[1]}), so that every prediction would count as wrong; is one of "
        "them another column?",
        Wording(" Pass ", Option("classes"), " if they are right", elsewhere=""),
        remedy="pass classes= if they are right",
    )


def _in_other_columns(codes: Mapping[Any, IntArray], one: int, other: int) -> bool:
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


def _warn(*said: Part) -> None:
    warnings.warn(KaratWarning(*said), stacklevel=caller_level())


# --- True labels of some items.


def present_gold(y_true: Column) -> tuple[AnyArray, BoolArray]:
    """Return a column of true labels, and where there is one (null and -1 mean there is none)."""
    array, mask = read_column(y_true, "y_true", null=-1)
    absent = np.zeros(len(array), dtype=bool) if mask is None else mask.copy()
    absent |= array == ("-1" if array.dtype.kind == "U" else -1)
    if absent.all():
        raise LabelError(
            Argument("y_true"),
            " is missing in every row",
            Remedy("pass the true label of some items"),
        )
    # What is absent takes the first label that is there, so that the column has one type.
    filled = np.where(absent, array[~absent][0], array)
    (codes,), order = encode_labels({"y_true": filled})
    return order[codes], ~absent


def encode_gold(y_true: Column, classes: AnyArray) -> IntArray:
    """Return true labels as codes of ``classes``, -1 where there is none."""
    values, present = present_gold(y_true)
    (codes,), _ = encode_labels({"y_true": values}, classes)
    return np.where(present, codes, -1)


# --- Weak labels and votes: an n×m matrix of labels in which -1 abstained and null was not asked.

# What a matrix of codes holds where there is no vote for a class.
ABSTAINED = -1
NOT_ASKED = -2


class WeakLabels(NamedTuple):
    """A vote matrix as codes of ``classes``, ABSTAINED or NOT_ASKED.

    ``complete`` says that nobody was left out, so that no code is NOT_ASKED.
    """

    codes: IntArray
    classes: AnyArray
    names: list[Any]
    complete: bool


def check_null(null: Any) -> bool:
    """Check a user's ``null=`` and return whether a null is an abstention."""
    if not isinstance(null, str) or null not in ("not asked", "abstain"):
        refuse_option(
            null,
            "null",
            "'not asked', if the labeler did not see the item, or 'abstain', if it saw the item "
            "and did not vote",
        )
    return null == "abstain"


class _Votes(NamedTuple):
    """One column: its values, where it abstains (-1), and where nothing was asked (null)."""

    values: AnyArray
    abstains: BoolArray
    absent: BoolArray | None

    @property
    def without_vote(self) -> BoolArray:
        """Where there is no vote for a class."""
        return self.abstains if self.absent is None else self.abstains | self.absent


def encode_weak_labels(
    weak_labels: Frame,
    classes: Column | None = None,
    *,
    also: dict[str, AnyArray] | None = None,
    name: str | Argument = "weak_labels",
    null: str = "not asked",
) -> WeakLabels:
    """Encode a vote matrix; ``also`` holds label columns whose values count as classes too."""
    abstains = check_null(null)
    votes, order, names = _read(weak_labels, classes, also, name)
    if order.dtype.kind in "iu" and np.array_equal(order, np.arange(len(order))):
        codes = _already_codes(weak_labels, len(order))
        if codes is not None:
            return WeakLabels(codes, order, names, True)
    codes = _codes(votes, order, names, name)
    complete = True
    for j, column in enumerate(votes):
        if column.absent is not None and not abstains:
            codes[column.absent, j] = NOT_ASKED
            complete = complete and not column.absent.any()
    return WeakLabels(codes, order, names, complete)


def _read(
    weak_labels: Frame,
    classes: Column | None,
    also: dict[str, AnyArray] | None,
    name: str | Argument,
) -> tuple[list[_Votes], AnyArray, list[Any]]:
    """Return the columns, the classes in order and the names."""
    columns, names = read_columns(weak_labels, name, null=-1, each="column per labeler")
    votes = [_votes(a, m, Argument.of(name, c)) for (a, m), c in zip(columns, names, strict=True)]
    order = check_classes(classes) if classes is not None else _classes_of(votes, names, also, name)
    if (order == ("-1" if order.dtype.kind == "U" else -1)).any():
        source = ["classes"] if classes is not None else list(also or ())
        raise LabelError(
            Argument.several(source),
            " holds the label -1, which in ",
            Argument.of(name),
            " means that a labeler abstains",
            Remedy("give that class another name"),
        )
    return votes, order, names


def _codes(
    votes: list[_Votes], order: AnyArray, names: list[Any], name: str | Argument
) -> IntArray:
    small = np.int8 if len(order) < 127 else np.int32
    codes = np.empty((len(votes[0].values), len(votes)), dtype=small, order="F")
    for j, column in enumerate(votes):
        codes[:, j] = _code(column.values, column.without_vote, order, Argument.of(name, names[j]))
    return codes


def _votes(array: AnyArray, mask: BoolArray | None, name: str | Argument) -> _Votes:
    """Return the values of one labeler, and where it abstains or was not asked."""
    if array.dtype.kind == "f":
        try:
            array = whole_numbers(array, name, mask)
        except LabelError as error:
            raise ColumnError(
                error, ". If this column is not a labeler, pass the vote columns only"
            ) from error
    if mask is not None and array.dtype.kind in "iu":
        array = np.where(mask, 0, array.astype(np.int64))
    abstains = array == ("-1" if array.dtype.kind == "U" else -1)
    if array.dtype.kind == "i" and array.min() < -1:
        row = int(np.flatnonzero(array < -1)[0])
        raise LabelError(
            Argument.of(name),
            Row(row, " holds "),
            Given(array[row]),
            "; expected ",
            Expected("a class, or -1 where the labeler abstained, or null where it was not asked"),
        )
    return _Votes(array, abstains, mask)


def _classes_of(
    votes: list[_Votes],
    names: list[Any],
    also: dict[str, AnyArray] | None,
    name: str | Argument,
) -> AnyArray:
    """Return the sorted labels that occur, abstention apart."""
    seen = {
        Argument.of(name, c): _distinct(column.values, column.without_vote)
        for column, c in zip(votes, names, strict=True)
    }
    seen |= {Argument.of(other): values for other, values in (also or {}).items()}
    seen = {key: values for key, values in seen.items() if values.size}
    if not seen:
        raise LabelError(
            "every vote in ",
            Argument.of(name),
            " abstains or is null",
            Remedy(
                "pass at least one vote, or name the classes with ",
                Option("classes"),
                elsewhere="pass at least one vote",
            ),
        )
    found = union_of_values(seen)
    check_spellings(seen, found, rows=False)
    return found


def _distinct(values: AnyArray, abstains: BoolArray) -> AnyArray:
    """Return the distinct votes of one labeler."""
    if values.dtype.kind in "iu" and int(values.max()) < 1 << 16:
        # Shift by one so that the abstention -1 has a bin of its own, then drop that bin.
        only_abstentions = int(abstains.sum()) == int((values == -1).sum())
        cast = values if only_abstentions else values[~abstains]
        counts = np.bincount(cast.astype(np.intp) + 1)
        return np.flatnonzero(counts[1:])
    return np.unique(values[~abstains])


def _already_codes(weak_labels: Any, n_classes: int) -> IntArray | None:
    """Return an integer matrix as it is, if its values are the codes: no copy for large data."""
    if type(weak_labels) is not np.ndarray or not np.can_cast(weak_labels.dtype, np.int64):
        return None
    return weak_labels if int(weak_labels.max()) < n_classes else None


def _code(
    values: AnyArray, abstains: BoolArray, classes: AnyArray, name: str | Argument
) -> IntArray:
    if abstains.all():
        return np.full(len(values), -1)
    if (values.dtype.kind == "U") != (classes.dtype.kind == "U"):
        first = int(np.flatnonzero(~abstains)[0])
        raise ColumnError(
            Argument.of(name),
            Row(first, " holds "),
            Given(values[first]),
            f" and the classes are {named(list(classes))}",
            Remedy("pass the vote columns only, labelled like the classes"),
        )
    codes = np.full(len(values), -1, dtype=np.intp)
    codes[~abstains] = look_up_at(values, ~abstains, classes, name)
    return codes


def look_up_at(
    values: AnyArray, where: BoolArray, classes: AnyArray, name: str | Argument
) -> IntArray:
    """Look up the chosen rows, so that a message names the row of the whole column."""
    filled = np.where(where, values, classes[0]) if not where.all() else values
    return look_up(filled, classes, name)[where]
