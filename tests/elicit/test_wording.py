"""People read the names of their classes and groups, never the positions of them."""

import re
import warnings

import numpy as np
import pytest

from karat.datasets import LogisticLaw
from karat.elicit import (
    BinaryLinear,
    BinaryLinearFractional,
    BinarySpace,
    ConfusionSpace,
    DiagonalLinear,
    DiagonalMonotone,
    DiagonalSpace,
    Fair,
    FairQuadratic,
    Linear,
    LinearFractional,
    Polynomial,
    Quadratic,
    RateSpace,
)

TWO, THREE = ["benign", "malignant"], ["cat", "dog", "fox"]


def sample(slopes, names):
    law = LogisticLaw.binary(5.0) if slopes is None else LogisticLaw(slopes)
    x, y = law.sample(200, rng=0)
    return np.array(names)[y], law.proba(x)


def space_of(kind):
    if kind in (DiagonalLinear, DiagonalMonotone):
        return DiagonalSpace.from_proba(*sample([-4, 1, 5], THREE))
    if kind in (Linear, LinearFractional):
        return ConfusionSpace.from_proba(*sample([-4, 1, 5], THREE))
    y, proba = sample(None, TWO)
    if kind in (Quadratic, Polynomial):
        return RateSpace.from_proba(y, proba)
    if kind in (Fair, FairQuadratic):
        groups = np.where(np.arange(200) % 3, "women", "men")
        return RateSpace.from_proba(y, proba, groups=groups)
    return BinarySpace.from_scores(y, proba[:, 1])


KINDS = (
    BinaryLinear, BinaryLinearFractional, DiagonalLinear, DiagonalMonotone, Linear,
    LinearFractional, Quadratic, Polynomial, Fair, FairQuadratic,
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_results_call_classes_and_groups_by_their_names(kind):
    procedure = kind(space_of(kind), rng=0, max_queries=2, agreement=1.0)
    while procedure.ask() is not None:
        procedure.tell("first")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = procedure.result
    names = [weight.name for weight in (*result.intervals, *result.ratios)]
    said = [result.description, *result.questions.names, *names]
    known = TWO if len(procedure.space.classes) == 2 else THREE
    for text in said[:-1] if names[-1] == "trade-off" else said:
        assert any(name in text for name in (*known, "men", "trade-off", "power of the mean")), text
        # Weights are decimals and degrees; a class by its position stands beside these words.
        position = r"(truth|predict\w*|right about|taken for|missed|class|groups?) \d"
        assert not re.search(position, text), text
    for name in known:
        assert any(name in text for text in said)


def test_a_miss_has_the_name_of_the_class():
    procedure = BinaryLinear(space_of(BinaryLinear), rng=0, max_queries=3, agreement=1.0)
    while procedure.ask() is not None:
        procedure.tell("first")
    assert "A missed malignant weighs" in procedure.result.description
    assert "a missed malignant against a false malignant" in procedure.result.summary()
    procedure = Fair(space_of(Fair), rng=0, max_queries=3, agreement=1.0)
    while procedure.ask() is not None:
        procedure.tell("first")
    description = procedure.result.description
    assert re.search(r"a point of (benign|malignant) taken for (benign|malignant) ", description)
    assert "between groups men and women" in description
