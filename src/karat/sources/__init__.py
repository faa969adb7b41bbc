"""Where data come from: files, frames, engines and logs, of any size.

`scan` opens a table without reading its rows; its `Source` gives columns that were collected
together, or counts for which the engine reads the rows and only the counts come back.
"""

from karat.sources._scan import Source, scan
from karat.sources.result import Counts

__all__ = ["Counts", "Source", "scan"]
