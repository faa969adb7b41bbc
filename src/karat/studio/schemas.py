"""What a study is made of, as data that are checked: texts, options, and questions with answers."""

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Short = Annotated[str, StringConstraints(max_length=200)]
Long = Annotated[str, StringConstraints(max_length=20_000)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,40}$")]
Family = Literal["linear", "ratio", "monotone", "quadratic", "polynomial"]
FAMILY_NAMES: tuple[str, ...] = get_args(Family)
SpaceName = Literal["confusion", "diagonal", "rate", "groups"]
View = Literal["flow", "bars", "errors", "table"]


class _Strict(BaseModel):
    """Refuses fields that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FormField(_Strict):
    """A question of a form: background, or after the task."""

    name: Name
    text: Long
    kind: Literal["choice", "choices", "number", "text"] = "text"
    options: tuple[Short, ...] = ()
    required: bool = False
    minimum: float | None = None
    maximum: float | None = None

    @model_validator(mode="after")
    def _has_options(self) -> "FormField":
        if self.kind in ("choice", "choices") and len(self.options) < 2:
            raise ValueError(f"the question {self.name!r} is a choice and has no two options")
        return self


def background_questions() -> tuple[FormField, ...]:
    """Return the questionnaire of Hiranandani 2021, figure 8.4; none has to be answered."""
    school = (
        "Less than high school",
        "High school or equivalent",
        "Some college, currently enrolled in college, or two-year associate's degree",
        "Bachelor's degree",
        "Some graduate school, or currently enrolled in graduate school",
        "Master's or professional degree",
        "Doctorate degree",
    )
    health = (
        "None at all",
        "I have some knowledge about healthcare",
        "I have worked in healthcare in the past",
        "I actively work in healthcare",
    )
    skill = ("None at all", "Beginner", "Intermediate", "Advanced")
    highest = (
        "What is the highest level of school you have completed or the highest degree you have "
        "received?"
    )
    return (
        FormField(name="age", text="What is your age?", kind="number", minimum=0, maximum=120),
        FormField(name="gender", text="What is your gender?"),
        FormField(name="ethnicity", text="What is your race or ethnicity?"),
        FormField(name="school", text=highest, kind="choice", options=school),
        FormField(
            name="machine_learning",
            text="What is your expertise with machine learning?",
            kind="choice",
            options=skill,
        ),
        FormField(
            name="subject",
            text="What is your expertise with healthcare?",
            kind="choice",
            options=health,
        ),
    )


def post_task_questions() -> tuple[FormField, ...]:
    """Return the questions after the task of Hiranandani 2021, table 8.2, with "predicted" (G6)."""
    texts = (
        "What do you think is worse: (a) a large number of cases that are {positive} but predicted "
        "as {negative} by a computer system, or (b) a large number of cases that are {negative} "
        "but predicted as {positive} by a computer system?",
        "Could you quantify how much worse the chosen option is in comparison to the other? Why "
        "or why not? Could you quantify this personally, such as “10 times worse for me”?",
        "For the questions presented in this task, how did you decide which system you prefer?",
        "What was difficult about making these choices?",
        "What additional information would have helped you to make these choices?",
        "Do you have any feedback for us on your experience today?",
    )
    return tuple(FormField(name=f"q{i}", text=text) for i, text in enumerate(texts, start=1))


class StudyTexts(_Strict):
    """The words of a study. ``{positive}`` and ``{negative}`` stand for the names of two classes.

    ``truth`` says of each class what is so, ``predicted`` what a system says, in the order of the
    classes; where they are empty the labels of the data stand for them.
    """

    consent: Long = (
        "You will be asked to compare computer systems. Your answers are kept for research and "
        "can be deleted at any time if you ask for it. Taking part is voluntary: you may stop by "
        "closing this page."
    )
    task: Long = (
        "Computer systems predict for each case which of several kinds it is. These systems are "
        "not always right."
    )
    costs: Long = ""
    visualisation: Long = (
        "The figure shows the predictions of one computer system. On the left stands what is true "
        "of the cases, on the right what the system predicted. The numbers count cases."
    )
    question: Short = "Which computer system would you prefer?"
    items: Short = "cases"
    thanks: Long = "Thank you for taking part. You may close this page."
    systems: tuple[Short, Short] = ("Computer System A", "Computer System B")
    truth: tuple[Short, ...] = ()
    predicted: tuple[Short, ...] = ()


class StudyOptions(_Strict):
    """How a study asks, and when it stops."""

    family: Family = "linear"
    space: SpaceName | None = None  # None: what is usual for the family
    out_of: Literal[100, 1000, 10_000] = 1000
    smooth: bool = True
    view: View = "flow"
    views: tuple[View, ...] = ("flow", "bars")
    rates_switch: bool = True
    quiz: bool = True
    checks: bool = True
    allow_tie: bool = True
    allow_skip: bool = True
    allow_undo: bool = True
    n_evaluation: int = Field(default=15, ge=0, le=100)
    guess: Literal["none", "before", "after", "randomised"] = "randomised"
    show_result: bool = True
    agreement: float = Field(default=0.95, ge=0.5, le=1.0)
    precision: float = Field(default=3.0, gt=1.0, le=100.0)
    worst_rate: float = Field(default=0.5, gt=0.0, le=1.0)
    max_queries: int | None = Field(default=None, ge=1, le=500)
    same_pairs: bool = False
    completion_code: Short = ""
    completion_url: Long = ""

    @model_validator(mode="after")
    def _web_address(self) -> "StudyOptions":
        if self.completion_url and not self.completion_url.startswith("https://"):
            raise ValueError("completion_url has to start with https://")
        return self


class StudyConfig(_Strict):
    """All that a researcher can say of a study, but for its data."""

    version: Literal[2] = 2
    texts: StudyTexts = StudyTexts()
    options: StudyOptions = StudyOptions()
    questionnaire: tuple[FormField, ...] = Field(default_factory=background_questions)
    post: tuple[FormField, ...] = Field(default_factory=post_task_questions)

    @model_validator(mode="after")
    def _names_once(self) -> "StudyConfig":
        for form in (self.questionnaire, self.post):
            names = [field.name for field in form]
            if len(set(names)) != len(names):
                raise ValueError(f"two questions of a form have the same name: {names}")
        return self
