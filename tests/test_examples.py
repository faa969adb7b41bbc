"""The examples run, and the figures that they print are the right ones.

Each figure is held against the law that the data were drawn from, or computed again by other code.
"""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import spearmanr
from sklearn.metrics import confusion_matrix, f1_score, roc_auc_score

FOLDER = Path(__file__).parents[1] / "examples"


@pytest.fixture
def example(request, capsys):
    """What an example printed and the names it left, called after the test."""
    name = request.node.name.removeprefix("test_")
    names = runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out, names


def numbers(pattern, text):
    """Return the numbers that a pattern finds; ``#`` stands for a number."""
    number = r"([-−]?\d[\d,]*\.?\d*(?:e-?\d+)?)"
    found = re.search(pattern.replace("#", number), text)
    assert found is not None, f"{pattern!r} is not in:\n{text}"
    return [float(part.replace(",", "").replace("−", "-")) for part in found.groups()]


def test_every_example_has_a_test():
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in FOLDER.glob("*.py")} <= tested


def test_bounds_without_labels(example):
    printed, names = example
    labels, better, worse = names["labels"], names["better"], names["worse"]
    spam, called = labels == "spam", better == "spam"
    truths = {
        "Accuracy": np.mean(labels == better),
        "F1": f1_score(spam, called),
        "Minus the expected cost": -np.mean(5 * (~spam & called) + (spam & ~called)),
    }
    said = "is between # and # .one-sided 95 % limits # and #; .*\n  the truth, .*: #"
    for metric, truth in truths.items():
        lower, upper, low, high, shown = numbers(
            f"{metric} (?:.positive class 'spam'. )?{said}", printed
        )
        assert shown == pytest.approx(truth, abs=5e-4)
        assert low <= lower <= upper <= high
        assert low <= truth <= high
    gap = np.mean(labels == better) - np.mean(labels == worse)
    *_, low, high = numbers("the second is between # and # .one-sided 95 % limits # and #", printed)
    assert 0 < low <= gap <= high
    assert "better ranks first of 2" in printed
    assert numbers("accuracy of at least # holds while .* off by less than #", printed)[1] > 0
    assert "30 true labels fit the label model" in printed
    assert "from 30 true labels" in printed


def test_elicit_binary(example):
    """The doctor takes a miss for eight false alarms."""
    printed, names = example
    ratio, low, high = numbers("a false malignant: # .#–#.", printed)
    assert low <= 8 <= high
    assert numbers("A missed malignant weighs # false", printed)[0] == pytest.approx(
        ratio, abs=0.01
    )
    assert numbers("a probability of # on", printed)[0] == pytest.approx(1 / (1 + ratio), abs=1e-3)
    assert numbers("agree with the person on # %", printed)[0] >= 99
    plain = numbers("accuracy prefers {'malignant': #}", printed)[0]
    assert numbers("metric prefers {'malignant': #}", printed)[0] > plain
    assert len(names["result"].transcript.answers) == numbers("Certified. # answers", printed)[0]


def test_judge_pairs(example):
    """Against the law that the verdicts were drawn from."""
    printed, names = example
    push, skill = names["PUSH"], names["SKILL"]
    true = (
        ndtr(push - skill) + ndtr(push + skill) - 1
    )  # says the first on average, less a half, × 2
    bias = names["bias"]
    assert ((bias.lower - 0.01 <= true) & (true <= bias.upper + 0.01)).all()
    assert numbers(r"the most biased is dora, toward the first .\+#,", printed)[0] == pytest.approx(
        true[3], abs=0.05
    )
    wrong = (1 - ndtr(skill + push) + 1 - ndtr(skill - push)) / 2
    for fitted in (names["pairs"], names["tested"]):
        r = fitted.result_
        assert ((r.lower <= wrong[r.judge]) & (wrong[r.judge] <= r.upper)).all()
    assert "With 60 labels the verdicts are confirmed." in printed
    order = sorted(names["STRENGTH"], key=lambda s: -names["STRENGTH"][s])
    for ranking in (names["judged"], names["powered"]):
        place = np.array([order.index(s) + 1 for s in ranking.systems])
        assert ((ranking.rank_best <= place) & (place <= ranking.rank_worst)).all()
    share, _ = numbers("judges, at # % of the cost, are wrong on # % more of the items", printed)
    assert share < 50
    assert names["panel"].value <= 0.02
    assert names["replaced"].value == 1.0
    assert "With 60 labels: confirmed." in printed


