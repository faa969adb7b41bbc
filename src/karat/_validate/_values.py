"""What users pass: columns of any frame as arrays, numbers in their range, options by name."""

import warnings
from collections.abc import Iterator, KeysView, Mapping, Sequence, Set, ValuesView
from decimal import Decimal
from functools import reduce
from typing import Any, Literal, NoReturn, overload

import numpy as np

from karat._callers import caller_level
from karat._sentences import (
    Argument,
    Expected,
    Given,
    Option,
    Part,
    Remedy,
    Row,
    Sentence,
    Wording,
    shown,
)
from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame
from karat.exceptions import (
    ColumnError,
    DataError,
    EmptyDataError,
    KaratWarning,
    LabelError,
    LazyFrameError,
    LengthMismatchError,
    OptionError,
    ProbabilityError,
    ScoreError,
    ShapeError,
    WeightError,
)

# Loose enough for a finite difference, tight enough to notice counts and percentages.
_TOLERANCE = 1e-3


def check_confusions(confusion: Any) -> tuple[FloatArray, bool]:
    """Return a stack (b, k, k) of confusions that each sum to 1, and whether one was passed.

    A stack may hold one confusion per group that together sum to 1 (joint probabilities of
    group, truth and prediction) or separate confusions that each sum to 1; both come out as
    the latter. An empty group comes out as NaN.
    """
    try:
        table = np.asarray(confusion, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ShapeError(
            Argument("the confusion"),
            " is ",
            Given(confusion),
            "; expected ",
            Expected("k×k joint probabilities"),
        ) from error
    if table.ndim not in (2, 3) or table.shape[-1] != table.shape[-2] or table.shape[-1] < 2:
        raise ShapeError(
            Argument("the confusion"),
            " has shape ",
            Given(table.shape),
            "; expected ",
            Expected(
                "k×k, or groups×k×k, with k at least 2 (rows are the truth, columns the prediction)"
            ),
        )
    if table.size == 0:
        raise ShapeError(Argument("the stack"), " holds no confusion", Remedy("pass at least one"))
    if not np.isfinite(table).all():
        raise ProbabilityError(
            Argument("the confusion"),
            " holds a value that is not a finite number; expected ",
            Expected("joint probabilities"),
        )
    if table.min() < -_TOLERANCE:
        raise ProbabilityError(
            Argument("the confusion"),
            f" holds {table.min():.6g}; expected ",
            Expected("joint probabilities of at least 0"),
        )
    stack = table[None] if table.ndim == 2 else table
    sums = stack.sum(axis=(1, 2))
    if np.abs(sums - 1.0).max() <= _TOLERANCE:
        return stack, table.ndim == 2
    if table.ndim == 2 or abs(sums.sum() - 1.0) > _TOLERANCE:
        raise ProbabilityError(
            Argument("the confusion"),
            f" sums to {sums.sum():.6g}; expected ",
            Expected("joint probabilities that sum to 1"),
            Remedy("If these are counts, divide them by their sum", after=". "),
        )
    with np.errstate(invalid="ignore"):
        return stack / np.where(sums > 0, sums, np.nan)[:, None, None], False


# --- Scores, probabilities and weights.

# How far from 1 the sum of rounded probabilities may be: two decimals of a few classes.
ROUNDED = 0.01 + 1e-9  # .99 itself is not above it


def _as_floats(values: Column, name: str | Argument, error: type[DataError]) -> FloatArray:
    """Return a column of finite numbers as float64."""
    array, mask = read_column(values, name)
    if array.dtype.kind == "U":
        text = quoted_text(array, mask)
        raise error(Argument.of(name), " holds text (", text, "); expected ", Expected("numbers"))
    floats = array.astype(np.float64, copy=False)
    if mask is None and all_finite(floats):
        return floats
    broken = ~np.isfinite(floats)
    if mask is not None:
        broken = broken | mask
    if broken.any():
        row = int(np.flatnonzero(broken)[0])
        missing = mask is not None and bool(mask[row])
        raise error(
            Argument.of(name),
            Row(row, " is "),
            "missing or NaN" if missing else Given(floats[row]),
            f" ({int(broken.sum())} such rows in all); expected ",
            Expected("finite numbers"),
            Remedy("Drop these rows or fill them in", after=". "),
        )
    return floats


def check_scores(y_score: Column, name: str | Argument = "y_score") -> FloatArray:
    """Check real scores, one per row."""
    return _as_floats(y_score, name, ScoreError)


def check_ranked(y_score: Column, name: str | Argument = "y_score") -> AnyArray:
    """Check real scores of which only the order counts.

    Whole numbers that floats would round to one another, beyond 2^53, stay whole numbers.
    """
    array, mask = read_column(y_score, name)
    if mask is None and array.dtype.kind == "i" and is_beyond_floats(array.min(), array.max()):
        return array
    return check_scores(y_score, name)


def is_beyond_floats(least: Any, greatest: Any) -> bool:
    """Return whether some whole numbers between two are no floats."""
    return int(greatest) > 2**53 or int(least) < -(2**53)


def check_score_columns(
    scores: Frame,
    name: str | Argument,
    *,
    each: str,
    classes: AnyArray | None = None,
    ranked: bool = False,
) -> dict[Any, FloatArray]:
    """Check several columns of real scores; with ``classes``, one for each and in their order.

    Of scores that are ``ranked`` only the order counts.
    """
    check = check_ranked if ranked else check_scores
    columns, names = read_columns(scores, name, each=each)
    if len(set(names)) < len(names):
        raise ColumnError(
            Argument.of(name),
            f" has the columns {named(names)}; expected ",
            Expected("every name once"),
        )
    if classes is not None and len(columns) != len(classes):
        raise ShapeError(
            Argument.of(name),
            f" has {len(columns)} columns and there are {len(classes)} classes ",
            named(list(classes)),
            Remedy(
                "pass one column per class, and ",
                Option("classes"),
                " to name them",
                elsewhere="pass one column per class",
            ),
        )
    floats = {
        column: check(
            array if mask is None else np.ma.array(array, mask=mask), Argument.of(name, column)
        )
        for column, (array, mask) in zip(names, columns, strict=True)
    }
    if classes is None:
        return floats
    return dict(
        zip(
            classes.tolist(),
            _in_class_order(list(floats.values()), names, classes, name),
            strict=True,
        )
    )


def check_weights(
    sample_weight: Column | None, name: str | Argument = "sample_weight"
) -> FloatArray | None:
    """Check sample weights: finite, none negative, not all zero."""
    if sample_weight is None:
        return None
    weights = _as_floats(sample_weight, name, WeightError)
    if (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0])
        raise WeightError(
            Argument.of(name),
            Row(row, " is "),
            Given(weights[row]),
            "; expected ",
            Expected("weights of at least 0"),
            Remedy("Drop the row or give it the weight 0", after=". "),
        )
    if not weights.any():
        raise WeightError(
            Argument.of(name), " is zero in every row", Remedy("give at least one row a weight")
        )
    return weights


