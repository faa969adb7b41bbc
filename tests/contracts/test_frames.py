"""Results as tables: the kind of frame that was passed in, with the dtypes that it had."""

import importlib
import inspect
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import karat
from karat import (
    audit,
    bounds,
    calibration,
    consensus,
    elicit,
    limits,
    optimize,
    ranking,
    statistics,
    weak,
)
from karat._result import Result
from karat.exceptions import DataError
from karat.metrics import accuracy
from karat.statistics import confusion

PACKAGES = [name for name in karat.__all__[1:] if name not in {"torch", "studio"}]
PUBLIC = [
    (package, name, getattr(importlib.import_module(f"karat.{package}"), name))
    for package in PACKAGES
    for name in importlib.import_module(f"karat.{package}").__all__
]


def below(kind):
    return {kind}.union(*(below(part) for part in kind.__subclasses__()))


RESULTS = {kind.__name__ for kind in below(Result)}  # not all are among the public names
# Numbers, and no column of a frame, are all that these take.
OF_NUMBERS = {"binomial_kl", "clopper_pearson", "wilson", "uniform_margin"}

N = 60
_RNG = np.random.default_rng(0)
TRUTH = _RNG.integers(0, 2, N)
VOTES = np.where(_RNG.random((N, 4)) < 0.2, 1 - TRUTH[:, None], TRUTH[:, None])
COLUMNS = {
    "y": TRUTH,
    "other": np.where(_RNG.random(N) < 0.1, 1 - TRUTH, TRUTH),
    "score": TRUTH + _RNG.random(N),
    "chance": 0.1 + 0.3 * TRUTH + 0.5 * _RNG.random(N),
    "group": np.array(["a", "b"])[np.arange(N) % 2],
    **{f"v{j}": VOTES[:, j] for j in range(4)},
}
MAKE = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "polars": lambda columns: pl.DataFrame(columns),
    "pyarrow": lambda columns: pa.table(columns),
}


def picked(frame, names):
    return frame.select(names) if hasattr(frame, "select") else frame[names]


def voted(frame):
    return picked(frame, ["v0", "v1", "v2", "v3"])


def fitted(frame):
    return consensus.ErrorEstimator(draws=20, rng=0).fit(voted(frame))


def elicited(frame):
    space = elicit.BinarySpace.from_scores(frame["y"], frame["chance"])
    person = elicit.MetricOracle(karat.metrics.cost_matrix([[0, 1], [4, 0]]))
    return elicit.Elicitation(space, max_queries=3, worst_rate=1.0, rng=0).run(person)


def audited(frame):
    found = audit.Audit(frame["other"], metric="accuracy", rng=0)
    found.tell({i: int(TRUTH[i]) for i in np.asarray(found.ask(10)["item"]).tolist()})
    return found.result


def scanned(frame):
    return karat.scan(frame).roles(label="y", pred="other", weak="v*", score="score")


def shifted(frame):
    proba = np.column_stack([1 - COLUMNS["chance"], COLUMNS["chance"]])
    return optimize.FrankWolfeClassifier(n_iter=2).fit_from_proba(proba, frame["y"])


