"""Limits and tests on laws made of real data: probabilities of models, labels drawn from a fit."""

import time

import numpy as np
from _calibration_maps import multilabel_table, out_of_fold
from _show import Promise, say, show_table
from numpy.typing import NDArray
from scipy.stats import binomtest

from karat.calibration._canonical import score_test
from karat.calibration._marginal import debiased_terms
from karat.calibration.maps import Rows, fit_stack
from karat.calibration.models import CentredCopula, Fit, Trees, fit_wide

__all__ = ["run_coverage"]

Array = NDArray[np.float64]

_NAMES = ("birds", "emotions", "enron", "flags", "medical", "yeast")
_LAWS = ("calibrated", "stack", "trees")
_FITS = {"wide": fit_wide, "centred": CentredCopula}
_ROWS = 1000
_LEAST_SHARE = 0.05  # of rows in which a label is 1, and is 0
_SEED = 5000


def run_coverage(
    *, quick: bool, names: tuple[str, ...] = _NAMES, runs: int = 100, tests: int = 200
) -> list[Promise]:
    """Print how often limits hold a known truth, and how often calibrated rows are rejected."""
    if quick:
        names, runs, tests = ("emotions",), 20, 20
    say(_introduction(runs, tests))
    rows, levels = [], []
    covered: dict[str, list[float]] = {fit: [] for fit in _FITS}
    for name in names:
        start = time.process_time()
        laws, rejected = _laws(name), _rejected(name, tests)
        levels.append(rejected)
        for law in _LAWS:
            h, g = laws[law]
            share = [_covered(h, g, fit, runs) for fit in _FITS.values()]
            if law == "calibrated":
                for fit, (held, _) in zip(_FITS, share, strict=True):
                    covered[fit].append(held)
            truth = float(((g - h) ** 2).sum(axis=1).mean())
            cells = [f"{held:.2f} / {bias:+.4f}" for held, bias in share]
            level = [f"{100 * r:.1f} %" for r in rejected] if law == "calibrated" else ["", ""]
            rows.append([name, str(h.shape[1]), law, f"{truth:.4f}", *cells, *level])
        say(f"({name}: {time.process_time() - start:.0f} s)")
    columns = [
        "dataset",
        "K",
        "labels by",
        "CE₂²",
        *(f"{fit}: covered / bias" for fit in _FITS),
    ]
    show_table("", [*columns, "p ≤ .05", "p ≤ .01"], rows)
    return [] if quick else _promises(covered, np.array(levels), tests)


def _introduction(runs: int, tests: int) -> str:
    return (
        "Laws that nothing was tuned to: out-of-fold probabilities h of logistic regressions on "
        f"six datasets (labels that are 1, and 0, in {100 * _LEAST_SHARE:g} % of the rows at "
        f"least), {_ROWS:,} rows drawn with replacement, and labels drawn anew from g: h itself "
        "(calibrated), a logistic regression of the real labels on all logits (stack), boosted "
        "trees of them (trees, which no copula can follow). Coverage is promised where rows are "
        "calibrated; elsewhere the limits hold as far as the model can follow g, and the table "
        "shows how far that is. 'wide' is the model that limits rest on, 'centred' the one before "
        "it. The wide model was settled on birds, emotions and flags; enron, medical and yeast had "
        f"no part in it. {runs} samples each, 95 % limits; {tests} samples for the test of "
        "calibrated rows.\n"
    )


def _laws(name: str) -> dict[str, tuple[Array, Array]]:
    y, h = _table(name)
    stack = fit_stack(Rows(y, h, np.ones(len(y)), False))(h)
    return {"calibrated": (h, h), "stack": (h, stack), "trees": (h, Trees(y, h)(h))}


def _table(name: str) -> tuple[Array, Array]:
    """Return the labels that are not rare, and their out-of-fold probabilities."""
    y, h = multilabel_table(name)[1], out_of_fold(name)
    share = y.mean(axis=0)
    common = np.minimum(share, 1 - share) >= _LEAST_SHARE
    return y[:, common], h[:, common]


def _covered(h: Array, g: Array, fit: Fit, runs: int) -> tuple[float, float]:
    """Return how often the limits hold the truth, and the mean error of the estimate."""
    truth = float(((g - h) ** 2).sum(axis=1).mean())
    held, errors = 0, []
    for run in range(runs):
        rng = np.random.default_rng([_SEED, run])
        drawn = rng.integers(0, len(h), _ROWS)
        y = (rng.random((_ROWS, h.shape[1])) < g[drawn]).astype(float)
        terms = debiased_terms(y, h[drawn], fit, rng).terms.sum(axis=1)
        error = float(terms.mean()) - truth
        held += abs(error) <= 1.96 * float(terms.std(ddof=1)) / np.sqrt(len(terms))
        errors.append(error)
    return held / runs, float(np.mean(errors))


def _rejected(name: str, runs: int) -> tuple[float, float]:
    """Return how often calibrated rows are rejected at .05 and .01, with every label."""
    h, found = out_of_fold(name), []
    for run in range(runs):
        rng = np.random.default_rng([_SEED + 1, run])
        at = h[rng.integers(0, len(h), _ROWS)]
        # One uniform for all labels of a row: they go with each other as much as they can.
        u = rng.random((_ROWS, 1)) if run % 2 else rng.random(at.shape)
        found.append(score_test((u < at).astype(float), at, rng))
    return tuple(float(np.mean(np.array(found) <= level)) for level in (0.05, 0.01))


def _promises(covered: dict[str, list[float]], levels: Array, tests: int) -> list[Promise]:
    least = min(covered["wide"])
    made = [Promise("least coverage of limits on calibrated rows", least, 0.93)]
    for i, (level, most) in enumerate(((0.05, 0.06), (0.01, 0.015))):
        share, n = float(levels[:, i].mean()), tests * len(levels)
        surely = float(binomtest(round(share * n), n).proportion_ci(0.95, "wilson").low)
        say(f"rejected at {level:g}: {share:.4f} of {n}, at least {surely:.4f}")
        made.append(Promise(f"calibrated rows rejected at {level:g}", share, most, at_most=True))
    return made
