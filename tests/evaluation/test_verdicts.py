"""What the first sentences say: the badge of each method, the metric of a winner, the one class."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, matthews_corrcoef

from karat._result import basis_of
from karat.audit import best_of_many
from karat.calibration import calibration_certificate
from karat.cli import main
from karat.evaluation import evaluate
from karat.evaluation.questions import QUESTIONS, Evidence, below_one_class
from karat.evaluation.roles import Roles
from karat.limits import prediction_powered_mean
from karat.metrics import as_metric
from karat.ranking import weighted_auc


def columns(n=1000, seed=0):
    """Return a rare class, a model that hardly finds it and one that finds it at a price."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.1, "fraud", "genuine")
    found, missed, alarm = rng.random(n) < 0.15, rng.random(n) < 0.2, rng.random(n) < 0.12
    timid = np.where((y == "fraud") & found, "fraud", "genuine")
    bold = np.where(y == "fraud", np.where(missed, "genuine", y), np.where(alarm, "fraud", y))
    return {"y": y, "timid": timid, "bold": bold}


# --- badges


def test_badges_are_those_of_the_methods():
    """Exact limits are guaranteed, approximate ones likely, and 95 % limits never certain."""
    rng = np.random.default_rng(1)
    data = columns()
    data["score"] = (data["y"] == "fraud") + rng.normal(size=1000)
    e = evaluate(data, label="y", pred="timid", score="score", pos_label="fraud")
    assert [v.badge for v in e.verdicts] == ["guaranteed", "guaranteed"]
    by_mcc = evaluate(data, label="y", pred="timid", metric="mcc")
    assert as_metric("mcc").estimate(data["y"], data["timid"], rng=0).guarantee == "approximate"
    assert by_mcc.verdicts[0].badge == "likely"
    some = [label if i < 300 else None for i, label in enumerate(data["y"])]
    part = evaluate({**data, "y": some}, label="y", pred="timid", score="score", pos_label="fraud")
    assert [v.badge for v in part.verdicts] == ["likely", "likely"]
    assert all("drawn at random" in v.sentence for v in part.verdicts)
    assert [v.badge for v in evaluate(data, pred="timid").verdicts] == ["unknown"]


def test_limits_of_an_area_are_never_certain_and_counts_of_known_labels_are():
    rng = np.random.default_rng(2)
    y = np.arange(400) % 4 == 0
    e = evaluate({"y": y.astype(int), "s": y + rng.normal(size=400)}, label="y", score="s")
    (area,) = e.verdicts
    assert "between" in area.sentence
    assert area.badge == "guaranteed"  # every label is known, and yet 5 % are left to chance
    worse = np.where(np.arange(400) % 3 == 0, ~y, y)
    count = evaluate({"y": y.astype(int), "m": worse.astype(int)}, label="y", pred="m").verdicts[0]
    assert "(0.665)" in count.sentence  # 134 of 400 are wrong
    assert "(0.750)" in count.sentence
    assert "between" not in count.sentence
    assert count.badge == "certain"


def test_a_mean_is_certain_if_it_is_of_these_items_and_all_are_labelled():
    rng = np.random.default_rng(0)
    right = (rng.random(60) < 0.4).astype(float)
    guess = np.clip(0.6 * right + 0.4 * rng.random(60), 0, 1)
    known = prediction_powered_mean(right, guess, [], finite=True)
    assert known.lower == known.upper == right.mean()
    assert basis_of(known) == "certain"
    assert basis_of(prediction_powered_mean(right, guess, [])) == "likely"
    assert (
        basis_of(prediction_powered_mean(right[:40], guess[:40], guess[40:], finite=True))
        == "likely"
    )


