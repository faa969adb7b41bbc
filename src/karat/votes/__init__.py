"""Who said what: one table of votes under the questions that are asked of votes.

Everywhere null means that a labeler was *not asked* and -1 that it *abstained*. The rooms:
`karat.votes.reading` turns what users pass into patterns, `karat.votes.tables` holds the patterns
of one domain, `karat.votes.em` fits models of votes, and `karat.votes.agreement` compares how
labelers vote together with what a model implies.
"""

from karat.votes._read_patterns import read_patterns

__all__ = ["read_patterns"]
