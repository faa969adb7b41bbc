"""From what users pass to 0/1 labels and probabilities, one column per label.

`read_table` takes several columns of labels, two classes or one column of several classes, matches
the columns of frames by name, and notes labels that carry no information. `pair_columns` says which
column of probabilities is of which class or label, and `paired_columns` brings both into the forms
that the library takes.
"""

from karat.calibration.inputs._pairing import Pairing, pair_columns, paired_columns
from karat.calibration.inputs._read import LabelTable, in_order_of, read_new, read_table

__all__ = [
    "LabelTable",
    "Pairing",
    "in_order_of",
    "pair_columns",
    "paired_columns",
    "read_new",
    "read_table",
]
