"""What the classifiers of this package share: reading, fitting and predicting as scikit-learn does.

`PostShiftClassifier` decides by the probabilities of another model: it fits that model if need be,
reads rows, labels, groups and basis functions into tasks, and predicts by class shares.
`ProbingClassifier` finds its shares by probing the metric. `check_model` and `fitted_clone` check
and fit the model itself. This room imports scikit-learn, so only the classifiers import it.
"""

from karat.optimize.post_shift._model import check_model, fitted_clone
from karat.optimize.post_shift._post_shift_classifier import PostShiftClassifier
from karat.optimize.post_shift._probing_classifier import ProbingClassifier

__all__ = ["PostShiftClassifier", "ProbingClassifier", "check_model", "fitted_clone"]
