"""docs/extending.md runs as it stands, and its five extensions compute their formulas, written out once more here."""

import gzip
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from germane import Analyzer, Document, Engine
from germane.data import SkipReport, read_documents
from germane.data.formats import FORMATS
from germane.engine.registry import RERANKERS
from germane.engine.rerank import reranker_named
from germane.errors import ParameterError
from germane.feedback.registry import METHODS
from germane.rank.registry import MODELS

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (my_search/\w+\.py)\n")


def counts(*fields: str) -> Counter[str]:
    return Counter(term for text in fields for term in Analyzer().terms(text))


TEXTS = {
    "moon": counts("the moon is far and the moon is cold"),
    "mars": counts("mars is far and dry and red and cold and small"),
    "rover": counts("a rover on mars is a robot on mars"),
    "sea": counts("the sea is wet"),
    "library.enw:1": counts("Copper in the liver", "Of copper."),
}
N = len(TEXTS)
DF = Counter(term for text in TEXTS.values() for term in text)
CF = sum(TEXTS.values(), Counter[str]())
P_C = {term: count / CF.total() for term, count in CF.items()}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The names that the page has made; afterwards the registries are as they were."""
    folder = tmp_path_factory.mktemp("extending")
    registries: list[dict[str, Any]] = [MODELS, FORMATS, RERANKERS, METHODS._homes]
    before = [dict(registry) for registry in registries]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(folder))
        names: dict[str, Any] = {}
        for block in BLOCKS:
            if module := FILE.match(block):
                file = folder / module[1]
                file.parent.mkdir(exist_ok=True)
                file.write_text(block, encoding="utf-8")
            else:
                exec(block, names)
        yield names
        names["engine"].close()
        for registry, content in zip(registries, before, strict=True):
            registry.clear()
            registry.update(content)
        for name in [name for name in sys.modules if name.startswith("my_search")]:
            del sys.modules[name]


@pytest.fixture(scope="module")
def engine(page: dict[str, Any]) -> Engine:
    made = page["engine"]
    assert isinstance(made, Engine)
    return made


def scores(engine: Engine, query: str, **options: Any) -> dict[str, float]:
    result = engine.search(query, **options)
    return dict(zip(result.ids, result.scores.tolist(), strict=True))


def test_each_extension_is_one_file_and_one_line(page: dict[str, Any]) -> None:
    files = [block for block in BLOCKS if FILE.match(block)]
    lines = [line for block in BLOCKS if not FILE.match(block) for line in block.splitlines()]
    assert len(files) == 5
    assert len([line for line in lines if re.match(r"(MODELS|METHODS|FORMATS|RERANKERS)\[", line)]) == 5


def test_ranking_model(engine: Engine) -> None:
    """Σ_w idf·(1 + log c)/((1-s)·pivot + s·|D|_u)."""
    for options in ({}, {"slope": 0.9, "pivot": 5.0}):
        slope, pivot = options.get("slope", 0.2), options.get("pivot", 100.0)
        expected = {
            name: sum(
                math.log(1 + N / DF[w]) * (1 + math.log(text[w])) / ((1 - slope) * pivot + slope * len(text))
                for w in counts("cold mars")
                if w in text
            )
            for name, text in TEXTS.items()
            if text.keys() & counts("cold mars").keys()
        }
        assert scores(engine, "cold mars", model="pivoted", **options) == pytest.approx(expected, rel=1e-12)


def test_a_model_explains_itself_and_ranks_again(engine: Engine) -> None:
    found = scores(engine, "cold mars", model="pivoted")
    assert {name: engine.explain("cold mars", name, model="pivoted").score for name in found} == found
    assert scores(engine, "cold mars", rerank="pivoted") == found


def pitman_yor(text: Counter[str], w: str, delta: float, mu: float) -> float:
    return (max(text[w] - delta, 0) + (mu + delta * len(text)) * P_C[w]) / (text.total() + mu)


def test_smoothing(engine: Engine) -> None:
    """Σ_w log θ_D(w)."""
    query = counts("cold mars")
    for options in ({}, {"delta": 0.3, "mu": 7.0}):
        delta, mu = options.get("delta", 0.7), options.get("mu", 400.0)
        expected = {
            name: sum(math.log(pitman_yor(text, w, delta, mu)) for w in query)
            for name, text in TEXTS.items()
            if text.keys() & query.keys()
        }
        assert scores(engine, "cold mars", model="pitman-yor", **options) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("marks", [{}, {"mars": True}], ids=["unmarked", "marked"])
def test_feedback_method(engine: Engine, marks: dict[str, bool]) -> None:
    """λ·θ̂^Q + (1-λ)·the normalised shares of KL(p_R‖p_C), by Dirichlet-smoothed likelihood; marks take of λ = ½."""
    own = 0.5 / (0.5 + 0.5 * (1 + 3 * len(marks)))
    chosen = [TEXTS[name] for name in ("rover", *marks)]
    p_R = {w: sum(text[w] / text.total() for text in chosen) / len(chosen) for w in CF}
    shares = {w: p_R[w] * math.log(p_R[w] / P_C[w]) for w in CF if p_R[w] > P_C[w]}
    topic = Counter({w: (1 - own) * share / sum(shares.values()) for w, share in shares.items()})
    topic["robot"] += own
    expected = {
        name: sum(t * math.log((text[w] + 400 * P_C[w]) / (text.total() + 400)) for w, t in topic.items())
        for name, text in TEXTS.items()
        if text.keys() & topic.keys()
    }
    # The documents of feedback are those of the first ranking, one here, and the marked ones, which count as much.
    assert scores(engine, "robot", feedback="divergence", marks=marks) == pytest.approx(expected, rel=1e-12)


def test_input_format(page: dict[str, Any], tmp_path: Path) -> None:
    records = b"""%0 Journal Article