def check_weighting(
    weighting: str | None, weights: FloatArray | None, name: str | Argument = "sample_weight"
) -> bool:
    """Return whether weights are importances, as they are unless said to be numbers of rows."""
    kind = check_choice(weighting, "weighting", ("frequency", "importance"), none=True)
    if weights is None:
        return False
    if kind != "frequency":
        return True
    broken = np.flatnonzero(weights != np.floor(weights))
    if broken.size:
        raise WeightError(
            Argument.of(name),
            Row(broken[0], " is "),
            f"{weights[broken[0]]:g} and ",
            Option("weighting", "frequency"),
            " counts rows",
            Remedy("pass whole numbers, or ", Option("weighting", "importance")),
            given=float(weights[broken[0]]),
        )
    return False


def check_probabilities(
    proba: Frame,
    name: str | Argument,
    *,
    classes: AnyArray | None = None,
    n_classes: int | None = None,
) -> FloatArray:
    """Check class probabilities: n×k, within [0, 1], each row summing to 1.

    Rows that were rounded, and sum to 1 within .01, are divided by their sums, with a note.
    """
    columns, names = read_columns(proba, name, each="column per class")
    k = n_classes if classes is None else len(classes)
    if k is not None and len(columns) != k:
        which = "" if classes is None else f" {named(list(classes))}"
        raise ShapeError(
            Argument.of(name),
            f" has {len(columns)} columns and there are {k} classes{which}",
            Remedy(
                "pass one column of probabilities per class, and ",
                Option("classes"),
                " if some class does not occur here",
                elsewhere="pass one column of probabilities per class",
            ),
        )
    if classes is not None:
        columns = _in_class_order(columns, names, classes, name)
    precision = max((np.finfo(a.dtype).eps for a, _ in columns if a.dtype.kind == "f"), default=0.0)
    floats = [_as_floats_of(a, m, Argument.of(name, j)) for j, (a, m) in enumerate(columns)]
    matrix = np.column_stack(floats)
    # Rounding of the type that was passed is fine: a float32 softmax does not sum to 1 exactly.
    tolerance = max(1e-6, 4.0 * matrix.shape[1] * float(precision))
    if matrix.min() < -tolerance or matrix.max() > 1 + tolerance:
        outside = (matrix < -tolerance) | (matrix > 1 + tolerance)
        row, column = (int(i) for i in np.argwhere(outside)[0])
        raise ProbabilityError(
            Argument.of(name),
            Row(row, ","),
            f" column {column} is ",
            Given(matrix[row, column]),
            "; expected ",
            Expected("probabilities between 0 and 1"),
            Remedy("Apply a softmax, or pass labels", after=". "),
            column=column,
        )
    sums = reduce(np.add, floats)  # faster than along rows of few columns
    worst = max(sums.max() - 1.0, 1.0 - sums.min())
    if worst > ROUNDED:
        row = int(np.flatnonzero(np.abs(sums - 1.0) > ROUNDED)[0])
        raise ProbabilityError(
            Argument.of(name),
            Row(row, f" sums to {sums[row]:.6g}; expected "),
            Expected("1"),
            Remedy("Divide each row by its sum, or add the column that is missing", after=". "),
        )
    if worst > tolerance:
        matrix = matrix.clip(0.0, 1.0)
        matrix /= matrix.sum(axis=1, keepdims=True)
        warnings.warn(
            KaratWarning(
                Argument.of(name),
                f": {int((np.abs(sums - 1.0) > tolerance).sum()):,} rows sum to "
                f"between {sums.min():.6g} and {sums.max():.6g}, as rounded probabilities do; they "
                "were divided by their sums",
            ),
            stacklevel=caller_level(),
        )
    return np.clip(matrix, 0.0, 1.0, out=matrix)


