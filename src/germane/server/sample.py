"""The sample collection: 2,600 invented abstracts on ten topics, made of the phrases in `samples/research.toml`.

The same ones every time. Each topic has four sub-topics with words of their own, and one abstract in seven borrows from
a neighbouring sub-topic, so that searching, marking, groups and screening meet what real collections have: overlap.
"""

import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from germane.types import Document

NAME = "research"
"""What the collection is called."""
SEARCHES = (
    "tumour segmentation", "sleep memory", "battery ageing", "antibiotic resistance", '"relevance feedback"',
    "wolves livestock year:2015..",
)  # fmt: skip
"""What the page proposes to search for in it."""
SCREENED = "tumour AND segmentation"
"""What it proposes to screen."""
EACH = 65
"""Abstracts of a sub-topic."""
BORROWS = 7
"""One abstract in this many has words of a neighbouring sub-topic too."""

_SURNAMES = (
    "Abe", "Adeyemi", "Ahmed", "Andersen", "Banerjee", "Bauer", "Castillo", "Chen", "Costa", "Dubois", "Eriksen",
    "Fischer", "Garcia", "Haddad", "Hansen", "Ivanova", "Jansen", "Kaplan", "Kowalski", "Lindqvist", "Mbeki", "Moreau",
    "Murphy", "Nakamura", "Novak", "Okafor", "Oliveira", "Park", "Petrov", "Rossi", "Sato", "Silva", "Singh", "Tanaka",
    "Usman", "Virtanen", "Weber", "Yilmaz", "Zhang", "Zimmer",
)  # fmt: skip
_TITLES = (
    "{Method} and {outcome} in {setting}",
    "{Thing} and {thing2}: evidence from {setting}",
    "Can {method} change {outcome}? {Thing} in {setting}",
    "{Thing} under {method}: {outcome} over {months} months",
    "Predicting {outcome} from {thing} by {method}",
    "{Outcome} after {method} for {thing}",
    "The role of {thing2} in {thing}",
    "A review of {method} for {thing}",
    "{Thing}, {thing2} and {outcome}: a study of {setting}",
)
_OPENINGS = (
    "{Thing} and {thing2} are often studied apart, although they meet in practice.",
    "Little is known of how {method} bears on {outcome} where {thing} is concerned.",
    "Some have linked {thing} to {outcome}, but most evidence comes from small studies.",
    "How to weigh the cost of {method} for {thing} remains open.",
    "Earlier work on {thing} has neglected {thing2}.",
    "The burden of {thing} is growing, and people ask about {outcome} first.",
)
_AIMS = (
    "We examined {thing} by {method} in {setting}.",
    "In {setting}, we compared {method} with {method2} and followed {outcome} for {months} months.",
    "We asked whether {method} can improve {outcome} in {setting} (n = {n}).",
    "Our aim was to relate {thing2} to {outcome} in {setting}.",
    "We reanalysed {n} records of {setting}, with {method} as the reference.",
)
_METHODS = (
    "We used {method} at the start and after {months} months, and recorded {outcome2} alongside.",
    "Of {n} cases, {m} were assessed by {method2} and the rest by {method}.",
    "Two raters, blind to {outcome}, graded {thing2} on a five-point scale.",
    "A mixed model with random effects of the site described {outcome} as a function of {thing}.",
    "Data were split by site; we fitted {method} on one half and tested on the other.",
)
_FINDINGS = (
    "With {method}, {outcome} improved by {p} % (95 % interval {low} to {high}).",
    "{Thing2} explained {p} % of the variation in {outcome}.",
    "There was no difference in {outcome} between {method} and {method2}, while {outcome2} fell by {p} %.",
    "{Method} detected {m} of {n} cases, and {method2} missed every sixth of these.",
    "The association of {thing} with {outcome} held after adjustment for {thing2}.",
    "{Outcome2} worsened slightly at the sites most concerned with {thing}.",
)
_CLOSINGS = (
    "A larger trial of {method} should come before wide use in {setting}.",
    "These results speak for looking at {thing2} together with {thing}.",
    "{Outcome} should be reported in every study of {thing}.",
    "Until more is known of {outcome2}, we regard {method} as a tool of research.",
    "The findings are limited by the follow-up of {months} months.",
)


def sample_documents(each: int = EACH, random_state: int = 0) -> Iterator[Document]:
    """The abstracts, in an order that mixes the topics."""
    topics: Mapping[str, Any] = tomllib.loads((files("germane") / "samples" / "research.toml").read_text("utf-8"))
    parts = [(topic, part) for topic, content in topics.items() for part in content["parts"]]
    rounds = [(number, topic, part) for number in range(each) for topic, part in parts]
    random.Random(random_state).shuffle(rounds)
    for number, topic, part in rounds:
        yield _abstract(topics, topic, part, number, random_state)


def _abstract(topics: Mapping[str, Any], topic: str, part: str, number: int, random_state: int) -> Document:
    draw = random.Random(f"{random_state} {part} {number}")
    own = topics[topic]["parts"]
    phrases = own[part]
    other = phrases
    if draw.randrange(BORROWS) == 0:
        other = own[draw.choice([name for name in own if name != part])]
    thing, thing2 = draw.sample(phrases["things"], 1)[0], draw.choice([*other["things"], *phrases["things"]])
    if thing == thing2:
        thing2 = next(each for each in phrases["things"] if each != thing)
    method, method2 = draw.sample(phrases["methods"], 2)
    outcome, outcome2 = draw.sample(phrases["outcomes"], 2)
    n, p = draw.randrange(40, 4000), draw.randrange(3, 60)
    slots = {
        "thing": thing, "thing2": thing2, "method": method, "method2": method2, "outcome": outcome,
        "outcome2": outcome2, "setting": draw.choice(phrases["settings"]), "n": f"{n:,}", "m": f"{n // 3:,}",
        "p": p, "low": max(p - draw.randrange(2, 9), 1), "high": p + draw.randrange(2, 12),
        "months": draw.choice((3, 6, 9, 12, 18, 24, 36)),
    }  # fmt: skip
    slots |= {name.capitalize(): _capital(str(value)) for name, value in slots.items()}
    sentences = [
        draw.choice(_OPENINGS), draw.choice(_AIMS), *draw.sample(_METHODS, draw.randrange(1, 3)),
        *draw.sample(_FINDINGS, draw.randrange(1, 4)), draw.choice(_CLOSINGS),
    ]  # fmt: skip
    return Document(
        f"{part}-{number + 1:02d}",
        {
            "title": _capital(draw.choice(_TITLES).format(**slots)),
            "text": " ".join(sentence.format(**slots) for sentence in sentences),
            "author": _authors(draw),
            "journal": draw.choice(topics[topic]["journals"]),
            "year": min(2025, 1998 + int(28 * draw.random() ** 0.6)),
            "topic": topic,
        },
    )


def _authors(draw: random.Random) -> list[Any]:
    names: Sequence[str] = draw.sample(_SURNAMES, draw.randrange(1, 5))
    return [f"{name} {draw.choice('ABCDEFGHJKLMNPRSTVW')}" for name in names]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
