import polars as pl
import pytest

from karat.evaluation.roles import find_roles, guess_roles
from karat.exceptions import ColumnError, OptionError

COLUMNS = ["id", "y", "model_a", "model_b", "lf_1", "lf_2", "sex"]


def test_names_lists_and_patterns_choose_columns_in_order():
    roles = find_roles(
        COLUMNS, {"label": "y", "pred": ["model_b", "model_a"], "weak": "lf_*", "group": "sex"}
    )
    assert roles.label == ("y",)
    assert roles.pred == ("model_b", "model_a")
    assert roles.weak == ("lf_1", "lf_2")
    assert roles.group == "sex"
    assert dict(roles.chosen())["group"] == ("sex",)


def test_a_pattern_and_a_name_choose_a_column_once():
    assert find_roles(COLUMNS, {"weak": ["lf_2", "lf_*"]}).weak == ("lf_2", "lf_1")


def test_a_column_whose_name_looks_like_a_pattern_is_that_column():
    assert find_roles(["a[1]", "a1"], {"pred": "a[1]"}).pred == ("a[1]",)


def test_a_wrong_name_gets_the_nearest_one():
    with pytest.raises(ColumnError, match=r"pred is 'modela'.*did you mean 'model_a'"):
        find_roles(COLUMNS, {"pred": "modela"})
    with pytest.raises(ColumnError, match=r"weak is 'zz\*'.*there are"):
        find_roles(COLUMNS, {"weak": "zz*"})


def test_one_group_and_names_that_are_text():
    with pytest.raises(OptionError, match="group is 'lf_\\*'; expected one column"):
        find_roles(COLUMNS, {"group": "lf_*"})
    with pytest.raises(OptionError, match="pred is 3; expected the name of a column"):
        find_roles(COLUMNS, {"pred": 3})


def test_a_label_is_no_prediction_but_a_prediction_may_vote():
    with pytest.raises(OptionError, match="pred is 'y'; expected a column that is not label"):
        find_roles(COLUMNS, {"label": "y", "pred": "y"})
    both = find_roles(COLUMNS, {"pred": "model_a", "judge": "model_*"})
    assert both.judge == ("model_a", "model_b")


def test_no_role_is_false_and_a_group_alone_is_none():
    assert not find_roles(COLUMNS, {"group": "sex", "id": "id"})
    assert find_roles(COLUMNS, {"pred": "model_a"})


def test_a_guess_reads_names_only():
    frame = pl.DataFrame(
        schema=["id", "y_true", "pred_a", "pred_b", "lf_1", "lf_2", "score", "age"]
    )
    guess = guess_roles(frame)
    assert guess.id == "id"
    assert guess.label == ("y_true",)
    assert guess.pred == ("pred_a", "pred_b")
    assert guess.weak == ("lf_1", "lf_2")
    assert guess.score == ("score",)
    assert "age" not in [c for _, columns in guess.chosen() for c in columns]
