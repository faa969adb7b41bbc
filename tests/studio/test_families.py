"""Every family of metrics is asked about in a study, and what people guess is a metric too."""

from typing import get_args

import numpy as np
import pytest

from karat.exceptions import ElicitationError, OptionError
from karat.metrics import FairMetric, cost_matrix
from karat.studio.schemas import FAMILY_NAMES, SpaceName
from karat.studio.services import asking, pages, results, studies

CASES = [
    *[(family, None, 2) for family in ("linear", "ratio", "quadratic", "polynomial")],
    *[(family, None, 3) for family in ("linear", "monotone")],
    *[(family, "diagonal", 3) for family in ("linear", "ratio")],
    ("linear", "diagonal", 2),  # which is binary
    ("linear", "groups", 2),
    ("linear", "groups", 3),
    ("quadratic", "groups", 2),
    ("linear", "rate", 2),
    ("ratio", "confusion", 2),
]


def test_every_family_and_space_is_tried():
    assert {family for family, *_ in CASES} == set(FAMILY_NAMES)
    assert {space for _, space, _ in CASES} == {None, *get_args(SpaceName)}


@pytest.mark.parametrize(("family", "space", "k"), CASES)
def test_a_study_of_every_family_is_finished(kit, store, family, space, k):
    data = kit.grouped_data(n=200, k=k)
    options = {"max_queries": 2, "n_evaluation": 2, "same_pairs": True}
    study = kit.make(store, data, family=family, space=space, **options)
    fair = space == "groups"
    costs = np.ones((k, k)) - np.eye(k)
    metric = cost_matrix(costs)
    if fair:
        metric = FairMetric(costs[~np.eye(k, dtype=bool)], np.ones((1, k * k - k)), 0.5)
    player = kit.Player(store, study, metric=metric)
    here = player.go_to("comparison")
    page = pages.page_of(store, player.person.id)
    assert page.pair.left.shape == ((2, k, k) if fair else (k, k))
    assert page.pair.left.sum() == 1000 * (2 if fair else 1)
    assert (page.pair.left != page.pair.right).any()
    assert here.progress > 0.2
    player.go_to("done")
    known = results.person_result(store, player.person.id)
    assert known.n_answers == 2
    assert known.evaluation.n + known.evaluation.n_ties == 2
    assert known.guess_metric is not None
    assert known.evaluation.baseline is not None
    assert known.quiz == {
        "comprehension": (2, 2), "comparing": (4, 4), "simulation": (3, 3), "dominated": (1, 1),
    }  # fmt: skip


def test_the_figures_of_the_quiz_are_of_the_page(kit, store, study):
    """The keys, recomputed from the whole numbers that the page shows."""
    asked = studies.asked_of(store, study)
    a, b = asking.counts_of(asking.quiz_of(asked, "comprehension").sides, 1000)
    keys = {
        key.name: key.key
        for phase in asking.QUIZ_PHASES[:3]
        for key in asking.quiz_of(asked, phase).keys
    }
    assert keys["missed"] == a[1, 0]
    assert keys["rejected"] == b[0, 0]
    assert keys["more_false"] == ("A" if a[0, 1] > b[0, 1] else "B")
    assert keys["more_missed"] == ("A" if a[1, 0] > b[1, 0] else "B")
    assert keys["share_of_truth"] == pytest.approx(100 * a[0, 1] / (a[0, 0] + a[0, 1]))
    assert keys["share_of_predicted"] == pytest.approx(100 * a[0, 1] / (a[0, 1] + a[1, 1]))
    assert keys["chance_a"] == pytest.approx(100 * a[1, 0] / (a[1, 0] + a[1, 1]))
    assert keys["likelier"] == keys["more_missed"]


def test_one_pair_of_the_quiz_is_dominated(kit, store, study):
    quiz = asking.quiz_of(studies.asked_of(store, study), "dominated")
    worse, better = asking.counts_of(quiz.sides, 1000)
    assert worse[0, 1] > better[0, 1]
    assert worse[1, 0] > better[1, 0]
    assert quiz.keys[0].key == "B"


@pytest.mark.parametrize(
    ("answer", "right"), [("12.4", True), ("13,3 %", True), ("11.3", False), ("14", False)]
)
def test_percentages_may_be_rounded(answer, right):
    from karat.studio.services.flow import read_form

    key = asking.Key("share", "?", 12.4, 1.0)
    read = read_form("comparing", {"share": [answer]}, config=None, keys=[key])
    assert read.errors == {}
    assert read.payload["right"] == {"share": right}


def test_a_wrong_answer_of_the_quiz_is_kept_and_scored(player):
    player.go_to("dominated")
    player.send({"preferred": ["A"]})
    assert player.log()[-1].payload["score"] == 0
    assert player.here.phase == "comparison"


def test_a_guess_is_the_metric_that_it_says(kit, store, study):
    asked = studies.asked_of(store, study)
    guessed = asking.guess_metric(asked, {"ratio": 7.0})
    table = np.array([[0.5, 0.1], [0.05, 0.35]])
    assert guessed(table) == pytest.approx(-(0.1 + 7 * 0.05))
    assert asking.guess_metric(asked, {"ratio": None}) is None


def test_a_guess_of_groups_weighs_gaps(kit, store):
    study = kit.make(store, kit.grouped_data(), space="groups")
    asked = studies.asked_of(store, study)
    guessed = asking.guess_metric(asked, {"ratio": 1.0, "gap": 1.0})
    even = np.array([[[0.2, 0.05], [0.05, 0.2]]] * 2)
    uneven = np.array([[[0.25, 0.0], [0.0, 0.25]], [[0.15, 0.1], [0.1, 0.15]]])
    # Both have the same rates of error overall, .2 each; only the second has gaps, of .4 each.
    prior = np.asarray(asked.space.prior)
    assert guessed(even) == pytest.approx(-0.5 * 0.2)
    assert guessed(uneven) == pytest.approx(-0.5 * 0.2 - 0.5 * 0.4)
    assert prior.sum() == pytest.approx(1.0)


def test_people_are_told_what_they_said_in_their_words(kit, store, study):
    player = kit.Player(store, study, ratio=6.0)
    player.go_to("done")
    said = pages.page_of(store, player.person.id).result
    assert "is as bad as" in said[0]
    assert "are predicted as “benign”" in said[0]
    assert said[1] == "You guessed 3."
    careless = kit.Player(store, study)
    careless.go_to("comparison")
    while careless.here.phase in ("comparison", "evaluation"):
        careless.send({"choice": ["A"]})
    careless.go_to("done")
    assert pages.page_of(store, careless.person.id).result == [
        "Your answers do not fit together well enough to say what they have in common."
    ]


def test_what_cannot_be_asked_about_is_refused(kit, store):
    with pytest.raises(ElicitationError, match="have no groups"):
        kit.make(store, space="groups")


def test_options_stay_once_someone_has_begun(kit, store, study):
    other = kit.config(out_of=100)
    assert studies.config_of(studies.update_config(store, study.id, other)).options.out_of == 100
    studies.update_config(store, study.id, kit.config())
    kit.Player(store, study).compare(1)
    with pytest.raises(OptionError, match="out_of cannot change"):
        studies.update_config(store, study.id, other)
    shown = kit.config(show_result=False)
    assert not studies.config_of(studies.update_config(store, study.id, shown)).options.show_result
