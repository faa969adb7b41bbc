"""``karat calibration`` on files."""

import numpy as np
import polars as pl
import pytest

from karat.calibration import canonical_calibration_error
from karat.datasets import MultilabelLaw


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    sample = MultilabelLaw("shift", n_labels=3).sample(1200, rng=0)
    y, h = sample.y_true.astype(int), sample.y_prob
    columns = {f"label_{n}": y[:, j] for j, n in enumerate("abc")}
    columns |= {f"prob_{n}": h[:, j] for j, n in enumerate("abc")}
    columns["kind"] = np.array(["x", "y"])[y[:, 0]]
    path = tmp_path_factory.mktemp("calibration") / "labels.csv"
    pl.DataFrame(columns).write_csv(path)
    return path, y, h


@pytest.fixture
def answer(karat):
    def run(*arguments):
        ran = karat("calibration", *arguments, "--json")
        assert ran.code == 0, ran.err
        return ran.data

    return run


def test_columns_are_guessed_and_measured(table, answer):
    path, y, h = table
    found = answer(path)
    wanted = canonical_calibration_error(y, h, rng=0)
    assert found["canonical"]["value"] == pytest.approx(wanted.value)
    assert found["canonical"]["certificate"] == pytest.approx(wanted.certificate)
    assert found["canonical"]["names"] == ["label_a", "label_b", "label_c"]
    assert found["certificate"]["lower"] > 0


def test_one_column_of_classes_with_one_probability(table, answer):
    path, y, h = table
    found = answer(path, "--label", "kind", "--prob", "prob_a")["canonical"]
    wanted = canonical_calibration_error(y[:, 0], h[:, 0], rng=0)
    assert found["value"] == pytest.approx(wanted.value)
    assert found["names"] == ["y"]


def test_a_page_is_written(table, tmp_path, karat):
    page = tmp_path / "page.html"
    ran = karat("calibration", table[0], "--output", page)
    assert ran.code == 0, ran.err
    assert "not canonically calibrated" in ran.out
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 4
    assert "Which labels give it away?" in text


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--label", "nothing"), 3, "there is no such column"),
        (("--label", "label_a", "--label", "kind"), 3, "holds"),
        (("--prob", "prob_a"), 3, "3 labels"),
        (("--method", "magic"), 2, "method is 'magic'; expected 'latent'"),
        (("--model", "magic"), 2, "model is 'magic'; expected 'copula' or 'trees'"),
        (("--confidence", "95"), 2, "between 0 and 1"),
        (("--prob", "kind", "--label", "label_a"), 3, "expected probabilities"),
    ],
)
def test_bad_usage_is_said(table, karat, options, code, said):
    ran = karat("calibration", table[0], *options)
    assert ran.code == code
    assert said in ran.err
