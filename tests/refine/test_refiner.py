"""The Refiner: marks in, order out; undo to the last bit; explanations and changes that fit the scores; bad input."""

import json
import re
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest

import germane
from germane import Analyzer, Document
from germane.cli.samples import sample_path
from germane.errors import GermaneError, InputError, ParameterError, UnknownDocumentError
from germane.refine.calibration import NO_REJECTED
from germane.refine.carried import demoted
from germane.refine.prepared import PreparedResults
from germane.refine.refiner import Refiner
from germane.refine.registry import METHOD_NAMES, method_named
from germane.text import Synonyms
from germane.types import Mark, Marks

LEARNT = {"tsvm", "logistic"}
"""Methods that need scikit-learn."""


@pytest.fixture(scope="module")
def sample():
    return [json.loads(line) for line in sample_path().read_text(encoding="utf-8").splitlines()]


def ids_of(sample, *ranks):
    return [sample[rank - 1]["id"] for rank in ranks]


def marks_of(sample, relevant, rejected=()):
    return Marks(ids_of(sample, *relevant), ids_of(sample, *rejected))


def content(refinement):
    """Everything of a refinement that a user can see, in full precision."""
    told = [(result, refinement.explain(result.id)) for result in refinement]
    state = (refinement.method, refinement.reason, refinement.threshold, refinement.marks)
    return state, told, refinement.changes(), refinement.components


