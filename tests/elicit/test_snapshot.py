"""Snapshots: the same next questions, nothing that is code, and nothing foreign taken."""

import hashlib
import io
import json
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.elicit import BinarySpace, Elicitation, RateSpace
from karat.elicit.asking import Effort
from karat.elicit.transcript import checksum_of, pack, unpack
from karat.exceptions import ContradictionWarning, NotIdentifiedWarning, TranscriptError

FAMILIES = [
    ("linear", "binary"),
    ("ratio", "binary"),
    ("linear", "diagonal"),
    ("ratio", "diagonal"),
    ("monotone", "diagonal"),
    ("linear", "confusion"),
    ("linear", "rate"),
    ("ratio", "confusion"),
    ("quadratic", "odds"),
    ("polynomial", "odds"),
    ("linear", "groups"),
    ("quadratic", "groups"),
]
CASES = [
    pytest.param(kind, name, strategy, id=f"{kind} {name} {strategy}")
    for kind, name in FAMILIES
    for strategy in ("active", "bisection", "corrected")
]
ANSWERS = ["first", "second", "tie", "second", "skip", "first", "second", "first", "tie", "second"]
ENDLESS = {"agreement": 1.0, "precision": 1.0001}


@pytest.fixture(autouse=True, scope="module")
def few_of_everything():
    """A snapshot does not ask how well the metric is known."""
    with pytest.MonkeyPatch.context() as patch:
        effort = Effort(
            particles=150,
            rival_particles=100,
            draws=60,
            candidates=200,
            pool=100,
            panel=60,
            kept=40,
            boundary=40,
        )
        patch.setattr(Elicitation, "effort", effort)
        yield


def result_of(procedure):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContradictionWarning)
        warnings.simplefilter("ignore", NotIdentifiedWarning)
        return procedure.result


def told(procedure, answers):
    """Answer until the answers or the questions end; return the procedure."""
    for answer in answers:
        if procedure.ask() is None:
            break
        procedure.tell(answer, note=len(procedure.answers))
    return procedure


def assert_same(one, other):
    assert one.ask() == other.ask()
    assert one.transcript == other.transcript
    assert result_of(one) == result_of(other)


@pytest.fixture
def saved(binary):
    """A snapshot after five answers."""
    return told(Elicitation(binary, rng=7, **ENDLESS), ANSWERS[:5]).snapshot()


# --- going on


@pytest.mark.parametrize(("family", "name", "strategy"), CASES)
def test_every_next_question_is_the_same(family, name, strategy, spaces):
    """A server that forgets everything after each answer asks what one that remembers asks."""
    space = spaces[name]
    whole = Elicitation(space, family, strategy=strategy, rng=3, **ENDLESS)
    state = Elicitation(space, family, strategy=strategy, rng=3, **ENDLESS).snapshot()
    for answer in ANSWERS:
        restored = Elicitation.restore(space, state)
        assert restored.ask() == whole.ask()
        assert restored.answers == whole.answers
        if whole.finished:
            break
        for procedure in (whole, restored):
            procedure.tell(answer, seconds=1.5)
        state = restored.snapshot()
    last = Elicitation.restore(space, state)
    assert last.transcript == whole.transcript
    assert_same(last, whole)


@pytest.mark.parametrize(
    "options",
    [
        {"orientation": "ask"},
        {"orientation": "decreasing"},
        {"pairs": "sphere"},
        {"checks": False, "worst_rate": 0.4},
        {"out_of": 100},
        {"max_queries": 10},
    ],
    ids=str,
)
def test_options_are_part_of_it(options, binary):
    whole = Elicitation(binary, rng=5, **ENDLESS, **options)
    for answer in ANSWERS:
        restored = Elicitation.restore(binary, whole.snapshot())
        assert_same(restored, whole)
        for procedure in (whole, restored):
            procedure.tell(answer)
        assert restored.ask() == whole.ask()
    assert Elicitation.restore(binary, whole.snapshot()).finished == whole.finished


