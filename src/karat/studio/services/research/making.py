"""Studies from what a researcher sends: a form with texts and options, and a file or a demo."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import ValidationError

from karat.datasets import LogisticLaw
from karat.exceptions import OptionError
from karat.studio.data import StudyData, unpack_data
from karat.studio.models import Study
from karat.studio.schemas import FormField, StudyConfig
from karat.studio.services import demo
from karat.studio.services.asking import check_space
from karat.studio.storage import Store

Form = Mapping[str, Sequence[str]]
DEMOS = {
    "cancer": "Breast cancer: two classes, the study of Hiranandani 2021",
    "wine": "Wine: three cultivars",
    "groups": "Two groups: simulated, for metrics that weigh gaps between groups",
}
_FLAGS = (
    "smooth",
    "rates_switch",
    "quiz",
    "checks",
    "allow_tie",
    "allow_skip",
    "allow_undo",
    "show_result",
    "same_pairs",
)
_WORDS = (
    "family",
    "out_of",
    "view",
    "n_evaluation",
    "guess",
    "agreement",
    "precision",
    "worst_rate",
    "completion_code",
    "completion_url",
)
_TEXTS = ("consent", "task", "costs", "visualisation", "question", "items", "thanks")


def read_config(form: Form, base: StudyConfig) -> StudyConfig:
    """Return a study's texts and options as a form says; what the form lacks is that of ``base``.

    Check boxes that are not ticked are not sent, so the form says by ``flags`` that it has them.
    """
    options: dict[str, Any] = base.options.model_dump()
    options |= {name: _one(form, name) for name in _WORDS if name in form}
    if "flags" in form:
        options |= {name: name in form for name in _FLAGS}
        options["views"] = [str(view) for view in form.get("views", ())] or [options["view"]]
    for name in ("max_queries", "space"):
        if name in form:
            options[name] = _one(form, name) or None
    options["out_of"] = _number(options["out_of"])
    texts: dict[str, Any] = base.texts.model_dump()
    texts |= {name: _one(form, name) for name in _TEXTS if name in form}
    if "system_a" in form:
        texts["systems"] = [_one(form, "system_a"), _one(form, "system_b")]
    for name in ("truth", "predicted"):
        if name in form:
            texts[name] = [line.strip() for line in _one(form, name).splitlines() if line.strip()]
    asked: dict[str, Any] = {
        "questionnaire": [field.model_dump() for field in base.questionnaire],
        "post": [field.model_dump() for field in base.post],
    }
    asked |= {name: read_questions(_one(form, name)) for name in asked if name in form}
    try:
        return StudyConfig.model_validate({"texts": texts, "options": options, **asked})
    except ValidationError as error:
        raise OptionError("; ".join(_said(one) for one in error.errors()[:5])) from error


def _one(form: Form, name: str) -> str:
    values = form.get(name) or [""]
    text = str(values[0]).replace("\x00", "").replace("\r\n", "\n")
    return text.encode("utf-8", "replace").decode("utf-8").strip()


def _number(value: Any) -> Any:
    return int(value) if str(value).isascii() and str(value).isdigit() else value


def _said(error: Any) -> str:
    where = " ".join(str(part) for part in error["loc"] if part not in ("options", "texts"))
    return f"{where or 'the study'}: {error['msg']}"


def check_change(store: Store, study: Study, config: StudyConfig) -> None:
    """Refuse options under which nothing can be asked about the data of a study."""
    if config.options == StudyConfig.model_validate(study.config).options:
        return
    with store.reading() as session:
        packed = session.get_one(Study, study.id).data
    check_space(unpack_data(packed), config)


def guessed_columns(names: Sequence[str]) -> dict[str, Any]:
    """Return which columns of a file are probably the label, the score, classes and the group."""
    known = {name.lower(): name for name in names}

    def first(*words: str) -> str:
        return next((known[word] for word in words if word in known), "")

    proba = [name for name in names if name.lower().startswith(("p_", "proba_", "prob_"))]
    return {
        "label": first("y_true", "label", "y", "truth", "target", "class"),
        "score": "" if proba else first("y_score", "score", "proba", "probability", "p"),
        "proba": sorted(proba),
        "group": first("group", "groups", "sex", "gender", "race"),
    }


def config_for(data: StudyData) -> StudyConfig:
    """Return texts and options that suit new data: groups, several classes or two."""
    if data.members is not None:
        options: dict[str, Any] = {"family": "linear", "space": "groups", "same_pairs": True}
    elif len(data.classes) > 2:
        options = {"family": "linear", "space": "diagonal"}
    else:
        options = {"family": "linear"}
    if len(data.classes) > 2:
        options |= {"view": "table", "views": ["table"]}
    return StudyConfig.model_validate({"options": options})


def demo_of(name: str) -> tuple[StudyData, StudyConfig]:
    """Return the data of a demo, and the texts and options that go with them."""
    if name == "cancer":
        return demo.demo_data(), demo.demo_config()
    if name == "wine":
        return _wine()
    if name == "groups":
        return _groups()
    raise OptionError(f"demo is {name!r}; expected one of {', '.join(DEMOS)}")


def _wine() -> tuple[StudyData, StudyConfig]:
    from sklearn.datasets import load_wine
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = load_wine(return_X_y=True)
    # Two of the thirteen measurements: with all of them nothing is left to choose between.
    X_train, X_test, y_train, y_test = train_test_split(
        X[:, [0, 10]], y, test_size=0.5, random_state=0, stratify=y
    )
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
    data = StudyData(
        codes=np.asarray(y_test),
        values=np.asarray(model.predict_proba(X_test)),
        classes=("first", "second", "third"),
    )
    texts = {
        "task": "A laboratory tells from measurements which of three kinds of grape a wine is "
        "made of. Computer systems help, and are not always right.",
        "items": "wines",
    }
    return data, StudyConfig.model_validate(
        {
            "texts": texts,
            "options": {
                "family": "linear",
                "space": "diagonal",
                "view": "table",
                "views": ["table"],
            },
        }
    )


def _groups() -> tuple[StudyData, StudyConfig]:
    law = LogisticLaw.binary(5.0)
    x, drawn = law.sample(2000, rng=0)
    members = np.random.default_rng(1).integers(2, size=2000)
    chance = law.proba(x)[:, 1]
    # Those of the second group are predicted less well: their scores are blurred.
    blurred = np.where(members == 1, 0.6 * chance + 0.2, chance)
    data = StudyData(
        codes=np.asarray(drawn),
        values=blurred,
        classes=("repays", "defaults"),
        members=members,
        groups=("group A", "group B"),
    )
    texts = {
        "task": "A bank asks computer systems whether someone will repay a loan. They are not "
        "always right, and they may err more often about one group of people than about another.",
        "items": "people",
        "truth": ["repay", "do not repay"],
        "predicted": ["repays", "defaults"],
    }
    options = {"family": "linear", "space": "groups", "same_pairs": True}
    return data, StudyConfig.model_validate({"texts": texts, "options": options})


# --- Questionnaires as text that a researcher can edit: one question a line.
#
# A line is ``name | question | kind``, where the kind is nothing (a line of text), ``number 0 to
# 120``, ``one of: a; b; c`` or ``any of: a; b; c``; a star after the name asks for an answer.


_NUMBER = re.compile(r"number(?:\s+(-?[\d.]+)\s+to\s+(-?[\d.]+))?")


def questions_as_text(fields: tuple[FormField, ...]) -> str:
    """Return questions as text; `read_questions` reads it back."""
    return "\n".join(_line(field) for field in fields)


def _line(field: FormField) -> str:
    parts = [field.name + "*" * field.required, " ".join(field.text.split())]
    if field.kind == "number":
        low, high = field.minimum, field.maximum
        limits = "" if low is None or high is None else f" {low:g} to {high:g}"
        parts.append(f"number{limits}")
    elif field.kind != "text":
        word = "one of" if field.kind == "choice" else "any of"
        parts.append(f"{word}: {'; '.join(field.options)}")
    return " | ".join(parts)


def read_questions(text: str) -> list[dict[str, Any]]:
    """Return the questions of a text as plain data, for `FormField` to check."""
    lines = [line.strip() for line in text.splitlines()]
    return [_read(line, number) for number, line in enumerate(lines, start=1) if line]


def _read(line: str, number: int) -> dict[str, Any]:
    parts = [part.strip() for part in line.split("|")]
    if len(parts) not in (2, 3) or not all(parts[:2]):
        raise OptionError(
            f"line {number} of the questions is {line[:60]!r}; expected name | question, or "
            "name | question | kind"
        )
    name, asked, kind = parts[0], parts[1], parts[2] if len(parts) == 3 else ""
    found: dict[str, Any] = {"name": name.rstrip("*"), "text": asked}
    found["required"] = name.endswith("*")
    start, _, rest = kind.partition(":")
    if limits := _NUMBER.fullmatch(kind):
        found["kind"] = "number"
        if limits[1] is not None:
            found |= {"minimum": limits[1], "maximum": limits[2]}
    elif start in ("one of", "any of"):
        found["kind"] = "choice" if start == "one of" else "choices"
        found["options"] = [option.strip() for option in rest.split(";") if option.strip()]
    elif kind not in ("", "text"):
        raise OptionError(
            f"line {number} of the questions has the kind {kind[:40]!r}; expected nothing, "
            "number, number 0 to 10, one of: a; b or any of: a; b"
        )
    return found
