"""Errors and warnings have fields, every front end says them in its own words, none is parsed."""

import ast
import copy
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import karat
from karat import exceptions
from karat._sentences import (
    Argument,
    Expected,
    Given,
    Option,
    Remedy,
    Row,
    Sentence,
    Wording,
    in_words,
)
from karat.cli.words import command_line, in_flags
from karat.exceptions import KaratError, KaratWarning, LabelError, PositiveClassError
from karat.metrics import accuracy, f1, precision
from karat.ranking import average_precision, roc_auc
from karat.statistics import confusion
from karat.studio.words import in_fields

SOURCE = Path(karat.__file__).parent
FIELDS = ("argument", "column", "row", "given", "expected", "remedy")
CLASSES = [getattr(exceptions, name) for name in exceptions.__all__]

# What other software says may be shortened, and told apart where it has no class of its own.
OF_OTHERS = {
    ("_files.py", "first_line"),
    ("_files.py", "first_words"),
    ("sources/engines.py", "engine_errors"),
}


# --- No sentence of an error is parsed.

READS = {
    "count", "endswith", "find", "index", "partition", "removeprefix", "removesuffix", "replace",
    "rfind", "rindex", "rpartition", "rsplit", "split", "splitlines", "startswith",
    "translate",
}  # fmt: skip
SAYS = {"summary", "sentence", "remedy"}


