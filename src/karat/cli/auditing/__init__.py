"""An audit of a file: its columns, the file that keeps it, and the list that people fill in.

`open_audit` starts an audit or goes on with the one beside the file; `write_todo` writes the items
to label with the columns that were asked for, and never overwrites labels that were not read.
"""

from karat.cli.auditing._code import resume_code
from karat.cli.auditing._columns import Chosen, Given, ids_of, open_audit, saved_beside
from karat.cli.auditing._todo import read_filled, shown_columns, write_todo

__all__ = [
    "Chosen",
    "Given",
    "ids_of",
    "open_audit",
    "read_filled",
    "resume_code",
    "saved_beside",
    "shown_columns",
    "write_todo",
]
