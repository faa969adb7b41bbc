"""Every procedure with every strategy: asking, telling, undoing, resuming, and what comes out."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from karat.datasets import LogisticLaw
from karat.elicit import (
    BinarySpace,
    ConfusionSpace,
    DiagonalSpace,
    Elicitation,
    MetricOracle,
    load_transcript,
)
from karat.elicit._problems import LinearBinary
from karat.elicit.asking import Effort
from karat.exceptions import ContradictionWarning, NotIdentifiedWarning
from karat.metrics import (
    LinearMetric,
    PowerMeanMetric,
    accuracy,
    cost_matrix,
    f_beta,
    g_mean,
    jaccard,
    weighted_accuracy,
)

KINDS = [
    ("linear", "binary"),
    ("ratio", "binary"),
    ("linear", "diagonal"),
    ("ratio", "diagonal"),
    ("monotone", "diagonal"),
    ("linear", "confusion"),
    ("linear", "rate"),
    ("ratio", "confusion"),
    ("ratio", "rate"),
]
# Those that find signs of weights by themselves: they take no orientation.
SLOPES = [
    ("quadratic", "odds"),
    ("polynomial", "odds"),
    ("linear", "groups"),
    ("quadratic", "groups"),
]
STRATEGIES = ["active", "bisection", "corrected"]
ALL = [(*kind, strategy) for kind in KINDS for strategy in STRATEGIES]
IDS = [f"{kind} {name} {strategy}" for kind, name, strategy in ALL]
# A space of rates differs from one of errors in its scale only: it is left out where that is all.
MOST = [case for case in ALL if case[1] != "rate"]
MOST_IDS = [f"{kind} {strategy}" for kind, _, strategy in MOST]
SLOPED = [(*kind, strategy) for kind in SLOPES for strategy in STRATEGIES]
SLOPED_IDS = [f"{kind} {strategy}" for kind, _, strategy in SLOPED]
ANSWERS = ["first", "second", "tie", "skip"]
DOCTOR = cost_matrix([[0, 1], [4, 0]])


@pytest.fixture(autouse=True, scope="module")
def few_of_everything():
    """Enough for what is compared here, which is mostly one run with another of the same."""
    with pytest.MonkeyPatch.context() as patch:
        effort = Effort(
            particles=150, draws=150, candidates=200, pool=150, panel=100, kept=40, boundary=40
        )
        patch.setattr(Elicitation, "effort", effort)
        yield


def quiet_result(procedure):
    """Return the result; answers drawn at random do contradict each other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContradictionWarning)
        warnings.simplefilter("ignore", NotIdentifiedWarning)
        return procedure.result


def ask_all(procedure, oracle):
    """Ask an oracle until nothing is left to ask; return the result without its warnings."""
    while (query := procedure.ask()) is not None:
        procedure.tell(oracle(query))
    return quiet_result(procedure)


def tell_all(procedure, answers):
    """Answer until the answers or the questions end."""
    for answer in answers:
        if procedure.ask() is None:
            break
        procedure.tell(answer)


def assert_same(one, other):
    """Compare two procedures: what they ask next, and all that they know."""
    assert one.ask() == other.ask()
    assert one.answers == other.answers
    assert one.finished == other.finished
    assert one.transcript == other.transcript
    a, b = quiet_result(one), quiet_result(other)
    assert a.metric == b.metric
    assert a.weights == b.weights
    assert a == b
    assert a.to_dict() == b.to_dict()


def values_of(metric, tables):
    """Return the values of confusions, which metrics of groups take one at a time."""
    return np.array([metric(table) for table in tables])


