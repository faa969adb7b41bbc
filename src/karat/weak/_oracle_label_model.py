"""P(Y | Z) counted from true labels."""

from typing import Literal, Self

import numpy as np

from karat._typing import Column, FloatArray, Frame, IntArray
from karat._validate import check_choice, check_number, refuse_lazy
from karat.exceptions import LabelError
from karat.statistics import Patterns
from karat.votes.tables import naive_bayes, outcome_counts
from karat.weak.models import GoldCounts, PatternModel, read_votes, smoothed_confusions

__all__ = ["OracleLabelModel"]


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
            weak_labels, y_true=y_true, classes=classes, class_prior=class_prior,
            sample_weight=sample_weight, null=null, any_label=True,
        )  # fmt: skip
        if known.gold is None or known.prior is None:
            raise LabelError(
                "OracleLabelModel is counted from true labels and y_true is None; pass those of "
                "some items, or use DetectorLabelModel, which needs none"
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
