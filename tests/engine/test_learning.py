"""μ and λ from the collection: the engine hands the right postings to the leave-one-out estimators."""

from math import log

import numpy as np
import pytest

from germane import Analyzer, Document, Engine
from germane.errors import ParameterError


@pytest.fixture(scope="module")
def texts() -> list[list[str]]:
    random = np.random.default_rng(11)
    share = 1 / np.arange(1, 31)
    made = []
    for _ in range(60):
        topic = random.dirichlet(8 * share / share.sum())
        made.append([f"w{i}" for i in random.choice(30, random.integers(2, 40), p=topic).tolist()])
    return [*made, []]


@pytest.fixture(scope="module")
def engine(texts, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    raw = Analyzer(stemmer="none", stopwords="none")
    with Engine.create(tmp_path_factory.mktemp("learning") / "index", analyzer=raw) as made:
        documents = [Document(f"d{i}", {"text": " ".join(tokens)}) for i, tokens in enumerate(texts)]
        made.add([*documents[:25], Document("gone", {"text": "w0 w1 noise " * 50})], threads=1)
        made.add(documents[25:], threads=1)
        made.delete(["gone"])
    return made


def p_C(texts: list[list[str]]) -> dict[str, float]:
    tokens = [token for text in texts for token in text]
    return {word: tokens.count(word) / len(tokens) for word in set(tokens)}


def left_out_dirichlet(texts: list[list[str]], mu: float) -> float:
    p = p_C(texts)
    return sum(log((text.count(w) - 1 + mu * p[w]) / (len(text) - 1 + mu)) for text in texts for w in text)


def left_out_linear(texts: list[list[str]], lam: float) -> float:
    p = p_C(texts)
    total = 0.0
    for text in texts:
        for w in text:
            seen = (text.count(w) - 1) / (len(text) - 1) if len(text) > 1 else p[w]
            total += log(lam * seen + (1 - lam) * p[w])
    return total


def test_mu(engine: Engine, texts) -> None:
    learnt = engine.learn_mu()
    assert learnt.log_likelihood == pytest.approx(left_out_dirichlet(texts, learnt.value), rel=1e-9)
    for mu in (learnt.value * 0.9, learnt.value * 1.1):
        assert left_out_dirichlet(texts, mu) < learnt.log_likelihood
    assert not learnt.at_bound


def test_lam(engine: Engine, texts) -> None:
    learnt = engine.learn_lam()
    assert learnt.log_likelihood == pytest.approx(left_out_linear(texts, learnt.value), rel=1e-9)
    for lam in (learnt.value - 0.03, learnt.value + 0.03):
        assert left_out_linear(texts, lam) < learnt.log_likelihood
    assert 0 < learnt.value < 1


def test_a_sample_is_drawn_by_the_random_state(engine: Engine) -> None:
    assert engine.learn_mu(sample=20, random_state=1) == engine.learn_mu(sample=20, random_state=1)
    assert engine.learn_mu(sample=20, random_state=1) != engine.learn_mu(sample=20, random_state=2)
    assert engine.learn_mu(sample=61) == engine.learn_mu()


def test_the_learnt_value_is_a_parameter(engine: Engine) -> None:
    assert len(engine.search("w3 w5", model="dirichlet", mu=engine.learn_mu().value)) > 0


def test_nothing_to_learn_from(tmp_path) -> None:
    with Engine.create(tmp_path / "index") as engine:
        for learn in (engine.learn_mu, engine.learn_lam):
            with pytest.raises(ParameterError, match="nothing to learn from"):
                learn()
        engine.add([Document("1", {"text": ""})])
        for learn in (engine.learn_mu, engine.learn_lam):
            with pytest.raises(ParameterError):
                learn()
