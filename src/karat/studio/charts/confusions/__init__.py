"""One classifier's counts as a picture: a flow-chart, bars, the errors alone or a table.

Each takes a `Side`: the counts, and those of the classifier beside it, which differences are marked
against in words and arrows.
"""

from karat.studio.charts.confusions._bars import bars_svg
from karat.studio.charts.confusions._errors import errors_svg
from karat.studio.charts.confusions._flow import flow_svg
from karat.studio.charts.confusions._side import Side
from karat.studio.charts.confusions._tables import confusion_table, numbers_table

__all__ = ["Side", "bars_svg", "confusion_table", "errors_svg", "flow_svg", "numbers_table"]
