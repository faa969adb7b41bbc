"""Results: frozen values that say, tabulate, serialise and draw themselves.

`Frozen` is the base of every value object, `Result` of every answer. An answer that is a number
with limits is an `Estimated`: it holds one `Estimate`, from which `value`, `lower` and `upper` are
read; one that holds the numbers of several classifiers is a `Several`. `keeps_kind` marks the
results of a public function with the kind of frame that was passed in, so that `to_frame` gives the
same kind back. `basis_of` is the one place where the word is made that says what a number rests on.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import wraps
from html import escape
from inspect import signature
from operator import attrgetter
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    NoReturn,
    ParamSpec,
    Protocol,
    TypeVar,
)

import numpy as np

from karat._characters import visible
from karat._extras import require
from karat._sentences import Argument, Remedy, Row
from karat._typing import AnyArray, FloatArray
from karat.exceptions import DataError, KaratError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_T = TypeVar("_T", bound="Result")
_N = TypeVar("_N", float, FloatArray)
SEVERAL = "there are several numbers and no single value; read .value, .lower and .upper"
_MOST = 500_000  # characters of a picture that a notebook keeps with the page


# --- What a conclusion rests on: one word, derived from how its numbers were found.
#
# Whoever states a method states its guarantee (`Guarantee`), in the result that holds the numbers.
# The word that a reader sees is made of it here and nowhere else, so a badge can be no stronger
# than the method behind it.

Basis = Literal["certain", "guaranteed", "likely", "unknown"]
Guarantee = Literal["complete", "exact", "finite-sample", "approximate", "model", "untested"]

# From the strongest to the weakest, with what each means to a reader.
BASES: dict[Basis, str] = {
    "certain": "no chance of error: arithmetic on what is known",
    "guaranteed": "confidence limits that hold for any distribution",
    "likely": "confidence limits that rest on an approximation or on an assumption that is named",
    "unknown": "the data do not answer the question",
}

_WORDS: dict[str, Basis] = {
    "complete": "certain",  # every item that the number is about is known
    "exact": "guaranteed",  # the law of a count, for any number of independent items
    "finite-sample": "guaranteed",  # for any law of the values and any number of items
    "approximate": "likely",  # as the number of items grows
    "model": "likely",  # if a model holds that the data were held against
    "untested": "unknown",  # if a model holds that nothing was held against
}


class Guaranteed(Protocol):
    """A result that says what its limits are worth."""

    @property
    def guarantee(self) -> Any:
        """One of `Guarantee`."""


def basis_of(*evidence: Guaranteed | Guarantee, assumes: str = "", decided: bool = True) -> Basis:
    """Return the word for the weakest part of what a conclusion rests on.

    Parameters
    ----------
    *evidence : results or guarantees
        What the conclusion is made of; none if nothing answers the question.
    assumes : str
        What the conclusion assumes beside, such as that some labels were drawn at random. Whatever
        is assumed, a conclusion is no more than likely.
    decided : bool
        Whether the numbers decide the question: limits of a difference that hold 0 do not.
    """
    found: list[Basis] = [_WORDS[e if isinstance(e, str) else str(e.guarantee)] for e in evidence]
    order = list(BASES)
    if not found or not decided:
        return order[-1]
    if assumes:
        found.append(_WORDS["approximate"])
    return max(found, key=order.index)


# --- Values: frozen, equal by what they hold.


class Frozen:
    """Base of frozen dataclasses whose fields may be arrays.

    A field declared with ``compare=False`` takes no part in equality or hash.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        """Make every array read-only; called by the dataclass's own constructor."""
        for own in fields(self):  # type: ignore[arg-type]
            value = getattr(self, own.name)
            if isinstance(value, np.ndarray | tuple):
                object.__setattr__(self, own.name, _frozen_value(value))

    def __reduce__(self) -> Any:
        # Pickle and deepcopy give back arrays that can be written to: freeze them again.
        return _thaw, (type(self), {f.name: getattr(self, f.name) for f in fields(self)})  # type: ignore[arg-type]

    def _compared(self) -> tuple[Any, ...]:
        named = (field for field in fields(self) if field.compare)  # type: ignore[arg-type]
        return tuple(getattr(self, field.name) for field in named)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self._compared(), other._compared()
        return all(_same(a, b) for a, b in zip(mine, theirs, strict=True))

    def __hash__(self) -> int:
        return hash((type(self).__name__, _comparable(self._compared())))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python data that ``json.dumps`` accepts.

        The parts of an `Estimate` stand beside the other fields.
        """
        found: dict[str, Any] = {}
        for own in fields(self):  # type: ignore[arg-type]
            value = getattr(self, own.name)
            if isinstance(value, Estimate) and own.name == "estimate":
                found |= value.to_dict()
            else:
                found[own.name] = plain(value)
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimate(Frozen, Generic[_N]):
    """A number with its limits, and what they rest on; or columns of such numbers.

    Attributes
    ----------
    value : float or array
        The number; NaN where there is none, such as between bounds without labels.
    lower, upper : float or array
        Its limits.
    confidence : float
        Probability that the limits hold the number.
    basis : str
        ``"certain"`` (no chance of error: arithmetic on what is known), ``"guaranteed"`` (limits
        for any distribution), ``"likely"`` (limits that rest on an approximation or an assumption
        that is named) or ``"unknown"``.
    """

    value: _N
    lower: _N
    upper: _N
    confidence: float
    basis: Basis

    @classmethod
    def of(
        cls, value: _N, lower: _N, upper: _N, confidence: float, guarantee: Guarantee
    ) -> Estimate[_N]:
        """Return an estimate whose basis follows from the guarantee of its method."""
        basis = basis_of(guarantee)
        return cls(value=value, lower=lower, upper=upper, confidence=confidence, basis=basis)

    @property
    def width(self) -> _N:
        """Distance between the limits."""
        return self.upper - self.lower

    def take(self: Estimate[FloatArray], rows: Any) -> Estimate[FloatArray]:
        """Return some rows of a column of estimates.

        Parameters
        ----------
        rows : array of int
            Their positions.

        Returns
        -------
        Estimate
            The same columns, with these rows alone.
        """
        parts = {name: getattr(self, name)[rows] for name in ("value", "lower", "upper")}
        return replace(self, **parts)

    def __float__(self) -> float:
        if isinstance(self.value, np.ndarray):
            raise DataError(SEVERAL)
        if math.isnan(self.value):
            raise DataError(
                f"there is no value (it is NaN), only limits from {self.lower:.4g} to "
                f"{self.upper:.4g}; read .lower and .upper"
            )
        return float(self.value)


def frozen_array(values: Any, dtype: Any = None) -> AnyArray:
    """Return a read-only array, copied unless nobody can write to ``values`` any more.

    A read-only view may look at memory that its owner still changes, so a view is copied too.
    """
    array = np.asarray(values, dtype=dtype)
    if array.flags.writeable or array.base is not None:
        array = array.copy()
        array.flags.writeable = False
    return array


def _frozen_value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return frozen_array(value)
    if type(value) is tuple and any(isinstance(item, np.ndarray) for item in value):
        return tuple(_frozen_value(item) for item in value)
    return value


def _comparable(value: Any) -> Any:
    """Return a hashable stand-in that is equal exactly when the values are."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            # NaN equals NaN here, though Python's does not even have one hash.
            numbers = tuple(None if v != v else v for v in value.ravel().tolist())
            return "f", value.shape, numbers
        return value.dtype.kind, value.shape, tuple(value.ravel().tolist())
    if isinstance(value, Mapping):
        return tuple((key, _comparable(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(_comparable(item) for item in value)
    if isinstance(value, float) and value != value:
        return "NaN"  # a number that is missing equals one that is missing
    return value


def _thaw(kind: type, values: dict[str, Any]) -> Any:
    """Build a frozen value from its fields."""
    value: Any = object.__new__(kind)
    for name, held in values.items():
        object.__setattr__(value, name, _frozen_value(held))
    return value


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        both_float = a.dtype.kind == b.dtype.kind == "f"
        return a.dtype.kind == b.dtype.kind and np.array_equal(a, b, equal_nan=both_float)
    return bool(_comparable(a) == _comparable(b))


class Result(Frozen):
    """Base of the frozen results.

    A subclass is a frozen, slotted, keyword-only dataclass; it names its fields and writes
    ``summary``. ``karat.plot.draw`` knows its picture by its name. Its table has one row with every
    field that is one value, and the properties in ``_DERIVED`` beside the estimate; else
    ``_COLUMNS`` says what the rows are, ``_PARTS`` which mapping has a row for each part, under
    which column.
    """

    __slots__ = ("_passed",)
    _passed: Passed
    _COLUMNS: ClassVar[tuple[str, ...]] = ()
    _PARTS: ClassVar[tuple[tuple[str, str], ...]] = ()
    _DERIVED: ClassVar[tuple[str, ...]] = ()

    def __reduce__(self) -> Any:
        return _again, (Frozen.__reduce__(self), self._kind)

    @abstractmethod
    def summary(self) -> str:
        """Return the answer in one sentence."""

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the result on ``ax`` (a new figure by default) and return the axes."""
        from karat.plot import draw

        return draw(self, ax)

    @property
    def _kind(self) -> Passed | None:
        """The kind of frame that was passed in; None for arrays and lists."""
        return getattr(self, "_passed", None)

    def to_frame(self) -> Any:
        """Return the numbers as a table, of the kind of frame that was passed in, else Polars.

        There is one row per estimate, group, class or point, and columns are named as attributes.
        """
        return frame_of(self._columns(), self._kind)

    def _columns(self) -> dict[str, Any]:
        """Return the columns of ``to_frame``."""
        for column, attribute in self._PARTS:
            if parts := getattr(self, attribute):
                return stacked(column, parts)
        return rows_of(self, self._COLUMNS) if self._COLUMNS else one_row(self)

    def _like(self, other: _T) -> _T:
        """Return a result that is made of this one, for the same kind of frame."""
        if self._kind is not None:
            mark(other, self._kind)
        return other

    def _table(self) -> list[tuple[Any, str]]:
        """Return name and value of what the notebook shows below the summary."""
        return []

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary()}>"

    def _repr_html_(self) -> str:
        numbers = html_table(self._table(), self._columns)
        said = visible(f"<p>{escape(self.summary())}</p>{self._picture()}{numbers}")
        return f"<div>{said}</div>"

    def _picture(self) -> str:
        """Return the picture for a notebook, in the colours of its page; empty if there is none."""
        from karat.report import result_svg

        try:
            svg = result_svg(self)
        except KaratError:  # matplotlib is missing, or there is nothing to draw: numbers are enough
            return ""
        return (
            f"<figure style='margin:0;max-width:36rem'>{svg}</figure>" if len(svg) < _MOST else ""
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


class Estimated(Result, Generic[_N]):
    """A result whose headline is a number with limits, or columns of them.

    A subclass has a field ``estimate``, an `Estimate`; everything else that it holds is beside it.
    ``float(result)`` is the number; where there is none, an error says so.
    """

    __slots__ = ()
    estimate: Estimate[_N]

    @property
    def value(self) -> _N:
        """The number; NaN where there is none."""
        return self.estimate.value

    @property
    def lower(self) -> _N:
        """The lower limit."""
        return self.estimate.lower

    @property
    def upper(self) -> _N:
        """The upper limit."""
        return self.estimate.upper

    @property
    def confidence(self) -> float:
        """Probability that the limits hold the number."""
        return self.estimate.confidence

    @property
    def basis(self) -> Basis:
        """What the limits rest on: certain, guaranteed, likely or unknown."""
        return self.estimate.basis

    @property
    def width(self) -> _N:
        """Distance between the limits."""
        return self.estimate.width

    def to_dict(self) -> dict[str, Any]:
        """Return the number with its limits, and the other fields, as plain Python data."""
        return self.estimate.to_dict() | super().to_dict()

    def __float__(self) -> float:
        return float(self.estimate)


class Several(Result):
    """A result that holds several numbers with limits, one for each classifier or model."""

    __slots__ = ()

    @abstractmethod
    def _each(self) -> Iterable[Estimated[float]]:
        """Return the numbers with their limits, in the order in which they are listed."""

    @property
    def value(self) -> FloatArray:
        """The number of each; NaN where there is none."""
        return np.array([one.value for one in self._each()])

    @property
    def lower(self) -> FloatArray:
        """The lower limit of each."""
        return np.array([one.lower for one in self._each()])

    @property
    def upper(self) -> FloatArray:
        """The upper limit of each."""
        return np.array([one.upper for one in self._each()])

    def __float__(self) -> NoReturn:
        raise DataError(SEVERAL)


def _again(made: tuple[Any, tuple[Any, ...]], passed: Passed | None) -> Any:
    """Build a result from what pickle kept of it."""
    build, arguments = made
    result = build(*arguments)
    if passed is not None:
        mark(result, passed)
    return result


# --- The columns of a result's table: one row per estimate, group, class or point.

_SCALARS = (bool, int, float, str, np.generic)
_SHOWN = 8  # rows that a notebook shows of a long table
_BESIDE_VOTES = {"count", "domain", "group", "prediction", "truth"}


def one_row(result: Any) -> dict[str, list[Any]]:
    """Return the fields that are one value each; a metric is given by its title.

    A number that is None becomes NaN, and anything else that is None is left out.
    """
    row: dict[str, list[Any]] = {}
    for own in fields(result):
        value = getattr(result, own.name)
        if isinstance(value, Estimate) and own.name == "estimate":
            row |= one_row(value) | {name: [getattr(result, name)] for name in result._DERIVED}
        elif isinstance(value, Frozen) and (title := getattr(value, "title", None)) is not None:
            row[own.name] = [title]
        elif isinstance(value, _SCALARS):
            row[own.name] = [value]
        elif value is None and str(own.type).startswith(("float | None", "int | None")):
            row[own.name] = [float("nan")]
    if "pos_label" not in row and getattr(result, "pos_label", None) is not None:
        row["pos_label"] = [result.pos_label]
    return row


def rows_of(result: Any, columns: Iterable[str]) -> dict[str, Any]:
    """Return columns by a list of words: ``lower``, ``area=area.value`` or ``name=names[index]``.

    An attribute that is None is left out, and one that is a single value is repeated.
    """
    found: dict[str, Any] = {}
    for word in columns:
        name, _, source = word.partition("=")
        attribute, _, index = (source or name).partition("[")
        values = attrgetter(attribute)(result)
        if values is None:
            continue
        if index:
            values = [values[i] for i in getattr(result, index.rstrip("]"))]
        found[name] = values
    length = next(len(v) for v in found.values() if isinstance(v, list | tuple | np.ndarray))
    return {
        name: values if isinstance(values, list | tuple | np.ndarray) else [values] * length
        for name, values in found.items()
    }


def stacked(column: str, parts: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the row of every part under one another, with its name in the first column."""
    rows = [{column: [name]} | _row(part, column) for name, part in parts.items()]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name, [None])[0] for row in rows] for name in names}


