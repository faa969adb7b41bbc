"""What is refused, with what was passed, what was expected and what to do."""

import numpy as np
import pytest

from karat.datasets import LogisticLaw
from karat.elicit import (
    BinarySpace,
    ConfusionSpace,
    DiagonalSpace,
    Elicitation,
    MetricOracle,
    RateSpace,
)
from karat.exceptions import (
    AnswerError,
    ContradictionWarning,
    DataError,
    ElicitationError,
    EmptyDataError,
    KaratError,
    LabelError,
    LengthMismatchError,
    NotIdentifiedWarning,
    OptionError,
    ProbabilityError,
    ScoreError,
    ShapeError,
    WeightError,
)
from karat.metrics import LinearMetric, accuracy, weighted_accuracy

Y = np.array([0, 1, 1, 0, 1, 0])
SCORE = np.array([0.2, 0.7, 0.6, 0.4, 0.9, 0.1])
Y3 = np.array([0, 1, 2, 0, 1, 2])
PROBA = np.array(
    [
        [0.6, 0.2, 0.2],
        [0.2, 0.6, 0.2],
        [0.1, 0.2, 0.7],
        [0.5, 0.3, 0.2],
        [0.3, 0.4, 0.3],
        [0.2, 0.3, 0.5],
    ]
)
KINDS = [DiagonalSpace, ConfusionSpace, RateSpace]
# The families that each space cannot have, and what is said of those that it can.
IMPOSSIBLE = [
    ("binary", ["monotone", "quadratic", "polynomial"], "'linear' or 'ratio' on a BinarySpace"),
    ("diagonal", ["quadratic", "polynomial"], "'ratio' or 'monotone' on a DiagonalSpace"),
    ("confusion", ["monotone", "quadratic", "polynomial"], "'linear' or 'ratio' on a Confus"),
    ("rate", ["monotone"], "'quadratic' or 'polynomial' on a RateSpace"),
    ("groups", ["ratio", "monotone", "polynomial"], "'quadratic' on a RateSpace with groups"),
]
SLOPES = [
    ("quadratic", "odds"),
    ("polynomial", "odds"),
    ("linear", "groups"),
    ("quadratic", "groups"),
]


# --- scores


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y_score": np.full(6, 0.3)}, ScoreError, "0.3 for every item.*no trade-off"),
        ({"y_score": [0.1, np.nan, 0.2, 0.3, 0.4, 0.5]}, ScoreError, "row 1"),
        ({"y_score": [0.1, np.inf, 0.2, 0.3, 0.4, 0.5]}, ScoreError, "row 1"),
        ({"y_score": list("abcdef")}, ScoreError, "text"),
        ({"y_score": SCORE[:4]}, LengthMismatchError, "4 rows and y_true has 6"),
        ({"y_score": []}, EmptyDataError, "y_score has no rows"),
        ({"y_true": np.ones(6, dtype=int)}, LabelError, "one class only"),
        ({"y_true": [0, 1, None, 0, 1, 0]}, LabelError, "row 2"),
        ({"y_true": Y3}, LabelError, "3 classes"),
        ({"y_true": []}, EmptyDataError, "y_true has no rows"),
        ({"sample_weight": [1, 1]}, LengthMismatchError, "sample_weight"),
        ({"sample_weight": -np.ones(6)}, WeightError, "at least 0"),
        ({"sample_weight": [1, 0, 0, 1, 0, 1]}, LabelError, "class 1.*does not occur"),
        ({"pos_label": 7}, OptionError, "pos_label is 7; expected 0 or 1"),
        ({"classes": [0, 1, 2]}, LabelError, "3 classes|classes"),
        ({"classes": [0, 5]}, LabelError, "not among the classes"),
    ],
    ids=str,
)
def test_scores(change, error, message):
    with pytest.raises(error, match=message):
        BinarySpace.from_scores(**({"y_true": Y, "y_score": SCORE} | change))


