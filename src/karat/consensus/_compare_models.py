"""Which model of the votes to use, by votes held out."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from karat._result import keeps_kind
from karat._typing import Column, FloatArray, Frame
from karat._validate import check_choice, check_count, check_rng, collected_alone, refuse_option
from karat.consensus._comparison import (
    candidate_models,
    combine,
    held_out_values,
    predict_pooled,
    split_counts,
)
from karat.consensus._fitting import DEPENDENCE, ERRORS, STRUCTURES
from karat.consensus.model import Errors
from karat.consensus.result import ModelComparison
from karat.statistics.patterns import Patterns
from karat.votes.agreement import shared_votes
from karat.votes.domains import Votes, read_votes


@keeps_kind
def compare_models(
    votes: Frame | Patterns,
    domains: Column | None = None,
    *,
    structure: Sequence[str] = ("independent",),
    errors: Sequence[Errors] = ("class-conditional", "symmetric"),
    dependence: Sequence[str] = ("none", "difficulty", "pairs"),
    folds: int = 5,
    classes: Column | None = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    threshold: float | list[float] | Mapping[Any, float] | None = None,
    abstain: str = "outcome",
    null: str = "not asked",
    rng: int | np.random.Generator | None = None,
) -> ModelComparison:
    """Compare models of votes by how well they predict the votes of items held out.

    No labels are used: a model that is wrong about how voters err together predicts their patterns
    badly.

    Parameters
    ----------
    votes : matrix or frame
        Wide or long, as in `ErrorEstimator`.
    domains : column, optional
        Domain of each row; each domain is fitted on its own and the likelihoods add.
    structure : sequence of {"independent", "coupled", "hierarchical"}
        Whether domains share error rates; those that do are compared without dependence.
    errors : sequence of {"class-conditional", "symmetric"}
        Error models to compare.
    dependence : sequence of {"none", "difficulty", "pairs"}
        Kinds of dependence to compare, with each error model.
    folds : int, default 5
        Parts that are held out in turn.
    classes : column (k,), optional
        The classes in the wanted order; by default those found, sorted.
    sample_weight : column, optional
        Weights of at least 0, one per row, in any unit.
    weighting : {"importance", "frequency"}, optional
        What ``sample_weight`` means, as in ``ErrorEstimator.fit``.
    threshold : float, list or mapping, optional
        Cut probabilities, as in ``ErrorEstimator.fit``.
    abstain : {"outcome", "missing"}, default "outcome"
        Whether an abstention depends on the class.
    null : {"not asked", "abstain"}, default "not asked"
        What a null is, as in ``ErrorEstimator.fit``.
    rng : int or Generator, optional
        Randomness of the folds.

    Returns
    -------
    ModelComparison
        Held-out log-likelihoods, differences with standard errors, stacking weights.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 2000)
    >>> wrong = rng.random((2000, 5)) < np.where(y, 0.3, 0.05)[:, None]
    >>> votes = np.where(wrong, 1 - y[:, None], y[:, None])
    >>> compare_models(votes, dependence=["none"], rng=0).errors
    ('class-conditional', 'symmetric')
    """
    _check_list(structure, "structure", STRUCTURES)
    _check_list(errors, "errors", ERRORS)
    _check_list(dependence, "dependence", DEPENDENCE)
    parts = check_count(folds, "folds", at_least=2)
    check_choice(abstain, "abstain", ("outcome", "missing"))
    generator = check_rng(rng)
    votes = collected_alone(votes, "votes", domains, sample_weight)
    data = read_votes(
        votes,
        domains=domains,
        classes=classes,
        sample_weight=sample_weight,
        weighting=weighting,
        threshold=threshold,
        abstain=abstain,
        null=null,
    )
    alone = [(e, kind) for e in errors for kind in dependence]
    alone = alone if "independent" in structure else []
    sharing = [(kind, e) for kind in structure if kind != "independent" for e in errors]
    values, counts = _predict(data, alone, sharing, parts, generator)
    scores = combine(values, counts)
    names = [(kind, e, "none") for kind, e in sharing]
    names += [("independent", e, kind) for e, kind in alone]
    return ModelComparison(
        n=float(counts.sum()),
        structure=tuple(kind for kind, _, _ in names),
        errors=tuple(e for _, e, _ in names),
        dependence=tuple(kind for _, _, kind in names),
        log_likelihood=scores.total,
        behind=scores.behind,
        behind_error=scores.behind_error,
        weight=scores.weight,
    )


def _check_list(given: Any, name: str, choices: tuple[str, ...]) -> None:
    """Check a list of at least one word."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        refuse_option(given, name, f"a list of at least one of {', '.join(map(repr, choices))}")
    for word in given:
        check_choice(word, name, choices)


def _predict(
    data: Votes,
    alone: list[tuple[Errors, str]],
    sharing: list[tuple[str, Errors]],
    folds: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Return, models × patterns held out, log P(votes), and how many items each stands for.

    First the models in which domains share error rates, then those of each domain ``alone``, all on
    the same folds.
    """
    splits = [split_counts(d.table.count, folds, rng) for d in data.domains]
    rests = [rest for _, rest in splits]
    predicted = [predict_pooled(data, kind, e, rests, rng) for kind, e in sharing]
    values, counts = [], []
    for d, domain in enumerate(data.domains):
        shared = shared_votes(domain.table)
        models = [candidate_models(domain.table, e, kind, shared)[0] for e, kind in alone]
        known = np.array([p[d] for p in predicted]).reshape(-1, *rests[d].shape)
        pointwise, count = held_out_values(
            models, domain.table, folds=folds, rng=rng, split=splits[d], known=known
        )
        values.append(pointwise)
        counts.append(count)
    return np.concatenate(values, axis=1), np.concatenate(counts)
