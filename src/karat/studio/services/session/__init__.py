"""One person's way through a study: which page is next, and what they sent.

An answer and the page it leads to are one transaction, and the page a form belongs to is named by
its number and its nonce: a form of any other page changes nothing.
"""

from karat.studio.services.session._answer import answer
from karat.studio.services.session._here import Here, by_link, current_step
from karat.studio.services.session._procedure import procedure_of
from karat.studio.services.session._undo import undo
from karat.studio.services.session._write import Outcome

__all__ = ["Here", "Outcome", "answer", "by_link", "current_step", "procedure_of", "undo"]
