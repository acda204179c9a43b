"""One list of many: fusion by the formulas, duplicates with every source's word kept, the language model literally."""

import asyncio
import math
from collections import Counter

import pytest

from germane.engine import Engine
from germane.errors import InputError, ParameterError
from germane.metasearch import (
    Failure,
    Folder,
    GermaneIndex,
    MetaSearch,
    SourceAnswer,
    SourceRecord,
    merge,
    record,
    replay,
)
from germane.metasearch.merging import RANKINGS, Merger
from germane.metasearch.union import Reference
from germane.text import Analyzer
from germane.types import Document
from metasearch.conftest import PATHS
from metasearch.library import RECORDS


def answer(source, *records, **more):
    return SourceAnswer(source, tuple(SourceRecord(*one) if isinstance(one, tuple) else one for one in records), **more)


A = {"title": "Zinc in the treatment of Wilson disease", "doi": "10.1000/a", "year": 2001}
B = {"title": "Copper in the liver of patients", "doi": "10.1000/b", "text": "Copper is high. Copper harms the liver."}
C = {"title": "Penicillamine and its side effects", "pmid": "33"}


def test_what_every_source_said_is_kept():
    one = answer("one", ("x1", A, "https://one.example/1", 3.5), ("x2", C))
    other = answer(
        "other", ("y1", B), ("y2", A | {"doi": "https://doi.org/10.1000/A", "pmid": "7", "text": "An abstract."})
    )
    found = merge("zinc", [one, other])
    first = found[0]
    assert first.id == "7"
    assert [(p.source, p.id, p.rank, p.link, p.score) for p in first.provenance] == [
        ("one", "x1", 1, "https://one.example/1", 3.5), ("other", "y2", 2, "", None),
    ]  # fmt: skip
    assert first.fields["text"] == "An abstract."
    assert first.link == "https://one.example/1"
    assert found.ids == ["7", "10.1000/b", "33"]
    assert found[1].link == "https://doi.org/10.1000/b"
    assert found.duplicates == 1
    assert next(found.documents()).fields["found_by"] == ["one 1 x1", "other 2 y2"]


def test_missing_fields_come_from_the_other_records():
    rich = {
        "title": A["title"],
        "text": "A long abstract of it.",
        "year": 2001,
        "author": ["Brewer, G"],
        "journal": "J",
    }
    found = merge("zinc", [answer("a", ("1", rich)), answer("b", ("2", A | {"pmid": "7", "record_format": "ris"}))])
    assert dict(found[0].fields) == {**rich, "doi": "10.1000/a", "pmid": "7"}


@pytest.mark.parametrize("ranking", RANKINGS)
def test_fusions_are_the_formulas(ranking):
    lists = {"one": ["a", "b", "c"], "two": ["b", "d"], "three": ["c", "a", "d", "e"]}
    scores = {"one": [9.0, 5.0, 1.0], "two": [0.5, 0.25], "three": [4.0, 3.0, 2.0, 0.0]}
    text = {
        "a": "zinc zinc copper",
        "b": "zinc",
        "c": "copper wire of the house",
        "d": "zinc of the copper",
        "e": "none",
    }
    fields = {name: {"doi": f"10.1000/{name}", "text": words} for name, words in text.items()}
    answers = [
        answer(source, *((f"{source}{n}", fields[n], "", s) for n, s in zip(names, scores[source], strict=True)))
        for source, names in lists.items()
    ]
    found = {one.id.removeprefix("10.1000/"): one.score for one in merge("zinc zinc copper", answers, ranking=ranking)}
    expected = {}
    for name in "abcde":
        ranks = [names.index(name) + 1 for names in lists.values() if name in names]
        normal = [
            (own[names.index(name)] - min(own)) / (max(own) - min(own))
            for names, own in zip(lists.values(), scores.values(), strict=True) if name in names
        ]  # fmt: skip
        expected[name] = {
            "rrf": sum(1 / (60 + rank) for rank in ranks),
            "isr": len(ranks) * sum(1 / rank**2 for rank in ranks),
            "combsum": sum(normal),
            "combmnz": len(normal) * sum(normal),
            "lm": likelihood("zinc zinc copper", text[name], text.values()),
        }[ranking]
    assert found == pytest.approx(expected)
    assert list(found) == sorted(found, key=lambda name: (-found[name], name))


