"""``karat optimize`` on files."""

import re

import numpy as np
import polars as pl
import pytest

from karat.metrics import FairMetric, as_metric, cost_matrix, g_mean
from karat.optimize import FrankWolfeClassifier


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    p = rng.beta(1, 6, size=3000)
    fraud = rng.random(3000) < p
    labels = np.where(fraud, "fraud", "legit").astype(object)
    labels[2000:] = None
    kinds = rng.choice(["card", "wire"], size=3000)
    path = tmp_path_factory.mktemp("optimize") / "rows.csv"
    pl.DataFrame(
        {"y": labels, "p": p, "prob_fraud": p, "prob_legit": 1 - p, "kind": kinds}
    ).write_csv(path)
    return path, p, fraud


@pytest.fixture
def answer(karat):
    def run(*arguments):
        ran = karat("optimize", *arguments, "--json")
        assert ran.code == 0, ran.err
        return ran.data

    return run


def test_the_table_that_is_written_keeps_leading_zeros(table, tmp_path, answer):
    frame = pl.read_csv(table[0])
    named = frame.with_columns(pl.int_range(pl.len()).cast(pl.String).str.zfill(5).alias("id"))
    named.write_csv(tmp_path / "t.csv")
    out = tmp_path / "out.csv"
    answer(tmp_path / "t.csv", "--label", "y", "--score", "p", "--predictions", out)
    assert pl.read_csv(out, infer_schema=False)["id"].to_list() == named["id"].to_list()


def test_scores_that_are_no_probabilities_are_named_as_they_stand(table, tmp_path, karat):
    frame = pl.read_csv(table[0]).with_columns(logit=(pl.col("p") / (1 - pl.col("p"))).log())
    frame.write_csv(tmp_path / "t.csv")
    said = karat("optimize", tmp_path / "t.csv", "--label", "y", "--score", "logit").err
    found = re.search(r"--score logit: data row 1 is (\S+) \([\d,]+ such rows in all\); exp", said)
    assert float(found[1]) == pytest.approx(frame["logit"][0], rel=1e-5)


def test_labelled_rows_are_used_and_all_rows_decided(table, tmp_path, answer):
    path, p, fraud = table
    written = tmp_path / "decided.parquet"
    found = answer(
        path, "--label", "y", "--score", "p", "--pos-label", "fraud", "--predictions", written
    )
    assert found["history"]["n_rows"] == 2000
    decided = pl.read_parquet(written)["decision"].to_numpy()
    assert len(decided) == 3000
    assert found["decisions"] == {str(c): int((decided == c).sum()) for c in np.unique(decided)}
    value = g_mean.score(np.where(fraud, "fraud", "legit")[:2000], decided[:2000])
    assert value == pytest.approx(found["history"]["deterministic"])
    assert value > found["history"]["baseline"] + 0.2
    assert ((decided == "fraud") == (p >= found["thresholds"]["all rows"])).mean() > 0.995


def test_probabilities_by_class_say_the_same_as_a_score(table, answer):
    path = table[0]
    one = answer(path, "--label", "y", "--score", "p", "--pos-label", "fraud")
    two = answer(path, "--label", "y")
    assert two["decisions"] == one["decisions"]


def test_an_elicited_metric_and_a_basis(table, tmp_path, answer):
    path, p, fraud = table
    saved = tmp_path / "costs.json"
    saved.write_text(cost_matrix([[0, 5], [1, 0]]).to_json())  # fraud is the first class
    found = answer(path, "--label", "y", "--metric", saved, "--basis", "kind", "--folds", "0")
    assert found["history"]["basis_functions"] == ["constant", "kind=card"]
    assert found["history"]["held_out"]["value"] is None
    proba = np.column_stack([p, 1 - p])[:2000]
    kind = pl.read_csv(path)["kind"].to_numpy()[:2000]
    basis = np.column_stack([np.ones(2000), kind == "card", kind == "wire"]).astype(float)
    clf = FrankWolfeClassifier(metric=cost_matrix([[0, 5], [1, 0]]), deterministic=True)
    clf.fit_from_proba(proba, np.where(fraud, "fraud", "legit")[:2000], basis=basis)
    assert found["history"]["deterministic"] == pytest.approx(clf.history_.deterministic)


def test_a_metric_of_groups_has_its_groups(table, answer, tmp_path):
    """With a metric that ``karat elicit --family fair`` may have saved."""
    path, p, fraud = table
    fair = FairMetric([1, 1], [[1, 1]], 0.5)
    saved = tmp_path / "fair.json"
    saved.write_text(fair.to_json())
    found = answer(path, "--label", "y", "--metric", saved, "--group", "kind", "--folds", "0")
    kind = pl.read_csv(path)["kind"].to_numpy()[:2000]
    proba = np.column_stack([p, 1 - p])[:2000]
    clf = FrankWolfeClassifier(metric=fair, deterministic=True)
    clf.fit_from_proba(proba, np.where(fraud, "fraud", "legit")[:2000], groups_val=kind)
    assert found["history"]["deterministic"] == pytest.approx(clf.history_.deterministic)


