"""Labels that look like a slip of another class, or like a missing value."""

import warnings

import pytest

from karat._validate import match_spellings
from karat.audit import best_of_many, gate
from karat.evaluation import evaluate
from karat.exceptions import KaratWarning, LabelError, LabelsMatchedWarning
from karat.metrics import accuracy

TRUTH = ["spam", "ham"] * 20
CALLED = ["spam", "ham"] * 18 + ["ham", "spam"] * 2


def with_slip(word):
    return [*TRUTH[:6], word, *TRUTH[7:]]


CALLS = {
    "estimate": lambda truth, **given: accuracy.estimate(truth, CALLED, **given),
    "gate": lambda truth, **given: gate(truth, CALLED, 0.5, metric="accuracy", **given),
    "best_of_many": lambda truth, **given: best_of_many(
        {"a": CALLED, "b": TRUTH}, truth, metric="accuracy", rng=0, **given
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_spaces_and_nan_are_refused_by_row(call):
    with pytest.raises(LabelError, match="y_true row 6 is 'spam ' and there is the class 'spam'"):
        call(with_slip("spam "))
    for word in ("NaN", "nan", " nan "):
        with pytest.raises(LabelError, match=r"y_true row 6 is .*the text of a missing value"):
            call(with_slip(word))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_case_is_refused_with_the_mapping_and_words_for_missing_are_named(call):
    with pytest.raises(LabelError, match=r"differs by case alone; replace \{'Spam': 'spam'\} in"):
        call(with_slip("Spam"))
    with pytest.warns(KaratWarning, match="y_true row 6 is 'N/A', which is never predicted"):
        call(with_slip("N/A"))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("word", ["spam ", "NaN", "Spam", "none"])
def test_whoever_names_the_classes_means_them(call, word):
    with warnings.catch_warnings():
        warnings.simplefilter("error", KaratWarning)
        call(with_slip(word), classes=["ham", "spam", word])


def test_a_word_for_missing_that_is_predicted_is_a_class():
    truth = ["none", "some"] * 20
    with warnings.catch_warnings():
        warnings.simplefilter("error", KaratWarning)
        assert accuracy.estimate(truth, truth[::-1]).value == 0
        assert accuracy.estimate([0, 1] * 5, [0, 1] * 5).value == 1


def test_an_evaluation_reads_spellings_as_one_and_says_so():
    clean = evaluate({"y": TRUTH, "model": CALLED}, label="y", pred="model")
    table = {"y": with_slip("Spam "), "model": CALLED}
    with pytest.warns(LabelsMatchedWarning, match="2 spellings of 'spam' were read as one"):
        found = evaluate(table, label="y", pred="model")
    assert found.summary().startswith("2 spellings of 'spam' were read as one")
    assert found.verdicts[0].sentence == clean.verdicts[0].sentence


@pytest.mark.parametrize("call", [CALLS["estimate"], CALLS["gate"]])
@pytest.mark.parametrize("written", [("0.0", "1.0"), ("0", "1.00"), ("0", "1e0")])
def test_one_number_written_in_two_ways_is_refused(call, written, monkeypatch):
    """Else every prediction is wrong, with exact limits."""
    monkeypatch.setitem(globals(), "CALLED", ["0", "1"] * 20)
    with pytest.raises(LabelError, match="the same number written another way; make numbers of"):
        call(list(written) * 20)


def test_codes_with_leading_zeros_and_versions_are_classes_of_their_own():
    with warnings.catch_warnings():
        warnings.simplefilter("error", KaratWarning)
        for classes in (["7", "07"], ["1.2.0", "1.2"], ["e1", "e2"], ["north.", "north.."],
                        ["250.0", "250.00"]):  # fmt: skip
            assert accuracy.estimate(classes * 10, classes * 10).value == 1


@pytest.mark.parametrize("call", [CALLS["estimate"], CALLS["gate"]])
def test_columns_with_no_class_in_common_are_refused(call):
    for truth in (["north", "south"] * 20, ["north"] * 40):
        with pytest.raises(LabelError, match=r"no class in common \('north'.* and 'ham', 'spam'\)"):
            call(truth)


def test_several_slips_are_one_mapping():
    said = r"replace \{'Ham': 'ham', 'Spam': 'spam'\} in the labels"
    with pytest.raises(LabelError, match=said):
        accuracy.estimate(["spam", "Ham"] * 20, ["Spam", "ham"] * 20)


def test_a_class_that_is_never_right_is_no_other_column():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        accuracy.estimate([0] * 40, [1] * 40, rng=0)


# --- which spellings commands and evaluations read as one


def test_spellings_without_spaces_and_of_the_metric_are_kept():
    found = match_spellings({"y": ["yes ", "YES", "No"], "model": ["yes", "no"]})
    assert found.replace == {"yes ": "YES", "yes": "YES", "no": "No"}
    found = match_spellings({"y": ["Yes", "No"]}, ["no", "yes"])
    assert found.replace == {"Yes": "yes", "No": "no"}
    assert match_spellings({"y": ["a", "b"], "n": [1, 2, None]}) == ({}, ())


def test_spellings_that_may_be_two_classes_are_refused():
    with pytest.raises(LabelError, match="'A' and 'a' differ by case alone and every column"):
        match_spellings({"y": ["A", "a"], "model": ["a", "A"]})
    assert match_spellings({"y": ["a ", "a"], "model": ["a", " a"]}).replace == {
        "a ": "a",
        " a": "a",
    }
