"""Names of domains, voters and items come back with the values and the dtype that were passed."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from karat.consensus import ErrorEstimator, compare_models
from karat.exceptions import OptionError
from karat.votes.domains import read_votes

pytestmark = pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")

TEXT, NUMBERS = ("b", "a", "c"), (30, 10, 20)
# Library, what makes a column of its values, and the values of three names.
COLUMNS = [
    pytest.param(pd.Series, {"dtype": dtype}, names, id=f"pandas {dtype} {names[0]!r}")
    for dtype, names in [
        ("int64", NUMBERS), ("int8", NUMBERS), ("Int8", NUMBERS), ("UInt16", NUMBERS),
        ("category", NUMBERS), ("category", TEXT), ("object", TEXT), ("string", TEXT),
    ]
] + [
    pytest.param(pl.Series, {"dtype": dtype}, names, id=f"polars {dtype}")
    for dtype, names in [
        (pl.Int64, NUMBERS), (pl.Int8, NUMBERS), (pl.UInt16, NUMBERS), (pl.String, TEXT),
        (pl.Categorical, TEXT), (pl.Enum(list(TEXT)), TEXT),
    ]
] + [
    pytest.param(pa.array, {"type": kind}, names, id=f"pyarrow {kind}")
    for kind, names in [
        (pa.int64(), NUMBERS), (pa.int8(), NUMBERS), (pa.string(), TEXT),
        (pa.dictionary(pa.int32(), pa.string()), TEXT),
    ]
]  # fmt: skip
FRAMES = {pd.Series: pd.DataFrame, pl.Series: pl.DataFrame, pa.array: pa.table}
ITEMS = 20


def make(library, options, values):
    values = list(values)
    return library(values=values, **options) if library is pl.Series else library(values, **options)


def dtype_of(frame, name):
    """Return the dtype of a column as its own library names it."""
    if isinstance(frame, pa.Table):
        return frame.schema.field(name).type
    return frame[name].dtype


def same_dtype(found, passed):
    """Whether two dtypes are the same; those of categories may list them in another order."""
    if isinstance(passed, pd.CategoricalDtype):
        return isinstance(found, pd.CategoricalDtype)
    if isinstance(passed, pa.DictionaryType):
        return isinstance(found, pa.DictionaryType) and found.value_type == passed.value_type
    return found == passed


def votes_of(rng):
    """Return votes, items × domains × voters."""
    y = rng.integers(0, 2, (ITEMS, 3, 1))
    return np.where(rng.random((ITEMS, 3, 3)) < [0.02, 0.2, 0.45], 1 - y, y)


def cast_of(votes):
    """Return which of the votes are cast: another number for every domain and voter."""
    item, domain, voter = np.indices(votes.shape)
    return item >= 3 * domain + voter


def estimator(**options):
    return ErrorEstimator(dependence="none", chains=2, draws=20, rng=0, **options)


def check_domains(est, names):
    assert est.result_.domains == tuple(sorted(names))
    assert set(est.identified_) == set(names)
    for name in names:
        assert est.explanations(name).domain == name
        assert est.agreement(name).domain == name
        assert est.result_.of_domain(name).domains == (name,)
        assert set(nw.from_native(est.label_next(4, domain=name))["domain"].to_list()) == {name}
    # The text of a number is not its name.
    other = 77 if isinstance(names[0], str) else str(names[0])
    with pytest.raises(OptionError, match="domain is"):
        est.explanations(other)


@pytest.mark.parametrize(("library", "options", "names"), COLUMNS)
def test_long_tables(library, options, names, rng):
    votes = votes_of(rng)
    item, domain, voter = np.nonzero(cast_of(votes))
    is_text = names == TEXT
    items = [f"item {i}" if is_text else i for i in range(ITEMS, 2 * ITEMS)]
    enum = isinstance(options.get("dtype"), pl.Enum)
    options_of_items = {"dtype": pl.Enum(items)} if enum else options
    columns = {
        "item": make(library, options_of_items, [items[i] for i in item]),
        "domain": make(library, options, [names[d] for d in domain]),
        "classifier": make(library, options, [names[j] for j in voter]),
        "vote": votes[item, domain, voter],
    }
    frame = FRAMES[library](columns)
    gold = {(names[0], items[i]): int(votes[i, 0, 0]) for i in range(8, 18)}
    est = estimator(structure="hierarchical").fit(frame, y_true=gold)
    check_domains(est, names)
    assert est.classifiers_ == tuple(sorted(names))
    assert set(est.items_.tolist()) == set(items)
    with_voters = [est.error_rates_, est.clusters_, est.from_labels_, est.error_rates(finite=True)]
    for found in with_voters:
        assert type(found) is type(frame)
        assert same_dtype(dtype_of(found, "domain"), dtype_of(frame, "domain"))
        assert same_dtype(dtype_of(found, "classifier"), dtype_of(frame, "classifier"))
    for found in (est.prevalence_, est.diagnostics_, est.label_next(9)):
        assert same_dtype(dtype_of(found, "domain"), dtype_of(frame, "domain"))
    todo = est.label_next(200)
    assert same_dtype(dtype_of(todo, "item"), dtype_of(frame, "item"))
    assert set(nw.from_native(todo)["item"].to_list()) == set(items)
    rates = nw.from_native(est.error_rates_)
    assert rates["domain"].to_list() == [d for d in sorted(names) for _ in range(3)]
    mean = rates["value"].to_numpy().reshape(3, 3)
    assert (np.diff(mean, axis=1) >= 0).all()  # the lowest error rate of a domain first
    said = rates["classifier"].to_list()
    assert [sorted(said[i : i + 3]) for i in (0, 3, 6)] == [sorted(names)] * 3
    by_name = {(d, v): n for d, v, n in rates.select("domain", "classifier", "votes").iter_rows()}
    counted = cast_of(votes).sum(axis=0)
    for d, domain_name in enumerate(names):
        assert [by_name[domain_name, v] for v in names] == counted[d].tolist()


@pytest.mark.parametrize("votes_in", [np.asarray, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(("library", "options", "names"), COLUMNS)
def test_domains_beside_wide_tables(library, options, names, votes_in, rng):
    """A column of another library keeps its kind of dtype: a category, an integer of 8 bits."""
    votes = votes_of(rng).reshape(-1, 3)
    domains = make(library, options, [names[i % 3] for i in range(len(votes))])
    est = estimator().fit(votes_in(votes), domains)
    check_domains(est, names)
    passed = nw.from_native(domains if library is not pa.array else pa.chunked_array([domains]),
                            series_only=True).dtype  # fmt: skip
    for found in (est.error_rates_, est.prevalence_, est.diagnostics_, est.label_next(3)):
        got = nw.from_native(found)["domain"].dtype
        if names == NUMBERS and passed == nw.Categorical and votes_in is pl.DataFrame:
            assert got == nw.Int64  # categories of numbers exist in pandas alone
            continue
        categories = {nw.Categorical, nw.Enum}
        assert type(got) is type(passed) or {type(got), type(passed)} <= categories


@pytest.mark.parametrize(
    "domains",
    [
        np.array([3, 1, 2] * ITEMS, dtype=np.int8), [3, 1, 2] * ITEMS,
        np.array(["c", "a", "b"] * ITEMS),
    ],
    ids=["int8", "list", "text"],
)  # fmt: skip
def test_domains_in_arrays(domains, rng):
    votes = votes_of(rng).reshape(-1, 3)
    est = estimator().fit(votes, domains)
    check_domains(est, (3, 1, 2) if np.asarray(domains).dtype.kind == "i" else ("c", "a", "b"))
    if np.asarray(domains).dtype.kind == "i":
        assert est.error_rates_["domain"].dtype == np.asarray(domains).dtype


@pytest.mark.parametrize(
    "columns",
    [pd.Index([7, 5, 6]), pd.Index([7, 5, 6], dtype="int8"), pd.Index(["x", "y", "z"]),
     pd.CategoricalIndex(["x", "y", "z"]), pd.RangeIndex(3)],
    ids=["int64", "int8", "text", "category", "range"],
)  # fmt: skip
def test_columns_of_pandas_name_the_voters(columns, rng):
    frame = pd.DataFrame(votes_of(rng).reshape(-1, 3), columns=columns)
    est = estimator().fit(frame)
    assert est.classifiers_ == tuple(columns)
    assert est.result_.classifiers == tuple(columns)
    assert sorted(est.error_rates_["classifier"].tolist()) == sorted(columns)
    assert est.classifiers_ == tuple(columns)
    assert est.error_rates_["classifier"].dtype == columns.dtype
    assert est.as_label_model().predict_proba(frame).shape == (len(frame), 2)


def test_thresholds_are_found_by_the_names_that_were_passed(rng):
    frame = pd.DataFrame(rng.random((60, 3)), columns=[7, 5, 6])
    cuts = {7: 0.5, 5: 0.2, 6: 0.9}
    one = read_votes(frame, threshold=cuts)
    for other in ([0.5, 0.2, 0.9], {str(name): cut for name, cut in cuts.items()}):
        two = read_votes(frame, threshold=other)
        assert (one.domains[0].table.dense() == two.domains[0].table.dense()).all()
    long = frame.rename_axis("item").reset_index().melt(
        "item", var_name="classifier", value_name="vote"
    )  # fmt: skip
    two = read_votes(long, threshold=cuts)
    shares = [d.table.count @ (d.table.dense() == 1) for d in (one.domains[0], two.domains[0])]
    assert shares[1].tolist() == shares[0][[1, 2, 0]].tolist()  # a long table sorts its voters
    for wrong in ({7: 0.5, 5: 0.2}, {**cuts, 8: 0.1}, [0.5, 0.2]):
        with pytest.raises(OptionError, match="per voter"):
            read_votes(frame, threshold=wrong)


def test_names_of_numbers_are_written_as_text_in_summaries(rng):
    votes = votes_of(rng).reshape(-1, 3)
    est = estimator(structure="coupled").fit(pd.DataFrame(votes), [3, 1, 2] * ITEMS)
    told = est.result_.of_domain(1)
    assert told.summary().startswith("In 1 " if told.identified[0] else "Votes cannot tell")
    assert est.explanations(1).summary().startswith("In 1 ")
    assert est.co_clustering_.names == ("1", "2", "3")
    assert compare_models(votes, [3, 1, 2] * ITEMS, dependence=["none"], rng=0).n == len(votes)
