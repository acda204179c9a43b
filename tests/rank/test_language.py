"""The query language against a brute-force interpreter: random queries over random collections.

Trees are made at random, written down as queries, and evaluated here over the analysed documents, one by one, by the
rules of docs/queries.md. The engine must find the same documents with the scores of the formulas. Run more
cases with GERMANE_LANGUAGE_CASES=10000.
"""

import math
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import permutations, product
from random import Random
from typing import Any

import pytest

from germane import Analyzer, Document, Engine
from germane.rank import MODEL_NAMES
from germane.rank.maxscore import posting_cache as decoded
from germane.rank.scoring.scorers import Scorers

CASES = int(os.environ.get("GERMANE_LANGUAGE_CASES", "3000"))
QUERIES_OF_A_COLLECTION = 60
ANALYZER = Analyzer()
WORDS = (
    "heart", "hearts", "attack", "attacks", "cardiac", "cardiology", "cardio", "knee", "knees", "mice", "mouse", "the",
    "of", "x", "ray", "zebra",
)  # fmt: skip
TAGS, YEARS, DATES = (
    ("a", "b", "A", "c d"),
    (2018, 2019, 2020, "in press"),
    ("2019-03-01", "2019-11", "2020", "2020/2/3"),
)
TEXT_FIELDS = ("title", "text")


# -- documents ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """An analysed document: for each text field the sequences of terms, for each other field its values."""

    id: str
    texts: dict[str, list[list[str]]]
    values: dict[str, list[Any]]

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(term for sequences in self.texts.values() for terms in sequences for term in terms)


def random_document(rng: Random, number: int) -> Document:
    """Only the first one has every field for sure, so that every field can be named."""

    def text(most: int) -> str:
        return " ".join(rng.choices(WORDS[:-1], k=rng.randint(0, most)))

    fields: dict[str, Any] = {"title": text(3), "text": rng.choice((text(9), [text(4), text(4)]))}
    if number == 0 or rng.random() < 0.8:
        fields["year"] = rng.choice(YEARS)
    if number == 0 or rng.random() < 0.8:
        fields["tags"] = rng.sample(TAGS, rng.randint(number == 0, 3))
    if number == 0 or rng.random() < 0.8:
        fields["date"] = rng.choice(DATES)
    return Document(f"d{number:02}", fields)


def held(document: Document) -> Held:
    def listed(name: str) -> list[Any]:
        value = document.fields.get(name)
        return value if isinstance(value, list) else [] if value is None else [value]

    texts = {name: [ANALYZER.terms(str(item)) for item in listed(name)] for name in TEXT_FIELDS}
    return Held(document.id, texts, {name: listed(name) for name in ("year", "tags", "date")})


# -- trees: how they are written, and what they mean -------------------------------------------------------------------

Scope = tuple[str, ...]


@dataclass
class World:
    """The live documents, and the weights that a query gives to terms."""

    documents: list[Held]
    weights: Counter[str]

    @cached_property
    def totals(self) -> Counter[str]:
        return sum((document.counts for document in self.documents), Counter())

    @cached_property
    def terms(self) -> set[str]:
        return set(self.totals)


class Node:
    """`truth(document)`: None where it is as if it were not written. `wordy`: whether it asks for words."""

    weight = 1.0

    def written(self) -> str:
        raise NotImplementedError

    def truth(self, world: World, document: Held, free: bool = False) -> bool | None:
        raise NotImplementedError

    def wordy(self, world: World) -> bool:
        return True

    def values_of(self, world: World) -> str | None:
        return None

    def weigh(self, world: World, weight: float) -> None:
        raise NotImplementedError


def sequences(document: Held, scope: Scope) -> list[list[str]]:
    return [terms for name in scope for terms in document.texts[name]]


@dataclass
class Word(Node):
    """One word, in some fields; all its terms or, free in a list, any."""

    text: str
    scope: Scope = TEXT_FIELDS

    def written(self) -> str:
        return self.text if self.scope == TEXT_FIELDS else f"{self.scope[0]}:{self.text}"

    def truth(self, world: World, document: Held, free: bool = False) -> bool | None:
        terms = ANALYZER.terms(self.text)
        there = {term for own in sequences(document, self.scope) for term in own}
        return (any if free else all)(term in there for term in terms) if terms else None

    def weigh(self, world: World, weight: float) -> None:
        for term in ANALYZER.terms(self.text):
            world.weights[term] += weight


