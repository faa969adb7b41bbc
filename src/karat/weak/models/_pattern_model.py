"""The base of the label models: reading votes, and posteriors of distinct patterns."""

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from karat._parameters import Parameters
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import check_fitted, named, refuse_lazy, require_two_classes
from karat.exceptions import ColumnError, KaratWarning, LabelError, ShapeError
from karat.statistics import Patterns
from karat.votes.reading import long_columns, read_weak_labels
from karat.weak.models._posterior import null_of
from karat.weak.models._votes import unanimous_votes

__all__ = ["PatternModel"]


class PatternModel(Parameters, ABC):
    """Base of the label models: P(Y | Z) is a function of the pattern of votes.

    A subclass writes ``fit`` and ``_posterior``.
    """

    classes_: AnyArray
    class_prior_: FloatArray
    names_: tuple[Any, ...]
    null_: str

    # Which assumptions `check_label_model` tests; a subclass overrides what it does not assume.
    assumes_independence: bool = True
    abstention_is_informative: bool = False

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
            null where it was not asked.
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
                f"{error} (these are the classes that {type(self).__name__} was fitted with; name "
                "all classes when you fit it)"
            ) from error
        return self.predict_pattern_proba(self._aligned(weak_labels, found))[found.ids]

    def _aligned(self, weak_labels: Frame | Patterns, found: Patterns) -> IntArray:
        """Return the patterns with a column for each labeler of `fit`, in that order.

        In a long table voters come by name: one who is absent was not asked. Columns of the same
        names in another order are put into order; other columns are taken as they come.
        """
        # As text, because one and the same labeler may be 7 in a long table and "7" in a frame.
        known, names = [str(name) for name in self.names_], [str(name) for name in found.names]
        if names == known:
            return found.patterns
        long = not isinstance(weak_labels, Patterns) and long_columns(weak_labels) is not None
        if not long and set(names) != set(known):
            return found.patterns
        if strange := [name for name in names if name not in known]:
            raise ColumnError(
                f"weak_labels has votes of {named(strange)}, and {type(self).__name__} was fitted "
                f"with {named(known)}; leave these votes out, or fit with them"
            )
        codes = np.full((len(found.patterns), len(known)), -2)
        codes[:, [known.index(name) for name in names]] = found.patterns
        return codes

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
                f"weak_labels has {codes.shape[-1] if codes.ndim == 2 else 0} labelers and "
                f"{type(self).__name__} was fitted with {len(self.names_)}, "
                f"{named(self.names_)}; pass the same ones, in the same order"
            )
        if codes.size and (codes.min() < -2 or codes.max() >= len(self.classes_)):
            raise LabelError(
                f"patterns holds {codes.min()} to {codes.max()}; expected codes of the "
                f"{len(self.classes_)} classes, 0 to {len(self.classes_) - 1}, -1 or -2"
            )
        return self._posterior(codes)

    def _require_fit(self) -> None:
        check_fitted(self, "classes_", "fit(weak_labels)")

    def _read(
        self,
        weak_labels: Frame | Patterns,
        classes: Column | None,
        sample_weight: Column | None,
        null: str,
    ) -> Patterns:
        found = read_weak_labels(weak_labels, classes, sample_weight=sample_weight, null=null)
        require_two_classes(found.classes, "weak_labels")
        return found

    def _remember(self, found: Patterns, prior: FloatArray, null: str) -> None:
        self.classes_, self.names_, self.class_prior_ = found.classes, found.names, prior
        self.null_ = null

    def _warn_of_contradictions(self, found: Patterns) -> None:
        """Say so if items whose voters all agree are given another class."""
        top = unanimous_votes(found.patterns)
        at = np.flatnonzero(top >= 0)
        proba = self._posterior(found.patterns[at])
        wrong = proba[np.arange(len(at)), top[at]] < proba.max(axis=1, initial=0.0)
        share = found.counts[at[wrong]].sum() / found.n
        if share > 0:
            warnings.warn(
                f"on {100 * share:.2g} % of the items two or more labelers vote, all agree, and "
                f"{type(self).__name__} contradicts them. Look at the labelers with "
                "vote_diagnostics, test the model with check_label_model, or give class_prior=",
                KaratWarning,
                stacklevel=3,
            )
