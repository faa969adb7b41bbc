"""Several people: the law that their metrics follow, and a sampler of it and of everyone.

A `Chart` gives the metrics of a family coordinates without limits, in parts such as the costs of
errors and the worth of gaps; ``chart_of`` chooses it. In each part people are normal around what is
shared. ``read_people`` reads what each `Person` answered, `PeopleChains` samples the law and
everyone's metric and noise, and ``draw_mixed`` goes on until the chains agree.
"""

from karat.elicit.people._chart import Chart, Part
from karat.elicit.people._charts import chart_of
from karat.elicit.people._mixing import draw_mixed, warn_of_mixing
from karat.elicit.people._people_chains import PeopleChains, PeopleDraws
from karat.elicit.people._person import People, Person
from karat.elicit.people._read_people import read_people
from karat.elicit.people._shared_metric import SharedMetric

__all__ = [
    "Chart",
    "Part",
    "People",
    "PeopleChains",
    "PeopleDraws",
    "Person",
    "SharedMetric",
    "chart_of",
    "draw_mixed",
    "read_people",
    "warn_of_mixing",
]