def _row(part: Any, column: str) -> dict[str, list[Any]]:
    return {name: value for name, value in one_row(part).items() if name != column}


def crossed(axes: Mapping[str, Any], **values: Any) -> dict[str, Any]:
    """Return one row per cell of arrays whose axes have names and values."""
    shape = tuple(len(places) for places in axes.values())
    cells = dict(zip(axes, np.indices(shape).reshape(len(shape), -1), strict=True))
    named = {
        name: np.asarray(places)[cells[name]]
        if isinstance(places, np.ndarray)
        else [places[i] for i in cells[name]]
        for name, places in axes.items()
    }
    return named | {name: np.asarray(array).reshape(-1) for name, array in values.items()}


def vote_columns(names: Iterable[Any], codes: Any, classes: Any) -> dict[str, list[Any]]:
    """Return a column of labels per voter from codes: -1 where it abstained, None if not asked.

    A voter that has the name of another column gets an underscore.
    """
    abstained: Any = "-1" if np.asarray(classes).dtype.kind == "U" else -1
    labels = np.array([*np.asarray(classes).tolist(), None, abstained], dtype=object)
    columns: dict[str, list[Any]] = {}
    for name, column in zip(names, np.asarray(codes).T, strict=True):
        free = str(name)
        while free in columns or free in _BESIDE_VOTES:
            free += "_"
        columns[free] = labels[column].tolist()
    return columns