def _in_class_order(
    columns: list[Any], passed: list[Any], classes: AnyArray, name: str | Argument
) -> list[Any]:
    """Put columns that are named after the classes into the order of the classes."""
    # A column may be called '1' where the class is 1.
    order, names = [str(c) for c in classes.tolist()], [str(column) for column in passed]
    known = [column for column in names if column in order]
    if names == [str(j) for j in range(len(names))] or not known:
        return columns  # positions, or names of another kind: the caller's order counts
    if sorted(names) != sorted(order):
        raise ColumnError(
            Argument.of(name),
            f" has the columns {named(names)} and the classes are {named(order)}",
            Remedy("name every column after its class, or none"),
        )
    return [columns[names.index(c)] for c in order]


def _as_floats_of(array: AnyArray, mask: AnyArray | None, name: Argument) -> FloatArray:
    if mask is not None:
        row = int(np.flatnonzero(mask)[0])
        raise ProbabilityError(
            name, Row(row, " is missing or NaN"), Remedy("drop the row or fill it in")
        )
    return _as_floats(array, name, ProbabilityError)


def check_finite_matrix(values: Any, name: str | Argument) -> FloatArray:
    """Check a small matrix of numbers, such as the weights of a metric."""
    native_frame(values, name)  # refuses a lazy frame
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex numbers")
        matrix = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ShapeError(
            Argument.of(name), " is ", Given(values), "; expected ", Expected("a matrix of numbers")
        ) from error
    if not np.isfinite(matrix).all():
        first = tuple(int(i) for i in np.argwhere(~np.isfinite(matrix))[0])
        raise DataError(
            Argument.of(name),
            f" holds {matrix[first]} at {first}; expected ",
            Expected("finite numbers"),
        )
    return matrix


# --- Options: one of a list, a number in a range, a seed; and how a refused value is shown.


def refuse_option(value: Any, name: str | Argument, *expected: Part) -> NoReturn:
    """Raise the error of an option that is not among what a function takes."""
    raise OptionError(Argument.of(name), " is ", Given(value), "; expected ", Expected(*expected))


