import subprocess
import sys

import numpy as np
import pytest

from karat.exceptions import DataError, LabelError, LengthMismatchError, OptionError, ScoreError
from karat.ranking import FprBand, Power, TprBand, Uniform, weighted_auc
from karat.ranking.learning import LOSSES, lower_weight, surrogate

torch = pytest.importorskip("torch")

from karat.torch import WeightedAUCLoss  # noqa: E402

WEIGHTS = [Uniform(), FprBand(0, 0.3), FprBand(0.1, 0.4), Power(3)]


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def batch(rng, n=40, digits=8, dtype=torch.float64):
    targets = torch.tensor(np.arange(n) % 3 == 0)
    scores = torch.tensor(rng.normal(0, 2, n).round(digits), dtype=dtype)
    return (scores + targets).requires_grad_(), targets


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weight", WEIGHTS, ids=repr)
@pytest.mark.parametrize("digits", [0, 8], ids=["ties", "no ties"])
def test_equals_the_sorted_surrogate(loss, weight, digits, rng):
    scores, targets = batch(rng, digits=digits)
    value = WeightedAUCLoss(weight, loss=loss, margin=2.0, ramp=0.4)(scores, targets)
    value.backward()
    s, is_positive = scores.detach().numpy() / 2, targets.numpy()
    known = surrogate(s[is_positive], s[~is_positive], lower_weight(weight, 0.4), loss=loss)
    assert value.item() == pytest.approx(known.value)
    grad = scores.grad.numpy() * 2
    np.testing.assert_allclose(grad[is_positive], known.positive, atol=1e-12)
    np.testing.assert_allclose(grad[~is_positive], known.negative, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_gradcheck(loss, rng):
    scores, targets = batch(rng, n=12)
    module = WeightedAUCLoss(FprBand(0, 0.5), loss=loss)
    assert torch.autograd.gradcheck(lambda s: module(s, targets), (scores,))


def test_half_precision_is_computed_in_full(rng):
    scores, targets = batch(rng, dtype=torch.float32)
    module = WeightedAUCLoss(FprBand(0, 0.3))
    exact = module(scores, targets)
    low = scores.detach().to(torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = module(scores, targets)
        rounded = module(low, targets)
    assert value.dtype == rounded.dtype == torch.float32
    assert value.item() == exact.item()
    assert rounded.item() == pytest.approx(module(low.float(), targets).item())


@pytest.mark.parametrize("only", [0, 1])
def test_a_class_that_is_missing(only):
    scores = torch.randn(5, requires_grad=True)
    value = WeightedAUCLoss()(scores, torch.full((5,), only))
    value.backward()
    assert value.item() == 0
    assert scores.grad.abs().sum() == 0


def test_an_empty_batch_has_a_graph():
    scores = torch.empty(0, requires_grad=True)
    loss = WeightedAUCLoss()(scores, torch.empty(0))
    loss.backward()
    assert loss.item() == 0
    assert scores.grad is not None
    assert scores.grad.shape == (0,)


def test_memory_keeps_the_last_scores_of_each_class():
    module = WeightedAUCLoss(memory=3)
    for start in (0.0, 10.0):
        scores = start + torch.arange(4.0)
        module(scores.requires_grad_(), torch.tensor([0, 1, 0, 1]))
    assert module.memory_negative.tolist() == [2.0, 10.0, 12.0]
    assert module.memory_positive.tolist() == [3.0, 11.0, 13.0]
    assert not module.memory_positive.requires_grad
    assert not module.state_dict()
    module.eval()
    module(torch.zeros(2), torch.tensor([0, 1]))
    assert len(module.memory_positive) == 3
    module.reset()
    assert len(module.memory_positive) == len(module.memory_negative) == 0


def test_memory_gives_finer_ranks(rng):
    """The mean gradient of small batches with a memory of all rows is that of all rows."""
    everything, targets = batch(rng, n=120)
    module = WeightedAUCLoss(FprBand(0, 0.1))
    module(everything, targets).backward()
    with_memory = WeightedAUCLoss(FprBand(0, 0.1), memory=200).eval()
    total, plain = torch.zeros(120), torch.zeros(120)
    parts = list(torch.arange(120).split(12))
    for rows in parts:
        rest = torch.ones(120, dtype=torch.bool).index_fill(0, rows, False)
        with_memory.memory_positive = everything.detach()[rest & targets]
        with_memory.memory_negative = everything.detach()[rest & ~targets]
        for one, into in ((with_memory, total), (module, plain)):
            scores = everything.detach()[rows].requires_grad_()
            one(scores, targets[rows]).backward()
            into[rows] = scores.grad.float() / len(parts)
    torch.testing.assert_close(total, everything.grad.float(), atol=1e-6, rtol=1e-5)
    assert (plain - everything.grad.float()).abs().max() > 1e-3


def test_the_memory_alone_can_hold_a_class():
    module = WeightedAUCLoss(loss="logistic", memory=8)
    module(torch.zeros(4), torch.tensor([0, 1, 0, 1]))
    scores = torch.zeros(2, requires_grad=True)
    module(scores, torch.tensor([0, 0])).backward()
    assert (scores.grad > 0).all()


def test_training_raises_the_partial_auc(rng):
    n = 1500
    y = rng.random(n) < 0.4
    # A heavy tail of negatives along the first axis hides the positives from most linear scores.
    x = rng.normal(size=(n, 2)) + y[:, None] * [1.0, 1.0]
    x[~y & (rng.random(n) < 0.2), 0] += 4.0
    features, targets = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    model = torch.nn.Linear(2, 1)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, 1.0]]))
    loss = WeightedAUCLoss(FprBand(0, 0.1), memory=256)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)

    def measured():
        scores = model(features).detach().numpy().ravel()
        return weighted_auc(y, scores, weight=FprBand(0, 0.1)).value / 0.1

    before = measured()
    for step in range(80):
        rows = torch.arange(n).roll(-64 * step)[:64]
        optimizer.zero_grad()
        loss(model(features[rows]), targets[rows]).backward()
        optimizer.step()
    assert measured() > before + 0.1