@pytest.mark.parametrize(("family", "name", "strategy"), ALL + SLOPED, ids=IDS + SLOPED_IDS)
@given(
    answers=st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=9),
    cut=st.integers(0, 9),
    back=st.integers(1, 9),
    orientation=st.sampled_from(["increasing", "decreasing", "ask"]),
    seed=st.one_of(st.none(), st.integers(0, 2**63 - 1)),
)
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_resumed_undone_and_read_back(
    family, name, strategy, answers, cut, back, orientation, seed, spaces
):
    """However a state was reached, it is the same state."""
    space = spaces[name]
    if (family, name) in SLOPES:
        orientation = "increasing"
    options = {"strategy": strategy, "orientation": orientation, "max_queries": 11}
    whole = Elicitation(space, family, rng=seed, **options, agreement=1.0)
    tell_all(whole, answers)

    # Stopped on the way, written down, read back, gone on.
    part = Elicitation(space, family, rng=whole.seed, **options, agreement=1.0)
    tell_all(part, answers[:cut])
    text = part.transcript.to_json()
    assert load_transcript(text) == part.transcript
    assert load_transcript(json.loads(text)) == part.transcript
    resumed = Elicitation.resume(space, text)
    assert resumed.ask() == part.ask()
    tell_all(resumed, answers[cut:])
    assert_same(resumed, whole)

    # Taken back and said again; asking twice is asking once.
    back = min(back, len(part.answers) or 1)
    if part.answers:
        said = part.answers[-back:]
        part.undo(back)
        assert part.ask() is part.ask()
        tell_all(part, said)
    tell_all(part, answers[cut:])
    assert_same(part, whole)


@pytest.mark.parametrize(
    ("family", "name", "strategy", "orientation"),
    [(*case, "increasing") for case in MOST + SLOPED]
    + [(*case, "ask") for case in MOST if case[2] == "active"],
)
def test_a_result_is_there_at_any_time(family, name, strategy, orientation, spaces):
    """Before the first answer, after each, and it is honest about its limits."""
    space = spaces[name]
    procedure = Elicitation(
        space, family, strategy=strategy, orientation=orientation, rng=1, agreement=1.0
    )
    silent = Elicitation(
        space, family, strategy=strategy, orientation=orientation, rng=1, agreement=1.0
    )
    tables = procedure.question_space.sample(5, rng=0)
    for n, answer in enumerate(["first", "skip", "tie", "second", None]):
        result = quiet_result(procedure)
        assert result.n_queries == n == len(result.transcript.answers)
        assert result.strategy == strategy
        assert result.family == family
        assert not result.finished
        told = procedure._problem.predicts  # a slope at the optimum says nothing of other pairs
        assert 0 <= result.agreement <= 1 if told else np.isnan(result.agreement)
        for interval in (*result.weights, *result.ratios):
            assert interval.lower <= interval.upper
        for weight in result.weights:
            assert weight.lower <= weight.value <= weight.upper
        assert np.isfinite(values_of(result.metric, tables)).all()
        assert len(result.progress.agreement) >= 1
        assert len(result.questions.answers) == n
        assert result.draws.shape[1] == len(result.weights)
        assert (result.lapse is None) == (strategy != "active")
        json.dumps(result.to_dict())
        assert "so far" in result.summary()
        assert result.summary() in repr(result)
        if n in (0, 4):  # pictures take longest
            assert "<table" in result._repr_html_()
        if answer is not None:
            procedure.tell(answer)
            silent.tell(answer)
    assert_same(procedure, silent)  # looking has changed nothing


@pytest.mark.parametrize(("family", "name", "strategy"), MOST + SLOPED, ids=MOST_IDS + SLOPED_IDS)
def test_max_queries_is_the_most_that_is_asked(family, name, strategy, spaces):
    oracle = MetricOracle(accuracy)
    procedure = Elicitation(
        spaces[name], family, strategy=strategy, max_queries=4, rng=0, agreement=1.0
    )
    assert ask_all(procedure, oracle).n_queries == 4
    assert procedure.finished
    assert len(procedure.answers) == oracle.n_answers == 4
    assert "done" in repr(procedure)
    procedure.undo()
    assert not procedure.finished
    assert "going on" in repr(procedure)


