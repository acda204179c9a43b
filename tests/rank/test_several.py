"""Several collections are one index of all their documents, to the last bit: for every operation, and through bytes."""

import datetime
import random
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pytest

from germane import Analyzer, Document, Engine
from germane.deadline import limited, limited_to, seconds_left
from germane.errors import DeadlineError, InputError, ParameterError, QueryError
from germane.lm import TwoStage
from germane.rank import BM25, MODEL_NAMES, QueryLikelihood, RankingModel, model_named
from germane.rank.query.conditions import HoldsAny, Not, Phrase, holds
from germane.rank.query.filters import FieldFilter, HasValue
from germane.rank.retriever import Hits, Match, NearestRequest, Retriever, Scoring, SignedTopic, SortRequest, TopRequest
from germane.rank.retrievers.calls import Answering, Call, ThroughBytes, through_bytes
from germane.rank.retrievers.local import SnapshotRetriever
from germane.rank.retrievers.messages import decode, encode
from germane.rank.retrievers.several import Several
from germane.rank.scoring.priors import FieldPrior, FreshnessPrior, LengthPrior, Prior
from germane.rank.scoring.statistics import Need

RAW = Analyzer(stemmer="none", stopwords="none")
MODELS: list[RankingModel] = [*map(model_named, MODEL_NAMES), QueryLikelihood(TwoStage(0.3, 7.0))]
RUNS = (("w0", "w3", "w1"), ("w1", "w2"))
WORDS = [f"w{i}" for i in range(40)]
CONDITIONS: list[tuple] = [
    (),
    (),
    (FieldFilter("year", "2003", None), Not(holds("w5"))),
    (Phrase(("w1", "w2")),),
    (HasValue("kind", ("a", "b")),),
    (HoldsAny(("w1", "w7"), "title"), Phrase(("w0", "w1"), 3)),
]
PRIORS: list[tuple[Prior, ...]] = [
    (),
    (LengthPrior(0.5), FieldPrior("stars")),
    (FreshnessPrior("year", 200.0, datetime.date(2020, 1, 1)),),
]
KINDS = ["a", "b", "ab", "é", "zz"]


def some_documents(rng: random.Random, n: int) -> list[Document]:
    """Zipf words in two fields, repeated documents (ties), mixed and missing values, vectors, an empty document."""
    made = [Document("empty", {"text": ""})]
    for i in range(n):
        words = [WORDS[min(int(rng.paretovariate(0.7)) - 1, 39)] for _ in range(rng.randrange(1, 30))]
        if i % 10 < 2:
            words = ["w1", "w2"]
        fields: dict[str, Any] = {"text": " ".join(words), "title": " ".join(words[:3]), "year": 2000 + i % 9}
        if i % 3 == 0:
            fields["stars"] = rng.choice([0, 1, 5, 7.5, 7.25, 1e300])
        if i % 4:
            fields["kind"] = rng.sample(KINDS, 2) if i % 5 == 0 else rng.choice(KINDS)
        fields["mixed"] = i if i % 7 else "in press"
        vectors = {"v": [rng.choice([-1.0, 0.5, 2.0]) for _ in range(4)]} if i % 2 else {}
        made.append(Document(f"d{rng.randrange(10**6):06}-{i}", fields, vectors))
    return made


class Case(NamedTuple):
    """One index of all documents, and one that asks the parts of a split."""

    whole: Retriever
    several: Retriever
    ids: list[str]


def in_pieces(rng: random.Random, documents: list[Document], n: int) -> list[list[list[Document]]]:
    """Parts of random documents, every other one in two segments."""
    home = [rng.randrange(n) for _ in documents]
    parts = [[d for d, own in zip(documents, home, strict=True) if own == i] for i in range(n)]
    return [[part] if i % 2 == 0 else [part[:11], part[11:]] for i, part in enumerate(parts)]


def indexed(make: Callable[..., Engine], gone: set[str], *segments: list[Document]) -> SnapshotRetriever:
    own = [document.id for document in chain.from_iterable(segments) if document.id in gone]
    return make(*segments, delete=own).retriever


