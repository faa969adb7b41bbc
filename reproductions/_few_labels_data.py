"""Classifiers of real data whose labels are all known: audits are held to the truth."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.datasets import load_shared

__all__ = ["CONFIRMED", "SETTLED", "AuditSet", "load_audit_set"]

# The design was settled on the first three sets and confirmed, unchanged, on the others.
SETTLED = ("adult 5 %", "credit 22 %", "sms 13 %")
CONFIRMED = ("credit 5 %", "magic 5 %", "magic 35 %")
_TABLES = {
    "adult": ("adult", "data", "income", None),
    "credit": ("credit_default", "data", "default", None),
    "magic": ("magic", "data", "class", None),
    "sms": ("wrench_sms", "data", "label", "text"),
}


class AuditSet(NamedTuple):
    """Items that a classifier has not seen, with its probabilities, its calls and the truth."""

    name: str
    chance: NDArray[Any]
    called: NDArray[Any]
    truth: NDArray[Any]


@cache
def load_audit_set(name: str) -> AuditSet:
    """Fit a classifier on a half of a table and call the other half at its best F1 there."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    key, share, _ = name.split()
    x, y = _table(key)
    rng = np.random.default_rng(7)
    keep = _thinned(y, float(share) / 100, rng)
    x, y = x[keep], y[keep]
    order = rng.permutation(len(y))
    fit, rest = order[: len(y) // 2], order[len(y) // 2 :]
    if key == "sms":
        model: Any = LogisticRegression(C=10.0, max_iter=500).fit(x[fit], y[fit])
    else:
        model = HistGradientBoostingClassifier(max_iter=80, random_state=0).fit(x[fit], y[fit])
    threshold = _best_threshold(y[fit], model.predict_proba(x[fit])[:, 1])
    chance = model.predict_proba(x[rest])[:, 1]
    return AuditSet(name, chance, (chance > threshold).astype(int), y[rest])


def _table(key: str) -> tuple[Any, NDArray[Any]]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import OrdinalEncoder

    folder, table, label, text = _TABLES[key]
    frame = load_shared(folder, table).drop(columns="split", errors="ignore")
    values = frame.pop(label)
    y = (values == np.sort(values.unique())[-1]).astype(int).to_numpy()
    if key == "magic":
        y = 1 - y if y.mean() > 0.5 else y
    if text is not None:
        kept = y >= 0
        return TfidfVectorizer(min_df=2).fit_transform(frame[text].astype(str))[kept], y[kept]
    words = frame.select_dtypes(exclude="number").columns
    frame[words] = OrdinalEncoder().fit_transform(frame[words].astype(str))
    return frame.to_numpy(float), y


def _thinned(y: NDArray[Any], share: float, rng: np.random.Generator) -> NDArray[Any]:
    """Return rows of which a share is positive: positives are left out, never repeated."""
    positive, negative = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    wanted = min(len(positive), round(share / (1 - share) * len(negative)))
    return np.sort(np.concatenate([rng.permutation(positive)[:wanted], negative]))


def _best_threshold(y: NDArray[Any], chance: NDArray[Any]) -> float:
    order = np.argsort(-chance)
    found = np.cumsum(y[order])
    f1 = 2 * found / (np.arange(1, len(y) + 1) + y.sum())
    return float(chance[order[int(np.argmax(f1))]]) - 1e-12