def likelihood(query, text, union, mu=400.0, background=None):
    """Σ c(w;Q)·log((c(w;D) + μ·p_C)/(|D| + μ)) less Σ c(w;Q)·log p_C, word by word."""
    analyzer = Analyzer()
    words = analyzer.terms(text)
    everything = Counter(word for one in union for word in analyzer.terms(one))
    total = 0.0
    for word in analyzer.terms(query):
        p_C = everything[word] / everything.total()
        if background is not None and background.get(word):
            p_C = background[word]
        total += math.log((words.count(word) + mu * p_C) / (len(words) + mu)) - math.log(p_C)
    return total


def test_the_background_of_a_reference(tmp_path):
    with Engine.create(tmp_path / "reference") as engine:
        engine.add(
            [Document("1", {"text": "copper copper copper copper house wire"}), Document("2", {"text": "house"})]
        )
    texts = {"a": "zinc zinc house", "b": "copper of the house", "c": "zinc"}
    answers = [answer("one", *((name, {"text": text}) for name, text in texts.items()))]
    found = merge("zinc copper", answers, ranking="lm", reference=Reference(tmp_path / "reference"))
    background = {"copper": 4 / 7}
    for one in found:
        name = one.id.partition(":")[2]
        assert one.score == pytest.approx(likelihood("zinc copper", texts[name], texts.values(), background=background))
    assert MetaSearch(
        [GermaneIndex(path=tmp_path / "reference")], reference=tmp_path / "reference", ranking="lm"
    ).search("copper").ids == ["index:1"]


def test_sources_without_scores_are_fused_by_rank():
    """CombSUM of a source that tells none: its last is 0, its first 1."""
    found = merge("x", [answer("one", ("1", A), ("2", B), ("3", C))], ranking="combsum")
    assert [one.score for one in found] == [1.0, 0.5, 0.0]
    partly = merge("x", [answer("one", ("1", A, "", 7.0), ("2", B), ("3", C))], ranking="combsum")
    assert [one.score for one in partly] == [1.0, 0.5, 0.0]


def test_weights():
    lists = [answer("one", ("1", A)), answer("two", ("2", B)), answer("none", ("3", C))]
    assert merge("x", lists, weights={"one": 1, "two": 2, "none": 0}).ids == ["10.1000/b", "10.1000/a", "33"]


def test_the_list_does_not_depend_on_who_came_first():
    answers = [answer("one", ("1", A), ("2", B)), answer("two", ("3", C), ("4", A)), answer("three", ("5", B))]
    for ranking in ("rrf", "lm"):
        lists = []
        for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
            merger = Merger("copper zinc", ["one", "two", "three"], ranking=ranking)
            for place in order:
                merger.add(answers[place])
            lists.append(merger.merged())
        assert lists[0] == lists[1] == lists[2]


def test_ids_are_unique_whatever_the_sources_call_them():
    clash = [answer("a", ("1", {"pmid": "9", "doi": "10.1000/x"}), ("2", {"pmid": "9", "doi": "10.1000/y"}), ("3", {}))]
    found = merge("x", [*clash, answer("a b", ("3", {}), ("4", {"title": ""}))])
    assert len(set(found.ids)) == len(found) == 5


def test_a_source_that_repeats_itself():
    found = merge("x", [answer("one", ("1", A), ("2", A), ("3", B))])
    assert [(one.id, len(one.provenance)) for one in found] == [("10.1000/a", 2), ("10.1000/b", 1)]