def html_table(named: list[tuple[Any, str]], columns: Callable[[], Mapping[str, Any]]) -> str:
    """Return a table for a notebook: names with values, else the first rows of all columns."""
    if named:
        return _html([([str(name)], [value]) for name, value in named])
    table = columns()
    length = len(next(iter(table.values())))
    if length == 1:
        return _html([([name], [_text(values[0])]) for name, values in table.items()])
    rows: list[tuple[list[str], list[str]]] = [
        ([], [_text(v[i]) for v in table.values()]) for i in range(min(length, _SHOWN))
    ]
    more = f"<p>{length - _SHOWN:,} more rows: to_frame()</p>" if length > _SHOWN else ""
    return _html([(list(table), []), *rows]) + more


def _html(rows: list[tuple[list[str], list[str]]]) -> str:
    said = "".join(
        "<tr>"
        + "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in names)
        + "".join(f"<td>{escape(value)}</td>" for value in values)
        + "</tr>"
        for names, values in rows
    )
    # Pages without a document type give tables a colour of their own, black on black.
    return f"<table style='color:inherit'>{said}</table>"


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


# --- Values as JSON.


def plain(value: Any) -> Any:
    """Turn arrays, NumPy scalars and frozen values into what JSON can hold.

    JSON has no infinity and no NaN: both become None.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Frozen):
        return value.to_dict()
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        finite = value.dtype.kind != "f" or np.isfinite(value).all()
        return value.tolist() if finite else plain(value.tolist())
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


# --- Tables of the kind that was passed in.
#
# A public function under `keeps_kind` marks its results with the library of the frame that it was
# given and with the dtypes of groups and labels; ``Result.to_frame`` builds the same kind again.

_P = ParamSpec("_P")
_R = TypeVar("_R")
_V = TypeVar("_V")

_LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf")
# The argument that gives a column of a table its dtype: the first that is a column of a frame.
_LABELS = ("y_true", "y_pred", "y_pred_a", "votes", "weak_labels")
_NAMED_BY = {
    "group": ("groups", "domains"),
    "domain": ("domains", "groups"),
    "class": _LABELS,
    "pos_label": _LABELS,
    "truth": _LABELS,
    "item": ("ids",),
    "prediction": ("y_pred", *_LABELS),
}
_MATCHED = ("swapped",)  # a table whose rows are matched by the names of their items
# No other dtype is kept: that of a category holds all names, and a stored result would have them.
_ARGUMENTS = {name for names in _NAMED_BY.values() for name in names}


@dataclass(frozen=True, slots=True)
class Passed:
    """What kind of frame was passed in, and the dtypes that its table needs, by argument."""

    library: str
    dtypes: Mapping[str, Any] = field(default_factory=dict)
    called: Mapping[str, str] = field(default_factory=dict)  # own names of columns, by karat's


def keeps_kind(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let the results of a public function, or of a method, know the kind of frame passed in.

    Columns of pandas whose rows are not in one order are refused.
    """
    names = tuple(signature(function).parameters)
    anew = function.__name__.startswith("fit")

    @wraps(function)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if anew and args:  # what an earlier fit was given counts no more
            vars(args[0]).pop("_passed", None)
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        refuse_other_order({name: given[name] for name in given if name not in _MATCHED})
        passed = passed_in(**given)
        result = function(*args, **kwargs)
        if passed is not None:
            mark(args[0] if function.__name__ == "__init__" else result, passed)
        return result

    return wrapper


