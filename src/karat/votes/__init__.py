"""Who said what: one table of votes under the questions that are asked of votes.

Everywhere null means that a labeler was *not asked* and -1 that it *abstained*.
`karat.votes.reading` turns what users pass into patterns, `long_names` knows what the columns of
long tables are called, `domains` parts the votes by domain, `tables` holds the patterns of one,
`em` fits models of votes, and `agreement` compares how labelers vote together with what a model
implies.
"""

from karat.votes.reading import read_patterns

__all__ = ["read_patterns"]