@dataclass
class Phrase(Node):
    """Words with moves, in some fields; every way to place them is tried."""

    words: tuple[str, ...]
    slop: int
    scope: Scope = TEXT_FIELDS
    tag: bool = False

    def written(self) -> str:
        text = f'"{" ".join(self.words)}"' + (f"~{self.slop}" if self.slop else "")
        if self.tag:
            return text + {("title",): "[ti]", ("text",): "[ab]", TEXT_FIELDS: "[TIAB]"}[self.scope]
        return text if self.scope == TEXT_FIELDS else f"{self.scope[0]}:{text}"

    def truth(self, world: World, document: Held, free: bool = False) -> bool | None:
        terms = ANALYZER.terms(" ".join(self.words))
        return any(self._fits(terms, own) for own in sequences(document, self.scope))

    def _fits(self, terms: list[str], own: list[str]) -> bool:
        places = [[p for p, term in enumerate(own) if term == wanted] for wanted in terms]
        for chosen in product(*places):
            moved = [p - i for i, p in enumerate(chosen)]
            if len(set(chosen)) == len(chosen) and max(moved) - min(moved) <= self.slop:
                return True
        return False

    def weigh(self, world: World, weight: float) -> None:
        for term in ANALYZER.terms(" ".join(self.words)):
            world.weights[term] += weight


@dataclass
class Expanded(Node):
    """A prefix, or a word with edits: any of the terms it stands for."""

    text: str
    edits: int = 0
    scope: Scope = TEXT_FIELDS

    def written(self) -> str:
        text = f"{self.text}~{self.edits}" if self.edits else f"{self.text}*"
        return text if self.scope == TEXT_FIELDS else f"{self.scope[0]}:{text}"

    def _terms(self, world: World) -> set[str]:
        own = ANALYZER.terms(self.text)
        if self.edits:
            return {term for term in world.terms if distance(own[0], term) <= self.edits}
        return {term for term in world.terms if term.startswith(self.text) or term in own}

    def truth(self, world: World, document: Held, free: bool = False) -> bool | None:
        there = {term for own in sequences(document, self.scope) for term in own}
        return not there.isdisjoint(self._terms(world))

    def weigh(self, world: World, weight: float) -> None:
        for term in self._terms(world):
            world.weights[term] += weight


@dataclass
class Filter(Node):
    """A value, a prefix or a range of a field; `accepts` is said with the text, not derived from it."""

    field: str
    text: str
    accepts: Callable[[Any], bool]
    value: bool = True

    def written(self) -> str:
        return f"{self.field}:{self.text}"

    def truth(self, world: World, document: Held, free: bool = False) -> bool | None:
        return any(map(self.accepts, document.values[self.field]))

    def wordy(self, world: World) -> bool:
        return False

    def values_of(self, world: World) -> str | None:
        return self.field if self.value else None

    def weigh(self, world: World, weight: float) -> None:
        pass


@dataclass
class Weighted(Node):
    """An operand with a weight."""

    node: Node
    factor: float

    def written(self) -> str:
        return f"{operand(self.node)}^{self.factor:g}"

    def truth(self, world: World, document: Held, free: bool = False) -> bool | None:
        return self.node.truth(world, document, free)

    def wordy(self, world: World) -> bool:
        return self.node.wordy(world)

    def values_of(self, world: World) -> str | None:
        return self.node.values_of(world)

    def weigh(self, world: World, weight: float) -> None:
        self.node.weigh(world, weight * self.factor)


@dataclass
class Negated(Node):
    """NOT."""

    node: Node

    def written(self) -> str:
        return f"NOT {operand(self.node)}"

    def truth(self, world: World, document: Held, free: bool = False) -> bool | None:
        inner = self.node.truth(world, document)
        return None if inner is None else not inner

    def wordy(self, world: World) -> bool:
        return False

    def weigh(self, world: World, weight: float) -> None:
        pass


