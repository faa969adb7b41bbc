"""The samplers against the exact posterior of tiny data, by enumeration of all that is hidden."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from scipy.special import betaln, gammaln

from karat.consensus.model import Model, build_problem
from karat.consensus.sampling import run_chains
from karat.votes.em import State, log_likelihood

CHAINS, BURN, DRAWS = 40, 200, 800
ERRORS = ["class-conditional", "symmetric"]
NOBODY, CHAIN, SIBLINGS = None, [-1, 0, 1], [-1, 0, 0]


@dataclass
class Case:
    """Votes of a few items: -1 not asked; the outcome after the last class is an abstention."""

    votes: list
    classes: int = 2
    levels: int = 1
    parent: list | None = NOBODY
    abstains: bool = False
    gold: list | None = None
    count: list | None = None


TWO = [[0, 0, 1], [1, 1, 1], [0, 1, 0], [1, -1, 1], [0, 0, 0], [1, 1, 0]]
SILENT = [[0, 0, 1], [1, 1, 2], [2, 1, 0], [1, -1, 1], [0, 2, 0]]
FOUR = [[0, 0, 1, 0], [1, 1, 1, -1], [0, 1, 0, 0], [1, 1, 0, 1], [0, 0, 0, 0]]
THREE = [[0, 0, 1], [1, 1, 1], [2, 1, 2], [2, -1, 2], [0, 0, 0], [1, 2, 1]]
THREE_SILENT = [[0, 0, 1], [1, 3, 1], [2, 1, 2], [2, -1, 2]]
CASES = {
    "none": Case(TWO),
    "none, abstention, gold": Case(SILENT, abstains=True, gold=[-1, -1, 1, -1, -1]),
    "none, three classes": Case(THREE, classes=3),
    "none, two voters": Case([[0, 0], [0, 1], [1, 1], [1, -1]]),
    "none, repeated": Case(
        [[0, 0, 1], [1, 1, 1], [1, 0, 1], [0, 0, 0]], count=[3, 2, 1, 2], gold=[-1, -1, -1, 0]
    ),
    "none, fractions": Case([[0, 0, 1], [1, 1, 1], [1, 0, 1]], count=[2.5, 0.7, 1.3]),
    "difficulty": Case(FOUR, levels=2),
    "difficulty, abstention, gold": Case(SILENT, levels=2, abstains=True, gold=[-1, -1, 1, -1, -1]),
    "difficulty, three classes": Case(
        THREE_SILENT, classes=3, levels=2, abstains=True, gold=[-1, 1, -1, -1]
    ),
    "difficulty, fractions": Case([[0, 0, 1], [1, 1, 1], [1, 0, 1]], levels=2, count=[2.5, 1, 0.4]),
    "pairs, chain": Case(TWO[:5], parent=CHAIN),
    "pairs, siblings, abstention, gold": Case(
        SILENT, parent=SIBLINGS, abstains=True, gold=[0, -1, -1, -1, -1]
    ),
    "pairs, three classes": Case(THREE[:4], classes=3, parent=CHAIN),
    "pairs, repeated": Case([[0, 0, 1], [1, 1, 1], [1, 0, 1]], parent=CHAIN, count=[2, 2, 1]),
    "pairs and difficulty": Case(TWO[1:4], levels=2, parent=SIBLINGS),
}


def make_problem(case, errors, table_of):
    table = table_of(
        case.votes, case.classes, abstains=case.abstains, gold=case.gold, count=case.count
    )
    parent = None if case.parent is None else np.array(case.parent)
    return build_problem(Model("any", errors, case.levels, parent), table)


def log_dirichlet(prior, counts):
    """Return log of ∫ Π xᵒ^countᵒ dDirichlet(prior)."""
    return (
        gammaln(prior.sum())
        - gammaln(prior.sum() + counts.sum())
        + (gammaln(prior + counts) - gammaln(prior)).sum()
    )


def log_beta(a, b, x, y):
    return betaln(a + x, b + y) - betaln(a, b)


def items_of(case):
    """Return (row, weight) of every item: a count of 2.5 is two items and half an item."""
    items = []
    for row, count in enumerate(case.count or [1] * len(case.votes)):
        items += [(row, 1.0)] * int(count)
        if count - int(count) > 0:
            items.append((row, count - int(count)))
    return items


class Exact:
    """Posterior means by a sum over all components of the items and all hidden copies."""

    def __init__(self, case, problem):
        self.case, self.problem = case, problem
        self.votes = np.array(case.votes)
        self.items = items_of(case)
        self.rows = np.array([row for row, _ in self.items])
        self.weights = np.array([weight for _, weight in self.items])
        logs, terms = [], []
        for components in self.all_components():
            for copied in self.all_copies():
                log, term = self.term(components, copied)
                logs.append(log)
                terms.append(term)
        share = np.exp(np.array(logs) - np.max(logs))
        share /= share.sum()
        for name in terms[0]:
            value = np.tensordot(share, np.array([t[name] for t in terms]), axes=1)
            setattr(self, name, value)

    def all_components(self):
        gold = np.full(len(self.votes), -1) if self.case.gold is None else self.case.gold
        every = range(self.problem.n_components)
        return product(
            *[
                [c for c in every if gold[row] < 0 or self.problem.group[c] == gold[row]]
                for row, _ in self.items
            ]
        )

    def all_copies(self):
        """Yield (item, voter) → copied, over the votes that equal those of a parent."""
        parent = self.problem.parent
        votes = self.votes[self.rows]
        open_ones = [
            (i, j)
            for i, j in product(range(len(votes)), range(len(parent)))
            if parent[j] >= 0 and votes[i, j] >= 0 and votes[i, parent[j]] == votes[i, j]
        ]
        for chosen in product([False, True], repeat=len(open_ones)):
            copied = np.zeros(votes.shape, dtype=bool)
            for place, yes in zip(open_ones, chosen, strict=True):
                copied[place] = yes
            yield copied

    def term(self, components, copied):
        """Return the log-probability of one configuration with its conditional means."""
        problem, parent = self.problem, self.problem.parent
        votes = self.votes[self.rows]
        voters = votes.shape[1]
        size = np.zeros(problem.n_components)
        own = np.zeros((voters, problem.table.n_outcomes, problem.n_components))
        tally = np.zeros((voters, 2))
        wrong, spoke = np.zeros(voters), np.zeros(voters)
        for i, c in enumerate(components):
            weight = self.weights[i]
            size[c] += weight
            for j in range(voters):
                if votes[i, j] < 0:
                    continue
                if parent[j] >= 0 and votes[i, parent[j]] >= 0:
                    tally[j, 0 if copied[i, j] else 1] += weight
                if not copied[i, j]:
                    own[j, votes[i, j], c] += weight
                if votes[i, j] < self.case.classes:
                    spoke[j] += weight
                    wrong[j] += weight * (votes[i, j] != problem.group[c])
        log = log_dirichlet(problem.weight_prior, size)
        kappa = np.zeros(voters)
        for j in np.flatnonzero(parent >= 0):
            log += log_beta(*problem.copy_prior, *tally[j])
            kappa[j] = (problem.copy_prior[0] + tally[j, 0]) / (
                problem.copy_prior.sum() + tally[j].sum()
            )
        errors = self.symmetric if problem.model.errors == "symmetric" else self.by_class
        more, theta = errors(own)
        weight = problem.weight_prior + size
        weight /= weight.sum()
        proba = np.zeros((len(self.votes), problem.n_components))
        for row, c in zip(self.rows, components, strict=True):
            proba[row, c] += 1 / (self.rows == row).sum()
        return log + more, {
            "proba": proba,
            "theta": theta,
            "weight": weight,
            "copied": kappa,
            "finite": wrong / spoke,
            "rates": self.rate(theta, kappa, weight),
        }

    def by_class(self, own):
        prior, log = self.problem.prior, 0.0
        for j, c in product(range(len(own)), range(own.shape[2])):
            log += log_dirichlet(prior[c], own[j, :, c])
        theta = own + prior.T
        return log, theta / theta.sum(axis=1, keepdims=True)

    def symmetric(self, own):
        problem, k = self.problem, self.case.classes
        log, theta = 0.0, np.zeros(own.shape)
        for j in range(len(own)):
            silent = 0.0
            if self.case.abstains:
                quiet, spoke = own[j, k].sum(), own[j, :k].sum()
                log += log_beta(1, 1, quiet, spoke)
                silent = (1 + quiet) / (2 + quiet + spoke)
                theta[j, k] = silent
            for h in range(self.case.levels):
                some = [c for c in range(problem.n_components) if c % self.case.levels == h]
                right = sum(own[j, problem.group[c], c] for c in some)
                wrong = own[j, :k, some].sum() - right
                log += log_beta(*problem.prior[h], wrong, right) - wrong * np.log(k - 1)
                rate = (problem.prior[h, 0] + wrong) / (problem.prior[h].sum() + wrong + right)
                for c in some:
                    theta[j, :k, c] = (1 - silent) * rate / (k - 1)
                    theta[j, problem.group[c], c] = (1 - silent) * (1 - rate)
        return log, theta

    def rate(self, theta, kappa, weight):
        """Return the mean error rate, a product of independent means; NaN where it is a ratio."""
        problem, k = self.problem, self.case.classes
        copying = (problem.parent >= 0).any()
        if self.case.abstains and (copying or problem.model.errors != "symmetric"):
            return np.full(len(theta), np.nan)
        full = theta[:, :k] / theta[:, :k].sum(axis=1, keepdims=True)
        for j in problem.order:
            if problem.parent[j] >= 0:
                full[j] = kappa[j] * full[problem.parent[j]] + (1 - kappa[j]) * full[j]
        right = np.array([[full[j, problem.group[c], c] for c in range(len(weight))]
                          for j in range(len(full))])  # fmt: skip
        return 1 - right @ weight


def agrees(chain_means, exact):
    """Whether means over independent chains differ from the truth by at most 5 errors."""
    exact = np.broadcast_to(exact, chain_means.shape[1:])
    apart = np.abs(chain_means.mean(axis=0) - exact)
    error = chain_means.std(axis=0, ddof=1) / np.sqrt(len(chain_means))
    known = ~np.isnan(exact)
    return bool((apart[known] <= 5 * error[known] + 1e-9).all())


@pytest.fixture(scope="module")
def starts(world):
    """Starts drawn from the prior, so that no chain is told where the posterior is."""

    def draw(case, errors, rng):
        dependence = "difficulty" if case.levels > 1 else "none"
        law = world(
            errors, dependence, np.array(case.votes) >= 0, classes=case.classes,
            abstains=case.abstains,
        )  # fmt: skip
        copied = np.where(np.array(case.parent or [-1]) >= 0, 0.3, 0.0)
        states = [law.draw_state(rng) for _ in range(CHAINS)]
        if case.parent is None:
            return states
        return [State(s.theta, copied, s.weight) for s in states]

    return draw


@pytest.mark.slow
@pytest.mark.parametrize("errors", ERRORS)
@pytest.mark.parametrize("name", CASES)
def test_the_chains_reach_the_exact_posterior(name, errors, table_of, starts, sweep):
    case = CASES[name]
    problem = make_problem(case, errors, table_of)
    exact = Exact(case, problem)
    rng = np.random.default_rng(1)
    begin = starts(case, errors, rng)
    draws = run_chains(problem, begin, rng.spawn(CHAINS), burn=BURN, draws=DRAWS)
    whole = all(weight == 1 for _, weight in exact.items)
    if whole:
        assert agrees(draws.label_proba, exact.proba)
    assert agrees(draws.weights.mean(axis=1), exact.weight)
    assert agrees(draws.finite.mean(axis=1), exact.finite)
    assert agrees(draws.rates.mean(axis=1), exact.rates)
    states = [
        sweep(problem, state, each, BURN + DRAWS // 2)
        for state, each in zip(begin, rng.spawn(CHAINS), strict=True)
    ]
    assert agrees(np.array([s.theta[BURN:].mean(axis=0) for s in states]), exact.theta)
    assert agrees(np.array([s.copied[BURN:].mean(axis=0) for s in states]), exact.copied)


@pytest.mark.slow
@pytest.mark.parametrize("errors", ERRORS)
@pytest.mark.parametrize("dependence", ["none", "difficulty", "pairs"])
def test_equal_items_as_one_pattern_or_as_many(dependence, errors, table_of, starts):
    """Two identical items are one pattern of count 2: the same posterior."""
    options = {
        "levels": 2 if dependence == "difficulty" else 1,
        "parent": CHAIN if dependence == "pairs" else None,
    }
    one = Case([[0, 0, 1], [1, 1, 1], [0, 1, 0]], count=[2, 2, 1], **options)
    many = Case([[0, 0, 1], [0, 0, 1], [1, 1, 1], [1, 1, 1], [0, 1, 0]], **options)
    rng = np.random.default_rng(2)
    found = []
    for case in (one, many):
        problem = make_problem(case, errors, table_of)
        exact = Exact(case, problem)
        draws = run_chains(
            problem, starts(case, errors, rng), rng.spawn(CHAINS), burn=BURN, draws=DRAWS
        )
        assert agrees(draws.label_proba, exact.proba)
        assert agrees(draws.rates.mean(axis=1), exact.rates)
        assert agrees(draws.finite.mean(axis=1), exact.finite)
        found.append(exact)
    np.testing.assert_allclose(found[0].rates, found[1].rates)
    np.testing.assert_allclose(found[0].finite, found[1].finite)
    np.testing.assert_allclose(np.repeat(found[0].proba, [2, 2, 1], axis=0), found[1].proba)


@pytest.mark.parametrize("burn", [0, 250])
def test_chains_are_the_sweeps_one_after_the_other(burn, table_of, starts, sweep):
    """However the sweeps are cut into blocks, and whichever full states are kept."""
    case = CASES["pairs, siblings, abstention, gold"]
    problem = make_problem(case, "symmetric", table_of)
    begin = starts(case, "symmetric", np.random.default_rng(5))[:2]
    draws = run_chains(problem, begin, np.random.default_rng(6).spawn(2), burn=burn, draws=777)
    for chain, rng in enumerate(np.random.default_rng(6).spawn(2)):
        plain = sweep(problem, begin[chain], rng, burn + 777)
        for name in ("rates", "finite", "weights", "value"):
            np.testing.assert_array_equal(
                getattr(draws, name)[chain], getattr(plain, name)[burn:], err_msg=name
            )
        every = 777 // 16
        kept = draws.chain_states[chain]
        np.testing.assert_array_equal([s.theta for s in kept], plain.theta[burn::every])
        np.testing.assert_array_equal([s.copied for s in kept], plain.copied[burn::every])
        np.testing.assert_array_equal([s.weight for s in kept], plain.weights[burn::every])


@pytest.mark.parametrize("errors", ERRORS)
@pytest.mark.parametrize("dependence", ["none", "difficulty", [-1, 0, 1, 0]], ids=str)
def test_rates_follow_from_the_state_drawn_with_them(dependence, errors, world, sweep):
    asked = np.ones((8, 4), dtype=bool)
    asked[2, 0] = asked[5, 3] = False
    law = world(errors, dependence, asked, classes=3, abstains=True, labelled=[1])
    rng = np.random.default_rng(3)
    state = law.draw_state(rng)
    component, votes = law.draw_votes(state, rng)
    draws = sweep(law.problem(votes, component), state, rng, 20)
    for s in range(20):
        state = State(draws.theta[s], draws.copied[s], draws.weights[s])
        np.testing.assert_allclose(draws.rates[s], law.rates(state))
        np.testing.assert_allclose(state.theta.sum(axis=1), 1)


@pytest.mark.parametrize("errors", ERRORS)
@pytest.mark.parametrize("dependence", ["none", "difficulty", [-1, 0, 1, 0]], ids=str)
def test_log_likelihood_equals_a_product_over_votes(dependence, errors, world, sweep):
    asked = np.ones((8, 4), dtype=bool)
    asked[2, 0] = asked[5, 3] = asked[6, 1] = False
    law = world(errors, dependence, asked, classes=3, abstains=True, labelled=[1, 4])
    rng = np.random.default_rng(4)
    state = law.draw_state(rng)
    component, votes = law.draw_votes(state, rng)
    problem = law.problem(votes, component)
    joint = np.zeros((8, problem.n_components))
    for i, c in product(range(8), range(problem.n_components)):
        if law.labelled[i] and problem.group[c] != problem.group[component[i]]:
            continue
        joint[i, c] = state.weight[c]
        for j in np.flatnonzero(asked[i]):
            above = problem.parent[j]
            kappa = state.copied[j] if above >= 0 and asked[i, above] else 0.0
            same = votes[i, above] == votes[i, j]
            joint[i, c] *= kappa * same + (1 - kappa) * state.theta[j, votes[i, j], c]
    value, proba = log_likelihood(problem, state)
    np.testing.assert_allclose(value, np.log(joint.sum(axis=1)))
    np.testing.assert_allclose(proba, joint / joint.sum(axis=1, keepdims=True))
    # The sampler reports the value of the state that a sweep starts from.
    assert sweep(problem, state, rng, 1).value[0] == pytest.approx(value.sum())
