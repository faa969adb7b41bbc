"""A procedure at its beginning, or where a transcript left it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from karat.elicit import Procedure, Space, Transcript, load_transcript
from karat.exceptions import OptionError

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
    more than the transcript did replaces them; the line names the others.
    """
    options = {name: value for name, value in given.items() if value is not None}
    if transcript is None or not transcript.exists():
        return build(space, **options), ""
    saved = load_transcript(transcript)
    if saved.procedure != build.__name__:
        raise OptionError(
            f"--transcript is {str(transcript)!r}, whose answers were given to {saved.procedure}, "
            f"and these options ask by {build.__name__}; expected the --family and --group that it "
            "was made with, or another file"
        )
    changed = {
        name: options[name]
        for name in _MORE
        if name in options and _asks_more(saved, name, options)
    }
    procedure = build.resume(space, saved, **changed)
    n = "1 answer" if len(saved.answers) == 1 else f"{len(saved.answers)} answers"
    left = [
        f"--{name.replace('_', '-')} {value}"
        for name in ("strategy", *_MORE)
        if (value := options.get(name, saved.options.get(name))) != saved.options.get(name)
        and name not in changed
    ]
    raised = "".join(f", and {name} {value:g}" for name, value in changed.items())
    if procedure.finished:
        if procedure.result.status == "flagged":
            return procedure, (
                f"all is asked: {n}, which are flagged: begin again with another --transcript"
            )
        return procedure, (
            f"all is asked: {n}; a greater --agreement or --max-queries or a smaller "
            "--precision goes on"
        )
    ignored = f" (not {', '.join(left)})" if left else ""
    return procedure, f"going on after {n}, with the options of the transcript{ignored}{raised}"


def _asks_more(saved: Transcript, name: str, options: Mapping[str, Any]) -> bool:
    before, now = saved.options.get(name), options[name]
    if before is None:  # as many questions as it takes: a number is one that the answers leave
        return bool(now > len(saved.answers))
    return bool(_MORE[name](before, now) != before)
