"""Which model of the votes predicts votes that it has not seen.

`candidate_models` lists the models that a table of votes can distinguish. `held_out` fits each of
them to all folds but one and predicts that one, `predict_pooled` does so with all domains at once,
and `combine` turns the log-likelihoods into differences with standard errors and stacking weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from karat._typing import FloatArray
from karat.consensus.model import Errors, Model, build_problem
from karat.consensus.sampling import (
    Stop,
    Structure,
    build_pooled,
    in_threads,
    pooled_start,
    run_pooled,
)
from karat.votes.agreement import FEW, SharedVotes, copying_forest, shared_votes
from karat.votes.domains import Votes
from karat.votes.em import fit_point, log_likelihood, starting_state
from karat.votes.patterns import VoteTable

_LEVELS_NEED = 5  # voters below which easy and hard items cannot be distinguished
_VOTES_NEED = 3.0  # votes per item, likewise
_ROW_NEEDS = 20  # votes per voter and class below which a row of its own may ask too much


def candidate_models(
    table: VoteTable, errors: Errors, dependence: str, shared: SharedVotes
) -> list[Model]:
    """Return the models that ``dependence`` asks for, as far as the votes can distinguish them."""
    plain = Model("independent", errors)
    found = []
    if dependence in ("none", "auto"):
        found.append(plain)
    if dependence in ("pairs", "auto"):
        problem = build_problem(plain, table)
        state, _, _ = fit_point(problem, starting_state(problem, table.vote_shares()))
        parent = copying_forest(problem, state, shared)
        if parent is not None:
            found.append(Model("pairs", errors, parent=parent))
        elif dependence == "pairs":
            found.append(plain)
    if dependence == "difficulty" or (dependence == "auto" and enough_for_difficulty(table)):
        found.append(Model("difficulty", errors, levels=2))
    rows = table.n_voters * table.n_classes
    few = table.n_classes > 2 and table.votes_cast.sum() < _ROW_NEEDS * rows
    if dependence == "auto" and errors == "class-conditional" and few:
        found.append(Model("one rate", "symmetric"))
    return found


def enough_for_difficulty(table: VoteTable) -> bool:
    """Return whether there are enough votes per item to separate easy items from hard ones."""
    votes = np.diff(table.heard.start)
    mean = float(table.count @ votes / max(table.count.sum(), 1e-300))
    return table.n_heard >= _LEVELS_NEED and mean >= _VOTES_NEED


# --- Log-likelihood of votes held out, model by model; no labels are needed.

_WORTH_THREADS = 20_000  # votes in distinct patterns


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Held-out log-likelihood of each model, with differences to the best and their errors."""

    total: FloatArray  # models
    behind: FloatArray  # models: how far behind the best
    behind_error: FloatArray
    weight: FloatArray  # stacking weights
    ahead: FloatArray  # models: how far ahead of the first, in standard errors