def test_a_finished_procedure_stays_finished(binary):
    done = told(Elicitation(binary, rng=0, max_queries=4, **ENDLESS), ANSWERS)
    restored = Elicitation.restore(binary, done.snapshot())
    assert restored.finished
    assert_same(restored, done)


def test_looking_changes_nothing_and_two_snapshots_are_one(binary):
    procedure = told(Elicitation(binary, rng=7, **ENDLESS), ANSWERS[:5])
    once = procedure.snapshot()
    result_of(procedure)
    assert procedure.snapshot() == once
    assert Elicitation.restore(binary, once).snapshot() == once
    for kind in (bytearray, memoryview):
        assert Elicitation.restore(binary, kind(once)).snapshot() == once


def test_carried_answers_are_part_of_it(spaces):
    narrow = told(Elicitation(spaces["groups"], rng=2, **ENDLESS), ANSWERS[:6])
    wide = told(narrow.widened(), ANSWERS[:3])
    restored = Elicitation.restore(spaces["groups"], wide.snapshot())
    assert restored.carried == wide.carried
    assert_same(restored, wide)
    assert_same(told(restored, ANSWERS[3:]), told(wide, ANSWERS[3:]))


# --- taking back


@pytest.mark.parametrize(("family", "name", "strategy"), CASES)
def test_undo_is_as_if_it_had_not_been_said(family, name, strategy, spaces):
    options = {"strategy": strategy, "rng": 3, **ENDLESS}
    long = told(Elicitation(spaces[name], family, **options), ANSWERS)
    left = len(long.answers) - 3
    long.undo(3)
    short = told(Elicitation(spaces[name], family, **options), ANSWERS[:left])
    assert_same(long, short)
    others = ["second", "first"]
    assert_same(told(long, others), told(short, others))


def test_undo_from_snapshots_equals_replay(binary):
    """Beyond what is remembered the answers are replayed, and nobody can tell which it was."""
    answers = ANSWERS * 3
    remembered, forgotten = (told(Elicitation(binary, rng=3, **ENDLESS), answers) for _ in range(2))
    assert remembered._past
    forgotten._past = []
    for back in (1, 3, 7):
        for procedure in (remembered, forgotten):
            procedure.undo(back)
        assert_same(remembered, forgotten)
    first = told(Elicitation(binary, rng=3, **ENDLESS), answers)
    first.undo(28)
    assert_same(first, told(Elicitation(binary, rng=3, **ENDLESS), answers[:2]))


def test_undo_after_restoring(binary):
    procedure = told(Elicitation(binary, rng=3, **ENDLESS), ANSWERS)
    restored = Elicitation.restore(binary, procedure.snapshot())
    for each in (procedure, restored):
        each.undo(2)
    assert_same(restored, procedure)


# --- what is refused


def assert_refused(space, data, message):
    """One sentence, or one and what to do, and no other error."""
    with pytest.raises(TranscriptError, match=message) as caught:
        Elicitation.restore(space, data)
    assert "\n" not in str(caught.value)


def test_no_byte_can_be_changed_unseen(saved, binary):
    """Every byte of the beginning, and some of the rest."""
    places = [*range(200), *range(200, len(saved), 997), len(saved) - 1]
    for at in places:
        damaged = bytearray(saved)
        damaged[at] ^= 0x41
        assert_refused(binary, bytes(damaged), "no snapshot|version|damaged")
    assert_refused(binary, saved + b"\x00", "damaged")


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_truncated(share, saved, binary):
    assert_refused(binary, saved[: int(share * len(saved))], "damaged.*transcript")


def test_cut_off_in_the_first_bytes(saved, binary):
    for end in range(60):
        assert_refused(binary, saved[:end], "no snapshot|version|damaged")


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"PK\x03\x04", pickle.dumps({"answers": []}), bytes(1000)],
    ids=["empty", "JSON", "zip", "pickle", "zeros"],
)
def test_foreign_bytes(data, binary):
    assert_refused(binary, data, r"no snapshot of an elicitation; pass what elicitation\.snapshot")


