"""Requests by words: rankings, the query language, filters, counts, pages, and feedback.

A request draws nothing from an engine, so that it is the same whichever is asked. It uses what users are told of alone.
"""

from __future__ import annotations

from typing import Any

from exactness.calls import called
from exactness.drawing import FEEDBACK, MODELS, Draw
from exactness.kinds import FIELDS, Request, call, kind
from germane import Engine, SearchResult
from germane.feedback import feedback_named

# -- by words ----------------------------------------------------------------------------------------------------------


@kind(10, *MODELS)
def model(draw: Draw, name: str) -> Request:
    query = draw.query()
    if draw.happens(0.2):
        query = f'{query} "{draw.phrase()}"'
    return call("search", query, draw.depth(), **draw.model(name), **draw.some_filter(0.2))


@kind(25)
def words(draw: Draw) -> Request:
    return call("search", draw.query(), draw.depth(), syntax=draw.happens(0.7))


@kind(40)
def operators(draw: Draw) -> Request:
    a, b, c, d = (draw.word() for _ in range(4))
    x, y = [*draw.words(2), b][:2]
    query = draw.choice((
        f"+{x} {y} -{c}", f"{x} AND {y}", f"{x} OR {y} OR {c}", f"({x} OR {c}) AND {y} NOT {d}", f"+{x} +{y} {c}^2.5",
        f"{x}^{draw.number(0.1, 4)} {y}^{draw.number(0.1, 4)}", f"{x} NOT {c}", f"({x} {y})^0.5 {a}", f"+{x}^0 {y} {a}",
        f"title:{x} {y}", f"title:({x} OR {y}) {c}", f"+title:{x} -text:{c}", f"{x} OR NOT {y}", f"{x} AND {y} {a} {c}",
    ))  # fmt: skip
    return call("search", query, draw.depth(), **draw.some_model(0.4))


@kind(40)
def written_filters(draw: Draw) -> Request:
    query = " ".join([*draw.words(draw.randint(0, 3)), draw.written_filter(), draw.written_filter()][-4:])
    return call("search", query, draw.depth(), **draw.some_model(0.3))


@kind(40)
def filters(draw: Draw) -> Request:
    query = "" if draw.happens(0.15) else draw.query()
    return call("search", query, draw.depth(), filter=draw.filter(), **draw.some_model(0.3))


@kind(45)
def phrases(draw: Draw) -> Request:
    slop = draw.choice(("", "", "~1", "~3", "~8"))
    phrase = f'{draw.choice(("", "", "+", "-", "title:", "text:"))}"{draw.phrase()}"{slop}'
    beside = " ".join(draw.words(draw.randint(0, 2)))
    query = f"{phrase} {beside}" if phrase[0] != "-" else f"{draw.word()} {phrase}"
    return call("search", query.strip(), draw.depth(), **draw.some_model(0.4))


@kind(45)
def expansions(draw: Draw) -> Request:
    long = [word for word in (draw.word() for _ in range(9)) if len(word) > 4]
    one, other = [*long, "experiment", "analysis"][:2]
    prefix = f"{one[: draw.randint(2, 5)]}*"
    query = draw.choice((
        prefix, f"{prefix} {draw.word()}", f"+{prefix} {draw.query()}", f"{draw.mistyped(one)}~1", f"{one}~2",
        f"{draw.mistyped(other)}~ {draw.word()}", f"{other} -{one[:5]}*", f"title:{prefix}", f"{one}~1 AND {prefix}",
    ))  # fmt: skip
    return call("search", query, draw.depth(), **draw.some_model(0.3))


@kind(20)
def topics(draw: Draw) -> Request:
    """Index terms with weights."""
    plain, picks = draw.query(), [draw.number(0.01, 3.0) for _ in range(40)]
    given = {**draw.some_model(0.7), **draw.some_filter()}

    def ask(engine: Engine) -> object:
        terms = dict.fromkeys(engine.analyzer.terms(plain))
        return called(engine.search, dict(zip(terms, picks, strict=False)), 100, **given)

    return Request(f"search(terms of {plain!r} with {picks[:3]}..., 100, {given})", ask)


