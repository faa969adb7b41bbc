"""What all commands share: a table comes in, an answer goes out as text, JSON and a page.

A command names its flags with the types of this room, reads its file with `read_table`, picks
columns by flags, and returns an `Answer` to `run`. `run` does the rest, the same for every command:
it checks the paths to write before the work, reports warnings as one line each on the standard
error stream, prints text or JSON, and replaces files only when they are complete.
"""

from karat._code import Coded, call_code, script, values
from karat.cli.frame import _flags as flags
from karat.cli.frame._answer import Answer, Grid, Page, section
from karat.cli.frame._labels import (
    check_cells,
    read_class_prior,
    read_classes,
    read_null,
    read_pos_label,
)
from karat.cli.frame._metric import import_of, read_metric
from karat.cli.frame._paths import check_paths, replaced
from karat.cli.frame._probabilities import check_score_or_prob, read_probabilities
from karat.cli.frame._run import run
from karat.cli.frame._show import console, show
from karat.cli.frame._table import (
    InputTable,
    check_once,
    read_table,
    scan_table,
)
from karat.cli.frame._warnings import reported_warnings
from karat.cli.frame._writer import table_writer

__all__ = [
    "Answer",
    "Coded",
    "Grid",
    "InputTable",
    "Page",
    "call_code",
    "check_cells",
    "check_once",
    "check_paths",
    "check_score_or_prob",
    "console",
    "flags",
    "import_of",
    "read_class_prior",
    "read_classes",
    "read_metric",
    "read_null",
    "read_pos_label",
    "read_probabilities",
    "read_table",
    "replaced",
    "reported_warnings",
    "run",
    "scan_table",
    "script",
    "section",
    "show",
    "table_writer",
    "values",
]