def test_scores_that_are_worse_than_guessing():
    """A curve below the diagonal: whatever is asked, the better side predicts one class only."""
    space = BinarySpace.from_scores(Y, 1 - SCORE)
    with pytest.raises(ElicitationError, match="no threshold does better than guessing"):
        Elicitation(space).ask()
    with pytest.raises(ElicitationError, match="greater for positives"):
        space.boundary([1, 1])


@pytest.mark.parametrize("family", ["linear", "ratio"])
def test_the_published_algorithm_needs_probabilities(family):
    space = BinarySpace.from_scores(Y, 10 * SCORE)
    with pytest.raises(ScoreError, match=r"outside \[0, 1\].*smoothed"):
        Elicitation(space, family, strategy="published").ask()
    assert Elicitation(space, family, strategy="bisection").ask() is not None
    assert Elicitation(space.smoothed(), family, strategy="published").ask() is not None


# --- probabilities


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"proba": np.full((6, 3), 1 / 3)}, DataError, "same for every item.*no trade-off"),
        ({"proba": PROBA[:4]}, LengthMismatchError, "4 rows and y_true has 6"),
        ({"proba": PROBA * 0.9}, ProbabilityError, "sum"),
        ({"proba": 2 * PROBA - 1 / 3}, ProbabilityError, "between 0 and 1"),
        ({"proba": np.where(PROBA == 0.7, np.nan, PROBA)}, DataError, "row 2"),
        ({"proba": PROBA[:, :2] / PROBA[:, :2].sum(axis=1, keepdims=True)}, ShapeError, "2 col.*3"),
        ({"proba": []}, EmptyDataError, "no rows"),
        ({"y_true": np.zeros(6, dtype=int)}, LabelError, "one class only"),
        ({"y_true": [0, 1, 2, None, 1, 2]}, LabelError, "row 3"),
        ({"sample_weight": [1, 1]}, LengthMismatchError, "sample_weight"),
        ({"sample_weight": np.zeros(6)}, WeightError, "zero in every row"),
        ({"sample_weight": [1, 0, 1, 1, 0, 1]}, LabelError, "class 1.*does not occur"),
        ({"classes": [0, 1, 2, 3]}, (LabelError, ShapeError), "3 columns.*4 classes"),
    ],
    ids=str,
)
def test_probabilities(kind, change, error, message):
    with pytest.raises(error, match=message):
        kind.from_proba(**({"y_true": Y3, "proba": PROBA} | change))