def test_preprint_and_article_stay_two():
    article = A | {"author": ["Hoffmann, Ann"], "text": "One abstract that both of them have in common, word for word."}
    preprint = article | {"doi": "", "arxiv": "2101.10001", "publication_type": ["preprint"], "published_doi": A["doi"]}
    found = merge("zinc", [answer("pubmed", ("1", article)), answer("arxiv", ("2101.10001", preprint))])
    assert len(found) == 2
    again = answer("openalex", ("W1", {"title": A["title"], "doi": "10.48550/arXiv.2101.10001"}))
    assert len(merge("zinc", [answer("arxiv", ("2101.10001", preprint)), again])) == 1


def test_nothing_found():
    found = merge("x", [answer("one"), answer("two", failure=Failure("server", "HTTP 500"))])
    assert len(found) == 0
    assert found.failures == {"two": Failure("server", "HTTP 500")}
    assert list(found.documents()) == []
    with pytest.raises(InputError, match="no results to refine"):
        found.refine({})


def test_what_cannot_be_merged():
    with pytest.raises(ParameterError, match="no ranking 'best'"):
        merge("x", [], ranking="best")
    with pytest.raises(ParameterError, match="two sources have one name"):
        merge("x", [answer("one"), answer("one")])
    merger = Merger("x", ["one"])
    merger.add(answer("one"))
    for again in ("one", "other"):
        with pytest.raises(ParameterError):
            merger.add(answer(again))


def test_refinement_of_the_list():
    found = merge("x", [answer("one", ("1", C), ("2", B), ("3", A)), answer("two", ("4", B))])
    refined = found.refine({"33": False, "10.1000/a": True})
    assert refined.ids[0] == "10.1000/a"
    assert refined.ids[-1] == "33"
    assert found.refine({"10.1000/a": True}, "paper").method == "knn"


# -- the whole way -----------------------------------------------------------------------------------------------------