# Every way from a frame to a result: functions, methods, estimators, sources, parts of results.
CALLS = {
    "estimate": lambda f: accuracy.estimate(f["y"], f["other"], rng=0),
    "estimate of groups": lambda f: accuracy.estimate(f["y"], f["other"], groups=f["group"], rng=0),
    "gap": lambda f: accuracy.estimate(f["y"], f["other"], groups=f["group"], rng=0).gaps[0],
    "one group": lambda f: accuracy.estimate(f["y"], f["other"], groups=f["group"]).groups["a"],
    "confusion": lambda f: confusion(f["y"], f["other"]),
    "sum": lambda f: confusion(f["y"], f["other"]) + confusion(f["y"], f["other"]),
    "patterns": lambda f: statistics.patterns(voted(f)),
    "pattern counts": lambda f: scanned(f).pattern_counts(),
    "votes of counts": lambda f: scanned(f).pattern_counts().votes(),
    "counts": lambda f: scanned(f).counts(),
    "roc counts": lambda f: scanned(f).roc_counts(),
    "area": lambda f: ranking.weighted_auc(f["y"], f["score"], weight=ranking.Uniform()),
    "area of counts": lambda f: ranking.weighted_auc(
        scanned(f).roc_counts(), weight=ranking.Uniform()
    ),
    "areas": lambda f: ranking.compare_rankings(
        f["y"], {"one": f["score"], "two": f["chance"]}, limits="delong"
    ),
    "precision": lambda f: ranking.precision_at(f["y"], f["score"], k=20),
    "bounds": lambda f: bounds.performance_bounds(f["other"], voted(f), metric="accuracy", rng=0),
    "check": lambda f: (
        bounds.performance_bounds(f["other"], voted(f), metric="accuracy", rng=0).check
    ),
    "votes": lambda f: weak.vote_diagnostics(voted(f)),
    "rates": lambda f: fitted(f).result_,
    "explanations": lambda f: fitted(f).explanations(),
    "panel": lambda f: consensus.cheapest_panel(fitted(f), draws=5),
    "calibration": lambda f: calibration.marginal_calibration_error(f["y"], f["chance"], bins=4),
    "elicited": elicited,
    "questions": lambda f: elicited(f).questions,
    "audit": audited,
    "gate": lambda f: audit.gate(f["y"], f["other"], 0.5, metric="accuracy"),
    "history": lambda f: shifted(f).history_,
    "regions": lambda f: shifted(f).decision_regions(),
    "mean": lambda f: limits.normal_mean(f["score"]),
    "evaluation": lambda f: karat.evaluate(f, label="y", pred="other"),
    "kept": lambda f: pickle.loads(pickle.dumps(confusion(f["y"], f["other"]))),
}


@pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")
@pytest.mark.parametrize("library", MAKE)
@pytest.mark.parametrize("call", CALLS)
def test_the_kind_of_frame_comes_back(call, library):
    frame = CALLS[call](MAKE[library](COLUMNS)).to_frame()
    assert type(frame) is type(MAKE[library]({"a": [1]}))
    assert len(frame) > 0


def test_another_fit_is_of_the_kind_that_it_was_given():
    estimator = consensus.ErrorEstimator(draws=20, rng=0)
    for library, make in MAKE.items():
        table = estimator.fit(voted(make(COLUMNS))).result_.to_frame()
        assert type(table).__module__.startswith(library)
    estimator.fit(VOTES)
    for result in (estimator.result_, estimator.agreement()):
        assert isinstance(result.to_frame(), pl.DataFrame)


def test_every_function_that_returns_a_result_keeps_the_kind():
    def returns_a_result(function):
        said = str(inspect.signature(function).return_annotation)
        return any(re.search(rf"\b{name}\b", said) for name in RESULTS)

    functions = [(n, f) for _, n, f in PUBLIC if inspect.isfunction(f) and returns_a_result(f)]
    assert len(functions) > 40
    missing = {n for n, f in functions if not hasattr(f, "__wrapped__")}
    assert missing == OF_NUMBERS, "put @keeps_kind above them"


def test_everything_with_a_summary_is_a_table():
    """Not only results: whatever says itself in a sentence also has its numbers as a table."""
    spoken = {n for _, n, thing in PUBLIC if inspect.isclass(thing) and hasattr(thing, "summary")}
    tables = {n for _, n, thing in PUBLIC if inspect.isclass(thing) and hasattr(thing, "to_frame")}
    assert tables > {n for _, n, _ in PUBLIC} & RESULTS
    assert spoken - tables == {"Source"}, "a source is itself a table: .columns"


DTYPES = [
    pytest.param("pandas", lambda s: s.astype("category"), id="pandas category"),
    pytest.param("pandas", lambda s: s.astype("string"), id="pandas string"),
    pytest.param("polars", lambda s: s.cast(pl.Categorical), id="polars categorical"),
    pytest.param("polars", lambda s: s.cast(pl.Enum(["b", "a"])), id="polars enum"),
    pytest.param("pyarrow", lambda s: s.dictionary_encode(), id="pyarrow dictionary"),
    pytest.param("pyarrow", lambda s: s.cast(pa.large_string()), id="pyarrow large string"),
]


