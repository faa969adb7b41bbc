"""Label models that need no fit: the majority vote, a table of known P(Y), a Snorkel model."""

from typing import Any, Literal, Self

import numpy as np

from karat._sentences import Argument, Expected, Option, Remedy
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_choice,
    check_classes,
    check_number,
    check_probabilities,
    refuse_lazy,
)
from karat.exceptions import DataError, LabelError
from karat.statistics.patterns import Patterns, outcome_counts, vote_shares
from karat.votes.reading import read_weak_labels
from karat.weak.label_model import (
    GoldCounts,
    KnownVotes,
    LabelModel,
    PatternModel,
    VoteModel,
    naive_bayes,
    read_votes,
    smoothed_confusions,
    totals_of,
)


class _SnorkelModel:
    """A fitted model with Snorkel's interface, asked once per pattern."""

    assumes_independence = True
    abstention_is_informative = True

    def __init__(self, model: Any, classes: AnyArray) -> None:
        self.model = model
        self.classes_ = classes

    def fit(self, weak_labels: Frame, **options: Any) -> Self:
        """Refuse: a model of another package is fitted there."""
        named = " and ".join(f"{name}=" for name in options)
        raise DataError(
            "from_snorkel wraps a model that was fitted by its own package"
            + (f", which takes no {named}" if named else "")
            + "; fit it there, or use DetectorLabelModel().fit(weak_labels, y_true=, class_prior=)"
        )

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(
        self, weak_labels: Frame | Patterns, *, null: str = "not asked"
    ) -> FloatArray:
        """Return P(Y | Z) of each row: shape (n, k)."""
        refuse_lazy(weak_labels=weak_labels)  # the answer has its rows
        found = read_weak_labels(weak_labels, self.classes_, null=null, by_row=True)
        return self.predict_pattern_proba(found.patterns)[found.ids]

    def predict_pattern_proba(self, patterns: IntArray) -> FloatArray:
        """Return P(Y | Z) of encoded patterns: shape (p, k)."""
        # Snorkel has one code for no vote, -1.
        codes = np.maximum(np.array(patterns, dtype=np.int64), -1)
        proba = self.model.predict_proba(codes)
        return check_probabilities(proba, "predict_proba of the model", classes=self.classes_)

    def __repr__(self) -> str:
        return f"from_snorkel({self.model!r})"


def from_snorkel(model: Any, *, classes: Column | None = None) -> LabelModel:
    """Wrap a fitted model with Snorkel's interface, so that it can be used as a label model.

    Parameters
    ----------
    model : object
        Has ``predict_proba(L)`` for an integer matrix L of classes 0..k-1, -1 where a labeler
        abstains; and ``cardinality``, the number k, unless ``classes`` is given.
    classes : column (k,), optional
        What 0..k-1 stand for; the numbers themselves by default.

    Returns
    -------
    LabelModel
        It asks the model once per distinct row. Snorkel's matrices have one sign for no vote, so
        an abstention (-1) and a vote that was not asked for (null) are both passed as -1.

    Examples
    --------
    >>> import numpy as np
    >>> class Constant:
    ...     cardinality = 2
    ...     def predict_proba(self, L):
    ...         return np.tile([0.3, 0.7], (len(L), 1))
    >>> from_snorkel(Constant(), classes=["ham", "spam"]).predict_proba([["ham", None]])
    array([[0.3, 0.7]])
    """
    if not callable(getattr(model, "predict_proba", None)):
        raise DataError(
            Argument("model"),
            f" is a {type(model).__name__} without predict_proba",
            Remedy(
                "pass a fitted model with Snorkel's interface, such as "
                "snorkel.labeling.model.LabelModel"
            ),
        )
    if classes is not None:
        return _SnorkelModel(model, check_classes(classes))
    k = getattr(model, "cardinality", None)
    if not isinstance(k, int | np.integer) or k < 2:
        raise DataError(
            f"model.cardinality is {k!r}; expected ",
            Expected("the number of classes"),
            Remedy("Fit the model first, or name the classes with ", Option("classes"), after=". "),
        )
    return _SnorkelModel(model, np.arange(int(k)))


class MajorityVote(VoteModel):
    """Share of the labelers that vote for each class.

    ``P(Y=y | Z) = #{j : Z_j = y} / #{j : Z_j is a class}``; where nobody votes, the class prior.
    It learns nothing, works with any number of labelers, and is not calibrated: two votes out of
    two count as certainty. An abstention (-1) and a vote that was not asked for (null) are alike,
    and weights of items have no effect.

    Attributes
    ----------
    classes_ : array (k,)
        The order of the columns of ``predict_proba``.
    class_prior_ : array (k,)
        The prior that was given, or counted from true labels, or the uniform one.
    names_ : tuple
        The labelers, as their columns are called; ``"0"``, ``"1"``, … in an array.
    null_ : str
        What a null was in ``fit``; ``predict_proba`` reads nulls in the same way.

    Examples
    --------
    >>> model = MajorityVote().fit([[0, 1, 1], [0, 0, -1], [-1, -1, -1]])
    >>> model.predict_proba([[0, 1, 1], [-1, -1, -1]]).round(3)
    array([[0.333, 0.667],
           [0.5  , 0.5  ]])
    """

    def _learn(self, known: KnownVotes) -> FloatArray:
        return np.full(known.k, 1.0 / known.k) if known.prior is None else known.prior

    def _posterior(self, codes: IntArray) -> FloatArray:
        return vote_shares(totals_of(codes, len(self.classes_)), self.class_prior_)


