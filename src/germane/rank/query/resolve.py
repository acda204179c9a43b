"""What a query means: a topic model, which orders documents, and a condition, which says which are found.

Structure decides membership, the model decides order. A document is found if the query's formula is true of it; its
score is that of the model over the weighted words, wherever in the query they stand; those under NOT have no weight.

- A word is true of a document that holds its term; a phrase, a prefix, a fuzzy word, a field's word or value likewise.
- AND, OR and NOT are those of logic.
- A list is true of a document of which all its required items are true and none of its excluded ones and, where
  no word is required, one of the others at least. `+` requires; `-` and NOT exclude; filters are required, but several
  values of one field are alternatives. An item of weight 0 that is not required is as if it were not written.
- A word that the analyser cuts into several terms (`x-ray`) is true where all of them are; in a list, without a sign,
  they are items of their own. A word of no terms (a stop word) is as if it were not written.
- Where the analyser has synonyms, plain words side by side in a list, without signs and weights, are read as one text.

The grammar is in `rank.query.grammar`, the conditions in `rank.query.conditions`, told in docs/queries.md.
"""

import difflib
import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Collection as Names
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, Protocol, TypeAlias, TypeGuard

from germane.deadline import look
from germane.errors import QueryError
from germane.rank.query.conditions import And, Condition, HoldsAny, Not, Phrase, both, either, true_without
from germane.rank.query.expansion import Expanded
from germane.rank.query.filters import FieldFilter, StartsWith, parse_filter
from germane.rank.query.grammar import (
    MAX_WEIGHT,
    Both,
    Either,
    Item,
    List,
    Negated,
    Node,
    Quoted,
    Scoped,
    Weighted,
    Word,
    parse_tree,
)
from germane.rank.query.tags import fields_of, is_date_tag, is_unsearched
from germane.rank.retriever import Retriever
from germane.rank.scoring.statistics import Need
from germane.text import Analyzer, tokenize

MAX_CONDITIONS = 10_000
"""Words and filters that decide membership, each of which looks at every document."""
MAX_EXPANSION = 500
"""Expanded that a prefix or a fuzzy word may stand for."""
MAX_EXPANSIONS = 10_000
"""Different prefixes, fuzzy words and phrases with moves in one query. A fuzzy word counts for `FUZZY` of them: it
looks at all terms, where a prefix looks at those that begin so."""
FUZZY = 16
MAX_EDITS = 2
WORD_CACHE = 1 << 16
_STAR = re.compile(r"[^\W\d_]\*|\*[^\W\d_]")
_PREFIX = re.compile(r"([\w'’-]*\w)\*[.,;:!?]*")
_FUZZY = re.compile(r"([^\W\d_][\w'’-]*)~(\d?)[.,;:!?]*")
_IDENTIFIERS = frozenset(
    {"http", "https", "ftp", "mailto", "urn", "doi", "hdl", "pmid", "pmcid", "isbn", "issn", "arxiv", "orcid"}
)
"""What often stands before a colon and is no field, unless the index has a field of that name."""
AND_IN_A_LIST = (
    "AND joins the two words beside it, not all words on either side: parentheses say what belongs together, as in "
    "(heart attack) AND aspirin"
)
"""What is told of a list in which there is an AND."""


class Expander(Protocol):
    """Knows the terms of a collection: `rank.query.expansion.SnapshotVocabulary`."""

    def starting_with(self, prefix: str, most: int, also: Iterable[str] = ()) -> Expanded: ...

    def within(self, term: str, edits: int, most: int) -> Expanded: ...


class Searchable(NamedTuple):
    """What queries can name: fields to filter on, text fields, filters that hold numbers only; and the terms."""

    filters: Names[str] = frozenset()
    texts: tuple[str, ...] = ()
    numeric: Names[str] = frozenset()
    vocabulary: Expander | None = None


NOTHING_NAMED = Searchable()


