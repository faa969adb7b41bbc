"""Results: frozen, plain, equal, stored and drawn; and what is loaded to get them."""

import copy
import dataclasses
import importlib
import json
import math
import pickle
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

import karat
from karat.calibration import (
    CopulaCalibrator,
    calibration_certificate,
    canonical_calibration_error,
    marginal_calibration_error,
)
from karat.datasets import MultilabelLaw

Y, H, _ = MultilabelLaw("shift", n_labels=4).sample(600, rng=0)
WIDE = MultilabelLaw("latent", n_labels=30).sample(200, rng=0)[:2]
CROSSED = MultilabelLaw("interaction", n_labels=4).sample(800, rng=0)[:2]
CALM = MultilabelLaw("calibrated", n_labels=2).sample(200, rng=0)[:2]

RESULTS = {
    "canonical": lambda: canonical_calibration_error(Y, H, rng=0),
    "value alone": lambda: canonical_calibration_error(Y, H, p=1, confidence=None),
    "probit": lambda: canonical_calibration_error(Y, H, method="probit", rng=0),
    "many labels": lambda: canonical_calibration_error(*WIDE, rng=0),
    "one label": lambda: canonical_calibration_error(Y[:, 0], H[:, 0], rng=0),
    "nothing certain": lambda: canonical_calibration_error(*CALM, rng=0),
    "certain labels": lambda: canonical_calibration_error(np.ones((40, 2)), H[:40, :2], rng=0),
    "pairs": lambda: canonical_calibration_error(Y, H, confidence=None).label_pairs,
    "marginal": lambda: marginal_calibration_error(Y, H),
    "marginal of many": lambda: marginal_calibration_error(*WIDE, bins=3),
    "proof": lambda: calibration_certificate(Y, H, rng=0),
    "no proof": lambda: calibration_certificate(*CALM, rng=0),
    "a map": lambda: CopulaCalibrator(rng=0).fit(Y, H).score(Y, H, groups=np.arange(600) % 3),
    "a map of all": lambda: CopulaCalibrator(rng=0).fit(Y, H).score(Y, H),
    "interaction": lambda: canonical_calibration_error(*CROSSED, rng=0),
    "approximate": lambda: calibration_certificate(Y, H, split="cross-fitted", rng=0),
}
each = pytest.mark.parametrize("name", RESULTS)


def arrays_in(result):
    for field in dataclasses.fields(result):
        value = getattr(result, field.name)
        yield from (a for a in (value if isinstance(value, tuple) else [value]))