@dataclass
class Joined(Node):
    """AND or OR."""

    nodes: list[Node]
    operator: str

    def written(self) -> str:
        return f" {self.operator} ".join(map(self._operand, self.nodes))

    def _operand(self, node: Node) -> str:
        """NOT binds more closely than AND, AND more closely than OR."""
        closer = isinstance(node, Negated) or (
            isinstance(node, Joined) and (node.operator, self.operator) == ("AND", "OR")
        )
        return node.written() if closer else operand(node)

    def _parts(self, world: World) -> list[Node]:
        """The operands that are there: which ones are does not depend on the document."""
        return [node for node in self.nodes if is_there(node, world)]

    def truth(self, world: World, document: Held, free: bool = False) -> bool | None:
        known = [node.truth(world, document) for node in self._parts(world)]
        return (all if self.operator == "AND" else any)(known) if known else None

    def wordy(self, world: World) -> bool:
        return any(node.wordy(world) for node in self._parts(world))

    def values_of(self, world: World) -> str | None:
        names = {node.values_of(world) for node in self._parts(world)}
        return names.pop() if self.operator == "OR" and len(names) == 1 else None

    def weigh(self, world: World, weight: float) -> None:
        for node in self.nodes:
            node.weigh(world, weight)


@dataclass
class List(Node):
    """Items side by side: (sign, node)."""

    items: list[tuple[str, Node]]
    _remembered: Any = None

    def written(self) -> str:
        parts = []
        for i, (sign, node) in enumerate(self.items):
            bare = isinstance(node, Joined) and not sign and not (i and node.written().startswith("NOT"))
            text = node.written() if bare else operand(node)
            parts.append(sign + text)
        return " ".join(parts)

    def _sorted(self, world: World) -> tuple[list[Node], list[Node], list[Node], dict[str, list[Node]], bool]:
        """Required, excluded and other items, values of fields, whether a word is required; for all documents."""
        if self._remembered is None:
            self._remembered = self._items(world)
        return self._remembered

    def _items(self, world: World) -> Any:
        required, excluded, others, word_required = [], [], [], False
        values: dict[str, list[Node]] = {}
        for sign, node in self.items:
            if not is_there(node, world, free=not sign):
                continue
            weightless = isinstance(node, Weighted) and node.factor == 0.0
            if sign == "-":
                excluded.append(node)
            elif sign == "+":
                required.append(node)
                word_required |= node.wordy(world) and not weightless
            elif node.wordy(world):
                others += [] if weightless else [node]
            elif (name := node.values_of(world)) is not None:
                values.setdefault(name, []).append(node)
            else:
                required.append(node)
        return required, excluded, others, values, word_required

    def truth(self, world: World, document: Held, free: bool = False) -> bool | None:
        required, excluded, others, values, word_required = self._sorted(world)
        if not (required or excluded or others or values):
            return None
        return (
            all(node.truth(world, document) for node in required)
            and not any(node.truth(world, document) for node in excluded)
            and all(any(node.truth(world, document) for node in same) for same in values.values())
            and (word_required or not others or any(node.truth(world, document, True) for node in others))
        )

    def wordy(self, world: World) -> bool:
        _, _, others, _, word_required = self._sorted(world)
        return word_required or bool(others)

    def values_of(self, world: World) -> str | None:
        required, excluded, others, values, _ = self._sorted(world)
        return next(iter(values)) if len(values) == 1 and not (required or excluded or others) else None

    def weigh(self, world: World, weight: float) -> None:
        for sign, node in self.items:
            if sign != "-":
                node.weigh(world, weight)


NOBODY = Held("", {name: [] for name in TEXT_FIELDS}, {"year": [], "tags": [], "date": []})


def is_there(node: Node, world: World, free: bool = False) -> bool:
    return node.truth(world, NOBODY, free) is not None


def operand(node: Node) -> str:
    return f"({node.written()})" if isinstance(node, Joined | List | Negated) else node.written()


@cache
def distance(a: str, b: str) -> int:
    """Edits, neighbours exchanged counting one."""
    rows = {(i, j): max(i, j) for i in range(len(a) + 1) for j in range(len(b) + 1) if 0 in (i, j)}
    for i, j in product(range(1, len(a) + 1), range(1, len(b) + 1)):
        same = a[i - 1] == b[j - 1]
        rows[i, j] = min(rows[i - 1, j] + 1, rows[i, j - 1] + 1, rows[i - 1, j - 1] + (not same))
        if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
            rows[i, j] = min(rows[i, j], rows[i - 2, j - 2] + 1)
    return rows[len(a), len(b)]