@pytest.mark.parametrize(
    ("family", "name", "strategy"), MOST + SLOPED[:6], ids=MOST_IDS + SLOPED_IDS[:6]
)
def test_questions_are_attainable_and_of_the_population(family, name, strategy, spaces):
    """Some classifier attains each side; only the thesis asks about two that are the same."""
    space = spaces[name]
    procedure = Elicitation(space, family, strategy=strategy, rng=0, agreement=1.0, max_queries=24)
    oracle = MetricOracle(accuracy)
    same = 0
    while (query := procedure.ask()) is not None:
        for side in (query.first, query.second):
            assert side.shape == (space.n_classes, space.n_classes)
            assert np.allclose(side.sum(axis=1), space.prior, atol=1e-7)
            assert side.min() > -1e-9
            if len(procedure.answers) in (0, 15):
                assert space.contains(space.coordinates(side), tol=1e-7)
        same += query.identical
        procedure.tell(oracle(query))
    if strategy != "corrected":
        assert same == 0


# --- how many questions


def counted(procedure, metric):
    oracle = MetricOracle(metric)
    result = ask_all(procedure, oracle)
    assert result.n_queries == oracle.n_answers
    assert result.finished
    return result.n_queries


def test_counts_of_binary_linear(binary):
    """Section 3.6.1: 4·⌈log₂(π/2/0.02)⌉ = 28 and one for the orientation."""
    assert counted(Elicitation(binary, strategy="published", orientation="ask"), DOCTOR) == 29
    assert (
        counted(Elicitation(binary, strategy="published", orientation="ask", tol=0.02), DOCTOR)
        == 29
    )
    assert counted(Elicitation(binary, strategy="bisection"), DOCTOR) <= 8


@pytest.mark.parametrize(
    ("slopes", "thesis", "bisection"), [([1, 3, 5], 56, 12), ([1, 3, 6, 10], 84, 18)]
)
def test_counts_of_diagonal_linear(slopes, thesis, bisection):
    """Section 4.6.1 for three and four classes."""
    space = DiagonalSpace.from_density(LogisticLaw(slopes).proba, n_points=301)
    k, rng = len(slopes), np.random.default_rng(0)
    for weights in (np.ones(k), rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k))):
        for strategy, most in (("published", thesis), ("bisection", bisection)):
            procedure = Elicitation(space, strategy=strategy)
            count = counted(procedure, weighted_accuracy(weights))
            assert count == most if strategy == "published" else count <= most


@pytest.mark.parametrize("k", [3, 4])
def test_counts_of_linear(k):
    """Section 4.6.2: 320 and 704 of Algorithm 4.2, and one question a halving for a sweep."""
    slopes = [1, 3, 5] if k == 3 else [1, 3, 6, 10]
    space = ConfusionSpace.from_density(LogisticLaw(slopes).proba, n_points=201)
    space.radius = 0.003  # no count depends on it, and it takes its time for four classes
    rng = np.random.default_rng(k)
    metric = cost_matrix(np.abs(rng.normal(size=(k, k))) * (1 - np.eye(k)))
    assert counted(Elicitation(space, strategy="published"), metric) == (320 if k == 3 else 704)
    assert counted(Elicitation(space, strategy="bisection"), metric) <= (40 if k == 3 else 88)


# --- what comes out


@given(angle=st.floats(0.03, np.pi / 2 - 0.03))
@settings(max_examples=30, deadline=None)
def test_bisection_recovers_any_trade_off(binary, angle):
    """Within half a width of the bracket."""
    truth = LinearMetric([[np.sin(angle), 0], [0, np.cos(angle)]])
    result = Elicitation(binary, strategy="bisection", rng=0).run(MetricOracle(truth))
    found = result.metric.weights
    assert abs(np.arctan2(found[0, 0], found[1, 1]) - angle) <= 0.01 + 1e-9
    ratio = result.ratios[0]
    assert ratio.lower * 0.98 <= 1 / np.tan(angle) <= ratio.upper * 1.02
    assert result.ratios[0].name == "a missed 1 against a false 1"
    assert ratio.value == pytest.approx(found[1, 1] / found[0, 0])


