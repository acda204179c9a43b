"""One order and one score, whatever the segments, the threads and the order in which documents came."""

import numpy as np
import pytest

from germane import Document, Engine, Topic
from germane.lazy import load_compiler
from germane.rank import MODEL_NAMES
from germane.rank.scoring.priors import LengthPrior

WORDS = [f"w{i}" for i in range(60)]
QUERIES = ["w0", "w0 w1 w2", "w3 w40 w59", "w0^0.001 w7^1000 w12", "w5 w5 w5 w6 nothing", " ".join(WORDS)]


def documents(n: int = 600) -> list[Document]:
    random = np.random.default_rng(7)
    made = []
    for i in range(n):
        tokens = [WORDS[int(x)] for x in (random.random(random.integers(0, 30)) ** 2 * len(WORDS))]
        tokens += [f"u{i // 3}"] * (i % 4)  # words that only some segments hold
        made.append(Document(f"é{i}" if i % 5 == 0 else f"d{i:04}", {"text": " ".join(tokens)}))
    made += [Document(f"copy-{i}-{j}", made[i].fields) for i in range(40) for j in range(3)]
    return made


@pytest.fixture(scope="module")
def cuts(build) -> list[Engine]:
    """The same documents in 1, 3 and 10 segments; in 10 in reverse; in 3 with others added and deleted; those that
    equal others in small segments beside a large one."""
    all_documents = documents()
    others = [Document(f"other{i}", {"text": f"w{i} w0 w1 extra{i}"}) for i in range(50)]
    return [
        build(all_documents),
        build(*(all_documents[i::3] for i in range(3))),
        build(*(all_documents[i::10] for i in range(10))),
        build(*(all_documents[i::10][::-1] for i in range(10))),
        build(
            [*all_documents[:100], *others[:20]],
            [*others[20:], *all_documents[100:400]],
            all_documents[400:],
            delete=[d.id for d in others],
        ),
        build(all_documents[:600], all_documents[600:650], all_documents[650:651], all_documents[651:]),
    ]


@pytest.mark.parametrize("model", MODEL_NAMES)
@pytest.mark.parametrize("k", [1, 10, 1000])
def test_segments_do_not_matter(cuts: list[Engine], model: str, k: int) -> None:
    for query in QUERIES:
        first, *rest = (engine.search(query, k, model=model) for engine in cuts)
        for other in rest:
            assert other.ids == first.ids
            assert other.scores.tolist() == first.scores.tolist()


def test_merging_does_not_matter(build) -> None:
    all_documents = documents(200)
    engine = build(*(all_documents[i::4] for i in range(4)), delete=["d0001", "d0002"])
    before = [engine.search(query, 50, model=model) for query in QUERIES for model in MODEL_NAMES]
    engine.merge()
    engine.close()
    assert engine.stats().segments == 1
    after = [engine.search(query, 50, model=model) for query in QUERIES for model in MODEL_NAMES]
    for old, new in zip(before, after, strict=True):
        assert (old.ids, old.scores.tolist()) == (new.ids, new.scores.tolist())


@pytest.mark.parametrize("model", MODEL_NAMES)
def test_threads_do_not_matter(cuts: list[Engine], model: str) -> None:
    topics = [Topic(str(i), query) for i, query in enumerate(QUERIES * 8)]
    engine = cuts[1]
    single = list(engine.batch(topics, 20, model=model, threads=1, syntax=True, priors=[LengthPrior()]))
    many = list(engine.batch(topics, 20, model=model, threads=4, syntax=True, priors=[LengthPrior()]))
    assert [topic for topic, _ in many] == topics
    for (_, one), (topic, other) in zip(single, many, strict=True):
        alone = engine.search(topic.text, 20, model=model, priors=[LengthPrior()])
        assert one.ids == other.ids == alone.ids
        assert one.scores.tolist() == other.scores.tolist() == alone.scores.tolist()


def test_ties_are_broken_by_id_as_python_orders_strings(build) -> None:
    ids = ["b", "a", "Z", "é", "10", "9", "漢", "\U0001f438", "a b", "a-b"]
    halves = {doc_id: ["x"] for doc_id in ids[:5]}, {doc_id: ["x"] for doc_id in ids[5:]}
    for engine in (build({doc_id: ["x"] for doc_id in ids}), build(*halves)):
        assert engine.search("x").ids == sorted(ids)
        assert engine.search("x", 3).ids == sorted(ids)[:3]


def test_many_recent_documents_that_equal_others(build) -> None:
    """More than are put in their order one by one: of each segment those with the first ids."""
    large = {f"{(i * 7919) % 1000:04}": ["x", "y"] for i in range(400)}
    small = ({f"{(i * 104729) % 10000:05}-{part}": ["x", "y"] for i in range(150)} for part in range(2))
    engine = build(large, *small, {"alone": ["x"]})
    expected = sorted(engine.documents(), key=lambda document: document.id)
    load_compiler()
    for k in (1, 10, 149, 1000):
        tied = [document.id for document in expected if document.id != "alone"]
        assert engine.search("y", k).ids == tied[:k]
        assert set(engine.search("x", k).ids) <= {*tied, "alone"}
        assert engine.search("x", k).ids == (["alone", *tied])[:k]


def test_the_order_of_query_words_does_not_matter(cuts: list[Engine]) -> None:
    random = np.random.default_rng(5)
    for model in MODEL_NAMES:
        if model.startswith("sdm") or model == "bigram":  # the one thing that they look at
            continue
        first = cuts[0].search(" ".join(WORDS), 30, model=model)
        shuffled = cuts[0].search(" ".join(random.permutation(WORDS)), 30, model=model)
        assert shuffled.scores.tolist() == first.scores.tolist()
        assert shuffled.ids == first.ids
