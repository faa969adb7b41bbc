"""Whether a model is right less often than one who always predicts the same class."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from karat._result import basis_of
from karat._sentences import shown
from karat._typing import FloatArray
from karat.evaluation.questions._finding import Evidence, code_of, percent, script, several
from karat.exceptions import KaratError
from karat.metrics import as_metric
from karat.report.answer import Finding
from karat.report.parts import Table, Verdict
from karat.statistics import Confusion, confusion

_ROUNDING = 1e-12  # shares of weighted rows that differ by less are equal
_BY_CHANCE = 0.05  # how often labels without any relation to predictions are called swapped


class _Below(NamedTuple):
    """A model's accuracy, and that of always predicting the most frequent class of the labels."""

    accuracy: float
    best: float
    always: Any
    swapped: tuple[Any, Any] | None
    exchanged: float

    @property
    def is_below(self) -> bool:
        """Whether one class alone has the greater accuracy."""
        return self.accuracy < self.best - _ROUNDING


def shares_of(table: FloatArray) -> tuple[float, float, int]:
    """Return accuracy, the share of the most frequent true class, and that class, of counts."""
    total, of_class = table.sum(), table.sum(axis=1)
    at = int(of_class.argmax())
    return float(np.trace(table) / total), float(of_class[at] / total), at


def best_exchange(table: FloatArray) -> tuple[int, int, float]:
    """Return the two classes to exchange in the predictions for most accuracy, and that accuracy.

    The items of classes a and b that are right, ``table[a, a] + table[b, b]``, become wrong, and
    those of either that were taken for the other become right.
    """
    right = np.diag(table)
    gain = table + table.T - right[:, None] - right[None, :]
    np.fill_diagonal(gain, -np.inf)
    one, two = sorted(divmod(int(gain.argmax()), len(table)))
    return one, two, float((right.sum() + gain[one, two]) / table.sum())


def are_swapped(counts: FloatArray, one: int, two: int) -> bool:
    """Return whether predictions of two classes are turned around by more than chance explains.

    Of the items whose truth and prediction are among the two, Fisher's exact test asks whether
    truth and prediction agree less often than if they had nothing to do with each other, at
    `_BY_CHANCE` divided by the number of pairs of classes. That most items are wrong is not enough:
    so they are if a rare class is predicted too often.
    """
    from scipy.stats import fisher_exact

    k = len(counts)
    both = counts[np.ix_((one, two), (one, two))].astype(np.int64)
    chance = float(fisher_exact(both, alternative="less").pvalue)
    return chance <= _BY_CHANCE / (k * (k - 1) / 2)


def _compared(y: Any, predicted: Any, weight: Any, *, repeated: bool) -> _Below:
    is_counted = isinstance(predicted, Confusion)
    found = predicted.pooled() if is_counted else confusion(y, predicted, weight)
    table, classes = np.asarray(found.counts, dtype=np.float64), found.classes.tolist()
    of_rows = weight is None or repeated
    rows = table if of_rows else np.asarray(confusion(y, predicted).counts)
    accuracy, best, at = shares_of(table)
    one, two, exchanged = best_exchange(table)
    turned = exchanged > accuracy + _ROUNDING and are_swapped(rows, one, two)
    swapped = (classes[one], classes[two]) if turned else None
    return _Below(accuracy, best, classes[at], swapped, exchanged)


def below_one_class(
    y: Any,
    models: Mapping[str, Any],
    *,
    sample_weight: Any = None,
    weighting: str = "importance",
    by: str = "",
) -> Verdict | None:
    """Return which models predict worse than one class would, or None if none does.

    ``y`` are the labels of the labelled rows, ``sample_weight`` and
    ``weighting`` their weights, ``by`` the weights' name. Models of which there is a confusion
    alone come with it in the place of predictions, and None for ``y``.
    """
    repeated = weighting == "frequency"
    found = {name: _compared(y, p, sample_weight, repeated=repeated) for name, p in models.items()}
    below = {name: b for name, b in found.items() if b.is_below}
    if not below:
        return None
    first = next(iter(below.values()))
    values = [f"{name} ({b.accuracy:.3f})" for name, b in below.items()]
    n = _number(y, models, sample_weight if repeated else None)
    weighted = f", weighted by {by}" if by else ""
    said = (
        f"Accuracy of {several(values)} is less than that of always predicting "
        f"{shown(first.always)} ({first.best:.3f}), on the {n:,} labelled rows{weighted}."
    )
    change = "a better model, or another metric: accuracy does not count what each error costs"
    for name, b in below.items():
        if b.swapped is not None:
            one, two = b.swapped
            said += (
                f" With {shown(one)} and {shown(two)} exchanged in {name} it would be "
                f"{b.exchanged:.3f}: the two labels may be swapped."
            )
            change = "predictions and labels that mean the same by each class"
    # A count of the rows at hand: nothing is left to chance.
    return Verdict(sentence=said, badge=basis_of("complete"), change=change)