def split_counts(
    count: FloatArray, folds: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return, folds × patterns, the items held out; and the rest.

    Every item goes to a fold at random. A fraction of an item goes as a whole.
    """
    whole = np.floor(count + 1e-9).astype(np.int64)
    out = rng.multinomial(whole, np.full(folds, 1 / folds)).T.astype(np.float64)
    rest = count - whole
    out[rng.integers(0, folds, len(count)), np.arange(len(count))] += np.where(rest > 0, rest, 0)
    return out, count - out


def held_out(
    models: Sequence[Model],
    table: VoteTable,
    *,
    folds: int,
    rng: np.random.Generator,
    repeats: int = 1,
) -> HeldOut:
    """Fit each model to all folds but one and predict the votes of that one.

    Repeats with other folds are averaged; the standard error stays that of one.
    """
    parts = [held_out_values(models, table, folds=folds, rng=rng) for _ in range(repeats)]
    values, counts = zip(*parts, strict=True)
    return combine(np.concatenate(values, axis=1), np.concatenate(counts) / repeats)


def held_out_values(
    models: Sequence[Model],
    table: VoteTable,
    *,
    folds: int,
    rng: np.random.Generator,
    split: tuple[FloatArray, FloatArray] | None = None,
    known: FloatArray | None = None,
    worth_threads: int = _WORTH_THREADS,
) -> tuple[FloatArray, FloatArray]:
    """Return, models × patterns held out, log P(votes), and how many items each stands for.

    ``known``, models × folds × patterns, is put before the models: what other models predict of the
    same ``split``. Tables of more than ``worth_threads`` votes are fitted in several threads.
    """
    table = table.without_gold()
    if split is None:
        # In an order of their own, so that the folds do not depend on how votes were passed.
        out, rest = np.empty((2, folds, table.n_patterns))
        order = table.order()[0]
        out[:, order], rest[:, order] = split_counts(table.count[order], folds, rng)
    else:
        out, rest = split
    tasks = [partial(_predicted, model, table, count) for model in models for count in rest]
    # Threads pay where the compiled loops, which let go of the interpreter, take most of the time.
    large = len(table.voter) > worth_threads
    found = in_threads(tasks) if large and tasks else [task(Stop()) for task in tasks]
    values = np.array(found).reshape(len(models), len(rest), table.n_patterns)
    if known is not None:
        values = np.concatenate([known, values])
    seen = out > 0
    return values[:, seen], out[seen]


def _predicted(model: Model, table: VoteTable, count: FloatArray, stop: Stop) -> FloatArray:
    """Fit a model to the items of ``count``; return log P(votes) of all patterns."""
    some = table.with_counts(count)
    problem = build_problem(_chosen_on(model, some, stop), some)
    state = starting_state(problem, table.vote_shares())
    state, _, _ = fit_point(problem, state, max_iter=60, tol=1e-5, stop=stop)
    return log_likelihood(problem, state)[0]


def combine(pointwise: FloatArray, count: FloatArray) -> HeldOut:
    """Return totals, differences to the best with their errors, and stacking weights."""
    total = pointwise @ count
    behind, error = _difference(pointwise, count, int(np.argmax(total)))
    to_first, first_error = _difference(pointwise, count, 0)
    ahead = -to_first / np.maximum(first_error, 1e-12)
    return HeldOut(total, behind, error, stacking_weights(pointwise, count), ahead)


def _difference(
    pointwise: FloatArray, count: FloatArray, model: int
) -> tuple[FloatArray, FloatArray]:
    """Return how far each model is behind ``model``, and the standard error of that."""
    apart = pointwise[model] - pointwise
    behind = apart @ count
    n = count.sum()
    return behind, np.sqrt(np.maximum(0, n * (apart**2 @ count) - behind**2) / max(n - 1, 1))


def _chosen_on(model: Model, some: VoteTable, stop: Stop) -> Model:
    """Return the model with its copiers found again, on the items that it is fitted to."""
    if model.parent is None or some.n_heard <= FEW:
        return model  # among few voters the search is long, and chooses among few forests
    plain = build_problem(replace(model, parent=None), some)
    start = starting_state(plain, some.vote_shares())
    state, _, _ = fit_point(plain, start, max_iter=60, stop=stop)
    return replace(model, parent=copying_forest(plain, state, shared_votes(some.heard)))


def stacking_weights(pointwise: FloatArray, count: FloatArray) -> FloatArray:
    """Return the mixture weights with the best held-out log-likelihood (by EM, it is concave)."""
    models = len(pointwise)
    weight = np.full(models, 1 / models)
    likelihood = np.exp(pointwise - pointwise.max(axis=0))
    for _ in range(500):
        part = weight[:, None] * likelihood
        part /= part.sum(axis=0)
        new = part @ count / count.sum()
        if np.abs(new - weight).max() < 1e-6:
            break
        weight = new
    return weight


_SHORT = 96  # sweeps of a fit to folds, after as many that are dropped


def predict_pooled(
    data: Votes,
    structure: Structure,
    errors: Errors,
    rests: Sequence[FloatArray],
    rng: np.random.Generator,
) -> list[FloatArray]:
    """Return, per domain, folds × patterns: log P(votes) from the items that are not held out.

    ``rests`` is, per domain, folds × patterns: the items to fit to. The likelihood is
    averaged over the states of two short chains, one from each kind of start.
    """
    folds = len(rests[0])
    blind = [d.table.without_gold() for d in data.domains]
    values = [np.empty(rest.shape) for rest in rests]
    voters = [d.voters for d in data.domains]
    for fold in range(folds):
        tables = [t.with_counts(rest[fold]) for t, rest in zip(blind, rests, strict=True)]
        pooled = build_pooled(tables, voters, len(data.classifiers), structure, errors)
        starts = [pooled_start(pooled, rng, one_cluster=bool(c)) for c in range(2)]
        found = run_pooled(pooled, starts, rng.spawn(2), burn=_SHORT, draws=_SHORT)
        for d, draws in enumerate(found.by_domain):
            logs = np.array([log_likelihood(pooled.problems[d], s)[0] for s in draws.states])
            top = logs.max(axis=0)
            values[d][fold] = top + np.log(np.exp(logs - top).mean(axis=0))
    return values