@pytest.mark.slow
def test_llm_judges(example):
    printed, names = example
    said = "truth inside the limits of #% of judges, rank correlation #"
    shown = {
        "natural": numbers(f"Natural: {said}", printed),
        "adversarial": numbers(f"GPTInst: {said}", printed),
        "labelled": numbers(f"Now: {said}", printed),
    }
    for key, estimator, domain in (
        ("natural", names["estimator"], names["natural"]),
        ("adversarial", names["estimator"], names["adversarial"]),
        ("labelled", names["labelled"], names["adversarial"]),
    ):
        rates = estimator.error_rates_
        rates = rates[rates["domain"] == domain]
        true = names["truth"][domain].loc[rates["classifier"]].to_numpy()
        inside = np.mean((rates["lower"] <= true) & (true <= rates["upper"]))
        assert shown[key][0] == pytest.approx(100 * inside, abs=0.5)
        assert shown[key][1] == pytest.approx(spearmanr(rates["value"], true)[0], abs=0.005)
    assert shown["natural"][0] >= 90
    assert shown["labelled"][1] > 0.9 > 0 > shown["adversarial"][1]
    width, alone = numbers("limits # wide; from the labels alone #", printed)
    assert width < alone


def test_optimize_what_you_elicited(example):
    """The auditor takes a missed fraud for two false alarms."""
    printed, names = example
    _, low, high = numbers("a false fraud: # .#–#.", printed)
    assert low <= 2 <= high
    weights = names["worth"].weights
    for name, decided in names["decided"].items():
        order = ["honest", "fraud"]
        table = confusion_matrix(names["truth"], decided, labels=order, normalize="all")
        *_, low, high, shown = numbers(rf"{name}: between # and # .limits # and #.; .*: #", printed)
        assert shown == pytest.approx(np.sum(weights * table), abs=5e-4)
        assert low <= shown <= high
    gap = names["found"]["post-shifted"] - names["found"]["costs at their word"]
    *_, low, high = numbers("the second is between # and # .one-sided 95 % limits # and #", printed)
    assert 0 < low <= gap <= high


def test_screening(example):
    printed, names = example
    ill, scores = names["ill"], names["scores"]
    area, low, high = numbers("new has the greatest AUC, # .# to #.", printed)
    assert area == pytest.approx(roc_auc_score(ill, scores["new"]), abs=5e-5)
    shift, spread = names["laws"]["new"]
    assert low <= ndtr(shift / np.hypot(1, spread)) <= high
    least, most = 0.05**2 / 2, 0.05
    rescaled = roc_auc_score(ill, scores["old"], max_fpr=0.05)  # McClish: ½ is chance, 1 the most
    partial = least + (2 * rescaled - 1) * (most - least)
    shown = numbers("old has the greatest partial AUC .FPR 0–0.05., #", printed)[0]
    assert shown == pytest.approx(partial, abs=5e-5)
    mean, low, high, truth = numbers(
        "as a mean rate is #, between # and # at 95 %.*\n  the truth, .*: #", printed
    )
    assert mean == pytest.approx(partial / 0.05, abs=5e-5)
    assert low <= truth <= high
    for name, score in scores.items():
        cut = np.quantile(score[~ill], 0.95)
        shown = numbers(f"{name}: true-positive rate # at", printed)[0]
        assert shown == pytest.approx(np.mean(score[ill] > cut), abs=2e-3)
    enough = numbers("within 0.02: # people", printed)[0]
    assert names["half_width"](enough) == pytest.approx(0.02, abs=1e-6)


