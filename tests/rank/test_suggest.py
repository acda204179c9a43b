"""Did you mean ...?"""

import math
import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane import Analyzer, Document, Engine, lazy
from germane.engine import SearchRequest
from germane.index.strings import pack_strings
from germane.lm.noisy_channel import EDIT, Lexicon
from germane.rank import suggest
from germane.rank.near_words import Letters, edits_between, near_words
from germane.rank.retrievers.local import SnapshotRetriever
from germane.rank.suggest import MOST_LOOKED_UP, MU, RARE

FILLER = " ".join(f"word{i}" for i in range(3000))
"""What makes a collection large enough for pairs of words to tell something."""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    texts = ["myocardial infarction"] * 9 + ["diabetes mellitus therapies"] * 12 + ["infraction of rules"] * 3
    texts += ["hearts"] * 5 + ["naïve bayes"] * 4 + ["cat"] * 4 + ["rarely"]
    engine = Engine.create(tmp_path_factory.mktemp("suggest") / "index")
    engine.add([Document(str(i), {"text": text}) for i, text in enumerate(texts)], threads=1)
    engine.close()
    return engine


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("myocardial infarction", None),
        ("myocardal infarction", "myocardial infarction"),  # a letter too few
        ("diabbetes", "diabetes"),  # one too many
        ("diabetas", "diabetes"),  # another one
        ("daibetes", "diabetes"),  # two neighbours exchanged
        ("dabetis", "diabetes"),  # two edits
        ("MELITUS Diabetes", "mellitus diabetes"),
        ("naive bayes", "naïve bayes"),
        ("the diabtes", "the diabetes"),  # stop words stay
        ("", None),
        ("?!", None),
        ("zzzzzzzz", None),
        ("ct", None),  # too short to guess
        ("caat", "cat"),
        ("diabetes2", None),  # numbers are not corrected
        ("rarely", None),  # known, and nothing near it
        ("x" * 300, None),
    ],
)
@pytest.mark.parametrize("compiled", [False, True], ids=["by NumPy", "by kernels"])
def test_suggestions(
    engine: Engine, typed: str, meant: str | None, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lazy, "compiler_is_loaded", lambda: compiled)
    assert engine.suggest(typed) == meant


def test_the_commoner_word_wins(engine: Engine) -> None:
    """'infarction' and 'infraction' are one edit away each; the collection writes the first more often."""
    assert engine.suggest("infaction") == "infarction"


def test_any_segment_may_know_the_word(tmp_path) -> None:
    engine = Engine.create(tmp_path / "index")
    for i in range(4):
        engine.add([Document(f"{i}", {"text": "tuberculosis" if i != 2 else "tuberculosis care"})], threads=1)
    assert engine.suggest("tuberculosos") == "tuberculosis"
    engine.close()


def test_an_empty_index_has_no_idea(tmp_path) -> None:
    with Engine.create(tmp_path / "index") as engine:
        assert engine.suggest("anything") is None