@pytest.mark.parametrize("more", [{"label": "y"}, {"weak": ["w1", "w2", "w3"]}])
def test_that_two_models_predict_the_same_is_certain(more):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    data = {"y": y, "a": y, "b": y}
    data |= {f"w{i}": np.where(rng.random(80) < 0.2, 1 - y, y) for i in (1, 2, 3)}
    names = [name for kind in more.values() for name in kind]
    e = evaluate({k: data[k] for k in ("a", "b", *names)}, pred=["a", "b"], **more)
    said = e.verdicts[-1]
    assert said.sentence.startswith("a and b predict the same for all 80 rows")
    assert said.badge == "certain"
    assert not any("disagree" in step.what for f in e.findings for step in f.next_steps)
    other = evaluate({**{k: data[k] for k in ("a", *names)}, "b": np.r_[1 - y[:1], y[1:]]},
                     pred=["a", "b"], **more)  # fmt: skip
    assert "predict the same" not in other.summary()


@pytest.mark.parametrize(
    ("limits", "guarantee"),
    [("auto", "finite-sample"), ("hinge", "finite-sample"), ("dkw", "finite-sample"),
     ("delong", "approximate"), ("smoothed", "approximate"), ("bootstrap", "approximate")],
)  # fmt: skip
def test_areas_say_what_their_limits_are_worth(limits, guarantee):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    score = y + rng.normal(size=200)
    options = {"rng": 0} if limits == "bootstrap" else {}
    r = weighted_auc(y, score, limits=limits, **options)
    assert r.guarantee == guarantee
    assert ("distribution-free" in r.summary()) == (guarantee == "finite-sample")
    weighted = weighted_auc(y, score, sample_weight=rng.random(200) + 0.5)
    assert weighted.guarantee == "approximate"


def test_a_proven_calibration_error_is_guaranteed_and_not_certain():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    e = evaluate({"y": y, "p": np.where(y == 1, 0.2, 0.8)}, label="y", prob="p")
    assert "cannot be trusted" in e.verdicts[0].sentence
    assert e.verdicts[0].badge == "guaranteed"
    proof = calibration_certificate(y, np.where(y == 1, 0.2, 0.8), split="cross-fitted", rng=0)
    assert proof.guarantee == "approximate"


# --- the metric of a winner


def test_a_winner_has_its_metric_and_where_the_order_is_reversed():
    data = columns()
    y, timid, bold = data["y"], data["timid"], data["bold"]
    r = best_of_many({"timid": timid, "bold": bold}, y, metric="accuracy", rng=0)
    assert r.best == ("timid",)
    oracle = {
        "balanced accuracy": balanced_accuracy_score,
        "MCC": matthews_corrcoef,
        "F1 of 'fraud'": lambda a, b: f1_score(a, b, pos_label="fraud"),
    }
    gaps = {gap.title: gap for gap in r.reversed_by}
    assert accuracy_score(y, timid) > accuracy_score(y, bold)
    for title, score in oracle.items():
        gap = gaps[title]
        assert (gap.first, gap.second) == ("bold", "timid")
        assert gap.value == pytest.approx(score(y, bold) - score(y, timid))
        assert gap.lower <= gap.value <= gap.upper
        assert title in r.summary()
    assert "F1 of 'genuine'" not in gaps
    e = evaluate(data, label="y", pred=["timid", "bold"], pos_label="fraud")
    (said,) = [v.sentence for v in e.verdicts if "beats" in v.sentence]
    assert said.startswith("By accuracy timid beats bold")
    assert "F1 of 'fraud' (" in said
    assert "the order is reversed: bold is ahead of timid" in said
    assert said in e.to_markdown().replace("\\", "")
    told = e.to_dict()["results"]["comparison"]["tiers"]["reversed_by"]
    assert ("balanced-accuracy", None) in {(g["metric"]["kind"], g["pos_label"]) for g in told}
    assert {"fraud", None} == {g["pos_label"] for g in told}


