import math

import numpy as np
import pytest

from karat._validate import check_choice, check_confidence, check_count
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
