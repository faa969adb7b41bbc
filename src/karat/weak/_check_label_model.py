"""Tests of a label model against the votes, and against a few true labels."""

from dataclasses import replace
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_confidence,
    check_flag,
    check_rng,
    check_same_length,
    check_weighting,
    check_weights,
    collected_alone,
    encode_gold,
    present_gold,
)
from karat.statistics import Patterns
from karat.statistics.kernels import effective_counts
from karat.votes.reading import read_weak_labels
from karat.weak._detector_label_model import DetectorLabelModel
from karat.weak.checks import GoldRows, check_patterns
from karat.weak.models import (
    check_class_prior,
    has_seen_gold,
    null_of,
    pattern_posterior,
    proba_of_patterns,
    refitted_proba,
)
from karat.weak.result import LabelModelCheck

__all__ = ["check_label_model"]

_FOLDS = 5  # of the true labels, where the model has seen them


@keeps_kind
def check_label_model(
    weak_labels: Frame | Patterns,
    label_model: Any = None,
    *,
    classes: Column | None = None,
    y_true: Column | None = None,
    class_prior: Column | None = None,
    confidence: float = 0.95,
    independence: bool | None = None,
    rng: int | np.random.Generator | None = 0,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    null: str | None = None,
) -> LabelModelCheck:
    r"""Test whether P(Y | Z) fits the votes, and true labels if there are any.

    Four tests can reject it:

    1. *Agreement.* With each labeler's confusion :math:`\theta_j` computed from P(Y | Z) and the
       pattern frequencies, independence given the truth implies that labelers i and j agree on

       .. math:: \sum_y P(y \mid \text{both vote}) \sum_c \theta_i(c \mid y)\,\theta_j(c \mid y)

       of the items on which both vote. Likewise for how often both vote where both are asked, if
       the model reads abstention as a sign.
    2. *A labeler worse than chance* under the model: right less often than votes that ignore the
       item and have the same frequencies.
    3. *The class prior* that the model implies, against the one given.
    4. *True labels*: an exact Monte Carlo test that they are draws from P(Y | Z), by class totals,
       log loss, and how often the most probable class is true (of all, of the items where the
       model is surer, and of the others), combined by the least p-value.

    The first two are made only if the model assumes independence. What no test rejects is ``not
    validated`` unless at least 20 true labels fit it: votes cannot show that a model is right.

    Parameters
    ----------
    weak_labels : matrix or frame (n, m)
        One row per item, one column per labeler; -1 where a labeler abstained, null where it was
        not asked.
    label_model : label model, or array (n, k), optional
        A fitted label model, or P(Y | Z) of each row in the order of ``classes``; rows with the
        same weak labels must agree. By default a `DetectorLabelModel` fitted to these votes, with
        ``class_prior`` if it is passed, and without the true labels that it is tested with.
    classes : column (k,), optional
        The order of the columns of an array; by default the labels found, sorted.
    y_true : column (n,), optional
        True labels of some items, null or -1 elsewhere. Which items have one may depend on the
        votes, but not on the truth. A model that was fitted with true labels is fitted again to
        these votes without each fifth of the labels; other models, and an array, are taken not to
        have seen them.
    class_prior : column (k,) or mapping, optional
        P(Y), known from elsewhere.
    confidence : float, default 0.95
        A right model fails with probability at most ``1 - confidence`` by the votes (all tests of
        them together, by Bonferroni), and as much by the true labels.
    independence : bool, optional
        Whether labelers must be independent given the truth. By default they must if the model
        says that it assumes so (``assumes_independence``), as `DawidSkene` does and an array does
        not.
    rng : int or Generator, default 0
        Randomness of the Monte Carlo test.
    sample_weight : column (n,), optional
        Weights of at least 0, in any unit. True labels count once.
    weighting : {"importance", "frequency"}, optional
        What ``sample_weight`` means. By default weights are importances: the tests count Kish's
        effective number of rows, (Σw)² / Σw². ``"frequency"`` says that a weight of 2 stands for
        two equal rows.
    null : {"not asked", "abstain"}, optional
        What a null is; by default what it was when the label model was fitted, and not asked
        where an array is passed. -1 is always an abstention.

    Returns
    -------
    LabelModelCheck
        ``status``, ``by``, ``reasons`` and the figures behind them.

    Notes
    -----
    Differences of less than 0.02 are ignored, however large n is. Standard errors take P(Y | Z) as
    fixed; for a model fitted to the same votes they are a little too large. Three labelers agree
    as a fitted Dawid–Skene model implies, right or wrong: only true labels test it then.

    References
    ----------
    The bounds of Maia Polo et al. (2023) hold only if P(Y | Z) does.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.weak import DawidSkene
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 2000)
    >>> votes = np.where(rng.random((2000, 5)) < 0.75, y[:, None], 1 - y[:, None])
    >>> check_label_model(votes, DawidSkene(rng=0).fit(votes)).status
    'not validated'
    >>> copied = np.column_stack([votes, votes[:, 4]])
    >>> check_label_model(copied, DawidSkene(rng=0).fit(copied)).reasons[0]
    '4 and 5 agree on 100 % of the items on which both vote, more than being right explains: ...'
    """
    fits = label_model is None or hasattr(label_model, "predict_proba")
    by_row = None if fits else label_model
    level, generator = check_confidence(confidence), check_rng(rng)
    check_weighting(weighting, check_weights(sample_weight))
    must = None if independence is None else check_flag(independence, "independence")
    weak_labels = collected_alone(weak_labels, "weak_labels", by_row, y_true, sample_weight)
    also = None if y_true is None else {"y_true": present_gold(y_true)[0]}
    options: dict[str, Any] = {
        "sample_weight": sample_weight, "also": also, "by_row": y_true is not None,
        "null": null_of(label_model, weak_labels, null),
    }  # fmt: skip
    if label_model is None:
        found = read_weak_labels(weak_labels, classes, **options)
        label_model = DetectorLabelModel().fit(found, class_prior=class_prior)
        proba = proba_of_patterns(label_model, found)
    else:
        found, proba = pattern_posterior(label_model, weak_labels, classes=classes, **options)
    if found.squares is not None and weighting != "frequency":
        found = replace(found, counts=effective_counts(found.counts, found.squares))
    gold = None if y_true is None else encode_gold(y_true, found.classes)
    check_same_length(weak_labels=found.ids, y_true=gold)
    return check_patterns(
        found,
        proba,
        model=label_model,
        class_prior=check_class_prior(class_prior, found.classes),
        gold=None if gold is None else _gold_rows(label_model, found, proba, gold, class_prior),
        confidence=level,
        independence=must,
        rng=generator,
    )


def _gold_rows(
    model: Any, found: Patterns, proba: FloatArray, gold: IntArray, class_prior: Column | None
) -> GoldRows:
    """Return the true labels, and P(Y | Z) of their items from a model that has not seen them."""
    rows = np.flatnonzero(gold >= 0)
    if not has_seen_gold(model):
        return GoldRows(gold[rows], proba[found.ids[rows]])
    fold = np.arange(len(rows)) % _FOLDS
    own = np.empty((len(rows), proba.shape[1]))
    for f in np.unique(fold):
        mine = fold == f
        known = gold.copy()
        known[rows[mine]] = -1
        own[mine] = refitted_proba(model, found, known, class_prior)[found.ids[rows[mine]]]
    return GoldRows(gold[rows], own)
