"""The order of the pages, and how what people send is read: pure functions, without a database.

``phases_of`` lists the pages of a person, ``read_form`` turns a posted form into what is logged or
says what is wrong with it, and ``progress_of`` says how far someone has come.
"""

from karat.studio.services.flow._forms import Parsed, read_fields, read_form
from karat.studio.services.flow._phases import COMPARISONS, phases_of, progress_of

__all__ = ["COMPARISONS", "Parsed", "phases_of", "progress_of", "read_fields", "read_form"]