@pytest.mark.parametrize("kind", KINDS)
def test_calibrated_probabilities(kind):
    with pytest.raises(DataError, match="same for every item"):
        kind.from_calibrated(np.full((5, 3), 1 / 3))
    with pytest.raises(LengthMismatchError, match="sample_weight"):
        kind.from_calibrated(PROBA, sample_weight=[1, 2])
    with pytest.raises(KaratError, match=r"2 columns|3 columns"):
        kind.from_calibrated(PROBA, classes=["a", "b"])
    with pytest.raises(ProbabilityError, match="sum"):
        kind.from_calibrated(PROBA * 1.1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_that_never_occurs(kind):
    """A column of zeros: no rate is defined and no trade-off can be asked about."""
    proba = np.column_stack([PROBA[:, :2] / PROBA[:, :2].sum(axis=1, keepdims=True), np.zeros(6)])
    with pytest.raises(LabelError, match="class 2"):
        kind.from_calibrated(proba)
    with pytest.raises(LabelError, match="class 2"):
        kind.from_density(lambda x: np.column_stack([x / 2 + 0.5, 0.5 - x / 2, 0 * x]), n_points=11)


def test_densities():
    law = LogisticLaw.binary(5.0)
    with pytest.raises(OptionError, match=r"low is 1.0; expected a number below high, which is 0"):
        BinarySpace.from_density(law.proba, low=1.0, high=0.0)
    with pytest.raises(OptionError, match="low is nan"):
        BinarySpace.from_density(law.proba, low=np.nan)
    with pytest.raises(ProbabilityError, match=r"proba\(x\)"):
        BinarySpace.from_density(lambda x: 3 * x)
    for wrong in (lambda x: -np.ones_like(x), lambda x: 0 * x, lambda x: np.ones(3)):
        with pytest.raises(DataError, match="density"):
            BinarySpace.from_density(law.proba, density=wrong)
    with pytest.raises(LabelError, match=r"3 classes and proba.* 2 columns"):
        BinarySpace.from_density(law.proba, classes=["a", "b", "c"])
    with pytest.raises(LabelError, match="DiagonalSpace or ConfusionSpace"):
        BinarySpace.from_density(LogisticLaw([1, 3, 5]).proba)
    for wrong in (0, 1, 2.5):
        with pytest.raises(OptionError, match=f"n_points is {wrong}; expected a whole number of"):
            BinarySpace.from_density(law.proba, n_points=wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_a_law_without_information(kind):
    """Constant probabilities of a law, like those of a sample."""
    with pytest.raises(DataError, match="same for every item"):
        kind.from_density(lambda x: np.tile([0.3, 0.3, 0.4], (len(x), 1)), n_points=101)


def test_groups():
    with pytest.raises(LabelError, match=r"group 'b'.*does not occur"):
        RateSpace.from_proba(Y3, PROBA, groups=list("aaaabb"))
    with pytest.raises(LabelError, match="groups row 1"):
        RateSpace.from_proba(Y3, PROBA, groups=["a", None, "a", "a", "a", "a"])
    with pytest.raises(LengthMismatchError, match="groups"):
        RateSpace.from_proba(Y3, PROBA, groups=["a", "a"])
    alone = RateSpace.from_proba(Y3, PROBA)
    for call in (
        lambda: alone.common_radius,
        lambda: alone.group_sample(3),
        lambda: alone.group_contains(np.zeros((2, 6))),
        lambda: alone.group_rates(np.zeros((2, 3, 3))),
    ):
        with pytest.raises(LabelError, match="no groups; pass groups="):
            call()
    grouped = RateSpace.from_proba(np.tile(Y3, 2), np.tile(PROBA, (2, 1)), groups=list("ab") * 6)
    with pytest.raises(ShapeError, match=r"\(3, 6\); expected \(2, 6\)"):
        grouped.group_contains(np.zeros((3, 6)))


# --- points and directions


def test_directions_and_points(errors, binary):
    with pytest.raises(ShapeError, match=r"shape \(3,\); expected \(6,\).*0 taken for 1"):
        errors.boundary([1, 2, 3])
    with pytest.raises(ShapeError, match="direction"):
        errors.boundary(np.ones((2, 2, 6)))
    with pytest.raises(DataError, match="finite"):
        binary.boundary([np.nan, 1])
    with pytest.raises(ShapeError, match="expected a matrix of numbers"):
        binary.boundary("up")
    with pytest.raises(ShapeError, match=r"\(3,\).*2×2 confusion"):
        binary.contains([1, 2, 3])
    with pytest.raises(ShapeError, match="3×3 confusion"):
        errors.classifier(np.eye(2))
    with pytest.raises(OptionError, match="rng is 'a'"):
        errors.sample(3, rng="a")
    with pytest.raises(OptionError, match=r"n is 2\.5; expected a whole number"):
        errors.sample(2.5)
    with pytest.raises(OptionError, match="tol is -1"):
        errors.contains(errors.center, tol=-1)


def test_probabilities_in_too_few_directions():
    """Two kinds of items only: most coordinates cannot change alone."""
    space = ConfusionSpace.from_calibrated([[0.6, 0.2, 0.2], [0.2, 0.2, 0.6]])
    with pytest.raises(ElicitationError, match="no classifier changes one coordinate alone"):
        _ = space.radius
    with pytest.raises(ElicitationError, match="strategy='active'"):
        Elicitation(space, strategy="bisection").ask()
    assert Elicitation(space, rng=0).ask() is not None


# --- spaces and families


@pytest.mark.parametrize(("name", "families", "said"), IMPOSSIBLE)
def test_families_that_a_space_cannot_have(name, families, said, spaces):
    for family in families:
        with pytest.raises(OptionError, match=f"family is '{family}'; expected .*{said}"):
            Elicitation(spaces[name], family)


@pytest.mark.parametrize("family", ["Linear", "fair", "", None, 3])
def test_families_that_there_are_not(family, binary):
    with pytest.raises(OptionError, match=r"family is .*'linear', 'ratio', 'monotone'"):
        Elicitation(binary, family)


@pytest.mark.parametrize("space", [[1, 2, 3], None, "binary"])
def test_what_is_no_space(space):
    with pytest.raises(ElicitationError, match=r"space is .*expected a BinarySpace, DiagonalSpace"):
        Elicitation(space)


@pytest.mark.parametrize("family", ["linear", "ratio", "monotone"])
def test_two_classes_for_a_space_of_several(family):
    space = DiagonalSpace.from_density(LogisticLaw.binary(5.0).proba, n_points=51)
    with pytest.raises(ElicitationError, match=r"3 classes or more.*use a BinarySpace"):
        Elicitation(space, family)


@pytest.mark.parametrize(
    ("name", "family", "options", "said"),
    [
        ("binary", "linear", {"order": 4}, "order is 4; expected no option of this kind"),
        ("odds", "quadratic", {"order": 4}, "order is 4; expected only diagonal, sparse"),
        ("odds", "polynomial", {"diagonal": True}, "diagonal is True; expected only order, sparse"),
        ("odds", "linear", {"cost": [1, 2]}, r"cost is \[1, 2\]; expected no option"),
        ("confusion", "linear", {"cost": np.ones(6)}, "cost is .*; expected no option"),
        ("odds", "quadratic", {"same_pairs": True}, "same_pairs is True; expected only"),
        ("groups", "linear", {"diagonal": True}, "diagonal is True; expected only cost"),
    ],
)
def test_options_of_other_families(name, family, options, said, spaces):
    with pytest.raises(OptionError, match=said):
        Elicitation(spaces[name], family, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"strategy": "guess"},
            "strategy is 'guess'; expected 'active', 'bisection', 'publ",
        ),
        ({"strategy": None}, "strategy is None"),
        (
            {"orientation": "up"},
            "orientation is 'up'; expected 'increasing', 'decreas",
        ),
        ({"pairs": "all"}, "pairs is 'all'; expected 'attainable' or 'sphere'"),
        ({"tol": 0}, "tol is 0"),
        ({"tol": -1.0}, "tol is -1"),
        ({"tol": "small"}, "tol is 'small'"),
        ({"tol": np.nan}, "tol is nan"),
        ({"agreement": 0.3}, "agreement is 0.3.*at least 0.5"),
        ({"agreement": 95}, "agreement is 95.*at most 1"),
        ({"max_queries": 0}, "max_queries is 0"),
        ({"max_queries": "ten"}, "max_queries is 'ten'"),
        ({"max_queries": 2.5}, "max_queries is 2.5"),
        ({"rng": -1}, "rng is -1"),
        ({"rng": "a"}, "rng is 'a'"),
        ({"rng": 1.5}, "rng is 1.5"),
    ],
    ids=str,
)
def test_options(options, message, binary):
    with pytest.raises(OptionError, match=message):
        Elicitation(binary, **options)


