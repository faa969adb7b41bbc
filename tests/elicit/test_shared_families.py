"""The law of several people: against a grid, in every family, and over many groups."""

import warnings

import numpy as np
import pytest
from scipy.stats import norm

from karat.datasets import LogisticLaw
from karat.elicit import (
    BinarySpace,
    ConfusionSpace,
    DiagonalSpace,
    Elicitation,
    MetricOracle,
    RateSpace,
    shared_metric,
)
from karat.elicit._charts import chart_of
from karat.elicit._people_loops import normal_quantile
from karat.elicit._shared_metric import People, PeopleChains, Person, draw_mixed
from karat.elicit.families import LinearFamily
from karat.elicit.posterior import named_first, read_noise, said_tie
from karat.exceptions import KaratWarning, OptionError
from karat.metrics import FairMetric, cost_matrix

pytestmark = pytest.mark.slow  # chains of several people

TWO, THREE = LogisticLaw.binary(5.0), LogisticLaw([-4, 1, 5])
POINTS = {"n_points": 301}


GROUPS = np.where(np.arange(1500) % 3, "a", "b")


def groups_space(groups=GROUPS):
    x, y = TWO.sample(1500, rng=0)
    return RateSpace.from_proba(y, TWO.proba(x), groups=groups)


@pytest.fixture(scope="module")
def spaces():
    return {
        "binary": BinarySpace.from_density(TWO.proba, **POINTS),
        "diagonal": DiagonalSpace.from_density(THREE.proba, **POINTS),
        "confusion": ConfusionSpace.from_density(THREE.proba, **POINTS),
        "rate": groups_space(groups=None),
        "groups": groups_space(),
    }


KINDS = [
    ("linear", "binary", {}),
    ("ratio", "binary", {}),
    ("linear", "diagonal", {}),
    ("ratio", "diagonal", {}),
    ("monotone", "diagonal", {}),
    ("linear", "confusion", {}),
    ("ratio", "confusion", {}),
    ("quadratic", "rate", {}),
    ("polynomial", "rate", {}),
    ("linear", "groups", {}),
    ("linear", "groups", {"cost": [1, 2], "sparse": True}),
    ("quadratic", "groups", {}),
    ("quadratic", "groups", {"diagonal": True}),
]


@pytest.mark.parametrize(("family", "name", "own"), KINDS)
def test_every_family_has_coordinates_without_limits(family, name, own, spaces):
    family = Elicitation(spaces[name], family, **own)._problem.family()
    chart = chart_of(family)
    rng = np.random.default_rng(0)
    z = np.vstack([rng.normal(size=(50, chart.dim)), 30 * rng.normal(size=(5, chart.dim))])
    parameters = chart.parameters(z)
    assert parameters.shape == (55, family.size)
    assert np.isfinite(parameters).all()
    assert (parameters[:, ~family.signed] >= 0).all()
    assert np.isfinite(family.weights(parameters)).all()
    spreads = chart.spreads(z, np.full((55, len(chart.parts)), 0.5))
    assert (spreads >= 0).all()
    points = family.space.coordinates(family.space.sample(9, rng=rng))
    features = chart.features(points)
    if features is not None:  # where margins are linear, they are computed without the family
        values = chart.feature_weights(parameters) @ features.T
        np.testing.assert_allclose(values, family.values(parameters, points), atol=1e-10)
    # different coordinates are different metrics
    weights = family.weights(chart.parameters(np.vstack([z[:1], z[:1] + 0.3 * np.eye(chart.dim)])))
    assert (np.abs(weights[1:] - weights[0]).max(axis=1) > 1e-6).sum() >= chart.dim - 1


def test_the_worth_of_gaps_is_a_coordinate(spaces):
    family = Elicitation(spaces["groups"])._problem.family()
    z = np.random.default_rng(1).normal(size=(20, chart_of(family).dim))
    _, worth = family.gap_worth(chart_of(family).parameters(z))
    np.testing.assert_allclose(np.log(worth), z[:, -1], atol=1e-6)