# -- counts and pages --------------------------------------------------------------------------------------------------


@kind(25)
def counts(draw: Draw) -> Request:
    query = draw.choice((draw.query(), draw.query(), f'"{draw.phrase()}"', draw.written_filter(), ""))
    return call("count", query, **draw.some_filter(0.5))


@kind(40)
def facets(draw: Draw) -> Request:
    field, query = draw.choice(FIELDS), draw.choice((draw.query(), draw.query(), draw.written_filter(), ""))
    return call("facet", field, query, size=draw.choice((1, 3, 10, 50)), **draw.some_filter())


@kind(15)
def groups(draw: Draw) -> Request:
    n, offset = draw.randint(2, 8), draw.choice((0, 0, 10))

    def read(result: SearchResult) -> object:
        return result.groups(n)

    return call("search", draw.query(), draw.choice((20, 60, 120)), offset=offset, read=read, **draw.some_model(0.3))


@kind(45)
def pages(draw: Draw) -> Request:
    """Offsets, orders by a field, one result a group, least scores."""
    given: dict[str, Any] = {"offset": draw.choice((0, 0, 5, 40, 5000))}
    by_field = draw.happens(0.45)
    if by_field:
        given["sort"] = draw.choice(("", "-")) + draw.choice(FIELDS)
    if draw.happens(0.5):
        given["group"] = draw.choice(("author", "source", "tags", "year"))
    if not by_field and draw.happens(0.4):
        given["min_score"] = draw.number(-20.0, 12.0)
    if not by_field:
        given |= draw.some_model(0.4)
    return call("search", draw.query(), draw.depth(), **given, **draw.some_filter())


@kind(40)
def priors(draw: Draw) -> Request:
    return call(
        "search", draw.query(), draw.depth(), priors=draw.priors(), **draw.some_model(), **draw.some_filter(0.2)
    )


@kind(15)
def snippets(draw: Draw) -> Request:
    width, several = draw.randint(20, 500), draw.happens(0.5)
    query = f'"{draw.phrase()}"' if draw.happens(0.3) else draw.query()

    def read(result: SearchResult) -> object:
        return [result.snippet(i, width) if several else result.snippet(i) for i in range(len(result))]

    return call("search", query, 8, read=read)


# -- feedback ----------------------------------------------------------------------------------------------------------


@kind(16, *FEEDBACK)
def feedback(draw: Draw, name: str) -> Request:
    given: dict[str, Any] = {"feedback": feedback_named(name, **draw.feedback(name)), **draw.some_filter(0.2)}
    query = draw.query()
    if draw.happens(0.5):
        query, given["marks"] = draw.marked()
    if draw.happens(0.3):
        given |= draw.model(draw.choice(("dirichlet", "jm", "bm25", "adaptive", "sdm", "lmf")))
    if draw.happens(0.15):
        given["priors"] = draw.priors()
    return call("search", query, draw.choice((10, 20, 1000)), **given)


@kind(30)
def signed_topics(draw: Draw) -> Request:
    """Feedback that repels: most marks are negative, and the background counts; some are ranked again by it."""
    name = draw.choice([*FEEDBACK])
    method = feedback_named(
        name, negative_weight=draw.number(0.3, 1.5), keep_background=draw.happens(0.5), n_docs=draw.choice((0, 10))
    )
    query, marks = draw.marked(0.3)
    given: dict[str, Any] = {}
    if draw.happens(0.5):
        given = draw.model(draw.choice(("dirichlet", "jm", "absolute", "bm25")))
    if draw.happens(0.3):
        given |= {"rerank": draw.choice(("dirichlet", "bm25")), "depth": draw.choice((20, 200))}
    return call("search", query, draw.choice((10, 1000)), feedback=method, marks=marks, **given)


@kind(10)
def marks(draw: Draw) -> Request:
    """Marks alone, which imply a method."""
    query, given = draw.marked()
    return call("search", query, draw.choice((10, 30)), marks=given, offset=draw.choice((0, 0, 10)))
