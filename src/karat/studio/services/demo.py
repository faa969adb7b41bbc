"""The study of Hiranandani 2021, chapter 8: cancer diagnosis, with nothing to set up."""

from typing import Any

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.datasets import load_shared
from karat.exceptions import MissingDatasetError
from karat.studio.data import StudyData
from karat.studio.models import Study
from karat.studio.schemas import StudyConfig, StudyOptions, StudyTexts
from karat.studio.services import studies
from karat.studio.storage import Store

NAME = "Cancer diagnosis (Hiranandani 2021)"


def ensure_demo(store: Store) -> Study:
    """Return the demo study, made where no study exists yet."""
    for study, _, _ in studies.list_all(store):
        if study.name == NAME:
            return study
    return studies.create(store, name=NAME, config=demo_config(), data=demo_data())


def demo_data() -> StudyData:
    """Return what a logistic regression of one half of the data says of the other half.

    The data are Breast Cancer Wisconsin (Original), as in section 8.1.1, where they are at hand
    (see `load_shared`); else the later Breast Cancer Wisconsin (Diagnostic) that comes with
    scikit-learn.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = _features()
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, random_state=0, stratify=y
    )
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
    return StudyData(
        codes=np.asarray(y_test),
        values=np.asarray(model.predict_proba(X_test)[:, 1]),
        classes=("benign", "malignant"),
    )


def _features() -> tuple[FloatArray, IntArray]:
    try:
        frame: Any = load_shared("breast_cancer_wisconsin", backend="polars")
    except MissingDatasetError:
        from sklearn.datasets import load_breast_cancer

        data = load_breast_cancer()
        return data.data[:, :10], 1 - data.target  # scikit-learn calls benign 1
    import polars as pl

    columns = [name for name in frame.columns if name not in ("sample_code", "class")]
    numbers = frame.select(pl.col(columns).cast(pl.Float64, strict=False))
    X = numbers.fill_null(strategy="mean").to_numpy()  # 16 of 699 lack one measurement
    return X, (frame["class"].to_numpy() == 4).astype(int)


def demo_config() -> StudyConfig:
    """Return the texts and options of the study, with the guidelines of table 8.3."""
    texts = StudyTexts(
        task=(
            "Some doctors use computer systems to identify the presence of cancer in patients' "
            "cell images. These computer systems are not always accurate and do make errors: they "
            "may predict that a patient with cancer is at low risk, or that a healthy patient is "
            "at high risk."
        ),
        costs=(
            "A patient with cancer who is predicted as low risk may be treated too late, when the "
            "cancer is harder to cure. A healthy patient who is predicted as high risk is called "
            "back: days of worry, another biopsy with its pain and small risks, its bill, and time "
            "that doctors do not have for others."
        ),
        visualisation=(
            "The figure shows one computer system's predictions. On the left stands how many "
            "patients actually have cancer and how many do not; on the right, how many of them the "
            "computer system predicted as “high risk” and as “low risk”."
        ),
        question="Which computer system would you prefer your doctor to use?",
        items="patients",
        truth=("do not have cancer", "have cancer"),
        predicted=("low risk", "high risk"),
    )
    return StudyConfig(texts=texts, options=StudyOptions(family="linear", out_of=1000))