def test_a_page_is_written(table, tmp_path, karat):
    page = tmp_path / "page.html"
    ran = karat("optimize", table[0], "--label", "y", "--output", page)
    assert ran.code == 0, ran.err
    assert "1,000 of them without a label" in ran.out
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 3
    assert "Where is the line?" in text


def cells(page):
    return re.findall(r"<td[^>]*>(.*?)</td>", page.read_text(encoding="utf-8"), re.S)


def test_the_table_of_the_page_holds_what_was_measured(table, tmp_path, karat):
    page = tmp_path / "page.html"
    options = ("--label", "y", "--folds", "0", "--randomize", "--json", "--output", page)
    history = karat("optimize", table[0], *options).data["history"]
    assert "nan" not in cells(page)
    assert f"{history['mixture']:.4f}" in cells(page)
    assert "cross-validated" not in page.read_text(encoding="utf-8")


def test_a_format_that_cannot_hold_the_table_is_refused_before_the_work(table, tmp_path, karat):
    nested, out = tmp_path / "nested.parquet", tmp_path / "out.csv"
    frame = pl.read_csv(table[0], infer_schema_length=None)
    frame.with_columns(parts=pl.Series([[1, 2]] * len(frame))).write_parquet(nested)
    ran = karat("optimize", nested, "--label", "y", "--score", "p", "--predictions", out)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: --predictions is '")
    assert "expected a name that ends in .parquet or .arrow for this table" in ran.err
    assert ran.err.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--label", "nothing"), 3, "no such column"),
        (("--label", "y", "--prob", "p"), 2, "2 classes"),
        (
            ("--label", "y", "--score", "p", "--prob", "prob_fraud"),
            2,
            "--score is 'p'; expected no --prob with it",
        ),
        (
            ("--label", "y", "--group", "kind"),
            2,
            "--group is 'kind'; expected with a metric that compares groups",
        ),
        (("--label", "y", "--basis", "kind", "--basis", "kind"), 2, "--basis is 'kind' twice"),
        (("--label", "y", "--metric", "magic"), 2, "expected a metric"),
        (("--label", "y", "--basis", "size"), 3, "no such column"),
        (("--label", "y", "--basis", "p"), 3, "distinct values"),
        (("--label", "y", "--folds", "5000"), 2, "rarest class"),
        (("--label", "y", "--folds", "1"), 2, "--folds is 1; expected 0 for none, or at least 2"),
        (("--label", "y", "--metric", "fair.json"), 2, "expected --group with it"),
        (("--label", "y", "--metric", "fair.json", "--group", "some"), 3, "--group some row 3 is"),
        (("--label", "one"), 3, "every labelled row is 'legit'; label some rows of another"),
        (("--label", "y", "--metric", "none.json"), 2, "a .json file that exists"),
        (("--label", "y", "--metric", "broken.json"), 3, "not valid JSON"),
        (("--label", "y", "--score", "hole"), 3, "--score hole is missing or NaN"),
        (
            ("--label", "y", "--score", "p", "--pos-label", "theft"),
            2,
            "one of the labels fraud, legit",
        ),
        (("--label", "y", "--predictions", "out.txt"), 2, "a name that ends in"),
        (("--label", "kind", "--score", "kind", "--pos-label", "wire"), 3, "kind"),
    ],
)
def test_bad_usage_is_said(table, karat, options, code, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fair.json").write_text(FairMetric([1, 1], [[1, 1]], 0.5).to_json())
    (tmp_path / "broken.json").write_text('{"schema": ')
    frame = pl.read_csv(table[0], infer_schema_length=None)
    at = pl.int_range(pl.len())
    more = frame.with_columns(
        some=pl.when(at != 3).then("kind"), hole=pl.when(at != 2).then("p"), one=pl.lit("legit")
    )
    more.write_csv(tmp_path / "more.csv")
    ran = karat("optimize", tmp_path / "more.csv", *options)
    assert ran.code == code
    assert said in ran.err
    assert ran.out == ""


@pytest.mark.filterwarnings("ignore::karat.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("metric", ["mcc", "f1", "g_mean", "balanced_accuracy"])
def test_no_threshold_is_better_on_the_labelled_rows(tmp_path, answer, metric):
    """The model is overconfident: its log-odds are four times what they should be."""
    rng = np.random.default_rng(8)
    odds = 2 * rng.normal(size=400) - 1
    y = rng.random(400) < 1 / (1 + np.exp(-odds))
    p = 1 / (1 + np.exp(-4 * odds))
    file = tmp_path / "mails.csv"
    pl.DataFrame({"truth": np.where(y, "spam", "ham"), "p": p}).write_csv(file)
    found = answer(
        file, "--label", "truth", "--score", "p", "--pos-label", "spam", "--metric", metric
    )
    decisions = [(p >= t).astype(int) for t in np.append(p, 2)]
    best = max(as_metric(metric).score(y.astype(int), d, classes=[0, 1]) for d in decisions)
    assert found["history"]["deterministic"] >= best - 1e-9
