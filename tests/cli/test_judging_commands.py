"""``karat pairs``, ``karat people``, and ratings and panels of ``karat judges``."""

import numpy as np
import polars as pl
import pytest

from karat.consensus import ErrorEstimator, PairEstimator, annotator_test
from karat.evaluation.voters import Beside, of_votes


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judging")
    rng = np.random.default_rng(0)
    n, names = 150, ["gpt", "claude", "llama", "gemma"]
    y = rng.integers(0, 2, n)
    u = rng.normal(np.where(y == 0, 1.0, -1.0)[:, None] * [2.5, 2.0, 1.6, 1.5], 1.0)
    bias = np.array([0.0, 0.3, 0.8, 0.1])
    first, second = (np.where(u + s * bias > 0, "A", "B") for s in (1, -1))
    wide = {f"{j}_ab": first[:, k] for k, j in enumerate(names)}
    wide |= {f"{j}_ba": second[:, k] for k, j in enumerate(names)}
    systems = rng.permuted(np.tile(["x", "y", "z"], (n, 1)), axis=1)[:, :2]
    wide |= {"left": systems[:, 0], "right": systems[:, 1]}
    pl.DataFrame(wide).write_csv(folder / "pairs.csv")
    rows = [
        {"pair_id": f"p{i}", "judge": j, "shown": o, "verdict": t[i, k], "left": systems[i, 0],
         "right": systems[i, 1], "gold": "A" if y[i] == 0 else "B"}
        for o, t in (("AB", first), ("BA", second)) for i in range(n) for k, j in enumerate(names)
    ]  # fmt: skip
    pl.DataFrame(rows).write_parquet(folder / "long.parquet")
    said = np.where(rng.random((n, 5)) < [0.25, 0.3, 0.25, 0.05, 0.4], 1 - y[:, None], y[:, None])
    people = {f"person_{k}": said[:, k] for k in range(3)}
    pl.DataFrame(people | {"good": said[:, 3], "poor": said[:, 4]}).write_csv(folder / "people.csv")
    stars = np.clip(np.round(rng.normal(2 + 2 * y[:, None], [0.6, 0.8, 0.9, 0.7])), 1, 5)
    pl.DataFrame({j: stars[:, k] for k, j in enumerate(names)}).write_csv(folder / "stars.csv")
    return folder


@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")  # agree too well
def test_wide_pairs_by_patterns(files, karat):
    ran = karat("pairs", files / "pairs.csv", "--judge", "*_ab", "--swapped", "*_ba", "--json")
    assert ran.code == 0, ran.err
    frame = pl.read_csv(files / "pairs.csv")
    first, second = (frame.select(pl.selectors.ends_with(end)) for end in ("_ab", "_ba"))
    est = PairEstimator(rng=0).fit(
        first, second.rename(dict(zip(second.columns, first.columns, strict=True)))
    )
    assert ran.data["position_bias"]["value"] == pytest.approx(est.position_bias_.value.tolist())
    assert ran.data["result"]["value"] == pytest.approx(est.result_.value.tolist())


def test_long_pairs_with_systems_gold_and_panel(files, karat, tmp_path):
    page = tmp_path / "page.html"
    given = ("pairs", files / "long.parquet", "--order", "shown", "--id", "pair_id")
    more = ("--same", "g=g*", "--label", "gold", "--system", "left", "--system", "right", "--panel")
    ran = karat(*given, *more, "--json")
    assert ran.code == 0, ran.err
    assert ran.data["result"]["judges"] == ["claude", "gemma", "gpt", "llama"]
    assert set(ran.data["systems"]["systems"]) == {"x", "y", "z"}
    assert (ran.data["systems"]["method"], ran.data["systems"]["n_gold"]) == ("gold", 150)
    assert ran.data["panels"][0]["judges"] == ["claude", "gemma", "gpt", "llama"]
    written = karat(*given, *more, "--output", page)
    assert written.code == 0, written.err
    text = page.read_text(encoding="utf-8")
    assert "Who follows the position of an answer?" in text
    assert "Which judges are needed?" in text


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")  # labels contradict votes
def test_a_panel_where_labels_contradict_the_votes(karat, tmp_path):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    fooled = rng.random(200) < 0.3  # all but the first judge are wrong together
    wrong = np.where(fooled[:, None], 0.95, 0.1) * np.ones(4)
    wrong[:, 0] = 0.05
    said = np.where(rng.random((200, 4)) < wrong, 1 - y[:, None], y[:, None])
    frame = pl.DataFrame({f"judge_{j}": said[:, j] for j in range(4)}).with_columns(gold=y)
    frame.write_csv(tmp_path / "votes.csv")
    given = ("judges", tmp_path / "votes.csv", "--label", "gold", "--panel")
    ran = karat(*given, "--json")
    assert ran.code == 0, ran.err
    (panel,) = ran.data["panels"]
    # With every label known, errors are counted: a judge alone decides as it votes, or reversed.
    for j in range(4):
        error = panel["alone"][j] + panel["error_of_all"]
        own = (said[:, j] != y).mean()
        assert min(abs(error - own), abs(error - (1 - own))) < 1e-9
    assert panel["value"] <= panel["tolerance"]
    page = tmp_path / "panel.html"
    written = karat(*given, "--output", page)
    assert written.code == 0, written.err
    assert "panel: " in written.out
    assert "Which judges are needed?" in page.read_text(encoding="utf-8")