@overload
def check_choice(value: Any, name: str | Argument, choices: Sequence[str]) -> str: ...
@overload
def check_choice(
    value: Any, name: str | Argument, choices: Sequence[str], *, none: Literal[True]
) -> str | None: ...
def check_choice(
    value: Any, name: str | Argument, choices: Sequence[str], *, none: bool = False
) -> str | None:
    """Check one of a few words; or None, where that leaves the choice to karat."""
    if none and value is None:
        return None
    if not isinstance(value, str) or value not in choices:
        words = [repr(choice) for choice in choices]
        # An option that is left out is None in Python alone.
        wanted = Wording(_either([*words, "None"]), elsewhere=_either(words))
        refuse_option(value, name, wanted if none else _either(words))
    return value


def _either(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def check_pos_label(pos_label: Any, classes: AnyArray) -> int:
    """Check that ``pos_label`` is one of the classes, and return its position among them."""
    known = classes.tolist()
    single = np.isscalar(pos_label) or isinstance(pos_label, np.generic)
    hits = np.flatnonzero([single and bool(c == pos_label) for c in known])
    if hits.size == 0:
        most = 8  # classes that a sentence can list
        words = [shown(c) for c in known[:most]]
        some = f"one of {len(known)} classes, such as {', '.join(words[:-1])}"
        refuse_option(pos_label, "pos_label", _either(words) if len(known) <= most else some)
    return int(hits[0])


def check_number(
    value: Any,
    name: str | Argument,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
) -> float:
    """Check a single finite number."""
    number = _as_number(value)
    too_low = at_least is not None and not number >= at_least
    too_low = too_low or (above is not None and not number > above)
    too_high = at_most is not None and not number <= at_most
    if not np.isfinite(number) or too_low or too_high:
        wanted = "a finite number" if at_least is None else f"a number of at least {at_least:g}"
        wanted = wanted if above is None else f"a number above {above:g}"
        wanted += "" if at_most is None else f" and at most {at_most:g}"
        refuse_option(value, name, wanted)
    return number


def check_count(value: Any, name: str | Argument, *, at_least: int = 1) -> int:
    """Check a whole number."""
    number = _as_number(value)
    if not (np.isfinite(number) and number == int(number) and number >= at_least):
        refuse_option(value, name, f"a whole number of at least {at_least}")
    return int(value)  # not from the float, which rounds long numbers


def check_confidence(confidence: Any) -> float:
    """Check a probability that is neither 0 nor 1: the ``confidence=`` of every public function."""
    level = _as_number(confidence)
    if not 0.0 < level < 1.0:
        refuse_option(confidence, "confidence", "a number between 0 and 1, such as 0.95")
    return level


def check_flag(value: Any, name: str | Argument) -> bool:
    """Check a yes or no."""
    if not isinstance(value, bool | np.bool_):
        refuse_option(value, name, "True or False")
    return bool(value)


def check_rng(rng: Any) -> np.random.Generator:
    """Return a generator from a seed, a generator or nothing."""
    try:
        return np.random.default_rng(_refuse_flag(rng))
    except (TypeError, ValueError):
        refuse_option(
            rng,
            "rng",
            "a whole number of at least 0",
            Wording(", a numpy Generator or None", elsewhere=""),
        )


def check_seed(rng: Any) -> int:
    """Return a seed that can be kept and used again: the one passed, or a drawn one."""
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    return int(check_rng(rng).integers(2**63))


def check_fitted(estimator: Any, attribute: str, call: str = "fit") -> None:
    """Refuse an estimator that lacks ``attribute``, which its ``fit`` sets.

    The error is scikit-learn's own, so that whoever catches that one catches this one.
    """
    if not hasattr(estimator, attribute):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"this {type(estimator).__name__} is not fitted; call {call} first")


