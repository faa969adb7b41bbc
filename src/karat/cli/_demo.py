"""``karat demo``: what karat answers, shown on real data against the truth."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from karat.cli.demo import INTRODUCTION, PARTS, TITLE, TRY, Part, train_models
from karat.cli.frame import Answer, Page, console, run
from karat.report import Verdict

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
        parts: list[Part] = []
        for answer in PARTS:
            with out.status(answer.__name__.replace("_", " ")):
                found = answer(models, 0)
            for part in found:
                out.print(f"\n[bold]{part.section.question}[/bold]")
                out.print(part.section.answer, markup=False)
            parts += found
        # Each section is printed as soon as it is found, so no text is left for the end.
        verdicts = _verdicts(parts)
        page = Page(TITLE, INTRODUCTION, [part.section for part in parts], verdicts, TRY)
        out.print("\n[bold]The verdicts[/bold]")
        for verdict in verdicts:
            out.print(f"[{verdict.badge_text}] {verdict.sentence}", markup=False)
        return Answer(data={}, text=[], page=lambda: page)

    run(work, output=output)
    out.print(f"\nThe whole answer, with pictures: [bold]{output}[/bold]")
    out.print("\n[bold]On your own file[/bold]")
    for step in TRY:
        out.print(f"{step.what} {step.command}", markup=False)


def _verdicts(parts: Sequence[Part]) -> list[Verdict]:
    """Return the first conclusions, and how many truths were inside their intervals."""
    counted = [i for part in parts if not part.conditional for i in part.intervals]
    others = [i for part in parts if part.conditional for i in part.intervals]
    inside = sum(i.holds for i in counted)
    told = f"Of {len(counted)} intervals on this page that promise 95 % {inside} hold their hidden"
    told += " truth"
    if others:
        held = sum(i.holds for i in others)
        told += f"; of {len(others)} that rest on rules no label has tested {held} do"
    said = Verdict(sentence=f"{told}.", badge="certain")
    return [said, *(part.verdict for part in parts if part.verdict is not None)]
