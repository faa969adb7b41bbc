"""What the pages do: all SQL, and all elicitation, is behind these modules.

``studies`` and ``people`` make and find; ``session`` shows a page and takes an answer; ``results``
says what is known of a person; ``accounts`` logs researchers in; ``uploads`` reads files in a
process of its own; ``demo`` is the study of Hiranandani 2021. Functions take a `Store` first.
"""

from karat.studio.services import accounts, demo, pages, people, results, session, studies, uploads

__all__ = [
    "accounts",
    "demo",
    "pages",
    "people",
    "results",
    "session",
    "studies",
    "uploads",
]
