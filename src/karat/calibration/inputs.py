"""From what users pass to 0/1 labels and probabilities, one column per label.

`read_table` takes several columns of labels, two classes or one column of several classes, matches
the columns of frames by name, and notes labels that carry no information. `pair_columns` says which
column of probabilities is of which class or label, and `paired_columns` brings both into the forms
that the library takes.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from karat._callers import caller_level
from karat._code import Coded
from karat._sentences import Argument, Expected, Given, Part, Remedy, Row
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    ROUNDED,
    check_probabilities,
    check_same_length,
    encode_labels,
    is_matrix,
    odd_text,
    order_classes,
    read_column,
    read_columns,
    refuse_option,
    shown,
    told_positive,
)
from karat.exceptions import ColumnError, KaratWarning, LabelError, ProbabilityError, ShapeError

_MARKS = "_-.: "  # what may stand between a prefix and a name, as in prob_spam


class Pairing(NamedTuple):
    """What the columns of probabilities are called by the classes or labels that they are of.

    ``names`` is empty where they go by their order; ``positive`` is the class of a single column.
    """

    names: dict[str, str]
    positive: Any = None


def pair_columns(
    labels: Sequence[str], probs: Sequence[str], classes: Sequence[Any], pos_label: Any = None
) -> Pairing:
    """Pair columns of probabilities with labels, or with the classes of one column of labels.

    Names win over the order: ``prob_spam`` is of the class spam. Text classes that no name tells
    apart go by the order of the sorted classes, with a warning.
    """
    if len(labels) > 1:
        found = _matched(probs, [_own(labels)[name] for name in labels])
        own = {part: name for name, part in _own(labels).items()}
        named = {prob: own[part] for prob, part in found.items() if part in own}
        return Pairing(named or dict(zip(probs, labels, strict=False)))
    texts = {str(c): c for c in classes}
    if len(probs) == 1:
        return Pairing({}, _positive(probs[0], texts, list(classes), pos_label))
    found = _matched(probs, list(texts))
    if not found and any(isinstance(c, str) for c in classes) and len(probs) == len(classes):
        pairs = ", ".join(f"{p} is {c!r}" for p, c in zip(probs, classes, strict=True))
        warnings.warn(
            f"no column of probabilities is named after its class, so they go by the order of the "
            f"sorted classes: {pairs}; call them prob_{classes[0]} … to be sure",
            KaratWarning,
            stacklevel=caller_level(),
        )
    return Pairing(found)


def paired_columns(y: Coded, h: Coded, pairing: Pairing) -> tuple[Coded, Coded]:
    """Return frames of labels and probabilities in the forms that the library takes, with code."""
    names = list(y.value.columns)
    renamed = {prob: name for prob, name in pairing.names.items() if prob != name}
    if renamed:
        h = Coded(h.value.rename(renamed), f"{h.code}.rename({renamed!r})")
    elif len(names) == 1 and not pairing.names:
        h = Coded(h.value.to_numpy(), f"{h.code}.to_numpy()")
    if len(names) > 1:
        return y, h
    one = Coded(y.value[names[0]], f"{y.code}[{names[0]!r}]")
    found = one.value.drop_nulls().unique().to_list()
    told = told_positive(found) if len(found) == 2 else None
    if pairing.positive is None or (told is not None and found[told] == pairing.positive):
        return one, h  # the labels tell the library what the column is of
    is_it = f"({one.code} == {pairing.positive!r})"
    return Coded((one.value == pairing.positive).cast(int), f"{is_it}.cast(int)"), h


def _positive(prob: str, texts: dict[str, Any], classes: list[Any], pos_label: Any) -> Any:
    """Return the class of a single column: the one that was named, or that the column names."""
    if pos_label is not None:
        if pos_label not in classes:
            refuse_option(pos_label, "pos_label", " or ".join(repr(c) for c in classes))
        return pos_label
    ends = [c for text, c in texts.items() if prob == text or _ends_with(prob, text)]
    if len(ends) == 1:
        return ends[0]
    if len(classes) != 2:
        return None
    return order_classes(np.array(classes)).classes[-1].item()


def _ends_with(name: str, text: str) -> bool:
    return (
        bool(text)
        and name.endswith(text)
        and name[: -len(text)][-1:] in _MARKS
        and len(name) > len(text)
    )


def _own(names: Sequence[str]) -> dict[str, str]:
    """Return each name without what all of them begin with, up to a mark."""
    cut = 0
    while len(names) > 1 and len({name[: cut + 1] for name in names}) == 1 and cut < len(names[0]):
        cut += 1
    shared = names[0][:cut] if len(names) > 1 else ""
    cut = max((shared.rfind(mark) for mark in _MARKS), default=-1) + 1
    return {name: name[cut:] for name in names}


def _matched(probs: Sequence[str], wanted: Sequence[str]) -> dict[str, str]:
    """Return the class or label of each column if all are named after one, else nothing."""
    for parts in ({p: p for p in probs}, _own(probs)):
        if set(wanted) <= set(parts.values()) and len(set(parts.values())) == len(probs):
            return dict(parts)
    return {}


# --- From what users pass to 0/1 labels and probabilities, one column per label.

_ROUNDING = 1e-6  # by which a probability in single precision may be outside [0, 1]
_SHOWN = 6  # names in a note


@dataclass(frozen=True, slots=True)
class LabelTable:
    """Labels and probabilities.

    Attributes
    ----------
    y : array (n, K)
        0 or 1.
    h : array (n, K)
        Probabilities.
    names : tuple of str
        What each label is called.
    notes : tuple of str
        How labels and columns without information were treated.
    columns : list of str or None
        The columns of probabilities, if they came in a frame.
    exclusive : bool
        Whether exactly one label of each row is 1 and probabilities of a row sum to 1: classes.
    """

    y: FloatArray
    h: FloatArray
    names: tuple[str, ...]
    notes: tuple[str, ...]
    columns: list[str] | None = None
    exclusive: bool = False


def read_table(y_true: Frame | Column, y_prob: Frame | Column) -> LabelTable:
    """Read a multi-label table, two classes (one column each), or several classes (one-hot)."""
    h, columns = read_probabilities(y_prob)
    names: list[str] | None
    if _many_labels(y_true):
        y, names = _read_labels(y_true)
        if y.shape[1] != h.shape[1]:
            raise ShapeError(
                Argument("y_true"),
                f" has {y.shape[1]} labels and ",
                Argument("y_prob"),
                f" has {h.shape[1]} columns",
                Remedy("pass one column of probabilities per label"),
            )
        if names is not None and columns is not None:
            h, columns = in_order(h, columns, names)
    else:
        y, h, names = _read_classes(y_true, y_prob, h, columns)
    check_same_length(y_true=y, y_prob=h)
    shown = tuple(_given(names) or _given(columns) or (f"label {j}" for j in range(h.shape[1])))
    # Sums of rows depend in their last digit on how these lie in memory.
    y, h = np.ascontiguousarray(y), np.ascontiguousarray(h)
    return LabelTable(y, h, shown, _notes(y, h, shown), columns, _exclusive(y, h))


def in_order_of(table: LabelTable, names: tuple[str, ...]) -> LabelTable:
    """Return a table with its labels in the order of names, if it has the same ones."""
    if table.names == names or sorted(table.names) != sorted(names):
        return table
    order = [table.names.index(name) for name in names]
    return replace(table, y=table.y[:, order], h=table.h[:, order], names=names)


def read_new(
    y_prob: Frame | Column, n_labels: int, columns: list[str] | None, *, exclusive: bool
) -> FloatArray:
    """Read probabilities of the labels that a map was fitted to, in the order of that fit."""
    h, passed = read_probabilities(y_prob)
    if h.shape[1] != n_labels:
        raise ShapeError(
            Argument("y_prob"),
            f" has {h.shape[1]} columns and the map was fitted to {n_labels}",
        )
    if passed is not None and columns is not None:
        h, _ = in_order(h, passed, columns)
    return check_probabilities(h, "y_prob") if exclusive else h


def read_probabilities(y_prob: Frame | Column) -> tuple[FloatArray, list[str] | None]:
    """Return probabilities, one column per label, and the names that a frame gives them."""
    if is_list_of_arrays(y_prob):
        y_prob = positive_columns(y_prob)
    if _is_table(y_prob):
        columns, names = read_columns(y_prob, "y_prob", each="column per label")
        names = [str(name) for name in names]  # labels are matched with columns as text
    else:
        columns, names = [read_column(y_prob, "y_prob")], []
    arrays = [
        _probabilities(array, mask, name)
        for name, (array, mask) in zip(names or [None], columns, strict=True)
    ]
    return np.column_stack(arrays), names if _is_frame(y_prob) else None


def in_order(h: FloatArray, columns: list[str], names: list[str]) -> tuple[FloatArray, list[str]]:
    """Return columns in the order of names if they have the same; other names go by position."""
    if sorted(columns) == sorted(names):
        return h[:, [columns.index(name) for name in names]], names
    both = [name for name in columns if name in names]
    if both:
        raise ColumnError(
            Argument("y_prob"),
            f" has the columns {columns[:_SHOWN]} and the labels are "
            f"{names[:_SHOWN]}: they share {both[:_SHOWN]} and not the rest",
            Remedy("Give each column the name of its label, or pass arrays", after=". "),
        )
    return h, columns


def _probabilities(array: AnyArray, mask: AnyArray | None, column: str | None) -> FloatArray:
    def at(row: int, said: str) -> list[Part]:
        if column is None:
            return [Argument("y_prob"), Row(row, said)]
        return [Argument("y_prob"), f" column {column}", Row(row, said, before=", ")]

    if mask is not None:
        raise ProbabilityError(
            *at(int(np.flatnonzero(mask)[0]), " is missing or NaN; expected "),
            Expected("probabilities"),
            Remedy("Drop such rows or fill them in", after=". "),
            column=column,
        )
    if array.dtype.kind == "U":
        row = odd_text(array) or 0
        text = str(array[row])
        raise ProbabilityError(
            *at(row, " is the text "),
            Given(text),
            "; expected ",
            Expected("probabilities"),
            column=column,
        )
    values = array.astype(float)
    wrong = ~((values >= -_ROUNDING) & (values <= 1 + _ROUNDING))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ProbabilityError(
            *at(row, " is "),
            f"{values[row]:g}; expected ",
            Expected("probabilities between 0 and 1"),
            Remedy("Apply a sigmoid to scores first", after=". "),
            column=column,
            given=float(values[row]),
        )
    return np.asarray(np.clip(values, 0.0, 1.0))


def _is_frame(values: Any) -> bool:
    return hasattr(type(values), "columns")


def _is_table(values: Any) -> bool:
    """Whether there may be several columns."""
    if isinstance(values, list | tuple):
        return bool(values) and hasattr(values[0], "__len__") and not isinstance(values[0], str)
    return _is_frame(values) or len(getattr(values, "shape", ())) > 1


def _many_labels(y_true: Any) -> bool:
    """Whether there are several columns of 0 and 1, and not one of classes."""
    if is_matrix(y_true):
        return True
    if not _is_frame(y_true):
        return False
    import narwhals as nw

    schema = nw.from_native(y_true).collect_schema()
    if len(schema) < 2:
        return False
    known = (nw.Boolean, nw.Object)
    odd = [name for name, kind in schema.items() if not (kind.is_numeric() or kind in known)]
    if odd:
        raise ColumnError(
            Argument("y_true"),
            f" is a frame with the columns {list(schema)[:_SHOWN]}, and {odd[0]!r} "
            "holds no numbers; expected ",
            Expected(f"0 and 1 in each, or one column of classes: frame[{odd[0]!r}]"),
        )
    return True


def _given(names: list[str] | None) -> list[str] | None:
    """Return names that somebody gave; positions are none."""
    return None if names is None or names == [str(j) for j in range(len(names))] else names


def _read_labels(y_true: Frame) -> tuple[FloatArray, list[str] | None]:
    columns, names = read_columns(y_true, "y_true", each="column per label")
    names, arrays = [str(name) for name in names], []
    for name, (array, mask) in zip(names, columns, strict=True):
        if mask is not None:
            row = int(np.flatnonzero(mask)[0])
            raise LabelError(
                Argument("y_true"), f" column {name}, row {row} is missing; drop the row first"
            )
        text = array.dtype.kind == "U"
        odd = np.ones(len(array), bool) if text else ~np.isin(array, (0, 1))
        if odd.any():
            row = int(np.flatnonzero(odd)[0])
            raise LabelError(
                Argument("y_true"),
                f" column {name}, row {row} is {array[row].item()!r}; expected 0 and "
                "1 (or False and True) in each column. For one column of classes pass it "
                "as it is, with a column of probabilities per class",
            )
        arrays.append(array.astype(float))
    return np.column_stack(arrays), names if _is_frame(y_true) else None


def _read_classes(
    y_true: Column, y_prob: Frame | Column, h: FloatArray, columns: list[str] | None
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Read one column of classes: two of them, or one-hot with a probability for each.

    Probabilities that were rounded come back with sums of 1.
    """
    (codes,), classes = encode_labels({"y_true": y_true})
    check_same_length(y_true=codes, y_prob=h)
    if h.shape[1] == 1:
        y, names = _two_classes(codes, classes)
        return y, h, names
    order = _class_order(classes, columns, h.shape[1])
    h = check_probabilities(h if is_list_of_arrays(y_prob) else y_prob, "y_prob")
    place = np.array([order.index(str(c)) for c in classes.tolist()])
    return np.eye(len(order))[place[codes]], h, order