def test_answers(binary):
    procedure = Elicitation(binary, strategy="bisection", tol=0.4)
    for wrong in ("yes", None, 1, ""):
        with pytest.raises(AnswerError, match="expected 'first', 'second', 'tie' or 'skip'"):
            procedure.tell(wrong)
    assert procedure.answers == ()  # a wrong answer is no answer
    with pytest.raises(AnswerError, match="1 answers cannot be taken back: 0 were given"):
        procedure.undo()
    procedure.tell("First ")
    with pytest.raises(AnswerError, match="2 answers cannot be taken back: 1 were given"):
        procedure.undo(2)
    for wrong in (0, -1):
        with pytest.raises(OptionError, match=f"n is {wrong}; expected a whole number of at least"):
            procedure.undo(wrong)
    assert procedure.answers == ("first",)
    while procedure.ask() is not None:
        procedure.tell("second")
    with pytest.raises(AnswerError, match=r"nothing was asked.*read its result, or go on"):
        procedure.tell("first")


@pytest.mark.parametrize("wrong", ["one", None, 1.5])
def test_undoing_what_is_no_number(wrong, binary):
    procedure = Elicitation(binary, strategy="bisection")
    for _ in range(3):
        procedure.tell("first")
    with pytest.raises(OptionError, match=f"n is {wrong!r}; expected a whole number"):
        procedure.undo(wrong)
    assert len(procedure.answers) == 3