@pytest.mark.parametrize("compiled", [False, True], ids=["by texts", "by kernels"])
def test_known_words_in_context(tmp_path, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Lecture's example: both words are known, and one of them stands behind 'fifteen'."""
    monkeypatch.setattr(lazy, "compiler_is_loaded", lambda: compiled)
    texts = ["about fifteen minutes"] * 6 + ["minuets by bach"] * 5 + ["fifteen songs by bach"] * 4 + [FILLER] * 30
    engine = Engine.create(tmp_path / "index")
    engine.add([Document(str(i), {"text": text}) for i, text in enumerate(texts)], threads=1)
    assert engine.suggest("about fifteen minuets") == "about fifteen minutes"
    for right in ("minuets", "minuets by bach", "bach minuets", "fifteen minutes", "fifteen songs", "bach songs"):
        assert engine.suggest(right) is None
    with Engine.create(tmp_path / "without", positions=False) as unordered:
        unordered.add([Document(str(i), {"text": text}) for i, text in enumerate(texts)], threads=1)
        assert unordered.suggest("about fifteen minuets") is None
    answer = engine.answer(SearchRequest("+fifteen minuets"))
    assert answer.suggestion is None  # a sign ends a run
    assert engine.answer(SearchRequest("About Fifteen Minuets -bach")).suggestion == "About Fifteen minutes -bach"
    engine.close()


def test_the_correction_is_the_argmax_of_the_chain(tmp_path) -> None:
    """The same as every word of the collection tried in turn, with P(w|v) counted from the texts."""
    rng = random.Random(3)
    words = ["forms", "farms", "firms", "forts", "films", "corns", "taxes", "wheat", "law", "actor", "camera"]
    follow = {"taxes": "forms forms law", "wheat": "farms corns", "law": "firms firms forms", "camera": "films"}
    texts, fill = [FILLER] * 30, [f"word{i}" for i in range(100)]
    for _ in range(300):
        first = rng.choice(sorted(follow))
        texts.append(f"{first} {rng.choice(follow[first].split())} {rng.choice([*words, *fill])}")
    engine = Engine.create(tmp_path / "index", analyzer=Analyzer("none", "none"))
    engine.add([Document(str(i), {"text": text}) for i, text in enumerate(texts)], threads=1)
    counts = Counter(word for text in texts for word in text.split())
    held = [set(pairwise(text.split())) for text in texts]
    total = sum(counts.values())

    def chain(before: str, word: str) -> float:
        beside = sum((before, word) in pairs for pairs in held)
        return math.log((beside + MU * counts[word] / total) / (counts[before] + MU))

    corrected = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("germane.rank.spellings.LOOKED_AT", 10_000)
        for before in sorted(follow):
            for typed in words:
                if typed == before:
                    continue
                scores = {typed: chain(before, typed)}
                if not any((before, typed) in pairs for pairs in held):
                    near = [word for word, edits in Lexicon(words).within(typed, 1) if edits == 1]
                    for word in near:
                        if sum((before, word) in pairs for pairs in held) >= RARE:
                            scores[word] = chain(before, word) + math.log(EDIT)
                meant = max(scores, key=scores.__getitem__)
                assert engine.suggest(f"{before} {typed}") == (None if meant == typed else f"{before} {meant}")
                corrected += meant != typed
    assert corrected > 3
    engine.close()


WORDS = st.binary(min_size=1, max_size=9) | st.text("abcé", min_size=1, max_size=9).map(str.encode)


@settings(max_examples=500, deadline=None)
@given(WORDS, WORDS, st.integers(0, 3))
def test_edits_are_those_of_the_definition(a: bytes, b: bytes, most: int) -> None:
    """Against the plain table of Damerau and Levenshtein, one cell at a time."""
    assert edits_between(a, b, most) == min(distance(a, b), most + 1)


@settings(max_examples=200, deadline=None)
@given(st.lists(WORDS, max_size=30), st.lists(st.booleans(), min_size=30, max_size=30), WORDS, st.integers(1, 2))
def test_near_words_are_all_that_are_near(words: list[bytes], second: list[bool], typed: bytes, edits: int) -> None:
    """No word is left out by its letters, whichever of two lists it is written in."""
    first = [b"" if is_second else word for word, is_second in zip(words, second, strict=False)]
    lists = [pack_strings(first), pack_strings(words)]
    letters = Letters.of(lists, np.arange(len(words)))
    expected = [i for i, word in enumerate(words) if distance(word, typed) <= edits]
    assert near_words(letters, lists, typed, edits).tolist() == expected
    some = np.arange(0, len(words), 2)
    assert near_words(Letters.of(lists, some), lists, typed, edits).tolist() == [i for i in expected if i % 2 == 0]


def test_only_the_first_words_are_corrected(tmp_path) -> None:
    """Suspected words count, whether there is a better one for them or not."""
    texts = ["myocardial infarction"] * 9 + ["diabetes mellitus therapies"] * 12
    with Engine.create(tmp_path / "index") as engine:
        engine.add([Document(str(i), {"text": text}) for i, text in enumerate(texts)])
        assert engine.suggest("qqqqqq wwwwww zzzzzz diabtes") == "qqqqqq wwwwww zzzzzz diabetes"
        assert engine.suggest("qqqqqq wwwwww zzzzzz jjjjjj diabtes") is None


def test_no_word_is_looked_up_that_comes_too_late(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many unknown words no other is corrected, and none of them is compared with the dictionary."""
    looked_up: list[str] = []
    near_terms = SnapshotRetriever.near_terms

    def watched(self: SnapshotRetriever, words: Sequence[tuple[str, int]], least: int = 1) -> list[list[str]]:
        looked_up.extend(word for word, _ in words)
        return near_terms(self, words, least)

    monkeypatch.setattr(SnapshotRetriever, "near_terms", watched)
    with Engine.create(tmp_path / "index") as engine:
        engine.add([Document(str(i), {"text": "diabetes mellitus"}) for i in range(12)])
        typed = ["diabtes", *(f"qqqq{letter * 3}" for letter in "abcdefghij")]
        assert engine.suggest(" ".join(typed)) == " ".join(["diabetes", *typed[1:]])
    assert looked_up == typed[:MOST_LOOKED_UP]


def test_words_in_context_are_those_of_all_pairs(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost where pairs are only looked up for words that could be better wherever they stood."""
    rng = random.Random(5)
    words = ["forms", "farms", "firms", "forts", "films", "corns", "horns", "taxes", "wheat", "actor", "camera"]
    follow = {"taxes": "forms law", "wheat": "farms corns", "law": "firms forms", "camera": "films", "actor": "horns"}
    texts = [FILLER] * 30
    for first in rng.choices(sorted(follow), k=300):
        texts.append(f"{first} {rng.choice(follow[first].split())} word{rng.randrange(3000)}")
    with Engine.create(tmp_path / "index") as engine:
        engine.add([Document(str(i), {"text": text}) for i, text in enumerate(texts)], threads=1)
        queries = [" ".join(rng.sample(words, n)) for n in (2, 3, 5) for _ in range(40)]
        found = [engine.suggest(query) for query in queries]
        monkeypatch.setattr(suggest, "_may_replace_known", lambda told, typed, term: term != typed.term)
        assert found == [engine.suggest(query) for query in queries]
        assert any(found)


def distance(a: bytes, b: bytes) -> int:
    table = {(i, j): i or j for i in range(len(a) + 1) for j in range(len(b) + 1) if not i or not j}
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(a), len(b)]
