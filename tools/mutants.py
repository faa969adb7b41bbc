"""Inject realistic bugs into kernels, one at a time, and say which of them the fast tests notice.

Each bug is put into a temporary copy of the package, never into the working tree. The test files
that the table names run first, and where they notice nothing, all fast tests of the package do.
A bug that is known to survive says why; any other that survives makes the script fail. So does a
bug whose text does not occur exactly once in its file, inside the function that the table names.

    python tools/mutants.py                 # all of them
    python tools/mutants.py NAME NAME ...   # some of them
    python tools/mutants.py --named         # without the other tests of the package: quicker
    python tools/mutants.py --list
"""

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "karat"
_LONGEST = 1800  # seconds: a bug may keep a loop from ending, which is noticed too
_FAILED, _INTERRUPTED = 1, 2  # exit codes of pytest


class Mutant(NamedTuple):
    """A bug: what is replaced by what, and the test files that are about it.

    ``survives`` says why no fast test notices it, where that is known.
    """

    name: str
    file: str
    function: str
    old: str
    new: str
    tests: tuple[str, ...]
    survives: str = ""

    @property
    def package(self) -> str:
        """The folder of tests of the package that the bug is in."""
        return f"tests/{self.file.split('/')[0]}"


MUTANTS = (
    # --- metrics
    Mutant(
        "metrics-cluster-size",
        "metrics/estimates.py",
        "cluster_limits",
        "rng.standard_gamma(min(1.0, unequal / 2), draws) * usual",
        "rng.standard_gamma(min(1.0, unequal / 2), draws)",
        ("tests/metrics/test_estimate.py",),
    ),
    Mutant(
        "metrics-unequal-clusters",
        "metrics/estimates.py",
        "cluster_limits",
        "usual = float(sizes @ sizes / sizes.sum())",
        "usual = float(sizes.mean())",
        ("tests/metrics/test_estimate.py",),
    ),
    Mutant(
        "metrics-mcc-root",
        "metrics/named.py",
        "_values",
        "top / np.sqrt(np.where(undefined, 1, product))",
        "top / np.where(undefined, 1, product)",
        ("tests/metrics/test_against_scikit_learn.py",),
    ),
    Mutant(
        "metrics-kappa-gradient-sign",
        "metrics/named.py",
        "_gradients",
        "(d_top - top / bottom * (2 * total - by_chance)) / bottom",
        "(d_top + top / bottom * (2 * total - by_chance)) / bottom",
        ("tests/metrics/test_metrics.py",),
    ),
    Mutant(
        "metrics-balanced-axis",
        "metrics/named.py",
        "_values",
        "np.asarray(np.nansum(found, axis=1) / np.sum(~np.isnan(found), axis=1))",
        "np.asarray(np.nansum(found, axis=1) / found.shape[1])",
        ("tests/metrics/test_metrics.py",),
    ),
    Mutant(
        "metrics-share-of-successes",
        "metrics/estimates.py",
        "value",
        "self.shift + top * p / (bottom * p + self.missed * (1 - p))",
        "self.shift + top * p / (bottom * p + self.missed)",
        ("tests/metrics/test_estimate.py",),
    ),
    # --- limits
    Mutant(
        "limits-clopper-pearson-shape",
        "limits/proportions.py",
        "clopper_pearson_limits",
        "n - x + 1.0, delta)",
        "n - x, delta)",
        ("tests/limits/test_proportions.py",),
    ),
    Mutant(
        "limits-wilson-root",
        "limits/proportions.py",
        "wilson_limits",
        "share * (1 - share) / n + (z / (2 * n)) ** 2",
        "share * (1 - share) / n + z / (2 * n)",
        ("tests/limits/test_proportions.py",),
    ),
    Mutant(
        "limits-kl-quantile",
        "limits/proportions.py",
        "kl_limits",
        "most = -np.log(delta)",
        "most = -np.log(2 * delta)",
        ("tests/limits/test_proportions.py",),
    ),
    Mutant(
        "limits-hypergeometric-off-by-one",
        "limits/proportions.py",
        "fewest",
        "low, high = x, total - (n - x)",
        "low, high = x + 1, total - (n - x)",
        ("tests/limits/test_proportions.py", "tests/limits/test_strata.py"),
    ),
    Mutant(
        "limits-few-clusters",
        "limits/means.py",
        "cluster_moments",
        "few = len(sums) / max(len(sums) - 1, 1)",
        "few = 1.0",
        ("tests/limits/test_means.py",),
    ),
    Mutant(
        "limits-bernstein-term",
        "limits/means.py",
        "bernstein_reach",
        "7 * span * log / (3 * (n - 1))",
        "span * log / (3 * (n - 1))",
        ("tests/limits/test_means.py",),
    ),
    Mutant(
        "limits-hoeffding-two",
        "limits/means.py",
        "hoeffding_reach",
        "np.sqrt(-np.log(delta) / (2 * n))",
        "np.sqrt(-np.log(delta) / (4 * n))",
        ("tests/limits/test_means.py",),
    ),
    Mutant(
        "limits-bets-that-look-ahead",
        "limits/means.py",
        "betting_lower",
        "earlier = np.concatenate([[0.25], variance[:-1]])",
        "earlier = variance",
        ("tests/limits/test_means.py",),
    ),
    Mutant(
        "limits-hinge-trials",
        "limits/means.py",
        "_excess_and_slope",
        "p * slope - h * betainc(h + 1.0, m - h, p)",
        "p * slope - h * betainc(h, m - h + 1.0, p)",
        ("tests/ranking/test_pair_limits.py", "tests/limits/test_means.py"),
    ),
    Mutant(
        "limits-anytime-gamblers",
        "limits/anytime.py",
        "anytime_path",
        "bar = np.log(len(logs) / delta)",
        "bar = np.log(len(_COURAGE) / delta)",
        ("tests/limits/test_anytime.py",),
    ),
    Mutant(
        "limits-anytime-without-replacement",
        "limits/anytime.py",
        "mean_steps",
        "left = (population - t + 1) / population",
        "left = (population - t) / population",
        ("tests/limits/test_anytime.py",),
    ),
    Mutant(
        "limits-weights-by-cell",
        "limits/pseudo.py",
        "weighted_cells",
        "np.maximum(own, pooled) if varies",
        "np.minimum(own, pooled) if varies",
        ("tests/metrics/test_estimate.py", "tests/limits/test_pseudo_count.py"),
    ),
    Mutant(
        "limits-predictions-finite",
        "limits/prediction_powered.py",
        "_wilson",
        "variance = left * (1 - seen) / number + (0.0 if finite else 1 / n_total)",
        "variance = left / number + (0.0 if finite else 1 / n_total)",
        ("tests/limits/test_prediction_powered_mean.py",),
    ),
    Mutant(
        "limits-leave-one-out",
        "limits/prediction_powered.py",
        "regress",
        "off = (apart - far @ coefficient) / (1 - leverage)[:, None]",
        "off = apart - far @ coefficient",
        ("tests/limits/test_prediction_powered_mean.py",),
    ),
    Mutant(
        "limits-cluster-effect",
        "limits/prediction_powered.py",
        "_cluster_effect",
        "(together + size * two) / (apart + two)",
        "(together + two) / (apart + two)",
        ("tests/limits/test_prediction_powered_clusters.py",),
    ),
    Mutant(
        "limits-strata-factor",
        "limits/strata.py",
        "stratified_steps",
        "factor = np.divide(left, total * chance,",
        "factor = np.divide(sizes, total * chance,",
        ("tests/limits/test_strata.py", "tests/limits/test_anytime.py"),
    ),
    # --- consensus
    Mutant(
        "consensus-information",
        "consensus/_pairs.py",
        "judged_strengths",
        "information = p * (1 - p) - soft * (1 - soft)",
        "information = p * (1 - p)",
        ("tests/consensus/test_rank_systems.py",),
    ),
    Mutant(
        "consensus-swapped-limits-of-the-split",
        "consensus/_pairs.py",
        "balanced_limits",
        "toward = np.where(slope > 0, s - s_low, s_high - s)",
        "toward = np.where(slope > 0, s_high - s, s - s_low)",
        ("tests/consensus/test_position_bias.py",),
    ),
    Mutant(
        "consensus-swapped-limits-of-the-bias",
        "consensus/_pairs.py",
        "predictive_limits",
        "low = bias - np.sqrt((bias - lower) ** 2 + more)",
        "low = bias - np.sqrt((upper - bias) ** 2 + more)",
        ("tests/consensus/test_position_bias.py",),
    ),
    Mutant(
        "consensus-tango-sides",
        "consensus/_pairs.py",
        "tango_limits",
        "low = -_upper(minus, plus, n, delta)",
        "low = -_upper(plus, minus, n, delta)",
        ("tests/consensus/test_position_bias.py",),
    ),
    Mutant(
        "consensus-prediction-powered-weight",
        "consensus/_pairs.py",
        "_power",
        "alone = guess.var(axis=0).sum() * (1 + n / len(x))",
        "alone = guess.var(axis=0).sum()",
        ("tests/consensus/test_rank_systems.py",),
    ),
    Mutant(
        "consensus-worst-rank-axis",
        "consensus/_pairs.py",
        "rank_limits",
        "worst = len(strength) - apart.sum(axis=1)",
        "worst = len(strength) - apart.sum(axis=0)",
        ("tests/consensus/test_rank_systems.py",),
    ),
    Mutant(
        "consensus-spread-of-differences",
        "consensus/_pairs.py",
        "_spread",
        "own[:, None] + own[None, :] - 2 * covariance",
        "own[:, None] + own[None, :] - covariance",
        ("tests/consensus/test_rank_systems.py",),
    ),
    # --- audit
    Mutant(
        "audit-pseudo-count-by-class",
        "audit/_judged_rate.py",
        "class_limits",
        "rng.standard_gamma(0.5, (draws, 1))",
        "rng.standard_gamma(0.05, (draws, 1))",
        ("tests/audit/test_judged_rate.py",),
    ),
    Mutant(
        "audit-pseudo-cluster-size",
        "audit/_judged_rate.py",
        "class_limits",
        "extra = extra * sums.sum(axis=0) / np.maximum((sums > 0).sum(axis=0), 1)",
        "extra = extra * (sums.sum(axis=0) > 0)",
        ("tests/audit/test_judged_rate.py",),
    ),
    Mutant(
        "audit-rogan-gladen-sign",
        "audit/_judged_rate.py",
        "_share",
        "top = p[:, 1] + rates[:, 0, 0] - 1",
        "top = p[:, 1] + rates[:, 1, 1] - 1",
        ("tests/audit/test_judged_rate.py",),
    ),
    Mutant(
        "audit-precision-root",
        "audit/_design.py",
        "precision_of",
        "z * np.sqrt(_SLACK * variance * left / n)",
        "z * np.sqrt(_SLACK * variance * left) / n",
        ("tests/audit/test_audit.py",),
    ),
    Mutant(
        "audit-labels-of-finitely-many",
        "audit/_design.py",
        "labels_for",
        "wanted / (1 + wanted / total)",
        "wanted",
        ("tests/audit/test_audit.py",),
    ),
    # --- weak
    Mutant(
        "weak-wrong-half-blamed",
        "weak/checks.py",
        "_statistics",
        "(np.ones(len(p), dtype=bool), half, ~half)",
        "(np.ones(len(p), dtype=bool), ~half, half)",
        ("tests/weak/test_check_label_model.py",),
    ),
    Mutant(
        "weak-triplet-root",
        "weak/_triplets.py",
        "triplet_accuracies",
        "size[i] = min(np.sqrt(np.median(squares)), 1.0)",
        "size[i] = min(np.median(squares), 1.0)",
        ("tests/weak/test_triplet_label_model.py",),
    ),
    Mutant(
        "weak-triplet-odds",
        "weak/_triplets.py",
        "triplet_log_odds",
        "signed @ np.log((1 + accuracy) / (1 - accuracy))",
        "signed @ np.log(accuracy / (1 - accuracy))",
        ("tests/weak/test_triplet_label_model.py",),
    ),
    # --- votes
    Mutant(
        "votes-kappa-chance",
        "votes/agreement.py",
        "kappas",
        "np.divide(observed - chance, 1 - chance,",
        "np.divide(observed - chance, 1 + chance,",
        ("tests/votes/test_agreement.py", "tests/votes/test_near_copies.py"),
    ),
    Mutant(
        "votes-pull-of-a-vote",
        "votes/agreement.py",
        "_agreement",
        "constant[:k, :k] = (np.eye(k) - observed + expected) / base",
        "constant[:k, :k] = (np.eye(k) - observed - expected) / base",
        ("tests/weak/test_check_label_model.py", "tests/votes/test_agreement.py"),
    ),
    Mutant(
        "votes-share-of-copies",
        "votes/em.py",
        "maximize",
        "taken = same * kappa / (kappa + (1 - kappa) * state.theta + 1e-300)",
        "taken = same * kappa / (kappa + state.theta + 1e-300)",
        ("tests/votes/test_em.py",),
    ),
    Mutant(
        "votes-error-over-other-classes",
        "votes/em.py",
        "_even_rows",
        "np.where(right_vote, 1 - rate, rate / (k - 1))",
        "np.where(right_vote, 1 - rate, rate / k)",
        ("tests/votes/test_em.py",),
    ),
    # --- bounds
    Mutant(
        "bounds-kish-by-group",
        "bounds/solvers/_solve.py",
        "_least_effective",
        "Sample(sample.counts[:, own], sample.squares[:, own]).effective",
        "Sample(sample.counts, sample.squares).effective",
        ("tests/bounds/test_group_metrics.py",),
    ),
    Mutant(
        "bounds-coupling-at-least",
        "bounds/frechet.py",
        "best_matches",
        "np.maximum(q + p - 1.0, 0.0)",
        "np.maximum(q - p, 0.0)",
        ("tests/bounds/test_transport.py", "tests/bounds/test_performance_bounds.py"),
    ),
    Mutant(
        "bounds-dual-outside",
        "bounds/frechet.py",
        "_match_duals",
        "outside = q >= p",
        "outside = q <= p",
        ("tests/bounds/test_transport.py", "tests/bounds/test_performance_bounds.py"),
    ),
    # --- calibration
    Mutant(
        "calibration-root-above-most",
        "calibration/latent.py",
        "__init__",
        "factor = np.sqrt(np.minimum(1.0, _MOST / np.maximum(explained, 1e-300)))",
        "factor = np.minimum(1.0, _MOST / np.maximum(explained, 1e-300))",
        ("tests/calibration/test_latent.py",),
    ),
    Mutant(
        "calibration-mid-ranks",
        "calibration/latent.py",
        "__call__",
        "ranks[:, j] = (below + upto + 1) / 2",
        "ranks[:, j] = (below + upto) / 2",
        ("tests/calibration/test_latent.py",),
    ),
    Mutant(
        "calibration-bias-of-bins",
        "calibration/_marginal.py",
        "_of_bins",
        "chance = np.divide(rate * (1 - rate), size - 1,",
        "chance = np.divide(rate * (1 - rate), size,",
        ("tests/calibration/test_marginal.py",),
    ),
    Mutant(
        "calibration-limits-of-a-power",
        "calibration/_canonical.py",
        "limits_of_power",
        "scale = labels ** (1 / p - 1 / 2)",
        "scale = labels ** (1 / 2 - 1 / p)",
        ("tests/calibration/test_values.py", "tests/calibration/test_properties.py"),
    ),
    Mutant(
        "calibration-error-of-the-gain",
        "calibration/_certificate.py",
        "cross_fitted_gain",
        "total.mean() - normal_quantile(delta) * error",
        "total.mean() - normal_quantile(2 * delta) * error",
        ("tests/calibration/test_certificate.py",),
    ),
    # --- ranking
    Mutant(
        "ranking-dkw-two",
        "ranking/bands.py",
        "dkw_margin",
        "math.sqrt(math.log(2 / delta) / (2 * n))",
        "math.sqrt(math.log(1 / delta) / (2 * n))",
        ("tests/ranking/test_bands.py",),
    ),
    Mutant(
        "ranking-beta-ranks",
        "ranking/bands.py",
        "_quantiles",
        "each = self.delta * _TO_RANKS / (2 * len(ranks))",
        "each = self.delta * _TO_RANKS / len(ranks)",
        ("tests/ranking/test_bands.py",),
    ),
    Mutant(
        "ranking-mass-before",
        "ranking/placements.py",
        "cumulative_mass",
        "before = float(self.mass[:start].sum())",
        "before = float(self.mass[: start + 1].sum())",
        ("tests/ranking/test_values.py", "tests/ranking/test_weights.py"),
    ),
    Mutant(
        "ranking-hall-sign",
        "ranking/_approximate.py",
        "_transformed",
        "skewness**2 * z**3 / 27 + skewness / 6",
        "skewness**2 * z**3 / 27 - skewness / 6",
        ("tests/ranking/test_paired_limits.py",),
    ),
    Mutant(
        "ranking-kish-of-a-class",
        "ranking/placements.py",
        "_size",
        "weight.sum() ** 2 / (weight @ weight) if kish",
        "weight.sum() ** 2 / (weight @ weight) if not kish",
        ("tests/ranking/test_frequencies.py", "tests/ranking/test_weights.py"),
    ),
    # --- decisions, optimize, elicit, statistics, sources, evaluation, datasets
    Mutant(
        "decisions-threshold",
        "decisions/rules.py",
        "threshold",
        "float(m00 / (m11 + m00))",
        "float(m11 / (m11 + m00))",
        ("tests/decisions/test_bayes_classifier.py",),
    ),
    Mutant(
        "decisions-ties",
        "decisions/rules.py",
        "last_argmax",
        "scores.shape[-1] - 1 - np.argmax(scores[..., ::-1], axis=-1)",
        "np.argmax(scores, axis=-1)",
        ("tests/decisions/test_rule.py", "tests/decisions/test_bayes_classifier.py"),
    ),
    Mutant(
        "optimize-middle-odds",
        "optimize/_search.py",
        "_between",
        "odds = middle / (1.0 - middle) if middle < 1.0 else np.inf",
        "odds = (1.0 - middle) / middle if middle < 1.0 else np.inf",
        ("tests/optimize/test_thresholds.py",),
    ),
    Mutant(
        "elicit-denominator",
        "elicit/search.py",
        "_denominator",
        "scale = above / (above + value - slope @ top)",
        "scale = above / (above + value + slope @ top)",
        ("tests/elicit/test_level_sets.py", "tests/elicit/test_procedures.py"),
    ),
    Mutant(
        "elicit-lapses",
        "elicit/posterior.py",
        "named_first",
        "lapse + (1.0 - 2.0 * lapse) * chance",
        "lapse + (1.0 - lapse) * chance",
        ("tests/elicit/test_particle_posterior.py",),
    ),
    Mutant(
        "statistics-kish-by-part",
        "statistics/patterns.py",
        "effective_counts",
        "where = np.zeros(len(counts), dtype=np.intp) if part is None else part",
        "where = np.zeros(len(counts), dtype=np.intp)",
        ("tests/statistics/test_patterns.py", "tests/statistics/test_vote_counts.py"),
    ),
    Mutant(
        "statistics-squares-of-weights",
        "statistics/_roc.py",
        "roc_counts",
        "squares = summed(codes, weight**2, 2)",
        "squares = summed(codes, weight, 2)",
        ("tests/statistics/test_roc_counts.py",),
    ),
    Mutant(
        "sources-score-at-an-edge",
        "sources/counting.py",
        "joint_counts_of",
        "(value >= float(edge))",
        "(value > float(edge))",
        ("tests/sources/test_joint_counts.py",),
    ),
    Mutant(
        "evaluation-many-groups",
        "evaluation/questions/_groups.py",
        "every_group",
        "level = 1 - (1 - e.confidence) / len(asked)",
        "level = e.confidence",
        ("tests/evaluation/test_evaluate.py",),
    ),
    Mutant(
        "datasets-logistic-share",
        "datasets/_laws.py",
        "proba",
        "-np.logaddexp(0.0, self.slopes * points[..., None])",
        "-np.logaddexp(0.0, -self.slopes * points[..., None])",
        ("tests/datasets/test_logistic_law.py",),
    ),
)