def test_an_oracle_that_talks_nonsense(binary):
    procedure = Elicitation(binary, strategy="bisection")
    with pytest.raises(AnswerError, match="the answer is 'dunno'"):
        procedure.run(lambda query: "dunno")
    assert procedure.answers == ()


# --- metrics that are found from slopes


@pytest.mark.parametrize("family", ["linear", "quadratic"])
def test_groups_that_are_missing(family, spaces):
    """Without groups, or with one alone, the metric knows none; what asks for them is refused."""
    alone = RateSpace.from_proba(Y3, PROBA, groups=["all"] * 6)
    for space in (spaces["odds"], spaces["rate"], alone):
        with pytest.raises(OptionError, match="same_pairs is True; expected"):
            Elicitation(space, family, same_pairs=True)
        with pytest.raises(ElicitationError, match=r"compares none; pass groups= to RateSpace"):
            Elicitation(space, family, rng=0).frontier()


@pytest.mark.parametrize(
    ("name", "family", "why"),
    [
        ("odds", "quadratic", "equation 6.18"),
        ("odds", "polynomial", "section 6.6"),
        ("groups", "linear", "equation 5.18"),
        ("groups", "quadratic", "Algorithm D.2"),
    ],
)
def test_a_corrected_algorithm_is_not_called_published(name, family, why, spaces):
    said = f"strategy is 'published'; expected 'corrected' for the {family} family.*{why}"
    with pytest.raises(OptionError, match=said):
        Elicitation(spaces[name], family, strategy="published")
    assert Elicitation(spaces[name], family, strategy="corrected").strategy == "corrected"


@pytest.mark.parametrize(("family", "name"), SLOPES)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"orientation": "decreasing"}, "orientation is 'decreasing'; expected 'increas"),
        ({"orientation": "ask"}, "orientation is 'ask'"),
        ({"orientation": "up"}, "orientation is 'up'"),
        ({"pairs": "sphere"}, "pairs is 'sphere'.*find linear metrics only"),
        ({"sparse": "yes"}, "sparse is 'yes'; expected True or False"),
        ({"sparse": 1}, "sparse is 1"),
        ({"sparse": None}, "sparse is None"),
        (
            {"strategy": "corrected", "sparse": True},
            "sparse is True; expected False with strategy='corrected'",
        ),
        ({"strategy": "guess"}, "strategy is 'guess'"),
        ({"tol": 0}, "tol is 0"),
        ({"max_queries": 0}, "max_queries is 0"),
        ({"rng": "a"}, "rng is 'a'"),
    ],
    ids=str,
)
def test_options_of_slopes(family, name, options, message, spaces):
    with pytest.raises(OptionError, match=message):
        Elicitation(spaces[name], family, **options)  # before anything is asked