def test_without_a_positive_class_f1_of_both_is_looked_at_and_the_alphabet_at_nothing():
    data = columns()
    models = {"never": np.full(1000, "genuine"), "bold": data["bold"]}
    r = best_of_many(models, data["y"], metric="accuracy", rng=0)
    assert r.best == ("never",)
    assert {"balanced accuracy", "F1 of 'fraud'"} == {gap.title for gap in r.reversed_by}
    turned = {name: np.where(m == "fraud", "zz", m) for name, m in models.items()}
    truth = np.where(data["y"] == "fraud", "zz", data["y"])
    other = best_of_many(turned, truth, metric="accuracy", rng=0)
    assert {"balanced accuracy", "F1 of 'zz'"} == {gap.title for gap in other.reversed_by}


def test_a_winner_by_labels_and_weak_labels_says_it_too():
    rng = np.random.default_rng(3)
    data = columns(2000)
    y = data["y"]
    flipped = np.where(y == "fraud", "genuine", "fraud")
    data |= {f"w{i}": np.where(rng.random(2000) < 0.1, flipped, y) for i in (1, 2, 3)}
    some = [label if i < 1000 else None for i, label in enumerate(y)]
    e = evaluate({**data, "y": some}, label="y", pred=["timid", "bold"], weak=["w1", "w2", "w3"],
                 pos_label="fraud")  # fmt: skip
    (said,) = [v.sentence for v in e.verdicts if "beats" in v.sentence]
    assert said.startswith("By accuracy timid beats bold")
    score = balanced_accuracy_score
    assert score(y[:1000], data["bold"][:1000]) > score(y[:1000], data["timid"][:1000])
    assert "the order is reversed: bold is ahead of timid" in said
    assert "balanced accuracy (" in said


def test_no_order_is_reversed_where_all_metrics_agree():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    models = {s: np.where(rng.random(600) < s, y, (y + 1) % 3) for s in (0.9, 0.5)}
    r = best_of_many(models, y, metric="accuracy", rng=0)
    assert r.reversed_by == ()
    assert "reversed" not in r.summary()
    assert r.summary().startswith("0.9 is best in accuracy at 95 %")


def test_of_many_classes_another_order_has_limits_too():
    """Limits of a difference need no table of truth and both predictions."""
    rng = np.random.default_rng(0)
    y = rng.choice(10, 2000, p=[0.7, *[1 / 30] * 9])
    bold = np.where(rng.random(2000) < np.where(y == 0, 0.6, 0.8), y, rng.integers(0, 10, 2000))
    models = {"timid": np.where((y == 0) | (rng.random(2000) < 0.3), y, 0), "bold": bold}
    r = best_of_many(models, y, metric="accuracy", rng=0)
    assert r.best == ("timid",)
    (gap,) = [g for g in r.reversed_by if g.title == "balanced accuracy"]
    score = balanced_accuracy_score
    assert gap.value == pytest.approx(score(y, bold) - score(y, models["timid"]))
    assert gap.lower < gap.value < gap.upper
    assert f"By balanced accuracy ({gap.lower:+.3f} to {gap.upper:+.3f}), MCC (" in r.summary()
    assert r.summary().endswith("the order is reversed: bold is ahead of timid")
    assert all(g.told for g in r.reversed_by)


def test_differences_by_the_metric_itself_do_not_depend_on_others():
    """The limits of the asked-for metric come first from the generator."""
    data = columns(400)
    y, models = data["y"], {"timid": data["timid"], "bold": data["bold"]}
    named = best_of_many(models, y, metric="accuracy", pos_label="genuine", rng=0)
    plain = best_of_many(models, y, metric="accuracy", rng=0)
    assert [g.title for g in named.reversed_by] != [g.title for g in plain.reversed_by]
    assert (named.pairs[0].lower, named.pairs[0].upper) == (
        plain.pairs[0].lower, plain.pairs[0].upper
    )  # fmt: skip


# --- one class


def swapped(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, "yes", "no")
    wrong = np.where(y == "yes", "no", "yes")
    return y, np.where(rng.random(n) < 0.1, y, wrong)


