"""Sphinx extension: the commands of ``how-to/ten-tasks.md`` are run, and their output is shown.

They run in order in one folder, with files that are written first, a person who fills in labels,
and one who types. The tests run the page in the same way.
"""

import io
import re
import shlex
import sys
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap

import numpy as np
import polars as pl

from karat.cli import main
from karat.cli.demo import train_models

__all__ = ["blocks", "run_block", "with_output", "write_files"]

# A block of commands: fenced, without a language.
_BLOCK = re.compile(r"^```\n((?:karat |#).*?)^```\n", re.MULTILINE | re.DOTALL)
_RULES = {"rule_texture": "worst texture", "rule_smoothness": "worst smoothness",
          "rule_area": "worst area"}  # fmt: skip
_READERS = {**_RULES, "rule_concave": "worst concave points"}
_PAGE = "how-to/ten-tasks"
_LABELLED = 200
_LONGEST = 48  # lines of output that are shown
_WIDTH = 92


def write_files(folder: Path) -> None:
    """Write the files of the page: biopsies, votes on them, and properties of digits."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

    models = train_models()
    rng = np.random.default_rng(0)
    n = len(models.y_true)
    order = rng.permutation(n)
    known = np.full(n, None, dtype=object)
    known[order[:_LABELLED]] = np.asarray(models.y_true, dtype=object)[order[:_LABELLED]]
    logistic, bayes = models.scores

    def votes(name: str) -> list[str]:
        rank = np.argsort(np.argsort(models.measurements[name])) / n
        return models.classes[(rank > 0.62).astype(int)].tolist()

    biopsies = pl.DataFrame({
        "id": [f"b{i:03d}" for i in range(n)], "diagnosis": known.tolist(),
        "logistic": models.predict(logistic).tolist(), "bayes": models.predict(bayes).tolist(),
        "p_logistic": models.scores[logistic].round(4), "p_bayes": models.scores[bayes].round(4),
        **{column: votes(name) for column, name in _RULES.items()},
    })  # fmt: skip
    biopsies.write_csv(folder / "biopsies.csv")
    pl.DataFrame({"id": biopsies["id"], "truth": models.y_true.tolist()}).write_csv(
        folder / "truth.csv"
    )
    readers = {column.replace("rule", "reader"): votes(name) for column, name in _READERS.items()}
    biopsies.select("id", "logistic", "bayes").with_columns(
        pl.Series(column, values) for column, values in readers.items()
    ).write_csv(folder / "votes.csv")

    pixels, digit = load_digits(return_X_y=True)
    half = rng.permutation(len(digit)) < len(digit) // 2
    properties = {"even": (0, 2, 4, 6, 8), "loop": (0, 6, 8, 9), "prime": (2, 3, 5, 7)}
    columns = {}
    for name, members in properties.items():
        y = np.isin(digit, members).astype(int)
        fitted = LogisticRegression(C=1e-3, max_iter=2000).fit(pixels[half], y[half])
        columns[f"is_{name}"] = y[~half]
        columns[f"p_{name}"] = fitted.predict_proba(pixels[~half])[:, 1].round(4)
    pl.DataFrame(columns).write_csv(folder / "digits.csv")


def _fill_in(folder: Path) -> None:
    """Label the items of todo.csv, as a person with a microscope would."""
    truth = dict(pl.read_csv(folder / "truth.csv").iter_rows())
    todo = pl.read_csv(folder / "todo.csv")
    labels = [truth[item] for item in todo["item"]]
    todo.with_columns(pl.Series("label", labels)).write_csv(folder / "todo.csv")


# What a page asks of a person, by the comment that says so.
_PEOPLE: dict[str, Callable[[Path], None]] = {
    "# now fill in the column label of todo.csv": _fill_in,
}


class _Doctor(io.TextIOBase):
    """Somebody who types: a missed cancer is as bad as ten false alarms."""

    def __init__(self, screen: io.StringIO) -> None:
        self._screen = screen

    def readline(self, size: int | None = -1, /) -> str:
        """Read the pair that is on the screen, and answer."""
        shown = self._screen.getvalue()
        missed, alarms = (
            [int(count) for count in re.findall(r"\d+", shown[shown.rindex(row) :].split("\n")[0])]
            for row in ("malignant as benign", "benign as malignant")
        )
        costs = [10 * m + f for m, f in zip(missed, alarms, strict=True)]
        answer = "1\n" if costs[0] <= costs[1] else "2\n"
        self._screen.write(answer)
        return answer


def blocks(text: str) -> list[str]:
    """Return the blocks of commands of a page."""
    return [found[1] for found in _BLOCK.finditer(text)]


def run_block(block: str, folder: Path) -> str:
    """Run the commands of a block in a folder, and return what a terminal would show.

    Raises
    ------
    RuntimeError
        If a command fails.
    """
    lines = [line for line in block.replace("\\\n", " ").splitlines() if line.strip()]
    screen = io.StringIO()
    for line in lines:
        screen.write(f"$ {line}\n" if line.startswith("karat ") else f"{line}\n")
        if line.startswith("karat "):
            _run(shlex.split(line)[1:], folder, screen)
        else:
            _PEOPLE[line](folder)
    return screen.getvalue()


def _run(arguments: list[str], folder: Path, screen: io.StringIO) -> None:
    own, sys.stdin = sys.stdin, _Doctor(screen)  # type: ignore[assignment]
    try:
        with chdir(folder), redirect_stdout(screen), redirect_stderr(screen):
            main(arguments)
    except SystemExit as end:
        if end.code:
            said = screen.getvalue()
            raise RuntimeError(
                f"karat {' '.join(arguments)} ended with {end.code}: {said}"
            ) from end
    finally:
        sys.stdin = own


def with_output(text: str, folder: Path) -> str:
    """Return a page whose blocks of commands show what the commands print."""
    return _BLOCK.sub(lambda found: _block(_short(run_block(found[1], folder))), text)


def _block(shown: str) -> str:
    return f"```{{code-block}} text\n:class: output\n\n{shown}```\n"


def _wrapped(line: str) -> list[str]:
    """Return a sentence in lines as wide as a page; tables and bars stay as they are."""
    if len(line) <= _WIDTH or any(mark in line for mark in "│┃━─█"):
        return [line]
    return wrap(line, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _short(shown: str) -> str:
    """Return what is shown, without the middle of what is long."""
    lines = [part for line in shown.splitlines() for part in _wrapped(line.rstrip())]
    if len(lines) > _LONGEST:
        kept = _LONGEST // 2
        lines = [*lines[:kept], f"  … {len(lines) - 2 * kept} lines …", *lines[-kept:]]
    return "\n".join(lines) + "\n"


def _show(app, docname, content):
    if docname == _PAGE:
        with TemporaryDirectory() as folder:
            write_files(Path(folder))
            content[0] = with_output(content[0], Path(folder))


def setup(app):
    app.connect("source-read", _show)
    return {"parallel_read_safe": True, "version": "1"}
