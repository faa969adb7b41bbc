"""Table 7.4 of Hiranandani (2021): the G-mean on Adult, trained on a proxy of the label."""

from collections.abc import Callable
from typing import Any

import numpy as np
from _optimize_adult import Array, Split, Task, income, non_private, private, proxy_task, seeds
from _optimize_linear import fine_tuned, forward_corrected, rates, reweighted
from _show import Promise, number, say, show_table
from sklearn.linear_model import LogisticRegression

from karat.metrics import g_mean
from karat.optimize import (
    CoordinateSearchClassifier,
    FrankWolfeClassifier,
    ImportanceWeightedClassifier,
)

__all__ = ["run_proxy"]

_GOAL = 0.685
_BASES: dict[str, Any] = {
    "constant": ["constant"],
    "private, non-private": ["constant", private, non_private],
    "and income": ["constant", private, non_private, income],
}
_BASES["chosen by cross-validation"] = list(_BASES.values())
# Table 7.4: mean and deviation over 5 splits.
_PRINTED = {
    "Cross-entropy (train)": ".654 ± .002",
    "Cross-entropy (val)": ".394 ± .064",
    "Opt-metric (val)": ".652 ± .027",
    "Plug-in (train-val)": ".672 ± .013",
    "Importance weights": ".662 ± .024",
    "Fine-tuning": ".631 ± .017",
    "Learn-to-reweight, rate 0.5": ".668 ± .003",
    "Forward Correction": ".214 ± .004",
    "Adaptive Surrogates (not run)": ".682 ± .002",
    "FW-EG, known ψ, chosen by cross-validation": ".685 ± .001",
    "FW-EG, unknown ψ, chosen by cross-validation": ".685 ± .002",
}
_INTRODUCTION = """\
Table 7.4: predict sex on Adult by the G-mean. The training file's label is a proxy, relationship =
Husband; validation and test rows have the truth. 101 columns of 0 and 1: education, occupation,
race, country, binned numbers, private and non-private workforce, income; neither marital status nor
relationship nor sex. Section 7.7.2 says that 1 % of the training data (350 rows, Table 7.2) is the
validation sample. The authors' public code (stair-lab/fweg) takes 1 % of the test file instead: 163
rows, seeds 15 to 55, the rest being the test rows. So it is here; the one difference left is the
model, a logistic regression of all 32,561 training rows (theirs: SGD on two thirds of them).
Fine-tuning, Learn-to-reweight and Forward Correction train the logistic regression again; their
gradients are written out here, with three learning rates of reweighting, since the published one is
not given. Adaptive Surrogates (Jiang et al. 2020; .682 ± .002) is not reimplemented: the figure is
the printed one. "matching by labels" is Algorithm 7.1 as printed, on the training rows.
"""
_RETRAINED = """\
Reweighting with the rate .5 is {above} post-shifting here: it trains again, and each of its 600
steps looks at all true labels; at the other rates it is below. Which rate was taken is not said, so
no promise is made about it. Forward correction reads the noise off the most certain predictions:
P(label 1 | truth 0) = {low:.2f} and P(label 1 | truth 1) = {high:.2f}. So it corrects little; what
made the published .214 is unknown.
"""

Decide = Callable[[Task, Split], Array]


def run_proxy(*, quick: bool) -> list[Promise]:
    """Print Table 7.4 beside karat's figures; return what is promised."""
    say(_INTRODUCTION)
    task = proxy_task()
    splits = [task.split(0.01, seed) for seed in seeds(quick=quick)]
    corrected, flips = forward_corrected(task.model, task.x, task.y)
    methods = _baselines() | _retrained(corrected, quick=quick) | _post_shifts(quick=quick)
    found = {
        name: np.array([g_mean.score(s.y, decide(task, s)) for s in splits])
        for name, decide in methods.items()
    }
    show_table(
        f"Test G-mean over {len(splits)} splits",
        ["", "published", "mean", "deviation", "each split"],
        [
            *(_row(name, values) for name, values in found.items()),
            ["Adaptive Surrogates (not run)", ".682 ± .002", "–", "–", ""],
        ],
    )
    say(_remark(found))
    ahead = found["Learn-to-reweight, rate 0.5"] - found["FW-EG, known ψ, constant"]
    above = "above" if ahead.mean() > 0 else "below"
    say(_RETRAINED.format(above=above, low=flips[0, 1], high=flips[1, 1]))
    return _promises(found)