def test_an_accuracy_below_one_class_comes_first():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.2, "b", "a")
    model = np.where(rng.random(300) < 0.65, y, np.where(y == "a", "b", "a"))
    share, right = np.mean(y == "a"), np.mean(y == model)
    assert 0.5 < right < share
    e = evaluate({"y": y, "m": model}, label="y", pred="m", pos_label="b")
    first = e.verdicts[0]
    assert first.badge == "certain"
    assert f"m ({right:.3f})" in first.sentence
    assert f"always predicting 'a' ({share:.3f})" in first.sentence
    assert "swapped" not in first.sentence
    assert e.findings[0].key == "one_class"
    assert e.to_dict()["verdicts"][0]["sentence"] == first.sentence
    constant = e.findings[0].results["always a: accuracy"]
    assert constant.value == pytest.approx(share)
    assert e.to_html().index("always predicting") < e.to_html().index("How good is it?")


def test_nothing_is_said_of_a_model_that_beats_one_class():
    y, reverse = swapped()
    good = np.where(reverse == "yes", "no", "yes")
    e = evaluate({"y": y, "m": good}, label="y", pred="m")
    assert e.findings[0].key == "how_good"
    most = np.full(len(y), "no")
    level = evaluate({"y": y, "m": most}, label="y", pred="m", metric="accuracy")
    assert level.findings[0].key == "how_good"  # as good as one class is not below it


def test_reversed_predictions_may_be_swapped_labels():
    y, m = swapped()
    some = [label if i < 120 else None for i, label in enumerate(y)]
    e = evaluate({"y": some, "m": m, "good": np.where(m == "yes", "no", "yes")}, label="y",
                 pred=["m", "good"])  # fmt: skip
    right, share = np.mean(y[:120] == m[:120]), np.mean(y[:120] == "no")
    said = e.verdicts[0].sentence
    assert right < 1 - share
    assert f"Accuracy of m ({right:.3f}) is less" in said
    assert f"'no' ({share:.3f}), on the 120 labelled rows" in said
    assert f"With 'no' and 'yes' exchanged in m it would be {1 - right:.3f}" in said
    assert "the two labels may be swapped" in said
    assert "good (" not in said


def test_a_rare_class_that_is_swapped_is_named_though_one_class_would_still_be_better():
    data = columns()
    turned = np.where(data["bold"] == "fraud", "genuine", "fraud")
    right, share = np.mean(data["bold"] == data["y"]), np.mean(data["y"] == "genuine")
    assert right < share
    said = below_one_class(data["y"], {"m": turned}).sentence
    assert f"With 'fraud' and 'genuine' exchanged in m it would be {right:.3f}" in said


def test_errors_are_not_called_swapped_where_chance_or_alarms_explain_them():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(1000) < 90, "fraud", "genuine")
    alarms = np.where((y == "fraud") | (rng.random(1000) < 0.7), "fraud", "genuine")
    assert np.mean(alarms == y) < 0.5  # wrong more often than right, and yet it finds all fraud
    assert "swapped" not in below_one_class(y, {"m": alarms}).sentence
    coin = np.arange(1000) % 25 < 13
    y = np.arange(1000) % 2 == 0
    y[:20] = True
    assert np.mean(coin == y) < np.mean(y)
    assert "swapped" not in below_one_class(y, {"m": coin}).sentence
    told = 0
    for _ in range(400):
        truth, guess = rng.choice(3, (2, 60), p=[0.4, 0.35, 0.25])
        said = below_one_class(truth, {"m": guess})
        told += said is not None and "swapped" in said.sentence
    assert told <= 20  # 5 % of 400, and the test is conservative


