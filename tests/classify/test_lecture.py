"""The Lecture's worked example of naive Bayes, China or not, through the classifier."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from germane.classify import MultinomialClassifier

VOCABULARY = ["chinese", "beijing", "shanghai", "macao", "tokyo", "japan"]
TRAINING = ["Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao", "Tokyo Japan Chinese"]
IN_CHINA = ["yes", "yes", "yes", "no"]
D5 = "Chinese Chinese Chinese Tokyo Japan"

YES = Fraction(3, 4) * Fraction(3, 7) ** 3 * Fraction(1, 14) ** 2
NO = Fraction(1, 4) * Fraction(2, 9) ** 3 * Fraction(2, 9) ** 2


def counts(*documents: str) -> np.ndarray:
    return np.array([[document.lower().split().count(word) for word in VOCABULARY] for document in documents])


@pytest.fixture(params=["dense", "sparse"])
def classifier(request: pytest.FixtureRequest) -> MultinomialClassifier:
    X = counts(*TRAINING)
    nb = MultinomialClassifier(smoothing="laplace", delta=1.0, prior="empirical")
    return nb.fit(sparse.csr_array(X) if request.param == "sparse" else X, IN_CHINA)


def test_priors(classifier: MultinomialClassifier) -> None:
    assert classifier.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(np.exp(classifier.class_log_prior_), [1 / 4, 3 / 4], rtol=1e-15)


def test_conditional_probabilities(classifier: MultinomialClassifier) -> None:
    no, yes = classifier.theta_
    np.testing.assert_allclose(yes, [6 / 14, 2 / 14, 2 / 14, 2 / 14, 1 / 14, 1 / 14], rtol=1e-14)
    np.testing.assert_allclose(no, [2 / 9, 1 / 9, 1 / 9, 1 / 9, 2 / 9, 2 / 9], rtol=1e-14)


def test_d5_is_about_china(classifier: MultinomialClassifier) -> None:
    no, yes = np.exp(classifier.predict_joint_log_proba(counts(D5))[0])
    assert yes == pytest.approx(float(YES), rel=1e-14)
    assert no == pytest.approx(float(NO), rel=1e-14)
    assert (round(yes, 4), round(no, 4)) == (0.0003, 0.0001)
    assert classifier.predict(counts(D5)).tolist() == ["yes"]
    np.testing.assert_allclose(
        classifier.predict_proba(counts(D5))[0], [float(NO / (YES + NO)), float(YES / (YES + NO))], rtol=1e-13
    )


def test_the_prior_decides_it() -> None:
    """The slide says that three times CHINESE outweighs TOKYO and JAPAN. It takes the prior, three to one, as well.

    Without it (3/7)³(1/14)² = 0.00040 is less than (2/9)⁵ = 0.00054, and d5 is not about China.
    """
    nb = MultinomialClassifier(smoothing="laplace", delta=1.0, prior="uniform").fit(counts(*TRAINING), IN_CHINA)
    assert nb.predict(counts(D5)).tolist() == ["no"]
    np.testing.assert_allclose(
        np.exp(nb.predict_joint_log_proba(counts(D5))[0]) * 2, [(2 / 9) ** 5, (3 / 7) ** 3 / 14**2], rtol=1e-13
    )


def test_no_evidence_leaves_the_prior(classifier: MultinomialClassifier) -> None:
    """The Lecture: where the terms give no clear evidence, choose the class with the highest P(c)."""
    np.testing.assert_allclose(classifier.predict_proba(counts(""))[0], [1 / 4, 3 / 4], rtol=1e-14)
    assert classifier.predict(counts("")).tolist() == ["yes"]


def test_long_documents_do_not_underflow(classifier: MultinomialClassifier) -> None:
    joint = classifier.predict_joint_log_proba(10_000 * counts(D5))
    assert np.isfinite(joint).all()
    assert (np.exp(joint) == 0).all()
    assert np.isfinite(classifier.predict_proba(10_000 * counts(D5))).all()
