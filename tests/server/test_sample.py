"""The sample collection, and how the server starts on it."""

from collections import Counter
from pathlib import Path

import pytest

from germane.engine import Engine
from germane.errors import ParameterError
from germane.server.running import address_of, answers_once, listening, open_library, sample_engine, starting_server
from germane.server.sample import sample_documents
from germane.server.settings import Settings


def test_the_sample_is_large_varied_and_always_the_same():
    documents = list(sample_documents())
    assert len(documents) == len({document.id for document in documents}) == 2_600
    assert len({document.fields["title"] for document in documents}) > 2_400
    topics = Counter(document.fields["topic"] for document in documents)
    assert len(topics) == 10
    assert set(topics.values()) == {260}
    assert documents == list(sample_documents())
    texts = [str(document.fields["text"]) for document in documents]
    assert all(300 < len(text) < 2_000 for text in texts)
    assert not any(sign in text for text in texts for sign in "{}")


def test_words_of_a_part_find_that_part(sample: Path):
    engine = Engine.open(sample)
    for words, part in (
        ("dendrite electrolytes", "batteries"),
        ("wolves herders", "carnivores"),
        ("aphasia", "language"),
    ):
        found = engine.search(words, 5).ids
        assert all(name.startswith(part) for name in found), found


def test_the_sample_is_made_once(tmp_path: Path):
    made: list[int] = []

    def few(documents):
        made.append(1)
        return list(documents)[:50]

    assert len(sample_engine(tmp_path, few)) == 50
    assert len(sample_engine(tmp_path, few)) == 50
    assert made == [1]


def test_a_sample_that_was_broken_off_is_made_again(tmp_path: Path):
    def broken(documents):
        yield next(iter(documents))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sample_engine(tmp_path, broken)
    assert not (tmp_path / "research").exists()
    assert len(sample_engine(tmp_path, lambda documents: list(documents)[:9])) == 9


def test_the_server_answers_and_ends(tmp_path: Path, sample: Path):
    settings = Settings(port=0)
    taken = listening(settings)
    server, start = starting_server(
        settings, lambda say: open_library([sample], settings, workspace=tmp_path / "my.workspace"), compiles=False
    )
    assert address_of(settings, taken).startswith("http://127.0.0.1:")
    assert answers_once(server, start, settings, taken)["documents"] == {"research": 480}


def test_a_port_that_is_taken_is_told():
    first = listening(Settings(port=0))
    first.listen()
    with pytest.raises(ParameterError, match="choose another with --port"):
        listening(Settings(port=first.getsockname()[1]))
    first.close()


def test_two_indexes_of_one_name(tmp_path: Path, sample: Path):
    with pytest.raises(ParameterError, match="different names"):
        open_library([sample, sample], Settings(), workspace=tmp_path / "w")