@pytest.fixture(scope="module")
def with_vectors(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Engine]:
    """As `build`, with a vector field."""

    def make(*segments: list[Document], delete: list[str]) -> Engine:
        engine = Engine.create(tmp_path_factory.mktemp("several") / "index", analyzer=RAW, vectors={"v": 4})
        for segment in segments:
            engine.add(segment, threads=1)
        engine.delete(delete)
        engine.close()
        return Engine.open(engine.folder)

    return make


@pytest.fixture(scope="module", params=[(1, False), (2, True), (4, False), (4, True)], ids=str)
def case(request: pytest.FixtureRequest, with_vectors: Callable[..., Engine]) -> Case:
    n, in_bytes = request.param
    rng = random.Random(n)
    documents = some_documents(rng, 160)
    gone = {document.id for document in documents[4::7]}
    pieces = in_pieces(rng, documents, n)
    parts: list[Retriever] = [indexed(with_vectors, gone, *segments) for segments in pieces]
    several = Several([through_bytes(part) for part in parts] if in_bytes else parts)
    whole = indexed(with_vectors, gone, documents)
    return Case(whole, through_bytes(several) if in_bytes else several, sorted({d.id for d in documents} - gone))


def told(retriever: Retriever, hits: Hits) -> list[tuple[str, str]]:
    return [(score.hex(), i) for score, i in zip(hits.scores.tolist(), retriever.ids(hits.refs), strict=True)]


def both(case: Case) -> Iterator[Retriever]:
    yield case.whole
    yield case.several


def some_topic(rng: random.Random, signed: bool) -> SignedTopic:
    weights = {word: rng.choice([1.0, 0.3, 2.0]) for word in rng.sample([*WORDS[:15], "unheard"], rng.randrange(1, 6))}
    if not signed:
        return SignedTopic(weights)
    return SignedTopic({**weights, "w2": -0.5, "w9": -0.1}, rng.choice([0.0, 0.25]))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_rankings(case: Case, model: RankingModel) -> None:
    """The best, the scores of given documents, and their explanations."""
    rng = random.Random(3)
    for turn in range(8):
        signed = turn % 3 == 2
        scoring = Scoring(some_topic(rng, signed), model.of_query(RUNS), rng.choice(PRIORS))
        request = TopRequest(
            scoring, rng.choice([1, 7, 1000]), rng.choice(CONDITIONS), wordless=turn % 4 == 1, ids=turn % 2 == 0
        )
        found = [(retriever, retriever.top(request)) for retriever in both(case)]
        assert told(*found[0]) == told(*found[1]), request
        assert [hits.ids for _, hits in found] == (
            [found[0][0].ids(found[0][1].refs)] * 2 if request.ids else [None] * 2
        )
        hinted = case.several.top(request._replace(likely=found[1][1]))
        assert told(case.several, hinted) == told(*found[1])
        chosen = rng.sample(case.ids, 20)
        scores = [retriever.score(retriever.locate(chosen), scoring).tolist() for retriever in both(case)]
        assert [score.hex() for score in scores[0]] == [score.hex() for score in scores[1]]
        explained = [retriever.explain(int(retriever.locate(chosen[:1])[0]), scoring) for retriever in both(case)]
        assert repr(explained[0]) == repr(explained[1])
        if isinstance(model, QueryLikelihood) and explained[0].parts:
            explained = [r.explain(int(r.locate(chosen[:1])[0]), scoring, probabilities=True) for r in both(case)]
            assert explained[0].probabilities
            assert repr(explained[0]) == repr(explained[1])


MATCHES = [
    Match(("w0", "w7")),
    Match((), (), wordless=True),
    Match(("w1",), (FieldFilter("year", "2003", None),)),
    Match(("unheard",)),
    Match((), (Phrase(("w1", "w2")),), wordless=True),
]