def _spans(tree: ast.AST, function: str) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of every function of a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            yield node.lineno, node.end_lineno or node.lineno


def injected(mutant: Mutant, text: str) -> str:
    """Return the text of the file with the bug in it; ValueError where it does not apply."""
    times = text.count(mutant.old)
    if times != 1:
        raise ValueError(f"{mutant.name}: its text occurs {times} times in {mutant.file}, not once")
    first = text[: text.index(mutant.old)].count("\n") + 1
    if not any(low <= first <= high for low, high in _spans(ast.parse(text), mutant.function)):
        raise ValueError(f"{mutant.name}: its text is not in {mutant.function} of {mutant.file}")
    changed = text.replace(mutant.old, mutant.new)
    if ast.dump(ast.parse(changed)) == ast.dump(ast.parse(text)):
        raise ValueError(f"{mutant.name}: its new text does what the old one does")
    return changed


def problems(mutants: tuple[Mutant, ...] = MUTANTS) -> list[str]:
    """Return a sentence for every mutant that does not fit the code or the tests."""
    found = [f"{name}: two mutants have this name" for name in _repeated(mutants)]
    for mutant in mutants:
        path = PACKAGE / mutant.file
        if not path.is_file():
            found.append(f"{mutant.name}: there is no {mutant.file}")
            continue
        try:
            injected(mutant, path.read_text(encoding="utf-8"))
        except ValueError as error:
            found.append(str(error))
        missing = [name for name in (*mutant.tests, mutant.package) if not (ROOT / name).exists()]
        found.extend(f"{mutant.name}: there is no {name}" for name in missing)
    return found


