"""What an audit is given: predictions, ids, what other sources say of the truth, and labels.

`read_items` checks all of it and turns probabilities, votes or scores into one guess of the truth
of every item; `fingerprints` tell the data of a saved audit from others; `read_labels` turns what
people filled in into positions and classes, with the first mistake named.
"""

from karat.audit.inputs._fingerprint import fingerprints
from karat.audit.inputs._items import Items, assumed, read_items
from karat.audit.inputs._labels import Told, find_items, read_labels

__all__ = [
    "Items",
    "Told",
    "assumed",
    "find_items",
    "fingerprints",
    "read_items",
    "read_labels",
]
