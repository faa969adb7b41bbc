"""The metric of a study gives the same numbers whatever the classes are called."""

import io
import json

import numpy as np
import polars as pl
import pytest

from karat.exceptions import MetricError
from karat.metrics import load_metric
from karat.studio.services import studies, uploads
from karat.studio.services.research import exports

PAIRS = [  # the negative one first
    ("low", "high"), ("genuine", "fraud"), ("healthy", "cancer"), ("A", "B"), (0, 1),
    (False, True), ("No", "yes "),
]  # fmt: skip
NAMED = [(pair, False) for pair in PAIRS] + [(pair[::-1], True) for pair in PAIRS]


def drawn():
    rng = np.random.default_rng(8)
    y = (rng.random(300) < 0.4).astype(int)
    p = 1 / (1 + np.exp(-(1.6 * rng.normal(size=300) + 2.2 * (y - 0.5))))
    return y, p, (p > 0.35).astype(int)


def exported(store, kit, pair, swapped):
    """Return the score of a model by the metric of a study that one person played."""
    y, p, called = drawn()
    file = io.BytesIO()
    pl.DataFrame({"y": [pair[c] for c in y], "p": p}).write_parquet(file)
    positive = str(pair[1]) if swapped or pair == ("A", "B") else None
    data = uploads.read(
        store, file.getvalue(), "x.parquet", label="y", score="p", positive=positive
    )
    assert data.classes == pair
    study = studies.create(store, name="A study", config=kit.config(max_queries=8), data=data)
    player = kit.Player(store, study, ratio=3.0)
    player.go_to("done")
    study_json = exports.study_json(store, study)
    metrics = [
        load_metric(study_json),
        load_metric(exports.metric_json(store, study)),
        load_metric(exports.person_metric_json(store, player.person.id)),
    ]
    truth, said = ([pair[c] for c in codes] for codes in (y, called))
    scores = [metric.score(truth, said) for metric in metrics]
    assert len(set(scores)) == 1
    for metric in metrics:
        assert metric.classes == pair
        assert metric.elicited.status in ("certified", "undecided")
        assert metric.elicited.when == "2023-11-14"
        assert metric.elicited.who
    (person,) = json.loads(study_json)["people"]
    assert person["status"] == metrics[0].elicited.status
    return scores[0]


@pytest.fixture(scope="module")
def plain(tmp_path_factory, kit):
    store = kit.opened(f"sqlite:///{tmp_path_factory.mktemp('plain')}/study.db")
    yield exported(store, kit, (0, 1), False)
    store.close()


@pytest.mark.parametrize(("pair", "swapped"), NAMED)
def test_a_study_s_export(store, kit, pair, swapped, plain):
    assert exported(store, kit, pair, swapped) == pytest.approx(plain, rel=1e-12)


def test_the_metric_of_a_flagged_person_says_so_and_is_refused(store, kit):
    study = kit.make(store, max_queries=30)
    player = kit.Player(store, study)
    player.oracle = lambda _: "first"  # whatever it is
    player.go_to("done")
    text = exports.person_metric_json(store, player.person.id)
    assert json.loads(text)["elicited"]["status"] == "flagged"
    with pytest.raises(MetricError, match="the metric is flagged"):
        load_metric(text)
    assert load_metric(text, flagged=True).classes == ("benign", "malignant")
    assert exports.metric_json(store, study) is None
