import numpy as np
import pytest

from karat.calibration import canonical_calibration_error
from karat.calibration.latent import LatentCopula
from karat.datasets import MultilabelLaw
from karat.exceptions import (
    DataError,
    LabelError,
    LengthMismatchError,
    OptionError,
    ProbabilityError,
    ShapeError,
)

torch = pytest.importorskip("torch")

from karat.torch import CopulaCalibrationLoss  # noqa: E402
from karat.torch._copula_calibration_loss import conditional_means, normal_scores  # noqa: E402


def latent_mean(h, y, smoothing):
    """What a batch means by the model that is fitted to it."""
    v = normal_scores(h, smoothing)
    return conditional_means(v, v, y)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def batch(kind="latent", n=40, k=3, seed=0, dtype=torch.float64):
    y, h, _ = MultilabelLaw(kind, n_labels=k).sample(n, rng=seed)
    return torch.tensor(h, dtype=dtype).requires_grad_(), torch.tensor(y, dtype=dtype)


@pytest.mark.parametrize("kind", ["latent", "temperature", "shift"])
def test_equals_the_latent_estimate_for_small_steps_and_many_rows(kind):
    h, y = batch(kind, n=2500)
    value = CopulaCalibrationLoss(smoothing=0.005, shrink=False)(h, y).item()
    known = canonical_calibration_error(y.numpy(), h.detach().numpy(), confidence=None).value ** 2
    assert value == pytest.approx(known, rel=0.05)


def test_the_meaning_is_that_of_the_latent_model():
    h, y = batch(n=2500)
    meant = latent_mean(h, y, 0.005).detach().numpy()
    known = LatentCopula(y.numpy(), h.detach().numpy()).fitted
    assert np.abs(meant - known).max() < 0.03


@pytest.mark.parametrize("kind", ["calibrated", "latent", "temperature"])
def test_the_value_is_near_that_of_the_law(kind):
    law = MultilabelLaw(kind, n_labels=3)
    h, y = batch(kind, n=2500)
    value = CopulaCalibrationLoss(shrink=False)(h, y).item()
    assert value == pytest.approx(law.canonical_error() ** 2, rel=0.4, abs=0.005)


@pytest.mark.parametrize("options", [{}, {"smoothing": 0.5}])
@pytest.mark.parametrize("n", [12, 5])
def test_gradcheck(n, options):
    h, y = batch(n=n)
    module = CopulaCalibrationLoss(**options)
    assert torch.autograd.gradcheck(lambda p: module(p, y), (h,))


def test_gradcheck_with_a_memory():
    h, y = batch(n=8)
    module = CopulaCalibrationLoss(memory=20)
    module(*batch(n=20, seed=1))
    module.eval()
    assert torch.autograd.gradcheck(lambda p: module(p, y), (h,))


def test_ranks_have_a_gradient_and_hard_steps_have_none():
    """What a step of the meaning itself adds vanishes as steps get hard."""
    h, y = batch(n=30)

    def through_ranks(smoothing):
        (found,) = torch.autograd.grad(latent_mean(h, y, smoothing)[:, 0].sum(), h)
        return found.abs().median().item()

    assert through_ranks(0.1) > 1e-3
    assert through_ranks(1e-6) < 1e-10


@pytest.mark.parametrize("shrink", [False, True])
def test_stop_gradient_has_the_same_value_and_the_plain_pull(shrink):
    h, y = batch(n=200)
    full, plain = (
        CopulaCalibrationLoss(smoothing=0.002, shrink=shrink, stop_gradient=stop)
        for stop in (False, True)
    )
    value = plain(h, y)
    assert value.item() == pytest.approx(full(h, y).item(), rel=0.02)
    (pull,) = torch.autograd.grad(value, h)
    # The gradient of mean ‖h − c‖² is 2(h − c)/n, whose squares add up to the value again.
    assert ((pull * len(h) / 2) ** 2).sum(dim=1).mean().item() == pytest.approx(value.item())
    (other,) = torch.autograd.grad(CopulaCalibrationLoss(shrink=shrink)(h, y), h)
    assert (pull - other).abs().max() > 1e-4


