"""Transcripts: what is kept, what is read back, and what is refused."""

import copy
import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.datasets import LogisticLaw
from karat.elicit import (
    BinarySpace,
    DiagonalSpace,
    Elicitation,
    MetricOracle,
    RateSpace,
    Transcript,
    load_transcript,
)
from karat.elicit.asking import Effort
from karat.elicit.transcript import check_kept, checksum_of
from karat.exceptions import (
    AnswerError,
    DataError,
    ElicitationError,
    KaratError,
    OptionError,
    TranscriptError,
)
from karat.metrics import cost_matrix


@pytest.fixture(autouse=True, scope="module")
def few_particles():
    """A transcript does not ask how well the metric is known."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Elicitation, "effort", Effort(particles=100))
        yield


def signed(fields):
    """Return fields with a checksum that fits, as whoever forges a transcript could."""
    return fields | {"checksum": checksum_of(fields)}


@pytest.fixture
def spoken(binary):
    """A procedure after three answers."""
    procedure = Elicitation(binary, rng=7, max_queries=6, agreement=1.0, orientation="ask")
    for answer in ("first", "tie", "second"):
        procedure.tell(answer)
    return procedure


def test_what_a_transcript_keeps(spoken, binary):
    kept = spoken.transcript
    assert kept.family == "linear"
    assert kept.answers == ("first", "tie", "second")
    assert kept.options == {
        "strategy": "active",
        "tol": 0.02,
        "agreement": 1.0,
        "precision": 3.0,
        "worst_rate": 0.5,
        "checks": True,
        "carried": [],
        "out_of": None,
        "max_queries": 6,
        "orientation": "ask",
        "pairs": "attainable",
        "rng": 7,
    }
    assert kept.space == {"kind": "binary", "classes": [0, 1], "fingerprint": binary.fingerprint}
    assert len(kept.queries) == 3
    assert np.array_equal(kept.queries[0][0], binary.boundary([1, 1]))
    assert spoken.result.transcript == kept


def test_all_the_ways_to_read_one(spoken, binary, tmp_path):
    kept = spoken.transcript
    path = tmp_path / "answers.json"
    kept.save(path)
    assert list(tmp_path.iterdir()) == [path]  # nothing partial is left behind
    for source in (kept, kept.to_dict(), kept.to_json(), f"\n {kept.to_json()}", path, str(path)):
        assert load_transcript(source) == kept
        assert Elicitation.resume(binary, source).ask() == spoken.ask()
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["schema"] == "karat.elicitation"
    assert written["version"] == 3
    assert written["checksum"] == checksum_of(written)


def test_saving_again_replaces_the_file_whole(spoken, tmp_path, monkeypatch):
    path = tmp_path / "answers.json"
    spoken.transcript.save(path)
    before = path.read_text(encoding="utf-8")
    spoken.tell("first")
    spoken.transcript.save(path)
    assert load_transcript(path).answers == ("first", "tie", "second", "first")

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Transcript, "to_json", interrupted)
    with pytest.raises(KeyboardInterrupt):
        spoken.transcript.save(path)
    assert load_transcript(path).answers == ("first", "tie", "second", "first")
    assert before != path.read_text(encoding="utf-8")


def test_saving_touches_no_other_file(spoken, tmp_path):
    path, other, link = (tmp_path / name for name in ("t.json", "t.json.part", "link.json"))
    other.write_text("mine")
    link.symlink_to(path)
    spoken.transcript.save(link)
    assert link.is_symlink()
    assert other.read_text() == "mine"
    assert load_transcript(path).answers == spoken.transcript.answers
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.json", "t.json", "t.json.part"]


def test_a_folder_that_does_not_exist(spoken, tmp_path):
    with pytest.raises(DataError, match="cannot be written: No such file or directory"):
        spoken.transcript.save(tmp_path / "nowhere" / "t.json")


@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1], [False, True], ["Ä", "ß"]])
def test_labels_of_all_kinds_survive_the_file(labels, tmp_path):
    law = LogisticLaw.binary(4.0)
    x, y = law.sample(60, rng=0)
    space = BinarySpace.from_scores(np.array(labels)[y], law.proba(x)[:, 1], pos_label=labels[1])
    procedure = Elicitation(space, strategy="bisection")
    procedure.tell("first")
    procedure.transcript.save(tmp_path / "t.json")
    assert Elicitation.resume(space, tmp_path / "t.json").ask() == procedure.ask()


def test_a_seed_drawn_for_you_is_kept(binary):
    for rng in (None, np.random.default_rng(3), 2**63 - 1, np.int64(12)):
        procedure = Elicitation(binary, rng=rng)
        procedure.tell("first")
        resumed = Elicitation.resume(binary, procedure.transcript.to_json())
        assert resumed.seed == procedure.seed
        assert resumed.ask() == procedure.ask()


def test_a_finished_run_is_finished_again(binary):
    procedure = Elicitation(binary, strategy="bisection", tol=0.5)
    while procedure.ask() is not None:
        procedure.tell("first")
    resumed = Elicitation.resume(binary, procedure.transcript)
    assert resumed.finished
    assert resumed.ask() is None


# --- what is refused


def test_another_space(spoken):
    law = LogisticLaw.binary(4.0)
    other = BinarySpace.from_density(law.proba, n_points=301)
    with pytest.raises(TranscriptError, match="another space"):
        Elicitation.resume(other, spoken.transcript)
    named = BinarySpace.from_density(law.proba, n_points=301, classes=["no", "yes"])
    with pytest.raises(TranscriptError, match=r"classes \[0, 1\] and this one \['no', 'yes'\]"):
        Elicitation.resume(named, spoken.transcript)


def test_a_space_of_another_kind(spoken, diagonal):
    with pytest.raises(ElicitationError, match=r"kind 'binary'"):
        Elicitation.resume(diagonal, spoken.transcript)


@pytest.mark.parametrize("family", ["monotone", "fair", ""])
def test_a_family_that_the_space_cannot_have(family, spoken, binary):
    fields = spoken.transcript.to_dict() | {"family": family}
    with pytest.raises(TranscriptError, match=r"options do not fit: family is .*'linear'"):
        Elicitation.resume(binary, signed(fields))


def test_questions_that_were_tampered_with(spoken, binary):
    fields = spoken.transcript.to_dict()
    fields["queries"][1][0][0][0] += 1e-3
    with pytest.raises(TranscriptError, match=r"changed after it was saved.*transcript\.save"):
        Elicitation.resume(binary, fields)
    with pytest.raises(TranscriptError, match=r"answer 2 .* another question"):
        Elicitation.resume(binary, signed(fields))


def test_more_answers_than_there_are_questions(binary):
    procedure = Elicitation(binary, strategy="bisection", tol=0.5)
    while procedure.ask() is not None:
        procedure.tell("first")
    fields = procedure.transcript.to_dict()
    fields["answers"].append("first")
    for name in ("queries", "kinds", "kept"):
        fields[name].append(fields[name][-1])
    with pytest.raises(TranscriptError, match=f"answer {len(fields['answers'])} "):
        Elicitation.resume(binary, signed(fields))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "karat.metric"}, "no transcript.*'karat.metric'"),
        ({"schema": None}, "no transcript"),
        ({"version": 1}, "version 1 and this karat reads version 3; use the karat that wrote it"),
        ({"version": None}, "version None"),
        ({"answers": ["first", "yes", "tie"]}, "the answer 'yes'"),
        ({"answers": ["first"]}, "1 answers to 3 questions"),
        ({"options": {"colour": "red"}}, "options do not fit.*colour"),
        ({"kinds": ["question", "trick", "repeat"]}, "the kind 'trick'"),
        ({"kinds": ["question"]}, "3 answers to 1 kinds"),
        ({"kept": [{}]}, "3 answers to 1 things kept"),
        ({"kept": [{}, 5, {}]}, "keeps 5; expected a dict"),
    ],
)
def test_fields_that_do_not_fit(change, message, spoken, binary):
    with pytest.raises(TranscriptError, match=message):
        Elicitation.resume(binary, signed(spoken.transcript.to_dict() | change))


@pytest.mark.parametrize(
    "name", ["family", "options", "space", "answers", "queries", "kinds", "kept"]
)
def test_fields_that_are_lacking(name, spoken):
    fields = spoken.transcript.to_dict()
    del fields[name]
    with pytest.raises(TranscriptError, match=f"lacks {name}"):
        load_transcript(signed(fields))


@pytest.mark.parametrize(
    "change",
    [
        {"options": 5},
        {"options": None},
        {"answers": 5},
        {"answers": None},
        {"space": "binary"},
        {"queries": 5},
        {"queries": [1, 2, 3]},
        {"queries": [[1], [2], [3]]},
        {"queries": [[[[1, 2], [3]], 1]] * 3},
        {"queries": [["a", "b"]] * 3},
        {"options": {"rng": "a"}},
        {"options": {"strategy": 3}},
    ],
    ids=str,
)
def test_fields_of_another_shape(change, spoken, binary):
    """A transcript comes from a file, and a file can hold anything."""
    with pytest.raises(TranscriptError):
        Elicitation.resume(binary, signed(spoken.transcript.to_dict() | change))


@pytest.mark.parametrize("source", [5, None, [1, 2], b"{}", object()])
def test_what_is_no_transcript_at_all(source):
    with pytest.raises(TranscriptError, match="expected JSON text, a file, a dict"):
        load_transcript(source)


@pytest.mark.parametrize("text", ["{", "{'a': 1}", "{}", '{"schema": "karat.elicitation"}'])
def test_text_that_is_no_transcript(text):
    with pytest.raises(TranscriptError):
        load_transcript(text)


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_text_is_no_folder(text):
    with pytest.raises(TranscriptError, match="is an empty text; pass the file"):
        load_transcript(text)


def test_files_that_cannot_be_read(spoken, tmp_path):
    with pytest.raises(TranscriptError, match="cannot be read"):
        load_transcript(tmp_path / "nowhere.json")
    with pytest.raises(TranscriptError, match="cannot be read"):
        load_transcript(tmp_path)
    text = spoken.transcript.to_json()
    for cut in (10, len(text) // 2, len(text) - 1):
        path = tmp_path / f"cut{cut}.json"
        path.write_text(text[:cut], encoding="utf-8")
        with pytest.raises(TranscriptError, match="no JSON"):
            load_transcript(path)
    path = tmp_path / "list.json"
    path.write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(TranscriptError, match="no object"):
        load_transcript(path)
    path.write_bytes(b"\xff\xfe\x00rubbish")
    with pytest.raises(TranscriptError):
        load_transcript(path)
    path.write_text("", encoding="utf-8")
    with pytest.raises(TranscriptError, match="no JSON"):
        load_transcript(path)


def test_data_in_another_state_is_another_space():
    """The transcript of a sample does not fit the smoothed one, or more rows."""
    law = LogisticLaw([-4, 1, 5])
    x, y = law.sample(200, rng=0)
    space = DiagonalSpace.from_proba(y, law.proba(x))
    procedure = Elicitation(space, strategy="bisection")
    procedure.tell("first")
    kept = procedure.transcript
    assert Elicitation.resume(DiagonalSpace.from_proba(y, law.proba(x)), kept).answers
    for other in (space.smoothed(), DiagonalSpace.from_proba(y[1:], law.proba(x)[1:])):
        with pytest.raises(TranscriptError, match="another space"):
            Elicitation.resume(other, kept)


# --- options that only some families take


@pytest.mark.parametrize("strategy", ["active", "bisection"])
@pytest.mark.parametrize(
    ("family", "name", "options"),
    [
        ("polynomial", "odds", {"order": 4, "sparse": True}),
        ("polynomial", "odds", {"order": np.int64(2), "sparse": False}),
        ("quadratic", "odds", {"diagonal": True, "sparse": True}),
        ("quadratic", "odds", {"diagonal": np.bool_(False), "sparse": np.True_}),
        ("linear", "groups", {"cost": np.array([1, 3]), "same_pairs": True, "sparse": True}),
        ("linear", "groups", {"violation": [[1.0, 0.25]]}),
        ("linear", "groups", {"cost": [0, 2], "violation": np.array([[0.1, 1 / 3]])}),
        ("quadratic", "groups", {"cost": [1.0, 0.0], "diagonal": True, "sparse": True}),
        ("quadratic", "groups", {"violation": np.array([[[2, 0.3], [0.3, 1]]])}),
        ("quadratic", "groups", {"same_pairs": True}),
    ],
    ids=str,
)
def test_own_options_survive_the_file(strategy, family, name, options, spaces):
    space = spaces[name]
    procedure = Elicitation(
        space, family, strategy=strategy, rng=0, max_queries=5, agreement=1.0, **options
    )
    for answer in ("first", "second", "first"):
        procedure.tell(answer)
    text = procedure.transcript.to_json()
    kept = json.loads(text)["options"]
    for option, value in options.items():
        assert kept[option] == np.asarray(value).tolist()
    resumed = Elicitation.resume(space, text)
    assert resumed.ask() == procedure.ask()
    assert resumed.transcript == procedure.transcript
    assert resumed.result.metric == procedure.result.metric


@pytest.mark.parametrize("family", ["linear", "quadratic"])
def test_another_grouping_is_another_space(family):
    """The same items in other groups, or in the same under other names, or in none."""
    law = LogisticLaw.binary(4.0)
    x, y = law.sample(200, rng=0)
    groups = np.where(np.arange(200) % 3, "a", "b")
    space = RateSpace.from_proba(y, law.proba(x), groups=groups)
    procedure = Elicitation(space, family, strategy="bisection")
    procedure.tell("first")
    again = RateSpace.from_proba(y, law.proba(x), groups=groups)
    assert Elicitation.resume(again, procedure.transcript).ask() == procedure.ask()
    for other in (
        np.where(np.arange(200) % 4, "a", "b"),
        np.where(groups == "a", "x", "y"),
        np.where(groups == "a", "b", "a"),
        None,
    ):
        elsewhere = RateSpace.from_proba(y, law.proba(x), groups=other)
        with pytest.raises(TranscriptError, match="another space"):
            Elicitation.resume(elsewhere, procedure.transcript)


def test_own_options_that_were_tampered_with(spaces):
    procedure = Elicitation(spaces["groups"], strategy="bisection", cost=[1, 2])
    procedure.tell("first")
    fields = procedure.transcript.to_dict()
    for change in (
        {"cost": [1, -2]},
        {"cost": "high"},
        {"same_pairs": "yes"},
        {"order": 4},
        {"new": 1},
    ):
        edited = fields | {"options": fields["options"] | change}
        with pytest.raises(KaratError):
            Elicitation.resume(spaces["groups"], signed(edited))
    # Another cost leads to other questions, sooner or later: here the first is still the same.
    procedure = Elicitation(spaces["odds"], "polynomial", strategy="bisection")
    for _ in range(20):
        procedure.tell("first")
    fields = procedure.transcript.to_dict()
    edited = fields | {"options": fields["options"] | {"order": 2}}
    with pytest.raises(TranscriptError, match="another question"):
        Elicitation.resume(spaces["odds"], signed(edited))


# --- the checksum


def leaves(value, path=()):
    """Yield the path of everything inside nested data that is no container."""
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from leaves(item, (*path, key))
    else:
        yield path


def test_nothing_can_be_changed_unseen(spoken):
    fields = spoken.transcript.to_dict()
    for path in leaves(fields):
        edited = copy.deepcopy(fields)
        *above, last = path
        where = edited
        for key in above:
            where = where[key]
        where[last] = "other"
        with pytest.raises(TranscriptError):
            load_transcript(edited)
    for edited in (fields | {"mine": 1}, {k: v for k, v in fields.items() if k != "checksum"}):
        with pytest.raises(TranscriptError, match=r"transcript\.save wrote it"):
            load_transcript(edited)


def test_a_file_without_a_checksum_is_refused_with_the_remedy(spoken):
    fields = spoken.transcript.to_dict()
    del fields["checksum"]
    with pytest.raises(TranscriptError, match=r"no checksum.*; pass the file as transcript\.save"):
        load_transcript(fields)


def test_the_layout_of_the_file_does_not_matter(spoken):
    kept = spoken.transcript
    fields = kept.to_dict()
    shuffled = dict(sorted(fields.items(), reverse=True))
    for text in (json.dumps(shuffled, indent=4), json.dumps(fields, ensure_ascii=True)):
        assert load_transcript(text) == kept


def test_what_python_holds_and_json_does_not(spoken):
    fields = spoken.transcript.to_dict()
    with pytest.raises(TranscriptError, match="holds what JSON cannot"):
        load_transcript(fields | {"mine": {1, 2}})
    with pytest.raises(TranscriptError, match=r"no JSON text, or was cut off.*copy the file again"):
        load_transcript('{"schema": ' + "[" * 100_000)


# --- what is kept beside an answer


def test_what_is_kept_beside_answers_comes_back(binary, tmp_path):
    procedure = Elicitation(binary, rng=7, max_queries=6, agreement=1.0)
    procedure.tell("first", seconds=2.3, side="left")
    procedure.tell("tie")
    procedure.tell("second", note="Ä \n “?”", seconds=np.float64(1.5), seen=(1, np.int64(2)))
    told = procedure.transcript.kept
    assert told == (
        {"seconds": 2.3, "side": "left"},
        {},
        {"note": "Ä \n “?”", "seconds": 1.5, "seen": [1, 2]},
    )
    procedure.transcript.save(tmp_path / "t.json")
    resumed = Elicitation.resume(binary, tmp_path / "t.json")
    assert resumed.transcript == procedure.transcript
    resumed.undo(2)
    assert resumed.transcript.kept == told[:1]
    resumed.tell("tie", seconds=9)
    assert resumed.transcript.kept == (told[0], {"seconds": 9})
    plain = Elicitation(binary, rng=7, max_queries=6, agreement=1.0)
    for answer in ("first", "tie", "second"):
        plain.tell(answer)
    assert plain.ask() == procedure.ask(), "what is kept changes no question"


def test_names_that_the_method_itself_uses_can_be_in_a_file(spoken, binary):
    """A study may keep anything: its names need not be those that ``tell`` can be called with."""
    fields = spoken.transcript.to_dict()
    fields["kept"][0] = {"answer": "1", "self": 2, "two words": [None, {"deep": True}]}
    resumed = Elicitation.resume(binary, signed(fields))
    assert resumed.transcript.kept[0] == fields["kept"][0]
    resumed.undo()
    assert resumed.transcript.kept[0] == fields["kept"][0]


def test_what_is_kept_is_a_copy(spoken):
    note = ["once"]
    spoken.tell("first", note=note)
    note.append("twice")
    spoken.transcript.kept[-1]["note"] = "changed"
    assert spoken.transcript.kept[-1] == {"note": ["once"]}


@pytest.mark.parametrize(
    "value",
    [object(), {1, 2}, float("nan"), float("inf"), b"x", "\ud800", 1j, [np.nan]],
    ids=lambda value: type(value).__name__,
)
def test_what_json_cannot_hold_is_refused_and_nothing_is_lost(value, spoken):
    before, pending = spoken.transcript, spoken.ask()
    with pytest.raises(AnswerError, match=r"^seen is .*The answer was not taken: give it again"):
        spoken.tell("first", seconds=1.0, seen=value)
    assert spoken.transcript == before
    assert spoken.ask() == pending
    spoken.tell("first", seconds=1.0)
    assert len(spoken.answers) == 4


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(kept=st.lists(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), JSON),
                     min_size=1, max_size=4), extra=JSON)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_anything_survives_the_file(kept, extra):
    n = len(kept)
    table = [[0.25, 0.25], [0.25, 0.25]]
    written = Transcript(
        family="linear",
        options={},
        space={},
        answers=("first",) * n,
        queries=((table, table),) * n,
        kept=tuple(check_kept(item) for item in kept),
        extra={"study": extra},
    )
    again = load_transcript(written.to_json())
    assert again == written
    assert again.to_json() == written.to_json()
    assert again.extra == {"study": extra}
    assert again.kinds == ("question",) * n


def test_what_else_a_file_held_survives_going_on(spoken, binary):
    """A study's own fields stay in the file that a resumed procedure writes."""
    extra = {"study": {"arm": "B"}, "consent": True}
    resumed = Elicitation.resume(binary, signed(spoken.transcript.to_dict() | extra))
    assert resumed.transcript.extra == extra
    resumed.tell("first")
    assert resumed.transcript.extra == extra
    restored = Elicitation.restore(binary, resumed.snapshot())
    restored.undo(len(restored.answers))  # more than is kept: it is replayed
    assert restored.transcript.extra == extra
    resumed.transcript.extra["study"]["arm"] = "C"
    assert resumed.transcript.extra == extra
    on = Elicitation.resume(binary, resumed.transcript, max_queries=50)
    assert on.transcript.extra == extra
    assert spoken.transcript.extra == {}


