"""Whether votes alone identify the error rates, and which other explanations fit them as well.

An `Explanation` is another set of labels and error rates under which the votes are as probable: the
favourite is wrong on hard items, voters that copy one another have one vote together, or votes that
stand alone are right.
`identification_failures` lists in words why the error rates of a domain are not identified;
`check_consensus` tests the consensus on gold labels, and `status_of` puts both into one word.
`account_rates` are the error rates under every account where the votes cannot tell; `doubts` says
what is contradicted or not identified, for the first words of a summary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtrc, betaincinv, ndtri

from karat._typing import BoolArray, FloatArray, IntArray
from karat._validate import named
from karat.consensus.model import Model, Problem, build_problem, class_proba, labelled_errors
from karat.consensus.sampling import Draws
from karat.limits.proportions import clopper_pearson_limits
from karat.votes.agreement import Agreement, NearCopies, backing, unseen_copies
from karat.votes.em import State, fit_point, log_likelihood, starting_state
from karat.votes.patterns import VoteTable

# Shares of the votes up to which a favourite may be wrong: from near ties to all but unanimous.
_SHARES = np.linspace(0.5, 0.95, 10)


def account_rates(table: VoteTable, proba: FloatArray) -> FloatArray:
    """Return accounts × voters: the error rates under each of `account_labels`."""
    return np.asarray([labelled_errors(table, labels) for labels in account_labels(table, proba)])


def account_labels(table: VoteTable, proba: FloatArray) -> list[FloatArray]:
    """Return P(class) of each pattern if the runner-up is right wherever votes are divided.

    The accounts differ in how divided: the favourite of the consensus ``proba`` is wrong on all
    items on which it has at most such a share of the votes. Items with a gold label stay as they
    are, and so do those on which nobody disagrees.
    """
    rows = np.arange(table.n_patterns)
    favourite = proba.argmax(axis=1)
    shares = table.vote_shares()
    mine = shares[rows, favourite].copy()
    shares[rows, favourite] = 0.0
    rival = shares.argmax(axis=1)
    divided = (shares.max(axis=1) > 0) & (table.gold < 0)
    flipped = np.eye(table.n_classes)[rival]
    return [
        np.where((divided & (mine <= share + 1e-9))[:, None], flipped, proba)
        for share in (*_SHARES, 1.0)
    ]


# --- What speaks against error rates, in words that stand before them.


def doubts(
    domains: Sequence[Any],
    status: Sequence[str],
    reasons: Sequence[Sequence[str]],
    evidence: Sequence[str],
    *,
    of: str,
    unknown: str,
) -> list[str]:
    """Return what gold labels contradict, and then what is not identified, each with its reason.

    ``of`` says whose consensus it is, ``unknown`` who does not identify the rates.
    """
    parts = []
    lost = [d for d, found in enumerate(status) if found == "contradicted"]
    if lost:
        where = _where(domains, lost)
        parts.append(
            f"gold labels contradict the consensus of the {of}{where}: it is {evidence[lost[0]]}"
        )
    open_ = [d for d, found in enumerate(status) if found == "not identified"]
    if open_:
        why = " and because ".join(reasons[open_[0]])
        parts.append(
            f"{unknown} do not identify the error rates{_where(domains, open_)}, because {why}"
        )
    return parts


def _where(domains: Sequence[Any], here: Sequence[int]) -> str:
    return "" if len(domains) == 1 else f" in {named([domains[d] for d in here])}"


# --- Whether votes alone identify the error rates, and if not, why.

MIXED = 1.1  # R-hat beyond which chains have not converged to one distribution

_SPAN = 0.1  # explanations that move the rates by more than this on average compete
_WIDE = 0.5  # limits this wide on average say nothing
_OUTSIDE = 0.05  # share of pairs outside their 99 % interval at which the dependence check fails
_NO_COPIES = NearCopies((), (), ())
_APART = 0.01  # and by how much a pair has to be off for that


def identification_failures(
    table: VoteTable,
    explanations: Sequence[Explanation],
    modes: Sequence[float],
    pairs: Agreement,
    width: float,
    r_hat: float = 1.0,
    copies: NearCopies | None = None,
) -> tuple[str, ...]:
    """Return the reasons why votes alone do not identify the error rates; none if they do.

    ``modes`` holds the distances between chains that fit as well as each other, ``width`` is the
    mean width of the limits of the rates, ``r_hat`` the largest of the best model.
    """
    reasons = _of_few(table, copies)
    if not reasons and len(pairs.observed) and (pairs.observed > 1 - 1e-9).all():
        # Right together and wrong together look the same, and no model can tell them apart.
        reasons.append("no two voters ever disagree, so the votes show no error: right or copies")
    if not reasons and unseen_copies(table, copies or _NO_COPIES):
        reasons.append(
            "some voters say nearly the same, and there are too few items to look for copies: it "
            "takes 40 in common"
        )
    reasons += [
        f"the votes fit as well if {other.name}, which moves the error rates by {other.moved:.2f} "
        "on average"
        for other in explanations
        if other.competes and other.moved > _SPAN
    ]
    if modes:
        reasons.append(
            f"chains from other starts fit as well and differ by up to {max(modes):.2f} in an "
            "error rate"
        )
    if not modes and r_hat > MIXED:
        reasons.append(
            f"the chains have not mixed, even in a longer run (R-hat {r_hat:.2f}), so that their "
            "average depends on chance; raise draws="
        )
    if width > _WIDE:
        reasons.append(f"the limits are {width:.2f} wide on average, which says next to nothing")
    if _dependent(pairs):
        reasons.append(
            f"{100 * pairs_off(pairs):.0f} % of the pairs of voters agree more or less often than "
            "the best model expects of 1 %"
        )
    return tuple(reasons)


def _of_few(table: VoteTable, copies: NearCopies | None) -> list[str]:
    """Say so where fewer than three voters are left once near copies count as one."""
    distinct = table.n_voters if copies is None else copies.distinct(table.n_voters)
    if distinct >= 3:
        return []
    if copies is not None and copies.blocks:
        found = [k for k, known in zip(copies.kappa, copies.known, strict=True) if not known]
        if distinct == 1 and found:
            return [
                f"all voters say nearly the same (median agreement κ = {found[0]:.2f}): they are "
                "right or copies of one another, and votes cannot tell which"
            ]
        who = "voters of a family that was named" if all(copies.known) else "near copies"
        return [
            f"{who} count once, which leaves {distinct} distinct "
            f"voter{'s' * (distinct > 1)}, and it takes three to tell who is wrong"
        ]
    if distinct == 2:
        return ["two voters cannot tell which of them is wrong"]
    return ["one voter alone shows no error"]


def pairs_off(pairs: Agreement) -> float:
    """Return the share of pairs outside the 99 % interval of their agreement, and by .01."""
    return float(_outside(pairs).mean()) if len(pairs.z) else float("nan")


def _outside(pairs: Agreement) -> BoolArray:
    off = np.abs(pairs.z) > -ndtri(0.005)
    return np.asarray(off & (np.abs(pairs.observed - pairs.expected) > _APART))


def _dependent(pairs: Agreement) -> bool:
    """Return whether more pairs are outside their intervals than chance explains."""
    outside = _outside(pairs)
    if not outside.any():
        return False
    chance = bdtrc(float(outside.sum()) - 1, len(outside), 0.01)
    return bool(outside.mean() > _OUTSIDE and chance < 0.001)


# --- Other explanations of the same votes: other labels, and the error rates that follow.

# The favourite must have this many times the votes of its rival on hard items, or else which of the
# two is right there is open, even where votes do not show hard items beyond doubt.
_CLOSE = 1.5
# Where fewer of the votes for a class have half of the other voters with them, voters who see a
# rare class may be right and those who miss it wrong, though the consensus says the reverse.
_BACKED = 0.5
LONE_VOTES = "votes for a class are right even where they stand alone"


@dataclass(frozen=True, slots=True)
class Explanation:
    """One explanation of the votes: how often each voter is wrong, and what the labels are."""

    name: str
    rates: FloatArray  # voters
    label_proba: FloatArray  # patterns × classes
    moved: float  # how far it moves the error rates, on average
    competes: bool = True  # whether it can make the rates not identified, or widens limits only


def rival_labels(problem: Problem, component_proba: FloatArray) -> FloatArray:
    """Return the labels if, on hard items, the runner-up is right and not the favourite.

    A model with easy and hard items may swap the classes of its hard components and predict every
    vote as before: only the prior, that voters are mostly right, speaks against it. So what the
    votes leave open is whether the favourite or its strongest rival is right on hard items.
    Items with a gold label stay as they are.
    """
    table = problem.table
    proba = class_proba(problem, component_proba)
    hard = component_proba.reshape(len(proba), table.n_classes, -1)[:, :, 1].sum(axis=1)
    hard = np.where(table.gold >= 0, 0.0, hard)[:, None]
    rows = np.arange(len(proba))
    votes = table.vote_shares()
    votes[rows, proba.argmax(axis=1)] = -1
    rival = np.zeros_like(proba)
    rival[rows, votes.argmax(axis=1)] = 1.0
    return np.asarray((1 - hard) * proba + hard * rival)


def rival_is_close(problem: Problem, draws: Draws) -> bool:
    """Whether, on hard items, the favourite of some chain has few votes more than its rival."""
    table = problem.table
    rows = np.arange(table.n_patterns)
    for component_proba in draws.label_proba:
        proba = class_proba(problem, component_proba)
        hard = component_proba.reshape(len(rows), table.n_classes, -1)[:, :, 1].sum(axis=1)
        votes = table.vote_shares()
        favourite = votes[rows, proba.argmax(axis=1)].copy()
        votes[rows, proba.argmax(axis=1)] = -1
        weight = hard * table.count
        if weight @ favourite < _CLOSE * (weight @ votes.max(axis=1)):
            return True
    return False


def rival_explanation(problem: Problem, draws: Draws) -> tuple[Explanation, FloatArray]:
    """Return the explanation that the favourite is wrong on hard items, and its shifts by chain.

    Chains may sit on modes of their own, whose average would be none of them; the explanation is
    that of the chain whose rates move most.
    """
    shifts, labels = [], []
    for proba, state in zip(draws.label_proba, draws.last_states, strict=True):
        share = _share_left_open(problem, state)
        known = class_proba(problem, proba)
        labels.append(share * rival_labels(problem, proba) + (1 - share) * known)
        before = labelled_errors(problem.table, known)
        moved_by = labelled_errors(problem.table, labels[-1]) - before
        shifts.append(np.nan_to_num(moved_by))  # a voter that cast no vote is not moved
    moved = [_mean_shift(problem.table, shift) for shift in shifts]
    most = int(np.argmax(moved))
    rates = np.clip(draws.rates[most].mean(axis=0) + shifts[most], 0, 1)
    name = "the favourite is wrong on the hard items"
    return Explanation(name, rates, labels[most], moved[most]), np.array(shifts)


def _share_left_open(problem: Problem, state: State) -> float:
    """Return the largest share of hard items on which the favourite may be wrong.

    All of them without gold labels on hard items; with some, what these allow.
    """
    table = problem.table
    labelled = table.gold >= 0
    if not labelled.any():
        return 1.0
    proba = _blind(problem, state)[labelled]
    favourite = class_proba(problem, proba).argmax(axis=1)
    hard = proba.reshape(len(proba), table.n_classes, -1)[:, :, 1].sum(axis=1)
    weight = hard * table.count[labelled]
    right = float(weight[favourite == table.gold[labelled]].sum())
    return _largest_share(float(weight.sum()) - right, right)


def _blind(problem: Problem, state: State) -> FloatArray:
    """Return P(component) of every pattern from its votes, as if none had a gold label."""
    return log_likelihood(replace(problem, table=problem.table.without_gold()), state)[1]


def _largest_share(wrong: float, right: float) -> float:
    """Return the upper 97.5 % limit of a share, from a uniform prior; 1 if nothing was seen."""
    return float(betaincinv(1 + wrong, 1 + right, 0.975)) if wrong + right > 1 else 1.0


def blind_proba(problem: Problem, draws: Draws) -> FloatArray:
    """Return P(class) of every pattern from its votes, as if none had a gold label."""
    states = draws.last_states
    each = [class_proba(problem, _blind(problem, state)) for state in states]
    return np.asarray(np.mean(each, axis=0))


def clustered_explanation(
    table: VoteTable, parent: IntArray, mean: FloatArray, consensus: FloatArray
) -> Explanation:
    """Return the explanation in which voters that copy one another have one vote together.

    ``mean`` and ``consensus`` are the rates and the blind label probabilities of the models. Gold
    labels on items on which the two disagree limit how far this explanation may hold.
    """
    root = np.arange(table.n_voters)
    for _ in range(table.n_voters):
        above = np.where(parent[root] >= 0, parent[root], root)
        if (above == root).all():
            break
        root = above
    together = _one_vote_each(table.heard, np.unique(root, return_inverse=True)[1])
    few = build_problem(Model("clusters"), together)
    state, _, proba = fit_point(few, starting_state(few, together.vote_shares()))
    mine = consensus.argmax(axis=1)
    theirs = _blind(few, state).argmax(axis=1)
    decisive = table.count * ((table.gold >= 0) & (mine != theirs))
    share = _largest_share(
        float(decisive[theirs == table.gold].sum()), float(decisive[mine == table.gold].sum())
    )
    name = "voters who copy one another have one vote together"
    return _shared_out(table, name, mean, proba, share)


def lone_votes_explanation(
    table: VoteTable, mean: FloatArray, consensus: FloatArray
) -> Explanation | None:
    """Return the explanation in which votes for a class are right though they stand alone.

    Only of two classes, and only where the votes for one of them mostly stand alone: the consensus
    then takes them for false alarms, and as well may the others have missed that class. Gold labels
    on items on which the two disagree limit how far this explanation may hold. It widens the
    limits, and does not compete: whether a class is rare or seldom seen, votes never show.
    """
    shared = np.nan_to_num(backing(table), nan=1.0)
    if table.n_classes != 2 or shared.min() >= _BACKED:
        return None
    rare = int(shared.argmin())
    seen = table.vote_shares()[:, rare] > 0
    proba = np.where(seen[:, None], np.eye(2)[rare], consensus)
    decisive = table.count * ((table.gold >= 0) & seen & (consensus.argmax(axis=1) != rare))
    share = _largest_share(
        float(decisive[table.gold == rare].sum()), float(decisive[table.gold != rare].sum())
    )
    return replace(_shared_out(table, LONE_VOTES, mean, proba, share), competes=False)


def _shared_out(
    table: VoteTable, name: str, mean: FloatArray, proba: FloatArray, share: float
) -> Explanation:
    """Return the explanation that holds on a share of the items, as far as gold labels allow."""
    rates = mean + share * np.nan_to_num(labelled_errors(table, proba) - mean)
    return Explanation(name, rates, proba, _mean_shift(table, rates - mean))


def _one_vote_each(table: VoteTable, cluster: IntArray) -> VoteTable:
    """Return the votes of clusters: what most of a cluster says; a tie is no vote."""
    cast = table.outcome < table.n_classes
    n = int(cluster.max()) + 1
    key = table.pattern_of_vote[cast] * n + cluster[table.voter[cast]]
    ballot, at = np.unique(key, return_inverse=True)
    votes = np.zeros((len(ballot), table.n_classes))
    np.add.at(votes, (at, table.outcome[cast]), 1.0)
    top = np.sort(votes, axis=1)
    decided = top[:, -1] > top[:, -2]
    pattern, voter = np.divmod(ballot[decided], n)
    return replace(
        table,
        start=np.searchsorted(pattern, np.arange(table.n_patterns + 1)).astype(np.int64),
        voter=voter.astype(np.int64),
        outcome=votes[decided].argmax(axis=1).astype(np.int64),
        n_voters=n,
        n_outcomes=table.n_classes,
    )


def _mean_shift(table: VoteTable, shift: FloatArray) -> float:
    """Return the average size of a shift over the votes cast."""
    voted = table.votes_cast > 0
    return float(np.average(np.abs(shift[voted]), weights=table.votes_cast[voted]))


# --- What a random sample of gold labels says of the consensus: an exact test.

_MANY = 5_000  # gold labels beyond which events of one chance are taken together
_FEWEST = 10  # gold labels below which nothing is tested
_LEVEL = 0.05  # chance of a contradiction if the consensus is as sure as it should be


class GoldTest(NamedTuple):
    """How often the consensus is wrong on gold labels, beside how often it says it is.

    ``p_value`` is the chance of so many errors or more if the consensus is right as often as it
    says; ``highest`` is the upper 95 % limit (one-sided, exact) of how often it is wrong.
    """

    labels: int
    wrong: int
    claimed: float
    p_value: float
    highest: float

    def __str__(self) -> str:
        return (
            f"wrong on {self.wrong} of {self.labels} gold labels where it claims "
            f"{self.labels * self.claimed:.1f} (exact p = {self.p_value:.2g}; so many labels "
            f"exclude only that it is wrong on more than {100 * self.highest:.0f} %)"
        )


def check_consensus(
    gold: IntArray, count: FloatArray, blind: FloatArray, slack: float
) -> GoldTest | None:
    """Test P(class) of each pattern, from votes alone, on the labelled items; None with too few.

    ``gold`` is the class of each pattern, -1 where it is not known, and ``count`` its number of
    items; ``blind`` has seen no label. The consensus may be wrong on a share ``slack`` of the items
    beyond what it says. Given the items, its errors are independent with known chances, so that the
    tail is exact.
    """
    labelled = gold >= 0
    count, gold = count[labelled], gold[labelled]
    if count.sum() < _FEWEST or np.abs(count - np.round(count)).max(initial=0.0) > 1e-9:
        return None
    times = np.round(count).astype(np.int64)
    proba = blind[labelled]
    favourite = proba.argmax(axis=1)
    chance = np.minimum(1.0, 1 - proba.max(axis=1) + slack)
    wrong = int(times @ (favourite != gold))
    n = int(times.sum())
    p_value = poisson_binomial_tail(chance, wrong, times)
    highest = float(clopper_pearson_limits(wrong, n, 0.05)[1])
    return GoldTest(n, wrong, float(times @ chance) / n, p_value, highest)


def poisson_binomial_tail(chance: FloatArray, least: int, times: IntArray | None = None) -> float:
    """Return P(at least so many of independent events), by exact convolution.

    ``times`` says how many events have each chance. Of very many events those of one chance are
    taken together as a binomial variable, and the convolutions are made by Fourier transforms, to
    about 1e-14.
    """
    if times is None or times.sum() <= _MANY:
        pmf = np.ones(1)
        for p in chance if times is None else np.repeat(chance, times):
            pmf = np.append(pmf * (1 - p), 0.0) + np.append(0.0, pmf * p)
        return float(min(1.0, pmf[least:].sum()))
    from scipy.signal import fftconvolve

    start, pmf = 0, np.ones(1)
    for p, n in zip(chance.tolist(), times.tolist(), strict=True):
        low, part = _binomial(p, n)
        start, pmf = start + low, fftconvolve(pmf, part)
    return float(np.clip(pmf[max(least - start, 0) :].sum(), 0.0, 1.0))


def _binomial(p: float, n: int) -> tuple[int, FloatArray]:
    """Return the law of a binomial variable where it is not 0 to the last digit, and its start."""
    from scipy.special import gammaln, xlog1py, xlogy

    reach = 40 * np.sqrt(n * p * (1 - p)) + 40
    low, high = max(0, int(n * p - reach)), min(n, int(n * p + reach) + 1)
    k = np.arange(low, high + 1, dtype=np.float64)
    log = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + xlogy(k, p) + xlog1py(n - k, -p)
    weight = np.exp(log - log.max())
    return low, weight / weight.sum()


def status_of(reasons: tuple[str, ...], test: GoldTest | None) -> str:
    """Return what votes and labels together say of the consensus.

    Labels that do not contradict it confirm it only if they exclude that it is wrong much more
    often than it says: too few labels notice nothing, and then the status is that of the votes.
    """
    if test is not None and test.p_value < _LEVEL:
        return "contradicted"
    if test is not None and test.highest <= test.claimed + _SPAN:
        return "confirmed"
    return "not identified" if reasons else "consistent"
