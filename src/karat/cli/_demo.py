"""``karat demo``: what karat answers, shown on real data against the truth."""

from pathlib import Path
from typing import Annotated

import typer

from karat.cli.demo import INTRODUCTION, SECTIONS, TITLE, train_models
from karat.cli.frame import Answer, Page, console, run

__all__ = ["demo"]


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write the page; its folder must exist.")
    ] = Path("karat-demo.html"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Show on real data what karat answers, and write a report.

    Example:  karat demo --output demo.html
    """
    out = console()
    out.quiet = quiet

    def work() -> Answer:
        with out.status("training two classifiers"):
            models = train_models()
        sections = []
        for answer in SECTIONS:
            with out.status(answer.__name__.replace("_", " ")):
                section = answer(models)
            out.print(f"\n[bold]{section.question}[/bold]\n{section.answer}")
            sections.append(section)
        # Each section is printed as soon as it is found, so no text is left for the end.
        page = Page(TITLE, INTRODUCTION, sections)
        return Answer(data={}, text=[], page=lambda: page)

    run(work, output=output)
    out.print(f"\nThe whole answer, with pictures: [bold]{output}[/bold]")