def test_the_pull_is_toward_the_latent_model():
    h, y = batch(n=200)
    module = CopulaCalibrationLoss(smoothing=0.002, shrink=False, stop_gradient=True)
    (pull,) = torch.autograd.grad(module(h, y), h)
    meant = latent_mean(h.detach(), y, 0.002)
    torch.testing.assert_close(pull, 2 * (h.detach() - meant) / len(h), atol=1e-4, rtol=0.05)


def test_half_precision_is_computed_in_full():
    h, y = batch(dtype=torch.float32)
    module = CopulaCalibrationLoss()
    exact = module(h, y)
    low = h.detach().to(torch.bfloat16).requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value, rounded = module(h, y), module(low, y.to(torch.bfloat16))
    assert value.dtype == rounded.dtype == torch.float32
    assert value.item() == exact.item()
    assert rounded.item() == pytest.approx(module(low.float(), y).item())
    rounded.backward()
    assert torch.isfinite(low.grad).all()


@pytest.mark.parametrize("rows", [0, 1])
def test_a_batch_of_one_row_or_none_has_a_graph(rows):
    h, y = batch(n=5)
    value = CopulaCalibrationLoss(memory=4)(h[:rows], y[:rows])
    value.backward()
    assert value.item() == 0
    assert (h.grad == 0).all()


def test_one_row_beside_a_memory_is_measured_and_none_is_not():
    module = CopulaCalibrationLoss(memory=50)
    module(*batch(n=50))
    h, y = batch(n=4, seed=1)
    value = module(h[:1], y[:1])
    value.backward()
    assert value.item() > 0
    assert torch.isfinite(h.grad).all()
    assert module(h[:0], y[:0]).item() == 0


@pytest.mark.parametrize(
    "change", ["label 0", "label 1", "constant", "all constant", "ends", "same"]
)
def test_columns_that_say_nothing_keep_gradients_finite(change):
    h, y = batch(n=20)
    h, y = h.detach().clone(), y.clone()
    if change.startswith("label"):
        y[:, 1] = float(change[-1])
    elif change == "constant":
        h[:, 1] = 0.3
    elif change == "all constant":
        h[:] = 0.3
    elif change == "ends":
        h = (h > 0.4).double()
    else:
        h = h[:, :1].repeat(1, 3)
    h.requires_grad_()
    value = CopulaCalibrationLoss()(h, y)
    value.backward()
    assert 0 <= value.item() < 3
    assert torch.isfinite(h.grad).all()


@pytest.mark.parametrize("shape", [(2, 3), (5, 40), (3, 400)])
def test_few_rows_and_many_labels(shape):
    generator = torch.Generator().manual_seed(0)
    h = torch.rand(shape, generator=generator).requires_grad_()
    y = (torch.rand(shape, generator=generator) < 0.3).float()
    CopulaCalibrationLoss()(h, y).backward()
    assert torch.isfinite(h.grad).all()


def test_memory_keeps_the_last_rows():
    module = CopulaCalibrationLoss(memory=3)
    h, y = batch(n=6)
    module(h[:2], y[:2])
    module(h[2:4], y[2:4])
    assert len(module.kept_prob) == len(module.kept_target) == 3
    kept = {tuple(row) for row in module.kept_prob.tolist()}
    assert {tuple(row) for row in h[2:4].tolist()} < kept
    assert not module.kept_prob.requires_grad
    assert not module.state_dict()
    module.eval()
    module(h[4:], y[4:])
    assert {tuple(row) for row in module.kept_prob.tolist()} == kept
    module.train()
    module(h[:, :2], y[:, :2])
    assert module.kept_prob.shape == (3, 2)
    module.reset()
    assert len(module.kept_prob) == len(module.kept_target) == 0