def test_people_beside_judges(files, karat, tmp_path):
    given = ("people", files / "people.csv", "--person", "person_*", "--judge", "good")
    ran = karat(*given, "--judge", "poor", "--epsilon", "0.1", "--json")
    assert ran.code == 0, ran.err
    assert [one["judge"] for one in ran.data["tests"]] == ["good", "poor"]
    frame = pl.read_csv(files / "people.csv")
    test = annotator_test(frame["good"], frame.select("^person_.*$"), epsilon=0.1)
    assert ran.data["tests"][0]["result"]["p_value"] == pytest.approx(test.p_value.tolist())
    page = tmp_path / "people.html"
    assert karat(*given, "--epsilon", "0.1", "--output", page).code == 0
    assert "May good replace a person?" in page.read_text(encoding="utf-8")


def test_in_a_wide_file_all_others_are_judges(files, karat, tmp_path):
    """But for what names the items, other flags' columns, and what answers unlike the people."""
    frame = pl.read_csv(files / "people.csv").with_row_index("id")
    more = frame.with_columns(
        gold=pl.col("good"), note=pl.lit("text"), length=pl.int_range(pl.len()) * 7 + 5
    )
    more.write_csv(tmp_path / "more.csv")
    ran = karat(
        "people", tmp_path / "more.csv", "--person", "person_*", "--epsilon", "0.1",
        "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert [one["judge"] for one in ran.data["tests"]] == ["good", "poor"]
    assert any("gold, note, length" in said for said in ran.data["warnings"])
    rated = karat(
        "people", files / "people.csv", "--person", "person_*", "--epsilon", "0.1",
        "--alignment", "rmse", "--json",
    )  # fmt: skip
    assert {one["judge"] for one in rated.data["tests"]} == {"good", "poor"}


def test_pairs_to_label_have_names_and_probabilities(files, karat, tmp_path):
    todo, page = tmp_path / "todo.csv", tmp_path / "page.html"
    given = ("pairs", files / "long.parquet", "--order", "shown", "--id", "pair_id")
    ran = karat(*given, "--label-next", "40", "--todo", todo, "--json")
    assert ran.code == 0, ran.err
    drawn = pl.read_csv(todo)
    assert ran.data["label_next"]["pair_id"] == drawn["pair_id"].to_list()
    assert drawn["pair_id"].str.starts_with("p").all()
    assert ((drawn["probability"] > 0) & (drawn["probability"] <= 1)).all()
    frame = pl.read_parquet(files / "long.parquet").join(
        drawn.select("pair_id", chance="probability"), on="pair_id", how="left"
    )
    labelled = frame.with_columns(pl.when(pl.col("chance").is_not_null()).then("gold").alias("y"))
    labelled.write_parquet(tmp_path / "labelled.parquet")
    again = (
        "pairs", tmp_path / "labelled.parquet", "--order", "shown", "--id", "pair_id",
        "--label", "y", "--label-probability", "chance",
    )  # fmt: skip
    ran = karat(*again, "--json")
    assert ran.code == 0, ran.err
    (status,) = ran.data["status"]
    assert (status["domain"], status["status"]) == ("all", "confirmed")
    assert "gold labels" in status["gold"]
    ran = karat(*again, "--output", page)
    assert "How sure: confirmed" in ran.out
    assert "What do the gold labels say?" in page.read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")
def test_wide_pairs_are_named_by_their_column(files, karat, tmp_path):
    frame = pl.read_csv(files / "pairs.csv")
    named = frame.with_columns(pair_id=pl.format("q{}", pl.int_range(pl.len())))
    named.write_csv(tmp_path / "named.csv")
    both = ("--judge", "*_ab", "--swapped", "*_ba", "--label-next", "5", "--json")
    ran = karat("pairs", tmp_path / "named.csv", *both)
    assert ran.code == 0, ran.err
    assert all(item.startswith("q") for item in ran.data["label_next"]["pair_id"])
    plain = karat("pairs", files / "pairs.csv", *both)
    assert plain.data["label_next"]["item"] == [
        int(item[1:]) for item in ran.data["label_next"]["pair_id"]
    ]
    assert plain.data["result"]["value"] == pytest.approx(ran.data["result"]["value"])


def test_what_votes_cannot_tell_stands_first_and_in_the_head(files, karat):
    """Two judges of four: no table may speak of limits of an error rate."""
    ran = karat("pairs", files / "pairs.csv", "--judge", "gpt_a*", "--swapped", "gpt_b*")
    assert ran.code == 3, "one judge is refused"
    given = ("--judge", "[cl]*_ab", "--swapped", "[cl]*_ba")
    ran = karat("pairs", files / "pairs.csv", *given)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("The votes do not identify the error rates, because ")
    head = next(line for line in ran.out.splitlines() if "error rate" in line and "judge" in line)
    assert head.index("votes cannot tell") < head.index("% limits")
    ran = karat("judges", files / "stars.csv", "--score", "gpt", "--score", "claude")
    assert ran.out.startswith("The scores alone do not identify the error rates")
    assert "scores cannot tell" in ran.out
    assert "% limits" not in ran.out


def test_long_people(files, karat, tmp_path):
    frame = pl.read_csv(files / "people.csv").with_row_index("item")
    frame.unpivot(index="item", variable_name="annotator", value_name="answer").write_csv(
        tmp_path / "long.csv"
    )
    ran = karat(
        "people", tmp_path / "long.csv", "--person", "person_*", "--epsilon", "0.1", "--json"
    )
    assert ran.code == 0, ran.err
    assert {one["judge"] for one in ran.data["tests"]} == {"good", "poor"}


def test_scores(files, karat, tmp_path):
    page = tmp_path / "scores.html"
    ran = karat("judges", files / "stars.csv", "--score", "*", "--json")
    assert ran.code == 0, ran.err
    assert ran.data["result"]["classifiers"] == ["gpt", "claude", "llama", "gemma"]
    assert karat("judges", files / "stars.csv", "--score", "*", "--output", page).code == 0
    assert "tell the classes apart" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("people", "--person", "person_*"), "--epsilon"),
        (("people", "--epsilon", "0.1"), "--person"),
        (("people", "--person", "*", "--epsilon", "0.1"), "--judge"),
        (("people", "--person", "person_*", "--epsilon", "0.1", "--judge", "person_0"), "both"),
        (("people", "--person", "person_*", "--label-next", "3"), "--label-next"),
        (("pairs", "--order", "good", "--structure", "coupled"), "--structure"),
        (("pairs", "--order", "good", "--todo", "todo.csv"), "--label-next"),
        (("pairs", "--order", "no_such"), "no such column"),
        (("pairs", "--judge", "good"), "--swapped"),
        (("pairs", "--judge", "person_*", "--swapped", "good"), "--swapped good 1"),
        (("pairs", "--order", "good", "--system", "poor"), "two columns"),
        (("judges", "--score", "good", "--same", "a=b"), "--same does not go with --score"),
        (("judges", "--score", "good", "--panel"), "--panel does not go with --score"),
        (("judges", "--score", "good", "--structure", "coupled"), "does not go with --score"),
        (("judges", "--panel", "--cost", "nobody=2"), "--cost"),
    ],
)
def test_wrong_flags_are_said(files, karat, arguments, message):
    command, *flags = arguments
    ran = karat(command, files / "people.csv", *flags)
    assert ran.code in (2, 3)
    assert message in ran.err


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
def test_long_files_of_people_scores_and_pairs_by_other_names(files, karat, tmp_path):
    wide = pl.read_csv(files / "people.csv").with_row_index("doc")
    people = wide.unpivot(index="doc", variable_name="Annotator", value_name="label")
    people.write_csv(tmp_path / "people.csv")
    given = ("--person", "person_*", "--epsilon", "0.1", "--json")
    long, short = (karat("people", folder / "people.csv", *given) for folder in (tmp_path, files))
    assert long.code == 0, long.err
    assert long.data["summary"] == short.data["summary"]
    stars = pl.read_csv(files / "stars.csv").with_row_index("task_id")
    stars.unpivot(index="task_id", variable_name="rater", value_name="rating").with_columns(
        label=pl.lit("a comment")
    ).write_csv(tmp_path / "stars.csv")
    long = karat("judges", tmp_path / "stars.csv", "--score", "rating", "--json")
    short = karat("judges", files / "stars.csv", "--score", "*", "--json")
    assert long.code == 0, long.err
    assert sorted(long.data["result"]["value"]) == pytest.approx(
        sorted(short.data["result"]["value"]), abs=0.02
    )
    pairs = pl.read_parquet(files / "long.parquet")
    pairs.rename({"pair_id": "example", "judge": "grader", "verdict": "choice"}).write_csv(
        tmp_path / "pairs.csv"
    )
    long = karat("pairs", tmp_path / "pairs.csv", "--order", "shown", "--label", "gold", "--json")
    assert long.code == 0, long.err
    short = karat("pairs", files / "long.parquet", "--order", "shown", "--label", "gold", "--json")
    assert long.data["result"]["value"] == pytest.approx(short.data["result"]["value"])


