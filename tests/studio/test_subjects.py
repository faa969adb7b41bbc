"""The ten subjects of Hiranandani 2021, table 8.4, as simulated people of the thesis' own study.

Their answers were never published, so 𝓜 of the table is not compared with anything here.
"""

import pytest

from karat.metrics import LinearMetric
from karat.studio.services import demo, results

# Weights of true negatives; true positives have the rest of 1.
SUBJECTS = {
    "S1": 0.125, "S2": 0.141, "S3": 0.125, "S4": 0.141, "S5": 0.328,
    "S6": 0.031, "S7": 0.031, "S8": 0.359, "S9": 0.125, "S10": 0.141,
}  # fmt: skip
THESIS = 20  # questions that halving the interval of angles to .05 takes there, about


@pytest.fixture(scope="module")
def found(kit, tmp_path_factory, shared_data):
    store = kit.opened(f"sqlite:///{tmp_path_factory.mktemp('subjects')}/study.db")
    study = demo.ensure_demo(store)
    known = {}
    for seed, (name, weight) in enumerate(SUBJECTS.items()):
        metric = LinearMetric([[weight, 0.0], [0.0, 1.0 - weight]])
        player = kit.Player(store, study, metric=metric, seed=seed)
        player.go_to("done")
        known[name] = results.person_result(store, player.person.id)
    yield known
    store.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_subject_is_recovered_within_its_limits(found, name):
    """Each has their ratio inside the 95 % limits, and a metric that predicts them.

    Ten people who answer by their metric without a slip, so that limits which hold less often than
    they say would show: all ten are to hold.
    """
    known, weight = found[name], SUBJECTS[name]
    ratio = (1.0 - weight) / weight  # what a missed cancer is worth in false alarms
    limits = known.result.ratios[0]
    assert limits.lower <= ratio <= limits.upper
    assert known.result.status == "certified"
    assert known.evaluation.n == 15
    assert known.evaluation.value >= 13 / 15
    assert known.checks.n_right == known.checks.n_dominated


@pytest.mark.slow
def test_the_questions_that_it_takes(found):
    """No more than the 20 of the thesis, check pairs included, which the thesis does not have."""
    asked = sorted(known.n_answers for known in found.values())
    assert asked[len(asked) // 2] <= THESIS
    assert all(known.quiz["dominated"] == (1, 1) for known in found.values())
