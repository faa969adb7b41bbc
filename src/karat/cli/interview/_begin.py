"""A procedure at its beginning, or where a transcript left it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from karat.elicit import Procedure, Space, Transcript, load_transcript

__all__ = ["begin"]

# Which of two values asks for more, of every option that says when to stop: a transcript goes on
# with that one.
_MORE: dict[str, Callable[[Any, Any], Any]] = {
    "agreement": max, "max_queries": max, "precision": min,
}  # fmt: skip


def begin(
    build: type[Procedure], space: Space, transcript: Path | None, given: Mapping[str, Any]
) -> tuple[Procedure, str]:
    """Return the procedure, and a line on what it goes on from; empty where it is new.

    A transcript brings its own options. Of those given now (None: not given), only what asks for
    more than the transcript did replaces them.
    """
    options = {name: value for name, value in given.items() if value is not None}
    if transcript is None or not transcript.exists():
        return build(space, **options), ""
    saved = load_transcript(transcript)
    changed = {
        name: options[name]
        for name in _MORE
        if name in options and _asks_more(saved, name, options)
    }
    procedure = build.resume(space, saved, **changed)
    n = len(saved.answers)
    raised = "".join(f", and {name} {value:g}" for name, value in changed.items())
    if procedure.finished:
        if procedure.result.status == "flagged":
            return procedure, (
                f"all is asked: {n} answers, which are flagged: begin again with another "
                "--transcript"
            )
        return procedure, (
            f"all is asked: {n} answers; a greater --agreement or --max-queries or a smaller "
            "--precision goes on"
        )
    return procedure, f"going on after {n} answers, with the options of the transcript{raised}"


def _asks_more(saved: Transcript, name: str, options: Mapping[str, Any]) -> bool:
    before, now = saved.options.get(name), options[name]
    if before is None:  # as many questions as it takes: a number is one that the answers leave
        return bool(now > len(saved.answers))
    return bool(_MORE[name](before, now) != before)