@pytest.mark.parametrize(("library", "change"), DTYPES)
def test_names_of_groups_keep_their_dtype(library, change):
    frame = MAKE[library](COLUMNS)
    groups = change(frame["group"])
    table = accuracy.estimate(frame["y"], frame["other"], groups=groups, rng=0).to_frame()
    back = table["group"]
    assert getattr(back, "dtype", None) == getattr(groups, "dtype", None)
    assert getattr(back, "type", None) == getattr(groups, "type", None)
    assert (back.to_pylist() if library == "pyarrow" else list(back)) == ["a", "b"]


@pytest.mark.parametrize(("library", "dtype"), [
    ("pandas", "category"), ("polars", pl.Enum([f"person {i}" for i in range(N)])),
])  # fmt: skip
def test_a_stored_result_holds_no_names_that_its_table_lacks(library, dtype):
    """The dtype of a category has every name; that of clusters is no column of any table."""
    frame = MAKE[library](COLUMNS | {"who": [f"person {i}" for i in range(N)]})
    who = frame["who"].astype(dtype) if library == "pandas" else frame["who"].cast(dtype)
    result = accuracy.estimate(frame["y"], frame["other"], clusters=who, rng=0)
    stored = pickle.dumps(result)
    assert b"person 7" not in stored
    assert type(pickle.loads(stored).to_frame()) is type(frame)


LABELS = [
    pytest.param("pandas", lambda s: s.astype("int8"), id="pandas int8"),
    pytest.param("pandas", lambda s: s.astype("boolean"), id="pandas boolean"),
    pytest.param("pandas", lambda s: s.map({0: "no", 1: "yes"}).astype("category"), id="category"),
    pytest.param("polars", lambda s: s.cast(pl.UInt8), id="polars uint8"),
    pytest.param("polars", lambda s: s.cast(pl.Boolean), id="polars boolean"),
    pytest.param("pyarrow", lambda s: s.cast(pa.int16()), id="pyarrow int16"),
]


@pytest.mark.parametrize(("library", "change"), LABELS)
def test_labels_keep_their_dtype(library, change):
    frame = MAKE[library](COLUMNS)
    y, predicted = change(frame["y"]), change(frame["other"])
    for table, column in (
        (confusion(y, predicted).to_frame(), "truth"),
        (confusion(y, predicted).to_frame(), "prediction"),
        (karat.metrics.recall.estimate(y, predicted, rng=0).to_frame(), "pos_label"),
    ):
        assert getattr(table[column], "dtype", None) == getattr(y, "dtype", None)
        assert getattr(table[column], "type", None) == getattr(y, "type", None)


def test_values_are_those_of_the_attributes():
    y, predicted = TRUTH.tolist(), COLUMNS["other"].tolist()
    result = accuracy.estimate(y, predicted, groups=COLUMNS["group"], rng=0)
    table = result.to_frame()
    assert isinstance(table, pl.DataFrame)
    for row in table.iter_rows(named=True):
        part = result.groups[row["group"]]
        assert (row["value"], row["lower"], row["upper"], row["n"]) == (
            part.value, part.lower, part.upper, part.n,
        )  # fmt: skip
    counts = confusion(y, predicted)
    cells = counts.to_frame()
    assert cells["count"].to_list() == counts.counts.ravel().tolist()
    assert cells.filter(pl.col("truth") == 1)["count"].sum() == sum(y)


def test_votes_are_labels_again():
    table = statistics.patterns([["x", "-1"], ["y", None], ["x", "-1"]]).to_frame()
    assert table.rows() == [(2, "x", "-1"), (1, "y", None)]
    named = pl.DataFrame({"count": [0, 1, 1], "b": [0, None, -1]})
    taken = statistics.patterns(named).to_frame()
    assert taken.columns == ["count", "count_", "b"]
    assert taken["b"].dtype == pl.Int64
    assert sorted(taken["b"].to_list(), key=str) == [-1, 0, None]


