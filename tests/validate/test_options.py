import math

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from karat._validate import (
    check_choice,
    check_confidence,
    check_count,
    check_fitted,
    check_flag,
    check_number,
    check_rng,
    check_seed,
)
from karat.exceptions import OptionError


@pytest.mark.parametrize("confidence", [1e-9, 0.4, 0.5, 0.95, np.float32(0.5), 1 - 1e-12])
def test_every_probability_but_0_and_1_is_a_confidence(confidence):
    assert check_confidence(confidence) == float(confidence)


@pytest.mark.parametrize(
    "confidence", [0, 1, 0.0, 1.0, -0.1, 95, math.nan, math.inf, True, None, "95"]
)
def test_one_sentence_refuses_all_others(confidence):
    with pytest.raises(OptionError) as caught:
        check_confidence(confidence)
    words = f"confidence is {confidence!r}; expected a number between 0 and 1, such as 0.95"
    assert str(caught.value) == words


def test_choices_and_counts():
    assert check_choice("b", "side", ("a", "b")) == "b"
    with pytest.raises(OptionError, match="side is 'c'; expected 'a' or 'b'"):
        check_choice("c", "side", ("a", "b"))
    assert check_count(3.0, "n") == 3
    with pytest.raises(OptionError, match=r"n is 2\.5; expected a whole number"):
        check_count(2.5, "n")
    with pytest.raises(OptionError, match="n is 0; expected a whole number of at least 1"):
        check_count(0, "n")


def test_numbers_and_flags():
    assert check_number(np.float32(0.5), "tol", at_least=0, at_most=1) == 0.5
    with pytest.raises(
        OptionError, match="tol is 2; expected a number of at least 0 and at most 1"
    ):
        check_number(2, "tol", at_least=0, at_most=1)
    for value in (math.nan, math.inf, "1", None, True):
        with pytest.raises(OptionError, match=f"tol is {value!r}; expected a finite number"):
            check_number(value, "tol")
    assert check_flag(np.bool_(True), "shrink") is True
    with pytest.raises(OptionError, match="shrink is 1; expected True or False"):
        check_flag(1, "shrink")


def test_a_choice_may_be_left_to_karat():
    assert check_choice(None, "limit", ("a", "b"), none=True) is None
    with pytest.raises(OptionError, match="limit is 'c'; expected 'a', 'b' or None"):
        check_choice("c", "limit", ("a", "b"), none=True)


@pytest.mark.parametrize("rng", ["abc", -1, True, 1.5])
@pytest.mark.parametrize("check", [check_rng, check_seed])
def test_what_is_no_source_of_randomness(check, rng):
    with pytest.raises(OptionError) as caught:
        check(rng)
    words = f"rng is {rng!r}; expected a whole number of at least 0, a numpy Generator or None"
    assert str(caught.value) == words


def test_seeds():
    assert check_seed(np.int64(7)) == 7
    assert check_seed(np.random.default_rng(3)) == check_seed(np.random.default_rng(3))
    assert check_rng(5).random() == np.random.default_rng(5).random()


def test_an_estimator_that_is_not_fitted():
    class Estimator:
        pass

    estimator = Estimator()
    wanted = r"^this Estimator is not fitted; call fit\(X\) first$"
    with pytest.raises(NotFittedError, match=wanted):
        check_fitted(estimator, "model_", "fit(X)")
    estimator.model_ = 1
    check_fitted(estimator, "model_", "fit(X)")