# -- random trees ------------------------------------------------------------------------------------------------------

FILTERS = [
    *(Filter("tags", f'"{tag}"', lambda v, tag=tag: v.lower() == tag.lower()) for tag in TAGS),
    Filter("tags", "c*", lambda v: v.startswith("c")),
    *(Filter("year", str(year), lambda v, year=year: v == year) for year in YEARS[:3]),
    Filter("year", "(2018 OR 2020)", lambda v: v in (2018, 2020)),
    Filter("year", "2019..", lambda v: v in (2019, 2020), False),
    Filter("year", "<2020", lambda v: v in (2018, 2019), False),
    Filter("date", "2019", lambda v: v.startswith("2019")),
    Filter("date", "..2019-05", lambda v: v == "2019-03-01", False),
    Filter("date", ">2019-11", lambda v: v.startswith("2020"), False),
    Filter("date", "2020-02-03", lambda v: v == "2020/2/3"),
]


def random_leaf(rng: Random) -> Node:
    kind = rng.random()
    scope: Scope = rng.choice((TEXT_FIELDS, TEXT_FIELDS, TEXT_FIELDS, ("title",), ("text",)))
    if kind < 0.5:
        return Word(rng.choice((*WORDS, "x-ray", "heart-the-knee")), scope)
    if kind < 0.65:
        words = rng.choices([w for w in WORDS if ANALYZER.terms(w)], k=rng.randint(1, 3))
        if rng.random() < 0.3:
            words.insert(rng.randint(0, len(words)), "the")
        return Phrase(tuple(words), rng.choice((0, 0, 1, 2, 4)), scope, rng.random() < 0.3)
    if kind < 0.72:
        return Expanded(rng.choice(("card", "he", "heart", "knees", "q", "x")), 0, scope)
    if kind < 0.78:
        return Expanded(rng.choice(("haert", "kne", "mise", "attaks", "zebr")), rng.choice((1, 2)), scope)
    return rng.choice(FILTERS)


def random_node(rng: Random, depth: int) -> Node:
    kind = rng.random()
    if depth == 0 or kind < 0.4:
        leaf = random_leaf(rng)
        return (
            leaf
            if isinstance(leaf, Filter) or rng.random() < 0.75
            else Weighted(leaf, rng.choice((0.0, 0.5, 2.0, 3.25)))
        )
    if kind < 0.5:
        return Negated(random_node(rng, depth - 1))
    if kind < 0.75:
        nodes = [random_node(rng, depth - 1) for _ in range(rng.randint(2, 3))]
        return Joined(nodes, rng.choice(("AND", "OR")))
    group = random_list(rng, depth - 1)
    return Weighted(group, rng.choice((0.0, 0.5, 2.0))) if rng.random() < 0.3 else group


def random_list(rng: Random, depth: int) -> List:
    items = []
    for _ in range(rng.randint(1, 4)):
        sign, node = rng.choice(("", "", "", "+", "-")), random_node(rng, depth)
        if isinstance(node, Negated):  # NOT in a list is a minus
            sign, node = "-", node.node
        items.append((sign, node))
    return List(items)


# -- scores ------------------------------------------------------------------------------------------------------------


def literal_score(model: str, world: World, document: Held) -> float:
    """BM25 and the smoothed query likelihoods, as docs/notation.md has them, over raw counts."""
    own, n, total = document.counts, len(world.documents), world.totals
    length, tokens, score = own.total(), total.total(), 0.0
    for term, weight in world.weights.items():
        if not total[term] or weight == 0.0:
            continue
        p_C = total[term] / tokens
        if model == "dirichlet":
            score += weight * math.log((own[term] + 400 * p_C) / (length + 400))
        elif model == "jm":
            score += weight * math.log(0.3 * own[term] / max(length, 1) + 0.7 * p_C)
        else:
            df = sum(1 for each in world.documents if each.counts[term])
            idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
            score += weight * idf * own[term] * 3 / (own[term] + 2 * (0.25 + 0.75 * length / (tokens / n)))
    return score


LITERAL = ("bm25", "dirichlet", "jm")