@pytest.mark.parametrize("match", MATCHES, ids=str)
def test_all_documents_of_a_query(case: Case, match: Match) -> None:
    counts = [retriever.count(match) for retriever in both(case)]
    assert counts[0] == counts[1]
    for field in ("year", "kind", "stars", "mixed"):
        for size in (1, 2, 3, 50):
            facets = [retriever.facet(match, field, size) for retriever in both(case)]
            assert repr(facets[0]) == repr(facets[1])
        for descending in (False, True):
            for k in (None, 1, 13):
                request = SortRequest(match, field, descending, k)
                found = [(retriever, retriever.sort(request)) for retriever in both(case)]
                assert told(*found[0]) == told(*found[1])
                values = [retriever.values(hits.refs, field) for retriever, hits in found]
                assert repr(values[0]) == repr(values[1])
        named = [retriever.sort(SortRequest(match, field, ids=True)).ids for retriever in both(case)]
        assert named[0] == named[1]
    for retriever in both(case):
        with pytest.raises(QueryError, match="there is no field 'nothing' to count or sort by"):
            retriever.facet(match, "nothing", 3)
        with pytest.raises(QueryError, match="there is no field 'nothing' to count or sort by"):
            retriever.sort(SortRequest(match, "nothing"))


def test_priors_need_numbers(case: Case) -> None:
    for retriever in both(case):
        with pytest.raises(ParameterError, match="'kind' holds text"):
            retriever.top(TopRequest(Scoring(SignedTopic({"w0": 1.0}), BM25(), (FieldPrior("kind"),)), 3))


@pytest.mark.parametrize("conditions", [None, *CONDITIONS[2:4]], ids=str)
def test_nearest_vectors(case: Case, conditions: tuple | None) -> None:
    """Many vectors are alike: ids decide."""
    queries = np.array([[1.0, 0.0, 0.0, 0.0], [0.5, -1.0, 2.0, 0.5]], np.float32)
    for field, k in (("v", 1), (None, 9), ("v", 1000)):
        request = NearestRequest(field, queries, k, conditions, threads=1)
        found = [[told(retriever, hits) for hits in retriever.nearest(request)] for retriever in both(case)]
        assert found[0] == found[1]
        assert all(found[0])
    own = [[None if v is None else v.tolist() for v in r.vectors(r.locate(case.ids), None)] for r in both(case)]
    assert own[0] == own[1]


def test_documents(case: Case) -> None:
    rng = random.Random(1)
    chosen = rng.sample(case.ids, 30)
    refs = [retriever.locate([*chosen, "nowhere"]) for retriever in both(case)]
    assert [own[-1] for own in refs] == [-1, -1]
    for ask in (
        lambda retriever, own: retriever.ids(own),
        lambda retriever, own: retriever.documents(own),
        lambda retriever, own: retriever.snippets(own, ["w1", "w2"], 40, 1000),
        lambda retriever, own: [(d.id, d.fields, str(d.vectors)) for d in retriever.read(own, vectors=True)],
        lambda retriever, own: [value.tolist() for value in retriever.gather(own, ("w39", "unheard"))[:4]],
        lambda retriever, own: retriever.gather(own)[4],
        lambda retriever, own: [value.tolist() for value in retriever.gather(own, ("w39", "unheard"))[5:]],
        lambda retriever, own: retriever.gather(own[:0], ("w39", "unheard"))[4],
    ):
        answers = [ask(retriever, own[:-1]) for retriever, own in zip(both(case), refs, strict=True)]
        assert answers[0] == answers[1]
    scanned = [sorted((d.id, str(d.fields), str(d.vectors)) for d in r.scan(vectors=True)) for r in both(case)]
    assert scanned[0] == scanned[1]
    for retriever in both(case):
        assert sorted(retriever.ids(retriever.sample(10**6))) == case.ids
        assert len(set(retriever.sample(20, 1).tolist())) == 20
        assert len(retriever.sample(20)) == 20


