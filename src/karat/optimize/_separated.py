"""Probes that satisfy the constraints of eq. 7.14: one moment high, the others low."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog

from karat._typing import FloatArray, IntArray
from karat.optimize._mixture import mixed
from karat.optimize._probes import TargetProbes
from karat.optimize._rule import decide
from karat.optimize._sample import Sample

__all__ = ["separated_probes"]

# Each round adds the best rule for the current multipliers; the program has then no better one.
_ROUNDS = 30
_ENOUGH = 1e-6


def separated_probes(validation: Sample, matching: Sample, *, off_diagonal: bool) -> TargetProbes:
    """Return for each entry the randomised classifier that sets its moment most apart.

    With moments as shares of the greatest they can be, it maximises the least difference between
    the wanted moment and another one: the program E.77 with its slacks γ and ω as one objective.
    It is solved by column generation over plug-in rules (the classifiers of E.74 and E.75 are
    such), so soft and overlapping basis functions need no other method.
    """
    n_basis, k = validation.basis.shape[1], validation.n_classes
    entries = [
        (b, i, j)
        for b in range(n_basis)
        for i in range(k)
        for j in (range(k) if off_diagonal else (i,))
    ]
    where = tuple(np.array(entries).T)
    ones = np.ones((len(matching.proba), 1))
    most = matching.sums(ones)[0][where[0], where[1]]
    most = np.where(most > 0, most, 1.0)

    def moments_of(weights: FloatArray) -> FloatArray:
        codes = decide(matching.proba, matching.basis, weights)
        return np.asarray(matching.moments(ones, codes)[0][where] / most)

    rules = list(_first_rules(n_basis, k, diagonal=not off_diagonal))
    table = [moments_of(rule) for rule in rules]
    targets = []
    for p in range(len(entries)):
        shares = _separated(p, rules, table, where, most, moments_of)
        targets.append((_mixed(shares, rules, validation), _mixed(shares, rules, matching)))
    return TargetProbes(validation, matching, targets, off_diagonal=off_diagonal)


def _first_rules(n_basis: int, k: int, *, diagonal: bool) -> FloatArray:
    """Return the rules that always predict one class."""
    rules = np.zeros((k, n_basis, k) if diagonal else (k, n_basis, k, k))
    for j in range(k):
        rules[j, ..., j] = 1.0
    return rules


def _separated(
    p: int,
    rules: list[FloatArray],
    table: list[FloatArray],
    where: tuple[IntArray, ...],
    most: FloatArray,
    moments_of: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """Return the shares of the rules that set moment p most apart; new rules are appended."""
    others = np.delete(np.arange(len(most)), p)
    for _ in range(_ROUNDS):
        known = np.array(table)  # (rules, entries)
        gains = known[:, [p]] - known[:, others]
        shares, value, multipliers = _program(gains)
        weights = np.zeros_like(rules[0])
        worth = np.zeros(len(most))
        worth[p], worth[others] = multipliers.sum(), -multipliers
        at = where if weights.ndim == 3 else (where[0], where[2])
        np.add.at(weights, at, worth / most)
        new = moments_of(weights)
        if (new[p] - new[others]) @ multipliers <= value + _ENOUGH:
            break
        rules.append(weights)
        table.append(new)
        shares = np.append(shares, 0.0)
    return np.append(shares, np.zeros(len(rules) - len(shares)))


def _program(gains: FloatArray) -> tuple[FloatArray, float, FloatArray]:
    """Return shares of the rows of ``gains`` that maximise the least column, and multipliers."""
    n, m = gains.shape
    found = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.column_stack([-gains.T, np.ones(m)]),
        b_ub=np.zeros(m),
        A_eq=np.append(np.ones(n), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
        method="highs",
    )
    return found.x[:n], float(found.x[n]), np.maximum(-found.ineqlin.marginals, 0.0)


def _mixed(shares: FloatArray, rules: list[FloatArray], sample: Sample) -> FloatArray:
    """Return the class shares of a mixture of rules on the rows of a sample."""
    used = [(share, rule) for share, rule in zip(shares, rules, strict=False) if share > 1e-12]
    codes = ((share, decide(sample.proba, sample.basis, rule)) for share, rule in used)
    return mixed(sample.proba, 0.0, codes)