def _row(name: str, values: Array) -> list[str]:
    each = " ".join(number(v, 3) for v in values)
    deviation = number(values.std(ddof=1), 4)
    return [name, _PRINTED.get(name, "–"), number(values.mean(), 4), deviation, each]


def _remark(found: dict[str, Array]) -> str:
    chosen = found["FW-EG, known ψ, chosen by cross-validation"].mean()
    fixed = found["FW-EG, known ψ, constant"].mean()
    state = "reaches" if chosen >= _GOAL else "does NOT reach"
    return (
        f"With the basis chosen by cross-validation the mean is {chosen:.4f}, which {state} "
        f"{_GOAL}; with the constant alone it is {fixed:.4f}. 163 rows measure a G-mean with a "
        "standard error of about .04, and the bases differ by .002: the choice is a toss, and more "
        "functions only add noise here.\n"
    )


def _promises(found: dict[str, Array]) -> list[Promise]:
    compared = [*_baselines(), "Fine-tuning", "Forward Correction"]
    best = max(found[name].mean() for name in compared)
    promises = []
    for psi in ("known", "unknown"):
        mean = float(found[f"FW-EG, {psi} ψ, constant"].mean())
        above = f"Table 7.4, {psi} ψ − best baseline but reweighting, thousandths"
        promises += [
            Promise(f"Table 7.4, FW-EG, {psi} ψ, constant basis", mean, _GOAL),
            Promise(above, 1e3 * (mean - best), 0.0),
        ]
    return promises


def _baselines() -> dict[str, Decide]:
    def train(task: Task, s: Split) -> Array:
        return np.eye(2)[task.model.predict(s.x)]

    def validation(_: Task, s: Split) -> Array:
        return np.eye(2)[LogisticRegression(max_iter=2000).fit(s.x_val, s.y_val).predict(s.x)]

    def opt_metric(_: Task, s: Split) -> Array:
        rows = (s.x_val, s.y_val)
        model = LogisticRegression(max_iter=2000).fit(*rows)
        return (
            FrankWolfeClassifier(model).fit(*rows, X_val=s.x_val, y_val=s.y_val).predict_proba(s.x)
        )

    def plug_in(task: Task, s: Split) -> Array:
        return _fitted(CoordinateSearchClassifier(task.model), task, s)

    def importance(task: Task, s: Split) -> Array:
        return _fitted(ImportanceWeightedClassifier(task.model), task, s)

    return {
        "Cross-entropy (train)": train,
        "Cross-entropy (val)": validation,
        "Opt-metric (val)": opt_metric,
        "Plug-in (train-val)": plug_in,
        "Importance weights": importance,
    }


def _retrained(corrected: Any, *, quick: bool) -> dict[str, Decide]:
    """Return the baselines that train the logistic regression again."""

    def tuned(task: Task, s: Split) -> Array:
        return np.eye(2)[fine_tuned(task.model, s.x_val, s.y_val)(s.x)]

    def learnt(rate: float) -> Decide:
        def decide(task: Task, s: Split) -> Array:
            return np.eye(2)[reweighted(task.x, task.y, s.x_val, s.y_val, rate=rate)(s.x)]

        return decide

    def forward(_: Task, s: Split) -> Array:
        return np.eye(2)[corrected(s.x)]

    return {
        "Fine-tuning": tuned,
        **{f"Learn-to-reweight, rate {rate:g}": learnt(rate) for rate in rates(quick=quick)},
        "Forward Correction": forward,
    }


def _post_shifts(*, quick: bool) -> dict[str, Decide]:
    methods: dict[str, Decide] = {}
    for matching in ("probabilities", "labels"):
        for basis in _BASES:
            if quick and matching == "labels" and basis != "constant":
                continue
            for psi, gradient in (("known", None), ("unknown", "probed")):
                name = f"FW-EG, {psi} ψ, {basis}"
                if matching == "labels":
                    name = f"{name}, matching by labels"
                options = {"basis": _BASES[basis], "gradient": gradient, "matching": matching}
                methods[name] = _post_shift(options)
    return methods


def _post_shift(options: dict[str, Any]) -> Decide:
    def decide(task: Task, s: Split) -> Array:
        return _fitted(FrankWolfeClassifier(task.model, "g_mean", **options), task, s)

    return decide


def _fitted(classifier: Any, task: Task, s: Split) -> Array:
    """Return the class shares on the test rows."""
    classifier.fit(task.x, task.y, X_val=s.x_val, y_val=s.y_val)
    return np.asarray(classifier.predict_proba(s.x))
