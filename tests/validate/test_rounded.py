"""Class probabilities that were rounded are taken, with a note; others are refused."""

import numpy as np
import pandas as pd
import pytest

from karat._validate import check_probabilities
from karat.bounds import performance_bounds
from karat.calibration import canonical_calibration_error
from karat.elicit import ConfusionSpace
from karat.exceptions import KaratWarning, ProbabilityError
from karat.optimize import FrankWolfeClassifier

DRAWN = np.random.default_rng(0).dirichlet([1, 1, 1], 200)
ROUNDED = DRAWN.round(2)
CODES = np.array([np.random.default_rng(i).choice(3, p=p) for i, p in enumerate(DRAWN)])
CLASSES = np.array(["a", "b", "c"])
OFF = np.flatnonzero(np.abs(ROUNDED.sum(axis=1) - 1) > 0.005)
VOTED = OFF[CODES]  # P(Y | votes) is a function of the votes
VOTES = CODES[:, None]
SAID = r"\d+ rows sum to between 0\.99 and [\d.]+, as rounded probabilities do; they were divided"


def test_they_are_divided_by_their_sums():
    with pytest.warns(KaratWarning, match=SAID):
        found = check_probabilities(ROUNDED, "proba")
    assert found == pytest.approx(ROUNDED / ROUNDED.sum(axis=1, keepdims=True), abs=1e-15)
    with pytest.warns(KaratWarning, match=r"1 rows sum to between 0\.99999 and"):
        check_probabilities([[0.5, 0.49999], [0.3, 0.7]], "proba")


@pytest.mark.parametrize(
    "call",
    [
        lambda h: FrankWolfeClassifier().fit_from_proba(h, CLASSES[CODES]).predict_from_proba(h),
        lambda h: ConfusionSpace.from_proba(CODES, h).some_extremes,
        lambda h: canonical_calibration_error(CLASSES[CODES], h, rng=0).value,
        lambda h: (
            canonical_calibration_error(
                CLASSES[CODES], pd.DataFrame(h, columns=CLASSES), rng=0
            ).value
        ),
        lambda h: performance_bounds(CODES, VOTES, h[VOTED], metric="accuracy", rng=0).lower,
    ],
    ids=["optimize", "elicit", "calibration", "calibration of a frame", "bounds"],
)
@pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")
def test_every_function_takes_them(call):
    with pytest.warns(KaratWarning, match=SAID):
        found = call(ROUNDED)
    wanted = call(ROUNDED / ROUNDED.sum(axis=1, keepdims=True))
    if isinstance(wanted, np.ndarray) and wanted.dtype.kind == "U":
        assert (found == wanted).all()
    else:
        assert np.allclose(found, wanted, rtol=1e-9)


def test_what_is_no_rounding_is_refused():
    with pytest.raises(ProbabilityError, match=r"proba row 1 sums to 1\.02; expected 1\. Divide"):
        check_probabilities([[0.5, 0.5], [0.51, 0.51]], "proba")
