"""Everything that the columns of a table say of the classifiers in it."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat._files import replaced
from karat._result import Result, plain
from karat._sentences import Sentence
from karat.evaluation.questions import LeftOut, estimates_of
from karat.evaluation.roles import Roles
from karat.exceptions import DataError
from karat.report import Report, Section, render_markdown, render_report
from karat.report.answer import Answer, Finding, finding
from karat.report.parts import NextStep, Table, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_SHOWN = 5  # verdicts that stand at the top


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Evaluation(Result):
    """What a table says of its classifiers: verdicts, sections, and what to do next.

    Attributes
    ----------
    title : str
        What was evaluated.
    roles : Roles
        Which column played which part.
    findings : tuple of Finding
        The answers, with the results of the library in ``finding.results``.
    left_out : tuple of LeftOut
        Questions that the columns do not answer, and what would.
    facts : tuple of (name, value)
        Rows, positive class, confidence and fingerprint of the data.
    command : str
        The command that makes the report again; empty where the data came from no file.
    notes : tuple of str
        What was done to the labels before anything was counted; it is said first.
    """

    title: str
    roles: Roles
    findings: tuple[Finding, ...]
    left_out: tuple[LeftOut, ...]
    facts: tuple[tuple[str, str], ...]
    command: str = ""
    notes: tuple[str, ...] = ()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """At most five conclusions, each with a badge that says how far it can be trusted."""
        first = [v for finding in self.findings for v in finding.verdicts[:1]]
        others = [v for finding in self.findings for v in finding.verdicts[1:]]
        room = max(_SHOWN - len(first), 0)
        chosen = [*first[:_SHOWN], *others[:room]]
        # In the order of the questions, each with its first conclusion before any has a second.
        shown = [
            v for finding in self.findings for v in finding.verdicts if any(v is c for c in chosen)
        ]
        shown += [one.verdict() for one in self.left_out[: _SHOWN - len(shown)]]
        return tuple(shown)

    @property
    def sections(self) -> tuple[Section, ...]:
        """A section per question, with its picture."""
        return tuple(one.section() for one in (*self.findings, *self._unanswered()))

    @property
    def next_steps(self) -> tuple[NextStep, ...]:
        """What to do next: labels to get, columns to add, each step once."""
        steps = [s for finding in self.findings for s in finding.next_steps]
        unique = {step.command or step.what: step for step in steps}
        return tuple(unique.values())

    def summary(self) -> str:
        """Return the verdicts, each with its badge."""
        said = [f"[{v.badge}] {v.sentence}" for v in self.verdicts]
        return " ".join([*(f"{note}." for note in self.notes), *said])

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the first answer on ``ax`` (a new figure by default) and return the axes."""
        drawn = next((f.drawn for f in self.findings if f.drawn is not None), None)
        if drawn is None:
            raise DataError("no question was answered, so there is nothing to draw; see left_out")
        return drawn.plot(ax)

    def report(self) -> Report:
        """Return the report as data."""
        return Report(
            title=self.title,
            introduction=self._introduction,
            sections=self.sections,
            verdicts=self.verdicts,
            next_steps=(*self.next_steps, *self._again()),
            facts=self.facts,
        )

    def answer(self) -> Answer:
        """Return the lines of a terminal, the page and the data of a program."""
        text: list[str | Table] = [Sentence(f"[{v.badge}] ", v.sentence) for v in self.verdicts]
        for found in self.findings:
            text += ["", found.question, found.answer]
            text += [] if found.table is None else [found.table]
        for one in self.left_out:
            text += ["", Sentence("Not answered: ", one.sentence)]
        if self.next_steps:
            text += ["", "What to do next:"]
            text += [f"  {step.what} {step.command}".rstrip() for step in self.next_steps]
        return Answer(
            data=self.to_dict(),
            text=text,
            title=self.title,
            introduction=self._introduction,
            findings=lambda: (*self.findings, *self._unanswered()),
            verdicts=self.verdicts,
            next_steps=(*self.next_steps, *self._again()),
            facts=self.facts,
        )

    @property
    def _introduction(self) -> str:
        return "".join(f"{note}. " for note in self.notes) + (
            "What the columns of this table say, question by question; every number with its "
            "limits and what they rest on."
        )

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """Return the report as one HTML page, and write it to ``path`` if there is one."""
        text = render_report(self.report())
        if path is not None:
            with replaced(Path(path)) as target:
                target.write_text(text, encoding="utf-8")
        return text

    def to_markdown(self) -> str:
        """Return the report as Markdown, for a pull request or the summary of a CI job."""
        return render_markdown(self.report())

    def to_dict(self) -> dict[str, Any]:
        """Return verdicts, results by question and facts as plain data."""
        return {
            "title": self.title,
            "notes": list(self.notes),
            "roles": {name: list(columns) for name, columns in self.roles.chosen()},
            "verdicts": [v.to_dict() for v in self.verdicts],
            "results": {f.key: plain(f.results) for f in self.findings},
            "left_out": [
                {"question": o.question, "unlock": o.unlock, "faulty": o.faulty}
                for o in self.left_out
            ],
            "next_steps": [step.to_dict() for step in self.next_steps],
            "facts": dict(self.facts),
        }

    def _columns(self) -> dict[str, Any]:
        rows = [row for f in self.findings for row in estimates_of(f)]
        names = ("question", "result", "of", "value", "lower", "upper", "n")
        return {name: [row[name] for row in rows] for name in names}

    def _unanswered(self) -> tuple[Finding, ...]:
        if not self.left_out:
            return ()
        said = "These questions need more than the columns hold"
        said += ", or a fault to be mended." if any(o.faulty for o in self.left_out) else "."
        missing = [one.sentence for one in self.left_out]
        return (finding("What was left out?", said, assumptions=missing),)

    def _again(self) -> tuple[NextStep, ...]:
        if not self.command:
            return ()
        return (NextStep(what="Make this page again:", command=self.command),)

    def _table(self) -> list[tuple[Any, str]]:
        return [(v.badge, v.sentence) for v in self.verdicts]
