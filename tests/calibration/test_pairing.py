"""Which column of probabilities is of which class: names win over the order."""

import numpy as np
import polars as pl
import pytest

from karat.calibration import canonical_calibration_error
from karat.calibration.inputs import pair_columns
from karat.evaluation import evaluate
from karat.exceptions import KaratWarning, OptionError


def test_names_win_over_the_order():
    found = pair_columns(["y"], ["prob_valid", "prob_spam"], ["spam", "valid"])
    assert found.names == {"prob_valid": "valid", "prob_spam": "spam"}
    exact = pair_columns(["y"], ["valid", "spam"], ["spam", "valid"])
    assert exact.names == {"valid": "valid", "spam": "spam"}
    labels = pair_columns(["label_a", "label_b"], ["prob_b", "prob_a"], [])
    assert labels.names == {"prob_b": "label_b", "prob_a": "label_a"}


def test_numbers_without_names_go_by_their_order_and_text_with_a_word():
    assert pair_columns(["y"], ["p", "q"], [0, 1]).names == {}
    with pytest.warns(KaratWarning, match="p is 'no', q is 'yes'"):
        assert pair_columns(["y"], ["p", "q"], ["no", "yes"]).names == {}


def test_a_single_column_is_of_the_class_that_it_or_the_caller_names():
    assert pair_columns(["y"], ["prob_spam"], ["spam", "valid"]).positive == "spam"
    assert pair_columns(["y"], ["p"], ["spam", "valid"]).positive == "spam"
    assert pair_columns(["y"], ["p"], ["spam", "valid"], "spam").positive == "spam"
    with pytest.raises(OptionError, match="pos_label is 'ham'; expected 'spam' or 'valid'"):
        pair_columns(["y"], ["p"], ["spam", "valid"], "ham")


def test_an_evaluation_does_not_swap_classes():
    """Calibrated probabilities in the other order were once proven wrong for certain."""
    rng = np.random.default_rng(0)
    h = rng.random(400)
    y = np.where(rng.random(400) < h, "spam", "valid")
    table = pl.DataFrame({"y": y, "prob_valid": 1 - h, "prob_spam": h})
    found = evaluate(table, label="y", prob=["prob_valid", "prob_spam"])
    own = canonical_calibration_error(y, np.column_stack([h, 1 - h]), rng=0)
    assert found.verdicts[0].badge == "likely"
    assert found.findings[0].results["canonical"].upper == pytest.approx(own.upper, abs=0.01)