def call_columns(value: _V, called: Mapping[str, str]) -> _V:
    """Return a result, or an estimator, whose tables call their columns as the input did.

    ``called`` holds the input's names by those of the result.
    """
    if called:
        before = getattr(value, "_passed", None) or Passed(library="polars")
        object.__setattr__(value, "_passed", replace(before, called=dict(called)))
    return value


def passed_in(**arguments: Any) -> Passed | None:
    """Return the library of the first argument that has one, and the dtypes of its columns."""
    library: str | None = None
    dtypes: dict[str, Any] = {}
    called: dict[str, str] = {}
    for name, value in arguments.items():
        before = getattr(value, "_passed", None)
        if isinstance(before, Passed):  # counts, or an estimator, that once were given a frame
            library, dtypes = library or before.library, {**before.dtypes, **dtypes}
            called = {**before.called, **called}
            continue
        native = _native(value)
        found = _library(native)
        library = library or found
        if found is None or found != library or name not in _ARGUMENTS:
            continue
        if (dtype := _dtype(native)) is not None:
            dtypes[name] = dtype
    return None if library is None else Passed(library, dtypes, called)


def refuse_other_order(arguments: Mapping[str, Any]) -> None:
    """Refuse columns of pandas that have the same index in two orders: rows go by position.

    >>> import pandas as pd
    >>> y = pd.Series([0, 1, 1], index=["a", "b", "c"])
    >>> refuse_other_order({"y_true": y, "y_score": y[::-1]})
    Traceback (most recent call last):
    ...
    karat.exceptions.DataError: y_score has the index of y_true in another order: row 0 is 'c' in \
    one and 'a' in the other, and rows are matched by position; pass y_score.loc[y_true.index], or \
    y_score.to_numpy() if the rows do belong together
    """
    known: dict[str, Any] = {}
    for name, index in _indexes(arguments):
        for first, other in known.items():
            if len(index) != len(other) or index.equals(other):
                continue
            if not index.sort_values().equals(other.sort_values()):
                continue
            row = int((np.asarray(index) != np.asarray(other)).argmax())
            align = f"{name}.loc[{first}.index], or " if index.is_unique else ""
            raise DataError(
                Argument(name),
                " has the index of ",
                Argument(first),
                " in another order:",
                Row(row, " is "),
                f"{index[row]!r} in one and {other[row]!r} in the other, and rows are matched by "
                "position",
                Remedy(f"pass {align}{name}.to_numpy() if the rows do belong together"),
            )
        known[name] = index


