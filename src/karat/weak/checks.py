"""Tests of a label model against votes and against true labels, and what votes alone show."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from karat._result import keeps_kind
from karat._typing import BoolArray, Column, FloatArray, Frame, IntArray
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
from karat.statistics.patterns import Patterns, effective_counts
from karat.votes.agreement import (
    Agreement,
    LabelerTable,
    agreement_of_posterior,
    labelers,
    near_copies,
)
from karat.votes.patterns import VoteTable
from karat.votes.reading import read_weak_labels
from karat.weak._detectors import DetectorLabelModel
from karat.weak.label_model import (
    check_class_prior,
    has_seen_gold,
    null_of,
    pattern_posterior,
    proba_of_patterns,
    refitted_proba,
    totals_of,
)
from karat.weak.result import LabelModelCheck, VoteDiagnostics

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
        "sample_weight": sample_weight,
        "also": also,
        "by_row": y_true is not None,
        "null": null_of(label_model, weak_labels, null),
    }
    if label_model is None:
        found = read_weak_labels(weak_labels, classes, **options)
        prior = check_class_prior(class_prior, found.classes, stated=classes is not None)
        class_prior = (
            None if prior is None else dict(zip(found.classes.tolist(), prior, strict=True))
        )
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
        class_prior=check_class_prior(class_prior, found.classes, stated=classes is not None),
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


# --- The test of a label model, on patterns and class probabilities that are already read.

# Smaller differences, in agreement, co-voting, accuracy or class prior, hardly move a bound.
_THRESHOLD = 0.02
_FEWEST = 20  # true labels below which a test that finds nothing has hardly looked


def check_patterns(
    found: Patterns,
    proba: FloatArray,
    *,
    model: Any,
    class_prior: FloatArray | None,
    gold: GoldRows | None,
    confidence: float,
    independence: bool | None = None,
    rng: np.random.Generator,
) -> LabelModelCheck:
    """Test P(Y | z) = ``proba`` of each pattern against votes, class prior and true labels.

    ``model`` says what it assumes of the votes in ``assumes_independence`` and
    ``abstention_is_informative``; one that does not say so, and an array, assume nothing.
    """
    if independence is None:
        independence = bool(getattr(model, "assumes_independence", False))
    informative = bool(getattr(model, "abstention_is_informative", True))
    evidence = gather(found, proba, class_prior, gold, rng)
    of_gold = gold_reasons(evidence, error=1 - confidence)
    reasons = find_reasons(
        evidence,
        error=1 - confidence,
        threshold=_THRESHOLD,
        agreement=independence,
        covotes=independence and informative,
    )
    return _result(evidence, of_gold, reasons, confidence, independence)


def _status(of_gold: list[str], of_votes: list[str], gold_n: int) -> tuple[str, str]:
    """Return the status and by what; true labels say more than votes."""
    if of_gold:
        return "contradicted", "gold"
    if of_votes:
        return "contradicted", "votes"
    return ("undecided", "gold") if gold_n >= _FEWEST else ("not validated", "votes")


def _result(
    evidence: Evidence,
    of_gold: list[str],
    of_votes: list[str],
    confidence: float,
    independence: bool,
) -> LabelModelCheck:
    found, table, gold = evidence.found, evidence.table, evidence.gold
    agree, covote = evidence.agreement, evidence.covote
    status, by = _status(of_gold, of_votes, evidence.gold_n)
    return LabelModelCheck(
        status=status,
        by=by,
        reasons=(*of_gold, *of_votes),
        n=found.n,
        names=found.names,
        classes=found.classes,
        confidence=confidence,
        threshold=_THRESHOLD,
        independence=independence,
        pairs=np.stack([agree.first, agree.second], axis=1),
        pair_n=agree.n,
        agreement_observed=agree.observed,
        agreement_expected=agree.expected,
        agreement_z=agree.z,
        covote_observed=covote.observed,
        covote_expected=covote.expected,
        covote_z=covote.z,
        worst_pair=evidence.worst_pair,
        accuracy=table.accuracy,
        chance=table.chance,
        accuracy_z=evidence.lead_z,
        prior=table.prior,
        prior_gap=evidence.prior_gap,
        gold_n=evidence.gold_n,
        gold_accuracy=None if gold is None else gold.accuracy,
        gold_promised=None if gold is None else gold.promised,
        gold_p_value=None if gold is None else gold.p_value,
        gold_noticeable=None if gold is None else gold.noticeable,
    )


# --- The failed tests of a label model, worded as reasons.

# Pairs and labelers that get a sentence of their own; the rest are counted in one more.
_NAMED = 2


def find_reasons(
    evidence: Evidence, *, error: float, threshold: float, agreement: bool, covotes: bool
) -> list[str]:
    """Return a sentence for each failed test of the votes, the most important first.

    All tests of the votes together raise a false alarm with probability ``error`` (Bonferroni).
    ``threshold`` is the least difference that counts. ``agreement`` and ``covotes`` say whether
    the two are tested: a model that was counted from true labels needs neither independent
    labelers nor labelers that are better than chance.
    """
    n_pairs = len(evidence.agreement.z)
    tests = len(evidence.lead_z) * agreement + n_pairs * (agreement + covotes)
    tests += 0 if evidence.prior_given is None else len(evidence.prior_z)
    limit = NormalDist().inv_cdf(1 - error / (2 * max(tests, 1)))
    reasons: list[str] = []
    if agreement:
        reasons += _of_agreement(evidence, limit, threshold)
        reasons += _of_labelers(evidence, limit, threshold)
    reasons += _of_prior(evidence, limit, threshold)
    if covotes:
        reasons += _of_covotes(evidence, limit, threshold)
    return reasons


def _percent(share: float) -> str:
    """Return a share as a percentage, with a decimal where rounding would hide what is left."""
    rounded = f"{100 * share:.0f}"
    return f"{100 * share:.1f} %" if rounded in {"0", "100"} and 0 < share < 1 else f"{rounded} %"


def gold_reasons(evidence: Evidence, *, error: float) -> list[str]:
    """Return a sentence if the true labels do not fit, which they do by chance with ``error``."""
    gold = evidence.gold
    if gold is None or gold.p_value >= error:
        return []
    head = f"the {evidence.gold_n} true labels do not fit it (p = {gold.p_value:.2g})"
    right, promised = _percent(gold.accuracy), _percent(gold.promised)
    tail = f"its most probable class is true on {right} of them where it promises {promised}"
    if GOLD_TESTS[gold.worst] == "class":
        tail = f"their classes are not as frequent as it says ({tail})"
    elif gold.accuracy < gold.promised:
        tail = f"it is over-confident ({tail})"
    return [f"{head}: {tail}"]


def _flagged(figures: Agreement, limit: float, threshold: float) -> BoolArray:
    far = np.abs(figures.observed - figures.expected) > threshold
    return np.asarray((np.abs(figures.z) > limit) & far)


def _name(evidence: Evidence, pair: int) -> str:
    return " and ".join(map(str, evidence.names_of(pair)))


def _of_agreement(evidence: Evidence, limit: float, threshold: float) -> list[str]:
    figures = evidence.agreement
    flagged = np.flatnonzero(_flagged(figures, limit, threshold))
    if not len(flagged):
        return []
    worst = flagged[np.argsort(-np.abs(figures.z[flagged]), kind="stable")]
    reasons = [
        f"{_name(evidence, pair)} agree on {_percent(figures.observed[pair])} of items where the "
        f"model implies {_percent(figures.expected[pair])}: they are not independent given the "
        "truth, or the model is wrong about them"
        for pair in worst[:_NAMED]
    ]
    if len(worst) > _NAMED:
        reasons.append(f"so it is with {len(worst) - _NAMED} more pairs")
    return _of_copies(evidence) + reasons + _of_loners(evidence, threshold)


def _of_loners(evidence: Evidence, threshold: float) -> list[str]:
    """Name labelers that agree with the others less often than their vote frequencies imply.

    A majority vote counts such votes like any other. This is no test of its own: it explains an
    agreement test that has failed.
    """
    table, figures = evidence.table, evidence.agreement
    votes = np.einsum("jy,jyc->jc", table.mass, table.given)
    votes /= np.maximum(votes.sum(axis=1, keepdims=True), 1e-300)
    both = np.flatnonzero(figures.n > 0)
    i, j = figures.first[both], figures.second[both]
    lead = figures.observed[both] - (votes[i] * votes[j]).sum(axis=1)
    m = len(votes)
    total = np.bincount(i, lead, m) + np.bincount(j, lead, m)
    mean = total / np.maximum(np.bincount(i, minlength=m) + np.bincount(j, minlength=m), 1)
    alone = [evidence.found.names[j] for j in np.flatnonzero(mean < -threshold)]
    if not alone:
        return []
    verb = "agrees" if len(alone) == 1 else "agree"
    return [f"{', '.join(alone)} {verb} with the others less often than chance would"]


def _of_copies(evidence: Evidence) -> list[str]:
    """Name labelers that are copies of one another.

    A fitted model takes a labeler and its copy for the truth, so the pairs that do not fit are the
    other ones. This is no test: it explains one that has failed.
    """
    reasons = []
    for pair, block in copied_pairs(evidence):
        often = _percent(evidence.agreement.observed[pair])
        names = ", ".join(str(evidence.found.names[j]) for j in sorted(block))
        who = "one is a near copy of the other" if len(block) == 2 else f"{names} are near copies"
        reasons.append(
            f"{_name(evidence, pair)} agree on {often} of the items on which both vote, more than "
            f"being right explains: {who}, and they have one vote together"
        )
    return reasons


def _of_covotes(evidence: Evidence, limit: float, threshold: float) -> list[str]:
    figures = evidence.covote
    flagged = np.flatnonzero(_flagged(figures, limit, threshold))
    if not len(flagged):
        return []
    pair = int(flagged[np.abs(figures.z[flagged]).argmax()])
    more = f", and so it is with {len(flagged) - 1} more pairs" if len(flagged) > 1 else ""
    return [
        f"{_name(evidence, pair)} both vote on {_percent(figures.observed[pair])} of items where "
        f"the model implies {_percent(figures.expected[pair])}: whether they vote is not "
        f"independent given the truth{more}"
    ]


def _of_labelers(evidence: Evidence, limit: float, threshold: float) -> list[str]:
    table = evidence.table
    lead = table.accuracy - table.chance
    bad = np.flatnonzero((evidence.lead_z < -limit) & (lead < -threshold))
    worst = bad[np.argsort(lead[bad], kind="stable")]
    reasons = [
        f"{evidence.found.names[j]} is right on {_percent(table.accuracy[j])} of its votes under "
        f"the model where votes that ignore the item would be on {_percent(table.chance[j])}: the "
        "labeler or the model is wrong, and only true labels can tell which"
        for j in worst[:_NAMED]
    ]
    if len(worst) > _NAMED:
        others = ", ".join(str(evidence.found.names[j]) for j in worst[_NAMED:][:8])
        more = ", …" if len(worst) > _NAMED + 8 else ""
        verb = "is" if len(worst) == _NAMED + 1 else "are"
        reasons.append(f"so {verb} {others}{more}")
    return reasons


def _of_prior(evidence: Evidence, limit: float, threshold: float) -> list[str]:
    given, implied = evidence.prior_given, evidence.table.prior
    if given is None:
        return []
    off = (np.abs(evidence.prior_z) > limit) & (np.abs(implied - given) > threshold)
    if not off.any():
        return []
    c = int(np.where(off, np.abs(implied - given), 0.0).argmax())
    return [
        f"the model implies that {_percent(implied[c])} of items are {evidence.found.classes[c]} "
        f"where class_prior says {_percent(given[c])}"
    ]


# --- Labelers that are copies of one another, where a label model has failed.


class CopiedPair(NamedTuple):
    """A labeler and its nearest copy, as a pair of the agreement, and all labelers of the block."""

    pair: int
    block: tuple[int, ...]


def copied_pairs(evidence: Evidence) -> list[CopiedPair]:
    """Return the blocks of near copies, by the rule of `karat.votes.agreement.near_copies`.

    Two labelers that are nearly always right agree as often as a labeler and its copy; the rule,
    which looks at the labelers outside a block, does not mistake them for one.
    """
    k = len(evidence.found.classes)
    table = VoteTable.of_codes(evidence.found.patterns, evidence.found.counts, k)
    figures, found = evidence.agreement, []
    for block in near_copies(table).blocks:
        inside = np.isin(figures.first, block) & np.isin(figures.second, block)
        pairs = np.flatnonzero(inside & (figures.n > 0))
        found.append(CopiedPair(int(pairs[figures.observed[pairs].argmax()]), block))
    return found


# --- The figures by which a label model is tested.


class Evidence(NamedTuple):
    """The patterns, and the figures that test P(Y | Z) against them and against true labels.

    ``agreement`` is how often two labelers agree where both vote, ``covote`` how often both vote;
    ``lead_z`` is by how many standard errors each labeler is better than chance under the model.
    """

    found: Patterns
    table: LabelerTable
    lead_z: FloatArray
    agreement: Agreement
    covote: Agreement
    prior_given: FloatArray | None
    prior_z: FloatArray
    gold: GoldTest | None
    gold_n: int

    @property
    def worst_pair(self) -> tuple[Any, Any] | None:
        """The pair whose agreement is furthest from what is implied."""
        if not len(self.agreement.z):
            return None
        worst = int(np.abs(self.agreement.z).argmax())
        return self.names_of(worst)

    def names_of(self, pair: int) -> tuple[Any, Any]:
        """Return the labelers of a pair."""
        names, figures = self.found.names, self.agreement
        return names[figures.first[pair]], names[figures.second[pair]]

    @property
    def prior_gap(self) -> float | None:
        """Greatest difference between the implied and the given prior."""
        if self.prior_given is None:
            return None
        return float(np.abs(self.table.prior - self.prior_given).max())


def gather(
    found: Patterns,
    proba: FloatArray,
    prior: FloatArray | None,
    gold: GoldRows | None,
    rng: np.random.Generator,
) -> Evidence:
    """Compute all figures for P(Y | z) = ``proba``, and test the true labels."""
    share = found.counts / found.n
    table = labelers(found.patterns, share, proba, found.n)
    gap = np.zeros_like(table.prior) if prior is None else table.prior - prior
    error = np.sqrt(share @ (proba - table.prior) ** 2 / found.n)
    agreement, covote = agreement_of_posterior(found.patterns, share, proba, table, found.n)
    gold_n = 0 if gold is None else len(gold.labels)
    test = None if gold is None or not gold_n else gold_test(gold, rng)
    return Evidence(
        found=found,
        table=table,
        lead_z=_ratio(table.accuracy - table.chance, table.lead_error),
        agreement=agreement,
        covote=covote,
        prior_given=prior,
        prior_z=_ratio(gap, error),
        gold=test,
        gold_n=gold_n,
    )


def _ratio(gap: FloatArray, error: FloatArray) -> FloatArray:
    """Return gap / error, finite also where the error is zero."""
    return np.where(np.abs(gap) < 1e-12, 0.0, gap / np.maximum(error, 1e-12))


# --- Test of whether a few true labels look like draws from P(Y | Z).

_DRAWS = 999
_CELLS = 4_000_000  # drawn at a time
_POWER = 1.96 + 0.84  # standard errors that a test at 5 % notices four times in five

# What each statistic looks at, in the order of `GoldTest.worst`.
GOLD_TESTS = ("class", "top", "log loss", "top where sure", "top where unsure")


class GoldRows(NamedTuple):
    """True labels as codes (g,), and P(Y | Z) of their items (g, k) from a model without them."""

    labels: IntArray
    proba: FloatArray


class GoldTest(NamedTuple):
    """Outcome: ``worst`` is the place of the most extreme statistic in `GOLD_TESTS`.

    ``accuracy`` is how often the most probable class is true and ``promised`` how often it should
    be; ``noticeable`` is the gap between the two that so many labels notice four times in five.
    """

    p_value: float
    worst: int
    accuracy: float
    promised: float
    noticeable: float


def gold_test(gold: GoldRows, rng: np.random.Generator) -> GoldTest:
    """Test that the true labels are draws from the class probabilities of their items.

    Five statistics, each squared and in its standard errors: the class whose count is furthest
    off; how often the most probable class is true; the log loss; and the second again in the half
    of the items where the model is surer and in the other. Each is ranked among the same simulated
    labels; so is the least of the five p-values, which makes it an exact p-value.
    """
    labels, proba = gold
    p = proba / proba.sum(axis=1, keepdims=True)
    edges = np.cumsum(p, axis=1)[:, :-1]
    values = [_statistics(labels[None], p)]
    step = max(1, _CELLS // p.size)
    for start in range(0, _DRAWS, step):
        uniform = rng.random((min(step, _DRAWS - start), len(p), 1))
        values.append(_statistics((uniform > edges).sum(axis=2), p))
    table = np.concatenate(values)
    each = np.stack([_p_values(column) for column in table.T], axis=1)
    least = each.min(axis=1)
    top = p.max(axis=1)
    return GoldTest(
        p_value=float(np.mean(least <= least[0])),
        worst=int(each[0].argmin()),
        accuracy=float(np.mean(labels == p.argmax(axis=1))),
        promised=float(top.mean()),
        noticeable=float(_POWER * np.sqrt(np.sum(top * (1 - top))) / len(p)),
    )


def _statistics(drawn: IntArray, p: FloatArray) -> FloatArray:
    """Return the five statistics of each draw of labels (b, g): (b, 5)."""
    k = p.shape[1]
    total = np.stack([(drawn == c).sum(axis=1) for c in range(k)], axis=1) - p.sum(axis=0)
    by_class = (total**2 / np.maximum((p * (1 - p)).sum(axis=0), 1e-9)).max(axis=1)
    log = np.log(np.maximum(p, 1e-12))
    mean, square = np.sum(p * log, axis=1), np.sum(p * log**2, axis=1)
    score = log[np.arange(len(p)), drawn].sum(axis=1) - mean.sum()
    loss = score**2 / max(float((square - mean**2).sum()), 1e-9)
    top, sure = p.max(axis=1), p.argmax(axis=1)
    off = (drawn == sure) - top
    half = top >= np.median(top)
    tops = []
    for part in (np.ones(len(p), dtype=bool), half, ~half):
        spread = max(float((top * (1 - top))[part].sum()), 1e-9)
        tops.append(off[:, part].sum(axis=1) ** 2 / spread)
    # Rounded, so that equal draws tie in spite of the order of summation.
    return np.stack([by_class, tops[0], loss, tops[1], tops[2]], axis=1).round(9)


def _p_values(values: FloatArray) -> FloatArray:
    """Return the share of all values that are at least as large as each."""
    order = np.sort(values)
    below = np.searchsorted(order, values, side="left")
    return np.asarray((len(values) - below) / len(values))


# --- Coverage, overlap and conflict of labelers, from their votes alone.


@keeps_kind
def vote_diagnostics(
    weak_labels: Frame | Patterns, *, classes: Column | None = None
) -> VoteDiagnostics:
    """Count how often each labeler votes, beside others and against them.

    Parameters
    ----------
    weak_labels : matrix or frame (n, m)
        One row per item, one column per labeler; -1 where a labeler abstained, null where it was
        not asked. Neither is a vote, so the diagnostics treat them alike.
    classes : column (k,), optional
        The classes in the wanted order; by default those found, sorted.

    Returns
    -------
    VoteDiagnostics
        Per labeler: ``coverage`` (share of items with its vote), ``overlap`` (with its vote and
        another's), ``conflict`` (with its vote and a different one), ``votes`` (share of all items
        with its vote for each class) and ``polarity`` (the classes it ever votes for); and
        ``uncovered``, the share of items without any vote.

    Examples
    --------
    >>> d = vote_diagnostics([[0, 0, -1], [1, -1, -1], [0, 1, 1], [-1, -1, -1]])
    >>> d.coverage.tolist(), d.overlap.tolist(), d.conflict.tolist()
    ([0.75, 0.5, 0.25], [0.5, 0.5, 0.25], [0.25, 0.25, 0.25])
    >>> d.polarity
    ((0, 1), (0, 1), (1,))
    """
    found = read_weak_labels(weak_labels, classes)
    codes, k = found.patterns, len(found.classes)
    share = found.counts / found.n
    totals = totals_of(codes, k)
    n_votes = totals.sum(axis=1)[:, None]
    voted = codes >= 0
    same = np.take_along_axis(totals, np.maximum(codes, 0), axis=1)
    votes = np.stack([share @ (codes == c) for c in range(k)], axis=1)
    labels = found.classes.tolist()
    answer = VoteDiagnostics(
        n=int(found.n),
        names=found.names,
        classes=found.classes,
        coverage=share @ voted,
        overlap=share @ (voted & (n_votes > 1)),
        conflict=share @ (voted & (n_votes > same)),
        votes=votes,
        polarity=tuple(tuple(c for c, v in zip(labels, row, strict=True) if v) for row in votes),
        uncovered=float(share @ ~voted.any(axis=1)),
    )
    return found._like(answer)