def test_the_python_of_the_documentation_runs():
    text = (Path(__file__).parents[2] / "docs" / "refine.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    for code in blocks:
        exec(compile(code, "refine.md", "exec"), {})


def test_the_documented_constants_are_the_real_ones():
    text = (Path(__file__).parents[2] / "docs" / "refine.md").read_text(encoding="utf-8")
    line = method_named("auto").calibration
    assert f"logit P = {line.base} + ({line.slope} + {line.slope_marks}·ln n₊)·t + {line.rate}·ln" in text
    assert f"- {-line.skew}·γ + {line.alike}·h" in text
    assert f"and {NO_REJECTED} in" in text
    named = re.findall(r"^\| `([a-z-]+)` \| [^|]*[a-z]", text.split("## Methods")[1].split("###")[0], re.MULTILINE)
    assert sorted(set(named) - {"method"}) == sorted(METHOD_NAMES)


def test_exported():
    assert germane.Refiner is Refiner


@pytest.mark.parametrize("name", METHOD_NAMES)
def test_every_method(sample, name):
    if name in LEARNT:
        pytest.importorskip("sklearn")
    marks = marks_of(sample, (3, 12), (30,))
    found = Refiner(name).fit(sample, marks).rank()
    assert sorted(found.ids) == sorted(document["id"] for document in sample)
    assert [r.rank for r in found] == list(range(1, len(sample) + 1))
    assert [sample[r.before - 1]["id"] for r in found] == found.ids
    assert found.ids[:2] == list(marks.relevant)
    assert found.ids[-1] == marks.not_relevant[0]
    passed = [r for r in found if r.passed_over]
    assert [r.id for r in found][-1 - len(passed) : -1] == [r.id for r in passed]
    assert {r.before for r in passed} == set(range(1, 12)) - {3}
    open_ones = found.results[2 : -1 - len(passed)]
    log_odds = [r.log_odds for r in open_ones]
    assert log_odds == sorted(log_odds, reverse=True)
    labels = np.full(len(sample), Mark.UNMARKED)
    labels[:11], labels[[2, 11]], labels[29] = 0, 1, 0
    literal = method_named(name).refine(PreparedResults(sample, Analyzer()).list, labels).log_odds
    assert [literal[r.before - 1] for r in found] == [r.log_odds for r in found]
    p = [r.probability for r in found]
    assert p == sorted(p, reverse=True)
    assert all(0.0 <= value <= 1.0 for value in p)
    assert p[:2] == [1.0, 1.0]
    assert all(value == 0.0 for value in p[-1 - len(passed) :])
    assert {r.id for r in open_ones if r.predicted} == {r.id for r in open_ones if r.probability >= found.threshold}
    assert found.predicted[:2] == list(marks.relevant)
    assert not any(r.predicted for r in passed)
    assert found.method == {"auto": "carried evidence", "paper": "knn"}.get(name, name)
    assert (f"{name} takes" if name in ("auto", "paper") else "asked for") in found.reason
    assert "2 relevant and 1 not relevant marks, 10 results above" in found.reason
    assert bool(found.components) == (name.startswith("mmem-"))


def test_how_an_order_is_shown():
    documents = [Document(f"<b>{n}", {"text": f"copper {n}"}) for n in range(30)]
    found = Refiner().fit(documents, {"<b>3": True}).rank()
    first, header, best, *rest = repr(found).splitlines()
    assert first.startswith("<Refinement: 30 results by carried evidence, 1 mark: ")
    assert header.split() == ["before", "P(relevant)", "id", "mark"]
    assert best.split() == ["1", "4", "1.00", "<b>3", "relevant"]
    assert len(rest) == 19
    assert "<b>" not in found._repr_html_()
    assert found._repr_html_().count("&lt;b&gt;") == 20


def test_components_have_written_words(sample):
    found = Refiner("mmem-kl").fit(sample, marks_of(sample, (3, 20))).rank()
    texts = " ".join(f"{d['title']} {d['text']}" for d in sample).lower()
    assert len(found.components) > 1
    for part in found.components:
        assert part.words
        assert all(reason.word in texts for reason in part.words)
        assert set(part.ids) <= set(found.ids)


@pytest.mark.parametrize("name", ["auto", "nb", "mmem-aib"])
def test_undo_returns_the_former_state_to_the_last_bit(sample, name):
    refiner = Refiner(name).fit(sample, marks_of(sample, (5,)))
    first = content(refiner.rank())
    one, other = ids_of(sample, 9, 2)
    refiner.mark(one, True)
    second = content(refiner.rank())
    assert second != first
    refiner.mark(other, False).unmark(other)
    assert content(refiner.rank()) == second
    refiner.unmark(one)
    assert content(refiner.rank()) == first
    assert [(c.id, c.before, c.after) for c in refiner.history] == [
        (one, None, True), (other, None, False), (other, False, None), (one, True, None),
    ]  # fmt: skip
    refiner.undo().undo().undo()
    assert content(refiner.rank()) == second
    refiner.mark(one, False)
    assert refiner.marks[one] is False
    assert content(refiner.undo().rank()) == second
    refiner.undo()
    assert content(refiner.rank()) == first
    assert refiner.history == ()
    with pytest.raises(ParameterError, match="nothing to undo"):
        refiner.undo()
    assert content(Refiner(name).fit(sample, refiner.marks).rank()) == first
    # The order in which marks were made says nothing.
    swapped = dict(reversed(refiner.mark(one, True).marks.items()))
    assert [astuple(r) for r in Refiner(name).fit(sample, swapped).rank()] == [astuple(r) for r in refiner.rank()]


def test_the_analysis_is_made_once(sample, monkeypatch):
    made = []
    real = PreparedResults.__init__
    monkeypatch.setattr(PreparedResults, "__init__", lambda self, *a: (made.append(1), real(self, *a))[1])
    refiner = Refiner().prepare(sample)
    refiner.fit(sample, {sample[3]["id"]: True}).rank()
    refiner.fit(list(sample), {sample[5]["id"]: True}).rank()
    assert len(made) == 1
    assert refiner.history == ()
    refiner.fit(sample[:-1], {sample[5]["id"]: True})
    assert len(made) == 2


def test_every_form_of_results():
    texts = ["red planet", "a red star", "green grass of the planet", "green leaves of grass"]
    title = [{"title": text.split()[0], "abstract": " ".join(text.split()[1:])} for text in texts]
    forms = [
        texts,
        [(i, text) for i, text in enumerate(texts, start=1)],
        [(str(i), text) for i, text in enumerate(texts, start=1)],
        [Document(str(i), {"text": text, "year": 2000}) for i, text in enumerate(texts, start=1)],
        title,
        [{"id": str(i), "fields": {"text": text}} for i, text in enumerate(texts, start=1)],
        iter(texts),
    ]
    found = [[astuple(r) for r in Refiner().fit(form, {"3": True}).rank()] for form in forms]
    assert all(one == found[0] for one in found)
    assert [astuple(r) for r in Refiner().fit(texts, {3: True}).rank()] == found[0]
    assert found[0][1][0] == "4"


def test_hits_of_the_engine(sample, tmp_path):
    with germane.Engine.create(tmp_path / "index") as engine:
        engine.add(Document(d["id"], {k: v for k, v in d.items() if k != "id"}) for d in sample)
        hits = engine.search("planet star", 20)
        found = Refiner().fit(hits, {hits.ids[1]: True}).rank()
    assert sorted(found.ids) == sorted(hits.ids)


def test_implicit_negatives_can_be_switched_off(sample):
    marks = marks_of(sample, (3, 12))
    without = Refiner(implicit_negatives=False).fit(sample, marks).rank()
    assert not any(r.passed_over for r in without)
    assert "taken for not relevant" not in without.reason
    explicit = Refiner(implicit_negatives=False).fit(
        sample, Marks(marks.relevant, [d["id"] for d in sample[:11] if d["id"] not in marks.relevant])
    )
    implied = Refiner().fit(sample, marks).rank()
    assert [r.log_odds for r in implied if not r.passed_over] == [
        r.log_odds for r in explicit.rank() if r.mark is not False
    ]
    for name in ("nb", "mmem-kl"):
        with pytest.raises(ParameterError, match="not relevant"):
            Refiner(name, implicit_negatives=False).fit(sample, marks).rank()


def test_threshold(sample):
    marks = marks_of(sample, (3, 12))
    best = Refiner().fit(sample, marks).rank()
    assert astuple(Refiner(threshold="f1").fit(sample, marks).rank()[5]) == astuple(best[5])
    p = np.array([r.probability for r in best if r.mark is None and not r.passed_over])
    expected = [2 * p[:k].sum() / (k + p.sum()) for k in range(1, len(p) + 1)]
    assert sum(r.predicted for r in best) == 2 + 1 + int(np.argmax(expected))
    assert len(Refiner(threshold=0.0).fit(sample, marks).rank().predicted) == len(p) + 2
    assert len(Refiner(threshold=1.0).fit(sample, marks).rank().predicted) == 2
    for wrong in ("best", 1.5, -0.1, float("nan")):
        with pytest.raises(ParameterError, match="threshold"):
            Refiner(threshold=wrong)


@pytest.mark.parametrize("name", ["auto", "nb", "rocchio"])
def test_explanations(sample, name):
    found = Refiner(name).fit(sample, marks_of(sample, (3, 12))).rank()
    offsets = []
    for result in found.results[2:30]:
        told = found.explain(result.id, top=1000)
        text = " ".join(Analyzer().terms(f"{sample[result.before - 1]['title']} {sample[result.before - 1]['text']}"))
        assert all(r.term in text for r in (*told.in_favour, *told.against))
        assert all(r.amount > 0 for r in told.in_favour)
        assert all(r.amount < 0 for r in told.against)
        total = sum(r.amount for r in (*told.in_favour, *told.against))
        assert total == pytest.approx(told.of_words)
        amounts = [abs(r.amount) for r in told.in_favour]
        assert amounts == sorted(amounts, reverse=True)
        assert told.log_odds == result.log_odds
        assert told.adds_up
        offsets.append(told.log_odds - told.of_words)
    if name != "auto":  # there the place in the list counts beside the words
        assert offsets == pytest.approx([offsets[0]] * len(offsets))
    assert len(found.explain(found.ids[4], top=2).in_favour) <= 2


def test_changes(sample):
    refiner = Refiner().fit(sample, marks_of(sample, (3, 12)))
    found = refiner.rank()
    moves = {move.id: move for move in found.changes()}
    assert set(moves) == {r.id for r in found if r.rank != r.before}
    for result in found:
        if result.id in moves:
            move = moves[result.id]
            assert (move.before, move.rank, move.moved) == (result.before, result.rank, result.before - result.rank)
            assert (move.cause == "marked relevant") == (result.mark is True)
            assert (move.cause == "passed over") == result.passed_over
            assert all((reason.amount > 0) == (move.moved > 0) for reason in move.words)
            assert bool(move.words) == (move.cause == "words")
    assert any(not reason.present for move in moves.values() for reason in move.words)
    assert found.changes(found) == []


def test_changes_between_two_refinements(sample):
    one, other = ids_of(sample, 12, 40)
    refiner = Refiner().fit(sample, {one: True})
    first = refiner.rank()
    second = refiner.mark(other, True).rank()
    moves = {move.id: move for move in second.changes(first)}
    assert moves[other].cause == "marked relevant"
    assert moves[other].before == first.ranks[other]
    assert {move.cause for move in moves.values()} == {"marked relevant", "passed over", "words"}
    back = {move.id: move for move in first.changes(second)}
    assert back[other].cause == "no longer marked relevant"
    assert {i: m.moved for i, m in back.items()} == {i: -m.moved for i, m in moves.items()}
    for i, move in moves.items():
        if move.cause == "words" and move.words:
            assert {r.word for r in move.words} == {r.word for r in back[i].words}
    original = Refiner().fit(sample).rank()
    assert {m.id: m.moved for m in original.changes(first)} == {m.id: -m.moved for m in first.changes()}
    with pytest.raises(ParameterError, match="different lists"):
        second.changes(Refiner().fit(sample[:-1], {one: True}).rank())
    with pytest.raises(ParameterError, match="different lists"):  # the ids are the same, the words are not
        second.changes(Refiner().fit([*sample[:-1], {**sample[-1], "text": "quite new"}], {one: True}).rank())
    with pytest.raises(ParameterError, match="analysed in two ways"):
        second.changes(Refiner(analyzer=Analyzer("none")).fit(sample, {one: True}).rank())


def test_a_move_has_words_or_another_cause(sample):
    found = Refiner().fit(sample, {ids_of(sample, 40)[0]: True}).rank()
    moves = found.changes()
    assert all(bool(move.words) == (move.cause == "words") for move in moves)
    pushed = Refiner("rocchio", implicit_negatives=False).fit(["red", "blue", "green"], {"3": True}).rank().changes()
    assert [(move.id, move.moved, move.cause) for move in pushed] == [
        ("3", 2, "marked relevant"),
        ("1", -1, "others moved"),
        ("2", -1, "others moved"),
    ]


def test_nothing_marked_keeps_the_order(sample):
    for name in METHOD_NAMES:
        found = Refiner(name).fit(sample).rank()
        assert found.ids == [d["id"] for d in sample]
        assert (found.method, found.threshold) == ("original order", None)
        assert "nothing is marked" in found.reason
        assert found.predicted == []
        assert found.changes() == []
        assert found.components == ()
        assert found[0].probability is None
        assert found.explain(found.ids[0]).in_favour == ()


def test_only_rejections_let_their_like_sink(sample):
    rejected = ids_of(sample, 1)  # a telescope: other texts of the sky sink
    found = Refiner("nb").fit(sample, dict.fromkeys(rejected, False)).rank()
    assert found.method == "demotion"
    assert "none relevant" in found.reason
    assert found.ids[-1] == rejected[0]
    assert {r.probability for r in found} == {None}
    assert found.predicted == []
    prepared = PreparedResults(sample, Analyzer())
    labels = np.full(len(sample), Mark.UNMARKED, np.int8)
    labels[0] = Mark.NOT_RELEVANT
    A = prepared.list.carried_unit.toarray()
    likeness = A @ A[0]
    likeness[0] = 0.0
    z = (likeness - likeness[1:].mean()) / likeness[1:].std()
    prior = -np.log(10 + np.arange(len(sample)))
    prior = (prior - prior[1:].mean()) / prior[1:].std()
    assert demoted(prepared.list, labels).log_odds == pytest.approx(prior - np.maximum(z, 0))
    alike = {d["id"] for d, value in zip(sample, z, strict=True) if value > 0}
    rest = [r.before for r in found if r.id not in alike and r.mark is None]
    assert rest == sorted(rest)
    sunk = max(found.changes(), key=lambda move: -move.moved)
    told = found.explain(next(r.id for r in found if r.id in alike and r.mark is None))
    assert told.against
    assert not told.in_favour
    assert sunk.moved < 0


def test_all_marked(sample):
    few = sample[:6]
    for name in METHOD_NAMES:
        if name in LEARNT:
            pytest.importorskip("sklearn")
        marks = {d["id"]: i % 2 == 0 for i, d in enumerate(few)}
        found = Refiner(name).fit(few, marks).rank()
        assert [r.before for r in found] == [1, 3, 5, 2, 4, 6]
        assert found.predicted == found.ids[:3]
    found = Refiner().fit(few, {d["id"]: True for d in few}).rank()
    assert found.ids == [d["id"] for d in few]


LISTS = {
    "empty texts": ["", "", "", "", "", ""],
    "some empty texts": ["", "red planet", "", "red star", "", "green grass"],
    "identical texts": ["red planet"] * 6,
    "stop words": ["the of", "and", "the", "of", "a", "the"],
    "no shared word": ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"],
    "another language": ["東京都の天気", "京都の寺", "東京の駅", "Привет мир", "мир и война", "weather in Tokyo"],
    "odd characters": ["\x00", "\ud800", "😀😀", "x" * 100_000, "é", "1,000.5"],
    "very long": ["planet star " * 50_000, "planet", "star", "grass", "leaf", "planet grass"],
}


@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize("name", METHOD_NAMES)
@pytest.mark.filterwarnings("error")
def test_odd_lists(kind, name):
    if name in LEARNT:
        pytest.importorskip("sklearn")
    refiner = Refiner(name).fit(LISTS[kind], {"2": True, "5": False})
    for _ in range(2):
        found = refiner.rank()
        assert sorted(found.ids) == list("123456")
        assert all(np.isfinite(r.log_odds) and np.isfinite(r.probability) for r in found)
        assert all(np.isfinite(reason.amount) for move in found.changes() for reason in move.words)
        assert all(np.isfinite(found.explain(i).of_words) for i in found.ids)
        assert all(np.isfinite(reason.amount) for part in found.components for reason in part.words)
        refiner.mark("4", True)
    only = Refiner(name).fit(LISTS[kind], {"2": False}).rank()
    assert only.ids[-1] == "2"


def test_identical_texts_stay_in_order():
    found = Refiner("rocchio").fit(["red", "blue", "red", "green", "red"], {"1": True, "4": False}).rank()
    assert found.ids[:3] == ["1", "3", "5"]


def test_one_result():
    assert Refiner().fit(["red planet"]).rank().ids == ["1"]
    assert Refiner().fit(["red planet"], {"1": True}).rank().predicted == ["1"]
    assert Refiner().fit(["red planet"], {"1": False}).rank().predicted == []


def test_a_list_in_german_by_its_own_analyser():
    texts = ["Die Katzen schlafen", "Ein Hund bellt", "Eine Katze schläft im Haus", "Hunde und Häuser"]
    found = Refiner(analyzer=Analyzer("german", "german"), implicit_negatives=False).fit(texts, {"1": True}).rank()
    assert found.ids[1] == "3"


def test_synonyms_and_lemmas():
    texts = [
        "heart attacks in mice",
        "weather report",
        "infarction, myocardial: a mouse study",
        "a mouse with myocardial infarctions",
    ]
    analyzer = Analyzer("lemma", synonyms=Synonyms({"heart attack": "myocardial infarction"}))
    found = Refiner(analyzer=analyzer).fit(texts, {"1": True}).rank()
    assert found.ids[-1] == "2"
    words = {reason.word for reason in found.explain("4").in_favour}
    assert "myocardial" in words


@pytest.mark.parametrize(
    ("results", "marks", "error", "message"),
    [
        ([], None, InputError, "no results"),
        ("one text", None, ParameterError, "not one text"),
        ({"a": "b"}, None, ParameterError, "not one text"),
        ([3], None, InputError, "result 1 is neither"),
        (["a", None], None, InputError, "result 2 is neither"),
        ([("x", "a"), ("x", "b")], None, InputError, "two results have the id 'x'"),
        ([{"id": "", "text": "a"}], None, InputError, "the id of result 1"),
        ([{"id": 1.5, "text": "a"}], None, InputError, "the id of result 1"),
        (["a", "b"], {"3": True}, UnknownDocumentError, "no result has the id '3'"),
        (["a", "b"], Marks(["x"]), UnknownDocumentError, "'x'"),
        (["a", "b"], {"1": "yes"}, ParameterError, "True .relevant. or False"),
        (["a", "b"], ["1"], ParameterError, "marks are a mapping .* not list"),
    ],
)
def test_bad_input(results, marks, error, message):
    with pytest.raises(error, match=message):
        Refiner().fit(results, marks)


def test_bad_use(sample):
    with pytest.raises(ParameterError, match="at once: 1"):
        Refiner().fit(["a"], Marks(["1"], ["1"]))
    with pytest.raises(ParameterError, match="fit"):
        Refiner().rank()
    with pytest.raises(ParameterError, match="choose one of auto"):
        Refiner("magic")
    with pytest.raises(ParameterError, match="no parameter wrong"):
        Refiner("nb", wrong=1)
    with pytest.raises(ParameterError, match="Analyzer"):
        Refiner(analyzer="english")
    with pytest.raises(ParameterError, match="random_state"):
        Refiner(random_state=-1)
    refiner = Refiner().fit(sample)
    with pytest.raises(ParameterError, match="top"):
        refiner.rank().explain(sample[0]["id"], -1)
    with pytest.raises(UnknownDocumentError):
        refiner.mark("nobody", True)
    with pytest.raises(UnknownDocumentError):
        refiner.unmark("nobody")
    with pytest.raises(ParameterError, match="is not marked"):
        refiner.unmark(sample[0]["id"])
    with pytest.raises(ParameterError, match="a mark is True"):
        refiner.mark(sample[0]["id"], None)
    with pytest.raises(UnknownDocumentError):
        refiner.rank().explain("nobody")
    assert refiner.history == ()
    with pytest.raises(GermaneError):
        refiner.fit(sample, {"nobody": True})


def test_a_seed_of_any_size(sample):
    pytest.importorskip("sklearn")
    assert len(Refiner("tsvm", random_state=2**40).fit(sample, marks_of(sample, (3,))).rank()) == len(sample)


def test_parameters_reach_the_method(sample):
    marks = marks_of(sample, (3, 12))
    plain = Refiner().fit(sample, marks).rank()
    assert Refiner(rank_weight=0.0).fit(sample, marks).rank().ids != plain.ids


def test_the_papers_own_decision_and_its_measures():
    """Log-odds above 0; precision (16), recall (17) and F1 (18) over the results neither marked nor passed over."""
    texts = ["cat dog", "red car", "cat mouse", "blue car", "cat bird", "dog bird", "car engine", "mouse bird"]
    marks, relevant = {"1": True, "3": True, "4": False}, {"1", "3", "5", "6", "7"}
    found = Refiner("nb", threshold="odds").fit(texts, marks).rank()
    open_results = [result for result in found if result.mark is None and not result.passed_over]
    assert [result.id for result in open_results if result.predicted] == [
        result.id for result in open_results if result.log_odds > 0
    ]
    assert found.decision == "odds"
    chosen = {result.id for result in open_results if result.predicted}
    assert 0 < len(chosen) < len(open_results)
    assert found.threshold == min(result.probability for result in open_results if result.predicted)
    left = relevant & {result.id for result in open_results}
    measured = found.measured(relevant)
    assert measured.precision == pytest.approx(len(chosen & left) / len(chosen))
    assert measured.recall == pytest.approx(len(chosen & left) / len(left))
    assert measured.f1 == pytest.approx(
        2 * measured.precision * measured.recall / (measured.precision + measured.recall)
    )
    total = sum(result.probability for result in open_results)
    hoped = sum(result.probability for result in open_results if result.predicted)
    assert found.expected.precision == pytest.approx(hoped / len(chosen))
    assert found.expected.recall == pytest.approx(hoped / total)
    assert found.expected.f1 == pytest.approx(2 * hoped / (len(chosen) + total))
    nothing = Refiner("nb", threshold="odds").fit(texts, {"4": False}).rank()
    assert (nothing.expected, nothing.predicted, nothing.threshold) == (None, [], None)
    assert nothing.measured(relevant).f1 == 0.0
    with pytest.raises(UnknownDocumentError):
        found.measured({"99"})
    with pytest.raises(ParameterError, match="'f1', 'odds' or a number"):
        Refiner(threshold="half")
