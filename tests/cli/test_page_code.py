"""The Python lines on a page give the numbers that the command gave."""

import ast
import html
import re

import numpy as np
import polars as pl
import pytest

from karat.metrics import FairMetric, cost_matrix

pytestmark = pytest.mark.slow  # every command and the code of its page, with many flags

N = 400


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("page_code")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    names = np.array(["no", "yes"])
    p = np.clip(0.3 * y + 0.7 * rng.random(N), 0.01, 0.99)
    columns = {
        "y": names[y],
        "label_a": y,
        "label_b": (rng.random(N) < 0.5).astype(int),
        "score_a": p,
        "score_b": np.clip(p + rng.normal(0, 0.2, N), 0.01, 0.99),
        "no": 1 - p,
        "pred": names[np.where(rng.random(N) < 0.9, y, 1 - y)],
        "site": rng.choice(["north", "south"], N),
        "gold": [str(v) if i > 150 else None for i, v in enumerate(names[y])],
    }
    for j in range(4):
        columns[f"lf_{j}"] = names[np.where(rng.random(N) < 0.8, y, 1 - y)]
    frame = pl.DataFrame(columns)
    frame.write_csv(path / "t.csv")
    frame.write_parquet(path / "t.parquet")
    (path / "costs.json").write_text(cost_matrix([[0, 1], [4, 0]]).to_json())
    (path / "fair.json").write_text(FairMetric([1, 1], [[1, 1]], 0.5).to_json())
    return path


@pytest.fixture
def both(folder, karat, monkeypatch):
    """Run a command with a page; return its JSON and what the page's code gives."""
    monkeypatch.chdir(folder)

    def run(*arguments):
        ran = karat(*arguments, "--json", "--output", "page.html")
        assert ran.code == 0, ran.err
        page = (folder / "page.html").read_text(encoding="utf-8")
        blocks = [html.unescape(b) for b in re.findall(r"<pre[^>]*><code>(.*?)</code>", page, re.S)]
        assert blocks
        return ran.data, executed("\n".join(blocks))

    return run


def executed(code):
    """Execute lines; return the value of each line that is an expression, and the names."""
    space, found = {}, []
    for node in ast.parse(code).body:
        if isinstance(node, ast.Expr):
            found.append(eval(compile(ast.Expression(node.value), "page", "eval"), space))
        else:
            exec(compile(ast.Module([node], []), "page", "exec"), space)
    return found, space


LIMITS = ("value", "lower", "upper")


def limits(result, names=LIMITS):
    of = result.get if isinstance(result, dict) else lambda name: getattr(result, name)
    return [of(name) for name in names]


@pytest.mark.parametrize(
    "flags",
    [
        ("t.csv",),
        ("t.csv", "--pos-label", "no"),
        ("t.csv", "--group", "site", "--fpr", "0,0.3", "--normalize", "mean"),
        ("t.csv", "--limits", "bootstrap", "--confidence", "0.8"),
        ("t.csv", "--limits", "delong", "--fpr", "0,0.5"),
        ("t.csv", "--limits", "beta", "--fpr", "0,0.5", "--tpr", "0.5,1"),
        ("t.parquet", "--stream", "--score", "score_a", "--pos-label", "no", "--tpr", "0.2,1"),
    ],
)
def test_auc(both, flags):
    data, (found, _) = both("auc", *flags, "--label", "y")
    for (_, wanted), result in zip(data["results"].items(), found, strict=False):
        assert limits(result) == pytest.approx(limits(wanted), abs=1e-12)
        for who, part in (wanted["groups"] or {}).items():
            assert limits(result.groups[who]) == pytest.approx(limits(part), abs=1e-12)
    assert len(found) == len(data["results"]) + ("differences" in data)
    if "differences" in data:
        pairs = data["differences"]["pairs"]
        for wanted, pair in zip(pairs, found[-1].differences, strict=True):
            assert limits(pair) == pytest.approx(limits(wanted), abs=1e-12)


