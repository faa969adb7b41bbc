"""People read the names of their classes and groups, never the positions of them."""

import re
import warnings

import numpy as np
import pytest

from karat.datasets import LogisticLaw
from karat.elicit import BinarySpace, ConfusionSpace, DiagonalSpace, Elicitation, RateSpace

TWO, THREE = ["benign", "malignant"], ["cat", "dog", "fox"]


def sample(slopes, names):
    law = LogisticLaw.binary(5.0) if slopes is None else LogisticLaw(slopes)
    x, y = law.sample(200, rng=0)
    return np.array(names)[y], law.proba(x)


def space_of(name):
    if name == "diagonal":
        return DiagonalSpace.from_proba(*sample([-4, 1, 5], THREE))
    if name == "confusion":
        return ConfusionSpace.from_proba(*sample([-4, 1, 5], THREE))
    y, proba = sample(None, TWO)
    if name == "rate":
        return RateSpace.from_proba(y, proba)
    if name == "groups":
        groups = np.where(np.arange(200) % 3, "women", "men")
        return RateSpace.from_proba(y, proba, groups=groups)
    return BinarySpace.from_scores(y, proba[:, 1])


KINDS = [
    ("linear", "binary"),
    ("ratio", "binary"),
    ("linear", "diagonal"),
    ("monotone", "diagonal"),
    ("linear", "confusion"),
    ("ratio", "confusion"),
    ("quadratic", "rate"),
    ("polynomial", "rate"),
    ("linear", "groups"),
    ("quadratic", "groups"),
]


@pytest.mark.parametrize(("family", "name"), KINDS)
def test_results_call_classes_and_groups_by_their_names(family, name):
    procedure = Elicitation(space_of(name), family, rng=0, max_queries=2, agreement=1.0)
    while procedure.ask() is not None:
        procedure.tell("first")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = procedure.result
    names = [weight.name for weight in (*result.weights, *result.ratios)]
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
    procedure = Elicitation(space_of("binary"), rng=0, max_queries=3, agreement=1.0)
    while procedure.ask() is not None:
        procedure.tell("first")
    assert "A missed malignant weighs" in procedure.result.description
    assert "a missed malignant against a false malignant" in procedure.result.summary()
    procedure = Elicitation(space_of("groups"), rng=0, max_queries=3, agreement=1.0)
    while procedure.ask() is not None:
        procedure.tell("first")
    description = procedure.result.description
    assert re.search(r"a point of (benign|malignant) taken for (benign|malignant) ", description)
    assert "between groups men and women" in description