@pytest.mark.parametrize(
    "weights", [[0.4, 0.3, 0.3], [0.05, 0.15, 0.8], [0.1, 0.35, 0.55], [0.15, 0.25, 0.6]]
)
def test_bisection_recovers_weights_also_where_the_first_is_light(diagonal, weights):
    """Half a width for each of two ratios, against whichever class they are measured."""
    procedure = Elicitation(diagonal, strategy="bisection")
    result = procedure.run(MetricOracle(weighted_accuracy(weights)))  # and nothing to warn of
    assert np.abs(result.metric.weights.diagonal() - weights).max() <= 0.01
    for interval, weight in zip(result.weights, weights, strict=True):
        assert interval.lower - 0.002 <= weight <= interval.upper + 0.002
        assert interval.upper - interval.lower < 0.05


def test_a_light_first_class_does_not_blow_up_the_error():
    """Three classes around a circle, told apart well: ratios to a light class say little."""
    x = np.stack(np.meshgrid(*[np.linspace(-3, 3, 25)] * 2), axis=-1).reshape(-1, 2)
    turn = 2 * np.pi * np.arange(3) / 3
    odds = np.exp(2 * x @ np.stack([np.cos(turn), np.sin(turn)]))
    space = DiagonalSpace.from_calibrated(odds / odds.sum(axis=1, keepdims=True))
    rng, worst = np.random.default_rng(0), 0.0
    for light in rng.uniform(0.005, 0.03, 20):
        weights = np.append(light, (1 - light) * rng.dirichlet([2, 2]))
        procedure = Elicitation(space, strategy="bisection")
        result = ask_all(procedure, MetricOracle(weighted_accuracy(weights)))
        worst = max(worst, np.abs(result.metric.weights.diagonal() - weights).max())
    assert worst <= 0.015