%T Copper in the liver
%A Wilson, S.
%A Kinnier, A.
%D 1912 Mar
%X Of copper,
and more.
%Z kept

%0 Book
%T Iron
%R https://doi.org/10.1000/182
"""
    expected = [
        Document(
            "d:1",
            {
                "title": "Copper in the liver", "text": "Of copper, and more.", "author": ["Wilson, S.", "Kinnier, A."],
                "year": 1912, "type": "Journal Article", "d": "1912 Mar", "z": "kept", "record_format": "endnote",
                "record_tags": "0 T A A D X Z",
            },
        ),
        Document(
            "10.1000/182",
            {
                "title": "Iron", "doi": "10.1000/182", "type": "Book", "r": "https://doi.org/10.1000/182",
                "record_format": "endnote", "record_tags": "0 T R",
            },
        ),
    ]  # fmt: skip
    path = tmp_path / "d"
    path.write_bytes(gzip.compress(records))
    assert list(read_documents(path)) == expected
    assert list(read_documents(path, format="endnote")) == expected
    renamed = list(read_documents(path, mapping={"text": "title"}))
    assert [document.fields["text"] for document in renamed] == ["Copper in the liver", "Iron"]
    report = SkipReport()
    path.write_bytes(records.replace(b"Wilson", b"\xff"))
    assert list(read_documents(path, on_error="skip", report=report)) == expected[1:]
    assert [(skipped.line, skipped.source) for skipped in report.first] == [(3, str(path))]


def test_reranker(engine: Engine) -> None:
    query = counts("robot on mars far")
    first = engine.search("robot on mars far").ids
    held = {name: len(TEXTS[name].keys() & query.keys()) for name in first}
    assert len(set(held.values())) > 1
    result = engine.search("robot on mars far", rerank="coordination", depth=100)
    assert result.ids == sorted(first, key=lambda name: (-held[name], first.index(name)))
    assert [math.ceil(score) for score in result.scores.tolist()] == [held[name] for name in result.ids]


def test_new_names_are_among_the_choices(page: dict[str, Any], engine: Engine) -> None:
    for options in ({"model": "no"}, {"rerank": "no"}):
        with pytest.raises(ParameterError, match="sdm, sdm-lm, pivoted, pitman-yor"):
            engine.search("mars", **options)
    with pytest.raises(ParameterError, match="mixture, divergence"):
        engine.search("mars", feedback="no")
    with pytest.raises(ParameterError, match="bibtex, endnote"):
        read_documents("d", format="no")
    with pytest.raises(ParameterError, match="choose one of coordination, dirichlet"):
        reranker_named("no")


def test_a_place_that_does_not_exist(page: dict[str, Any], engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RERANKERS, "typo", "my_search.coordination.Coordinatoin")
    with pytest.raises(AttributeError, match="Coordinatoin"):
        engine.search("mars", rerank="typo")
