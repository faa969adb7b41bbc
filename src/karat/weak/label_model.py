"""What a label model is: P(Y | votes) for every pattern of votes, fitted and checked.

A fit may know true labels of some items, and shares of the classes; `read_votes` puts them
beside the votes.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from karat._callers import caller_level
from karat._parameters import Parameters
from karat._sentences import Argument, Expected, Given, Option, Remedy, Row, Sentence
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    ROUNDED,
    check_fitted,
    check_probabilities,
    check_same_length,
    check_weights,
    encode_gold,
    named,
    present_gold,
    read_column,
    refuse_lazy,
    require_two_classes,
    shown,
)
from karat.exceptions import (
    ColumnError,
    DataError,
    KaratWarning,
    LabelError,
    NotIdentifiedWarning,
    ProbabilityError,
    ShapeError,
    WeightError,
)
from karat.statistics.patterns import (
    TINY,
    Patterns,
    distinct_votes,
    list_votes,
    recode,
    safe_log,
    vote_totals,
)
from karat.votes.reading import read_weak_labels
from karat.votes.table import table_of


@runtime_checkable
class LabelModel(Protocol):
    """Anything that turns weak labels into class probabilities P(Y | Z).

    Two members are enough, so a model of one's own needs no base class. ``isinstance`` holds once
    the model is fitted, that is, once it has ``classes_``.

    Attributes
    ----------
    classes_ : array (k,)
        The order of the columns of ``predict_proba``.

    Examples
    --------
    >>> from karat.weak import MajorityVote
    >>> model = MajorityVote()
    >>> isinstance(model, LabelModel), isinstance(model.fit([[0, 1, 1]]), LabelModel)
    (False, True)
    """

    classes_: AnyArray

    def predict_proba(self, weak_labels: Frame) -> FloatArray:
        """Return P(Y | Z) of each row: shape (n, k)."""
        ...


def has_seen_gold(label_model: Any) -> bool:
    """Return whether a label model was fitted with true labels, and can be fitted again."""
    seen = float(getattr(label_model, "gold_n_", 0.0) or 0.0)
    return seen > 0 and hasattr(label_model, "fit") and hasattr(label_model, "get_params")


def labels_of(codes: IntArray, classes: AnyArray) -> list[Any]:
    """Return labels for codes, None for -1."""
    return [*map([*classes.tolist(), None].__getitem__, codes.tolist())]


def refitted_proba(
    label_model: Any, votes: Patterns, gold: IntArray, class_prior: Column | None
) -> FloatArray:
    """Return P(Y | pattern) of the label model fitted again to these votes and true labels.

    ``gold`` are codes of the classes of ``votes``, -1 where unknown. Where none is known a model
    that needs true labels says nothing: all classes are equally probable.
    """
    if not (gold >= 0).any():
        return np.full((len(votes.patterns), len(votes.classes)), 1.0 / len(votes.classes))
    model = type(label_model)(**label_model.get_params(deep=False))
    given = getattr(label_model, "known_", None) == "class_prior"
    prior = class_prior
    if given and class_prior is None:
        own = label_model.classes_.tolist()
        prior = label_model.class_prior_[[own.index(c) for c in votes.classes.tolist()]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)  # said when it was fitted
        model.fit(votes, y_true=labels_of(gold, votes.classes), class_prior=prior)
    return proba_of_patterns(model, votes)


class PatternModel(Parameters, ABC):
    """Base of the label models: P(Y | Z) is a function of the pattern of votes.

    A subclass writes ``fit`` and ``_posterior``.
    """

    classes_: AnyArray
    class_prior_: FloatArray
    names_: tuple[Any, ...]
    null_: str
    known_: str
    gold_n_: float

    # Which assumptions `check_label_model` tests; a subclass overrides what it does not assume.
    assumes_independence: bool = True
    abstention_is_informative: bool = False
    # Where neither P(Y) nor true labels are given: learnt from the votes, or equal shares.
    _learns_prior: bool = False

    @abstractmethod
    def _posterior(self, codes: IntArray) -> FloatArray:
        """Return P(Y | Z) of each row of ``codes``."""

    def predict_proba(
        self, weak_labels: Frame | Patterns, *, null: str | None = None
    ) -> FloatArray:
        """Return P(Y | Z) of each row.

        Parameters
        ----------
        weak_labels : matrix or frame (n, m)
            One row per item, one column per labeler, as in ``fit``; -1 where a labeler abstained,
            null where it was not asked. The columns of a frame are matched by name with those of
            ``fit``, so their order does not matter; those of an array by their places.
        null : {"not asked", "abstain"}, optional
            What a null is; by default what it was in ``fit``. -1 is always an abstention.

        Returns
        -------
        array (n, k)
            Class probabilities in the order of ``classes_``. Rows of one pattern are equal.
        """
        self._require_fit()
        refuse_lazy(weak_labels=weak_labels)  # the answer has its rows
        how = null_of(self, weak_labels, null)
        try:
            found = read_weak_labels(weak_labels, self.classes_, null=how, by_row=True)
        except LabelError as error:
            raise LabelError(
                error,
                f" (these are the classes that {type(self).__name__} was fitted with",
                Remedy("name all classes when you fit it)"),
            ) from error
        long = not isinstance(weak_labels, Patterns) and table_of(weak_labels).is_long
        return self.predict_pattern_proba(by_name(self, found, absent=long))[found.ids]

    def predict_pattern_proba(self, patterns: IntArray) -> FloatArray:
        """Return P(Y | Z) of encoded patterns: the fast path for those who have them.

        Parameters
        ----------
        patterns : integer array (p, m)
            Codes of ``classes_``, -1 where a labeler abstained, -2 where it was not asked; for
            example ``karat.statistics.patterns(weak_labels, classes=model.classes_).patterns``.

        Returns
        -------
        array (p, k)
            Class probabilities in the order of ``classes_``.
        """
        self._require_fit()
        codes = np.asarray(patterns)
        if codes.ndim != 2 or codes.shape[1] != len(self.names_):
            raise ShapeError(
                Argument("weak_labels"),
                f" has {(codes.shape[-1] if codes.ndim == 2 else 0)} labelers and "
                f"{type(self).__name__} was fitted with {len(self.names_)}, "
                f"{named(self.names_)}",
                Remedy("pass the same ones, in the same order"),
            )
        if codes.size and (codes.min() < -2 or codes.max() >= len(self.classes_)):
            raise LabelError(
                Argument("patterns"),
                f" holds {codes.min()} to {codes.max()}; expected ",
                Expected(
                    f"codes of the {len(self.classes_)} classes, 0 to "
                    f"{len(self.classes_) - 1}, -1 or -2"
                ),
            )
        return self._posterior(codes)

    def _require_fit(self) -> None:
        check_fitted(self, "classes_", "fit(weak_labels)")

    def _warn_of_silence(self, found: Patterns) -> None:
        """Say so if labelers never vote."""
        votes = ((found.patterns >= 0) & (found.counts > 0)[:, None]).any(axis=0)
        if not votes.all():
            silent = [found.names[j] for j in np.flatnonzero(~votes)]
            warnings.warn(
                f"{named(silent)} never vote{'s' * (len(silent) == 1)} in weak_labels, so "
                f"{type(self).__name__} learns nothing of {'it' if len(silent) == 1 else 'them'}",
                KaratWarning,
                stacklevel=caller_level(),
            )

    def _warn_of_unvoted(self, known: KnownVotes) -> None:
        """Say so if no labeler ever votes for a class and nothing else tells how common it is."""
        found = known.found
        seen = np.unique(found.patterns[found.counts > 0])
        never = [c for i, c in enumerate(found.classes.tolist()) if i not in seen]
        if known.known == "nothing" and never:
            it = "it" if len(never) == 1 else "them"
            warnings.warn(
                NotIdentifiedWarning(
                    f"no labeler ever votes for {named(never)}, so votes cannot tell {it} "
                    "from an abstention, and P(Y | weak labels) may be far off",
                    Remedy(
                        "pass ", Option("class_prior"), " or some true labels as ", Option("y_true")
                    ),
                ),
                stacklevel=caller_level(),
            )

    def _remember(self, known: KnownVotes, prior: FloatArray, null: str) -> None:
        found = known.found
        self.classes_, self.names_, self.class_prior_ = found.classes, found.names, prior
        self.null_ = null
        self.known_ = known.known
        self.gold_n_ = known.gold_n
        self._labels = known.labels
        self._implied: FloatArray | None = None

    def _note_implied(self, found: Patterns) -> None:
        """Keep what P(Y | Z) averages over the items it was fitted to."""
        self._implied = found.counts @ self._posterior(found.patterns) / found.counts.sum()

    @property
    def assumption_(self) -> str:
        """What the model takes P(Y) to be, and from where, as a sentence."""
        self._require_fit()
        if self.known_ == "class_prior":
            return f"P(Y) is taken as given: {self._shares()}"
        if self.known_ == "y_true":
            labels = f"{self._labels:,} true label{'s' * (self._labels != 1)}"
            return f"P(Y) is estimated from {labels}: {self._shares()}"
        most = "; knowing P(Y) is worth most"
        pass_ = Remedy(
            "pass ",
            Option("class_prior"),
            ", or some true labels as ",
            Option("y_true"),
            after=": ",
        )
        if self._learns_prior:
            said = f"P(Y) is learnt from votes alone, which may be far off: {self._shares()}"
            return Sentence(said, most, pass_)
        said = "P(Y) is not known and the classes are assumed to be equally common"
        implied = self._implied
        if implied is not None and np.abs(implied - self.class_prior_).max() > _FAR:
            said += f", while P(Y | weak labels) averages {self._shares(implied)}"
        return Sentence(said, most, pass_)

    def _shares(self, shares: FloatArray | None = None) -> str:
        shares = self.class_prior_ if shares is None else shares
        shown = [
            f"{label} {100 * share:.3g} %"
            for label, share in zip(self.classes_.tolist(), shares, strict=True)
        ]
        return ", ".join(shown[:_SHOWN]) + (", …" if len(shown) > _SHOWN else "")

    def _warn_of_contradictions(self, found: Patterns) -> None:
        """Say so if items whose voters all agree are given another class."""
        top = unanimous_votes(found.patterns)
        at = np.flatnonzero(top >= 0)
        proba = self._posterior(found.patterns[at])
        wrong = proba[np.arange(len(at)), top[at]] < proba.max(axis=1, initial=0.0)
        share = found.counts[at[wrong]].sum() / found.n
        if share > 0:
            warnings.warn(
                KaratWarning(
                    f"on {100 * share:.2g} % of the items two or more labelers vote, all agree, "
                    f"and {type(self).__name__} contradicts them",
                    Remedy(
                        "Give it ",
                        Option("class_prior"),
                        " or some true labels as ",
                        Option("y_true"),
                        ", or test it with them in check_label_model",
                        after=". ",
                    ),
                ),
                stacklevel=caller_level(),
            )


class VoteModel(PatternModel):
    """Base of the label models that votes alone suffice for.

    A subclass writes ``_learn`` and ``_posterior``, and says how many labelers have to vote.
    """

    _fewest_voters: int = 0  # 0: it learns nothing of labelers, and any number will do

    @abstractmethod
    def _learn(self, known: KnownVotes) -> FloatArray:
        """Set the parameters that are fitted, and return P(Y)."""

    def _look_back(self, known: KnownVotes) -> None:
        """Warn of what a fit shows, when it is over."""

    def fit(
        self,
        weak_labels: Frame | Patterns,
        *,
        y_true: Column | None = None,
        classes: Column | None = None,
        class_prior: Column | None = None,
        sample_weight: Column | None = None,
        null: str = "not asked",
    ) -> Self:
        """Fit the label model to votes.

        Parameters
        ----------
        weak_labels : matrix or frame (n, m)
            One row per item, one column per labeler; -1 where a labeler abstained, null where it
            was not asked. A long table or patterns, as in `karat.votes.read_patterns`, will do.
        y_true : column (n,), optional
            True labels of some items, null or -1 elsewhere. If the weak labels are a long table,
            one per item, in the sorted order of the items. They give P(Y) where no class prior is
            passed, and these items count with their true class in a model of labelers.
        classes : column (k,), optional
            The classes in the wanted order; by default those voted for, sorted. A true label that
            nobody votes for is refused unless it is named here.
        class_prior : column (k,) or mapping, optional
            P(Y), if it is known, in the order of the classes or as ``{label: probability}``;
            without it true labels give it, and ``class_prior_`` says what is taken without them,
            with a `NotIdentifiedWarning` where no labeler ever votes for a class.
        sample_weight : column (n,), optional
            Weights of at least 0; a weight of 2 counts as two equal rows.
        null : {"not asked", "abstain"}, default "not asked"
            What a null is: an item that the labeler was not asked about, or an abstention, as -1
            always is. ``predict_proba`` reads nulls in the same way.

        Returns
        -------
        label model
            Itself.
        """
        self._check_options()
        known = read_votes(
            weak_labels,
            y_true=y_true,
            classes=classes,
            class_prior=class_prior,
            sample_weight=sample_weight,
            null=null,
        )
        if self._fewest_voters:
            codes = known.found.patterns[known.found.counts > 0]
            require_voters(codes, type(self).__name__, least=self._fewest_voters)
            self._warn_of_silence(known.found)
        self._warn_of_unvoted(known)
        self._remember(known, self._learn(known), null)
        self._look_back(known)
        return self

    def _check_options(self) -> None:
        """Refuse options that are none."""


_SHOWN = 4  # classes whose shares are printed
_FAR = 0.1  # by how much P(Y | Z) may average another share than the assumed one without a word


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
            Argument("label_model"),
            f" is the class {name}",
            Remedy(f"pass a fitted object, {name}().fit(weak_labels)"),
        )
    if not hasattr(label_model, "predict_proba"):
        return None
    if hasattr(label_model, "fit"):
        check_fitted(label_model, "classes_", "fit(weak_labels)")
    if getattr(label_model, "classes_", None) is None:
        raise DataError(
            Argument("label_model"),
            f" is a {type(label_model).__name__} without classes_",
            Remedy("give it the classes in the order of its columns, or pass P(Y | Z) as an array"),
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
            f"the label model knows the classes {named(known.tolist())} and the data the classes "
            f"{named(list(order))}",
            Remedy(
                "fit it with ", Option("classes"), " these, or pass ", Option("classes"), " those"
            ),
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
            Argument("weak_labels"),
            f" has votes of {named(strange)}, and {who} was fitted with {named(known)}",
            Remedy("leave these votes out, or fit with them"),
        )
    if (missing := [name for name in known if name not in names]) and not absent:
        raise ColumnError(
            Argument("weak_labels"),
            f" has no votes of {named(missing)}, and {who} was fitted with {named(known)}",
            Remedy("pass a column of nulls for a labeler that was not asked"),
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
            Argument("label_model"),
            f" rows {first[found.ids[row]]} and {row} differ and have the same "
            "weak labels; P(Y | Z) is a function of the votes, so pass equal rows "
            "for equal votes",
        )
    return np.asarray(rows[first] / rows[first].sum(axis=1, keepdims=True))


# --- Votes with the true labels that are known of them: counts, class priors, and what is required.

# Items that a guess of P(Y), half from the votes and half equal shares, is worth beside counts.
_PSEUDO = 10.0


class KnownVotes(NamedTuple):
    """The patterns, and what is known of the truth.

    ``gold[z, y]`` are the items (or their weights) of pattern z whose true class is y, or None.
    ``prior`` is P(Y) where it was passed or can be counted, and ``known`` says which:
    ``"class_prior"``, ``"y_true"`` or ``"nothing"``; ``labels`` counts the true labels, whatever
    they weigh.
    """

    found: Patterns
    gold: FloatArray | None
    prior: FloatArray | None
    known: str
    labels: int = 0

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.found.classes)

    @property
    def gold_n(self) -> float:
        """Number of true labels, or the sum of their weights."""
        return 0.0 if self.gold is None else float(self.gold.sum())

    def apart(self) -> tuple[IntArray, FloatArray, IntArray]:
        """Return codes, weights and classes of rows; -1 is the class of items without a label."""
        codes, weight = self.found.patterns, self.found.counts.astype(np.float64)
        if self.gold is None:
            used = weight > 0
            return codes[used], weight[used], np.full(int(used.sum()), -1)
        rest = np.maximum(weight - self.gold.sum(axis=1), 0.0)
        table = np.column_stack([rest, self.gold])
        table[rest < 1e-9 * np.maximum(weight, 1e-300), 0] = 0.0  # nothing but rounding is left
        row, label = np.nonzero(table)
        return codes[row], table[row, label], label - 1


class GoldCounts(NamedTuple):
    """The true labels of the patterns that have some."""

    patterns: IntArray
    counts: FloatArray

    @classmethod
    def of(cls, patterns: IntArray, counts: FloatArray) -> GoldCounts:
        """Keep the patterns whose ``counts[z, y]`` are not all zero."""
        seen = counts.sum(axis=1) > 0
        return cls(patterns[seen], counts[seen])

    def added_to(self, base: FloatArray, codes: IntArray, worth: float) -> FloatArray:
        """Return P(Y | z) from the counts of z and ``worth`` items spread like ``base``."""
        at = _find_rows(codes, self.patterns, base.shape[1])
        counts = np.where(at[:, None] >= 0, self.counts[at], 0.0)
        total = counts.sum(axis=1, keepdims=True) + worth
        mixed = counts + worth * base
        return np.where(total > 0, mixed / np.where(total > 0, total, 1.0), base)


def _find_rows(codes: IntArray, known: IntArray, k: int) -> IntArray:
    """Return which row of ``known`` each row of ``codes`` equals, -1 for none."""
    ids, first = distinct_votes(np.concatenate([known, codes]), k)
    row_of = np.full(len(first), -1)
    row_of[ids[: len(known)]] = np.arange(len(known))
    return row_of[ids[len(known) :]]


def read_votes(
    weak_labels: Frame | Patterns,
    *,
    y_true: Column | None,
    classes: Column | None,
    class_prior: Column | None,
    sample_weight: Column | None,
    null: str,
    any_label: bool = False,
) -> KnownVotes:
    """Read what a label model is fitted to; without ``class_prior`` true labels give P(Y).

    ``any_label`` lets true labels be classes that no labeler votes for and ``classes`` does not
    name.
    """
    if y_true is None:
        found = read_weak_labels(weak_labels, classes, sample_weight=sample_weight, null=null)
        _require_votes(found)
        prior = check_class_prior(class_prior, found.classes, stated=classes is not None)
        return KnownVotes(found, None, prior, "nothing" if prior is None else "class_prior")
    found, gold, labels = _gold_counts(weak_labels, y_true, classes, sample_weight, null)
    _require_votes(found)
    if classes is None and not any_label:
        _refuse_unvoted(y_true, found, weak_labels)
    prior = check_class_prior(class_prior, found.classes, stated=classes is not None)
    if prior is None:
        return KnownVotes(found, gold, _gold_prior(found, gold), "y_true", labels)
    return KnownVotes(found, gold, prior, "class_prior", labels)


def _refuse_unvoted(y_true: Column, found: Patterns, weak_labels: Frame | Patterns) -> None:
    """Refuse a true label of a class that nobody votes for, unless the user named the classes."""
    if isinstance(weak_labels, Patterns):
        voted = np.isin(found.classes, weak_labels.classes)
    else:
        voted = np.isin(np.arange(len(found.classes)), found.patterns)
    codes = encode_gold(y_true, found.classes)
    strange = np.flatnonzero((codes >= 0) & ~voted[codes])
    if len(strange):
        row = int(strange[0])
        raise LabelError(
            Argument("y_true"),
            Row(row),
            " is ",
            Given(found.classes[codes[row]]),
            ", and no labeler votes for it: the votes hold "
            f"{named(list(found.classes[voted]))}. If it is a class all the same, "
            "name all classes in ",
            Option("classes"),
        )


def _require_votes(found: Patterns) -> None:
    require_two_classes(found.classes, "weak_labels")
    if (found.patterns < 0).all():
        raise LabelError(
            "every vote in ",
            Argument("weak_labels"),
            " abstains or is null; pass at least one labeler that votes",
        )


def _gold_prior(found: Patterns, gold: FloatArray) -> FloatArray:
    """Return (counts + 10·(½ share of the votes + ½/k)) / (n + 10)."""
    k = len(found.classes)
    votes = found.counts @ totals_of(found.patterns, k)
    guess = 0.5 * votes / max(votes.sum(), 1e-300) + 0.5 / k
    labels = gold.sum(axis=0)
    return np.asarray((labels + _PSEUDO * guess) / (labels.sum() + _PSEUDO))


def _gold_counts(
    weak_labels: Frame | Patterns,
    y_true: Column,
    classes: Column | None,
    sample_weight: Column | None,
    null: str,
) -> tuple[Patterns, FloatArray, int]:
    """Return the patterns of all rows, the items of each pattern and true class, and the labels."""
    refuse_lazy(weak_labels=weak_labels)  # its rows are matched with those of y_true
    values, present = present_gold(y_true)
    also = {"y_true": values} if classes is None else None
    found = read_weak_labels(
        weak_labels, classes, sample_weight=sample_weight, also=also, null=null, by_row=True
    )
    if classes is None:
        require_two_classes(found.classes, "weak_labels", "y_true")
    codes = encode_gold(y_true, found.classes)
    weight = check_weights(sample_weight)
    check_same_length(y_true=codes, weak_labels=found.ids, sample_weight=weight)
    if weight is not None and not weight[present].any():
        raise WeightError(
            Argument("sample_weight"),
            " is 0 in every row that has a true label",
            Remedy("give one a weight"),
        )
    k = len(found.classes)
    cells = found.ids[present] * k + codes[present]
    some = None if weight is None else weight[present]
    counts = np.bincount(cells, weights=some, minlength=len(found.patterns) * k)
    return found, counts.reshape(-1, k).astype(np.float64), int(present.sum())


def check_class_prior(
    class_prior: Column | None, classes: AnyArray, *, stated: bool = False
) -> FloatArray | None:
    """Check a user's ``class_prior=``: one probability above 0 per class, summing to 1.

    A mapping has the classes as its keys; other values are in the order of the classes, which text
    has only if the caller ``stated`` it.
    """
    if class_prior is None:
        return None
    if isinstance(class_prior, int | float | np.number):
        even = [round(1 / len(classes), 3)] * len(classes)
        raise ProbabilityError(
            Argument("class_prior"),
            f" is the number {class_prior:g}",
            Remedy(
                f"pass one probability for each of the classes {named(list(classes))}, "
                f"in this order, such as {shown(even)}, or a mapping from each class to "
                "its probability"
            ),
        )
    if isinstance(class_prior, Mapping):
        class_prior = _in_order(class_prior, classes)
        stated = True
    array, mask = read_column(class_prior, "class_prior")
    if array.dtype.kind not in "biuf":
        raise ProbabilityError(
            Argument("class_prior"),
            " holds ",
            Given(array[0]),
            "; expected ",
            Expected("probabilities"),
        )
    if len(array) != len(classes):
        raise ShapeError(
            Argument("class_prior"),
            f" has {len(array)} values and there are {len(classes)} classes {named(list(classes))}",
            Remedy("pass one probability per class, in this order"),
        )
    if classes.dtype.kind not in "biuf" and not stated:
        example = dict(zip(classes.tolist(), array.tolist(), strict=True))
        raise ProbabilityError(
            Argument("class_prior"),
            f" is a list, and the classes {named(list(classes))} have no order of their own",
            Remedy(
                f"pass a mapping such as {example}, or ",
                Option("classes"),
                " in the order of the list",
            ),
        )
    prior = array.astype(np.float64)
    if mask is not None or not np.isfinite(prior).all() or (prior < 0).any():
        raise ProbabilityError(
            Argument("class_prior"),
            " is ",
            Given(prior.tolist()),
            "; expected ",
            Expected("probabilities above 0"),
        )
    if not prior.all():
        never = [c for c, p in zip(list(classes), prior, strict=True) if p == 0]
        raise ProbabilityError(
            Argument("class_prior"),
            " is ",
            Given(prior.tolist()),
            f", so that {named(never)} could never be true, whatever the votes say; expected ",
            Expected("probabilities above 0"),
            Remedy("Give a rare class a small one", after=". "),
        )
    if abs(prior.sum() - 1.0) > ROUNDED:  # thirds with two decimals sum to .99
        raise ProbabilityError(
            Argument("class_prior"), f" sums to {prior.sum():.6g}; expected 1. Divide it by its sum"
        )
    return np.asarray(prior / prior.sum())


def _in_order(shares: Mapping[Any, Any], classes: AnyArray) -> list[Any]:
    listed = classes.tolist()
    if set(shares) != set(listed):
        raise ProbabilityError(
            Argument("class_prior"),
            f" names {named(list(shares))} and the classes are {named(listed)}",
            Remedy("give each of them one probability"),
        )
    return [shares[label] for label in listed]


def require_voters(codes: IntArray, model: str, *, least: int) -> None:
    """Refuse votes of fewer labelers than a model needs to see how often each is right."""
    voting = int((codes >= 0).any(axis=0).sum())
    if voting >= least:
        return
    of_all = "" if voting == codes.shape[1] else f" of {codes.shape[1]}"
    needs, because = (
        ("three", "two cannot tell who is right")
        if least == 3
        else ("two", "the votes of one say nothing of how often it is right")
    )
    raise ShapeError(
        Argument("weak_labels"),
        f" has votes of {voting}{of_all} labeler{'s' * (voting > 1)}; "
        f"{model} needs {needs} or more, because {because}. MajorityVote "
        "works with any number, and OracleLabelModel with some true labels",
    )


def totals_of(codes: IntArray, k: int, weight: FloatArray | None = None) -> FloatArray:
    """Return how many labelers (or how much of their weight) vote for each class: (p, k)."""
    pattern, labeler, vote = list_votes(codes)
    own = None if weight is None else weight[labeler]
    return vote_totals(pattern, vote, (len(codes), k), own)


def winners(totals: FloatArray) -> FloatArray:
    """Return the class of greatest total, shared among ties; nothing where all are zero."""
    best = totals.max(axis=1, keepdims=True)
    won = (totals == best) & (best > 0)
    return np.asarray(won / np.maximum(won.sum(axis=1, keepdims=True), 1))


def unanimous_votes(codes: IntArray) -> IntArray:
    """Return the class of the vote if two or more labelers vote and all agree, else -1."""
    top = codes.max(axis=1)
    agree = ((codes == top[:, None]) | (codes < 0)).all(axis=1)
    return np.where(agree & ((codes >= 0).sum(axis=1) >= 2), top, -1)


def smoothed_confusions(counts: FloatArray, smoothing: float) -> FloatArray:
    """Return P(outcome | truth) with ``smoothing`` votes added that ignore the truth.

    They are spread like all votes of the labeler, so an outcome that never occurs stays at zero
    for every truth and does not change the posterior.
    """
    marginal: FloatArray = counts.sum(axis=1, keepdims=True)
    marginal = marginal / np.maximum(marginal.sum(axis=2, keepdims=True), TINY)
    total = counts.sum(axis=2, keepdims=True) + smoothing
    added = counts + smoothing * marginal
    return np.where(total > 0, added / np.where(total > 0, total, 1.0), marginal)


def naive_bayes(codes: IntArray, prior: FloatArray, confusions: FloatArray) -> FloatArray:
    """Return P(Y | Z) ∝ prior_y Π_j confusions[j, y, z_j] over the labelers that were asked."""
    k = len(prior)
    log_confusion = safe_log(confusions)
    scores = np.tile(safe_log(prior), (len(codes), 1))
    unasked = np.zeros((1, k))
    for j in range(codes.shape[1]):
        rows = log_confusion[j].T
        # A negative code counts from the end: -1 is the abstention, -2 adds nothing.
        scores += np.concatenate([rows[:k], unasked, rows[k:]])[codes[:, j]]
    return normalized_exp(scores, axis=1)


def normalized_exp(scores: FloatArray, axis: int) -> FloatArray:
    """Return exp(scores) divided by its sum, without overflow."""
    shifted = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=axis, keepdims=True))
