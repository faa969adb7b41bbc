"""What a person's guess says of the quantities that were elicited, in the same words and units."""

from karat.metrics import FairMetric
from karat.studio.services.results import PersonResult

__all__ = ["guesses_of"]


def guesses_of(known: PersonResult) -> dict[str, float]:
    """Return the guessed value of each ratio and of the worth of a gap, by its name.

    What a guess says nothing of is left out: it has one cost for each class, so it says nothing of
    what a class is taken for, nor of metrics that are not linear.
    """
    result, guess = known.result, known.guess
    if result is None or guess is None:
        return {}
    found: dict[str, float] = {}
    if result.procedure == "BinaryLinear" and guess.get("ratio") is not None:
        found[result.ratios[0].name] = float(guess["ratio"] or 0.0)
    if result.trade_off is not None and guess.get("gap") is not None:
        found[result.trade_off.worth.name] = float(guess["gap"] or 0.0)
    weights = _weights(known)
    for ratio in result.ratios:
        one, _, other = ratio.name.partition(" against ")
        if one in weights and other in weights and weights[other] > 0:
            found[ratio.name] = weights[one] / weights[other]
    return found


def _weights(known: PersonResult) -> dict[str, float]:
    """Return the weights that a guess amounts to, by the words that ratios use for them."""
    result, guess = known.result, known.guess or {}
    assert result is not None
    names = [weight.name.removeprefix("cost: ") for weight in result.intervals]
    if result.procedure == "DiagonalLinear":
        given = [guess.get(f"cost_{i}") for i in range(len(names))]
        return {n: float(v) for n, v in zip(names, given, strict=True) if v is not None}
    if isinstance(known.guess_metric, FairMetric):
        return dict(zip(names, known.guess_metric.cost.tolist(), strict=False))
    return {}
