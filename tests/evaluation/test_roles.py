import polars as pl

import karat
from karat.evaluation.roles import Roles, guess_roles, is_long


def test_a_guess_reads_names_only():
    columns = ["id", "y_true", "pred_a", "pred_b", "lf_1", "lf_2", "score", "age"]
    guess = guess_roles(columns)
    assert guess.id == "id"
    assert guess.label == ("y_true",)
    assert guess.pred == ("pred_a", "pred_b")
    assert guess.weak == ("lf_1", "lf_2")
    assert guess.score == ("score",)
    assert "age" not in [c for _, columns in guess.chosen() for c in columns]


def test_several_labels_are_guessed_only_beside_probabilities():
    assert guess_roles(["label_a", "label_b"]).label == ("label_a",)
    both = guess_roles(["label_a", "label_b", "prob_a", "prob_b"])
    assert both.label == ("label_a", "label_b")


def test_a_group_alone_is_no_role():
    assert not Roles(group="sex", id="row")
    assert Roles(pred=("a",))


def test_known_forms_of_long_tables():
    def table(*columns):
        return karat.scan(pl.DataFrame({name: [0, 0, 1] for name in columns}))

    assert is_long(table("verdict", "item", "judge", "more"))
    assert is_long(table("task", "worker", "label"))
    assert not is_long(table("item", "judge"))
