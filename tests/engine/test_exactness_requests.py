"""Random requests of every kind, as `benchmarks/exactness.py` asks them, answered by one segment and by several."""

import runpy
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from germane import Document, Engine
from germane.data import read_documents

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "src" / "germane" / "samples" / "curiosities.jsonl"
SEVERAL = (0.3, 0.55, 0.8, 0.9, 1.0)
OTHERWISE = {
    "learnt:bltm": "a product of float32 matrices depends on which rows are scored together",
    "learnt:wtm": "as above with float64, in the last bit",
    "learnt:opca": "as above with float32",
    "learnt:combination": "the same, of its parts",
    "learnt-parameters": "the documents are sampled, and added up, in the order of segments",
    "followed-topics": "the documents that scores are held against are sampled in the order of segments",
}
"""Kinds that segments may answer otherwise, and why."""


@pytest.fixture(scope="module")
def exactness() -> Iterator[dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield runpy.run_path(str(ROOT / "benchmarks" / "exactness.py"), run_name="exactness_requests")


@pytest.fixture(scope="module")
def answered(exactness: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[Any, Any]:
    """All but requests of an index that has learnt from clicks, which takes long to make."""
    parts, kinds = (import_module(f"exactness.{name}") for name in ("collection", "beyond_words"))
    folder = tmp_path_factory.mktemp("exactness")
    read = [(document, document.fields) for document in read_documents(SAMPLES)]
    collection = parts.Collection.of([
        Document(document.id, {**fields, "source": fields["topic"], "author": f"Author {len(str(fields['text'])) % 9}"})
        for document, fields in read
    ])  # fmt: skip
    known = exactness["Known"](collection)
    one = parts.build(folder / "one", collection, parts.WHOLE, merged=True)
    several = parts.build(folder / "several", collection, SEVERAL, merged=False, shuffled=True)
    found = {}
    with Engine.open(one) as first, Engine.open(several) as second:
        assert (first.stats().segments, first.stats().deleted) == (1, 0)
        assert second.stats().segments > 3
        assert second.stats().deleted
        kinds.learnt_by(exactness["learnt_models"](known, first.analyzer, None))
        for kind, number, request in exactness["asked"](0, 60, [], known):
            for index, engine in (("one", first), ("several", second)) if not request.learnt else ():
                text = exactness["answer"](request, engine, folder)
                found[exactness["Key"](index, kind, number)] = text
    return found


def test_several_segments_answer_what_one_does(exactness: dict[str, Any], answered: dict[Any, Any]) -> None:
    kinds = {key.kind for key in answered}
    assert len(kinds) > 50
    otherwise = [
        (key, text)
        for key, text in answered.items()
        if key.kind not in OTHERWISE and text.answer != answered[key._replace(index="one")].answer
    ]
    assert otherwise == []


def test_most_requests_can_be_answered(exactness: dict[str, Any], answered: dict[Any, Any]) -> None:
    errors = [key.kind for key, text in answered.items() if text.answer.startswith(exactness["ERROR"])]
    assert len(errors) < len(answered) / 10, errors


def test_what_is_answered_otherwise_is_named(exactness: dict[str, Any], tmp_path: Path) -> None:
    """A file that was written is read again; a score, a wording and a missing request are three differences."""
    key, digests, text = exactness["Key"], exactness["Digests"], import_module("exactness.text")
    word = import_module("germane.engine.feedback_report").WordImpact

    def of(*impacts: Any) -> dict[Any, Any]:
        return {key("one", "words", i): digests.of(text.canonical(impact)) for i, impact in enumerate(impacts)}

    before = of(word("heart", 0.1), word("attack", 0.2), word("knee", 0.3))
    path = tmp_path / "before.txt"
    path.write_text(exactness["written"](before, 0), encoding="utf-8")
    assert exactness["read"](path, 0) == before
    assert exactness["differences"](before, before) == []
    after = of(word("heart", 0.1 + 2**-55), word("attacks", 0.2))
    assert exactness["differences"](before, after) == [
        "one words: 1 of 2 answered otherwise: 0",
        "one words: 1 of 2 worded otherwise: 1",
        "one words: 1 of 2 in one alone: 2",
    ]
    with pytest.raises(SystemExit, match="other requests"):
        exactness["read"](path, 1)