@pytest.mark.parametrize(
    ("scores", "targets", "error", "says"),
    [
        (torch.zeros(3), torch.zeros(2), LengthMismatchError, "3 rows and targets has 2"),
        (torch.zeros(3, 2), torch.zeros(3), DataError, r"\(3, 2\).*difference"),
        (torch.zeros(3), torch.tensor([0, 1, 2]), LabelError, "row 2 is 2"),
        (torch.zeros(3, dtype=torch.int64), torch.zeros(3), ScoreError, "int64"),
        ([0.0], torch.zeros(1), DataError, "list"),
    ],
)
def test_bad_batches(scores, targets, error, says):
    with pytest.raises(error, match=says):
        WeightedAUCLoss()(scores, targets)


def test_bad_options():
    with pytest.raises(ValueError, match="loss is 'softmax'"):
        WeightedAUCLoss(loss="softmax")
    with pytest.raises(OptionError, match="margin is 0"):
        WeightedAUCLoss(margin=0)
    with pytest.raises(OptionError, match="memory is -1"):
        WeightedAUCLoss(memory=-1)
    with pytest.raises(OptionError, match=r"memory is 0\.5; expected a whole number"):
        WeightedAUCLoss(memory=0.5)
    with pytest.raises(ValueError, match="false-positive rates"):
        WeightedAUCLoss(TprBand(0.5, 1))


def test_repr_says_the_options():
    assert "FprBand(low=0.0, high=0.1), loss='hinge'" in repr(
        WeightedAUCLoss(FprBand(0, 0.1), loss="hinge")
    )


def test_without_torch_the_extra_is_named():
    code = """
import sys
import karat
assert "torch" not in sys.modules
sys.modules["torch"] = None
import importlib
try:
    importlib.import_module("karat.torch")
except karat.exceptions.MissingExtraError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "karat[torch]" in run.stdout
