"""A browser without pictures for the study server: posts forms, and says what became of them."""

import http.client
import re
from collections.abc import Callable
from typing import Any, NamedTuple

HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')
HEADERS = {"Content-Type": "application/x-www-form-urlencoded"}


class Sent(NamedTuple):
    """A form that was sent: its page, the choice, and whether the server said that it has it."""

    seq: int
    choice: str
    acknowledged: bool


class Browser:
    """One person's browser; a request that fails is told, never repeated by itself."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.path = port, f"/p/{token}"

    def ask(self, method: str, path: str, form: dict[str, str] | None = None) -> tuple[int, str]:
        """Send a request on a connection of its own; raises OSError where the server dies."""
        from urllib.parse import urlencode

        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            body = None if form is None else urlencode(form)
            connection.request(method, path, body, HEADERS if form is not None else {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except http.client.HTTPException as error:
            raise ConnectionError(str(error)) from error
        finally:
            connection.close()

    def page(self) -> dict[str, str]:
        """Load the page until a server answers; return the hidden fields of its form."""
        while True:
            try:
                status, text = self.ask("GET", self.path)
            except OSError:
                continue  # the socket waits for the next worker
            assert status == 200, (status, text[:500])
            fields = dict(HIDDEN.findall(text))
            fields["comparison"] = str(int('name="choice"' in text))
            return fields

    def send(self, fields: dict[str, str], choice: str) -> Sent:
        """Post a choice once."""
        form = {**fields, "choice": choice}
        try:
            status, _ = self.ask("POST", f"{self.path}/answer", form)
        except OSError:
            return Sent(int(fields["seq"]), choice, acknowledged=False)
        assert status == 303, status
        return Sent(int(fields["seq"]), choice, acknowledged=True)


def answer_all(
    browser: Browser, choose: Callable[[dict[str, str]], str], *, most: int, again: bool = True
) -> list[Sent]:
    """Answer comparisons until there are ``most``; whatever is not acknowledged is looked at anew.

    With ``again``, a form that was not acknowledged is posted once more, as people do.
    """
    sent: list[Sent] = []
    while len(sent) < most:
        fields = browser.page()
        if fields["comparison"] == "0":
            break
        choice = choose(fields)
        sent.append(browser.send(fields, choice))
        if again and not sent[-1].acknowledged:
            second = browser.send(fields, choice)
            if second.acknowledged:
                sent.append(second)
    return sent


def problems(store: Any, person_id: str, sent: list[Sent]) -> list[str]:
    """Return what is wrong: answers that were lost, counted twice, or led to other questions."""
    import numpy as np

    from karat.studio.models import Person
    from karat.studio.services import asking, people, session, studies

    person: Person = people.get(store, person_id)
    log = people.log_of(store, person_id)
    found = []
    if [entry.seq for entry in log] != list(range(len(log))):
        found.append(f"the numbers of the log are {[entry.seq for entry in log]}")
    kept = {entry.seq: entry.payload.get("choice") for entry in log}
    found += [
        f"page {one.seq}: {one.choice} was acknowledged, {kept.get(one.seq)} kept"
        for one in sent
        if one.acknowledged and kept.get(one.seq) != one.choice
    ]
    asked = studies.asked_of(store, studies.get(store, person.study_id))
    fresh = asking.begin(asked, person.seed)
    told = [e for e in people.log_of(store, person_id, effective=True) if e.phase == "comparison"]
    for number, entry in enumerate(told, start=1):
        query = fresh.ask()
        if query is None or not np.allclose(query.first, np.array(entry.payload["first"])):
            found.append(f"comparison {number} is not the question that the answers lead to")
            return found
        fresh.tell(entry.payload["answer"])
    here = session.current_step(store, person_id)
    query = fresh.ask()
    if query is not None and here.phase == "comparison":
        if not np.allclose(query.second, np.array(here.page["second"])):
            found.append("the next question is not the one that the answers lead to")
    elif (query is None) == (here.phase == "comparison"):
        found.append("the comparisons end elsewhere")
    return found


def begin(store: Any, study: Any, seed: int) -> Any:
    """Return a new person who has come to the comparisons."""
    from karat.studio.services import asking, people, session, studies

    person = people.create(store, study, kind="bot", seed=seed)
    asked = studies.asked_of(store, study)
    while (here := session.current_step(store, person.id)).phase != "comparison":
        form = {"agree": ["yes"]}
        if here.phase in asking.QUIZ_PHASES:
            form |= {key.name: [str(key.key)] for key in asking.quiz_of(asked, here.phase).keys}
        done = session.answer(
            store, person.id, seq=here.person.seq, nonce=here.person.nonce, form=form
        )
        assert done.accepted, done
    return person


def chooser(store: Any, study: Any, person_id: str, ratio: float) -> Callable[[Any], str]:
    """Return how someone answers to whom a missed case is ``ratio`` times as bad as a false one."""
    from karat.elicit import MetricOracle
    from karat.metrics import cost_matrix
    from karat.studio.services import asking, session

    oracle = MetricOracle(cost_matrix([[0, 1], [ratio, 0]]), rng=0)

    def choose(_: Any) -> str:
        here = session.current_step(store, person_id)
        side = oracle(asking.query_of(here.page))
        first = {"first": "A", "second": "B"}
        return {"A": "B", "B": "A"}[first[side]] if here.page["swapped"] else first[side]

    return choose
