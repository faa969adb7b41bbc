"""What people read at the terminal: characters that it has, and flags in place of arguments.

`plain_characters` lets streams print what their encoding lacks. `in_flags` says a sentence of the
library, which names its arguments, with the flags and columns of the command that runs;
`command_line` notes which one that is. `options_in_flags` changes an answer as little as it can.
"""

from karat.cli.wording._characters import plain_characters
from karat.cli.wording._in_flags import command_line, in_flags, options_in_flags

__all__ = ["command_line", "in_flags", "options_in_flags", "plain_characters"]
