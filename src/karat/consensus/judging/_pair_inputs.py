"""What stands beside the verdicts on pairs: domains, gold, style."""

from typing import Any

import numpy as np

from karat._typing import FloatArray, IntArray
from karat._validate import read_columns, shown
from karat.consensus.pairs import PairVerdicts, net_votes, style_effect
from karat.consensus.result import ErrorRates
from karat.exceptions import LabelError, LengthMismatchError

__all__ = ["pair_chances", "pair_domains", "pair_gold", "pair_styles", "pair_votes"]


def pair_votes(read: PairVerdicts, votes: IntArray, voting: IntArray) -> dict[str, Any]:
    """Return the columns of votes of the judges that voted, and the names of the pairs."""
    names = read.judges.tolist()
    columns: dict[str, Any] = {
        str(names[j]): np.where(votes[:, j] == -2, np.nan, votes[:, j]) for j in voting
    }
    if read.items is not None and "item" not in columns:
        columns["item"] = read.items.take(np.arange(read.n_items))
    return columns


def pair_chances(read: PairVerdicts, label_probability: Any) -> Any:
    """Return the chance with which every pair was drawn, NaN where it was not."""
    if label_probability is None:
        return None
    found = read.per_item(label_probability, "label_probability")
    return np.array([np.nan if value is None else value for value in found], dtype=np.float64)


def pair_domains(read: PairVerdicts, domains: Any) -> Any:
    """Return the domain of every pair."""
    domains = read.domain if domains is None else domains
    if domains is None:
        return None
    found = read.per_item(domains, "domains")
    if any(value is None for value in found):
        raise LabelError("a pair has no domain; pass one for every pair")
    return found


def pair_gold(read: PairVerdicts, y_true: Any) -> Any:
    """Return 0 or 1, the better answer of every pair, -1 where it is not known."""
    if y_true is None:
        return None
    codes = []
    for value in read.per_item(y_true, "y_true"):
        known = value is not None and value != -1 and str(value).lower() not in ("tie", "-1")
        if known and value not in read.classes.tolist():
            raise LabelError(
                f"y_true holds {shown(value)}; expected one of {read.classes.tolist()}, 'tie' or -1"
            )
        codes.append(read.classes.tolist().index(value) if known else -1)
    return codes


def pair_styles(
    read: PairVerdicts, covariates: Any, rates: ErrorRates, weight: FloatArray, delta: float
) -> tuple[tuple[Any, ...], ...]:
    """Return, covariate by covariate, its effect on each judge: value, lower, upper."""
    if covariates is None:
        return ()
    columns, names = read_columns(covariates, "covariates", each="column per covariate")
    style = np.zeros((read.n_items, len(names)))
    for k, (values, mask) in enumerate(columns):
        if len(values) != len(read.item_of_row):
            raise LengthMismatchError(
                f"the verdicts have {len(read.item_of_row):,} rows and covariates has "
                f"{len(values):,}; pass one row per row"
            )
        if mask is not None or values.dtype.kind not in "biuf":
            raise LabelError(f"covariates column {names[k]!r} holds text or a missing value")
        style[read.item_of_row, k] = values
    spread = style.std(axis=0)
    style = style / np.where(spread > 0, spread, 1.0)  # an effect is that of one standard deviation
    proba = _without(read, rates)
    says = (
        np.nansum(read.score, axis=0) / np.maximum((~np.isnan(read.score)).sum(axis=0), 1) + 1
    ) / 2
    effect = np.full((3, len(names), read.score.shape[2]), np.nan)
    for j in range(read.score.shape[2]):
        seen = ~np.isnan(read.score[:, :, j]).all(axis=0) & (weight > 0)
        if seen.sum() > 10:
            value, low, high, _ = style_effect(says[seen, j], proba[seen, j], style[seen], delta)
            effect[:, :, j] = value, low, high
    return tuple((name, *effect[:, k]) for k, name in enumerate(names))


def _without(read: PairVerdicts, rates: ErrorRates) -> FloatArray:
    """Return, pairs × judges, P(A is better) from the votes of the other judges alone."""
    votes = net_votes(read.score)
    said = np.zeros(votes.shape)
    strength = np.zeros(votes.shape[1])
    names = [str(name) for name in read.judges.tolist()]
    r = rates
    for i in range(len(r.mean)):
        j = names.index(str(r.classifiers[r.classifier[i]]))
        wrong = float(np.clip(r.mean[i], 0.01, 0.99))
        strength[j] = np.log((1 - wrong) / wrong)
    said[votes == 0], said[votes == 1] = 1.0, -1.0
    total = said @ strength
    return np.asarray(1 / (1 + np.exp(-(total[:, None] - said * strength))))
