"""``karat calibration`` on files."""

import numpy as np
import polars as pl
import pytest

from karat.calibration import CopulaCalibrator, canonical_calibration_error
from karat.datasets import MultilabelLaw


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    sample = MultilabelLaw("shift", n_labels=3).sample(1200, rng=0)
    y, h = sample.y_true.astype(int), sample.y_prob
    columns = {f"label_{n}": y[:, j] for j, n in enumerate("abc")}
    columns |= {f"prob_{n}": h[:, j] for j, n in enumerate("abc")}
    columns["kind"] = np.array(["no", "yes"])[y[:, 0]]
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
    assert found["canonical"]["guaranteed"]["lower"] == pytest.approx(wanted.guaranteed.lower)
    assert found["canonical"]["names"] == ["label_a", "label_b", "label_c"]
    assert found["certificate"]["lower"] > 0


def test_one_column_of_classes_with_one_probability(table, answer):
    path, y, h = table
    found = answer(path, "--label", "kind", "--prob", "prob_a")["canonical"]
    wanted = canonical_calibration_error(y[:, 0], h[:, 0], rng=0)
    assert found["value"] == pytest.approx(wanted.value)
    assert found["names"] == ["yes"]


def test_rows_without_a_label_are_left_out_and_ids_stay(table, tmp_path, karat):
    frame, file, out = pl.read_csv(table[0]).head(400), tmp_path / "t.csv", tmp_path / "out.csv"
    known = pl.int_range(pl.len()) < 200
    frame = frame.select(
        pl.int_range(pl.len()).cast(pl.String).str.zfill(4).alias("id"), "prob_a",
        pl.when(known).then("kind").alias("kind"),
    )  # fmt: skip
    frame.write_csv(file)
    ran = karat("calibration", file, "--label", "kind", "--prob", "prob_a")
    assert ran.code == 0, ran.err
    assert "if the 200 labelled rows of 400 were drawn at random" in ran.out
    ran = karat("calibration", file, "--label", "kind", "--prob", "prob_a", "--calibrated", out)
    assert ran.code == 0, ran.err
    assert pl.read_csv(out, infer_schema=False)["id"].to_list() == frame["id"].to_list()


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


@pytest.fixture(scope="module")
def with_ids(tmp_path_factory):
    """A file of 400 rows with ids that look like numbers, and 40 of them without labels."""
    sample = MultilabelLaw("temperature", n_labels=2).sample(400, rng=1)
    y, h = sample.y_true.astype(int), sample.y_prob
    known = np.arange(400) % 10 != 3
    columns = {"id": [f"007-{i}" for i in range(400)]}
    columns |= {f"label_{n}": np.where(known, y[:, j], -1) for j, n in enumerate("ab")}
    columns |= {f"prob_{n}": h[:, j] for j, n in enumerate("ab")}
    frame = pl.DataFrame(columns)
    for name in ("label_a", "label_b"):
        frame = frame.with_columns(pl.when(pl.col(name) >= 0).then(pl.col(name)).alias(name))
    path = tmp_path_factory.mktemp("ids") / "rows.csv"
    frame.write_csv(path)
    return path, y, h, known


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_calibrated_probabilities_are_written(with_ids, tmp_path, karat, ending):
    path, y, h, known = with_ids
    out = tmp_path / f"out{ending}"
    ran = karat("calibration", path, "--calibrated", out)
    assert ran.code == 0, ran.err
    read = pl.read_csv(out) if ending == ".csv" else pl.read_parquet(out)
    assert read["id"].to_list() == [f"007-{i}" for i in range(400)]
    assert read["prob_a"].to_list() == pytest.approx(h[:, 0].tolist())
    calibrator = CopulaCalibrator(rng=0)
    wanted = np.empty(h.shape)
    wanted[known] = calibrator.cross_fit_transform(y[known], h[known])
    wanted[~known] = calibrator.transform(h[~known])
    found = read.select("calibrated_prob_a", "calibrated_prob_b").to_numpy()
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    score = calibrator.cross_score_
    assert score.after < score.before  # the law is over-confident
    assert f"{score.after:.4f} with the map, {score.before:.4f} without (n = 360)" in ran.out
    assert "mapped by what was fitted to the other 4 of 5 folds" in ran.out
    assert "40 rows without labels" in ran.out


def test_calibrated_classes_sum_to_1(tmp_path, karat):
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(3), 300)
    kind = np.array(["a", "b", "c"])[[rng.choice(3, p=p) for p in prob]]
    table, out = tmp_path / "classes.csv", tmp_path / "out.csv"
    columns = {"kind": kind} | {f"prob_{c}": prob[:, j] for j, c in enumerate("abc")}
    pl.DataFrame(columns).write_csv(table)
    ran = karat("calibration", table, "--label", "kind", "--calibrated", out, "--json")
    assert ran.code == 0, ran.err
    found = pl.read_csv(out).select([f"calibrated_prob_{c}" for c in "abc"]).to_numpy()
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-9)
    assert ran.data["calibrated"]["per"] == "row"
    assert sum(ran.data["calibrated"]["weights"]) == pytest.approx(1)


def test_the_page_of_a_calibrated_table(with_ids, tmp_path, karat):
    page, out = tmp_path / "page.html", tmp_path / "out.csv"
    ran = karat("calibration", with_ids[0], "--calibrated", out, "--output", page)
    assert ran.code == 0, ran.err
    text = page.read_text(encoding="utf-8")
    assert "What do calibrated probabilities gain?" in text
    assert "frame.drop_nulls" in text


def test_a_table_that_cannot_be_written_is_said_before_the_work(with_ids, tmp_path, karat):
    path = with_ids[0]
    for target, code, said in (
        (tmp_path / "nowhere" / "out.csv", 2, "a file in a folder that exists"),
        (tmp_path, 2, "a name that ends in"),
        (tmp_path / "out.txt", 2, "ends in .csv"),
        (path, 2, "another file than the input"),
    ):
        ran = karat("calibration", path, "--calibrated", target, "--label", "nothing")
        assert ran.code == code, ran.err
        assert said in ran.err
    out = tmp_path / "out.csv"
    ran = karat("calibration", path, "--calibrated", out, "--output", out)
    assert ran.code == 2
    assert "another file than" in ran.err
    assert not out.exists()


def test_tables_that_have_no_map(with_ids, tmp_path, karat):
    frame, out = pl.read_csv(with_ids[0]), tmp_path / "out.csv"
    taken, empty = tmp_path / "taken.csv", tmp_path / "empty.csv"
    frame.with_columns(pl.lit(1).alias("calibrated_prob_a")).write_csv(taken)
    frame.with_columns(pl.lit(None).alias("label_a"), pl.lit(None).alias("label_b")).write_csv(
        empty
    )
    partly = tmp_path / "partly.csv"
    frame.with_columns(pl.when(pl.col("id") == "007-0").then(None).otherwise("label_b")
                       .alias("label_b")).write_csv(partly)  # fmt: skip
    for table, said in (
        (taken, "adds the column 'calibrated_prob_a'"),
        (empty, "no row has a label"),
        (partly, "row 0 is missing"),
    ):
        ran = karat("calibration", table, "--calibrated", out)
        assert ran.code == 3, ran.err
        assert said in ran.err
        assert not out.exists()
