import numpy as np
import pytest

from karat.exceptions import DataError, LabelError, ProbabilityError, ShapeError
from karat.weak import LabelModel, check_label_model, from_snorkel


class Fake:
    """The part of Snorkel's LabelModel that is used."""

    def __init__(self, cardinality=2):
        self.cardinality = cardinality
        self.asked = []

    def predict_proba(self, L):
        assert L.dtype == np.int64
        self.asked.append(len(L))
        votes = (L[:, :, None] == np.arange(self.cardinality)).sum(axis=1) + 1.0
        return votes / votes.sum(axis=1, keepdims=True)


def test_it_is_a_label_model_asked_once_per_pattern():
    fake = Fake()
    model = from_snorkel(fake)
    assert isinstance(model, LabelModel)
    proba = model.predict_proba([[0, 1, -1], [1, 1, -1], [0, 1, -1]])
    np.testing.assert_allclose(proba, [[0.5, 0.5], [0.25, 0.75], [0.5, 0.5]])
    assert fake.asked == [2]
    assert check_label_model([[0, 1, -1], [1, 1, 0]] * 5, model).n == 10


def test_classes_name_the_codes():
    model = from_snorkel(Fake(), classes=["spam", "ham"])
    np.testing.assert_allclose(model.predict_proba([["spam", None, None]]), [[2 / 3, 1 / 3]])
    with pytest.raises(LabelError, match="'eggs'"):
        model.predict_proba([["eggs", None, None]])


def test_what_is_refused():
    with pytest.raises(DataError, match="without predict_proba"):
        from_snorkel(object())
    nameless = Fake()
    nameless.cardinality = None
    with pytest.raises(DataError, match=r"cardinality is None.*classes="):
        from_snorkel(nameless)
    assert from_snorkel(nameless, classes=[0, 1]).classes_.tolist() == [0, 1]
    with pytest.raises(ShapeError, match="3 columns and there are 2 classes"):
        from_snorkel(Fake(3), classes=[0, 1]).predict_proba([[0, 1]])
    broken = Fake()
    broken.predict_proba = lambda L: np.ones((len(L), 2))
    with pytest.raises(ProbabilityError, match="sums to 2"):
        from_snorkel(broken).predict_proba([[0, 1]])
