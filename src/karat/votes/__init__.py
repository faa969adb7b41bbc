"""Who said what: one table of votes under the questions that are asked of votes.

Everywhere null means that a labeler was *not asked* and -1 that it *abstained*.
`karat.votes.table` is the reader of vote tables, wide and long, from which everything starts;
`names` knows what the columns of long tables are called, `reading` turns a table into patterns,
`domains` parts the votes by domain, `patterns` holds the patterns of one, `em` fits models of
votes, and `agreement` compares how labelers vote together with what a model implies.
"""

from karat.votes.reading import read_patterns
from karat.votes.table import read_table

__all__ = ["read_patterns", "read_table"]
