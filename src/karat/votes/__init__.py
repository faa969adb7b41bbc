"""Who said what: one table of votes under the questions that are asked of votes.

Everywhere null means that a labeler was *not asked* and -1 that it *abstained*. The rooms:
`karat.votes.reading` turns what users pass into patterns, `karat.votes.em` fits models of votes,
`karat.votes.agreement` sets how labelers vote together beside what a model implies.
"""

from karat.votes.reading import read_patterns

__all__ = ["read_patterns"]