class _Vocabulary(NamedTuple):
    """The terms of a collection, as the reader of a query looks them up."""

    retriever: Retriever

    def starting_with(self, prefix: str, most: int, also: Iterable[str] = ()) -> Expanded:
        return self.retriever.expand(prefix, most, tuple(also))

    def within(self, term: str, edits: int, most: int) -> Expanded:
        return self.retriever.expand(term, most, edits=edits)


def searchable_in(retriever: Retriever) -> Searchable:
    """What queries of this collection can name."""
    schema = retriever.schema()
    return Searchable(schema.filters, schema.text_fields, schema.numeric, _Vocabulary(retriever))


class ParsedQuery(NamedTuple):
    """What a query asks: a topic model (term -> weight), a condition, the typed words, and what is to be told of it.

    `condition` is what a document must satisfy beside holding one of the weighted terms; None: nothing. With
    `wordless` it need not hold one. `notes`: sentences on how the query was read. `runs`: the terms that stand one
    after the other, in a list of words or in a phrase; operators, signs, fields and filters end a run. `demanded`: a
    required word that a search by words finds anyway (`+heart` alone), of which `condition` is silent.
    """

    weights: Mapping[str, float]
    condition: Condition | None = None
    wordless: bool = False
    words: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    runs: tuple[tuple[str, ...], ...] = ()
    demanded: Condition | None = None

    @property
    def demands(self) -> tuple[Condition, ...]:
        """What documents must satisfy that are found otherwise than by the weighted words: by vectors, or a model."""
        return self.conditions if self.demanded is None else (*self.conditions, self.demanded)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The same as conditions that must all be satisfied."""
        if self.condition is None:
            return ()
        return self.condition.parts if isinstance(self.condition, And) else (self.condition,)


def plain(text: str, analyzer: Analyzer) -> ParsedQuery:
    """A text as a query: every term weighs as often as it occurs (the empirical topic model times |Q|)."""
    terms = analyzer.terms(text)
    return ParsedQuery(_counted(terms), runs=_one_run(terms))


def _counted(terms: Sequence[str]) -> dict[str, float]:
    """How often each term is there."""
    weights = dict.fromkeys(terms, 1.0)
    if len(weights) < len(terms):
        return {term: float(count) for term, count in Counter(terms).items()}
    return weights


def strongest(weights: Mapping[str, float], n: int, retriever: Retriever) -> dict[str, float]:
    """Return the n terms with the largest weight · log(|C|/cf) that the collection holds."""
    known = retriever.statistics(Need(tuple(weights)))
    held = [(term, weight) for term, weight in weights.items() if weight > 0.0 and known.terms[term].df > 0]
    held.sort(key=lambda own: (-own[1] * math.log(known.n_tokens / known.terms[own[0]].cf), own[0]))
    return dict(held[:n])


def parse(
    text: str, analyzer: Analyzer, searchable: Searchable = NOTHING_NAMED, *, max_expansions: int = MAX_EXPANSIONS
) -> ParsedQuery:
    """Read a query. `max_expansions`: how many different prefixes, fuzzy words and phrases with moves it may have."""
    return _Reader(text, analyzer, searchable, max_expansions).read()


def _one_run(terms: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return (tuple(terms),) if terms else ()


@lru_cache(maxsize=8)
def _remembering(analyzer: Analyzer) -> Callable[[str], list[str]]:
    """The terms of one item, remembered: queries repeat their words."""
    return lru_cache(maxsize=WORD_CACHE)(analyzer.terms)


class _Part(NamedTuple):
    """A condition, and whether it asks for words; one that does not is a filter.

    `values_of`: the field, where it asks for one of some values of one field. `demands`: of a list, whether one of its
    words is required.
    """

    condition: Condition
    wordy: bool
    values_of: str | None = None
    demands: bool = False


class _Place(NamedTuple):
    """Where a node stands: what it weighs, whether it scores, in which fields (None: anywhere), if freely in a list."""

    weight: float = 1.0
    scores: bool = True
    scope: tuple[str, ...] | None = None
    dates: bool = False
    free: bool = False


_Read: TypeAlias = _Part | None
"""None for what is as if it were not written."""


class _Reader:
    """One pass over the tree of a query."""

    def __init__(
        self, text: str, analyzer: Analyzer, searchable: Searchable, max_expansions: int = MAX_EXPANSIONS
    ) -> None:
        self._text, self._searchable = text, searchable
        self._analyzer, self._terms_of = analyzer, _remembering(analyzer)
        self._weights: dict[str, float] = {}
        self._words: list[str] = []
        self._notes: list[str] = []
        self._runs: list[list[str]] = [[]]
        self._n_conditions = 0
        self._max_expansions, self._n_expansions = max_expansions, 0
        self._expansions: dict[Hashable, Expanded] = {}
        """What prefixes and fuzzy words stand for, each looked up once; phrases with moves are counted among them."""

    def read(self) -> ParsedQuery:
        tree = parse_tree(self._text, self._is_field, self._is_tag)
        if all(not sign and _is_plain(node) for sign, node in tree.items):
            return self._words_alone(tree)
        found = self._list(tree, _Place())
        if self._n_conditions > MAX_CONDITIONS:
            raise QueryError(
                f"{self._n_conditions:,} conditions (+word, -word, field:value), where {MAX_CONDITIONS:,} can be asked"
            )
        words, notes = tuple(self._words), tuple(dict.fromkeys(self._notes))
        runs = tuple(tuple(run) for run in self._runs if run)
        if found is None:
            return ParsedQuery(self._weights, words=words, notes=notes, runs=runs)
        scoring = frozenset(term for term, weight in self._weights.items() if weight > 0.0)
        wordless = true_without(found.condition, scoring)
        parts = found.condition.parts if isinstance(found.condition, And) else (found.condition,)
        implied: tuple[Condition, ...] = ()
        if not wordless:  # then a document holds one of the words anyway
            implied = tuple(part for part in parts if _is_any_of(part, scoring))
            parts = tuple(part for part in parts if part not in implied)
        demanded = both(implied) if implied and found.demands else None
        return ParsedQuery(self._weights, both(parts) if parts else None, wordless, words, notes, runs, demanded)

    def _words_alone(self, tree: List) -> ParsedQuery:
        """A list of plain words, which order documents and demand nothing of them."""
        texts = [node.text for _, node in self._side_by_side(tree.items, _Place()) if isinstance(node, Word)]
        terms = [*chain.from_iterable(map(self._terms_of, texts))]
        words = tuple(chain.from_iterable(map(str.split, texts)))
        return ParsedQuery(_counted(terms), words=words, runs=_one_run(terms))

    def _error(self, message: str, at: int, *, field: str | None = None) -> QueryError:
        return QueryError.at_place(message, self._text, at, field=field)

    # -- structure ---------------------------------------------------------------------------------------------------

    def _node(self, node: Node, place: _Place) -> _Read:
        match node:
            case Word():
                return self._word(node, place)
            case Quoted():
                return self._quoted(node, place)
            case Scoped():
                return self._scoped(node, place)
            case Weighted():
                return self._weighted(node, place)
            case List():
                return self._list(node, place)
            case Negated(inner):
                found = self._node(inner, place._replace(scores=False, free=False))
                return None if found is None else _Part(Not(found.condition), False)
            case Both(nodes) | Either(nodes):
                parts = [part for inner in nodes if (part := self._node(inner, place._replace(free=False))) is not None]
                if not parts:
                    return None
                conditions, wordy = [part.condition for part in parts], any(part.wordy for part in parts)
                if isinstance(node, Both):
                    return _Part(both(conditions), wordy)
                names = {part.values_of for part in parts}
                return _Part(either(conditions), wordy, names.pop() if len(names) == 1 else None)

    def _weighted(self, node: Weighted, place: _Place) -> _Read:
        weight = place.weight * node.weight
        if weight > MAX_WEIGHT:
            raise self._error(f"weights multiply to {weight:g}, where {MAX_WEIGHT:g} is the most", node.at)
        found = self._node(node.node, place._replace(weight=weight))
        if found is not None and not found.wordy and isinstance(node.node, Scoped):
            raise self._error("a filter has no weight: it passes a document or does not", node.at)
        return found

    def _list(self, node: List, place: _Place) -> _Read:
        required: list[_Part] = []
        optional: list[Condition] = []
        values: dict[str, list[Condition]] = {}
        self._runs.append([])
        for sign, item in self._side_by_side(node.items, place):
            weightless = isinstance(item, Weighted) and item.weight == 0.0
            goes_on = not sign and isinstance(item.node if isinstance(item, Weighted) else item, Word)
            self._runs += [] if goes_on else [[]]
            found = self._node(item, place._replace(free=not sign, scores=place.scores and sign != "-"))
            self._runs += [] if goes_on else [[]]
            if found is None:
                continue
            if sign == "-":
                required.append(_Part(Not(found.condition), False))
            elif sign == "+":
                required.append(_Part(found.condition, found.wordy and not weightless))
            elif found.wordy and not weightless:
                optional.append(found.condition)
            elif not found.wordy and found.values_of is not None:
                values.setdefault(found.values_of, []).append(found.condition)
            elif not found.wordy:
                required.append(found)
        self._runs.append([])
        if len(node.items) > 1 and any(isinstance(item, Both) for _, item in node.items):
            self._notes.append(AND_IN_A_LIST)
        conditions = [part.condition for part in required] + [either(same) for same in values.values()]
        word_required = any(part.wordy for part in required)
        if optional and not word_required:
            conditions.append(either(optional))
        if not conditions:
            return None
        alone = next(iter(values)) if len(values) == len(conditions) == 1 else None
        return _Part(both(conditions), word_required or bool(optional), alone, word_required)

    def _side_by_side(self, items: Sequence[Item], place: _Place) -> Sequence[Item]:
        """The items; where there are synonyms, plain words side by side are one text, as they are in a document."""
        in_text = place.scope is None or all(name in self._searchable.texts for name in place.scope)
        if self._analyzer.synonyms is None or not in_text:
            return items
        joined: list[Item] = []
        for sign, node in items:
            before = joined[-1].node if joined and not joined[-1].sign else None
            if not sign and _is_plain(node) and _is_plain(before):
                joined[-1] = Item("", Word(f"{before.text} {node.text}", before.at))
            else:
                joined.append(Item(sign, node))
        return joined

    # -- fields ------------------------------------------------------------------------------------------------------

    def _is_field(self, name: str, value: str, at: int) -> bool:
        """Whether `name:value` names a field. An address, a time, an identifier is a word, a misspelt name an error."""
        if name in self._searchable.filters or name in self._searchable.texts:
            return True
        if value.startswith(("//", ":")) or not (name[:1].isalpha() or name[:1] == "_"):
            return False
        if name.casefold() in _IDENTIFIERS or (name.isupper() and value[:1].isdigit()):
            return False
        known = sorted({*self._searchable.filters, *self._searchable.texts})
        near = difflib.get_close_matches(name.casefold(), known, 1)
        meant = f"; did you mean '{near[0]}'?" if near else ""
        fields = f"(fields: {', '.join(known) or 'none'}; a text with a colon goes in quotation marks)"
        raise self._error(f"there is no field '{name}' to search or to filter on{meant} {fields}", at, field=name)

    def _is_tag(self, tag: str, at: int) -> bool:
        if is_unsearched(tag):
            raise self._error(f"there is no field for the tag [{tag}]", at)
        return fields_of(tag) is not None

    def _scoped(self, node: Scoped, place: _Place) -> _Read:
        if not node.tag:
            return self._node(node.node, place._replace(scope=(node.name,), dates=False))
        names = fields_of(node.name)
        if not names:  # the whole document
            return self._node(node.node, place)
        scope = tuple(name for name in names if name in self._searchable.texts or name in self._searchable.filters)
        if not scope:
            raise self._error(f"[{node.name}] is the field {' or '.join(names)}, which the index lacks", node.at)
        return self._node(node.node, place._replace(scope=scope, dates=is_date_tag(node.name)))

    def _in_scope(self, text: str, at: int, place: _Place, words: Callable[[str | None], Condition | None]) -> _Read:
        """The text as a value of the filters in the scope, or as words (`words`: their condition in a field)."""
        if place.scope is None:
            condition = words(None)
            self._n_conditions += condition is not None and not place.free
            return None if condition is None else _Part(condition, True)
        conditions: list[Condition] = []
        values_of: list[str | None] = []
        wordy = False
        for name in place.scope:
            if name not in self._searchable.texts:
                conditions.append(made := self._filter(name, text, at, place))
                values_of.append(None if isinstance(made, FieldFilter) and not made.is_value else name)
            elif (condition := words(name)) is not None:
                conditions.append(condition)
                wordy = True
        self._n_conditions += len(conditions)
        alone = values_of[0] if len(values_of) == 1 and not wordy else None
        return _Part(either(conditions), wordy, alone) if conditions else None

    def _filter(self, name: str, text: str, at: int, place: _Place) -> FieldFilter | StartsWith:
        numeric = name in self._searchable.numeric
        if place.dates:
            text = "..".join(_date_bound(bound, numeric) for bound in text.split(":"))
        if text.endswith("*") and len(text) > 1:
            return StartsWith(name, text[:-1])
        try:
            made = parse_filter(name, text)
        except QueryError as error:
            raise self._error(error.message, at, field=name) from None
        if numeric and (wrong := made.wrong_number()) is not None:
            raise self._error(f"the field holds numbers, '{wrong}' is none", at, field=name)
        return made

    # -- words -------------------------------------------------------------------------------------------------------

    def _word(self, node: Word, place: _Place) -> _Read:
        return self._in_scope(node.text, node.at, place, self._once(lambda: self._asked(node, place)))

    def _asked(self, node: Word, place: _Place) -> "_Asked":
        """The terms of a word, as a prefix or a fuzzy word if it is one."""
        text = node.text
        if "*" in text and "://" not in text:
            if (prefix := _PREFIX.fullmatch(text)) is not None:
                return self._prefix(prefix[1], node, place)
            if not text.strip("*"):
                raise self._error("a * needs the beginning of a word before it, as in cardio*", node.at)
            if _STAR.search(text) is not None:
                raise self._error("a * stands at the end of a word only, as in cardio*", node.at)
        if "~" in text and (fuzzy := _FUZZY.fullmatch(text)) is not None:
            return self._fuzzy(fuzzy[1], fuzzy[2], node, place)
        terms = self._terms_of(text)
        if place.scores:
            self._words += text.split()
            self._weigh(terms, place)
            self._follow(terms, place)
        return _Asked(tuple(terms), all=not place.free)

    def _prefix(self, typed: str, node: Word, place: _Place) -> "_Asked":
        tokens = tokenize(typed)
        if len(tokens) != 1:
            raise self._error(f"a * follows one word, not {len(tokens)}", node.at)
        own = self._analyzer.term_of(tokens[0])
        also = () if own is None else (own,)
        expander = self._expander(node)
        found = self._once_each(
            ("prefix", tokens[0]), node.at, lambda: expander.starting_with(tokens[0], MAX_EXPANSION, also)
        )
        return self._expanded(found, f"begin with '{typed}'", node, place)

    def _fuzzy(self, typed: str, edits: str, node: Word, place: _Place) -> "_Asked":
        if not edits or not 1 <= int(edits) <= MAX_EDITS:
            raise self._error(f"the number of edits is from 1 to {MAX_EDITS}, as in {typed}~1", node.at)
        terms = self._terms_of(typed)
        if len(terms) != 1:
            what = "a stop word" if not terms else "more than one word"
            raise self._error(f"'{typed}' is {what}: edits are counted in one word that is searched", node.at)
        expander = self._expander(node)
        found = self._once_each(
            ("fuzzy", terms[0], edits), node.at, lambda: expander.within(terms[0], int(edits), MAX_EXPANSION), FUZZY
        )
        return self._expanded(found, f"are like '{typed}'", node, place)

    def _once_each(self, part: Hashable, at: int, find: Callable[[], Expanded], cost: int = 1) -> Expanded:
        """What a part stands for, looked up once in a query that repeats it."""
        found = self._expansions.get(part)
        if found is None:
            self._n_expansions += cost
            if self._n_expansions > self._max_expansions:
                raise self._error(
                    f"the query has more than {self._max_expansions:,} different prefixes (cardio*), fuzzy words "
                    f'(heart~1, each counted {FUZZY} times) and phrases with moves ("heart attack"~3): ask in parts',
                    at,
                )
            look()
            found = self._expansions[part] = find()
        return found

    def _expander(self, node: Word) -> Expander:
        if self._searchable.vocabulary is None:
            raise self._error("the words of an index are needed here", node.at)
        return self._searchable.vocabulary

    def _expanded(self, found: Expanded, how: str, node: Word, place: _Place) -> "_Asked":
        if found.total > MAX_EXPANSION:
            many = f"{found.total:,} words of the index {how}"
            if not place.scores:
                raise self._error(f"{many}, where {MAX_EXPANSION} can be excluded", node.at)
            self._notes.append(f"{many}: the {MAX_EXPANSION} in most documents are searched")
        if place.scores:
            self._weigh(found.terms, place)
        self._runs.append([])
        return _Asked(found.terms, all=False, wanted=True)

    def _quoted(self, node: Quoted, place: _Place) -> _Read:
        return self._in_scope(node.text, node.at, place, self._once(lambda: self._phrase(node, place)))

    def _phrase(self, node: Quoted, place: _Place) -> "_Asked":
        if _STAR.search(node.text) is not None:
            raise self._error("a phrase is of whole words: there is no * in it", node.at)
        terms = self._terms_of(node.text)
        if not terms:
            found = tokenize(node.text)
            only = f"only stop words ({' '.join(found[:5])}), and those are not searched" if found else "nothing"
            raise self._error(f"between the quotation marks there is {only}", node.at)
        if node.slop and len(terms) > 1:
            self._once_each(("phrase", *terms, node.slop), node.at, lambda: Expanded((), (), 0))
        if place.scores:
            self._words.append(node.text)
            self._weigh(terms, place)
            self._runs += [list(terms), []]
        return _Asked(tuple(terms), all=True, slop=node.slop)

    def _weigh(self, terms: Iterable[str], place: _Place) -> None:
        for term in terms:
            self._weights[term] = self._weights.get(term, 0.0) + place.weight

    def _follow(self, terms: Sequence[str], place: _Place) -> None:
        """The terms of a word go on with the run of its list, or are one of their own."""
        if place.free:
            self._runs[-1] += terms
        else:
            self._runs += [[*terms], []]

    @staticmethod
    def _once(make: Callable[[], "_Asked"]) -> Callable[[str | None], Condition | None]:
        """The condition of what is asked for, in any field; made and weighed once, and not at all for filters."""
        made = lru_cache(maxsize=1)(make)
        return lambda name: made().condition(name)


class _Asked(NamedTuple):
    """Expanded that are asked for: all of them or any, or as a phrase where there is a slop."""

    terms: tuple[str, ...]
    all: bool
    slop: int | None = None
    wanted: bool = False
    """Something was asked for even if there are no terms: then no document has it."""

    def condition(self, name: str | None) -> Condition | None:
        if not self.terms:
            return HoldsAny((), name) if self.wanted else None
        if self.slop is not None and len(self.terms) > 1:
            return Phrase(self.terms, self.slop, name)
        if self.all:
            return both(HoldsAny((term,), name) for term in self.terms)
        return HoldsAny(tuple(dict.fromkeys(self.terms)), name)


def _is_plain(node: Node | None) -> TypeGuard[Word]:
    """Whether it is a word as texts have them: no prefix, no fuzzy word."""
    return isinstance(node, Word) and not {"*", "~"} & set(node.text)


def _is_any_of(condition: Condition, terms: frozenset[str]) -> bool:
    return isinstance(condition, HoldsAny) and condition.field is None and terms.issubset(condition.terms)


def _date_bound(bound: str, numeric: bool) -> str:
    """A date behind which `[dp]` stands; a field that holds years is compared with its year."""
    return bound[:4] if numeric else bound