def _two_classes(codes: IntArray, classes: AnyArray) -> tuple[FloatArray, list[str]]:
    """Read two classes of which the labels tell the positive one; a single one must be 0 or 1."""
    if len(classes) > 2:
        raise ShapeError(
            Argument("y_true"),
            f" holds {len(classes)} classes and ",
            Argument("y_prob"),
            " has one column",
            Remedy("pass one column of probabilities per class"),
        )
    if len(classes) == 2:
        at = told_positive(classes)
        if at is None:
            first, second = (shown(c) for c in classes)
            raise LabelError(
                f"labels are {first} and {second} and ",
                Argument("y_prob"),
                " has one column",
                Remedy(
                    f"say which class it is of: pass y_true == {first}, or a column of "
                    "probabilities per class",
                    elsewhere="pass a column of probabilities per class",
                ),
            )
        return (codes == at).astype(float)[:, None], [str(classes[at])]
    if classes[0] not in (0, 1):
        raise LabelError(
            Argument("y_true"),
            f" holds one class only, {classes[0].item()!r}, and ",
            Argument("y_prob"),
            " may be of it or of the other",
            Remedy("Pass 0 and 1", after=". "),
        )
    return np.full((len(codes), 1), float(classes[0])), [str(type(classes[0].item())(1))]


