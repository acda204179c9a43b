"""Groups of results: planted topics are found, words are the formula, and the list's order is kept."""

import math
from collections import Counter

import numpy as np
import pytest

from germane.engine import Engine, SearchRequest
from germane.engine.result_groups import GROUPED
from germane.errors import ParameterError
from germane.types import Document

TOPICS = {
    "copper": "copper wire voltage current ohm circuit solder",
    "comet": "comet orbit telescope planet dust tail",
    "bread": "bread flour oven yeast crust dough salt",
}


def planted(n: int, seed: int = 0) -> list[Document]:
    """Texts of a topic's words, each with the word that all are found by; the topic is the id's first part."""
    rng = np.random.default_rng(seed)
    names = list(TOPICS)
    made = []
    for i in range(n):
        name = names[i % 3]
        words = rng.choice(TOPICS[name].split(), 12)
        made.append(Document(f"{name}-{i}", {"text": " ".join(["found", *words])}))
    return made


@pytest.fixture(scope="module")
def engine() -> Engine:
    made = Engine.create(":memory:")
    made.add([*planted(30), Document("lone", {"text": "found"}), Document("2000", {"text": "found 2000 copper 2000"})])
    made.add(planted(60)[30:])  # a second segment
    return made


def topic(name: str) -> str:
    return name.split("-")[0]


def test_planted_topics_are_found(engine: Engine) -> None:
    result = engine.search("found", 100)
    groups = result.groups(3)
    assert sorted(map(len, (group.ids for group in groups)), reverse=True) == [len(group.ids) for group in groups]
    kinds = [{topic(name) for name in group.ids} - {"2000", "lone"} for group in groups]
    assert sorted(kinds, key=sorted) == [{"bread"}, {"comet"}, {"copper"}]
    for kind, group in zip(kinds, groups, strict=True):
        assert set(group.words) <= set(TOPICS[kind.pop()].split())
        assert [result.ids[rank - 1] for rank in group.ranks] == list(group.ids)
        assert list(group.ranks) == sorted(group.ranks)
    members = [name for group in groups for name in group.ids]
    assert len(members) == len(set(members))
    assert set(members) == set(result.ids)


def test_the_words_are_the_formula(engine: Engine) -> None:
    """p(w|group)·log(p(w|group)/p(w|list)), p the mean of f/|d|, from the texts; words of two members, none of the
    query's, and none without letters."""
    result = engine.search("found", 100)
    texts = {hit.id: hit.fields["text"].split() for hit in result}
    in_documents = Counter(word for words in texts.values() for word in set(words))
    kept = {name: [word for word in words if in_documents[word] > 1] for name, words in texts.items()}

    def mean(names: list[str], word: str) -> float:
        return sum(kept[name].count(word) / len(kept[name]) for name in names) / len(names)

    for group in result.groups(3):
        members = list(group.ids)
        telling = {
            word: mean(members, word) * math.log(mean(members, word) / mean(list(texts), word))
            for word in in_documents
            if sum(word in kept[name] for name in members) > 1 and word not in ("found", "2000")
        }
        best = sorted(telling, key=lambda word: -telling[word])[:5]
        assert [round(telling[word], 12) for word in group.words] == [round(telling[word], 12) for word in best]


def test_more_results_than_begin_in_a_cluster() -> None:
    with Engine.create(":memory:") as engine:
        engine.add(planted(GROUPED + 40))
        groups = engine.search("found", 1000).groups(3)
        assert sum(len(group.ids) for group in groups) == GROUPED + 40
        assert all(len({topic(name) for name in group.ids}) == 1 for group in groups)


def test_few_results(engine: Engine) -> None:
    result = engine.search("found", 5)
    assert sorted(name for group in result.groups(9) for name in group.ids) == sorted(result.ids)
    assert engine.search("nowhere", 5).groups(2) == ()
    with Engine.create(":memory:") as other:
        other.add([Document("1", {"text": "found one"}), Document("2", {"text": "lost two"})])
        assert other.search("found", 5).groups(2) == ()  # no word that two results share
    with pytest.raises(ParameterError, match="n"):
        result.groups(0)


def test_a_request_groups_the_first_results_whatever_its_page(engine: Engine) -> None:
    whole = engine.search("found", GROUPED).groups(3)
    assert engine.answer(SearchRequest("found", 2, offset=3, groups=3)).groups == whole
    assert engine.answer(SearchRequest("found", GROUPED, groups=3)).groups == whole
    assert engine.answer(SearchRequest("found", 2)).groups is None
