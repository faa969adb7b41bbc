"""One way through every command."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from karat._frozen import plain
from karat.cli.frame._answer import Answer, Page
from karat.cli.frame._paths import check_paths, replaced
from karat.cli.frame._show import show
from karat.cli.frame._warnings import reported_warnings

__all__ = ["run"]


def run(
    work: Callable[[], Answer],
    *,
    output: Path | None = None,
    as_json: bool = False,
    reads: Sequence[Path] = (),
    writes: Mapping[str, Path | None] | None = None,
) -> None:
    """Check the paths, do the work, write the page and print the answer.

    Parameters
    ----------
    work : callable
        Does the work and returns the answer.
    output : Path, optional
        Where to write the page.
    as_json : bool, default False
        Whether to print JSON, with the warnings in it, and nothing else.
    reads : sequence of Path
        Files that the command reads and must not overwrite.
    writes : mapping, optional
        Other files that ``work`` writes, by the flags that named them.
    """
    check_paths({"--output": output, **(writes or {})}, reads)
    with reported_warnings() as warned:
        answer = work()
        page = None if output is None or answer.page is None else answer.page()
    try:
        # The page comes first: a terminal that fails must not take it along.
        if output is not None and page is not None:
            _write(page, warned, output)
    finally:
        if as_json:
            sys.stdout.write(json.dumps(plain({**answer.data, "warnings": warned})) + "\n")
        else:
            show(answer.text)


def _write(page: Page, warned: list[str], output: Path) -> None:
    """Write the page; its first section names the warnings among what the answer rests on."""
    from karat.report import Report, render_report

    first, *others = page.sections
    first = replace(first, assumptions=(*first.assumptions, *warned))
    report = Report(
        title=page.title,
        introduction=page.introduction,
        sections=(first, *others),
        verdicts=tuple(page.verdicts),
        next_steps=tuple(page.next_steps),
        facts=tuple(page.facts),
    )
    text = render_report(report)
    with replaced(output) as path:
        path.write_text(text, encoding="utf-8")
