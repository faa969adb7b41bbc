"""One way through a study: nothing is lost, nothing counts twice, the next page is right."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import DBAPIError

from karat.studio.models import LogEntry, Note, Person, Snapshot, State
from karat.studio.services import asking, people, session


def shown(here):
    return {name: here.page[name] for name in ("first", "second", "kind", "swapped")}


def test_a_whole_study(kit, any_store):
    player = kit.Player(any_store, kit.make(any_store), ratio=6.0, flip=0.1)
    phases = []
    while (here := player.here).phase != "done":
        if here.phase not in phases:
            phases.append(here.phase)
        assert player.send().accepted
    assert phases == [
        "consent", "questionnaire", "task", "figure", *asking.QUIZ_PHASES, "comparison",
        "evaluation", "guess", "post",
    ]  # fmt: skip
    log = player.log()
    assert [entry.seq for entry in log] == list(range(len(log)))
    assert sum(entry.phase == "evaluation" for entry in log) == 15
    assert people.get(any_store, player.person.id).finished_at is not None
    assert not player.send().accepted  # nothing comes after the end


@pytest.mark.parametrize(("order", "first"), [("before", "guess"), ("after", "comparison")])
def test_when_the_guess_is_asked_for(kit, store, order, first):
    player = kit.Player(store, kit.make(store, guess=order))
    player.go_to("dominated")
    player.send()
    assert player.here.phase == first


def test_half_of_the_people_guess_first(kit, store):
    study = kit.make(store, guess="randomised", quiz=False)
    orders = [people.create(store, study).guess_order for _ in range(60)]
    assert 15 <= orders.count("before") <= 45  # fails once in 10^4 by chance
    assert set(orders) == {"before", "after"}


def test_the_same_form_twice_counts_once(kit, any_store):
    player = kit.Player(any_store, kit.make(any_store))
    here = player.go_to("comparison")
    assert player.send(here=here).accepted
    after = shown(player.here)
    assert player.send(here=here).status == "stale"
    assert player.send({"choice": ["B"]}, here=here).status == "stale"
    assert shown(player.here) == after
    assert sum(entry.phase == "comparison" for entry in player.log()) == 1


def test_many_tabs_at_once_count_once(kit, any_store):
    player = kit.Player(any_store, kit.make(any_store))
    here = player.go_to("comparison")
    for _ in range(3):
        here = player.here
        with ThreadPoolExecutor(8) as tabs:
            outcomes = list(
                tabs.map(
                    lambda i, at=here: player.send({"choice": ["AB"[i % 2]]}, here=at), range(8)
                )
            )
        assert [outcome.status for outcome in outcomes].count("accepted") == 1
        assert {outcome.status for outcome in outcomes} <= {"accepted", "stale"}
    assert [entry.seq for entry in player.log()] == list(range(len(player.log())))
    assert sum(entry.phase == "comparison" for entry in player.log()) == 3


def test_any_worker_serves_any_person(kit, any_url):
    """Two stores over one database take turns; the questions are those of one procedure."""
    workers = [kit.opened(any_url), kit.opened(any_url)]
    player = kit.Player(workers[0], kit.make(workers[0]))
    player.go_to("comparison")
    for i in range(8):
        assert player.send(store=workers[i % 2]).accepted
    fresh = asking.begin(player.asked, player.person.seed)
    for entry in player.log():
        if entry.phase == "comparison":
            query = fresh.ask()
            np.testing.assert_allclose(query.first, entry.payload["first"], atol=1e-12)
            np.testing.assert_allclose(query.second, entry.payload["second"], atol=1e-12)
            fresh.tell(entry.payload["answer"])
    np.testing.assert_allclose(fresh.ask().first, player.here.page["first"], atol=1e-12)
    for worker in workers:
        worker.close()


def test_reloading_and_going_back_change_nothing(player):
    player.compare(2)
    before = player.here
    assert shown(player.here) == shown(before)
    old = before
    player.send()
    here = player.here
    assert player.send({"choice": ["tie"]}, here=old).status == "stale"  # the back button
    assert player.undo(here=old).status == "stale"
    assert shown(player.here) == shown(here)


def test_what_is_no_answer_is_not_logged(kit, store):
    player = kit.Player(store, kit.make(store, allow_tie=False, allow_skip=False))
    player.go_to("comparison")
    n = len(player.log())
    for form in ({}, {"choice": ["C"]}, {"choice": ["tie"]}, {"choice": ["skip"]}):
        outcome = player.send(form)
        assert outcome.status == "invalid"
        assert "choice" in outcome.errors
    assert len(player.log()) == n


def test_a_choice_is_of_the_side_that_is_shown(player):
    """Half of the questions are shown the other way round; the answer is of the right side."""
    player.compare(10)
    told = [entry.payload for entry in player.log() if entry.phase == "comparison"]
    assert {payload["swapped"] for payload in told} == {True, False}
    for payload in told:
        side = {"A": "first", "B": "second"}[payload["choice"]]
        if payload["swapped"]:
            side = {"first": "second", "second": "first"}[side]
        assert payload["answer"] == side
        left, right = asking.counts_of(payload, 1000)
        first, second = asking.query_of(payload).counts(1000)
        assert ((left, right) if payload["swapped"] else (right, left))[0].tolist() == (
            second.tolist()
        )
        assert (left == (second if payload["swapped"] else first)).all()
        assert (right == (first if payload["swapped"] else second)).all()


def test_repeats_are_shown_the_other_way_round(kit, store):
    player = kit.Player(store, kit.make(store, n_evaluation=0), ratio=2.0, flip=0.2, seed=3)
    player.go_to("guess")
    told = [entry.payload for entry in player.log() if entry.phase == "comparison"]
    repeats = [i for i, payload in enumerate(told) if payload["kind"] == "repeat"]
    assert repeats
    for i in repeats:
        again = [counts.tolist() for counts in asking.counts_of(told[i], 1000)]
        before = [
            [counts.tolist() for counts in asking.counts_of(payload, 1000)] for payload in told[:i]
        ]
        assert again[::-1] in before


# --- undo


def test_an_answer_taken_back_is_asked_again(kit, any_store):
    player = kit.Player(any_store, kit.make(any_store))
    player.compare(4)
    pages = []
    for _ in range(3):
        pages.append(player.here)
        player.send()
    for page in reversed(pages):
        assert player.undo().accepted
        assert shown(player.here) == shown(page)
    log = player.log()
    assert [entry.seq for entry in log] == list(range(len(log)))
    assert [entry.undoes for entry in log[-3:]] == [page.person.seq for page in reversed(pages)]
    assert sum(e.phase == "comparison" for e in player.log(effective=True)) == 4
    procedure = session.elicitation_of(any_store, people.get(any_store, player.person.id))
    assert len(procedure.answers) == 4


def test_other_answers_after_an_undo_lead_to_their_own_questions(player):
    player.compare(3)
    player.undo()
    player.send({"choice": ["tie"]})
    told = [e.payload for e in player.log(effective=True) if e.phase == "comparison"]
    fresh = asking.begin(player.asked, player.person.seed)
    for payload in told:
        fresh.ask()
        fresh.tell(payload["answer"])
    assert [payload["answer"] for payload in told][-1] == "tie"
    np.testing.assert_allclose(fresh.ask().first, player.here.page["first"], atol=1e-12)


def test_undo_goes_back_from_the_evaluation(player):
    """People are not told where the evaluation begins, so they can go back over it."""
    here = player.go_to("evaluation")
    last = max(e.seq for e in player.log() if e.phase == "comparison")
    player.undo()
    assert player.here.phase == "comparison"
    assert player.log()[-1].undoes == last
    player.send()
    again = player.here
    assert again.phase == "evaluation"
    assert shown(again) == shown(here)


def test_nothing_is_taken_back_where_nothing_was_compared(kit, store, player):
    player.go_to("comparison")
    assert not player.here.can_undo
    assert player.undo().status == "invalid"
    study = kit.make(store, allow_undo=False)
    other = kit.Player(store, study)
    other.compare(2)
    assert other.undo().status == "invalid"


def test_only_the_last_answers_can_be_taken_back(player):
    player.compare(20)
    undone = 0
    while player.here.can_undo:
        assert player.undo().accepted
        undone += 1
        assert undone < 30
    assert undone >= 5
    fresh = asking.begin(player.asked, player.person.seed)
    for entry in player.log(effective=True):
        if entry.phase == "comparison":
            fresh.ask()
            fresh.tell(entry.payload["answer"])
    np.testing.assert_allclose(fresh.ask().first, player.here.page["first"], atol=1e-12)


# --- what is kept


@pytest.mark.parametrize("harm", ["lost", "damaged"])
def test_the_log_is_enough_where_the_snapshot_is_not(kit, store, player, harm):
    player.compare(5)
    player.undo()
    twin = kit.Player(store, player.study, seed=0)
    twin.compare(4)
    with store.writing() as rows:
        mine = Snapshot.person_id == player.person.id
        if harm == "lost":
            rows.execute(delete(Snapshot).where(mine))
        else:
            rows.execute(update(Snapshot).where(mine).values(data=b"KARAT-ELICIT" + bytes(50)))
    for _ in range(3):
        player.send()
        twin.send()
    for side in ("first", "second"):
        np.testing.assert_allclose(player.here.page[side], twin.here.page[side], atol=1e-12)


def test_the_database_refuses_to_change_the_log(kit, any_store):
    player = kit.Player(any_store, kit.make(any_store))
    player.compare(1)
    mine = LogEntry.person_id == player.person.id
    with pytest.raises(DBAPIError, match="only grows"), any_store.writing() as rows:
        rows.execute(update(LogEntry).where(mine).values(phase="undo"))
    assert player.log()[-1].phase == "comparison"
    assert people.withdraw(any_store, player.person.id)


def test_few_states_are_kept(store, player):
    player.compare(20)
    with store.reading() as rows:
        for table in (State, Snapshot):
            n = rows.scalar(select(func.count()).where(table.person_id == player.person.id))
            assert n <= 16


def test_times_are_kept(store, player):
    player.go_to("comparison")
    store.clock.now += 20.0
    player.send({"choice": ["A"], "client_ms": ["3500"]})
    store.clock.now += 5.0
    player.send({"choice": ["A"], "client_ms": ["90000"]})  # more than the server has waited
    store.clock.now += 4.0
    player.send({"choice": ["A"], "client_ms": ["NaN"]})
    told = [entry for entry in player.log() if entry.phase == "comparison"]
    assert [entry.seconds for entry in told] == [20.0, 5.0, 4.0]
    assert [entry.client_seconds for entry in told] == [3.5, 90.0, None]
    assert [entry.payload["kept"]["seconds"] for entry in told] == [3.5, 5.0, 4.0]
    procedure = session.elicitation_of(store, people.get(store, player.person.id))
    assert [kept["seconds"] for kept in procedure.transcript.kept] == [3.5, 5.0, 4.0]


def test_withdrawing_deletes_everything(kit, any_store, tmp_path):
    player = kit.Player(any_store, kit.make(any_store))
    player.go_to("questionnaire")
    secret = "a-word-that-nobody-else-writes"
    player.send({"gender": [secret]})
    player.compare(3)
    people.add_note(any_store, player.person.id, f"said {secret}", seq=3)
    other = kit.Player(any_store, player.study)
    assert people.withdraw(any_store, player.person.id)
    with any_store.reading() as rows:
        for table in (LogEntry, State, Snapshot, Note):
            found = table.person_id == player.person.id
            assert rows.scalar(select(func.count()).where(found)) == 0
        assert rows.scalar(select(func.count()).select_from(Person)) == 1
    assert player.here is None
    assert player.send({}, here=other.here).status == "stale"
    assert not people.withdraw(any_store, player.person.id)
    files = [path.read_bytes() for path in tmp_path.glob("study.db*")]
    assert not any(secret.encode() in content for content in files)
