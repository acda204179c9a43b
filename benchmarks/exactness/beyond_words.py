"""Requests of what stands beside a ranking by words: second stages, vectors, pipelines, reasons, documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from exactness.collection import TEXT, TITLE
from exactness.drawing import FEEDBACK, MODELS, Draw
from exactness.kinds import FIELDS, Request, call, kind, request
from germane import Engine, Topic
from germane.engine import ExplainRequest, FeedbackRequest, RankingRequest
from germane.engine.pipelines import Pipeline, fuse, rerank
from germane.feedback import feedback_named

# -- second stages -----------------------------------------------------------------------------------------------------


@kind(25)
def reranking(draw: Draw) -> Request:
    given = draw.some_model(0.4)
    if draw.happens(0.2):
        given["feedback"] = "rm3"
        given = {name: each for name, each in given.items() if name in ("model", "feedback")}
    if draw.happens(0.3):
        given["priors"] = draw.priors()
    by, depth = draw.choice([*MODELS]), draw.choice((5, 50, 500))
    return call("search", draw.query(), draw.depth(), rerank=by, depth=depth, **given, **draw.some_filter(0.2))


def learnt_by(models: Mapping[str, Any]) -> None:
    """Make the kinds of requests in which a learnt model ranks again, explains, and folds titles in."""

    @kind(14, *models)
    def learnt(draw: Draw, name: str) -> Request:
        query, k, depth = draw.query(), draw.depth(), draw.choice((5, 30, 200, 1000))
        given = draw.some_filter()
        if draw.happens(0.2):
            given["feedback"] = "rm3"
        if draw.happens(0.2):
            given["priors"] = draw.priors()

        def ask(engine: Engine) -> object:
            result = engine.search(query, k, rerank=models[name], depth=depth, **given)
            explained = [engine.explain(query, each, rerank=models[name]) for each in result.ids[:2]]
            return [result, explained, [each.score for each in explained]]

        return Request(f"search and explain({query!r}, {k}, rerank={name}, depth={depth}, {given})", ask)

    @kind(2, *models)
    def folded(draw: Draw, name: str) -> Request:
        query, titles = draw.query(), [draw.phrase() for _ in range(20)]

        def ask(engine: Engine) -> object:
            documents = models[name].fold_in(titles)
            return [documents.vectors, models[name].score(query, documents)]

        return Request(f"{name}.score({query!r}, {titles})", ask)


@kind(25)
def promoted(draw: Draw) -> Request:
    """Searches that name no ranking, and those that name a learnt model, of an index that has learnt from clicks."""
    query, given, k = draw.query(), draw.some_filter(), draw.depth()
    if draw.happens(0.6):
        given["rerank"] = draw.choice(("topics", "clicks", "topics@1"))
        given["depth"] = draw.choice((10, 100, 1000))

    def ask(engine: Engine) -> object:
        result = engine.search(query, k, **given)
        why = {name: each for name, each in given.items() if name == "rerank"}
        return [result, [engine.explain(query, each, **why) for each in result.ids[:2]]]

    return Request(f"search and explain({query!r}, {k}, {given})", ask, learnt=True)


# -- vectors -----------------------------------------------------------------------------------------------------------


@kind(35)
def vectors(draw: Draw) -> Request:
    field = draw.choice(("title", "text"))
    given = {"field": field, "threads": 1, **draw.some_filter()}
    if draw.happens(0.25):
        return call("vector_batch", [draw.vector(field) for _ in range(3)], draw.depth(), **given)
    if draw.happens(0.3):
        return call("vector_search", draw.query(), draw.depth(), encoder=TITLE if field == "title" else TEXT, **given)
    return call("vector_search", draw.vector(field), draw.depth(), **given)


@kind(15)
def tied_vectors(draw: Draw) -> Request:
    """Of a field in which many documents are equally near."""
    return call("vector_search", draw.vector("coarse"), draw.depth(), field="coarse", threads=1, **draw.some_filter())


@kind(25)
def hybrid(draw: Draw) -> Request:
    field = draw.choice(("title", "text"))
    query = f"{draw.query()} {draw.written_filter()}" if draw.happens(0.2) else draw.query()
    given: dict[str, Any] = {"field": field, "mix": draw.choice(("rrf", draw.number(0.0, 1.0))), **draw.some_filter()}
    if draw.happens(0.5):
        given["model"] = draw.choice([*MODELS])
    if draw.happens(0.5):
        return call("hybrid_search", query, draw.vector(field), draw.depth(), **given)
    return call("hybrid_search", query, None, draw.depth(), encoder=TITLE if field == "title" else TEXT, **given)


# -- pipelines ---------------------------------------------------------------------------------------------------------


def ranking_of(draw: Draw) -> Callable[[Engine], Pipeline]:
    """A pipeline that ranks by words, with steps behind it or none."""
    given = {**draw.some_model(0.8)}
    if draw.happens(0.2):
        given["priors"] = draw.priors()
    method = feedback_named(draw.choice([*FEEDBACK]), n_docs=draw.randint(3, 15)) if draw.happens(0.3) else None
    second = rerank(draw.choice([*MODELS]), draw.choice((10, 100))) if draw.happens(0.4) else None
    cut, factor = draw.choice((0, 0, 20, 200)), draw.number(0.2, 3.0) if draw.happens(0.3) else 0.0

    def made(engine: Engine) -> Pipeline:
        found = engine.pipeline(**given)
        for step in (method, second):
            found = found if step is None else found >> step
        found = found % cut if cut else found
        return factor * found if factor else found

    return made


@kind(40)
def pipelines(draw: Draw) -> Request:
    """Compositions of rankings, vectors among them."""
    parts = [ranking_of(draw) for _ in range(draw.choice((1, 2, 2, 3)))]
    field = draw.choice(("title", "text"))
    vector = draw.vector(field) if draw.happens(0.35) else None
    how = draw.choice(("+", "|", "&", "^", "rrf", "isr", "combsum", "combmnz"))
    query, k, given = draw.query(), draw.depth(), draw.some_filter()

    def ask(engine: Engine) -> object:
        made = [part(engine) for part in parts]
        if vector is not None:
            made.append(engine.vector_pipeline(field, vector=vector))
        if how.isalpha():
            return fuse(*made, method=how).search(query, k, **given)
        found = made[0]
        for other in made[1:]:
            found = {"+": found + other, "|": found | other, "&": found & other, "^": found ^ other}[how]
        return found.search(query, k, **given)

    return Request(f"{len(parts)} rankings, {field if vector else 'no'} vectors, {how}: {query!r}, {k}, {given}", ask)


@kind(12)
def runs(draw: Draw) -> Request:
    """Many topics at once."""
    asked = [Topic(str(i), draw.query()) for i in range(4)]
    k, threads = draw.depth(), draw.choice((1, 2))
    if draw.happens(0.5):
        given = {**draw.some_model(), **draw.some_filter(0.2)}
        return call("batch", asked, k, threads=threads, read=list, **given)
    part = ranking_of(draw)
    told = f"a pipeline's run of {asked}, {k}"
    return Request(told, lambda engine: dict(part(engine).run(asked, k, threads=threads)))


# -- why, and what else ------------------------------------------------------------------------------------------------


@kind(60)
def explanations(draw: Draw) -> Request:
    """Of a document that holds a word of the query, with its parts and the score that they add up to."""
    query, about = draw.marked()
    given = draw.some_model(0.85)
    if draw.happens(0.3):
        given["priors"] = draw.priors()
    if draw.happens(0.35):
        given["probabilities"] = True
        given["model"] = draw.choice(("dirichlet", "jm", "twostage", "absolute"))
        given = {name: each for name, each in given.items() if name in ("model", "priors", "probabilities")}
    elif draw.happens(0.15):
        given["rerank"] = draw.choice([*MODELS])
    if draw.happens(0.2):
        query = f'{query} "{draw.phrase()}"'
    return call("explain", query, next(iter(about)), read=lambda found: [found, found.score], **given)


class Suggested(NamedTuple):
    """What may have been meant."""

    suggestion: str | None
    corrections: Mapping[str, str]


@kind(35)
def suggestions(draw: Draw) -> Request:
    own = draw.phrase().split() if draw.happens(0.5) else draw.words(draw.randint(1, 4))
    at = draw.randrange(len(own))
    own[at] = draw.mistyped(own[at])
    query = " ".join(own)

    def ask(engine: Engine) -> object:
        return Suggested(engine.suggest(query), engine.corrections(own, [engine.analyzer.terms(query)]))

    return Request(f"suggest and corrections({query!r})", ask)


@kind(50)
def answers(draw: Draw) -> Request:
    """What the doors ask, with all that an answer may have beside its results."""
    query, marked, name = draw.query(), {}, draw.choice([*FEEDBACK])
    if draw.happens(0.25):
        query, marked = draw.marked()
    learning = FeedbackRequest(
        name if draw.happens(0.4) else None,
        relevant=tuple(doc_id for doc_id, mark in marked.items() if mark),
        not_relevant=tuple(doc_id for doc_id, mark in marked.items() if not mark),
    )
    wanted = learning.method is not None or bool(marked)
    given = draw.some_model(0.3)
    by = given.pop("model", None)
    ranking = RankingRequest(
        by,
        weights=given.pop("weights", {}),
        parameters=given,
        priors=tuple(draw.sample(("length^0.2", "field:cites^0.5", "length^-0.1"), draw.choice((0, 0, 1, 2)))),
    )
    if not wanted and draw.happens(0.2):
        query = draw.choice((f"{query} qqzzk", "qqzzk xyzzyq", draw.mistyped(draw.word()), f"+{draw.word()} +{query}"))
    if draw.happens(0.15):
        query = f"{query} {draw.written_filter()}"
    group = draw.choice(("source", "year")) if draw.happens(0.15) else None
    return request(
        query=query,
        k=draw.choice((1, 10, 10, 50)),
        ranking=ranking,
        feedback=learning,
        rerank=draw.choice(("dirichlet", "bm25")) if draw.happens(0.15) else None,
        explain=group is None and draw.happens(0.6),  # else moves are told of all that was ranked to fill the groups
        offset=draw.choice((0, 0, 0, 7)),
        sort=draw.choice(FIELDS) if not wanted and by is None and draw.happens(0.1) else None,
        group=group,
        facets=tuple(draw.sample(FIELDS, draw.choice((0, 1, 3)))),
        snippets=draw.happens(0.6),
        groups=draw.choice((3, 5)) if draw.happens(0.08) else None,
        **draw.some_filter(0.25),
    )


@kind(15)
def answered_explanations(draw: Draw) -> Request:
    query, about = draw.marked()
    given = draw.some_model(0.7)
    ranking = RankingRequest(given.pop("model", None), weights=given.pop("weights", {}), parameters=given)
    asked = ExplainRequest(query, next(iter(about)), ranking)
    return Request(repr(asked), lambda engine: engine.answer(asked))


@kind(5)
def learnt_parameters(draw: Draw) -> Request:
    """μ and λ that the collection itself tells."""
    sample, state = draw.choice((500, 3000, 20_000)), draw.randint(0, 9)
    if draw.happens(0.25):
        name, parameter = draw.choice((("dirichlet", "mu"), ("jm", "lam"), ("lmf", "mu")))
        return request(query=draw.query(), ranking=RankingRequest(name, {parameter: "auto"}))
    return call(draw.choice(("learn_mu", "learn_lam")), sample=sample, random_state=state)


@kind(12)
def documents(draw: Draw) -> Request:
    """Single documents and their vectors."""
    ids, other = draw.sample(draw.known.ids, 3), re.sub("-", "+", draw.choice(draw.known.ids))

    def ask(engine: Engine) -> object:
        stored = [engine.document(doc_id).fields for doc_id in ids]
        return [stored, [engine.vector(doc_id, draw_field) for doc_id in ids], other in engine, ids[0] in engine]

    draw_field = draw.choice(("title", "text", "coarse"))
    return Request(f"document and vector({ids}, {draw_field})", ask)


@kind(8)
def followed_topics(draw: Draw) -> Request:
    """A topic that is followed through documents, held against the collection."""
    seed, *later = (draw.known.texts[draw.choice(draw.known.worded)] for _ in range(5))

    def ask(engine: Engine) -> object:
        topic = engine.topic(seed)
        return [[topic.see(text) for text in (*later, seed)], topic.words(10)]

    return Request(f"topic({seed!r:.100})", ask)


@kind(1)
def collection(draw: Draw) -> Request:
    """What is the same however the documents lie."""
    names = ("documents", "tokens", "terms", "text_fields", "filterable", "no_number", "ranking", "fingerprint")

    def ask(engine: Engine) -> object:
        stats = engine.stats()
        return [{name: getattr(stats, name) for name in names}, len(engine), sorted(engine.unreadable().items())]

    return Request("stats()", ask)
