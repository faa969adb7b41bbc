"""P(Y | Z) of each pattern, from a label model or from an array of one row per item."""

from typing import Any

import numpy as np

from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_fitted,
    check_probabilities,
    check_same_length,
    named,
    refuse_lazy,
)
from karat.exceptions import ColumnError, DataError, LabelError, ProbabilityError
from karat.statistics import Patterns
from karat.statistics.kernels import recode
from karat.votes.reading import read_weak_labels

__all__ = ["by_name", "classes_of", "null_of", "pattern_posterior", "proba_of_patterns"]


def null_of(label_model: Any, weak_labels: Any, null: str | None) -> str:
    """Return what a null in ``weak_labels`` is: as passed, or as it was when the model was fitted.

    Counted patterns hold no nulls any more, so the memory of a label model is not for them.
    """
    if null is None and not isinstance(weak_labels, Patterns):
        null = getattr(label_model, "null_", None)
    return "not asked" if null is None else null


def pattern_posterior(
    label_model: Any,
    weak_labels: Frame | Patterns,
    *,
    classes: Column | None = None,
    also: dict[str, AnyArray] | None = None,
    sample_weight: Column | None = None,
    null: str = "not asked",
    by_row: bool = False,
) -> tuple[Patterns, FloatArray]:
    """Return the patterns of ``weak_labels`` and P(Y | Z) of each; ``also`` as in encoding."""
    refuse_lazy(weak_labels=weak_labels)
    if classes is None:
        classes = classes_of(label_model)
    found = read_weak_labels(
        weak_labels,
        classes,
        sample_weight=sample_weight,
        also=also if classes is None else None,
        null=null,
        by_row=by_row or not hasattr(label_model, "predict_proba"),
    )
    return found, proba_of_patterns(label_model, found)


def classes_of(label_model: Any) -> AnyArray | None:
    """Return the classes of a fitted label model, or None if an array was passed."""
    if isinstance(label_model, type):
        name = label_model.__name__
        raise DataError(
            f"label_model is the class {name}; pass a fitted object, {name}().fit(weak_labels)"
        )
    if not hasattr(label_model, "predict_proba"):
        return None
    if hasattr(label_model, "fit"):
        check_fitted(label_model, "classes_", "fit(weak_labels)")
    if getattr(label_model, "classes_", None) is None:
        raise DataError(
            f"label_model is a {type(label_model).__name__} without classes_; give it the classes "
            "in the order of its columns, or pass P(Y | Z) as an array"
        )
    return np.asarray(label_model.classes_)


def proba_of_patterns(label_model: Any, found: Patterns) -> FloatArray:
    """Return P(Y | pattern), one row per pattern, columns in the order of the patterns' classes."""
    known = classes_of(label_model)
    if known is None:
        return _by_pattern(label_model, found)
    order = found.classes.tolist()
    if set(known.tolist()) != set(order):
        raise LabelError(
            f"the label model knows the classes {known.tolist()} and the data the classes {order}; "
            "fit it with classes= these, or pass classes= those"
        )
    places = [known.tolist().index(c) for c in order]
    if hasattr(label_model, "predict_pattern_proba"):
        # A vote for class c is the model's code places[c].
        codes = recode(by_name(label_model, found), np.array(places))
        proba = label_model.predict_pattern_proba(codes)
    else:
        proba = label_model.predict_proba(_as_labels(found))
    return check_probabilities(proba, "label_model.predict_proba(...)", classes=known)[:, places]


def by_name(label_model: Any, found: Patterns, *, absent: bool = False) -> IntArray:
    """Return the patterns with a column for each labeler that the model was fitted with.

    Columns are matched by name where both have names: those of an array, "0", "1", …, are none.
    ``absent`` says that a labeler without a column was not asked, as in a long table.
    """
    if getattr(label_model, "names_", None) is None:
        return found.patterns
    # As text, because one and the same labeler may be 7 in a long table and "7" in a frame.
    known, names = [str(name) for name in label_model.names_], [str(name) for name in found.names]
    if names == known or (set(names) != set(known) and _without_names(names, known)):
        return found.patterns
    who = type(label_model).__name__
    if strange := [name for name in names if name not in known]:
        raise ColumnError(
            f"weak_labels has votes of {named(strange)}, and {who} was fitted "
            f"with {named(known)}; leave these votes out, or fit with them"
        )
    if (missing := [name for name in known if name not in names]) and not absent:
        raise ColumnError(
            f"weak_labels has no votes of {named(missing)}, and {who} was fitted with "
            f"{named(known)}; pass a column of nulls for a labeler that was not asked"
        )
    codes = np.full((len(found.patterns), len(known)), -2)
    codes[:, [known.index(name) for name in names]] = found.patterns
    return codes


def _without_names(names: list[str], known: list[str]) -> bool:
    """Return whether one of the two tables is an array, whose columns are only counted."""
    counted = [str(j) for j in range(max(len(names), len(known)))]
    if names == counted[: len(names)]:
        return True
    return known == counted[: len(known)] and not all(name.isdecimal() for name in names)


def _as_labels(found: Patterns) -> AnyArray:
    """Return each pattern once, as labels, for another package's model: -1, or null."""
    if found.classes.dtype.kind not in "biu":
        return np.array([*found.classes.tolist(), None, "-1"], dtype=object)[found.patterns]
    if (found.patterns > -2).all():
        return np.append(found.classes.astype(np.int64), -1)[found.patterns]
    return np.append(found.classes.astype(np.float64), [np.nan, -1.0])[found.patterns]


def _by_pattern(proba: Any, found: Patterns) -> FloatArray:
    """Return the rows of an n×k array by pattern, or refuse two rows of one pattern that differ."""
    rows = check_probabilities(proba, "label_model", classes=found.classes)
    check_same_length(weak_labels=found.ids, label_model=rows)
    first = np.empty(len(found.patterns), dtype=np.intp)
    first[found.ids[::-1]] = np.arange(len(rows) - 1, -1, -1)
    apart = np.abs(rows - rows[first[found.ids]]).max(axis=1) > 1e-5
    if apart.any():
        row = int(np.flatnonzero(apart)[0])
        raise ProbabilityError(
            f"label_model rows {first[found.ids[row]]} and {row} differ and have the same weak "
            "labels; P(Y | Z) is a function of the votes, so pass equal rows for equal votes"
        )
    return np.asarray(rows[first] / rows[first].sum(axis=1, keepdims=True))