def test_against_a_grid(spaces):
    """Two people, one log-ratio each: μ and τ by quadrature over metrics and noise."""
    space = spaces["binary"]
    chart, rng = chart_of(LinearFamily(space)), np.random.default_rng(3)
    people = []
    for ratio in (-0.8, 0.6):
        sides = space.coordinates(space.sample(16, rng=rng))
        values = chart.family.values(chart.parameters(np.array([[ratio]])), sides)[0]
        signs = np.where(values[:8] > values[8:], 1.0, -1.0)
        signs[2] *= -1  # a slip
        people.append(Person(sides[:8], sides[8:], signs, 0.05))
    z = np.linspace(-4, 4, 121)
    number = norm.ppf((np.arange(7) + 0.5) / 7)
    noise = np.stack(np.meshgrid(number, number, number), axis=-1).reshape(-1, 3)
    states = np.hstack([np.repeat(z, len(noise))[:, None], np.tile(noise, (len(z), 1))])
    both = People(chart, people).log_answers(np.repeat(states[:, None], 2, axis=1))
    likelihood = np.exp(both).T.reshape(2, len(z), -1).mean(axis=2)
    center, log_spread = np.linspace(-4, 4, 81), np.linspace(-3.5, 2.0, 71)
    law = norm.pdf(z, center[:, None, None], np.exp(log_spread)[None, :, None])
    posterior = np.prod([law @ (part * (z[1] - z[0])) for part in likelihood], axis=0)
    posterior *= norm.pdf(center)[:, None] * norm.pdf(log_spread, np.log(0.5), 0.8)
    posterior /= posterior.sum()
    chains = PeopleChains(chart, people, np.random.default_rng(0), chains=16)
    chains.warm_up(100)
    drawn = chains.run(300, 1)
    for draws, grid, chance in (
        (drawn.center, center, posterior.sum(axis=1)),
        (np.log(drawn.spread), log_spread, posterior.sum(axis=0)),
    ):
        mean = grid @ chance
        sd = np.sqrt((grid - mean) ** 2 @ chance)
        assert draws.mean() == pytest.approx(mean, abs=0.15 * sd)
        assert draws.std() == pytest.approx(sd, rel=0.15)
        for q in (0.1, 0.5, 0.9):
            at = grid[np.searchsorted(np.cumsum(chance), q)]
            assert np.mean(draws < at) == pytest.approx(q, abs=0.06)


def fair_people(space, n=3, **options):
    people = [MetricOracle(FairMetric([1, c], [[1, 2]], 0.4)) for c in (1.0, 2.0, 3.0)[:n]]
    options = {"max_queries": 8, "checks": False, **options}
    return [Elicitation(space, rng=i, **options).run(p) for i, p in enumerate(people)]


@pytest.mark.slow
def test_fair_people_are_reported_in_their_own_terms(spaces):
    space = spaces["groups"]
    shared = shared_metric(space, fair_people(space), rng=0)
    assert shared.r_hat <= 1.05
    assert shared.effective_draws >= 400
    assert isinstance(shared.metric, FairMetric)
    assert [s.name.split(":")[0] for s in shared.spreads] == [
        "cost of errors",
        "one gap against another",
        "worth of gaps",
    ]
    assert all(s.lower > 1 for s in shared.spreads)
    assert shared.trade_off.worth.lower < shared.trade_off.worth.upper
    assert len(shared.people_ratios) == 3
    assert shared.people_ratios[0][-1].name == shared.trade_off.worth.name
    assert shared.family == "linear"


@pytest.mark.parametrize(
    ("chosen", "name"),
    [("ratio", "binary"), ("monotone", "diagonal"), ("quadratic", "rate"), ("quadratic", "groups")],
)
def test_other_families_run(chosen, name, spaces):
    space = spaces[name]
    family = Elicitation(space, chosen)._problem.family()
    metric = family.metric(chart_of(family).parameters(np.full((1, chart_of(family).dim), 0.3))[0])
    options = {"max_queries": 3, "checks": False}
    results = [
        Elicitation(space, chosen, rng=i, **options).run(MetricOracle(metric)) for i in range(2)
    ]
    with pytest.warns(KaratWarning, match="chains have not mixed"):
        shared = shared_metric(space, results, warm_up=12, draws=4, rng=0)
    assert len(shared.people) == 2
    assert shared.names == family.names
    assert shared.summary().startswith("The chains have not mixed (R-hat ")
    assert "people agree" in shared.summary()


def test_mixed_families_are_refused(spaces):
    space = spaces["groups"]
    plain = fair_people(space, 1)[0]
    same = fair_people(space, 1, sparse=True)[0]
    with pytest.raises(OptionError, match=r"mixes families.*linear\(\).*linear\(sparse=True\)"):
        shared_metric(space, [plain, same])
    with pytest.raises(OptionError, match="person 2 of results is a str; expected the result"):
        shared_metric(space, [plain, "person"])
    silent = Elicitation(space, rng=0, max_queries=1).run(lambda query: "skip")
    with pytest.raises(OptionError, match="person 2 of results has answered nothing"):
        shared_metric(space, [plain, silent])