@pytest.mark.parametrize("number", range(-(-CASES // QUERIES_OF_A_COLLECTION)))
def test_random_queries_over_random_collections(number: int, build, monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of the collections is searched over lists that are kept, a third over lists unpacked for each query, the
    rest without kernels."""
    rng = Random(f"language {number}")
    monkeypatch.setattr(Scorers, "_prunes", lambda _, __, terms: number % 3 != 2 and len(terms.numbers) > 0)
    if number % 3 == 1:
        monkeypatch.setattr(decoded, "LEAST_DOCS", 0)
    documents = [random_document(rng, i) for i in range(rng.randint(3, 18))]
    gone = rng.sample([d.id for d in documents], rng.choice((0, 0, 1, 2)))
    pieces = rng.choice((1, 3))
    engine: Engine = build(*(documents[i::pieces] for i in range(pieces)), delete=gone, analyzer=ANALYZER)
    live = [held(document) for document in documents if document.id not in gone]
    for _ in range(QUERIES_OF_A_COLLECTION):
        tree, world = random_list(rng, rng.randint(0, 3)), World(live, Counter())
        tree.weigh(world, 1.0)
        query = tree.written()
        expected = {document.id for document in live if tree.truth(world, document)}
        model = rng.choice((*LITERAL, *MODEL_NAMES))
        result = engine.search(query, 100, model=model)
        assert set(result.ids) == expected, (query, number)
        scores = result.scores.tolist()
        assert sorted(zip((-s for s in scores), result.ids, strict=True)) == list(
            zip((-s for s in scores), result.ids, strict=True)
        ), (query, number)
        known = any(weight for term, weight in world.weights.items() if term in world.terms)
        for document in live if model in LITERAL else ():
            if document.id in expected:
                score = scores[result.ids.index(document.id)]
                assert score == pytest.approx(literal_score(model, world, document), rel=1e-9, abs=1e-9), query
        if known and expected:
            some = rng.choice(sorted(expected))
            assert engine.explain(query, some, model=model).score == scores[result.ids.index(some)], query
        assert engine.search(query, 2, model=model).ids == result.ids[:2], query


def test_precedence(build) -> None:
    """NOT before AND before OR before the list, on all documents over three words."""
    words = ("heart", "knee", "mice")
    documents = [
        Document("".join(own) or "-", {"text": " ".join(own)})
        for n in range(4)
        for own in permutations(words, n)
        if list(own) == sorted(own)
    ]
    engine = build(documents)

    def found(query: str) -> set[str]:
        return set(engine.search(query, 100).ids)

    def where(test: Callable[[bool, bool, bool], bool]) -> set[str]:
        return {d.id for d in documents if test(*(word in d.id for word in words))}

    assert found("heart AND knee OR mice") == where(lambda h, k, m: (h and k) or m)
    assert found("heart OR knee AND mice") == where(lambda h, k, m: h or (k and m))
    assert found("(heart OR knee) AND mice") == where(lambda h, k, m: (h or k) and m)
    assert found("NOT heart AND knee") == where(lambda h, k, m: not h and k)
    assert found("NOT (heart AND knee)") == where(lambda h, k, m: not (h and k))
    assert found("heart OR NOT knee") == where(lambda h, k, m: h or not k)
    assert found("heart knee AND mice") == where(lambda h, k, m: h or (k and m))
    assert found("+heart knee OR mice") == where(lambda h, k, m: h)
    assert found("heart OR knee NOT mice") == where(lambda h, k, m: (h or k) and not m)
    assert found("NOT NOT heart") == where(lambda h, k, m: h)


@pytest.mark.parametrize("model", MODEL_NAMES)
def test_a_conjunction_by_scoring_all_that_hold_its_words(model: str, build, monkeypatch: pytest.MonkeyPatch) -> None:
    """By both scorers."""
    monkeypatch.setattr(Scorers, "_prunes", lambda _, __, terms: len(terms.numbers) > 0)
    monkeypatch.setattr(decoded, "LEAST_DOCS", 0)
    engine: Engine = build([Document(f"d{i}", {"text": "a " * (1 + i % 5) + "b c " * (i % 7)}) for i in range(60)])
    found = engine.search("a AND b", 20, model=model)
    monkeypatch.setattr(Scorers, "_prunes", lambda *_: False)
    again = engine.search("a AND b", 20, model=model)
    assert (again.ids, again.scores.tolist()) == (found.ids, found.scores.tolist())
