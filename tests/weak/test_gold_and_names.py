"""True labels in the fit of every label model, and columns that are matched by name."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from karat.bounds import performance_bounds
from karat.exceptions import ColumnError, DataError, LabelError
from karat.votes import read_patterns
from karat.weak import (
    DawidSkene,
    DetectorLabelModel,
    MajorityVote,
    OracleLabelModel,
    TripletLabelModel,
    check_label_model,
    from_snorkel,
    vote_diagnostics,
)

pytestmark = pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")

MODELS = [DawidSkene(rng=0), DetectorLabelModel(), MajorityVote(), OracleLabelModel(),
          TripletLabelModel()]  # fmt: skip
EVERY = pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)


@pytest.fixture(scope="module")
def data(law, draw):
    rng = np.random.default_rng(11)
    y, votes = draw(rng, 600, [0.8, 0.2], law([0.9, 0.6, 0.8, 0.7], [0.5, 0.9, 0.7, 0.4], 2))
    return y, pd.DataFrame(votes, columns=["a", "b", "c", "d"])


@EVERY
def test_true_labels_give_the_prior(model, data):
    y, votes = data
    gold = np.where(np.arange(600) < 50, y, -1)
    cast = np.array([(votes.to_numpy() == c).sum() for c in (0, 1)])
    expected = (np.bincount(y[:50], minlength=2) + 10 * (0.5 * cast / cast.sum() + 0.25)) / 60
    fitted = model.fit(votes, y_true=gold)
    np.testing.assert_allclose(fitted.class_prior_, expected)
    assert fitted.known_ == "y_true"
    assert "estimated from 50 true labels" in fitted.assumption_
    given = model.fit(votes, y_true=gold, class_prior=[0.7, 0.3])
    np.testing.assert_allclose(given.class_prior_, [0.7, 0.3])
    assert given.assumption_ == "P(Y) is taken as given: 0 70 %, 1 30 %"


@EVERY
def test_missing_true_labels_in_every_way(model, data):
    y, votes = data
    some = np.arange(600) < 80
    gold = np.where(some, y, -1)
    nulls = pd.Series(np.where(some, y, np.nan))
    words = pl.Series(["yes" if v else "no" for v in y]).to_list()
    words = [w if s else None for w, s in zip(words, some, strict=True)]
    proba = model.fit(votes, y_true=gold).predict_proba(votes)
    np.testing.assert_array_equal(model.fit(votes, y_true=nulls).predict_proba(votes), proba)
    named = votes.replace({0: "no", 1: "yes", -1: "-1"})
    np.testing.assert_array_equal(model.fit(named, y_true=words).predict_proba(named), proba)


@EVERY
def test_true_labels_that_are_refused(model, data):
    y, votes = data
    wrong = y.copy()
    wrong[17] = 5
    with pytest.raises(LabelError, match=r"row 17 .*5.*\[0, 1\]"):
        model.fit(votes, y_true=wrong, classes=[0, 1])
    with pytest.raises(DataError, match=r"599 rows|600 rows"):
        model.fit(votes, y_true=y[:-1])
    with pytest.raises(LabelError, match="missing in every row"):
        model.fit(votes, y_true=[-1] * 600)


def test_dawid_skene_holds_labelled_items_to_their_class(data):
    """EM by hand, in which the labelled items keep their true class."""
    y, votes = data
    codes = votes.to_numpy()
    gold = np.where(np.arange(600) % 3 == 0, y, -1)
    model = DawidSkene(smoothing=0.0, restarts=1, tol=1e-12, max_iter=5000).fit(votes, y_true=gold)
    hot = np.stack([codes == o for o in (0, 1, -1)], axis=2).astype(float)
    theta, prior = model.confusions_, model.class_prior_
    post = model.predict_proba(votes)
    post[gold >= 0] = np.eye(2)[gold[gold >= 0]]
    again = np.einsum("imo,iy->myo", hot, post) / post.sum(axis=0)[None, :, None]
    np.testing.assert_allclose(again, theta, atol=1e-4)
    joint = prior * np.prod(np.einsum("imo,myo->imy", hot, theta), axis=1)
    known = gold >= 0
    expected = np.log(joint[~known].sum(axis=1)).sum()
    expected += np.log(joint[known, gold[known]]).sum()
    assert model.log_likelihood_ == pytest.approx(expected, rel=1e-9)


def test_dawid_skene_without_a_prior_says_that_it_learns_it(data):
    _, votes = data
    said = DawidSkene(rng=0).fit(votes).assumption_
    assert said.startswith("P(Y) is learnt from votes alone, which may be far off: 0 ")


def test_snorkel_refuses_them(data):
    y, votes = data

    class Other:
        cardinality = 2

        def predict_proba(self, codes):
            return np.full((len(codes), 2), 0.5)

    model = from_snorkel(Other())
    with pytest.raises(DataError, match=r"fitted by its own package, which takes no y_true="):
        model.fit(votes, y_true=y)
    assert performance_bounds(y, votes, model, metric="accuracy", rng=0).assumption is None


def test_the_oracle_needs_them(data):
    with pytest.raises(LabelError, match=r"y_true is None.*DetectorLabelModel"):
        OracleLabelModel().fit(data[1], None)


@EVERY
def test_columns_are_matched_by_name(model, data):
    y, votes = data
    fitted = model.fit(votes, y_true=y)
    proba = fitted.predict_proba(votes)
    shuffled = votes[["d", "b", "a", "c"]]
    for frame in (shuffled, pl.from_pandas(shuffled), read_patterns(shuffled)):
        np.testing.assert_array_equal(fitted.predict_proba(frame), proba)
        mine = check_label_model(frame, fitted).prior
        np.testing.assert_allclose(mine, check_label_model(votes, fitted).prior)
        b = performance_bounds(y, frame, fitted, metric="accuracy", method="plugin")
        c = performance_bounds(y, votes, fitted, metric="accuracy", method="plugin")
        assert (b.lower, b.upper) == pytest.approx((c.lower, c.upper))
    np.testing.assert_array_equal(fitted.predict_proba(votes.to_numpy()), proba)


@EVERY
def test_other_columns_are_named(model, data):
    y, votes = data
    fitted = model.fit(votes, y_true=y)
    for call in (
        fitted.predict_proba,
        lambda frame: check_label_model(frame, fitted),
        lambda frame: performance_bounds(y, frame, fitted, metric="accuracy", rng=0),
    ):
        with pytest.raises(ColumnError, match=r"no votes of \['b'\].*was fitted with \['a', 'b'"):
            call(votes[["a", "c", "d"]])
        with pytest.raises(ColumnError, match=r"votes of \['e'\], and .* leave these votes out"):
            call(votes.rename(columns={"a": "e"}))
        with pytest.raises(ColumnError, match=r"votes of \['e'\]"):
            call(votes.assign(e=1))


def test_numbered_columns(data):
    _, votes = data
    numbers = votes.set_axis(range(4), axis=1)
    fitted = MajorityVote().fit(numbers)
    proba = fitted.predict_proba(numbers)
    np.testing.assert_array_equal(fitted.predict_proba(numbers[[2, 0, 3, 1]]), proba)
    with pytest.raises(ColumnError, match=r"\['7'\]"):
        fitted.predict_proba(numbers.rename(columns={3: 7}))
    # An array has places and no names; a frame after it is taken by its places too.
    np.testing.assert_array_equal(MajorityVote().fit(votes.to_numpy()).predict_proba(votes), proba)


def test_votes_alone_are_no_reason_to_drop_a_labeler(rng):
    """Rules that are always right look worse than chance to a model that is wrong about them."""
    y = rng.integers(0, 2, 1500)
    votes = np.where(rng.random((1500, 5)) < 0.75, y[:, None], 1 - y[:, None])
    votes[:, 4] = 1 - votes[:, 4]
    check = check_label_model(votes, DawidSkene(rng=0).fit(votes))
    said = " ".join([*check.reasons, check.summary(), vote_diagnostics(votes).summary()])
    assert "only true labels can tell" in said
    assert "drop" not in said
    assert "swap" not in said


def test_draws_are_several(data):
    y, votes = data
    p = MajorityVote().fit(votes).predict_proba(votes)
    options = {"metric": "accuracy", "rng": 0}
    for one in (p, p.tolist()):
        with pytest.raises(DataError, match=r"one array of shape \(600, 2\).*several draws"):
            performance_bounds(y, votes, p, label_model_draws=one, **options)
    for several in ([p, p], np.stack([p, p])):
        performance_bounds(y, votes, p, label_model_draws=several, **options)
