"""Several people: the shared metric, its spread, and what is refused."""

import numpy as np
import pytest

from karat.datasets import LogisticLaw
from karat.elicit import BinarySpace, DiagonalSpace, Elicitation, MetricOracle, shared_metric
from karat.elicit._charts import chart_of
from karat.elicit._shared_metric import PeopleChains, read_people
from karat.elicit.asking import Effort
from karat.exceptions import OptionError
from karat.metrics import cost_matrix, weighted_accuracy


@pytest.fixture(scope="module")
def space():
    return BinarySpace.from_density(LogisticLaw.binary(5.0).proba, n_points=501)


def asked(space, cost, seed=0, flip=0.0, **options):
    person = MetricOracle(cost_matrix([[0, 1], [cost, 0]]), flip=flip, rng=seed)
    return Elicitation(space, rng=seed, **options).run(person)


@pytest.mark.slow
def test_people_who_agree_have_little_spread(space):
    results = [asked(space, 3, seed, agreement=0.99) for seed in range(6)]
    shared = shared_metric(space, results, rng=0)
    ratio = shared.weights[0].value / shared.weights[1].value
    assert ratio == pytest.approx(3, rel=0.2)
    assert shared.spread.upper < 1.8
    assert shared.agreement > 0.93
    assert shared.r_hat <= 1.05


@pytest.mark.slow
def test_people_who_differ_are_not_averaged_away(space):
    costs = (0.3, 0.5, 3.0, 6.0)
    results = [asked(space, c, i, agreement=0.99) for i, c in enumerate(costs)]
    names = ("a", 2, None, 4.5)
    shared = shared_metric(space, results, names=names, rng=0)
    assert shared.spread.lower > 1.3
    assert shared.agreement < 0.85
    ratios = [person[0].value / person[1].value for person in shared.people]
    assert ratios == sorted(ratios), "each person keeps their own order"
    assert ratios[0] < 1 < ratios[-1]
    wide = shared.next_person[0].upper - shared.next_person[0].lower
    assert wide > shared.weights[0].upper - shared.weights[0].lower
    assert shared.people_names == names  # as they were passed


@pytest.mark.slow
def test_a_person_with_few_answers_is_drawn_toward_the_others(space):
    many = [asked(space, 4, seed, agreement=0.99) for seed in range(5)]
    hasty = asked(space, 0.5, 9, max_queries=1)
    alone = hasty.weights[0].value / hasty.weights[1].value
    shared = shared_metric(space, [*many, hasty], rng=0)
    together = shared.people[-1][0].value / shared.people[-1][1].value
    assert together > alone


@pytest.mark.slow
def test_three_classes_and_ties():
    diagonal = DiagonalSpace.from_density(LogisticLaw([-4, 1, 5]).proba, n_points=501)
    people = [
        MetricOracle(weighted_accuracy(w), tie=0.005)
        for w in ((0.2, 0.5, 0.3), (0.25, 0.5, 0.25), (0.3, 0.4, 0.3))
    ]
    results = [Elicitation(diagonal, rng=i).run(p) for i, p in enumerate(people)]
    shared = shared_metric(diagonal, results, rng=0)
    assert np.argmax([w.value for w in shared.weights]) == 1
    assert sum(w.value for w in shared.weights) == pytest.approx(1)


@pytest.mark.filterwarnings("ignore:chains have not mixed")
def test_the_same_seed_gives_the_same(space):
    results = [asked(space, c) for c in (1, 2)]
    options = {"warm_up": 20, "draws": 10, "rng": 5}
    assert shared_metric(space, results, **options) == shared_metric(space, results, **options)


@pytest.mark.usefixtures("thorough")
@pytest.mark.filterwarnings("ignore::karat.exceptions.NotIdentifiedWarning")
def test_what_is_refused(space):
    result = asked(space, 2)
    with pytest.raises(OptionError, match="results holds 1 person; expected at least 2"):
        shared_metric(space, [result])
    with pytest.raises(OptionError, match=r"names is \['a'\]; expected one name for each of 2"):
        shared_metric(space, [result, result], names=["a"])
    for option in ("warm_up", "draws"):
        with pytest.raises(OptionError, match=f"{option} is -1; expected a whole number"):
            shared_metric(space, [result, result], **{option: -1})
    other = BinarySpace.from_density(LogisticLaw.binary(3.0).proba, n_points=501)
    with pytest.raises(OptionError, match="another space"):
        shared_metric(other, [result, result])
    ratio = Elicitation(space, "ratio", rng=0, max_queries=2).run(MetricOracle("f1"))
    with pytest.raises(OptionError, match=r"mixes families.*linear\(\).*ratio\(\)"):
        shared_metric(space, [result, ratio])
    turned = asked(space, 2, orientation="decreasing")
    with pytest.raises(OptionError, match="the other way round"):
        shared_metric(space, [result, turned])


@pytest.mark.slow
def test_the_limits_hold_the_shared_weights_and_the_spread(space, monkeypatch):
    # Shorter chains and fewer particles: rougher limits, the same claim.
    monkeypatch.setattr(Elicitation, "effort", Effort(particles=400))
    held, spread_held, runs = 0, 0, 24
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        center, tau = rng.normal(), np.exp(rng.normal(np.log(0.5), 0.8))  # their priors
        results = []
        for z in center + tau * rng.normal(size=3):
            weights = np.exp([z / np.sqrt(2), -z / np.sqrt(2)])
            oracle = MetricOracle(space.linear_metric(weights), flip=rng.beta(1, 5) / 2, rng=rng)
            results.append(Elicitation(space, rng=rng, max_queries=4).run(oracle))
        _, family, people = read_people(space, results)
        chains = PeopleChains(chart_of(family), people, rng, chains=8)
        chains.warm_up(50)
        drawn = chains.run(80, 1)
        for draws, truth, count in ((drawn.center, center, 0), (drawn.spread, tau, 1)):
            low, high = np.quantile(draws, [0.025, 0.975])
            held += (count == 0) * (low <= truth <= high)
            spread_held += (count == 1) * (low <= truth <= high)
    # 95 % limits on draws from the prior: fewer than 19 of 24 has probability below .001
    assert held >= 19
    assert spread_held >= 19