class OracleLabelModel(PatternModel):
    """Label model counted from true labels, smoothed where a pattern is rare.

    ``P(Y=y | Z=z) = (N_zy + s·b_y(z)) / (N_z + s)`` with ``N_zy`` items of pattern z and class y,
    ``s`` the smoothing and ``b(z)`` the base: the class prior, or the naive Bayes posterior from
    each labeler's own confusion, abstention (-1) an outcome of its own and a vote that was not
    asked for (null) left out. The same votes with a null and with a -1 are two patterns. A pattern
    never seen with a true label gets the base. The "Oracle" of Maia Polo et al. (2023).

    Parameters
    ----------
    smoothing : float, default 1.0
        How many items the base is worth.
    base : {"prior", "naive-bayes"}, default "prior"
        What rare patterns are smoothed toward. Naive Bayes is closer to the truth when patterns
        are many, as long as the labelers are roughly independent given the truth.

    Attributes
    ----------
    classes_ : array (k,)
        The order of the columns of ``predict_proba``.
    class_prior_ : array (k,)
        The prior that was given, or counted from the true labels.
    names_ : tuple
        The labelers, as their columns are called; ``"0"``, ``"1"``, … in an array.
    null_ : str
        What a null was in ``fit``; ``predict_proba`` reads nulls in the same way.
    confusions_ : array (m, k, k + 1)
        P(vote | truth) of each labeler; the last column is abstention.
    gold_n_ : float
        Number of items with a true label, or the sum of their weights.

    Examples
    --------
    >>> model = OracleLabelModel().fit([[0, 1], [0, 1], [1, 1]], [0, 1, 1])
    >>> model.predict_proba([[0, 1], [0, 0]]).round(3)
    array([[0.466, 0.534],
           [0.397, 0.603]])
    """

    assumes_independence = False

    def __init__(
        self, *, smoothing: float = 1.0, base: Literal["prior", "naive-bayes"] = "prior"
    ) -> None:
        self.smoothing = smoothing
        self.base = base

    def fit(
        self,
        weak_labels: Frame | Patterns,
        y_true: Column | None = None,
        *,
        classes: Column | None = None,
        class_prior: Column | None = None,
        sample_weight: Column | None = None,
        null: str = "not asked",
    ) -> Self:
        """Count the true labels of each pattern.

        Parameters
        ----------
        weak_labels : matrix or frame (n, m)
            One row per item, one column per labeler; -1 where a labeler abstained, null where it
            was not asked. A long table or patterns, as in `karat.votes.read_patterns`, will do.
        y_true : column (n,)
            The true labels; rows where it is null or -1 are left out. If the weak labels are a
            long table, one per item, in the sorted order of the items.
        classes : column (k,), optional
            The classes in the wanted order; by default those found in votes and truth, sorted.
        class_prior : column (k,) or mapping, optional
            By default (counts + 10·(½ share of the votes + ½/k)) / (n + 10) of the n true labels.
        sample_weight : column (n,), optional
            Weights of at least 0.
        null : {"not asked", "abstain"}, default "not asked"
            What a null is: an item that the labeler was not asked about, or an abstention, as -1
            always is. ``predict_proba`` reads nulls in the same way.

        Returns
        -------
        OracleLabelModel
            Itself.
        """
        self._smoothing = check_number(self.smoothing, "smoothing", at_least=0.0)
        self._base = check_choice(self.base, "base", ("prior", "naive-bayes"))
        refuse_lazy(weak_labels=weak_labels)  # its rows are matched with those of y_true
        known = read_votes(
            weak_labels,
            y_true=y_true,
            classes=classes,
            class_prior=class_prior,
            sample_weight=sample_weight,
            null=null,
            any_label=True,
        )
        if known.gold is None or known.prior is None:
            raise LabelError(
                "OracleLabelModel is counted from true labels and ",
                Argument("y_true"),
                " is None; pass those of some items, or use DetectorLabelModel, which needs none",
            )
        found, soft = known.found, known.gold
        self._remember(known, known.prior, null)
        counts = outcome_counts(found.patterns, soft)
        self.confusions_ = smoothed_confusions(counts, max(self._smoothing, 1e-9))
        self._gold = GoldCounts.of(found.patterns, soft)
        return self

    def _posterior(self, codes: IntArray) -> FloatArray:
        if self._base == "prior":
            base = np.tile(self.class_prior_, (len(codes), 1))
        else:
            base = naive_bayes(codes, self.class_prior_, self.confusions_)
        return self._gold.added_to(base, codes, self._smoothing)