@pytest.mark.slow
def test_memory_steadies_small_batches():
    """With 8 rows the loss is nearly all chance; 500 rows of memory bring it to the truth."""
    law = MultilabelLaw("latent", n_labels=3)
    y, h, _ = law.sample(4000, rng=0)
    y, h = torch.tensor(y), torch.tensor(h)

    def off(module):
        values = [module(h[i : i + 8], y[i : i + 8]).item() for i in range(0, 4000, 8)]
        return abs(np.mean(values[100:]) - law.canonical_error() ** 2)

    assert off(CopulaCalibrationLoss(memory=500)) < off(CopulaCalibrationLoss()) / 5


@pytest.mark.slow
@pytest.mark.parametrize("stop_gradient", [False, True])
def test_descending_lowers_the_canonical_error(stop_gradient):
    """Train a map of over-confident probabilities, and look at other rows."""
    law = MultilabelLaw("latent", n_labels=3)
    logits, target = (torch.tensor(a).float() for a in _logits(law, 0))
    new, truth = (torch.tensor(a).float() for a in _logits(law, 1))
    model = torch.nn.Linear(3, 3)
    with torch.no_grad():
        model.weight.copy_(torch.eye(3))
        model.bias.zero_()
    loss = CopulaCalibrationLoss(stop_gradient=stop_gradient, memory=256)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

    def measured():
        prob = torch.sigmoid(model(new)).detach().numpy().astype(float)
        return canonical_calibration_error(truth.numpy(), prob, rng=0).debiased

    before = measured()
    for step in range(150):
        rows = torch.arange(1500).roll(-64 * step)[:64]
        optimizer.zero_grad()
        prob = torch.sigmoid(model(logits[rows]))
        likely = torch.nn.functional.binary_cross_entropy(prob, target[rows])
        (0.1 * likely + loss(prob, target[rows])).backward()
        optimizer.step()
    assert measured() < before / 3


def _logits(law, seed):
    y, h, _ = law.sample(1500, rng=seed)
    return np.log(h / (1 - h)), y


@pytest.mark.parametrize(
    ("prob", "target", "error", "says"),
    [
        (torch.zeros(3), torch.zeros(3), ShapeError, r"shape \(3,\); expected \(rows, labels\)"),
        (torch.zeros(3, 2), torch.zeros(3, 1), LengthMismatchError, r"\(3, 2\) and target \(3, 1"),
        (torch.full((3, 2), 1.5), torch.zeros(3, 2), ProbabilityError, "1.5; .*torch.sigmoid"),
        (torch.full((3, 2), -1.0), torch.zeros(3, 2), ProbabilityError, "between -1"),
        (torch.full((3, 2), torch.nan), torch.zeros(3, 2), ProbabilityError, "nan"),
        (torch.zeros(3, 2), torch.full((3, 2), 2.0), LabelError, "2; expected 0 or 1"),
        (torch.zeros(3, 2), torch.full((3, 2), torch.nan), LabelError, "nan"),
        ([[0.5]], torch.zeros(1, 1), DataError, "prob is a list; expected a tensor"),
        (torch.zeros(1, 1), [[0]], DataError, "target is a list"),
    ],
)
def test_bad_batches(prob, target, error, says):
    with pytest.raises(error, match=says):
        CopulaCalibrationLoss()(prob, target)


def test_labels_of_any_type():
    h, y = batch()
    wanted = CopulaCalibrationLoss()(h, y).item()
    for labels in (y.bool(), y.long(), y.float()):
        assert CopulaCalibrationLoss()(h, labels).item() == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": 0}, "smoothing is 0; expected a number above 0"),
        ({"smoothing": -1}, "smoothing is -1"),
        ({"smoothing": "a"}, "smoothing is 'a'"),
        ({"memory": -1}, "memory is -1"),
        ({"shrink": 1}, "shrink is 1; expected True or False"),
        ({"stop_gradient": None}, "stop_gradient is None"),
        ({"memory": 0.5}, "memory is 0.5; expected a whole number"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(OptionError, match=message):
        CopulaCalibrationLoss(**options)