@pytest.mark.slow
def test_train_calibrated(request, capsys):
    pytest.importorskip("torch", reason="the example trains a network")
    printed, names = request.getfixturevalue("example")
    said = r"{} .Brier score #.:\n.*without .*bias CE2 is #, between # and # at"
    plain, _, _, _ = before = numbers(said.format("cross-entropy alone"), printed)
    trained, error, low, high = numbers(said.format("with the calibration loss"), printed)
    assert trained == pytest.approx(np.mean((names["labels"] - names["prob"]) ** 2), abs=5e-5)
    assert trained < plain
    assert low < error < high
    assert error < before[1], "what it is trained for"


def test_what_is_fairness_worth(example):
    printed, names = example
    worth, low, high = numbers("is worth # points of error rate .95 %: #–#.", printed)
    # The committee's own: λ of all gaps against 1 − λ of all errors, each raised by one point.
    assert low <= 0.5 * (0.7 + 0.7) / (0.5 * (0.95 + 0.32)) <= high
    assert low <= worth <= high
    metric, rest = names["result"].metric, names["rest"]
    truth, group, plain = names["label"][rest], names["group"][rest], names["plain"]

    def errors(rows):
        table = confusion_matrix(truth[rows], plain[rows], normalize="true")
        return np.array([table[0, 1], table[1, 0]])

    gap = np.abs(np.subtract(*(errors(group == name) for name in np.unique(group))))
    cost = np.ravel(metric.cost) @ errors(np.full(len(truth), True))
    violation = np.ravel(metric.violation) @ gap
    wanted = -(1 - metric.tradeoff) * cost - metric.tradeoff * violation
    one, decided = numbers("One threshold for all: #\nDecided by the metric: #", printed)
    assert one == pytest.approx(wanted, abs=5e-4)
    assert decided > one


def test_census_without_labels(shared_data, monkeypatch, capsys):
    """The limits without labels say first that they may not hold; with 50 labels they do."""
    monkeypatch.setenv("KARAT_DATA", str(shared_data))
    names = runpy.run_path(str(FOLDER / "census_without_labels.py"), run_name="__main__")
    printed = capsys.readouterr().out
    rich, called = names["y"][names["new"]] == ">50K", names["y_pred"] == ">50K"
    weights = names["worth"].weights
    cells = [[np.mean((rich == a) & (called == b)) for b in (False, True)] for a in (False, True)]
    truth = float(np.sum(weights * np.array(cells)))
    assert numbers("The truth, hidden until now: #", printed)[0] == pytest.approx(truth, abs=5e-4)
    assert "labelled anything?\n  Not validated: no true label has tested" in printed
    low, high = numbers("between # and # at 95 % confidence, from 50 true labels", printed)
    assert low <= truth <= high
    bought = names["bought"]
    assert bought.gold.width <= 1.05 * bought.gold.labels.width


def test_which_metric(example):
    printed, names = example
    malignant = names["y_test"] == "malignant"
    chance = names["proba"][:, 1]
    for title, cut in (("accuracy", 1 / 2), ("minus the expected cost", 1 / 11)):
        called = chance >= cut
        missed, alarms = np.sum(malignant & ~called), np.sum(~malignant & called)
        shown = numbers(
            f"{title}: cut at #, # cancers missed, # false alarms, cost # a patient", printed
        )
        cost = (10 * missed + alarms) / len(malignant)
        assert shown == pytest.approx([cut, missed, alarms, cost], abs=5e-4)
    cuts = np.unique(chance)
    costs = [np.sum(10 * (malignant & (chance < c)) + (~malignant & (chance >= c))) for c in cuts]
    best = numbers("best threshold on these patients: #", printed)[0]
    assert best == pytest.approx(cuts[np.argmin(costs)], abs=5e-4)
