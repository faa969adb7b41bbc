"""Which column of a table plays which part.

`roles_of` takes them from a source; `guess_roles` reads the names of the columns, and its guess is
shown before anybody uses it. `is_long` and `long_votes` find tables with a row per vote, and
`long_code` is their selection as code.
"""

from karat.evaluation.roles._guess import guess_roles
from karat.evaluation.roles._long_votes import is_long, long_code, long_votes
from karat.evaluation.roles._roles import Roles, roles_of

__all__ = ["Roles", "guess_roles", "is_long", "long_code", "long_votes", "roles_of"]