@pytest.mark.parametrize(
    "flags",
    [
        ("--label", "y", "--score", "score_a"),
        ("--label", "y", "--score", "score_a", "--pos-label", "no", "--folds", "0"),
        ("--label", "gold", "--prob", "no", "--prob", "score_a", "--pos-label", "no"),
        ("--label", "y", "--score", "score_a", "--metric", "costs.json", "--randomize"),
        ("--label", "y", "--score", "score_a", "--metric", "costs.json", "--pos-label", "no"),
        ("--label", "y", "--score", "score_a", "--basis", "site", "--folds", "0"),
        ("--label", "gold", "--score", "score_a", "--metric", "fair.json", "--group", "site"),
    ],
)
def test_optimize(both, flags):
    data, (found, space) = both("optimize", "t.csv", *flags)
    history = data["history"]
    assert space["clf"].history_.deterministic == pytest.approx(history["deterministic"])
    assert space["clf"].history_.baseline == pytest.approx(history["baseline"])
    if history["held_out"]["value"] is not None:
        assert space["clf"].history_.held_out.value == pytest.approx(history["held_out"]["value"])
    classes, counts = np.unique(found[-1], return_counts=True)
    assert dict(zip(classes.tolist(), counts.tolist(), strict=True)) == data["decisions"]


@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("--metric", "costs.json", "--confidence", "0.8", "--robustness", "0.01"),
        ("--metric", "f1", "--pos-label", "no", "--group", "site", "--label", "gold"),
        ("--label-model", "triplet", "--null", "abstain"),
    ],
)
def test_bounds(both, flags):
    data, (found, _) = both("bounds", "t.csv", *flags)
    names = ("lower", "upper", "lower_limit", "upper_limit")
    wanted = data["results"]["pred"]
    assert limits(found[0], names) == pytest.approx(limits(wanted, names))
    assert found[0].truth == (wanted["truth"] and pytest.approx(wanted["truth"]))


@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("--group", "site", "--label", "gold", "--confidence", "0.8"),
        ("--error-model", "symmetric", "--dependence", "none", "--null", "abstain"),
    ],
)
def test_judges(both, flags):
    voters = [part for j in range(4) for part in ("--judge", f"lf_{j}")]
    data, (_, space) = both("judges", "t.csv", *voters, *flags)
    result = space["estimator"].result_
    for name in LIMITS:
        assert getattr(result, name).tolist() == pytest.approx(data["result"][name])


@pytest.mark.parametrize(
    "flags",
    [
        ("--prob", "score_a", "--prob", "score_b"),
        ("--label", "y", "--prob", "score_a", "--confidence", "0.8"),
    ],
)
def test_calibration(both, flags):
    data, (found, _) = both("calibration", "t.csv", *flags)
    estimate, proof = found
    assert estimate.value == pytest.approx(data["canonical"]["value"])
    assert proof.lower == pytest.approx(data["certificate"]["lower"])


@pytest.mark.parametrize(
    "flags",
    [
        ("--metric", "accuracy,f1"),
        ("--metric", "costs.json", "--group", "site", "--confidence", "0.8"),
        ("--weight", "score_b"),
    ],
)
def test_score(both, flags):
    data, (found, _) = both("score", "t.csv", "--label", "gold", *flags)
    wanted = data["results"]["pred"].values()
    for one, result in zip(wanted, found, strict=True):
        assert limits(result) == pytest.approx(limits(one))


@pytest.mark.parametrize("flags", [(), ("--shuffle", "--metric", "f1", "--pos-label", "no")])
def test_gate(folder, karat, monkeypatch, flags):
    monkeypatch.chdir(folder)
    given = ("gate", "t.csv", "--label", "gold", "--at-least", "0.7", *flags)
    ran = karat(*given, "--json", "--output", "gate.html")
    page = (folder / "gate.html").read_text(encoding="utf-8")
    (block,) = re.findall(r"<pre[^>]*><code>(.*?)</code>", page, re.S)
    (result,), _ = executed(html.unescape(block))
    assert ran.code == result.exit_code
    assert limits(result) == pytest.approx(limits(ran.data["gate"]))


def test_pairs_and_people(both, folder):
    frame = pl.read_csv(folder / "t.csv")
    rng = np.random.default_rng(3)
    verdicts = {
        f"{name}_{order}": np.where(rng.random(N) < 0.8, frame["label_a"], 1 - frame["label_a"])
        for name in ("a", "b", "c", "d")
        for order in ("ab", "ba")
    }
    pl.DataFrame(verdicts).write_csv(folder / "pairs.csv")
    flags = ("--judge", "*_ab", "--swapped", "*_ba")
    data, (_, space) = both("pairs", "pairs.csv", *flags)
    assert space["estimator"].result_.value.tolist() == pytest.approx(data["result"]["value"])
    who = ("--person", "[abc]_ab", "--judge", "d_ab", "--epsilon", "0.1")
    data, (found, _) = both("people", "pairs.csv", *who)
    assert limits(found[0]) == pytest.approx(limits(data["tests"][0]["result"]))
