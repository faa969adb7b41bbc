"""``karat demo``: what karat answers, shown on real data against the truth."""

from pathlib import Path

from karat.cli._demo._better_at_it import better_at_it
from karat.cli._demo._elicited import elicited
from karat.cli._demo._from_votes import from_votes
from karat.cli._demo._models import train_models
from karat.cli._demo._no_labels import no_labels
from karat.cli._demo._trusted_jointly import trusted_jointly
from karat.cli._demo._where_it_matters import where_it_matters
from karat.cli._demo._which_metric import which_metric
from karat.cli._demo._worth_of_fairness import worth_of_fairness
from karat.exceptions import DataError
from karat.report import render_report

__all__ = ["run_demo"]

_TITLE = "What karat knows about two classifiers"
_INTRODUCTION = (
    "Two classifiers read the same 569 biopsies (the breast cancer data shipped with scikit-learn) "
    "and say how likely each is to be malignant. Each section asks one question about them and "
    "answers it with its uncertainty."
)
# One function per section, in the order of the page; each takes the models and gives a Section.
_SECTIONS = (
    which_metric, elicited, worth_of_fairness, better_at_it, no_labels, from_votes,
    where_it_matters, trusted_jointly,
)  # fmt: skip


def run_demo(output: Path, *, quiet: bool = False) -> None:
    """Train the models, answer each question, print the answers and write the page."""
    from rich.console import Console

    console = Console(quiet=quiet)
    _prepare(output)
    with console.status("training two classifiers"):
        models = train_models()
    sections = []
    for answer in _SECTIONS:
        with console.status(answer.__name__.replace("_", " ")):
            section = answer(models)
        console.print(f"\n[bold]{section.question}[/bold]\n{section.answer}")
        sections.append(section)
    output.write_text(render_report(_TITLE, _INTRODUCTION, sections), encoding="utf-8")
    console.print(f"\nThe whole answer, with pictures: [bold]{output}[/bold]")


def _prepare(output: Path) -> None:
    """Make sure that the page can be written before any work is done."""
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise DataError(
            f"{str(output)!r} cannot be written ({error}); pass another --output"
        ) from error
