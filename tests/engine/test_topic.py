"""Engine.topic: what is general comes from the index, as if its documents had been read one by one."""

import random

import numpy as np
import pytest

from germane import Document, Engine
from germane.engine.following import general_of
from germane.errors import ParameterError
from germane.track import (
    METHOD_NAMES,
    Background,
    BagMaker,
    Costs,
    Follower,
    Following,
    Reference,
    WordNumbers,
    method_named,
)

DRAW = random.Random(5)
WORDS = ["red", "blue", "green", "cup", "plate", "lamp", "box", "table", "old", "new", "broken", "on", "in", "of"]
TEXTS = [" ".join(DRAW.choices(WORDS, k=9)) for _ in range(40)]
SEED = "An earthquake shook the table and broke the blue lamp"
NEXT = ["Another earthquake, and no lamp is left", "A green box", "Earthquake: the table shook", ""]


@pytest.fixture
def engine():
    with Engine.create(":memory:") as made:
        for start in (0, 15, 30):  # several segments
            made.add([Document(str(n), {"text": TEXTS[n]}) for n in range(start, min(start + 16, len(TEXTS)))],
                     on_duplicate="skip")  # fmt: skip
        made.add([Document("gone", {"text": "gone words that count for nothing"})])
        made.delete(["gone"])
        yield made


@pytest.mark.parametrize("method", METHOD_NAMES)
def test_as_by_hand(engine, method):
    maker = BagMaker(engine.analyzer, WordNumbers())
    bags = [maker.bag(text) for text in TEXTS]
    follower = Follower.start(Following(method_named(method)), [maker.bag(SEED)], Reference(bags, Background.of(bags)))
    topic = engine.topic(SEED, method=method)
    for text in NEXT:
        wanted, found = follower.see(maker.bag(text)), topic.see({"text": text})
        assert found.score == pytest.approx(wanted.score, rel=1e-9, abs=1e-9)
        assert found[1:] == wanted[1:]
    follower.judge(maker.bag(NEXT[1]), False)
    topic.judge(Document("x", {"text": NEXT[1]}), False)
    assert topic.see(NEXT[0]).score == pytest.approx(follower.see(maker.bag(NEXT[0])).score, rel=1e-9)
    assert next(iter(topic.words(3))) in engine.analyzer.terms(SEED)


def test_what_is_general(engine):
    general = general_of(engine.retriever)
    maker = BagMaker(engine.analyzer, WordNumbers())
    background = Background.of([maker.bag(text) for text in TEXTS])
    found, vocabulary = general.reference.background, general.maker.vocabulary
    assert (found.n_documents, len(general.reference.bags)) == (len(TEXTS), len(TEXTS))
    for term in maker.vocabulary.terms:
        ours, theirs = (np.array([words.find(term)]) for words in (vocabulary, maker.vocabulary))
        assert found.probability(ours) == background.probability(theirs)
        assert found.idf(ours) == background.idf(theirs)


def test_seeds_and_costs(engine):
    one, both = engine.topic(SEED), engine.topic([SEED, {"text": NEXT[2]}], costs=Costs(miss=100.0), unjudged=0)
    assert both.follower.thresholds.decision < one.follower.thresholds.decision
    assert not both.see(NEXT[0]).learnt
    with pytest.raises(ParameterError, match="at least one word"):
        engine.topic("of the")
    with pytest.raises(ParameterError, match="no method 'magic'"):
        engine.topic(SEED, method="magic")
    with Engine.create(":memory:") as empty, pytest.raises(ParameterError, match="the index is empty"):
        empty.topic(SEED)