def test_a_long_file_of_pairs_refuses_judges_by_column(karat, files):
    given = ("pairs", files / "long.parquet", "--order", "shown", "--id", "pair_id")
    ran = karat(*given, "--judge", "gpt")
    assert ran.code == 2
    assert "--judge names columns of a wide file" in ran.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--person", "person_0", "--person", "nobody"), "--person nobody: nobody in the file"),
        (("--person", "person_*", "--judge", "nobody"), "--judge nobody: nobody in the file"),
        (("--person", "person_0"), "--person names 'person_0' alone"),
    ],
)
def test_people_who_are_not_in_a_long_file(karat, files, tmp_path, flags, said):
    wide = pl.read_csv(files / "people.csv").with_row_index("item")
    long = wide.unpivot(index="item", variable_name="annotator", value_name="answer")
    long.write_csv(tmp_path / "long.csv")
    ran = karat("people", tmp_path / "long.csv", *flags, "--epsilon", "0.1")
    assert ran.code in (2, 3)
    assert said in ran.err


@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")
def test_long_votes_come_back_under_the_names_of_their_columns(karat, tmp_path):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 120)
    rows = [
        {"question": f"q{i}", "rater": f"r{j}", "verdict": int(abs(y - (rng.random() < 0.2))),
         "lang": "en" if i % 2 else "de", "gold": int(y) if i % 3 == 0 else None}
        for i, y in enumerate(truth) for j in range(4)
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv(tmp_path / "long.csv")
    given = ("judges", tmp_path / "long.csv", "--label", "gold", "--group", "lang")
    ran = karat(*given, "--label-next", "4", "--todo", tmp_path / "todo.csv")
    assert ran.code == 0, ran.err
    assert "rater" in ran.out
    assert "voter" not in ran.out.replace("voters", "")
    assert pl.read_csv(tmp_path / "todo.csv").columns[1] == "question"
    found = karat(*given, "--label-next", "4", "--json").data
    assert set(found["from_labels"]["rater"]) == {"r0", "r1", "r2", "r3"}
    assert len(found["label_next"]["question"]) == 4


@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_a_page_of_votes_in_frames_of_any_library(kind):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 120)
    rows = [
        {"task": i, "worker": f"w{j}", "answer": int(abs(y - (rng.random() < 0.2)))}
        for i, y in enumerate(truth) for j in range(4)
    ]  # fmt: skip
    votes = pl.DataFrame(rows) if kind == "polars" else pl.DataFrame(rows).to_pandas()
    known = {i: int(y) for i, y in enumerate(truth) if i % 3 == 0}
    fitted = ErrorEstimator(rng=0).fit(votes, y_true=known)
    answer = of_votes(fitted, ["task"], Beside(name="votes", drawn=fitted.label_next(3)))
    assert answer.findings()
    tables = [part for part in answer.text if not isinstance(part, str)]
    assert {part.columns[0] for part in tables} == {"worker"}
    assert set(answer.data["from_labels"]["worker"]) == {"w0", "w1", "w2", "w3"}
