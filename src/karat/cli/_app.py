"""The commands."""

from pathlib import Path
from typing import Annotated

import typer

from karat import __version__

app = typer.Typer(
    help="Measure classifiers when gold labels are scarce.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"karat {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write the report.")
    ] = Path("karat-demo.html"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Show on real data what karat answers, and write a report."""
    from karat.cli._demo import run_demo

    run_demo(output, quiet=quiet)


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Show what is installed, and what each extra would add."""
    from karat.cli._doctor import run_doctor

    run_doctor(as_json=as_json)


@app.command()
def bounds(
    file: Annotated[Path, typer.Argument(help="A CSV, Parquet or Arrow file, one row per item.")],
    pred: Annotated[
        list[str] | None, typer.Option(help="Column of predictions; repeat for several models.")
    ] = None,
    weak: Annotated[
        list[str] | None, typer.Option(help="Column of a weak labeler; -1 or empty abstains.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Column of true labels, empty where unknown.")
    ] = None,
    group: Annotated[str | None, typer.Option(help="Column of groups to bound apart.")] = None,
    metric: Annotated[
        str, typer.Option(help="Name of a metric, or a .json file that holds one.")
    ] = "accuracy",
    label_model: Annotated[
        str, typer.Option(help="dawid-skene, majority or triplet.")
    ] = "dawid-skene",
    robustness: Annotated[
        float, typer.Option(help="Total variation by which the label model may be off.")
    ] = 0.0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write an HTML report here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Bound how good predictions can and must be, from weak labels and no gold."""
    from karat.cli._bounds import run_bounds

    run_bounds(
        file, pred=pred or [], weak=weak or [], label=label, group=group, metric=metric,
        label_model=label_model, robustness=robustness, output=output, as_json=as_json,
    )  # fmt: skip


@app.command()
def judges(
    file: Annotated[
        Path,
        typer.Argument(
            help="A CSV, Parquet or Arrow file; one row per item, or item, classifier and vote."
        ),
    ],
    judge: Annotated[
        list[str] | None,
        typer.Option(help="Column of a voter; empty: not asked, -1: abstained. Repeat."),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Column of true labels, empty where unknown.")
    ] = None,
    group: Annotated[str | None, typer.Option(help="Column of domains.")] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Cut probabilities into votes here.")
    ] = None,
    structure: Annotated[
        str, typer.Option(help="How domains share: independent, coupled or hierarchical.")
    ] = "independent",
    errors: Annotated[
        str, typer.Option(help="class-conditional or symmetric.")
    ] = "class-conditional",
    dependence: Annotated[str, typer.Option(help="auto, none, difficulty or pairs.")] = "auto",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write an HTML report here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Estimate how often each judge, annotator or classifier errs, from votes alone."""
    from karat.cli._judges import run_judges

    run_judges(
        file, judge=judge or [], label=label, group=group, threshold=threshold,
        structure=structure, errors=errors, dependence=dependence, output=output, as_json=as_json,
    )  # fmt: skip


@app.command()
def elicit(
    file: Annotated[Path, typer.Argument(help="A CSV, Parquet or Arrow file, one row per item.")],
    label: Annotated[str, typer.Option(help="Column of true labels.")],
    score: Annotated[
        str | None, typer.Option(help="Column of scores of the positive class.")
    ] = None,
    prob: Annotated[
        list[str] | None,
        typer.Option(help="Column of a class's probability; repeat, in the order of the labels."),
    ] = None,
    pos_label: Annotated[
        str | None, typer.Option(help="The positive class; by default the larger label.")
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="Column of groups, for the families fair and fair-quadratic.")
    ] = None,
    family: Annotated[
        str,
        typer.Option(
            help="linear, ratio, diagonal, diagonal-ratio, monotone, quadratic, fair or "
            "fair-quadratic."
        ),
    ] = "linear",
    strategy: Annotated[str, typer.Option(help="active, bisection or published.")] = "active",
    agreement: Annotated[
        float, typer.Option(help="Predicted agreement at which to stop asking.")
    ] = 0.95,
    max_queries: Annotated[int | None, typer.Option(help="Greatest number of questions.")] = None,
    smooth: Annotated[
        bool, typer.Option(help="Ask about the fitted law, which has no steps of chance.")
    ] = True,
    transcript: Annotated[
        Path | None,
        typer.Option(help="Save every answer here; goes on from it if it is there."),
    ] = None,
    save_metric: Annotated[
        Path | None, typer.Option(help="Write the metric here, as JSON.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write an HTML report here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Find out what should be measured, by asking which of two classifiers is better."""
    from karat.cli._elicit import run_elicit

    run_elicit(
        file, label=label, score=score, prob=prob or [], pos_label=pos_label, groups=groups,
        family=family, strategy=strategy,
        agreement=agreement, max_queries=max_queries, smooth=smooth, transcript=transcript,
        save_metric=save_metric, output=output, as_json=as_json,
    )  # fmt: skip


@app.command()
def optimize(
    file: Annotated[Path, typer.Argument(help="A CSV, Parquet or Arrow file, one row per item.")],
    label: Annotated[
        str, typer.Option(help="Column of true labels, empty where unknown; such rows are decided.")
    ],
    score: Annotated[
        str | None, typer.Option(help="Column of probabilities of the positive class.")
    ] = None,
    prob: Annotated[
        list[str] | None,
        typer.Option(help="Column of a class's probability; repeat, in the order of the labels."),
    ] = None,
    pos_label: Annotated[
        str | None, typer.Option(help="The positive class; by default the larger label.")
    ] = None,
    metric: Annotated[
        str, typer.Option(help="Name of a metric, or a .json file that holds one.")
    ] = "g_mean",
    basis: Annotated[
        list[str] | None,
        typer.Option(help="Column along whose values decisions may differ; repeat."),
    ] = None,
    folds: Annotated[
        int, typer.Option(help="Folds to measure on rows that were not used; 0 for none.")
    ] = 5,
    randomize: Annotated[
        bool, typer.Option("--randomize", help="Draw decisions from the mixture.")
    ] = False,
    predictions: Annotated[
        Path | None, typer.Option(help="Write the table with a column of decisions here.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write an HTML report here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Decide by saved probabilities so that a metric is as great as it can be."""
    from karat.cli._optimize import run_optimize

    run_optimize(
        file, label=label, score=score, prob=prob or [], pos_label=pos_label, metric=metric,
        basis=basis or [], folds=folds, randomize=randomize, predictions=predictions,
        output=output, as_json=as_json,
    )  # fmt: skip


@app.command()
def auc(
    file: Annotated[Path, typer.Argument(help="A CSV, Parquet or Arrow file, one row per item.")],
    label: Annotated[str, typer.Option(help="Column of true labels, two classes.")],
    score: Annotated[
        list[str] | None, typer.Option(help="Column of scores; repeat for several models.")
    ] = None,
    pos_label: Annotated[
        str | None, typer.Option(help="The positive class; by default the larger label.")
    ] = None,
    group: Annotated[str | None, typer.Option(help="Column of groups to measure apart.")] = None,
    fpr: Annotated[
        str | None, typer.Option(help="False-positive rates that count, such as 0,0.1.")
    ] = None,
    tpr: Annotated[
        str | None, typer.Option(help="True-positive rates that count, such as 0.8,1.")
    ] = None,
    certificate: Annotated[
        str, typer.Option(help="dkw or beta (certain), maurer-pontil, delong, bootstrap.")
    ] = "dkw",
    confidence: Annotated[float, typer.Option(help="Probability that the limits hold.")] = 0.95,
    normalize: Annotated[str, typer.Option(help="raw, mcclish or mean.")] = "raw",
    stream: Annotated[
        bool, typer.Option("--stream", help="Count a large Parquet file without reading it in.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write an HTML report here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Measure how good a ranking is where it matters, with limits that hold."""
    from karat.cli._auc import run_auc

    run_auc(
        file, score=score or [], label=label, pos_label=pos_label, group=group, fpr=fpr, tpr=tpr,
        certificate=certificate, confidence=confidence, normalize=normalize, stream=stream,
        output=output, as_json=as_json,
    )  # fmt: skip


@app.command()
def calibration(
    file: Annotated[Path, typer.Argument(help="A CSV, Parquet or Arrow file, one row per item.")],
    label: Annotated[
        list[str] | None,
        typer.Option(help="Column of a label, 0 or 1; repeat. Or one column of classes."),
    ] = None,
    prob: Annotated[
        list[str] | None,
        typer.Option(help="Column of a label's probability; repeat, in the order of the labels."),
    ] = None,
    method: Annotated[str, typer.Option(help="latent, probit, trees or dequantized.")] = "latent",
    model: Annotated[
        str, typer.Option(help="What the certificate fits: copula or trees.")
    ] = "copula",
    confidence: Annotated[float, typer.Option(help="Probability that limits hold.")] = 0.95,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write an HTML report here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Measure whether probabilities of several labels can be trusted jointly."""
    from karat.cli._calibration import run_calibration

    run_calibration(
        file, label=label or [], prob=prob or [], method=method, model=model,
        confidence=confidence, output=output, as_json=as_json,
    )  # fmt: skip