def _indexes(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the row labels of each column and frame of pandas, also of those in a mapping."""
    for name, value in arguments.items():
        if type(value) is dict:
            yield from _indexes({f"{name}[{key!r}]": column for key, column in value.items()})
            continue
        native = _native(value)
        if type(native).__name__ in ("Series", "DataFrame") and _library(native) == "pandas":
            yield name, native.index


def mark(value: Any, passed: Passed) -> None:
    """Mark a result and all results inside it; an estimator, and the results that it keeps.

    What `call_columns` said of one of them stays, unless ``passed`` names columns itself.
    """
    before = getattr(value, "_passed", None)
    if isinstance(before, Passed) and before.called and not passed.called:
        passed = replace(passed, called=before.called)
    if hasattr(type(value), "_passed"):  # a slot: a result, or a source
        object.__setattr__(value, "_passed", passed)
    elif isinstance(value, Mapping):
        _mark_all(value.values(), passed)
        return
    elif isinstance(value, list | tuple):
        _mark_all(value, passed)
        return
    elif hasattr(value, "__dict__"):
        object.__setattr__(value, "_passed", passed)
        _mark_all(vars(value).values(), passed)
        return
    if is_dataclass(value) and type(value).__module__.startswith("karat."):
        _mark_all((getattr(value, f.name) for f in fields(value)), passed)


def _mark_all(values: Any, passed: Passed) -> None:
    for value in values:
        if isinstance(value, list | tuple | Mapping):
            some = next(iter(value.values() if isinstance(value, Mapping) else value), None)
            if is_dataclass(some) or isinstance(some, list | tuple | Mapping):
                mark(value, passed)
        elif is_dataclass(value):
            mark(value, passed)


def frame_of(columns: Mapping[str, Any], passed: Passed | None = None) -> Any:
    """Return a frame of the library that was passed in, else of Polars.

    Columns are arrays or lists; groups and labels get the dtype that they were passed with.
    """
    import narwhals as nw

    library: Any = "polars" if passed is None else passed.library
    require(library, purpose="a table of a result")
    plain = {name: _plain(values) for name, values in columns.items()}
    frame = nw.from_dict(plain, backend=library)
    if passed is None:
        return frame.to_native()
    changed = [
        nw.from_native(again, series_only=True).alias(name)
        for name in columns
        if (dtype := _dtype_of(name, passed)) is not None
        and (again := _cast(frame[name].to_native(), dtype)) is not None
    ]
    frame = frame.with_columns(*changed) if changed else frame
    own = {name: passed.called[name] for name in columns if name in passed.called}
    return frame.rename({a: b for a, b in own.items() if b not in columns}).to_native()


def _native(value: Any) -> Any:
    """Return what narwhals wraps, and of a mapping its first value."""
    if isinstance(value, Mapping) and not hasattr(value, "shape"):  # a sparse array may be a dict
        value = next(iter(value.values()), None)
    return value.to_native() if type(value).__module__.startswith("narwhals.") else value


def _library(value: Any) -> str | None:
    """Return the library of a frame or a column, by its type, so that nothing is imported."""
    for kind in type(value).__mro__:
        library = kind.__module__.partition(".")[0]
        if library in _LIBRARIES:
            return library
    return None


def _dtype(value: Any) -> Any:
    """Return the dtype of a column as its library has it, of a frame that of its first column."""
    if hasattr(value, "collect"):
        return None  # to know it, a lazy frame would have to be run
    found = getattr(value, "dtype", None)
    if found is not None:
        return found
    if hasattr(value, "collect_schema"):  # Polars: asked for its types, a lazy frame would warn
        found = list(value.collect_schema().values())
        return found[0] if found else None
    dtypes = getattr(value, "dtypes", None)
    if dtypes is not None and len(dtypes):
        return dtypes.iloc[0] if hasattr(dtypes, "iloc") else dtypes[0]
    types = getattr(getattr(value, "schema", None), "types", None)
    return types[0] if types else getattr(value, "type", None)


def _dtype_of(column: str, passed: Passed) -> Any:
    for argument in _NAMED_BY.get(column, ()):
        if argument in passed.dtypes:
            return passed.dtypes[argument]
    return None


def _cast(series: Any, dtype: Any) -> Any:
    """Return a column with the dtype, None where its values would not be the same."""
    import narwhals as nw

    try:
        again = series.astype(dtype) if hasattr(series, "astype") else series.cast(dtype)
        before, after = (nw.from_native(s, series_only=True).to_list() for s in (series, again))
        return again if before == after else None
    except Exception:  # each library refuses in its own way, and the values then stay as they are
        return None


def _plain(values: Any) -> Any:
    """Return a column that every library reads alike."""
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "biuf":
            return np.ascontiguousarray(values)
        values = values.tolist()
    listed = [v.item() if isinstance(v, np.generic) else v for v in values]
    # Half of a surrogate pair is text that no frame can hold.
    listed = [
        v.encode("utf-8", "backslashreplace").decode() if isinstance(v, str) else v for v in listed
    ]
    kinds = {type(v) for v in listed} - {type(None)}
    if len(kinds) > 1 and not kinds <= {int, float}:
        return [None if v is None else str(v) for v in listed]
    return listed