def _class_order(classes: AnyArray, columns: list[str] | None, k: int) -> list[str]:
    """Return the class of each column of probabilities."""
    found = [str(c) for c in classes.tolist()]
    if columns is not None and set(found) <= set(columns):
        return columns
    if columns is not None and set(found) & set(columns) and _given(columns) is not None:
        raise ColumnError(
            Argument("y_prob"),
            f" has the columns {columns[:_SHOWN]} and the classes are {found[:_SHOWN]}",
            Remedy("name every column after its class, or none"),
        )
    if len(found) == k:
        return found
    if classes.dtype.kind in "iu" and classes[0] == 0 and classes[-1] < k:
        return [str(j) for j in range(k)]  # a class that does not occur here
    raise ShapeError(
        Argument("y_true"),
        f" holds {len(found)} classes {found[:_SHOWN]} and ",
        Argument("y_prob"),
        f" has {k} columns",
        Remedy(
            "pass one column of probabilities per class, in a frame that names them "
            "if some class does not occur here"
        ),
    )


def _exclusive(y: FloatArray, h: FloatArray) -> bool:
    one = y.shape[1] > 1 and bool((y.sum(axis=1) == 1).all())
    return one and bool((np.abs(h.sum(axis=1) - 1) <= _ROUNDING * h.shape[1]).all())


