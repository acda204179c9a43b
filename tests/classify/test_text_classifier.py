"""Texts in, labels out: tuning, probabilities, explanations that add up, texts without words, bad input."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone

from germane import Analyzer, TextClassifier
from germane.classify.targets import Targets
from germane.classify.text_models import MARGINS, TEXT_MODELS
from germane.classify.tuning import best, best_sharpness, best_threshold, climb, stratified_split
from germane.errors import InputError, ParameterError
from germane.text import CharacterNGrams
from germane.text.counting import count_all, count_known

OWN = {
    "politics": ["vote", "law", "minister", "election", "party", "parliament", "tax"],
    "science": ["atom", "star", "energy", "physics", "quantum", "planet", "light"],
    "sport": ["goal", "match", "team", "player", "score", "ball", "league", "coach"],
}
COMMON = ["day", "year", "people", "new", "good", "time", "said", "world"]


def news(n: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """n texts and their labels."""
    rng = np.random.default_rng(seed)
    every = [word for words in OWN.values() for word in words]
    texts, labels = [], []
    for i in range(n):
        label = sorted(OWN)[i % 3]
        words = [*rng.choice(OWN[label], 4), *rng.choice(COMMON, 8), *rng.choice(every, 3)]
        texts.append(" ".join(words))
        labels.append(label)
    return texts, labels


def several(labels: list[str]) -> list[list[str]]:
    """The labels as sets: every fifth document has none, every fourth one more."""
    return [[] if i % 5 == 4 else [label, "sunday"] if i % 4 == 0 else [label] for i, label in enumerate(labels)]


TEXTS, LABELS = news(90)
NEW, TRUE = news(45, seed=1)


@pytest.fixture(scope="module", params=TEXT_MODELS)
def fitted(request: pytest.FixtureRequest) -> TextClassifier:
    return TextClassifier(request.param).fit(TEXTS, LABELS)


@pytest.fixture(scope="module", params=TEXT_MODELS)
def multi(request: pytest.FixtureRequest) -> TextClassifier:
    return TextClassifier(request.param).fit(TEXTS, several(LABELS))


def test_it_learns(fitted):
    assert fitted.classes_.tolist() == ["politics", "science", "sport"]
    assert fitted.score(NEW, TRUE) > 0.75
    if fitted.model == "auto":
        assert fitted.chosen_ == fitted.tuning_[-1].parameters
        assert sum(fitted.chosen_.values()) == pytest.approx(1)
        return
    assert set(fitted.chosen_) == set(TEXT_MODELS[fitted.model].axes)
    assert fitted.chosen_ == best(fitted.tuning_).parameters
    assert fitted.tuning_[0].parameters == TEXT_MODELS[fitted.model].start


def test_predictions_agree_with_one_another(fitted):
    proba, scores = fitted.predict_proba(NEW), fitted.decision_function(NEW)
    assert proba.sum(axis=1) == pytest.approx(1)
    assert fitted.classes_[proba.argmax(axis=1)].tolist() == fitted.predict(NEW).tolist()
    assert (scores.argmax(axis=1) == proba.argmax(axis=1)).all()
    answers = fitted.answer(NEW)
    assert (answers.scores == scores).all()
    assert (answers.probabilities == proba).all()
    if fitted.model not in MARGINS:
        assert answers.ranking == pytest.approx(np.log(proba) - np.log1p(-proba), rel=1e-6, abs=1e-6)


def test_logarithms_of_probabilities(fitted, multi):
    for classifier in (fitted, multi):
        logs = classifier.predict_log_proba([*TEXTS[:9], ""])
        np.testing.assert_allclose(np.exp(logs), classifier.predict_proba([*TEXTS[:9], ""]), rtol=1e-9)


def test_explanations_add_up(fitted):
    for text in NEW[:5]:
        explanation = fitted.explain(text)
        scores = fitted.class_scores([text])[0]
        if fitted.model not in MARGINS:
            scores = scores - scores.mean()
        assert explanation.predicted == (fitted.predict([text])[0],)
        assert [part.score for part in explanation] == sorted((part.score for part in explanation), reverse=True)
        for part in explanation:
            assert part.score == pytest.approx(scores[fitted.classes_.tolist().index(part.label)], rel=1e-9, abs=1e-9)
            assert part.constant + sum(word.amount for word in part.words) == pytest.approx(part.score, abs=1e-8)


def test_the_constant_does_not_hide_words(fitted):
    """What is left after the words is a constant of the class: the same for every text of one length."""
    constants = [{part.label: part.constant for part in fitted.explain(text)} for text in NEW[:6]]
    for other in constants[1:]:
        assert other == pytest.approx(constants[0], rel=1e-6, abs=1e-6)


def test_explanations_of_several_labels(multi):
    for text in NEW[:3]:
        explanation = multi.explain(text)
        assert set(explanation.predicted) == set(multi.predict([text])[0])
        for part in explanation:
            column = multi.classes_.tolist().index(part.label)
            assert part.score == pytest.approx(multi.class_scores([text])[0, column], rel=1e-9, abs=1e-9)
            assert part.constant + sum(word.amount for word in part.words) == pytest.approx(part.score, abs=1e-8)
            if multi.model_ not in MARGINS:
                assert part.constant == pytest.approx(0, abs=1e-6)  # (4.13) leaves constants out


def test_multinomial_contributions_literally():
    classifier = TextClassifier("multinomial", tune=False).fit(TEXTS, LABELS)
    delta = classifier.chosen_["delta"]
    own = {
        c: [w for t, y in zip(TEXTS, LABELS, strict=True) if y == c for w in Analyzer().terms(t)] for c in set(LABELS)
    }
    size = len(classifier.terms_)
    text = "goal goal tax"
    parts = {c: [2 * np.log((own[c].count("goal") + delta) / (len(own[c]) + size * delta)),
                 np.log((own[c].count("tax") + delta) / (len(own[c]) + size * delta))] for c in own}  # fmt: skip
    mean = np.mean(list(parts.values()), axis=0)
    for part in classifier.explain(text):
        amounts = {word.term: word.amount for word in part.words}
        assert amounts == pytest.approx(dict(zip(("goal", "tax"), parts[part.label] - mean, strict=True)))
        assert part.constant == pytest.approx(0, abs=1e-9)


def test_explanation_as_text():
    explanation = TextClassifier(tune=False).fit(TEXTS, LABELS).explain("Goals, goals, and a new law.", top=2)
    said = str(explanation)
    assert said.startswith("* sport: score ")
    assert "for: goal +" in said
    assert "constant" in said
    assert explanation["sport"].words[0].count == 2
    assert explanation["sport"].words[0].word == "goal"
    assert explanation["sport"].arguments_against()[0].term == "law"
    assert len(explanation.to_dict()["classes"][0]["words"]) == 2
    with pytest.raises(KeyError):
        explanation["weather"]


def test_several_labels(multi):
    predicted = multi.predict(NEW)
    assert all(isinstance(labels, tuple) for labels in predicted)
    proba = multi.predict_proba(NEW)
    assert [tuple(multi.classes_[row].tolist()) for row in proba > 0.5] == predicted
    truth = [[label] for label in TRUE]
    hits = sum(set(t) <= set(p) for t, p in zip(truth, predicted, strict=True))
    assert hits > 0.7 * len(truth)
    assert 0 <= multi.score(NEW, truth) <= 1
    assert multi.thresholds_.shape == multi.sharpness_.shape == (4,)


@pytest.mark.parametrize("model", ["sd-ce", "bernoulli", "svm"])
def test_a_text_without_known_words_gets_the_commonest_class(model):
    texts, labels = [*TEXTS, *(["ball"] * 20)], [*LABELS, *(["sport"] * 20)]
    classifier = TextClassifier(model, tune=False).fit(texts, labels)
    assert classifier.predict(["", "zzz qqq", "the"]).tolist() == ["sport"] * 3
    assert classifier.predict_proba([""])[0] == pytest.approx([30 / 110, 30 / 110, 50 / 110])
    assert classifier.answer(["", "goal"]).wordless.tolist() == [True, False]
    assert classifier.explain("")["sport"].words == ()


def test_priors():
    few = [*(["goal match"] * 2), *(["law tax"] * 6)]
    labels = ["sport"] * 2 + ["politics"] * 6
    given = {"sport": 0.9, "politics": 0.1}
    asked = ["goal law"]
    uniform, empirical, own = (
        TextClassifier("multinomial", tune=False, prior=prior).fit(few, labels).decision_function(asked)[0]
        for prior in ("uniform", "empirical", given)
    )
    assert empirical - uniform == pytest.approx(np.log(2 / 6))
    assert own - uniform == pytest.approx(np.log(9))
    assert TextClassifier(prior=given).fit(few, labels).predict([""]) == ["sport"]
    with pytest.raises(ParameterError, match="must name the classes politics, sport"):
        TextClassifier(prior={"sport": 1.0}).fit(few, labels)
    with pytest.raises(ParameterError, match="'uniform', 'empirical' or"):
        TextClassifier(prior="fair").fit(few, labels)
    with pytest.raises(ParameterError, match="several labels"):
        TextClassifier(prior=[0.5, 0.5]).fit(few, several(labels))


def test_two_classes_and_numbers_as_labels():
    labels = [int(label == "sport") for label in LABELS]
    for model in ("sd", "svm"):
        classifier = TextClassifier(model, tune=False).fit(TEXTS, labels)
        found = classifier.decision_function(NEW)
        assert found.shape == (len(NEW),)
        assert ((found > 0) == (classifier.predict(NEW) == 1)).all()
        assert classifier.predict(NEW).dtype.kind == "i"
        assert isinstance(classifier.explain(NEW[0]).predicted[0], int)


def test_the_same_seed_gives_the_same_classifier_and_clone_works():
    one = TextClassifier("svm", random_state=3).fit(TEXTS, LABELS)
    two = clone(one).fit(TEXTS, LABELS)
    assert one.tuning_ == two.tuning_
    assert (one.class_scores(NEW) == two.class_scores(NEW)).all()


def test_weights_count_documents():
    weights = [2.0 if i < 30 else 1.0 for i in range(90)]
    weighed = TextClassifier("multinomial", tune=False).fit(TEXTS, LABELS, weights)
    twice = TextClassifier("multinomial", tune=False).fit([*TEXTS, *TEXTS[:30]], [*LABELS, *LABELS[:30]])
    assert weighed.class_scores(NEW) == pytest.approx(twice.class_scores(NEW))
    TextClassifier("svm", tune=False).fit(TEXTS, LABELS, weights)
    with pytest.raises(ParameterError, match="one for each text"):
        TextClassifier().fit(TEXTS, LABELS, [1.0])


def test_a_weight_of_0_leaves_a_document_out():
    weight = np.arange(len(TEXTS)) % 6 < 3  # of each class every other document, and as many words
    kept = [i for i in range(len(TEXTS)) if weight[i]]
    without = TextClassifier("svm").fit([TEXTS[i] for i in kept], [LABELS[i] for i in kept])
    assert TextClassifier("svm").fit(TEXTS, LABELS, weight).chosen_ == without.chosen_
    four = ["a late goal", "the match", "a tax law", "the law"]
    lone = TextClassifier().fit(four, ["s", "s", "p", "p"], [1, 0, 1, 0])
    assert lone.predict(["goal", "tax"]).tolist() == ["s", "p"]
    with pytest.raises(ParameterError, match="the documents of the class 's' all weigh 0"):
        TextClassifier().fit(four, ["s", "s", "p", "p"], [0, 0, 1, 1])


def test_trials_are_told():
    told = []
    classifier = TextClassifier("multinomial").fit(TEXTS, LABELS, on_trial=lambda *trial: told.append(trial))
    assert told == [tuple(trial) for trial in classifier.tuning_]
    assert len(TextClassifier("multinomial", tune=False).fit(TEXTS, LABELS).tuning_) == 1


def test_character_ngrams():
    texts = ["der Hund und die Katze", "die Sonne und der Mond", "the dog and the cat", "the sun and the moon"]
    classifier = TextClassifier(analyzer=CharacterNGrams((1, 3)), tune=False).fit(texts, ["de", "de", "en", "en"])
    assert classifier.predict(["und die Maus", "and the mouse"]).tolist() == ["de", "en"]


@pytest.mark.parametrize(
    ("texts", "labels", "error", "message"),
    [
        ([], [], InputError, "no documents"),
        (["a cat"], ["x", "y"], ParameterError, "as many of each"),
        ("a cat", ["x"], ParameterError, "list of texts"),
        (["cat", None], ["x", "y"], ParameterError, "text 1 is of type NoneType"),
        (["cat", "dog"], ["x", "x"], InputError, "one label only, 'x'"),
        (["cat", ""], ["x", "y"], InputError, "no document of the class 'y' has a word"),
        (["cat", "dog"], ["x", None], ParameterError, "None"),
        (["cat", "dog"], ["x", 1], ParameterError, "all strings or all whole numbers"),
        (["cat", "dog"], ["x", " "], InputError, "label is empty"),
        (["cat", "dog"], ["x", ["y"]], ParameterError, "some labels are lists"),
        (["cat", "dog"], [["x"], ["x", "y"]], InputError, "every document has the label 'x'"),
        (["cat", "dog"], [[], []], InputError, "no document has a label"),
        (["cat", "dog"], np.eye(2), ParameterError, "table of 0 and 1"),
        (["cat"] * 300, [str(i % 200) for i in range(300)], InputError, "200 different labels for 300 documents"),
    ],
)
def test_bad_input(texts, labels, error, message):
    with pytest.raises(error, match=message):
        TextClassifier().fit(texts, labels)


@pytest.mark.parametrize("model", ["sd-ce", "svm"])
@pytest.mark.parametrize(
    ("prior", "message"),
    [([0.5, 0.5], "2 probabilities for 3 classes"), ([2.0, -1.0, 0.0], "not negative"), ([0.5] * 3, "sum to 1")],
)
def test_bad_priors(model, prior, message):
    with pytest.raises(ParameterError, match=message):
        TextClassifier(model, prior=prior).fit(TEXTS, LABELS)


def test_labels_from_a_generator():
    assert TextClassifier(tune=False).fit(TEXTS, (label for label in LABELS)).classes_.tolist() == sorted(OWN)


def test_wrong_use():
    with pytest.raises(ParameterError, match="there is no text model 'forest'; choose one of auto, sd-ce"):
        TextClassifier("forest").fit(TEXTS, LABELS)
    classifier = TextClassifier(tune=False).fit(TEXTS, LABELS)
    with pytest.raises(ParameterError, match="list of texts"):
        classifier.predict("one text")
    with pytest.raises(ParameterError, match="one text"):
        classifier.explain(["one text"])


def test_tiny_training_sets_have_no_validation():
    classifier = TextClassifier().fit(["goal", "law"], ["sport", "politics"])
    assert (classifier.tuning_, classifier.sharpness_) == ([], 1.0)
    assert classifier.predict(["law"]).tolist() == ["politics"]


# -- the pieces --------------------------------------------------------------------------------------------------------


def test_counting():
    texts = ["Cats and a cat", "", "dogs", "the"]
    counted = count_all(texts, Analyzer())
    assert counted.terms == ["cat", "dog"]
    assert counted.counts.toarray().tolist() == [[2, 0], [0, 0], [0, 1], [0, 0]]
    known = count_known(["birds dog", "cat cats dog"], Analyzer(), {"cat": 0, "dog": 1})
    assert known.toarray().tolist() == [[0, 1], [2, 1]]
    assert count_known([], Analyzer(), {"cat": 0}).shape == (0, 1)
    assert count_all(["ab"], CharacterNGrams((1, 1))).terms == ["a", "b"]


def test_climbing_ends_on_a_hill():
    axes = {"x": (1.0, 10.0, 100.0, 1000.0), "y": (0.0, 1.0, 2.0)}
    trials = climb(lambda at: -abs(np.log10(at["x"]) - 3) - (at["y"] - 2) ** 2, axes, {"x": 1.0, "y": 0.0})
    assert best(trials).parameters == {"x": 1000.0, "y": 2.0}
    assert len({tuple(trial.parameters.values()) for trial in trials}) == len(trials)
    flat = climb(lambda at: 1.0, axes, {"x": 5.0, "y": 1.0})
    assert best(flat).parameters == {"x": 5.0, "y": 1.0}


def test_every_class_stays_in_the_training_part():
    rng = np.random.default_rng(0)
    for _ in range(30):
        members = rng.random((40, 6)) < rng.random(6) ** 3
        learning, validating = stratified_split(members, 0.2, 0)
        assert sorted([*learning, *validating]) == list(range(40))
        assert (members[learning].any(axis=0) == members.any(axis=0)).all()
    one_each = np.eye(3, dtype=bool)[np.arange(30) % 3]
    learning, validating = stratified_split(one_each, 0.2, 0)
    assert one_each[validating].sum(axis=0).tolist() == [2, 2, 2]


def test_thresholds_maximise_f1():
    scores = np.array([3.0, 2.0, 2.0, 1.0, 0.0])
    relevant = np.array([True, True, False, True, False])
    threshold, f1 = best_threshold(scores, relevant)
    options = [scores > t for t in (2.5, 1.5, 0.5, -1.0)]
    values = [2 * (o & relevant).sum() / (o.sum() + relevant.sum()) for o in options]
    assert f1 == pytest.approx(max(values))
    assert (scores > threshold).tolist() == options[int(np.argmax(values))].tolist()
    assert best_threshold(scores, np.zeros(5, bool)) == (0.0, 0.0)


def test_sharpness_calibrates():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 3)) * 2
    drawn = np.array([rng.choice(3, p=np.exp(0.5 * s - logsumexp(0.5 * s))) for s in scores])
    assert best_sharpness(scores, np.eye(3, dtype=bool)[drawn]) == pytest.approx(0.5, abs=0.05)
    assert best_sharpness(np.array([[1.0, 0.0]] * 10), np.array([[True, False]] * 10)) < 10


def test_targets():
    targets = Targets.of([("b", "a"), (), ["a"]])
    assert targets.classes.tolist() == ["a", "b"]
    assert targets.members.tolist() == [[True, True], [False, False], [True, False]]