@pytest.mark.parametrize(("one", "two"), [(0, 1), (1, 2), (0, 3)])
def test_two_of_four_classes_that_are_swapped_are_named(one, two):
    rng = np.random.default_rng(0)
    y = rng.choice(4, 400, p=[0.4 if c in (one, two) else 0.1 for c in range(4)])
    right = np.where(rng.random(400) < 0.7, y, rng.integers(0, 4, 400))
    m = np.where(right == one, two, np.where(right == two, one, right))
    data = {"y": np.array(list("abcd"))[y], "m": np.array(list("abcd"))[m]}
    verdict = below_one_class(data["y"], {"m": data["m"]})
    names = "abcd"[one], "abcd"[two]
    best = max(np.mean(y == c) for c in range(4))
    gains = {}
    for a in range(4):
        for b in range(a):
            swap = np.where(m == a, b, np.where(m == b, a, m))
            gains[b, a] = np.mean(swap == y)
    assert np.mean(m == y) < best < gains[one, two] == max(gains.values())
    assert f"With {names[0]!r} and {names[1]!r} exchanged in m it would be " in verdict.sentence
    assert f"{gains[one, two]:.3f}: the two labels may be swapped" in verdict.sentence


def test_a_cycle_of_three_classes_is_not_called_a_swap():
    y = np.arange(90) % 3
    e = evaluate({"y": y, "m": (y + 1) % 3}, label="y", pred="m")
    assert "always predicting 0 (0.333)" in e.verdicts[0].sentence
    assert "swapped" not in e.verdicts[0].sentence


def run(*words, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    assert not stopped.value.code
    return capsys.readouterr().out


def test_score_says_it_first_with_weights_too(tmp_path, capsys):
    y, m = swapped()
    weight = np.where(y == "yes", 5.0, 1.0)
    path = tmp_path / "t.csv"
    pl.DataFrame({"y": y, "m": m, "w": weight}).write_csv(path)
    asked = ("score", path, "--label", "y", "--pred", "m", "--metric", "accuracy,mcc")
    out = run(*asked, capsys=capsys)
    assert out.startswith(f"[certain] Accuracy of m ({np.mean(y == m):.3f}) is less than")
    assert "always predicting 'no'" in out.splitlines()[0]
    heavy = run(*asked, "--weight", "w", "--json", capsys=capsys)
    (verdict,) = json.loads(heavy)["verdicts"]
    right = np.average(y == m, weights=weight)
    share = np.average(y == "yes", weights=weight)  # the other class is now the frequent one
    assert share > 0.5
    assert f"m ({right:.3f})" in verdict["sentence"]
    assert f"always predicting 'yes' ({share:.3f})" in verdict["sentence"]
    assert "weighted by w" in verdict["sentence"]


def test_score_says_by_which_metric_the_order_is_reversed(tmp_path, capsys):
    path = tmp_path / "t.csv"
    pl.DataFrame(columns()).write_csv(path)
    asked = ("score", path, "--label", "y", "--pred", "timid,bold")
    out = run(*asked, "--pos-label", "fraud", capsys=capsys)
    (line,) = [line for line in out.splitlines() if "is best in accuracy" in line]
    assert "F1 of 'fraud'" in line
    assert "the order is reversed: bold is ahead of timid" in line
    told = json.loads(run(*asked, "--pos-label", "fraud", "--json", capsys=capsys))
    assert [v["badge"] for v in told["verdicts"]] == ["certain"]  # bold is below one class
    gaps = told["comparisons"]["accuracy"]["reversed_by"]
    assert {gap["first"] for gap in gaps} == {"bold"}


def test_a_question_is_asked_where_all_that_it_needs_is_there():
    """A question that needs a part which no data have would never be asked."""
    frame = pl.DataFrame({name: [0, 1] for name in ("y", "a", "b", "s", "g")})
    whole = Roles(label=("y",), pred=("a", "b"), score=("s",), prob=("s",), judge=("a",), group="g")
    full = Evidence(frame=frame, roles=whole, metric=as_metric("accuracy"), log=frame)
    for question in QUESTIONS:
        assert question.needs <= full.parts, question.words
        assert not question.needs <= Evidence(frame=frame, roles=Roles(id="y")).parts
    unlabelled = frame.with_columns(y=pl.lit(None))
    asked = Evidence(frame=unlabelled, roles=Roles(label=("y",), pred=("a",))).parts
    assert [q.words for q in QUESTIONS if q.needs <= asked] == ["How good is it?"]
