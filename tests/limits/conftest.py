"""How often limits hold."""

import pytest
from scipy.stats import binomtest


@pytest.fixture(scope="session")
def fails():
    """Tell whether so few hits would be seen once in a thousand times if the promise held."""

    def few(hits, runs, promised):
        return binomtest(int(hits), runs, promised, alternative="less").pvalue < 0.001

    return few