def test_the_replayed_list_is_the_same(library, source, searching, tmp_path, papers):
    library.faults["feed"] = "server"
    sources = [source(kind, weight=2.0 if kind == "arxiv" else 1.0) for kind in PATHS]
    for ranking in RANKINGS:
        found = searching(*sources, papers, ranking=ranking).search("copper in wilson's disease")
        assert found.failures.keys() == {"feed"}
        record(tmp_path / "answers.json", found)
        again = replay(tmp_path / "answers.json")
        assert again == found
        assert again.refine({again.ids[3]: True}).results == found.refine({found.ids[3]: True}).results
    with pytest.raises(InputError, match="no such file"):
        replay(tmp_path / "none.json")
    for text in ("{", "[]", '{"format": "germane answers 1"}', '{"format": "germane answers 1", "answers": [{}]}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(InputError):
            replay(tmp_path / "bad.json")


def test_answers_come_as_they_are_ready(library, source, searching, papers):
    """The silent one is last, and the list can be made before."""
    library.faults["crossref"] = "silent"

    async def run(seconds):
        search = searching(source("crossref", timeout=seconds), papers, source("europepmc"))
        return [answer async for answer in search.stream("wilson's disease")]

    for seconds in (0.6, 6.0, 60.0):  # more where the machine is slow
        answers = asyncio.run(run(seconds))
        if answers[2].source == "crossref":
            break
    assert {one.source for one in answers[:2]} == {"mine", "europepmc"}
    assert answers[2].failure.kind == "time-out"
    assert len(merge("wilson's disease", answers[:2])) == len(RECORDS) + 1


def test_within_a_running_loop(searching, papers):
    async def run():
        found = searching(papers).search("wilson's disease")  # as in a notebook
        assert found == await searching(papers).asearch("wilson's disease")
        return found

    assert len(asyncio.run(run())) == 2


def test_a_stream_that_is_left_early_cancels_the_rest(library, source, searching, papers):
    library.faults["crossref"] = "silent"

    async def run():
        stream = searching(papers, source("crossref", timeout=600)).stream("wilson's disease")
        first = await anext(stream)
        await stream.aclose()
        return first.source, {task.get_name() for task in asyncio.all_tasks()} & {"crossref", "mine"}

    assert asyncio.run(run()) == ("mine", set())


def test_files_and_indexes_of_this_machine(tmp_path, papers):
    with Engine.create(tmp_path / "index") as engine:
        engine.add(
            [Document("d1", {"title": "Wilson disease", "url": "https://x.example/d1"}), Document("d2", {"text": "no"})]
        )
        found = MetaSearch([GermaneIndex(name="open", engine=engine), papers]).search("wilson")
    assert {one.sources for one in found} == {("open",), ("mine",)}
    assert next(one.link for one in found if one.sources == ("open",)) == "https://x.example/d1"
    assert repr(found).startswith("<FoundList: 3 results of open 1, mine 2>\n")
    assert "Wilson disease" in repr(found)
    assert "<td>Wilson disease</td><td>open</td>" in found._repr_html_()
    missing = MetaSearch([GermaneIndex(path=tmp_path / "none"), papers]).search("wilson")
    assert missing.failures["index"].kind == "local"
    wrong = MetaSearch([papers]).search("(wilson")
    assert wrong.failures["mine"].kind == "local"
    (tmp_path / "one.jsonl").write_text('{"title": "copper one"}\n')
    folder = Folder(path=tmp_path / "one.jsonl")
    assert len(MetaSearch([folder]).search("copper")) == 1
    (tmp_path / "one.jsonl").write_text('{"title": "copper one"}\n{"title": "copper two"}\nnot json\n')
    assert len(MetaSearch([folder]).search("copper")) == 2
    with pytest.raises(ParameterError, match="not one of"):
        MetaSearch(["searxng"])
    with pytest.raises(ParameterError, match="no source"):
        MetaSearch([])
    with pytest.raises(ParameterError, match="one name"):
        MetaSearch([papers, papers])


def test_a_folder_names_what_it_passes_over_and_tells_ids_apart(tmp_path):
    for name, titles in {"a.ris": ["Copper in the liver"], "deep/b.ris": ["Zinc, not copper", "Copper pipes"]}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("".join(f"TY  - JOUR\nID  - 7\nTI  - {title}\nER  - \n" for title in titles))
    for number in range(7):
        (tmp_path / f"n{number}.txt").write_bytes(b"copper caf\xe9")
    answer = asyncio.run(Folder(name="mine", path=tmp_path).search("copper"))
    assert {record.id: record.fields["title"] for record in answer.records} == {
        "7": "Copper in the liver", "deep/b.ris:7": "Zinc, not copper", "deep/b.ris:7:2": "Copper pipes"
    }  # fmt: skip
    assert [str(tmp_path / f"n{number}.txt") in note for number, note in enumerate(answer.notes[:5])] == [True] * 5
    assert all("not valid UTF-8" in note for note in answer.notes[:5])
    assert answer.notes[5:] == ("passed over: 2 more",)


def test_ranks_are_those_of_the_source_on_later_pages_too(library, source, searching, papers, tmp_path):
    """What stands third at the source stands third on its second page of two."""
    sources = source("crossref"), source("feed"), papers
    whole = searching(*sources).search("wilson's copper disease")
    ranks = {(one.source, one.id): one.rank for found in whole for one in found.provenance}
    assert len(ranks) > 6
    for page, limit in ((2, 1), (2, 2), (3, 2)):
        later = searching(*sources).search("wilson's copper disease", limit, page)
        told = {(one.source, one.id): one.rank for found in later for one in found.provenance}
        assert told == {one: rank for one, rank in ranks.items() if (page - 1) * limit < rank <= page * limit}
        record(tmp_path / "answers.json", later)
        assert replay(tmp_path / "answers.json") == later
