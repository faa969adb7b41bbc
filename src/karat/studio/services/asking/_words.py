"""What classes and predictions are called in a study."""

from typing import NamedTuple

from karat.studio.services.asking._asked import Asked

__all__ = ["Words", "words_of"]


class Words(NamedTuple):
    """Words for cases, for what is true of them, and for what is predicted."""

    items: str
    truth: list[str]  # "have cancer", "are malignant"
    predicted: list[str]
    systems: tuple[str, str]

    def are(self, i: int) -> str:
        """Return what is true of one case of a class: "has cancer", "is malignant"."""
        verb, _, rest = self.truth[i].partition(" ")
        one = {"are": "is", "have": "has", "do": "does"}.get(verb)
        return f"{one} {rest}" if one else self.truth[i]


def words_of(asked: Asked) -> Words:
    """Return a study's words; where the researcher gave none, its labels."""
    texts, classes = asked.config.texts, asked.classes
    k = len(classes)
    truth = list(texts.truth) if len(texts.truth) == k else [f"are {name}" for name in classes]
    predicted = list(texts.predicted) if len(texts.predicted) == k else classes
    return Words(texts.items, truth, predicted, texts.systems)