@each
def test_frozen(name):
    result = RESULTS[name]()
    for field in dataclasses.fields(result):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
            setattr(result, field.name, None)
    for again in (result, copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        arrays = [a for a in arrays_in(again) if isinstance(a, np.ndarray)]
        assert arrays
        assert not any(a.flags.writeable for a in arrays)


@each
def test_plain_equal_and_stored(name):
    result, again = RESULTS[name](), RESULTS[name]()
    assert result == again
    assert hash(result) == hash(again)
    assert pickle.loads(pickle.dumps(result)) == result
    assert copy.deepcopy(result) == result
    text = json.dumps(result.to_dict(), allow_nan=False)
    assert json.loads(text) == json.loads(json.dumps(again.to_dict()))
    assert result.summary() in repr(result)
    assert result._repr_html_().startswith("<div>")
    assert "nan" not in result.summary()


@each
def test_drawn(name):
    result = RESULTS[name]()
    before = json.dumps(result.to_dict())
    ax = result.plot()
    ax.get_figure().canvas.draw()
    _, mine = plt.subplots()
    assert result.plot(mine) is mine
    assert json.dumps(result.to_dict()) == before
    plt.close("all")


def test_different_results_differ():
    one = RESULTS["canonical"]()
    assert one != canonical_calibration_error(Y, H, rng=0, confidence=0.9)
    assert one != canonical_calibration_error(Y, H[:, ::-1], rng=0)
    assert RESULTS["marginal"]() != marginal_calibration_error(Y, H, bins=5)
    assert one != 3


def test_summaries_are_true():
    r = RESULTS["canonical"]()
    for part in (
        f"CE2 {r.value:.4f} (latent)", f"CE2 is {math.sqrt(r.debiased):.4f}",
        f"between {r.lower:.4f} and {r.upper:.4f} at 95 %",
        f"at least {r.guaranteed.lower:.4f} guaranteed", "n = 600, 4 labels",
    ):  # fmt: skip
        assert part in r.summary()
    nothing = RESULTS["nothing certain"]().summary()
    assert "no error is guaranteed" in nothing or "not distinguishable from 0" in nothing
    assert "²" not in r.summary() + nothing  # one scale in one sentence
    proven = dataclasses.replace(r, guaranteed=dataclasses.replace(r.guaranteed, lower=0.3))
    assert "at least 0.3000 guaranteed, at most" in proven.summary()
    assert "CE1" in RESULTS["value alone"]().summary()
    assert "guaranteed" not in RESULTS["value alone"]().summary()
    proof = RESULTS["proof"]()
    assert f"CE2 is at least {math.sqrt(proof.lower):.4f} at 95 % (for any law)" in proof.summary()
    assert f"at least {math.sqrt(proof.lower):.4f} guaranteed" in r.summary()  # one seed, one proof
    assert f"marginal error {math.sqrt(max(r.marginal.sum(), 0)):.4f}" in r.summary()
    assert "approximately" in RESULTS["approximate"]().summary()
    assert "nothing is proven" in RESULTS["no proof"]().summary()
    m = RESULTS["marginal"]()
    worst = int(np.argmax(m.per_label))
    assert f"marginal error {math.sqrt(max(m.debiased, 0)):.4f} over 4 labels" in m.summary()
    assert f"CE2 {m.value:.4f}, which is too large by chance ({m.names[worst]} is" in m.summary()
    assert "²" not in m.summary() + proof.summary()
    assert m.debiased == pytest.approx(r.marginal.sum())  # one name, one number


def test_an_interaction_is_said_with_the_method_that_sees_it():
    r = RESULTS["interaction"]()
    label, *others = r.interaction
    assert r.misses_interaction
    assert f"residuals of {label} go with the product of {others[0]} and {others[1]}" in r.summary()
    assert "that the latent model cannot see and method='trees' would" in r.summary()
    seen = dataclasses.replace(r, method="trees").summary()
    assert "cannot see" not in seen
    calm = RESULTS["nothing certain"]()
    assert not calm.misses_interaction
    assert "product" not in calm.summary()
    assert RESULTS["one label"]().interaction_p_value is None
    assert RESULTS["value alone"]().interaction == ()


def test_the_upper_limit_is_not_below_that_of_the_marginal_error():
    """Curves of one label see a wave that slopes along scores do not."""
    rng = np.random.default_rng(0)
    h = rng.uniform(0.25, 0.75, (3000, 3))
    y = rng.random(h.shape) < h + 0.2 * np.sin(12 * np.pi * h)
    r = canonical_calibration_error(y, h, rng=0)
    upper = r.upper**2
    assert r.debiased < r.marginal.sum() < upper  # not raised to the point estimate alone
    assert r.marginal.sum() < 3 * 0.02 < upper  # which is below the truth by what bins average
    assert "the upper limit is theirs" in r.notes[-1]
    high = f"{r.upper:.4f}"
    assert f"at most {high}" in r.summary() or f"and {high} at" in r.summary()
    assert "if the latent model or a sum of curves fits" in r.summary()
    alone = canonical_calibration_error(y[:, 0], h[:, 0], rng=0)
    assert "if a curve fits" in alone.summary()


def test_a_map_names_the_groups_as_they_were_passed():
    fitted = CopulaCalibrator(rng=0).fit(Y, H)
    names = np.array(["north", "south"])[np.arange(600) % 2]
    score = fitted.score(Y, H, groups=names)
    assert score.groups == ("north", "south")
    assert score.group_n.tolist() == [300, 300]
    assert fitted.score(Y, H, groups=np.arange(600) % 2 == 0).groups == (False, True)
    assert [row[0] for row in score._table()] == ["north", "south"]
    assert score.to_dict()["groups"] == ["north", "south"]
    assert np.mean(score.group_after) == pytest.approx(score.after)
    apart = fitted.score(Y[names == "south"], H[names == "south"])
    assert apart.after == pytest.approx(score.group_after[1])
    assert apart.before == pytest.approx(score.group_before[1])
    assert "less in each of 2 groups" in score.summary()
    lost = dataclasses.replace(score, group_after=score.group_before + np.array([0.1, -0.1]))
    assert "more in the groups north of 2" in lost.summary()
    for part, weight in zip(score.parts, score.weights, strict=True):
        assert f"{part} {weight:.2f}" in score.summary()
    ticks = [t.get_text() for t in score.plot().get_yticklabels()]
    assert ticks == ["all rows", "north", "south"]
    plt.close("all")


def test_tables_have_a_row_for_each_label():
    for name in ("canonical", "marginal", "proof"):
        assert [row[0] for row in RESULTS[name]()._table()] == [f"label {j}" for j in range(4)]


def test_the_table_of_pairs_holds_the_pair_that_is_said():
    """Residuals of j by the probability of k are not those of k by the probability of j."""
    found = RESULTS["pairs"]()
    table = found.to_frame()
    assert table.height == len(found.names) ** 2
    np.testing.assert_array_equal(table["z_value"].to_numpy(), found.z_values.ravel())
    most = table.row(int(table["z_value"].abs().arg_max()), named=True)
    assert found.summary().startswith(most["label"])
    assert f"where {most['probability']} is probable" in found.summary()


def test_pictures_show_the_labels():
    ax = RESULTS["canonical"]().plot()
    assert {t.get_text() for t in ax.get_yticklabels()} == {f"label {j}" for j in range(4)}
    assert len(RESULTS["marginal"]().plot().lines) == 5
    assert "the worst 6" in RESULTS["marginal of many"]().plot().get_title()
    assert len(RESULTS["many labels"]().plot().get_yticklabels()) == 20
    assert RESULTS["proof"]().plot().get_title() == "Proven: not calibrated"
    plt.close("all")


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_nothing_here_needs_torch(monkeypatch):
    """The package is imported anew where torch cannot be, and the old one is put back."""
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(karat, "calibration", karat.calibration)
    for name in [n for n in sys.modules if f"{n}.".startswith("karat.calibration.")]:
        monkeypatch.delitem(sys.modules, name)
    anew = importlib.import_module("karat.calibration")
    assert anew.canonical_calibration_error is not canonical_calibration_error
    y, h, _ = MultilabelLaw("shift", n_labels=3).sample(200, rng=0)
    assert anew.canonical_calibration_error(y, h, rng=0).value > 0
    canonical_calibration_error(y, h, rng=0).plot()  # pictures are of the class imported first
    anew.marginal_calibration_error(y, h)
    anew.calibration_certificate(y, h, model="trees", rng=0)
    assert anew.CopulaCalibrator(rng=0).fit(y, h).transform(h).shape == (200, 3)


def test_measuring_loads_little():
    code = """
import sys
import karat.calibration, karat.plot, karat.report
heavy = {"sklearn", "scipy.stats", "numba", "pandas", "matplotlib", "torch", "polars"}
print(sorted(heavy & set(sys.modules)))
import numpy as np
h = np.random.default_rng(0).random((50, 2))
karat.calibration.canonical_calibration_error(h > 0.5, h, rng=0)
print(sorted(heavy & set(sys.modules)))
"""
    assert run(code).splitlines() == ["[]", "[]"]