@pytest.mark.parametrize("data", [None, "text", 5, {"answers": []}], ids=str)
def test_what_is_no_bytes(data, binary):
    assert_refused(binary, data, f"the snapshot is {type(data).__name__}; expected the bytes")


def test_another_version(saved, binary):
    version = saved.index(b"ELICIT") + len(b"ELICIT")
    other = saved[:version] + (7).to_bytes(2, "little") + saved[version + 2 :]
    assert_refused(binary, other, "version 7 and this karat reads version 3; resume from the trans")


@pytest.mark.parametrize("answers", [[], ANSWERS[:5]], ids=["at the start", "later"])
@pytest.mark.parametrize("strategy", ["active", "bisection"])
def test_another_family_or_space(strategy, answers, spaces, binary):
    state = told(Elicitation(binary, strategy=strategy, rng=0, **ENDLESS), answers).snapshot()
    header, arrays = unpack(state)
    made_up = header | {"family": "monotone"}
    if "transcript" in header:
        told_so = header["transcript"] | {"family": "monotone"}
        made_up = {"transcript": told_so | {"checksum": checksum_of(told_so)}}
    assert_refused(binary, pack(made_up, arrays), "options do not fit.*'linear' or 'ratio'")
    other = BinarySpace.from_scores([0, 1, 1, 0, 1, 0], [0.1, 0.4, 0.8, 0.3, 0.6, 0.7])
    assert_refused(other, state, "space")


def test_other_data_of_the_same_shape(spaces):
    groups = spaces["groups"]
    state = told(Elicitation(groups, rng=0, **ENDLESS), ANSWERS[:3]).snapshot()
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 100), rng.random(100)
    names = np.resize([str(group) for group in groups.groups], 100)
    other = RateSpace.from_proba(y, np.column_stack([1 - score, score]), groups=names)
    assert_refused(other, state, "belongs to another space")


# --- what someone has made up, and signed


