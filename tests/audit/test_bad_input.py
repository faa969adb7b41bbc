"""What an audit refuses, and what it says."""

import numpy as np
import pytest

from karat.audit import Audit
from karat.exceptions import AuditError, DataError, KaratError, LabelError, OptionError

CALLED = np.array(["ham", "spam"] * 20)


@pytest.fixture
def audit():
    made = Audit(CALLED, metric="f1", rng=0)
    made.ask(10)
    return made


def test_labels_that_were_not_asked_for(audit):
    free = [i for i in range(40) if i not in audit.waiting["item"].to_list()]
    with pytest.raises(
        AuditError, match=rf"2 of 2 labels .*not asked for \(first {free[0]}\).*bias"
    ):
        audit.tell(dict.fromkeys(free[:2], "ham"))
    assert audit.n_labels == 0


def test_one_item_with_two_labels(audit):
    item = audit.waiting["item"][0]
    audit.tell({item: "ham"})
    with pytest.raises(
        LabelError, match=rf"item {item} was labelled 'ham' and is now labelled 'spam'"
    ):
        audit.tell({item: "spam"})
    audit.tell({item: "spam"}, replace=True)
    assert audit.n_labels == 1
    import polars as pl

    both = pl.DataFrame({"item": [item, item], "label": ["ham", "spam"]})
    with pytest.raises(LabelError, match=r"is labelled 'ham' and, in row 1, 'spam'"):
        audit.tell(both, replace=True)


def test_a_label_outside_the_classes_with_its_row(audit):
    first, second = audit.waiting["item"][:2]
    with pytest.raises(LabelError, match=rf"item {second} \(row 1\) is 'eggs'; expected one of"):
        audit.tell({first: "ham", second: "eggs"})
    assert audit.n_labels == 0, "nothing is taken of a table with a mistake"


def test_ids_that_do_not_match(audit):
    with pytest.raises(
        DataError, match=r"2 of 3 items are not in the data \(first 40\).*rows 0 to 39"
    ):
        audit.tell({audit.waiting["item"][0]: "ham", 40: "ham", "x": "ham"})
    named = Audit(CALLED, metric="f1", ids=[f"m{i}" for i in range(40)], rng=0)
    with pytest.raises(
        DataError, match=r"1 of 1 items are not in the data \(first 3\).*such as 'm0'"
    ):
        named.tell({3: "ham"})


def test_probability_0_and_missing(audit):
    other = Audit(CALLED, metric="accuracy", rng=0)
    with pytest.raises(KaratError, match="probability of item 1 is 0; expected a number above 0"):
        other.tell({1: "ham"}, design="probability", probability={1: 0.0})
    with pytest.raises(KaratError, match="probability of item 2 is missing"):
        other.tell({2: "ham"}, design="probability", probability={1: 0.5})
    with pytest.raises(AuditError, match="needs probability="):
        other.tell({2: "ham"}, design="probability")
    with pytest.raises(AuditError, match="cannot be mixed"):
        audit.tell(dict.fromkeys(range(40), "ham"), design="probability",
                   probability=dict.fromkeys(range(40), 0.5))  # fmt: skip


def test_probabilities_of_a_wrong_kind():
    made = Audit(CALLED, metric="accuracy", rng=0)
    design = {"design": "probability"}
    with pytest.raises(OptionError, match="probability is 'often'; expected a finite number"):
        made.tell({1: "ham"}, probability={1: "often"}, **design)
    with pytest.raises(KaratError, match="probability has 2 rows and y_pred has 40"):
        made.tell({1: "ham"}, probability=[0.5, 0.5], **design)
    with pytest.raises(KaratError, match="probability is 7"):
        made.tell({1: "ham"}, probability=7, **design)
    with pytest.raises(OptionError, match="design is 'random'; expected 'probability' where"):
        made.tell({1: "ham"}, design="random", probability={1: 0.5})
    assert made.tell({1: "ham"}, probability=np.full(40, 0.5), **design) == 1


def test_classes_that_look_alike_stay_apart():
    made = Audit(["1", "true"] * 10, metric="accuracy", rng=0)
    first, second = made.ask(2)["item"]
    made.tell({first: "1", second: "true"})
    assert [made._run.labels[i] for i in (first, second)] == [0, 1]
    numbers = Audit([0, 1] * 10, metric="accuracy", rng=0)
    items = numbers.ask(5)["item"]
    numbers.tell(dict(zip(items, ["1", 1.0, True, "true", "1.0"], strict=True)))
    assert set(numbers._run.labels.values()) == {1}


def test_ids_are_found_as_they_were_passed():
    texts = Audit(CALLED, metric="f1", ids=[f"{i:03d}" for i in range(40)], rng=0)
    (asked,) = texts.ask(1)["item"]
    with pytest.raises(DataError, match="1 of 1 items are not in the data"):
        texts.tell({int(asked): "ham"})
    assert texts.tell({asked: "ham"}) == 1


def test_a_label_that_is_nearly_a_class(audit):
    item = audit.waiting["item"][0]
    with pytest.raises(LabelError, match="or an empty cell; did you mean 'ham'"):
        audit.tell({item: "Ham"})
    assert audit.tell({item: " ham "}) == 1


def test_more_than_there_are(audit):
    with pytest.raises(OptionError, match="n is 31; expected at most 30: the items that have not"):
        audit.ask(31)
    with pytest.raises(OptionError, match="n is 0"):
        audit.ask(0)


def test_data_of_the_audit():
    with pytest.raises(LabelError, match=r"one class only.*classes="):
        Audit(["ham"] * 5, metric="f1")
    with pytest.raises(DataError, match="ids holds 'a' twice"):
        Audit(["ham", "spam", "ham"], metric="f1", ids=["a", "b", "a"])
    with pytest.raises(KaratError, match="proba has 2 rows and y_pred has 3"):
        Audit(["ham", "spam", "ham"], metric="f1", proba=[0.1, 0.5])
    with pytest.raises(KaratError, match=r"proba row 1 is 1\.5"):
        Audit(["ham", "spam", "ham"], metric="f1", proba=[0.1, 1.5, 0.2])
    with pytest.raises(OptionError, match="proba= says already"):
        Audit(["ham", "spam"], metric="f1", proba=[0.1, 0.5], scores=[1, 2])
    with pytest.raises(AuditError, match="agree on every item"):
        Audit(["ham", "spam"], metric="accuracy", against=["ham", "spam"])
    with pytest.raises(KaratError, match=r"F1 is for 2 classes.*macro"):
        Audit(["a", "b", "c"], metric="f1")


def test_a_list_of_labels_is_not_enough(audit):
    with pytest.raises(KaratError, match="expected a mapping such as"):
        audit.tell(["ham"] * 10)
    import polars as pl

    with pytest.raises(KaratError, match=r"no 'label'; fill in the table"):
        audit.tell(pl.DataFrame({"item": [1], "truth": ["ham"]}))
