"""Train a network whose probabilities can be trusted jointly.

The criterion sees the training rows. The calibration loss sees the rows that are kept for early
stopping, and pulls their probabilities to what they mean given those of all labels. A map fitted to
the same rows afterwards is printed beside it: it costs less and does as well or better.
"""

import copy

import numpy as np
import torch
from sklearn.datasets import make_multilabel_classification
from torch import nn

from karat.calibration import CopulaCalibrator, canonical_calibration_error
from karat.torch import CopulaCalibrationLoss

LABELS, BETA, EPOCHS = 6, 8.0, 30

x, y = make_multilabel_classification(
    4000, n_features=30, n_classes=LABELS, n_labels=2, random_state=0
)
x = (x - x.mean(axis=0)) / x.std(axis=0)
x, y = torch.tensor(x).float(), torch.tensor(y).float()
train, held, test = slice(0, 600), slice(600, 1000), slice(1000, 4000)


def trained(beta):
    """Return the network of the epoch that did best on the held-out rows."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, LABELS))
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    criterion, calibration = nn.BCEWithLogitsLoss(), CopulaCalibrationLoss(stop_gradient=True)
    least, best = float("inf"), None
    for _ in range(EPOCHS):
        for rows in torch.randperm(600).split(64):
            loss = criterion(net(x[train][rows]), y[train][rows])
            if beta:
                some = torch.randperm(400)[:256]
                prob = torch.sigmoid(net(x[held][some]))
                loss = loss + beta / LABELS * calibration(prob, y[held][some])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            now = float(criterion(net(x[held]), y[held]))
        if now < least:
            least, best = now, copy.deepcopy(net)
    return best


def probabilities(net, rows):
    """Return the network's probabilities of some rows."""
    return torch.sigmoid(net(x[rows])).detach().numpy()


labels, plain, pulled = y[test].numpy(), trained(0.0), trained(BETA)
mapped = CopulaCalibrator(rng=0).fit(y[held].numpy(), probabilities(plain, held))
for name, prob in (
    ("cross-entropy alone", probabilities(plain, test)),
    ("cross-entropy, then CopulaCalibrator", mapped.transform(probabilities(plain, test))),
    ("with the calibration loss", probabilities(pulled, test)),
):
    brier = np.mean((labels - prob) ** 2)
    print(f"{name} (Brier score {brier:.4f}):")
    print(f"  {canonical_calibration_error(labels, prob, rng=0).summary()}")