def _notes(y: FloatArray, h: FloatArray, names: tuple[str, ...]) -> tuple[str, ...]:
    rate, spread = y.mean(axis=0), np.ptp(h, axis=0)
    always = [name for name, p in zip(names, rate, strict=True) if p in (0.0, 1.0)]
    same = [name for name, s in zip(names, spread, strict=True) if s == 0]
    notes = []
    if always:
        notes.append(f"always 0 or always 1, so taken as certain: {_listed(always)}")
    if same:
        notes.append(
            f"constant probabilities, which carry no information on other labels: {_listed(same)}"
        )
    return tuple(notes)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")


# --- The list of arrays that scikit-learn's classifiers of several labels return.


def is_list_of_arrays(values: Any) -> bool:
    """Whether this is one (n, 2) array a label, as ``MultiOutputClassifier.predict_proba`` gives.

    A list of rows has entries of one dimension; only entries of two dimensions are meant.
    """
    return (
        isinstance(values, list | tuple)
        and bool(values)
        and all(len(getattr(each, "shape", ())) == 2 for each in values)
    )


def positive_columns(values: Any) -> AnyArray:
    """Return the probability that each label is 1: the second column of each array."""
    arrays = [np.asarray(each) for each in values]
    for j, each in enumerate(arrays):
        if each.shape[1] == 1:
            raise ShapeError(
                f"y_prob[{j}] has shape {each.shape}: label {j} had one class only where the model "
                "was fitted, and the column does not say which. Pass an array of one column a "
                "label, with 0 for a label that never occurred"
            )
        if each.shape[1] != 2:
            raise ShapeError(
                Argument("y_prob"),
                f" is a list of arrays and y_prob[{j}] has shape {each.shape}; expected ",
                Expected(
                    "(n, 2) for each label, the probabilities of 0 and of 1, as "
                    "MultiOutputClassifier.predict_proba returns"
                ),
            )
    check_same_length(**{f"y_prob[{j}]": each for j, each in enumerate(arrays)})
    found = np.column_stack([each[:, 1] for each in arrays])
    if found.dtype.kind == "f":
        _check_sums(arrays, found)
    return found


def _check_sums(arrays: list[FloatArray], found: FloatArray) -> None:
    off = np.abs(np.column_stack([each[:, 0] for each in arrays]) + found - 1)
    if (off > ROUNDED).any():  # NaN is for the check of probabilities to name
        row, j = (int(i) for i in np.argwhere(off > ROUNDED)[0])
        raise ProbabilityError(
            f"y_prob[{j}] row {row} sums to {arrays[j][row].sum():.6g}; expected the probabilities "
            "of 0 and of 1, which sum to 1"
        )