def leaves(value, path=()):
    """Yield the path of every field inside nested data, containers and what they hold."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))


@pytest.fixture(scope="module")
def forgeable(spaces):
    """Snapshots with all there may be in them: two families, checks, the ball, no answer yet."""
    cases = [
        ("linear", "groups", ANSWERS, {}),
        ("linear", "binary", ANSWERS[:4], {"pairs": "sphere"}),
        ("linear", "binary", [], {}),
        ("linear", "binary", ANSWERS[:2], {"strategy": "bisection"}),
    ]
    made = [
        (
            family,
            spaces[name],
            told(Elicitation(spaces[name], family, rng=1, **ENDLESS, **options), said).snapshot(),
        )
        for family, name, said, options in cases
    ]
    return lambda which: made[which]  # what Hypothesis would print is short


def assert_usable_or_refused(family, space, data):
    """Nothing but a refusal in one line, or a procedure with which one can go on."""
    try:
        restored = Elicitation.restore(space, data)
    except TranscriptError as error:
        said = str(error)
    else:
        said = None
    if said is not None:
        assert "\n" not in said
        assert len(said) < 500
        return
    if restored.ask() is not None:
        restored.tell("second")
    assert result_of(restored).n_queries == len(restored.answers)


JUNK = st.sampled_from(
    [None, True, "", "no", -1, 0, 3, 10**30, -0.5, 1e308, [], [1], [[]], {}, {"a": 1}, "first"]
)


def test_differences_of_no_size_are_refused(forgeable):
    _, space, state = forgeable(1)
    header, arrays = unpack(state)
    found = [path for path in leaves(header) if path[-1] == "typical"]
    assert found
    for path in found:
        header, arrays = unpack(state)
        where = header
        for key in path[:-1]:
            where = where[key]
        where["typical"] = 0
        with pytest.raises(TranscriptError):
            Elicitation.restore(space, pack(header, arrays))


PLACES = st.integers(0, 10**6)  # of a field, among however many there are
SETTINGS = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}


@given(which=st.integers(0, 3), place=PLACES, junk=JUNK, gone=st.booleans())
@settings(max_examples=100, **SETTINGS)
def test_no_field_can_be_forged_into_another_error(forgeable, which, place, junk, gone):
    kind, space, state = forgeable(which)
    header, arrays = unpack(state)
    paths = list(leaves(header))
    *above, last = paths[place % len(paths)]
    where = header
    for key in above:
        where = where[key]
    if gone:
        del where[last]
    else:
        where[last] = junk
    assert_usable_or_refused(kind, space, pack(header, arrays))


FORGERIES = {
    "gone": lambda array: None,
    "shorter": lambda array: array[1:],
    "flat": lambda array: array.ravel(),
    "deeper": lambda array: array[None],
    "none": lambda array: array * np.nan,
    "endless": lambda array: array + np.inf,
    "opposite": lambda array: -array - 1,
    "wider": lambda array: np.repeat(array, 2, axis=-1),
}


@given(which=st.integers(0, 2), place=PLACES, how=st.sampled_from(sorted(FORGERIES)))
@settings(max_examples=50, **SETTINGS)
def test_no_array_can_be_forged_into_another_error(forgeable, which, place, how):
    kind, space, state = forgeable(which)
    header, arrays = unpack(state)
    name = sorted(arrays)[place % len(arrays)]
    forged = FORGERIES[how](arrays[name])
    others = {n: array for n, array in arrays.items() if n != name}
    assert_usable_or_refused(
        kind, space, pack(header, others if forged is None else others | {name: forged})
    )


@pytest.mark.parametrize(
    "layout",
    [None, 5, [["first"]], [["first", "|O", [1]]], [["first", "<f8", [-1]]], [[1, "<f8", [1]]],
     [["first", "<f8", [10**30]]], [["first", "<f8", 3]], [["first", ["<f8"], [3]]]],
    ids=str,
)  # fmt: skip
def test_arrays_that_are_described_by_what_is_no_shape(layout, saved, binary):
    header, _ = unpack(saved)
    good = pack(header, {})
    text = good[good.index(b'{"family"') :]
    text = text.replace(b'"arrays": []', f'"arrays": {json.dumps(layout)}'.encode())
    body = len(text).to_bytes(4, "little") + text
    start = good[: len(b"KARAT-ELICIT") + 2]
    assert_refused(binary, start + hashlib.sha256(body).digest() + body, "array|header")
    body = (2**31).to_bytes(4, "little") + text[:50]
    assert_refused(binary, start + hashlib.sha256(body).digest() + body, "header of the snapshot")


# --- no code in it


@pytest.mark.parametrize(("family", "name"), FAMILIES[::3])
def test_nothing_is_pickled(family, name, spaces, monkeypatch):
    """Snapshots come from a database that others write to: reading one must run nothing."""

    def refuse(*_args, **_options):
        raise AssertionError("pickle was used")

    procedure = told(Elicitation(spaces[name], family, rng=0, **ENDLESS), ANSWERS[:3])
    for used in ("dumps", "loads", "dump", "load", "Pickler", "Unpickler"):
        monkeypatch.setattr(pickle, used, refuse)
    state = procedure.snapshot()
    restored = Elicitation.restore(spaces[name], state)
    assert restored.ask() == procedure.ask()
    monkeypatch.undo()
    with pytest.raises(pickle.UnpicklingError):
        pickle.load(io.BytesIO(state))


def test_what_is_kept_beside_answers_comes_back(binary):
    procedure = Elicitation(binary, rng=7, **ENDLESS)
    procedure.tell("first", seconds=2.3, side="left")
    procedure.tell("tie", note="Ä “?”")
    restored = Elicitation.restore(binary, procedure.snapshot())
    assert restored.transcript.kept == procedure.transcript.kept
    assert restored.transcript.kinds == procedure.transcript.kinds