@pytest.mark.parametrize(
    ("family", "name", "options", "message"),
    [
        ("quadratic", "odds", {"diagonal": "yes"}, "diagonal is 'yes'; expected True or False"),
        (
            "quadratic",
            "odds",
            {"diagonal": True, "strategy": "corrected"},
            "diagonal is True; expec",
        ),
        ("quadratic", "groups", {"diagonal": 0}, "diagonal is 0"),
        (
            "quadratic",
            "groups",
            {"diagonal": True, "strategy": "corrected"},
            "diagonal is True; expec",
        ),
        ("linear", "groups", {"same_pairs": "all"}, "same_pairs is 'all'"),
        (
            "linear",
            "groups",
            {"violation": [[1, 1]], "same_pairs": True},
            "same_pairs is True; exp",
        ),
    ],
)
def test_options_of_one_kind(family, name, options, message, spaces):
    with pytest.raises(OptionError, match=message):
        Elicitation(spaces[name], family, **options)


@pytest.mark.parametrize("family", ["linear", "quadratic"])
@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ([1, 2, 3], "cost has 3 entries"),
        ([1], "cost has 1 entries"),
        ([[1, 2]], "cost has shape"),
        (np.ones(6), r"violation has shape|3 classes"),
        ([1, -1], "cost holds -1"),
        ([0, 0], r"cost is \[0, 0\]; expected a cost above 0 for some error"),
        ([np.nan, 1], "cost holds nan|finite"),
        ("high", "cost"),
        (3, "cost"),
    ],
    ids=str,
)
def test_costs_of_errors(family, cost, message, spaces):
    with pytest.raises(KaratError, match=message):
        Elicitation(spaces["groups"], family, cost=cost)


@pytest.mark.parametrize(
    ("family", "violation", "message"),
    [
        ("linear", [1, 1], "violation has shape"),
        ("linear", [[1, 1, 1]], "violation has shape"),
        ("linear", np.ones((3, 2)), "violation is .*the 2 classes and 2 groups of the space"),
        ("linear", np.ones((2, 2)), "violation has 2 rows"),
        ("linear", [[1, -1]], "violation holds -1"),
        ("linear", [[0, 0]], "violation is .*; expected a weight above 0"),
        ("quadratic", [[1, 1]], "violation has shape"),
        ("quadratic", np.ones((1, 3, 3)), "violation has shape"),
        ("quadratic", np.tile(np.eye(2), (3, 1, 1)), "the 2 classes and 2 groups of"),
        ("quadratic", [[[1, 2], [0, 1]]], "not symmetric"),
        ("quadratic", [[[1, 2], [2, 1]]], "eigenvalue -1"),
        ("quadratic", np.zeros((1, 2, 2)), "violation is .*; expected a weight above 0"),
        ("quadratic", [[[np.inf, 0], [0, 1]]], "violation"),
    ],
)
def test_costs_of_gaps(family, violation, message, spaces):
    with pytest.raises(KaratError, match=rf"(?s){message}"):
        Elicitation(spaces["groups"], family, violation=violation)


@pytest.mark.parametrize("family", ["linear", "quadratic"])
def test_a_group_without_signal(family):
    """Two kinds of items in the north: no ball of rates there, but pairs to ask about."""
    rng = np.random.default_rng(0)
    y, proba = np.arange(90) % 3, rng.dirichlet(np.ones(3), 90)
    north = np.arange(90) >= 45
    proba[north] = np.array([[0.6, 0.2, 0.2], [0.2, 0.2, 0.6]])[(y[north] == 2).astype(int)]
    groups = np.where(north, "north", "south")
    space = RateSpace.from_proba(y, proba, groups=groups)
    for strategy in ("bisection", "corrected"):
        with pytest.raises(ElicitationError, match=r"group 'north'.*Use strategy='active'"):
            _ = Elicitation(space, family, strategy=strategy).ask()
    procedure = Elicitation(space, family, rng=0, max_queries=3, agreement=1.0)
    for _ in range(3):
        assert not procedure.ask().identical
        procedure.tell("first")
    assert procedure.result.n_queries == 3
    # Without any signal there is no space at all, and it says for which group.
    proba[north] = [0.2, 0.3, 0.5]
    with pytest.raises(DataError, match="group 'north': proba is the same for every item"):
        RateSpace.from_proba(y, proba, groups=groups)


# --- warnings