def parsed(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the functions and lines in which the text of an error or of an answer is read."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for line in _parsed_in(function):
                yield function.name, line


def _parsed_in(function: ast.FunctionDef) -> Iterator[int]:
    nodes = list(ast.walk(function))
    errors = {n.name for n in nodes if isinstance(n, ast.ExceptHandler) and n.name}
    arguments = [*function.args.args, *function.args.kwonlyargs]
    kinds = {a.arg: ast.unparse(a.annotation) for a in arguments if a.annotation}
    errors |= {a for a, kind in kinds.items() if re.search(r"Error|Exception|Warning", kind)}

    def says(node: ast.AST) -> bool:
        """Whether an expression is text of an error or of an answer."""
        if isinstance(node, ast.Name):
            return node.id in texts
        if isinstance(node, ast.Call):
            called, given = node.func, node.args
            if isinstance(called, ast.Name) and called.id in ("str", "repr") and given:
                return is_error(given[0]) or says(given[0])
            return isinstance(called, ast.Attribute) and (
                called.attr in SAYS or (called.attr in ("lower", "strip") and says(called.value))
            )
        if isinstance(node, ast.JoinedStr):
            inner = [v.value for v in node.values if isinstance(v, ast.FormattedValue)]
            return any(is_error(value) or says(value) for value in inner)
        if isinstance(node, ast.Attribute):
            return node.attr in SAYS or (node.attr == "args" and is_error(node.value))
        return isinstance(node, ast.Subscript) and says(node.value)

    def is_error(node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in errors

    texts: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and says(node.value):
            texts |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called = node.func
            of_re = isinstance(called.value, ast.Name) and called.value.id == "re"
            matched = of_re or called.attr in ("match", "search", "fullmatch", "sub", "findall")
            if (called.attr in READS and says(called.value)) or (
                matched and any(says(argument) for argument in node.args)
            ):
                yield node.lineno
        elif isinstance(node, ast.Compare) and any(map(says, [node.left, *node.comparators])):
            yield node.lineno


@pytest.mark.parametrize(
    "code",
    [
        "if 'other data' in str(error): raise",
        "raise ValueError(str(error).removesuffix(', or pass format='))",
        "head, _, rest = f'{error}'.partition(';')",
        "said = str(error)\n        return re.sub('y_true', '--label', said)",
        "return error.args[0].replace('a', 'b')",
        "return PATTERN.search(str(error))",
        "return result.summary().replace('a', 'b')",
        "return error.sentence.split('; ')[0]",
        "return str(error) == 'no rows'",
    ],
)
def test_parsing_is_found(code):
    text = f"def f(result):\n    try:\n        g()\n    except E as error:\n        {code}\n"
    assert list(parsed(ast.parse(text)))


def test_no_sentence_is_parsed():
    found = [
        (path.relative_to(SOURCE).as_posix(), function, line)
        for path in SOURCE.rglob("*.py")
        for function, line in parsed(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert {(path, function) for path, function, _ in found} == OF_OTHERS, found


# --- What the reader may pass is a mark, so that every front end says it in its own words.

NAMED = re.compile(r"(?<![\w.'(\[])[a-z]\w*=(?=[\s.,;:]|$)")


def messages(tree: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that make an error or a warning of karat."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in exceptions.__all__:
            yield node


def plain_options(call: ast.Call) -> list[str]:
    """Return the options that a message names by text alone; code in brackets is code."""
    said = [re.sub(r"\([^()]*\)", "", text) for text in _texts(call)]
    return [name for text in said for name in NAMED.findall(text)]


ARGUMENT = re.compile(
    r"(?<![\w.('\[])(y_true|y_pred|y_score|y_prob|weak_labels|sample_weight|pos_label|class_prior)\b"
    r"(?![(\[]|\.\w| ==)"
)


def test_an_argument_in_a_message_is_a_mark():
    """Code is none: ``frame[y_true]``, ``y_true == 1``, and what stands in brackets."""
    for path in SOURCE.rglob("*.py"):
        for call in messages(ast.parse(path.read_text(encoding="utf-8"))):
            marks = {ast.unparse(n.args[0]) for n in ast.walk(call) if _is_mark(n)}
            for text in _texts(call):
                plain = ARGUMENT.findall(re.sub(r"[({][^(){}]*[)}]", "", text))
                assert not plain or repr(text) in marks, (path.name, call.lineno, text)


def _is_mark(node: ast.AST) -> bool:
    names = ("Argument", "Argument.of", "Option")
    return isinstance(node, ast.Call) and ast.unparse(node.func) in names


def _texts(call: ast.Call) -> list[str]:
    nodes = [node for argument in call.args for node in ast.walk(argument)]
    found = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return [text for text in found if isinstance(text, str)]


def test_an_option_in_a_message_is_a_mark():
    assert plain_options(ast.parse("E('pass classes= to name them')").body[0].value)
    assert not plain_options(ast.parse("E('pass ', Option('classes'), ' to name')").body[0].value)
    found = [
        (path.relative_to(SOURCE).as_posix(), call.lineno, plain_options(call))
        for path in SOURCE.rglob("*.py")
        for call in messages(ast.parse(path.read_text(encoding="utf-8")))
        if plain_options(call)
    ]
    assert not found, found


# --- Fields, of every class.


def made(kind):
    return kind(
        Argument("votes", "judge_a"),
        Row(np.int64(3), " is "),
        Given(np.float64(0.5)),
        "; expected ",
        Expected("a class"),
        Remedy("Cut it with ", Option("threshold"), after=". "),
    )


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_class_has_the_fields_and_keeps_them(kind):
    error = made(kind)
    assert str(error) == (
        "votes column 'judge_a' row 3 is 0.5; expected a class. Cut it with threshold="
    )
    expected = {
        "argument": "votes", "column": "judge_a", "row": 3, "given": 0.5, "expected": "a class",
        "remedy": "Cut it with threshold=",
    }  # fmt: skip
    assert {name: getattr(error, name) for name in FIELDS} == expected
    for again in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert type(again) is kind
        assert str(again) == str(error)
        assert {name: getattr(again, name) for name in FIELDS} == expected
        assert in_fields(again.sentence) == in_fields(error.sentence)
    plain = kind("the file is empty")
    assert str(plain) == "the file is empty"
    assert {getattr(plain, name) for name in FIELDS} == {None}


def test_fields_that_are_passed_come_before_those_of_marks():
    error = KaratError(Argument("y_score"), " is wrong", argument="y_prob", row=0, remedy="mend it")
    assert (error.argument, error.row, error.remedy) == ("y_prob", 0, "mend it")
    assert pickle.loads(pickle.dumps(error)).argument == "y_prob"


def test_an_error_takes_up_another_with_its_fields():
    first = LabelError(Argument("y_true"), Row(2), " is missing", remedy="drop the row")
    error = exceptions.ColumnError("group 'a': ", first, ". Are these labels?")
    assert str(error) == "group 'a': y_true row 2 is missing. Are these labels?"
    assert (error.argument, error.row, error.remedy) == ("y_true", 2, "drop the row")
    assert str(KaratError("not read: ", ValueError("no"))) == "not read: no"


def test_what_is_given_is_kept_as_text_where_it_is_no_plain_value():
    error = KaratError("it is ", Given(iter([])))
    assert error.given.startswith("<list_iterator")
    assert pickle.loads(pickle.dumps(error)).given == error.given


Y, PRED = ["ham", "spam", "ham", "spam"], ["ham", "spam", "spam", "spam"]
SAMPLES = {
    "EmptyDataError": (lambda: accuracy.score([], []), {"argument": "y_true"}),
    "ShapeError": (
        lambda: accuracy.score(None, PRED),
        {"argument": "y_true", "remedy": "pass one value per row"},
    ),
    "LengthMismatchError": (
        lambda: accuracy.score(Y, PRED[:3]),
        {"argument": "y_pred", "given": 3, "remedy": "pass one row of each per item"},
    ),
    "LabelError": (
        lambda: accuracy.score(["ham", None, "ham", "spam"], PRED),
        {"argument": "y_true", "row": 1, "remedy": "drop these rows or fill them in before "
         "the call"},
    ),
    "PositiveClassError": (
        lambda: f1.score(list("abab"), list("abba")),
        {"remedy": "say which is positive, for example pos_label='a'"},
    ),
    "ProbabilityError": (
        lambda: confusion(Y, [[0.5, 0.5], [0.5, 0.7], [1, 0], [0, 1]]),
        {"argument": "y_pred", "row": 1, "expected": "1"},
    ),
    "ScoreError": (
        lambda: roc_auc(Y, [0.1, 0.2, np.inf, 0.3], pos_label="spam"),
        {"argument": "y_score", "row": 2, "given": np.inf, "expected": "finite numbers"},
    ),
    "WeightError": (
        lambda: accuracy.score(Y, PRED, sample_weight=[1, -1, 1, 1]),
        {"argument": "sample_weight", "row": 1, "given": -1.0},
    ),
    "ColumnError": (
        lambda: accuracy.score("label", PRED),
        {"argument": "y_true", "given": "label"},
    ),
    "OptionError": (
        lambda: precision.estimate(Y, PRED, confidence=95, pos_label="spam"),
        {"argument": "confidence", "given": 95,
         "expected": "a number between 0 and 1, such as 0.95"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_the_fields_of_errors_as_they_are_raised(name):
    call, fields = SAMPLES[name]
    with pytest.raises(getattr(exceptions, name)) as caught:
        call()
    assert {field: getattr(caught.value, field) for field in fields} == fields


def test_a_warning_has_fields_too():
    rounded = [[0.33, 0.67], [0.334, 0.67], [1, 0], [0, 1]]
    with pytest.warns(KaratWarning, match="rounded probabilities") as caught:
        confusion(Y, rounded)
    assert caught[0].message.argument == "y_pred"


# --- One error in three vocabularies.

COMMAND = ["audit", "mails.csv", "--label", "truth", "--pred", "model"]


@pytest.mark.parametrize(
    ("call", "python", "flags", "fields"),
    [
        (
            lambda: accuracy.score(["ham", None, "ham", "spam"], PRED),
            "y_true row 1 is missing (1 missing in all); drop these rows or fill them in before "
            "the call",
            "--label truth data row 2 is missing (1 missing in all); drop these rows or fill them "
            "in",
            "the field “True label” row 2 is missing (1 missing in all); drop these rows or fill "
            "them in",
        ),
        (
            lambda: f1.score(list("abab"), list("abba")),
            "labels are 'a' and 'b'; say which is positive, for example pos_label='a'",
            "labels are 'a' and 'b'; say which is positive, for example --pos-label a",
            "labels are 'a' and 'b'; say which is positive, for example the field “Positive "
            "class” with a",
        ),
        (
            lambda: accuracy.score(["ham"] * 4, ["ham"] * 4),
            "y_true and y_pred hold one class only, 'ham'; expected at least two. If the others "
            "just do not occur here, name them all with classes=, of two the positive one last",
            "--label truth and --pred model hold one class only, 'ham'; expected at least two; "
            "add rows of another class",
            "the field “True label” and the field “Prediction” hold one class only, 'ham'; "
            "expected at least two; add rows of another class",
        ),
    ],
)
def test_one_error_in_three_vocabularies(call, python, flags, fields):
    with pytest.raises(LabelError) as caught:
        call()
    said = caught.value.sentence
    assert str(caught.value) == said == python
    with command_line(COMMAND):
        assert in_flags(said) == flags
    assert in_fields(said) == fields


def test_rows_are_not_named_where_they_are_not_those_of_the_file():
    said = Sentence(Argument("y_true"), Row(1, " is missing (2 in all)", " is empty in 2 rows"))
    with command_line(["score", *COMMAND[1:]]):
        assert in_flags(said) == "--label truth is empty in 2 rows"


def test_words_for_python_alone_are_left_out_elsewhere():
    said = Sentence("so", Wording(", or None", elsewhere=""), Remedy("call f()", elsewhere=""))
    assert said == "so, or None; call f()"
    assert in_flags(said) == in_fields(said) == "so"
    assert in_words("plain text", None) == "plain text"


def test_the_positive_class_error_names_where_the_labels_are():
    with pytest.raises(PositiveClassError) as caught:
        average_precision(list("abab"), [0.1, 0.2, 0.3, 0.4])
    assert caught.value.argument == "y_true"