@given(seed=st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_bisection_recovers_any_cost_of_errors(errors, seed):
    """Every angle within half a width: ℓ₂ error at most √5 · 0.005 and what is of second order."""
    rng = np.random.default_rng(seed)
    costs = np.abs(rng.normal(size=(3, 3))) * (1 - np.eye(3))
    costs /= np.linalg.norm(costs)
    result = Elicitation(errors, strategy="bisection").run(MetricOracle(cost_matrix(costs)))
    assert np.linalg.norm(result.metric.weights + costs) < np.sqrt(5) * 0.005 + 5e-4
    assert result.metric.weights.diagonal().tolist() == [0, 0, 0]


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("strategy", ["bisection", "published"])
def test_f_measures_are_found_as_an_order(binary, beta, strategy, rank_correlation):
    """F_β on confusions inside the set; only the order can be known."""
    truth = f_beta(beta)
    result = ask_all(Elicitation(binary, "ratio", strategy=strategy), MetricOracle(truth))
    share = np.random.default_rng(0).uniform(0, 1, (300, 1, 1))
    tables = share * binary.sample(300, rng=0) + (1 - share) * binary.confusion(binary.center)
    tau = rank_correlation(result.metric, truth, tables)
    assert tau > (0.99 if strategy == "bisection" else 0.9)


def test_f1_and_jaccard_are_one_and_the_same(binary):
    """They rank alike, so nobody can tell which of the two a person has in mind."""
    results = [
        Elicitation(binary, "ratio", strategy="bisection").run(MetricOracle(metric))
        for metric in (f_beta(1), jaccard)
    ]
    assert results[0].metric == results[1].metric


@given(seed=st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_bisection_recovers_any_ratio_of_errors(errors, draw_confusions, seed):
    """Kendall's τ of at least 0.97 on mixtures of all kinds of classifiers."""
    rng = np.random.default_rng(seed)
    truth = errors.ratio_metric(*np.abs(rng.normal(size=(2, 6))))
    result = Elicitation(errors, "ratio", strategy="bisection", tol=0.001).run(MetricOracle(truth))
    tables = draw_confusions(errors, 200, rng)
    assert kendalltau(result.metric(tables), truth(tables)).statistic > 0.97


def test_g_mean_is_found_at_its_optimum(diagonal):
    """The weighted accuracy that is elicited has a best classifier that is best for G-mean."""
    best = max(g_mean(diagonal.sample(20_000, rng=0)))
    result = ask_all(Elicitation(diagonal, "monotone", strategy="bisection"), MetricOracle(g_mean))
    found = g_mean(diagonal.boundary(result.metric.weights.diagonal()))
    assert found > best - 0.01


@pytest.mark.parametrize(("family", "name"), KINDS)
@pytest.mark.parametrize("strategy", ["bisection", "published"])
def test_someone_who_never_slips_does_not_contradict_themselves(family, name, strategy, spaces):
    """Answers by a metric of the family, all of them as meant."""
    space = spaces[name]
    rng = np.random.default_rng(0)
    good, bad = rng.uniform(0.5, 1.5, (2, space.dim))
    truth = space.ratio_metric(good, bad) if family == "ratio" else space.linear_metric(good)
    procedure = Elicitation(space, family, strategy=strategy, tol=0.02)
    assert ask_all(procedure, MetricOracle(truth)).contradictions == ()


@pytest.mark.parametrize(("family", "name", "strategy"), MOST, ids=MOST_IDS)
def test_someone_who_likes_errors(family, name, strategy, spaces):
    """Appendix A.4: ``ask`` finds out, ``decreasing`` is told; both find the mirror image."""
    space = spaces[name]
    truth, mirror = MetricOracle(LinearMetric(-np.eye(space.n_classes))), MetricOracle(accuracy)
    most = 6 if strategy == "active" else None
    options = {"strategy": strategy, "rng": 3, "agreement": 1.0, "tol": 0.2}
    straight = Elicitation(space, family, max_queries=most, **options)
    turned = Elicitation(space, family, max_queries=most, **options, orientation="decreasing")
    asked = Elicitation(space, family, max_queries=most and most + 1, **options, orientation="ask")
    for procedure, oracle in ((straight, mirror), (turned, truth), (asked, truth)):
        ask_all(procedure, oracle)
    tables = space.sample(40, rng=0)
    up, down, found = (quiet_result(p).metric(tables) for p in (straight, turned, asked))
    assert np.array_equal(down, found)
    assert np.array_equal(np.argsort(up), np.argsort(-down))
    assert asked.answers[0] == "second"
    assert asked.answers[1:] == turned.answers
    for a, b in zip(quiet_result(straight).ratios, quiet_result(turned).ratios, strict=True):
        assert a.value == pytest.approx(b.value)


# --- what must not matter


def test_rows_in_another_order_lead_to_the_same_metric():
    law = LogisticLaw([-4, 1, 5])
    x, y = law.sample(300, rng=0)
    order = np.random.default_rng(1).permutation(300)
    oracle = MetricOracle(weighted_accuracy([0.3, 0.4, 0.3]))
    for strategy in ("active", "bisection"):
        results = []
        for rows in (np.arange(300), order):
            space = DiagonalSpace.from_proba(y[rows], law.proba(x)[rows])
            procedure = Elicitation(space, strategy=strategy, rng=0, max_queries=10)
            results.append(ask_all(procedure, oracle))
        assert results[0].transcript.answers == results[1].transcript.answers
        assert np.allclose(results[0].metric.weights, results[1].metric.weights, atol=1e-9)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_weights_are_copies(seed):
    rng = np.random.default_rng(seed)
    law = LogisticLaw.binary(4.0)
    x, y = law.sample(150, rng=rng)
    score, weight = law.proba(x)[:, 1], rng.integers(0, 4, 150)
    again = np.repeat(np.arange(150), weight)
    spaces = (
        BinarySpace.from_scores(y, score, sample_weight=weight),
        BinarySpace.from_scores(y[again], score[again]),
    )
    oracle = MetricOracle(DOCTOR)
    results = [ask_all(Elicitation(s, strategy="bisection"), oracle) for s in spaces]
    assert np.allclose(results[0].metric.weights, results[1].metric.weights, atol=1e-9)


@pytest.mark.parametrize("order", [[2, 0, 1], [1, 0, 2]])
def test_classes_in_another_order_permute_the_metric(order):
    """Up to the tolerance: the searches begin at another class."""
    law = LogisticLaw([-4, 1, 5])
    x = np.linspace(-1, 1, 301)
    proba = law.proba(x)
    names = np.array(["bird", "cat", "dog"])
    weights = np.array([0.25, 0.4, 0.35])
    found = {}
    for space in (DiagonalSpace, ConfusionSpace):
        for columns in (np.arange(3), np.array(order)):
            made = space.from_calibrated(proba[:, columns], classes=names[columns])
            costs = np.outer(weights, [1, 2, 3]) * (1 - np.eye(3))
            truth = (
                weighted_accuracy(weights[columns])
                if space is DiagonalSpace
                else cost_matrix(costs[np.ix_(columns, columns)])
            )
            made.radius = 0.003  # no need to look for a larger one
            result = ask_all(Elicitation(made, strategy="bisection"), MetricOracle(truth))
            found[space, tuple(columns)] = result.metric.weights
            assert all(any(n in w.name for n in names) for w in result.weights)
        one = found[space, (0, 1, 2)][np.ix_(order, order)]
        assert np.allclose(one, found[space, tuple(order)], atol=0.02)


def test_text_labels_appear_in_the_words():
    law = LogisticLaw.binary(4.0)
    x, y = law.sample(200, rng=0)
    text = np.array(["ham", "spam"])[y]
    space = BinarySpace.from_scores(text, law.proba(x)[:, 1])
    procedure = Elicitation(space, rng=0, max_queries=5)
    procedure.run(MetricOracle(accuracy))
    result = procedure.result
    assert [w.name for w in result.weights] == ["right about spam", "right about ham"]
    assert result.ratios[0].name == "a missed spam against a false spam"
    assert "spam" in result.summary()
    assert result.transcript.space["classes"] == ["ham", "spam"]


def test_the_same_seed_the_same_questions(errors):
    runs = []
    for seed in (0, 0, 1, np.random.default_rng(5), np.random.default_rng(5)):
        procedure = Elicitation(errors, rng=seed, max_queries=3, agreement=1.0)
        tell_all(procedure, ["first"] * 3)
        runs.append(procedure.transcript)
    assert runs[0] == runs[1] != runs[2]
    assert runs[3] == runs[4]
    free = [Elicitation(errors).seed for _ in range(2)]
    assert free[0] != free[1]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_making_a_procedure_computes_nothing(strategy, binary, monkeypatch):
    """What the first question needs is computed by the first `ask`."""

    def refuse(*_):
        raise AssertionError("computed too soon")

    with monkeypatch.context() as patch:
        for name in ("family", "first_brackets", "bisection", "published"):
            patch.setattr(LinearBinary, name, refuse)
        procedure = Elicitation(binary, strategy=strategy, rng=0)
        assert "not begun" in repr(procedure)
    assert procedure.ask() is not None
    assert "going on" in repr(procedure)


@pytest.mark.slow
def test_a_monotone_metric_is_returned_as_the_power_mean_whose_agreement_is_stated(diagonal):
    """The agreement is that of what is returned; its tangent agrees with it at its optimum only."""
    procedure = Elicitation(diagonal, "monotone", rng=1, checks=False, max_queries=8)
    result = ask_all(procedure, MetricOracle(g_mean))
    assert procedure._problem.predicts
    assert isinstance(result.metric, PowerMeanMetric)
    tangent = procedure.tangent()
    assert isinstance(tangent, LinearMetric)
    best = diagonal.boundary(tangent.weights.diagonal())
    tables = diagonal.sample(500, rng=0)
    assert result.metric(best) >= result.metric(tables).max() - 2e-3
    # The prediction again, by hand: how often particles prefer as the metric that is returned.
    search = procedure._search
    posterior, panel = search.posterior, search.panel
    sides = [diagonal.confusion(panel.points[side]) for side in (panel.left, panel.right)]
    prefers = result.metric(sides[0]) > result.metric(sides[1])
    values = posterior.family.values(posterior.parameters, panel.points)
    same = (values[:, panel.left] > values[:, panel.right]) == prefers
    assert result.agreement == pytest.approx(posterior.shares @ same.mean(axis=1), abs=0.03)
    slopes = Elicitation(diagonal, "monotone", strategy="bisection", tol=0.5)
    assert not slopes._problem.predicts
    assert isinstance(ask_all(slopes, MetricOracle(g_mean)).metric, LinearMetric)
    assert np.isnan(slopes.result.agreement)
