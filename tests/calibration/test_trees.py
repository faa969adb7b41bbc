"""Boosted trees as the model: what a copula cannot see."""

import numpy as np
import pytest

from karat.calibration import canonical_calibration_error
from karat.datasets import MultilabelLaw


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["shift", "interaction"])
def test_they_come_nearer_where_the_copula_does_not_fit(kind):
    law = MultilabelLaw(kind, n_labels=3)
    truth, found = law.canonical_error() ** 2, {"latent": [], "trees": []}
    for seed in range(2):
        sample = law.sample(2000, rng=seed)
        for method, values in found.items():
            r = canonical_calibration_error(sample.y_true, sample.y_prob, method=method, rng=seed)
            values.append(r.debiased)
            assert r.guaranteed.lower**2 < truth
    errors = {method: np.abs(np.array(v) - truth) for method, v in found.items()}
    assert (errors["trees"] < errors["latent"]).all()
    assert np.mean(found["trees"]) > 0.4 * truth


def test_calibrated_labels_have_no_error():
    sample = MultilabelLaw("calibrated", n_labels=3).sample(900, rng=0)
    r = canonical_calibration_error(sample.y_true, sample.y_prob, method="trees", rng=0)
    assert abs(r.debiased) < 5 * r.standard_error
    assert r.guaranteed.lower == 0
    quick = canonical_calibration_error(
        sample.y_true, sample.y_prob, method="trees", confidence=None, rng=0
    )
    assert quick.value == pytest.approx(r.value)
    assert quick.value < 0.25  # out of fold: trees that saw the rows would say more
