"""From what users pass to 0/1 labels and probabilities, one column per label.

`read_table` takes several columns of labels, two classes or one column of several classes, matches
the columns of frames by name, and notes labels that carry no information.
"""

from karat.calibration.inputs._read import LabelTable, in_order_of, read_new, read_table

__all__ = ["LabelTable", "in_order_of", "read_new", "read_table"]