def _number(y: Any, models: Mapping[str, Any], times: Any) -> int:
    """Return how many labelled rows there are."""
    if y is None:
        return int(next(iter(models.values())).n)
    return len(y) if times is None else int(np.asarray(times).sum())


def _most_frequent(e: Evidence, y: Any) -> Any:
    if e.counts is None:
        return y.mode().sort()[0]
    counts = np.bincount(y.rank("dense").to_numpy() - 1, e.counts[e.known])
    return y.unique().sort()[int(counts.argmax())]


def one_class(e: Evidence) -> Finding | None:
    """Return what is to be said before all else: one class alone would be more accurate."""
    rows, beside = _measured(e), e.repeats if e.counted is None else {}
    truth = None if e.counted is not None else next(iter(rows.values()))[0]
    try:
        verdict = below_one_class(truth, {name: data[-1] for name, data in rows.items()}, **beside)
    except KaratError:
        return None  # the question of how good the models are says what is wrong
    if verdict is None:
        return None
    always, constant = _constant(e, next(iter(rows.values())))
    accuracy, options = as_metric("accuracy"), {"confidence": e.confidence, "rng": e.rng} | beside
    results = {
        f"{name}: accuracy": accuracy.estimate(*data, **options) for name, data in rows.items()
    }
    results[f"always {_short(always)}: accuracy"] = accuracy.estimate(*constant, **options)
    return Finding(
        key="one_class",
        question="Is it better than always predicting one class?",
        answer=verdict.sentence,
        results=dict(results),
        table=Table(
            columns=("what", "value", "lower", "upper"),
            rows=tuple(
                (name, f"{r.value:.3f}", f"{r.lower:.3f}", f"{r.upper:.3f}")
                for name, r in results.items()
            ),
            caption=f"Accuracy, {percent(e.confidence)} limits from {e.n_known:,} labelled rows",
        ),
        assumptions=(
            "The accuracies of the sentence are counts of these rows; the limits are of rows like "
            "them.",
            "Two labels are said to be swapped if exchanging them in the predictions raises the "
            "accuracy and Fisher's exact test does not take it for chance.",
        ),
        code=_code(e),
        verdicts=(verdict,),
    )


def _measured(e: Evidence) -> dict[str, tuple[Any, ...]]:
    """Return labels and predictions of each model, or its confusion of all groups together."""
    if e.counted is None:
        return {name: e.data(name)[0] for name in e.roles.pred}
    return {name: (e.data(name)[0][0].pooled(),) for name in e.roles.pred}


def _constant(e: Evidence, data: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Return the most frequent class, and the data of a model that always predicts it."""
    if e.counted is None:
        y = data[0]
        always = _most_frequent(e, y)
        return always, (y, y.clear(len(y)).fill_null(always))
    (table,) = data
    counts = np.zeros_like(table.counts)
    at = int(table.counts.sum(axis=1).argmax())
    counts[:, at] = table.counts.sum(axis=1)
    return table.classes[at].item(), (replace(table, counts=counts),)


def _code(e: Evidence) -> str:
    known, data = e.data_code(e.roles.pred[0])
    if e.counted is not None:
        return script(e.read, "", *data)
    used = "from karat.statistics import confusion"
    return script(e.read, used, *known, code_of("confusion", *data))


def _short(label: Any) -> str:
    """Return a label as the name of a row, without its end where it is very long."""
    text = str(label)
    return text if len(text) <= 60 else f"{text[:57]}..."