def test_people_of_the_other_orientation(spaces):
    space = spaces["binary"]
    options = {"max_queries": 4, "checks": False, "orientation": "decreasing"}
    person = MetricOracle(cost_matrix([[0, -1], [-2, 0]]))
    results = [Elicitation(space, rng=i, **options).run(person) for i in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        shared = shared_metric(space, results, warm_up=20, draws=10, rng=0)
    assert all(weight.value < 0 for weight in shared.weights)


def weighing(family, space, n=3, t=4, **own):
    """Return a chart and people with random questions and answers, some of them ties."""
    rng = np.random.default_rng(7)
    chart = chart_of(Elicitation(space, family, **own)._problem.family())
    space, people = chart.family.space, []
    for i in range(n):
        sides = space.coordinates(space.sample(2 * (t + i), rng=rng))
        signs = rng.choice([1.0, -1.0, 0.0], p=[0.45, 0.45, 0.1], size=t + i)
        people.append(Person(sides[: t + i], sides[t + i :], signs, 0.05 + 0.02 * i))
    return chart, people


COMPILED = [
    ("linear", "binary", {}),
    ("ratio", "diagonal", {}),
    ("linear", "confusion", {}),
    ("ratio", "confusion", {}),
    ("polynomial", "rate", {}),
    ("quadratic", "rate", {"sparse": True}),
]


@pytest.mark.parametrize(("family", "name", "own"), COMPILED)
def test_compiled_loops_find_the_same_probabilities(family, name, own, spaces):
    chart, people = weighing(family, spaces[name], t=10, **own)
    both, rng = People(chart, people), np.random.default_rng(1)
    states = 1.5 * rng.normal(size=(50, 3, both.size))
    assert both.asked is not None
    compiled, both.asked = both.log_answers(states), None
    np.testing.assert_allclose(compiled, both.log_answers(states), rtol=1e-8, atol=1e-8)


def test_compiled_normal_quantiles():
    chances = np.concatenate([np.geomspace(1e-10, 0.4, 50), np.linspace(0.05, 0.999, 200)])
    found = [normal_quantile(p) for p in chances]
    np.testing.assert_allclose(found, norm.ppf(chances), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("family", "name"), [("ratio", "diagonal"), ("linear", "confusion"), ("polynomial", "rate")]
)
def test_sweeps_and_new_answers_leave_the_prior(family, name, spaces):
    """Geweke 2004: answers drawn from the states, and states moved given the answers, by turns.

    Differences of states that the chain itself moves, which no past ones are, give |z| above 8.
    """
    chart, people = weighing(family, spaces[name])
    rng = np.random.default_rng(4)
    chains = PeopleChains(chart, people, rng, chains=4)  # the first draws the answers
    chains.compiled_sweeps = 5
    both, seen = chains.people, []
    for _ in range(1800):
        chains._sweep(adapt=False)
        first, second = (_chances(both, chains.state[0], sign) for sign in (1.0, -1.0))
        drawn = rng.random(both.signs.shape)
        signs = np.where(drawn < first, 1.0, np.where(drawn < first + second, -1.0, 0.0))
        both.signs[:] = np.where(np.isnan(both.signs), np.nan, signs)
        chains.current = both.log_answers(chains.state)
        away = (chains.z - chains.center[:, None]) / chains.spread[:, None, chart.of]
        law = np.concatenate(
            [
                chains.center[0] / chart.center_scale,
                (np.log(chains.spread[0] / chart.spread_scale) - np.log(0.5)) / 0.8,
                away[0, 0],
                chains.state[0, 0, chart.dim :],
            ]
        )
        seen.append(np.concatenate([law, law**2 - 1.0]))
    batches = np.array(seen).reshape(30, 60, -1).mean(axis=1)
    z = batches.mean(axis=0) / (batches.std(axis=0, ddof=1) / np.sqrt(30))
    assert np.abs(z).max() < 5.0  # about 40 t statistics of 29 degrees of freedom


def _chances(both, states, sign):
    """Return the probability (people, t) that everyone names the first side, or the second."""
    chart = both.chart
    parameters = chart.parameters(states[:, : chart.dim])
    noise = read_noise(norm.cdf(states[:, chart.dim :]), both.typical)
    margins = np.zeros(both.signs.shape)
    for i, points in enumerate(both.points):
        values, half = chart.family.values(parameters[i : i + 1], points)[0], len(points) // 2
        margins[i, :half] = values[:half] - values[half:]
    return (1.0 - said_tie(margins, noise)) * named_first(sign * margins, noise)


@pytest.mark.parametrize(
    ("family", "name"), [("linear", "confusion"), ("ratio", "confusion"), ("polynomial", "rate")]
)
def test_people_with_many_weights_mix(family, name, spaces):
    """Five people of a law, 12 answers each: chains of arrays alone had an R-hat above 1.1."""
    rng = np.random.default_rng(11)
    chart = chart_of(Elicitation(spaces[name], family)._problem.family())
    space, people = chart.family.space, []
    center = 0.7 * chart.center_scale * rng.normal(size=chart.dim)
    for z in center + 0.5 * rng.normal(size=(5, chart.dim)):
        sides = space.coordinates(space.sample(24, rng=rng))
        values = chart.family.values(chart.parameters(z[None]), sides)[0]
        margins = values[:12] - values[12:]
        slips = rng.random(12) < 0.1
        people.append(
            Person(
                sides[:12],
                sides[12:],
                np.where((margins > 0) != slips, 1.0, -1.0),
                float(np.median(np.abs(margins))),
            )
        )
    chains = PeopleChains(chart, people, rng, chains=16)
    drawn, r_hat, effective = draw_mixed(chains, 150, 150)
    assert r_hat <= 1.05
    assert effective >= 400
    held = np.quantile(drawn.spread, [0.005, 0.995], axis=(0, 1))
    assert ((held[0] < 0.5) & (held[1] > 0.5)).all()
