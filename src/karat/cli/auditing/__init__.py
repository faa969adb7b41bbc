"""An audit of a file: its columns, the file that keeps it, and the list that people fill in.

`open_audit` starts an audit or goes on with the one beside the file; `write_todo` writes the items
to label with what there is to see of them, and never overwrites labels that were not read.
"""

from karat.cli.auditing._columns import Chosen, open_audit, saved_beside
from karat.cli.auditing._todo import read_filled, write_todo

__all__ = ["Chosen", "open_audit", "read_filled", "saved_beside", "write_todo"]