def test_what_the_collection_is(case: Case) -> None:
    schemas = [retriever.schema() for retriever in both(case)]
    for one, other in zip(schemas[0][1:-1], schemas[1][1:-1], strict=True):
        assert one == other
    need = Need(("w0", "unheard"), surfaces=("w0", "unheard"), fields=True, vocabulary=True)
    found = [retriever.statistics(need) for retriever in both(case)]
    assert found[0].terms == found[1].terms
    assert found[0].digest == found[1].digest
    assert found[0].field_tokens == found[1].field_tokens
    for ask in (
        lambda retriever: [(t, df, cf) for own in retriever.vocabulary() for t, df, cf in zip(*own, strict=True)],
        lambda retriever: retriever.expand("w1", 4),
        lambda retriever: retriever.expand("w1", None, ("w3", "unheard")),
        lambda retriever: retriever.expand("w33", 5, edits=1),
        lambda retriever: retriever.unreadable(),
        lambda retriever: retriever.readings("mixed"),
        lambda retriever: [form.keys() for form in retriever.surfaces(["w0", "unheard"])],
        lambda retriever: (retriever.inspect().terms, retriever.inspect().deleted),
        lambda retriever: [(own.name, own.documents) for own in retriever.inspect().vectors],
    ):
        one, other = map(ask, both(case))
        assert one == other


TEXTS = ["myocardial infarction"] * 9 + ["Diabetes mellitus therapies"] * 12 + ["infraction of rules"] * 3
TEXTS += ["hearts"] * 5 + ["Heart"] * 4 + ["naïve bayes"] * 4 + ["about fifteen minutes"] * 60 + ["minuets by bach"] * 5
TEXTS += ["fifteen songs by bach"] * 40 + ["running runs", "Runs"] * 3 + [" ".join(f"word{i}" for i in range(500))] * 20


@pytest.mark.parametrize("in_bytes", [False, True])
@pytest.mark.parametrize("n", [1, 3, 4])
def test_words(build: Callable[..., Engine], n: int, in_bytes: bool) -> None:
    """Suggestions and written forms, of an index of the same segments: a segment knows its commonest form alone."""
    rng = random.Random(n)
    documents = [Document(f"{rng.randrange(10**9)}", {"text": text}) for text in TEXTS]
    rng.shuffle(documents)
    gone = {document.id for document in documents[::11]}
    pieces = in_pieces(rng, documents, n)
    english = lambda *segments, delete: build(*segments, delete=delete, analyzer=Analyzer())  # noqa: E731
    parts: list[Retriever] = [indexed(english, gone, *segments) for segments in pieces]
    several = Several([through_bytes(part) for part in parts] if in_bytes else parts)
    case = Case(indexed(english, gone, *chain.from_iterable(pieces)), several, [])
    analyzer = Analyzer()
    corrected = 0
    for query in ("myocardal infaction", "diabbetes melitus", "hart", "about fifteen minuets", "naive bayse", "songs"):
        answers = [r.suggest(query.split(), [analyzer.terms(query)]) for r in both(case)]
        assert answers[0] == answers[1]
        corrected += bool(answers[0])
    assert corrected > 2
    terms = analyzer.terms(" ".join(sorted(set(TEXTS))))
    surfaces = [retriever.surfaces(terms) for retriever in both(case)]
    assert surfaces[0] == surfaces[1]
    pairs = [("about", "fifteen"), ("fifteen", "minut"), ("fifteen", "minuet")]
    samples = [[sample.estimate for sample in r.sample_pairs(pairs)] for r in both(case)]
    assert samples[0] == samples[1]


def test_references_name_the_first_of_two_documents_with_one_id(build: Callable[..., Engine]) -> None:
    parts = [build([Document("1", {"text": text})]).retriever for text in ("alpha", "beta alpha")]
    several = Several(parts)
    assert several.documents(several.locate(["1"])) == [{"text": "alpha"}]
    found = several.top(TopRequest(Scoring(SignedTopic({"alpha": 1.0}), BM25()), 5))
    assert [fields["text"] for fields in several.documents(found.refs)] == ["alpha", "beta alpha"]
    assert several.schema().n_docs == 2


