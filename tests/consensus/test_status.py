"""Status, its exact test on gold labels, sensitivity, copies and labels by design."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat.consensus import ErrorEstimator
from karat.consensus._answers import draw_strata, in_proportion
from karat.consensus.identification import (
    GoldTest,
    account_labels,
    account_rates,
    poisson_binomial_tail,
    status_of,
)
from karat.exceptions import DataError, KaratWarning, NotIdentifiedWarning, OptionError

RATES = (0.05, 0.1, 0.2, 0.25)


def draw(seed, n=400, rates=RATES):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng, y, np.where(rng.random((n, len(rates))) < rates, 1 - y[:, None], y[:, None])


def estimator(**options):
    return ErrorEstimator(**({"draws": 300, "rng": 0} | options))


@pytest.fixture(scope="module")
def simple():
    _, y, votes = draw(0)
    return y, votes, estimator().fit(votes)


class TestGoldTest:
    @given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.integers(0, 12))
    def test_the_tail_is_that_of_a_convolution(self, chance, least):
        least = min(least, len(chance))
        total = 0.0
        for bits in range(2 ** len(chance)):
            wrong = [(bits >> i) & 1 for i in range(len(chance))]
            if sum(wrong) >= least:
                total += np.prod([p if w else 1 - p for p, w in zip(chance, wrong, strict=True)])
        assert poisson_binomial_tail(np.array(chance), least) == pytest.approx(total, abs=1e-9)

    def test_equal_chances_are_binomial(self):
        found = poisson_binomial_tail(np.full(30, 0.2), 9)
        assert found == pytest.approx(stats.binom.sf(8, 30, 0.2))

    @pytest.mark.parametrize(
        ("reasons", "p", "highest", "status"),
        [
            ((), None, None, "consistent"),
            ((), 0.4, 0.3, "consistent"),  # no contradiction, and no power to notice one
            ((), 0.4, 0.14, "confirmed"),
            ((), 0.01, 0.6, "contradicted"),
            (("x",), None, None, "not identified"),
            (("x",), 0.4, 0.3, "not identified"),  # too few labels to exclude much more errors
            (("x",), 0.4, 0.14, "confirmed"),
            (("x",), 0.01, 0.6, "contradicted"),
        ],
    )
    def test_every_status(self, reasons, p, highest, status):
        test = None if p is None else GoldTest(20, 1, 0.05, p, highest)
        assert status_of(reasons, test) == status

    def test_labels_confirm_a_good_panel_and_ten_do_not(self, simple):
        """Ten labels without an error leave it open that one item in four is wrong."""
        y, votes, _ = simple
        for n, status in ((9, "consistent"), (10, "consistent"), (40, "confirmed")):
            gold = np.where(np.arange(len(y)) < n, y, -1)
            fitted = estimator().fit(votes, y_true=gold)
            assert fitted.status_ == {"all": status}
            assert fitted.identified_ == {"all": True}
            assert bool(fitted.result_.evidence[0]) == (n >= 10)
            if n == 10:
                assert "exclude only that it is wrong on more than 26 %" in fitted.result_.summary()

    def test_labels_contradict_a_panel_that_errs_together(self):
        rng, y, votes = draw(1, rates=[0.05] * 5)
        votes = np.where((rng.random(len(y)) < 0.3)[:, None], 1 - votes, votes)
        gold = np.where(np.arange(len(y)) < 40, y, -1)
        with pytest.warns(NotIdentifiedWarning, match="contradict the consensus"):
            fitted = estimator().fit(votes, y_true=gold)
        assert fitted.status_ == {"all": "contradicted"}
        assert not fitted.identified_["all"]
        assert "Gold labels contradict" in fitted.result_.summary()
        # Labels that were picked test nothing.
        picked = estimator().fit(votes, y_true=gold, labels="picked")
        assert picked.status_["all"] != "contradicted"

    @pytest.mark.slow
    def test_an_honest_consensus_is_rarely_contradicted(self):
        """60 panels: more than 9 contradicted would be p < .001 if 5 % were allowed."""
        lost = 0
        for seed in range(60):
            rng, y, votes = draw(100 + seed, n=200)
            gold = np.full(200, -1)
            some = rng.choice(200, 25, replace=False)
            gold[some] = y[some]
            few = estimator(draws=100, chains=2, dependence="none")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", KaratWarning)
                fitted = few.fit(votes, y_true=gold)
            lost += fitted.status_["all"] == "contradicted"
        assert lost <= 9


class TestSensitivity:
    def test_limits_carry_the_slack_and_rates_do_not(self, simple):
        _, votes, fitted = simple
        plain = estimator(slack=0.0).fit(votes)
        np.testing.assert_array_equal(plain.result_.value, fitted.result_.value)
        low = np.maximum(plain.result_.lower - 0.02, 0)
        np.testing.assert_allclose(fitted.result_.lower, np.minimum(low, plain.result_.value))
        np.testing.assert_allclose(fitted.result_.upper, plain.result_.upper + 0.02)

    def test_the_curve_is_the_formula(self, simple):
        curve = simple[2].robustness_curve(gamma=[0, 0.05, 0.1])
        assert (np.diff(curve.value[0]) >= 0).all()
        np.testing.assert_allclose(curve.changes, np.diff(curve.value[0]) / 2)
        np.testing.assert_allclose(curve.upper[1], np.minimum(curve.upper[0] + 0.05, 1), atol=1e-12)

    def test_a_first_place_that_is_settled_holds_up_to_half_the_lead(self):
        _, _, votes = draw(0, n=1000, rates=(0.02, 0.2, 0.25, 0.3))
        curve = estimator(draws=100).fit(votes).robustness_curve()
        assert curve.rivals == 0
        assert curve.first_holds == curve.changes[0]
        said = curve.summary()
        assert said.startswith(f"the first place, of {curve.classifiers[0]}, holds while at most")
        assert f"{100 * curve.first_holds:.0f} % of the items fool most judges together" in said

    def test_a_first_place_that_others_may_hold_is_not_said_to_hold(self):
        _, _, votes = draw(8, n=150, rates=[0.2, 0.2, 0.2, 0.2])
        fitted = estimator(draws=100).fit(votes)
        curve, said = fitted.robustness_curve(), fitted.result_.summary()
        assert curve.rivals > 0
        assert curve.first_holds == 0
        assert curve.summary().startswith("the votes do not settle the first place")
        assert f"{curve.rivals} of the 3 others may be as good" in said
        assert "do not settle the first place" in said
        assert "holds while" not in said + curve.summary()

    def test_what_fools_a_panel_moves_no_rate_by_more(self):
        """The bound that the curve rests on: flip the labels of a share of the items."""
        rng, y, votes = draw(3)
        before = (votes != y[:, None]).mean(axis=0)
        for gamma in (0.01, 0.1, 0.3):
            flipped = y.copy()
            some = rng.choice(len(y), round(gamma * len(y)), replace=False)
            flipped[some] = 1 - flipped[some]
            after = (votes != flipped[:, None]).mean(axis=0)
            assert np.abs(after - before).max() <= gamma + 1e-12
            gaps = np.subtract.outer(after, after) - np.subtract.outer(before, before)
            assert np.abs(gaps).max() <= 2 * gamma + 1e-12

    @pytest.mark.parametrize("bad", [-0.1, 1.0, "much"])
    def test_bad_slack(self, bad):
        with pytest.raises(OptionError, match="slack"):
            estimator(slack=bad).fit(draw(0)[2])

    def test_bad_gamma(self, simple):
        with pytest.raises(OptionError, match="gamma"):
            simple[2].robustness_curve(gamma=[-0.1])


class TestAccounts:
    def test_limits_span_every_account(self):
        rng, y, votes = draw(4, rates=[0.05] * 8)
        trick = rng.random(len(y)) < 0.5
        votes[:, :6] = np.where((trick[:, None]) & (rng.random((400, 6)) < 0.8),
                                1 - y[:, None], votes[:, :6])  # fmt: skip
        with pytest.warns(NotIdentifiedWarning):
            fitted = estimator().fit(votes)
        true = (votes != y[:, None]).mean(axis=0)
        assert fitted.status_ == {"all": "not identified"}
        inside = (fitted.result_.lower <= true) & (true <= fitted.result_.upper)
        assert inside.all()
        assert "votes cannot tell" in str(fitted.result_._table()[0])
        fit = fitted._fits[0]
        rates = account_rates(fit.table, fit.label_proba())
        assert (fitted.result_.lower <= rates.min(axis=0) + 1e-9).all()
        assert (fitted.result_.upper >= rates.max(axis=0) - 1e-9).all()

    def test_unanimous_and_labelled_items_stay(self, table_of):
        table = table_of(np.array([[0, 0, 0], [0, 0, 1], [1, 0, 1]]), 2, gold=[-1, -1, 1])
        proba = table.vote_shares()
        for labels in account_labels(table, proba):
            moved = np.abs(labels - proba).sum(axis=1) > 0
            agreed = table.vote_shares().max(axis=1) == 1
            assert not moved[agreed | (table.gold >= 0)].any()


class TestCopies:
    def test_copies_count_once_and_are_named(self):
        rng, y, votes = draw(5, n=800, rates=[0.3, 0.1, 0.1, 0.15])
        copy = np.where(rng.random(800) < 0.98, votes[:, 0], y)
        again = np.where(rng.random(800) < 0.98, votes[:, 0], y)
        frame = pd.DataFrame(votes, columns=["gpt", "b", "c", "d"]).assign(gpt2=copy, gpt3=again)
        with pytest.warns(KaratWarning, match="near copies count as one voter"):
            fitted = estimator().fit(frame)
        assert {frozenset(b) for b in fitted.result_.copies[0]} == {
            frozenset(["gpt", "gpt2", "gpt3"])
        }
        assert fitted.status_ == {"all": "consistent"}
        rates = dict(zip(fitted.classifiers_, fitted.result_.value, strict=True))
        assert rates["gpt"] > 0.2
        assert rates["b"] < 0.2
        assert "gpt" in fitted.diagnostics_["copies"][0]
        model = fitted.as_label_model()
        np.testing.assert_allclose(
            model.predict_proba(frame.to_numpy()), fitted.label_proba_, atol=0.1
        )

    def test_families_are_named_by_users(self):
        votes = pd.DataFrame(draw(6)[2], columns=list("abcd"))
        with pytest.warns(KaratWarning):
            fitted = estimator().fit(votes, same={"x": ["a", "b", "c"]})
        assert {frozenset(b) for b in fitted.result_.copies[0]} == {frozenset("abc")}
        assert fitted.status_ == {"all": "not identified"}
        with pytest.raises(OptionError, match=r"same\['x'\] is 'z'"):
            estimator().fit(votes, same={"x": ["a", "z"]})
        for bad in (["a", "b"], {"x": "ab"}):
            with pytest.raises(OptionError, match="same"):
                estimator().fit(votes, same=bad)

    def test_a_panel_that_agrees_throughout_is_right_or_copies(self):
        _, _, votes = draw(7, rates=[0.005] * 4)
        with pytest.warns(NotIdentifiedWarning):
            fitted = estimator().fit(votes)
        assert fitted.status_ == {"all": "not identified"}
        assert "right or copies" in fitted.result_.summary()
        assert (fitted.result_.upper >= 0.5).all()


class TestDesigns:
    @given(st.lists(st.integers(0, 50), min_size=1, max_size=8), st.integers(0, 120))
    def test_shares_are_in_proportion(self, sizes, n):
        found = in_proportion(np.array(sizes), n)
        assert found.sum() == min(n, sum(sizes))
        assert (found <= sizes).all()
        share = min(n, sum(sizes)) * np.array(sizes) / max(sum(sizes), 1)
        assert (np.abs(found - share) < 1 + 1e-9).all()

    @settings(deadline=None)
    @given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 1000))
    def test_strata_have_one_item_each_and_weights_that_add_up(self, size, n, seed):
        n = min(n, size)
        doubt = np.random.default_rng(seed).random(size)
        drawn, chance = draw_strata(doubt, n, np.random.default_rng(seed))
        assert len(set(drawn.tolist())) == n
        assert (1 / chance).sum() == pytest.approx(size)
        assert np.ptp(1 / chance) <= 1 + 1e-9
        assert (np.diff(doubt[drawn]) <= 0).all()  # the strata are sorted by doubt

    def test_every_item_has_the_chance_it_is_said_to_have(self):
        doubt = np.random.default_rng(0).random(10)
        seen, said = np.zeros(10), np.zeros(10)
        for seed in range(6000):
            drawn, chance = draw_strata(doubt, 3, np.random.default_rng(seed))
            seen[drawn] += 1
            said[drawn] += 1 / chance
        np.testing.assert_allclose(seen / 6000, 0.3, atol=0.035)
        np.testing.assert_allclose(said / 6000, 1, atol=0.12)

    def test_domains_get_their_share_and_labelled_items_are_not_asked_again(self):
        _, y, votes = draw(8, n=300)
        domains = np.where(np.arange(300) < 200, "a", "b")
        gold = np.where(np.arange(300) % 3 == 0, y, -1)
        fitted = estimator(draws=100).fit(votes, domains, y_true=gold)
        todo = fitted.label_next(30)
        assert todo["domain"].value_counts().to_dict() == {"a": 20, "b": 10}
        assert not (todo["item"] % 3 == 0).any()
        assert set(fitted.label_next(7, domain="b")["domain"]) == {"b"}
        contested = fitted.label_next(5, how="contested")
        assert contested["probability"].isna().all()
        assert fitted.label_next(50, how="random")["probability"].between(0.2, 0.3).all()

    def test_labels_and_their_probabilities_come_back(self):
        _, y, votes = draw(9)
        frame = pl.DataFrame(votes, schema=list("abcd")).with_columns(
            item=pl.Series([f"q{i}" for i in range(400)])
        )
        todo = estimator(draws=100).fit(frame).label_next(30)
        assert todo["item"].dtype == pl.String
        row = [int(name[1:]) for name in todo["item"]]
        gold = dict(zip(todo["item"], y[row].tolist(), strict=True))
        chance = dict(zip(todo["item"], todo["probability"], strict=True))
        fitted = estimator(draws=100).fit(
            frame, y_true=gold, labels="probability", label_probability=chance
        )
        assert fitted.items_.tolist() == frame["item"].to_list()
        true = (votes != y[:, None]).mean(axis=0)
        order = ["abcd".index(name) for name in fitted.from_labels_["classifier"]]
        assert (fitted.from_labels_["lower"].to_numpy() <= true[order]).all()
        assert (true[order] <= fitted.from_labels_["upper"].to_numpy()).all()
        assert fitted.from_labels_["bernstein_lower"].is_nan().all()
        del chance[todo["item"][0]]
        with pytest.raises(DataError, match="label_probability of the labelled item"):
            estimator().fit(frame, y_true=gold, labels="probability", label_probability=chance)

    def test_designs_that_contradict_themselves(self):
        _, y, votes = draw(9)
        with pytest.raises(DataError, match="without label_probability"):
            estimator().fit(votes, y_true=y, labels="probability")
        with pytest.raises(DataError, match="labels='probability' too"):
            estimator().fit(votes, y_true=y, label_probability=np.full(400, 0.1))
        with pytest.raises(OptionError, match="labels is 'all'"):
            estimator().fit(votes, y_true=y, labels="all")


class TestRefits:
    @settings(max_examples=6, deadline=None)
    @given(st.permutations(range(6)), st.integers(0, 5))
    def test_weights_of_models_depend_on_the_votes_alone(self, order, seed):
        _, _, votes = draw(10, n=150, rates=[0.05, 0.1, 0.15, 0.2, 0.25, 0.3])
        first = ErrorEstimator(draws=40, rng=0).fit(votes)
        rows = np.random.default_rng(seed).permutation(150)
        again = ErrorEstimator(draws=40, rng=seed).fit(votes[rows][:, list(order)])
        assert first.diagnostics_["models"][0] == again.diagnostics_["models"][0]
        assert first.status_ == again.status_

    def test_names_of_items_and_domains_in_a_wide_frame(self):
        _, _, votes = draw(11, n=60)
        plain = pd.DataFrame(votes, columns=list("abcd"))
        named = plain.assign(item=np.arange(60) + 1000, domain=np.arange(60) % 2)
        fitted = ErrorEstimator(draws=40, rng=0).fit(named)
        assert fitted.classifiers_ == tuple("abcd")
        assert list(fitted.status_) == [0, 1]
        assert set(fitted.label_next(10)["item"]) <= set(range(1000, 1060))
        by_index = plain.set_axis([f"q{i}" for i in range(60)])
        assert ErrorEstimator(draws=40, rng=0).fit(by_index).items_[3] == "q3"
        assert ErrorEstimator(draws=40, rng=0).fit(plain).items_ is None
        with pytest.raises(DataError, match="the column 'item' has 7 in 2 rows"):
            ErrorEstimator().fit(plain.assign(item=[7, *range(59)]))

    @pytest.mark.parametrize(
        "names", [("task", "worker", "label"), ("item", "judge", "verdict")], ids="-".join
    )
    def test_long_tables_by_other_names(self, names):
        _, _, votes = draw(12, n=50)
        item, voter = np.indices(votes.shape)
        columns = (item.ravel(), voter.ravel(), votes.ravel())
        long = pl.DataFrame(dict(zip(names, columns, strict=True)))
        fitted = ErrorEstimator(draws=40, rng=0).fit(long)
        assert fitted.error_rates_[names[1]].dtype == pl.Int64  # named as it was passed
        assert fitted.items_.tolist() == list(range(50))


class TestFamilies:
    def test_a_voter_belongs_to_one(self):
        _, _, votes = draw(0)
        same = {"a": ["0", "1"], "b": ["1", "2"]}
        with pytest.raises(OptionError, match=r"same\['a'\] and same\['b'\] both hold '1'"):
            estimator().fit(votes, same=same)

    def test_those_that_were_named_are_not_announced(self):
        _, _, votes = draw(0, rates=(0.1, 0.1, 0.15, 0.2))
        votes = np.column_stack([votes, votes[:, 0]])
        quick = estimator(draws=100, chains=2)
        with pytest.warns(KaratWarning, match="near copies count as one voter"):
            quick.fit(votes)
        with warnings.catch_warnings():
            warnings.simplefilter("error", KaratWarning)
            fitted = quick.fit(votes, same={"one": ["0", "4"]})
        assert [set(group) for group in fitted.result_.copies[0]] == [{"0", "4"}]


class TestTooFewItemsToLookForCopies:
    @pytest.mark.parametrize("n", [12, 20, 30, 39])
    def test_copies_are_not_silently_three_votes(self, n):
        """Three columns of one poor voter outvote two good ones, and it takes 40 items to see."""
        for seed in range(3):
            rng = np.random.default_rng(seed)
            y = rng.integers(0, 2, n)
            poor = np.where(rng.random(n) < 0.3, 1 - y, y)
            good = np.where(rng.random((n, 2)) < 0.1, 1 - y[:, None], y[:, None])
            votes = np.column_stack([poor, poor, poor, good])
            quick = estimator(draws=100, chains=2)
            with pytest.warns(NotIdentifiedWarning):
                fitted = quick.fit(votes)
            assert fitted.status_ == {"all": "not identified"}
            assert "too few items to look for copies" in fitted.result_.summary()

    def test_a_family_that_was_named_is_no_doubt(self):
        _, _, votes = draw(5, n=30, rates=(0.25, 0.2, 0.25, 0.2))
        votes = np.column_stack([votes, votes[:, 0]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KaratWarning)
            named = estimator(draws=100).fit(votes, same={"one": ["0", "4"]})
        assert not any("look for copies" in why for why in named.result_.reasons[0])

    def test_a_pair_of_a_crowd_decides_nothing(self):
        """Two of many workers who share 20 of 400 items and agree on them are no reason."""
        rng, _, votes = draw(6, rates=[0.2] * 12)
        sparse = np.where(rng.random(votes.shape) < 0.5, votes, np.nan).astype(object)
        sparse[:, :2] = np.nan
        sparse[:20, :2] = votes[:20, :1]
        sparse = np.where(pd.isna(sparse), None, sparse)
        fitted = estimator(draws=100, chains=2).fit(pd.DataFrame(sparse))
        assert not any("look for copies" in why for why in fitted.result_.reasons[0])


def test_the_tail_of_very_many_events_is_that_of_the_plain_convolution():
    chance, times = np.array([0.02, 0.1, 0.5]), np.array([4000, 1500, 700])
    expected = int(chance @ times)
    for least in (expected - 60, expected, expected + 25, expected + 80):
        plain = poisson_binomial_tail(np.repeat(chance, times), least)
        assert poisson_binomial_tail(chance, least, times) == pytest.approx(plain, abs=1e-12)
