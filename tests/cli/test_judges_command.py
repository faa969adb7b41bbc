"""``karat judges`` on files."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest

from karat.cli._table import InputTable
from karat.cli._votes import Reading, read_votes_of
from karat.consensus import ErrorEstimator


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("votes")
    rng = np.random.default_rng(0)
    n = 400
    y = rng.integers(0, 2, n)
    names = np.array(["bad", "good"])
    columns = {"topic": np.where(np.arange(n) < 200, "north", "south")}
    for j, error in enumerate((0.05, 0.15, 0.25, 0.3)):
        columns[f"judge_{j}"] = names[np.where(rng.random(n) < error, 1 - y, y)]
    columns["known"] = np.where(rng.random(n) < 0.2, names[y], None)
    columns["score"] = np.clip(0.5 * y + 0.5 * rng.random(n), 0, 1)
    wide = pl.DataFrame(columns)
    wide.write_csv(folder / "wide.csv")
    items = wide.select(pl.int_range(pl.len()).alias("item"), "topic", "known", "^judge_.*$")
    long = items.unpivot(
        index=["item", "topic", "known"], variable_name="classifier", value_name="vote"
    )
    long.drop("topic", "known").write_parquet(folder / "long.parquet")
    # A column that is called 'domain' and means something else than --group does.
    long.with_columns(domain=pl.lit("here")).write_csv(folder / "long_domains.csv")
    return folder


def error_rates(karat, *arguments):
    ran = karat("judges", *arguments, "--json")
    assert ran.code == 0, ran.err
    return ran.data["result"]


def test_wide_and_long_files_give_the_same_answer(files, karat):
    wide = error_rates(karat, files / "wide.csv", "--judge", "judge_*")
    long = error_rates(karat, files / "long.parquet")
    assert wide["classifiers"] == long["classifiers"]
    assert np.abs(np.subtract(wide["value"], long["value"])).max() < 0.01


def test_a_flag_wins_over_a_column_of_the_same_meaning(files, karat):
    found = error_rates(karat, files / "long_domains.csv", "--group", "topic")
    assert found["domains"] == ["north", "south"]
    alone = error_rates(karat, files / "wide.csv", "--group", "topic", "--judge", "judge_*")
    assert np.abs(np.subtract(found["value"], alone["value"])).max() < 0.02
    assert error_rates(karat, files / "long_domains.csv")["domains"] == ["here"]
    named = error_rates(karat, files / "long_domains.csv", "--group", "domain")
    assert named["domains"] == ["here"]


def test_gold_labels_of_a_long_file(files, karat):
    ran = karat("judges", files / "long_domains.csv", "--label", "known", "--json")
    assert min(ran.data["from_labels"]["n_gold"]) > 40


def test_the_table_says_whether_the_votes_identify_the_rates(files, karat):
    ran = karat(
        "judges",
        files / "wide.csv",
        "--group",
        "topic",
        "--confidence",
        "0.8",
        "--judge",
        "judge_*",
    )
    assert ran.code == 0
    assert "lowest error rate" in ran.out
    said = " ".join(ran.out.split())
    assert said.index("Gold labels have not tested the consensus") < said.index("lowest error rate")
    row = next(line for line in ran.out.splitlines() if line.startswith("│ north"))
    assert "consistent" in row
    assert "80 % limits" in ran.out


def test_gold_labels_and_a_report(files, karat):
    page = files / "report.html"
    ran = karat("judges", files / "wide.csv", "--label", "known", "--json", "--output", page)
    assert ran.code == 0
    assert min(ran.data["from_labels"]["n_gold"]) > 40
    html = page.read_text()
    assert "What do the gold labels say?" in html
    assert "y_true=frame[&#39;known&#39;]" in html
    assert "<svg" in html


def test_an_empty_cell_was_not_asked_unless_it_abstains(files, karat):
    """As in Python, and as in ``karat bounds``."""
    rng = np.random.default_rng(1)
    voters = [f"judge_{j}" for j in range(4)]
    frame = pl.read_csv(files / "wide.csv").select(
        pl.when(pl.Series(rng.random(400) < 0.2)).then(None).otherwise(pl.col(name)).alias(name)
        for name in voters
    )
    frame.write_csv(files / "gaps.csv")
    for flag, null in (((), "not asked"), (("--null", "abstain"), "abstain")):
        found = error_rates(karat, files / "gaps.csv", *flag)
        wanted = ErrorEstimator(rng=0).fit(frame, null=null).result_
        assert found["value"] == pytest.approx(wanted.value.tolist())
        assert found["votes"] == pytest.approx(wanted.votes.tolist())


def test_warnings_reach_the_terminal_and_the_json(files, karat):
    """Votes that do not identify the rates: said in one line, and kept with the answer."""
    rng = np.random.default_rng(0)
    votes = {f"judge_{j}": rng.integers(0, 2, 60) for j in range(3)}
    pl.DataFrame(votes).write_csv(files / "noise.csv")
    ran = karat("judges", files / "noise.csv", "--json")
    lines = ran.err.splitlines()
    assert any("votes do not identify" in line for line in lines)
    assert [line.removeprefix("warning: ") for line in lines] == ran.data["warnings"]
    assert ".py" not in ran.err


def test_probabilities_need_a_threshold(files, karat):
    ran = karat("judges", files / "wide.csv", "--judge", "score", "--judge", "judge_0")
    assert ran.code == 3
    assert "--threshold" in ran.err


def test_mistakes_are_one_sentence(files, karat):
    ran = karat("judges", files / "wide.csv", "--judge", "jugde_0")
    assert ran.code == 3
    assert "did you mean 'judge_0'?" in ran.err
    pl.DataFrame({"a": [1]}).write_csv(files / "none.csv")
    ran = karat("judges", files / "none.csv")
    assert ran.code == 3
    assert "the columns are ['a'], and none is named like items or voters or votes" in ran.err
    assert "name those of a long table with --id, --voter and --vote" in ran.err


def test_domains_may_share(files, karat):
    page = files / "shared.html"
    ran = karat(
        "judges", files / "wide.csv", "--group", "topic", "--structure", "coupled",
        "--dependence", "none", "--json", "--output", page,
    )  # fmt: skip
    assert ran.code == 0
    assert ran.data["clusters"]["names"] == ["north", "south"]
    text = page.read_text(encoding="utf-8")
    assert "Who shares error rates with whom?" in text
    assert "structure=" in text


def test_sharing_needs_domains(files, karat):
    ran = karat("judges", files / "wide.csv", "--structure", "coupled")
    assert ran.code == 2
    assert "--group" in ran.err


def test_an_unknown_error_model_names_the_flag(files, karat):
    ran = karat("judges", files / "wide.csv", "--judge", "judge_*", "--error-model", "magic")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: --error-model is 'magic'; expected 'class-conditional' or '")


@pytest.mark.parametrize("flag", ["structure", "dependence"])
def test_an_unknown_choice_gets_the_sentence_of_the_library(files, karat, flag):
    ran = karat("judges", files / "wide.csv", "--judge", "judge_*", f"--{flag}", "magic")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {flag} is 'magic'; expected '")


@pytest.fixture(scope="module")
def panel(tmp_path_factory):
    """Return a file of judges with any names, ids, prompts, a label and a group; and a long one."""
    folder = tmp_path_factory.mktemp("panel")
    rng = np.random.default_rng(5)
    n, names = 300, np.array(["A", "B"])
    y = rng.integers(0, 2, n)
    columns = {
        "id": [f"q{i}" for i in range(n)],
        "prompt": [f"question {i}" for i in range(n)],
        "group": np.arange(n) % 2,
    }
    for name, error in (("claude", 0.08), ("gpt_a", 0.3), ("llama", 0.2), ("mistral", 0.25)):
        columns[name] = names[np.where(rng.random(n) < error, 1 - y, y)]
    columns["gpt_b"] = np.where(rng.random(n) < 0.98, columns["gpt_a"], names[y])
    known = set(rng.choice(n, 40, replace=False).tolist())
    columns["gold"] = [str(names[y[i]]) if i in known else None for i in range(n)]
    wide = pl.DataFrame(columns)
    wide.write_csv(folder / "wide.csv")
    voters = ["claude", "gpt_a", "gpt_b", "llama", "mistral"]
    long = wide.unpivot(index="id", on=voters, variable_name="who", value_name="said")
    long.write_csv(folder / "long.csv")
    long.rename({"id": "item", "who": "judge", "said": "verdict"}).write_csv(folder / "known.csv")
    return folder


def test_all_columns_but_those_of_flags_are_judges(panel, karat):
    ran = karat("judges", panel / "wide.csv", "--label", "gold", "--group", "group", "--json")
    assert ran.code == 0, ran.err
    assert sorted(ran.data["result"]["classifiers"]) == [
        "claude", "gpt_a", "gpt_b", "llama", "mistral"
    ]  # fmt: skip
    assert ran.data["result"]["domains"] == [0, 1]  # a number stays one
    assert any("prompt" in line and "no voter" in line for line in ran.data["warnings"])
    assert any("near copies count as one voter" in line for line in ran.data["warnings"])
    assert [line["copies"] for line in ran.data["status"]] == [[["gpt_a", "gpt_b"]]] * 2 or any(
        set(block) == {"gpt_a", "gpt_b"} for line in ran.data["status"] for block in line["copies"]
    )


def test_patterns_choose_judges(panel, karat):
    found = error_rates(karat, panel / "wide.csv", "--judge", "gpt*", "--judge", "claude")
    assert found["classifiers"] == ["gpt_a", "gpt_b", "claude"]
    ran = karat("judges", panel / "wide.csv", "--judge", "bard*")
    assert ran.code == 3
    assert "no column matches" in ran.err


def test_a_list_chooses_judges(files, karat):
    listed = error_rates(karat, files / "wide.csv", "--judge", "judge_0,judge_1,judge_2")
    assert listed["classifiers"] == ["judge_0", "judge_1", "judge_2"]


def test_long_files_by_any_names(panel, karat):
    flags = ("--id", "id", "--voter", "who", "--vote", "said")
    by_flags = error_rates(karat, panel / "long.csv", *flags)
    known = error_rates(karat, panel / "known.csv")
    assert by_flags["classifiers"] == known["classifiers"]
    assert by_flags["value"] == pytest.approx(known["value"])
    ran = karat("judges", panel / "long.csv", "--voter", "who")
    assert ran.code == 2
    assert "come together" in ran.err


def test_items_to_label_have_ids_and_probabilities(panel, karat):
    todo = panel / "todo.csv"
    ran = karat(
        "judges", panel / "wide.csv", "--label", "gold", "--group", "group", "--label-next", "30",
        "--todo", todo, "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    drawn = pl.read_csv(todo)
    assert len(drawn) == 30
    assert drawn["id"].str.starts_with("q").all()
    assert ((drawn["probability"] > 0) & (drawn["probability"] <= 1)).all()
    assert ran.data["label_next"]["id"] == drawn["id"].to_list()
    wide = pl.read_csv(panel / "wide.csv")
    labelled = wide.filter(pl.col("gold").is_not_null())["id"]
    assert not set(drawn["id"]) & set(labelled)
    ran = karat("judges", panel / "wide.csv", "--todo", todo)
    assert ran.code == 2
    assert "--label-next" in ran.err


@pytest.mark.filterwarnings("ignore:.*separated by semicolons")
@pytest.mark.parametrize("separator", [",", ";"])
def test_items_keep_their_leading_zeros(files, karat, separator, tmp_path, executed_page):
    wide = pl.read_csv(files / "wide.csv").select("^judge_.*$")
    named = wide.select(pl.int_range(1, pl.len() + 1).cast(pl.String).str.zfill(4).alias("id"), "*")
    named.write_csv(tmp_path / "w.csv", separator=separator)
    ran = karat("judges", tmp_path / "w.csv", "--label-next", "10", "--todo", tmp_path / "t.csv",
                "--json", "--output", tmp_path / "p.html")  # fmt: skip
    assert ran.code == 0, ran.err
    assert all(len(item) == 4 for item in ran.data["label_next"]["id"])
    drawn = executed_page(tmp_path / "p.html")
    assert drawn["item"].to_list() == ran.data["label_next"]["id"]


def test_the_report_opens_with_whom_to_trust(panel, karat):
    page = panel / "report.html"
    ran = karat("judges", panel / "wide.csv", "--label", "gold", "--group", "group",
                "--label-next", "10", "--output", page)  # fmt: skip
    lines = ran.out.splitlines()
    assert lines[0].startswith("In 0: trust claude most: wrong on")
    assert any(line.startswith("How sure: ") for line in lines[:3])
    assert any(line.startswith("Label next (10 items") for line in lines[:4])
    html = page.read_text(encoding="utf-8")
    assert html.index("Whom to trust, how sure, and what to label?") < html.index("gold labels say")
    assert "near copies count as one voter" in html  # what the terminal says, the page says
    assert "votes alone" not in ran.out + html


def test_families_and_picked_labels(panel, karat):
    ran = karat(
        "judges", panel / "wide.csv", "--judge", "claude", "--judge", "llama", "--judge", "mistral",
        "--judge", "gpt_*", "--same", "small=llama,mistral", "--label", "gold",
        "--design", "picked", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    blocks = [set(block) for block in ran.data["status"][0]["copies"]]
    assert {"llama", "mistral"} in blocks
    assert "from_labels" not in ran.data
    ran = karat("judges", panel / "wide.csv", "--same", "nothing")
    assert ran.code == 2


@pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")
def test_a_column_called_like_true_labels_is_no_silent_voter(files, karat, tmp_path):
    frame = pl.read_csv(files / "wide.csv").select("^judge_.*$", gold="judge_0")
    frame.write_csv(tmp_path / "gold.csv")
    ran = karat("judges", tmp_path / "gold.csv", "--json")
    assert "gold" in ran.data["result"]["classifiers"]
    assert any("pass --label gold" in said for said in ran.data["warnings"])
    ran = karat("judges", tmp_path / "gold.csv", "--label", "gold", "--json")
    assert "gold" not in ran.data["result"]["classifiers"]
    assert not any("pass --label" in said for said in ran.data["warnings"])


LONG = [
    order
    for item in ("item", "task_id", "Question ID", "example")
    for voter in ("annotator", "rater", "Worker-Id")
    for order in permutations((item, voter, ("label", "answer", "Rating")[len(item) % 3]))
]


@pytest.mark.parametrize("order", LONG, ids="-".join)
def test_long_files_in_72_layouts(panel, order):
    known = pl.read_csv(panel / "known.csv")
    voters = ("annotator", "rater", "Worker-Id")
    votes = ("label", "answer", "Rating")
    voter, vote = (next(c for c in order if c in names) for names in (voters, votes))
    (item,) = set(order) - {voter, vote}
    frame = known.rename({"item": item, "judge": voter, "verdict": vote}).select(order)
    found = read_votes_of(InputTable(panel / "votes.csv", frame), Reading())
    assert found.long
    assert found.item == item
    wanted = frame.select(item, voter, vote)
    assert found.votes.value.equals(wanted)
    assert eval(found.votes.code, {"frame": frame}).equals(wanted)


@pytest.mark.parametrize("names", [("item", "annotator", "label"), ("Text ID", "coder", "Value")])
def test_long_files_keep_their_names(panel, karat, names, tmp_path):
    frame = pl.read_csv(panel / "known.csv")
    frame.rename(dict(zip(("item", "judge", "verdict"), names, strict=True))).write_csv(
        tmp_path / "long.csv"
    )
    todo = tmp_path / "todo.csv"
    ran = karat("judges", tmp_path / "long.csv", "--label-next", "10", "--todo", todo, "--json")
    assert ran.code == 0, ran.err
    assert ran.data["result"]["value"] == pytest.approx(
        error_rates(karat, panel / "known.csv")["value"]
    )
    drawn = pl.read_csv(todo)
    assert drawn.columns[:2] == ["domain", names[0]]
    assert drawn[names[0]].to_list() == ran.data["label_next"][names[0]]
    found = karat("evaluate", tmp_path / "long.csv", "--json")
    assert found.code == 0, found.err
    assert "claude" in found.out


def test_a_long_file_that_is_not_understood_names_columns_and_flags(panel, karat, tmp_path):
    frame = pl.read_csv(panel / "known.csv")
    frame.rename({"judge": "who", "verdict": "said"}).write_csv(tmp_path / "long.csv")
    ran = karat("judges", tmp_path / "long.csv")
    assert ran.code == 3
    assert "['item', 'who', 'said']" in ran.err
    assert "none is named like voters or votes" in ran.err
    assert "--id, --voter and --vote" in ran.err
    two = frame.with_columns(label="verdict", answer=pl.lit("A")).drop("verdict")
    two.write_csv(tmp_path / "two.csv")
    ran = karat("judges", tmp_path / "two.csv")
    assert ran.code == 3
    assert "['label', 'answer'] may be the votes" in ran.err
    assert "--vote" in ran.err
    ran = karat("judges", tmp_path / "two.csv", "--label", "answer")
    assert ran.code == 0, ran.err
    ran = karat("evaluate", tmp_path / "two.csv")
    assert ran.code == 3
    assert "--long vote=COLUMN" in ran.err