def test_trade_offs_that_lead_to_the_same_classifier():
    """Probabilities between 0.31 and 0.69: who cares for one class much more always predicts it."""
    space = BinarySpace.from_density(LogisticLaw.binary(0.8).proba, n_points=301)
    for weights, said in (([1, 30], "predicting 1 for everything"), ([30, 1], "predicting 0")):
        truth = LinearMetric(np.diag(weights).astype(float))
        with pytest.warns(NotIdentifiedWarning, match=said):
            result = Elicitation(space, strategy="bisection").run(MetricOracle(truth))
        ratio = result.ratios[0]
        # Only a limit is known, and it says so: the truth is inside.
        assert ratio.lower <= weights[1] / weights[0] <= ratio.upper
    named = BinarySpace.from_density(
        LogisticLaw.binary(0.8).proba, n_points=301, classes=["well", "ill"]
    )
    with pytest.warns(NotIdentifiedWarning, match=r"a missed ill .* predicting ill"):
        Elicitation(named, strategy="bisection").run(MetricOracle(LinearMetric(np.diag([1, 30.0]))))


def test_weights_that_lead_to_the_same_classifier():
    """The law of section 4.6.1, normalised: the pairs are named."""
    space = DiagonalSpace.from_density(
        LogisticLaw([1, 3, 5]).proba, n_points=301, classes=["bird", "cat", "dog"]
    )
    truth = weighted_accuracy([0.7, 0.15, 0.15])
    with pytest.warns(NotIdentifiedWarning, match="bird and cat; of bird and dog") as seen:
        result = Elicitation(space, strategy="bisection").run(MetricOracle(truth))
    assert "Only a limit" in str(seen[0].message)
    assert len(seen) == 1
    for weight, true in zip(result.weights, (0.7, 0.15, 0.15), strict=True):
        assert weight.lower <= true <= weight.upper


def test_no_warning_where_all_is_well(binary, diagonal):
    """Warnings are errors here, so running is enough."""
    assert Elicitation(binary, strategy="bisection").run(MetricOracle(accuracy)).finished
    Elicitation(binary, rng=0).run(MetricOracle(accuracy, flip=0.05, rng=0))
    truth = weighted_accuracy([0.3, 0.4, 0.3])
    Elicitation(diagonal, strategy="bisection").run(MetricOracle(truth))


def test_unfinished_runs_do_not_warn_of_flat_ends():
    space = BinarySpace.from_density(LogisticLaw.binary(0.8).proba, n_points=301)
    procedure = Elicitation(space, strategy="bisection")
    for _ in range(3):
        procedure.tell("first")
    assert not procedure.result.finished


def test_contradictory_answers_to_the_thesis(binary):
    """Four questions a halving can contradict each other."""
    procedure = Elicitation(binary, strategy="published")
    rng = np.random.default_rng(0)
    while procedure.ask() is not None:
        procedure.tell(str(rng.choice(["first", "second"])))
    with pytest.warns(ContradictionWarning, match=r"of 28 answers contradict.*use 'active'"):
        result = procedure.result
    assert result.contradictions
    assert "contradict" in result.summary()


def test_contradictory_answers_to_bisection(diagonal):
    """Two level sets that no ratio has: someone of no fixed mind, or of another family."""
    procedure = Elicitation(diagonal, "ratio", strategy="bisection", tol=0.02)
    rng = np.random.default_rng(1)
    while procedure.ask() is not None:
        procedure.tell(str(rng.choice(["first", "second"])))
    with pytest.warns(ContradictionWarning, match="strategy='bisection' takes every answer"):
        result = procedure.result
    assert all(1 <= n <= result.n_queries for n in result.contradictions)


@pytest.mark.parametrize("name", ["binary", "confusion"])
def test_one_question_a_halving_leaves_nothing_to_contradict(name, spaces):
    procedure = Elicitation(spaces[name], strategy="bisection")
    rng = np.random.default_rng(2)
    while procedure.ask() is not None:
        procedure.tell(str(rng.choice(["first", "second"])))
    assert procedure.result.contradictions == ()
