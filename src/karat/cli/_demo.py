"""``karat demo``: what karat answers, shown on real data against the truth."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from karat._result import basis_of
from karat.cli._run import console, run
from karat.cli.demo import INTRODUCTION, PARTS, TITLE, TRY, Interval, Part, train_models
from karat.report.answer import Answer
from karat.report.parts import Verdict


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
        out.print("\n[bold]The verdicts[/bold]")
        for verdict in verdicts:
            out.print(f"[{verdict.badge}] {verdict.sentence}", markup=False)
        return Answer(
            title=TITLE,
            introduction=INTRODUCTION,
            findings=lambda: [part.section for part in parts],
            verdicts=verdicts,
            next_steps=TRY,
        )

    run(work, output=output)
    out.print(f"\nThe whole answer, with pictures: [bold]{output}[/bold]")
    out.print("\n[bold]On your own file[/bold]")
    for step in TRY:
        out.print(f"{step.what} {step.command}", markup=False)


def _verdicts(parts: Sequence[Part]) -> list[Verdict]:
    """Return the first conclusions, and how many truths were inside their intervals."""
    counted = [i for part in parts if not part.conditional for i in part.intervals]
    others = [i for part in parts if part.conditional for i in part.intervals]
    told = f"{_share(counted)} of the 95 % intervals on this page contain the true value."
    if others:
        told += (
            f" Of the label-free bounds {_share(others).lower()} do: no label has tested the rules "
            "behind them."
        )
    said = Verdict(sentence=told, badge=basis_of("complete"))  # all were counted
    return [said, *(part.verdict for part in parts if part.verdict is not None)]


def _share(intervals: Sequence[Interval]) -> str:
    """Return how many intervals contain their truth."""
    inside = sum(i.holds for i in intervals)
    return f"All {inside}" if inside == len(intervals) else f"{inside} of {len(intervals)}"