def _as_number(value: Any) -> float:
    """Return ``value`` as a float; NaN if it is no number, infinity if it is too large for one."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _refuse_flag(rng: Any) -> Any:
    if isinstance(rng, bool):  # NumPy takes True as the seed 1
        raise TypeError("a flag is no seed")
    return rng


def odd_text(values: AnyArray, mask: BoolArray | None = None) -> int | None:
    """Return the first row of a column of text whose text is no number; None if there is none."""
    for row, text in enumerate(values.tolist()):
        if (mask is None or not mask[row]) and not _is_number(text):
            return row
    return None


def quoted_text(
    values: AnyArray, mask: BoolArray | None = None, *, distinct: bool = False
) -> Sentence:
    """Return the cell that makes a column one of text, for a message, and where it stands.

    Of ``distinct`` values nobody knows the rows.

    >>> quoted_text(np.array(["0.1", "0.7", "high"]))
    "row 2: 'high'"
    >>> quoted_text(np.array(["low", "high"]))
    "first 'low'"
    """
    row = odd_text(values, mask) or 0
    text = str(values[row])
    quoted = repr(text if len(text) <= 60 else f"{text[:57]}...")
    if not row:
        return Sentence(f"first {quoted}")
    such = f"such as {quoted}"
    return Sentence(such if distinct else Row(row, f": {quoted}", such, before=""))


def _is_number(text: Any) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


# --- Columns of any kind of frame, list or array as NumPy arrays of one length.

# The only dtype kinds that leave this module: boolean, signed, unsigned, float, text.
_KINDS = "biufU"


def named(names: Sequence[Any], most: int = 8) -> str:
    """Return a short list of names for a message."""
    listed = ", ".join(shown(name) for name in names[:most])
    return f"[{listed}, ...] ({len(names)} in all)" if len(names) > most else f"[{listed}]"


def read_column(
    values: Any, name: str | Argument, *, null: int | None = None
) -> tuple[AnyArray, BoolArray | None]:
    """Return a non-empty one-dimensional array and a mask of missing values (None: none missing).

    Where the mask is true, the array holds an arbitrary value of its own type.
    """
    _refuse_what_is_no_column(values, name)
    array, mask = _native_series(values, name)
    if array is None:
        array, mask = _plain_array(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
        mask = mask if mask is None else mask.reshape(-1)
    if array.ndim != 1:
        raise ShapeError(
            Argument.of(name),
            " has shape ",
            Given(array.shape),
            "; expected ",
            Expected("one value per row, shape (n,)"),
            Remedy("Pass a single column", after=". "),
        )
    if array.size == 0:
        raise EmptyDataError(Argument.of(name), " has no rows", Remedy("pass at least one"))
    return _plain_column(array, mask, name, null)


def read_columns(
    values: Any, name: str | Argument, *, null: int | None = None, each: str = "column"
) -> tuple[list[tuple[AnyArray, BoolArray | None]], list[Any]]:
    """Return the columns of a matrix or frame, each as `read_column` does, and their names.

    Names are as they were passed, which in pandas may be numbers; those of a matrix are its
    positions as text.
    The integer ``null`` may stand in a column of text, where it becomes text too. ``each`` says
    what a column stands for, for messages.
    """
    frame = native_frame(values, name)
    if frame is not None:
        columns = [
            read_column(series, Argument.of(name, series.name), null=null)
            for series in frame.iter_columns()  # by position: a pandas name may be an integer
        ]
        if not columns:
            raise ShapeError(Argument.of(name), " has no columns", Remedy("pass at least one"))
        return columns, list(frame.columns)
    _refuse_what_is_no_column(values, name)
    array, mask = _plain_array(values, name)
    if array.shape[0] == 0:
        raise EmptyDataError(Argument.of(name), " has no rows", Remedy("pass at least one"))
    if array.ndim != 2:
        raise ShapeError(
            Argument.of(name),
            " has shape ",
            Given(array.shape),
            "; expected ",
            Expected(f"one row per item and one {each}, shape (n, m)"),
        )
    if array.shape[1] == 0:
        raise ShapeError(Argument.of(name), " has no columns", Remedy("pass at least one"))
    return [
        _plain_column(array[:, j], None if mask is None else mask[:, j], Argument.of(name, j), null)
        for j in range(array.shape[1])
    ], [str(j) for j in range(array.shape[1])]


def _refuse_what_is_no_column(values: Any, name: str | Argument) -> None:
    """Refuse what NumPy would quietly turn into one object."""
    if isinstance(values, str | bytes):
        raise ColumnError(
            Argument.of(name),
            " is the text ",
            Given(values),
            Remedy(f"pass the values themselves, one per row, for example frame[{shown(values)}]"),
        )
    if values is None or np.isscalar(values):
        raise ShapeError(Argument.of(name), " is ", Given(values), Remedy("pass one value per row"))
    if isinstance(values, Mapping | Set | Iterator | KeysView | ValuesView):
        raise ShapeError(
            Argument.of(name),
            f" is a {type(values).__name__}",
            Remedy("pass a list, an array or a column, whose order is that of the rows"),
            given=type(values).__name__,
        )


def _plain_array(values: Any, name: str | Argument) -> tuple[AnyArray, BoolArray | None]:
    """Return what NumPy makes of ``values``; a list that mixes types stays a list of objects."""
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(values.data), np.ma.getmaskarray(values)
    if type(values) is np.ndarray:
        return values, None
    try:
        array = np.asarray(values)
        if array.dtype.kind in "US" and isinstance(values, list | tuple):
            # NumPy turns [1, "a"] into text; keep the objects so that the mix is noticed.
            array = np.asarray(values, dtype=object)
    except ValueError as error:
        raise ShapeError(
            Argument.of(name), " has rows of different lengths", Remedy("pass a rectangular array")
        ) from error
    except Exception as error:  # a tensor on another device raises whatever it likes
        raise ShapeError(
            Argument.of(name),
            f" is a {type(values).__name__} that NumPy cannot read ({error})",
            Remedy("convert it to an array first, for example with .detach().cpu().numpy()"),
            given=type(values).__name__,
        ) from error
    if array.ndim == 0:
        raise ShapeError(
            Argument.of(name),
            f" is a {type(values).__name__}",
            Remedy("pass a list, an array or a column with one value per row"),
            given=type(values).__name__,
        )
    return array, None


def _plain_column(
    array: AnyArray, mask: BoolArray | None, name: str | Argument, null: int | None
) -> tuple[AnyArray, BoolArray | None]:
    """Give a column one of the plain dtypes and mark its missing values."""
    if array.dtype.kind in "ST":
        array = array.astype(object)
    if array.dtype.kind == "O":
        array, mask = _plain_objects(array, mask, name, null)
    if array.dtype.kind not in _KINDS:
        raise DataError(
            Argument.of(name),
            f" has dtype {array.dtype}; expected ",
            Expected("integers, booleans, floats or text"),
            Remedy("Convert it first", after=". "),
            given=str(array.dtype),
        )
    if array.dtype.kind == "u":
        if array.size and array.max() > np.iinfo(np.int64).max:
            row = int(array.argmax())
            raise LabelError(
                Argument.of(name),
                Row(row, " holds "),
                Given(array[row]),
                ", which is beyond 2^63",
                Remedy("pass such identifiers as text"),
            )
        array = array.astype(np.int64)
    if array.dtype.kind == "f" and not all_finite(array):
        missing = np.isnan(array)
        if missing.any():
            mask = missing if mask is None else mask | missing
    return array, mask if mask is not None and mask.any() else None


def all_finite(array: AnyArray) -> bool:
    """Whether no entry is NaN or infinite; a sum that says no may be wrong, and is then redone."""
    with np.errstate(all="ignore"):
        total = array.sum()  # one pass with no memory, where isfinite needs two and a mask
    return bool(np.isfinite(total)) or bool(np.isfinite(array).all())


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


def _plain_objects(
    array: AnyArray, mask: BoolArray | None, name: str | Argument, null: int | None
) -> tuple[AnyArray, BoolArray | None]:
    types = set(map(type, array))
    if mask is None and types <= {str, type(None)} and str in types:  # common, so in fast passes
        absent: BoolArray = np.asarray(array == None, dtype=bool)  # noqa: E711
        return np.where(absent, "", array).astype(str), absent
    missing = np.fromiter((_is_missing(v) for v in array), dtype=bool, count=len(array))
    if mask is not None:
        missing |= mask
    array = _null_like_the_rest(array, missing, null)
    present = np.flatnonzero(~missing)
    if present.size == 0:
        return np.zeros(len(array)), missing
    kinds = np.fromiter((_kind(array[i]) for i in present), dtype="U1", count=present.size)
    odd = np.flatnonzero(kinds != kinds[0])
    if odd.size:
        first, other = array[present[0]], array[present[odd[0]]]
        raise LabelError(
            Argument.of(name),
            " mixes types: ",
            Row(present[0], " holds ", "", before=""),
            f"{shown(first)} ({type(first).__name__}) and ",
            Row(present[odd[0]], " holds ", "", before=""),
            f"{shown(other)} ({type(other).__name__})",
            Remedy("convert the column to one type"),
        )
    if kinds[0] == "?":
        first = array[present[0]]
        raise DataError(
            Argument.of(name),
            Row(present[0], " holds "),
            Given(first),
            f" ({type(first).__name__}); expected ",
            Expected("integers, booleans, floats or text"),
        )
    kept = np.array([_converted(v) for v in array[present].tolist()])
    if kept.dtype.kind == "O":
        raise LabelError(
            Argument.of(name),
            " holds an integer beyond 2^63",
            Remedy("pass such identifiers as text"),
        )
    plain = np.zeros(len(array), dtype=kept.dtype)
    plain[present] = kept
    return plain, missing


def _null_like_the_rest(array: AnyArray, missing: BoolArray, null: int | None) -> AnyArray:
    """Return the column with ``null`` as text if the other values are text."""
    if null is None:
        return array
    stands = [not m and _kind(v) == "n" and v == null for v, m in zip(array, missing, strict=True)]
    is_null = np.array(stands, dtype=bool)
    others = np.flatnonzero(~(missing | is_null))
    if not is_null.any() or others.size == 0 or _kind(array[others[0]]) != "U":
        return array
    changed = array.copy()
    changed[is_null] = str(null)
    return changed


def _kind(value: Any) -> str:
    if isinstance(value, str | bytes):
        return "U"
    if isinstance(value, bool | np.bool_):
        return "b"
    if isinstance(value, int | float | np.integer | np.floating | Decimal):
        return "n"
    return "?"


def _converted(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return float(value) if isinstance(value, Decimal) else value


def _native_series(values: Any, name: str | Argument) -> tuple[AnyArray | None, BoolArray | None]:
    """Return array and mask of a series, or of the only column of a frame; else (None, None)."""
    frame = native_frame(values, name)
    if frame is None:
        series = seen_by_narwhals(values, name)
        if series is None:
            return None, None
    elif len(frame.columns) == 1:
        series = next(frame.iter_columns())
    else:
        some = len(frame.columns) > 0
        raise ColumnError(
            Argument.of(name),
            f" is a frame with {f'the columns {named(frame.columns)}' if some else 'no columns'}"
            "; expected ",
            Expected("one column"),
            *(
                Remedy(f"Pass it by name, for example frame[{shown(column)}]", after=". ")
                for column in frame.columns[:1]
            ),
        )
    if str(series.dtype) in ("Int128", "UInt128"):
        series = _in_64_bits(series, name)
    null = series.is_null()
    mask = np.asarray(null.to_numpy(), dtype=bool)
    if not mask.any():
        return _series_array(series), None
    # Drop the nulls before the conversion: with them, integers would become floats.
    kept = _series_array(series.filter(~null))
    if kept.dtype.kind == "O" and set(map(type, kept)) == {str}:
        kept = kept.astype(str)  # so that the column is known to be text
    array = np.zeros(len(mask), dtype=kept.dtype)
    array[~mask] = kept
    return array, mask


def _in_64_bits(series: Any, name: str | Argument) -> Any:
    """Return whole numbers that fit into 64 bits as such; name the first that does not."""
    import narwhals as nw

    beyond = ((series > 2**63 - 1) | (series < -(2**63))).fill_null(value=False)
    if not beyond.any():
        return series.cast(nw.Int64)
    row = int(beyond.arg_max())
    raise LabelError(
        Argument.of(name),
        Row(row, " holds "),
        Given(str(series[row])),
        ", a whole number beyond 2^63",
        Remedy("pass labels and identifiers as text, and scores as decimal numbers"),
    )


def _series_array(series: Any) -> AnyArray:
    native = series.to_native()
    if "dictionary" in str(getattr(native, "type", "")):  # PyArrow hands out codes, not values
        native = native.cast(native.type.value_type)
        return np.asarray(native.to_numpy())
    return np.asarray(series.to_numpy())


# --- Frames of every library, and lazy ones, which are collected once or refused.
#
# A lazy frame is a query: each run of it may give the rows in another order. Two columns that are
# collected apart are then paired wrongly, without a sign of it. So every reader refuses a lazy
# frame, and a function whose answer does not depend on the order of the rows collects the frame
# once, with `collected_alone`, before it reads.

# How each library runs a lazy frame; any other one is run by narwhals.
_RUN = {
    "polars": "lazy.collect()",
    "duckdb": "relation.pl()",
    "pyspark": "frame.toPandas()",
    "dask": "frame.compute()",
    "ibis": "table.to_polars()",
}
# Libraries whose columns run the query of their frame when NumPy reads them.
_LAZY_COLUMNS = {"dask", "ibis", "pyspark"}


def seen_by_narwhals(values: Any, name: str | Argument) -> Any:
    """Return a narwhals Series or frame if that is what ``values`` is, else None."""
    if isinstance(values, np.ndarray | list | tuple | range):
        return None
    import narwhals as nw

    try:
        seen = nw.from_native(values, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ColumnError(
            Argument.of(name), " has two columns of the same name", Remedy("rename one of them")
        ) from error
    return seen if isinstance(seen, nw.Series | nw.DataFrame | nw.LazyFrame) else None


def native_frame(values: Any, name: str | Argument) -> Any:
    """Return a narwhals DataFrame if ``values`` is a frame, else None; refuse a lazy frame."""
    seen = seen_by_narwhals(values, name)
    if hasattr(seen, "collect"):
        raise _refusal(str(seen.implementation), name)
    if seen is None and (library := type(values).__module__.partition(".")[0]) in _LAZY_COLUMNS:
        raise _refusal(library, name)
    return seen if hasattr(seen, "iter_columns") else None


def is_lazy(values: Any) -> bool:
    """Return whether ``values`` is a lazy frame, such as a DuckDB relation."""
    return hasattr(seen_by_narwhals(values, "the frame"), "collect")


def refuse_lazy(**arguments: Any) -> None:
    """Refuse lazy frames among arguments that karat hands on without reading them."""
    for name, values in arguments.items():
        native_frame(values, name)


def collected_alone(values: Any, name: str | Argument, *beside: Any) -> Any:
    """Return a lazy frame after collecting it once; anything else as it is.

    ``beside`` holds the other arguments with one value per row. Where one of them is given, a lazy
    frame is refused: its rows would have to come in the order of that argument.
    """
    seen = seen_by_narwhals(values, name)
    if not hasattr(seen, "collect"):
        return values
    if any(other is not None for other in beside):
        raise _refusal(str(seen.implementation), name)
    return seen.collect()


def _refusal(library: str, name: str | Argument) -> LazyFrameError:
    run = _RUN.get(library, "narwhals.from_native(lazy).collect()")
    return LazyFrameError(
        Argument.of(name),
        f" is a lazy frame of {library}, and rows of a lazy frame come in no fixed "
        "order, so they cannot be matched with other rows",
        Remedy(
            f"run the query once, frame = {run}, and pass the columns of that one frame, or pass "
            "the lazy frame itself to karat.scan, which collects its columns together or counts "
            "them"
        ),
    )


def check_same_length(**arrays: Any) -> None:
    """Check that all arrays that are not None have as many rows as the first one."""
    lengths = {name: len(a) for name, a in arrays.items() if a is not None}
    first, *others = lengths
    for other in others:
        if lengths[other] != lengths[first]:
            raise LengthMismatchError(
                Argument.of(other),
                f" has {lengths[other]} rows and ",
                Argument.of(first),
                f" has {lengths[first]}",
                Remedy("pass one row of each per item"),
                given=lengths[other],
            )


def is_matrix(values: Any) -> bool:
    """Return whether ``values`` has several columns of numbers: probabilities, not labels."""
    if isinstance(values, list | tuple):
        first: Any = values[0] if values else 0
        return hasattr(first, "__len__") and not isinstance(first, str | bytes) and len(first) > 1
    if isinstance(values, np.ndarray):
        return values.ndim > 1 and values.shape[1] > 1
    import narwhals as nw

    seen = nw.from_native(values, pass_through=True)
    if isinstance(seen, nw.DataFrame | nw.LazyFrame):
        kinds = list(seen.collect_schema().values())
        # A frame with a column that is no number cannot be probabilities: someone passed a table.
        return len(kinds) > 1 and all(kind.is_numeric() for kind in kinds)
    shape = getattr(values, "shape", None)
    return isinstance(shape, tuple) and len(shape) > 1 and shape[1] > 1
