"""The questions of ``karat elicit``: a person at the terminal says which classifier is better.

`read_space` turns columns of a table into the space of attainable confusions and picks the
procedure for a family of metrics; `begin` builds the procedure or takes it up from a transcript;
`ask` puts the procedure's questions to a person, saves every answer at once and stops when the
person does, and `nothing_said` tells whether there is anything to report. Each classifier is shown
for `SHOWN_CASES` cases.
"""

from karat.cli.interview._ask import ask, nothing_said
from karat.cli.interview._begin import begin
from karat.cli.interview._pair import SHOWN_CASES
from karat.cli.interview._spaces import read_space

__all__ = ["SHOWN_CASES", "ask", "begin", "nothing_said", "read_space"]
