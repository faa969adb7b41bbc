"""Which judges a panel needs: what is lost when only some of them are asked.

`Losses` answers, for any set of judges, how often its consensus would be wrong beyond that of all
judges, under the model fitted to all; `cheapest` looks for the cheapest set that loses little.
"""

from karat.consensus.panels._losses import Losses
from karat.consensus.panels._search import Panel, cheapest

__all__ = ["Losses", "Panel", "cheapest"]
