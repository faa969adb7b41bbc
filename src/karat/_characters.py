"""Characters that pages and pictures cannot hold."""

import re

# What XML 1.0 forbids: control characters, halves of surrogate pairs, and two that are none.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def visible(text: str) -> str:
    r"""Return text with every character that XML forbids shown as its escape.

    >>> visible("a\x00b"), visible("naïve")
    ('a\\x00b', 'naïve')
    """
    return _FORBIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
