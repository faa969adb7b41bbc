"""The base of the label models: reading votes, and posteriors of distinct patterns."""

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._parameters import Parameters
from karat._typing import AnyArray, FloatArray, Frame, IntArray
from karat._validate import check_fitted, named, refuse_lazy
from karat.exceptions import KaratWarning, LabelError, NotIdentifiedWarning, ShapeError
from karat.statistics import Patterns
from karat.votes.reading import long_columns, read_weak_labels
from karat.weak.models._gold import KnownVotes
from karat.weak.models._posterior import by_name, null_of
from karat.weak.models._votes import unanimous_votes

__all__ = ["PatternModel"]

_SHOWN = 4  # classes whose shares are printed
_FAR = 0.1  # by how much P(Y | Z) may average another share than the assumed one without a word


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
                f"{error} (these are the classes that {type(self).__name__} was fitted with; name "
                "all classes when you fit it)"
            ) from error
        long = not isinstance(weak_labels, Patterns) and long_columns(weak_labels) is not None
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
                f"no labeler ever votes for {named(never)}, so votes cannot tell {it} from an "
                "abstention, and P(Y | weak labels) may be far off; pass class_prior= or some true "
                "labels as y_true=",
                NotIdentifiedWarning,
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
        most = "knowing P(Y) is worth most: pass class_prior=, or some true labels as y_true="
        if self._learns_prior:
            return (
                f"P(Y) is learnt from votes alone, which may be far off: {self._shares()}; {most}"
            )
        said = "P(Y) is not known and the classes are assumed to be equally common"
        implied = self._implied
        if implied is not None and np.abs(implied - self.class_prior_).max() > _FAR:
            said += f", while P(Y | weak labels) averages {self._shares(implied)}"
        return f"{said}; {most}"

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
                f"on {100 * share:.2g} % of the items two or more labelers vote, all agree, and "
                f"{type(self).__name__} contradicts them. Give it class_prior= or some true labels "
                "as y_true=, or test it with them in check_label_model",
                KaratWarning,
                stacklevel=caller_level(),
            )