def _repeated(mutants: tuple[Mutant, ...]) -> list[str]:
    names = [mutant.name for mutant in mutants]
    return sorted({name for name in names if names.count(name) > 1})


def _run(copy: Path, tests: list[str]) -> tuple[int, str]:
    """Return pytest's exit code, and the first test that failed, with the copy in place of src."""
    environment = os.environ | {
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "1",  # a changed file of the same second and size
        "NUMBA_CACHE_DIR": str(copy / "compiled"),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-m", "not slow"]
    command += ["-p", "no:cacheprovider", "--tb=no", *tests]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_LONGEST,
        )
    except subprocess.TimeoutExpired:
        return _FAILED, f"no end within {_LONGEST} seconds"
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    first = lines[0].split(" ", 1)[1].split(" - ")[0] if lines else done.stdout[-2000:]
    return done.returncode, first


def _is_imported_from(copy: Path) -> bool:
    """Return whether tests would see the copy: an installation might stand before it."""
    code = "import karat; print(karat.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Path(done.stdout.strip()).is_relative_to(copy)


def tried(mutant: Mutant, copy: Path, *, named: bool) -> tuple[bool, str]:
    """Return whether the tests notice a bug, and the test that did."""
    path = copy / "karat" / mutant.file
    original = PACKAGE / mutant.file
    path.write_text(injected(mutant, original.read_text(encoding="utf-8")), encoding="utf-8")
    try:
        for tests in [list(mutant.tests)] if named else [list(mutant.tests), [mutant.package]]:
            code, first = _run(copy, tests)
            if code in (_FAILED, _INTERRUPTED):  # or a test file cannot be imported any more
                return True, first
            if code != 0:
                raise RuntimeError(f"{mutant.name}: the tests did not run:\n{first}")
    finally:
        shutil.copy2(original, path)
    return False, ""