def test_a_frame_of_mixed_libraries_is_of_the_first():
    y, predicted = pl.Series(TRUTH), pd.Series(COLUMNS["other"])
    assert isinstance(confusion(y, predicted).to_frame(), pl.DataFrame)
    assert isinstance(confusion(predicted, y).to_frame(), pd.DataFrame)


class Shuffled:
    """A frame of pandas whose columns, after the first that is taken, come in another order."""

    def __init__(self, frame):
        self.frame, self.taken = frame, []

    def __getitem__(self, names):
        found = self.frame[names] if not self.taken else self.frame.loc[::-1, names]
        self.taken.append(names)
        return found


# They take one column or frame of rows; what else they take has no index, or is a whole source.
OF_ONE_COLUMN = {
    "patterns", "votes", "rates", "explanations", "panel", "audit", "history", "regions", "mean",
}  # fmt: skip
OF_A_FRAME = {"pattern counts", "votes of counts", "counts", "roc counts", "area of counts",
              "evaluation"}  # fmt: skip


@pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning")
@pytest.mark.parametrize("call", sorted(set(CALLS) - OF_ONE_COLUMN - OF_A_FRAME))
def test_columns_of_pandas_in_two_orders_are_refused(call):
    """Pairing them by position gave an area of .500 where it is .827."""
    with pytest.raises(DataError, match=r"in another order: row 0 is 59 in one and 0 in the other"):
        CALLS[call](Shuffled(pd.DataFrame(COLUMNS)))


def test_where_the_index_tells_nothing_rows_go_by_position():
    y, other = pd.Series(TRUTH), pd.Series(COLUMNS["other"])
    wanted = accuracy.score(y, other)
    assert accuracy.score(y, other.set_axis(np.arange(N) + 7)) == wanted  # of another table
    by_position = accuracy.score(TRUTH, COLUMNS["other"][::-1])
    assert accuracy.score(y, other[::-1].to_numpy()) == by_position != wanted
    with pytest.raises(DataError, match=r"pass y_pred.loc\[y_true.index\], or y_pred.to_numpy"):
        accuracy.score(y, other[::-1])
    twice = np.arange(N) // 2
    with pytest.raises(DataError, match=r"by position; pass y_pred.to_numpy\(\) if"):
        accuracy.score(y.set_axis(twice), other.set_axis(twice[::-1]))
    scores = {"one": pd.Series(COLUMNS["score"]), "two": pd.Series(COLUMNS["chance"])[::-1]}
    with pytest.raises(DataError, match=r"y_scores\['two'\] has the index of y_true"):
        ranking.compare_rankings(y, scores)


def test_narwhals_frames_are_of_their_library():
    import narwhals as nw

    frame = nw.from_native(pd.DataFrame(COLUMNS))
    assert isinstance(confusion(frame["y"], frame["other"]).to_frame(), pd.DataFrame)


def test_the_kind_is_no_part_of_a_result():
    frame = pd.DataFrame(COLUMNS)
    one, two = confusion(frame["y"], frame["other"]), confusion(TRUTH, COLUMNS["other"])
    assert one == two
    assert hash(one) == hash(two)
    assert one.to_dict() == two.to_dict()


def test_warnings_point_at_the_caller():
    with pytest.warns(karat.exceptions.UndefinedMetricWarning) as caught:
        karat.metrics.precision(confusion([0, 1], [0, 0]))
    assert {w.filename for w in caught} == {__file__}


def test_joint_counts_are_cells_with_items():
    data = scanned(pl.DataFrame(COLUMNS | {"score2": COLUMNS["chance"]})).roles(
        score=["score", "score2"]
    )
    counts = [data.roc_counts(name) for name in ("score", "score2")]
    joint = data.joint_roc_counts(*counts, names=("score", "score2"), cells=3)
    table = joint.to_frame()
    assert table["count"].sum() == N
    assert table["count"].min() > 0


def test_sparse_arrays_are_no_frames():
    """One kind of them is a mapping that has no truth value."""
    from scipy.sparse import dok_array

    from karat._result import passed_in

    assert passed_in(X=dok_array((3, 3)), y=[0, 1, 1], options={}) is None