# --- going on with a finished run


def test_a_finished_run_goes_on_where_more_is_asked_for(binary):
    short = Elicitation(binary, rng=3, agreement=0.9)
    person = MetricOracle(cost_matrix([[0, 1], [5, 0]]))
    short.run(person)
    assert short.finished
    on = Elicitation.resume(binary, short.transcript, agreement=0.998)
    assert not on.finished
    assert on.answers == short.answers
    assert on.run(person).n_queries > len(short.answers)
    assert on.result.agreement >= 0.998
    assert Elicitation.resume(binary, on.transcript).result == on.result
    few = Elicitation(binary, rng=3, agreement=1.0, max_queries=3)
    few.run(person)
    more = Elicitation.resume(binary, few.transcript, max_queries=5)
    assert more.run(person).n_queries == 5
    assert more.max_queries == 5


def test_less_than_was_asked_for_would_lose_answers(binary):
    procedure = Elicitation(binary, rng=3, agreement=1.0, max_queries=6)
    procedure.run(MetricOracle(cost_matrix([[0, 1], [5, 0]])))
    with pytest.raises(TranscriptError, match=r"6 answers and with .*stops after 4; ask for no le"):
        Elicitation.resume(binary, procedure.transcript, max_queries=4)
    with pytest.raises(OptionError, match="strategy is 'bisection'; expected only agreement"):
        Elicitation.resume(binary, procedure.transcript, strategy="bisection")
    with pytest.raises(OptionError, match="agreement is 2; expected a number"):
        Elicitation.resume(binary, procedure.transcript, agreement=2)


def test_the_kind_of_a_question_is_kept(spoken, binary):
    assert spoken.transcript.kinds == ("question",) * 3
    spoken._queries[1] = dataclasses.replace(spoken._queries[1], kind="repeat")
    kept = load_transcript(spoken.transcript.to_json())
    assert kept.kinds == ("question", "repeat", "question")