def main() -> None:
    """Inject the bugs that were asked for, and say which were noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="the bugs; all by default")
    parser.add_argument("--named", action="store_true", help="run the named test files alone")
    parser.add_argument("--list", action="store_true", help="list the bugs and try none")
    options = parser.parse_args()
    if wrong := problems():
        sys.exit("\n".join(wrong))
    known = {mutant.name: mutant for mutant in MUTANTS}
    if strange := [name for name in options.names if name not in known]:
        sys.exit(f"there is no {', '.join(strange)}; --list names them")
    chosen = [known[name] for name in options.names] or list(MUTANTS)
    if options.list:
        print("\n".join(f"{mutant.name}: {mutant.function} of {mutant.file}" for mutant in chosen))
        return
    unexpected = []
    noticed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve()
        shutil.copytree(PACKAGE, copy / "karat")
        if not _is_imported_from(copy):
            sys.exit("tests would not import the copy; run this with the project's own Python")
        files = sorted({name for mutant in chosen for name in mutant.tests})
        code, first = _run(copy, files)
        if code != 0:
            sys.exit(f"the tests fail without any bug: {first}")
        for mutant in chosen:
            start = time.monotonic()
            found, by = tried(mutant, copy, named=options.named)
            noticed += found
            seconds = f"{time.monotonic() - start:.0f} s"
            if found:
                said = f"noticed by {by}"
            elif mutant.survives:
                said = f"SURVIVES, as is known: {mutant.survives}"
            else:
                said = "SURVIVES"
                unexpected.append(mutant.name)
            print(f"{mutant.name}: {said} ({seconds})", flush=True)
    print(f"{noticed} of {len(chosen)} noticed")
    if unexpected:
        sys.exit(f"no test notices {', '.join(unexpected)}")


if __name__ == "__main__":
    main()