def test_collections_that_cannot_be_one(build: Callable[..., Engine], with_vectors: Callable[..., Engine]) -> None:
    one = build([Document("1", {"text": "alpha"})]).retriever
    other = build([Document("1", {"text": "alpha"})], analyzer=Analyzer()).retriever
    with pytest.raises(ParameterError, match="their texts were analysed in other ways"):
        Several([one, other])
    with pytest.raises(ParameterError, match="from 1 to"):
        Several([])
    with pytest.raises(ParameterError, match="name all parts at once"):
        Several([Several([one, one]), one])
    schema = one.schema()
    fields = SchemaOnly(schema._replace(text_fields=("body",)))
    with pytest.raises(ParameterError, match="the text fields of the one are title, text, those of the other body"):
        Several([one, fields])
    vectors = with_vectors([Document("2", {"text": "x"}, {"v": [1, 2, 3, 4]})], delete=[]).retriever
    (field,) = vectors.schema().vector_fields.values()
    wider = SchemaOnly(vectors.schema()._replace(vector_fields={"v": type(field)(5)}))
    with pytest.raises(ParameterError, match="the vector field 'v' is"):
        Several([vectors, wider])
    assert Several([one, vectors]).nearest(NearestRequest("v", np.ones((1, 4), np.float32), 3))[0].refs.tolist() == [
        1 << 48
    ]


class SchemaOnly(SnapshotRetriever):
    """Something with a schema."""

    def __init__(self, schema: Any) -> None:
        self._described = schema

    def schema(self) -> Any:
        return self._described


def test_calls(case: Case) -> None:
    """A list of calls, errors, and what is no call."""
    answering = Answering(case.whole)
    answers = decode(answering.answer(encode([Call("count", (MATCHES[0],)), Call("count", (Match(("w\ud800",)),))])))
    assert answers == [case.whole.count(MATCHES[0]), 0]
    behind = ThroughBytes(answering.answer)
    with pytest.raises(QueryError, match="there is no field 'no'") as problem:
        behind.facet(MATCHES[0], "no", 3)
    assert problem.value.field == "no"
    with pytest.raises(AttributeError):
        behind.folder  # noqa: B018
    [refused] = decode(answering.answer(encode([Call("__class__")])))
    assert refused.kind == "InputError"
    with pytest.raises(InputError, match="neither a call nor a list of calls"):
        answering.answer(encode({"count": 1}))


def test_a_vocabulary_is_sent_once(case: Case) -> None:
    sent: list[int] = []
    answering = Answering(case.whole)

    def send(message: bytes) -> bytes:
        sent.append(len(message))
        return answering.answer(message)

    behind = ThroughBytes(send)
    request = TopRequest(Scoring(SignedTopic({"w0": 1.0}), model_named("tfidf")), 3)
    statistics = case.whole.statistics(request.scoring.need())
    expected = told(case.whole, case.whole.top(request))
    for calls in (3, 1, 1):  # named, not known, sent; then known
        sent.clear()
        hits = behind.top(request, statistics)
        assert len(sent) == calls - (calls == 3)
        assert told(case.whole, hits) == expected
    answering._vocabularies.clear()
    assert told(case.whole, behind.top(request, statistics=statistics)) == expected


def test_deadlines_travel(case: Case) -> None:
    """As seconds that are left; a limit that was set here stays."""
    left: list[float | None] = []

    class Watching(SnapshotRetriever):
        def __init__(self) -> None:
            pass

        def count(self, match: Match) -> int:
            left.append(seconds_left())
            return 0

    behind = through_bytes(Watching())
    behind.count(MATCHES[0])
    with limited(lambda: None, lambda: 2.5):
        behind.count(MATCHES[0])
    assert left == [None, 2.5]
    now = [0.0]
    with limited_to(3.0, lambda: now[0]):
        assert seconds_left() == 3.0
        case.several.count(MATCHES[2])
        now[0] = 3.5
        with pytest.raises(DeadlineError, match="too late"):
            case.several.count(MATCHES[2])
    message = decode(encode(Call("count", (MATCHES[0],), seconds=1.5)))
    assert message.seconds == 1.5
