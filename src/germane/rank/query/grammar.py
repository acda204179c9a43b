"""The grammar of the query language: from a text to a tree. What the tree means is for `rank.query.resolve` to say.

    query    = item+                                 a list; OR binds more closely than a list, AND more closely than OR
    item     = ["+" | "-"] operand | or
    or       = and ("OR" and)*
    and      = not ("AND" not)*
    not      = "NOT" not | operand
    operand  = ( "(" query ")" | [field ":"] (word | phrase | "(" query ")") ) ("^" weight | "[" tag "]")*
    phrase   = '"' words '"' ["~" moves]             a field is a name, or a name in quotation marks

A sign is one only where it can mean something: `+` and `-` before a word, a parenthesis where a word begins, a colon
behind the name of a field, AND, OR and NOT in capitals. Elsewhere it is part of a word, as in `C++`, `10:30`, `f(x)`,
`(-)-catechin`, `12" disk`, `:-)` or `10.1002/(SICI)1097-4571`. What cannot be read is a `QueryError` that says where.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from germane.errors import QueryError

MAX_WEIGHT = 1e6
MAX_DEPTH = 50
"""Groups and negations within one another."""
MAX_SLOP = 1_000_000

FieldTest: TypeAlias = Callable[[str, str, int], bool]
"""Whether (name, what follows the colon, where) is a field with its value; a misspelt one may be an error."""
TagTest: TypeAlias = Callable[[str, int], bool]
"""Whether (the text in square brackets, where) is a tag."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word as it was typed."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Quoted:
    """What stood between quotation marks, and how many moves are allowed."""

    text: str
    slop: int
    at: int


@dataclass(frozen=True, slots=True)
class Scoped:
    """What is looked for in a field (`name:...`) or behind a tag (`...[name]`)."""

    name: str
    tag: bool
    node: "Node"
    at: int


@dataclass(frozen=True, slots=True)
class Weighted:
    """An operand and its weight."""

    node: "Node"
    weight: float
    at: int


@dataclass(frozen=True, slots=True)
class Negated:
    """NOT."""

    node: "Node"
    at: int


@dataclass(frozen=True, slots=True)
class Both:
    """AND of two and more."""

    nodes: tuple["Node", ...]
    at: int


@dataclass(frozen=True, slots=True)
class Either:
    """OR of two and more."""

    nodes: tuple["Node", ...]
    at: int


class Item(NamedTuple):
    """One item of a list with its sign."""

    sign: Literal["", "+", "-"]
    node: "Node"


@dataclass(frozen=True, slots=True)
class List:
    """Items side by side."""

    items: tuple[Item, ...]
    at: int


Node: TypeAlias = Word | Quoted | Scoped | Weighted | Negated | Both | Either | List

_Kind: TypeAlias = Literal["word", "quoted", "(", ")", "AND", "OR", "NOT", "+", "-", "field", "tag", "^", "~", "end"]
_OPERATORS = frozenset({"AND", "OR", "NOT"})


class _Token(NamedTuple):
    kind: _Kind
    text: str
    at: int


_PLAIN = re.compile(r"""[^\s"()^\[:]+""")
"""Characters of a word that mean nothing inside of it."""
_NAME = re.compile(r"\w[\w.-]*")
_TAG = re.compile(r"\[([^\[\]\"]*)\](?!\w)")
_WEIGHT = re.compile(r"""\^([^\s"()\[]*)""")
_SLOP = re.compile(r"~(\d*)")
_SPACE, _UNSPACED = re.compile(r"\s+"), re.compile(r"\S+")
_SIGN = re.compile(r"""["“()^:\[]|(?:^|\s)[+-]\S|(?:^|\s)(?:AND|OR|NOT)(?:\s|$)""")
"""Without any of these a query is a list of words, and needs no tokens."""
_QUOTES = {'"': re.compile(r'"([^"]*)"'), "“": re.compile("“([^“”]*)”")}


class _Lexer:
    """Cuts a query into tokens."""

    def __init__(self, text: str, is_field: FieldTest, is_tag: TagTest) -> None:
        self.text, self.is_field, self.is_tag = text, is_field, is_tag
        self.tokens: list[_Token] = []
        self._open: list[tuple[int, int]] = []  # where "(" stands, and how many tokens there were; -1 for a group
        self._at = 0

    def tokenise(self) -> list[_Token]:
        text, n = self.text, len(self.text)
        free = True  # whether a sign may stand here: behind white space, a parenthesis that opens, or at the start
        while self._at < n:
            if (space := _SPACE.match(text, self._at)) is not None:
                self._at, free = space.end(), True
                continue
            at, char = self._at, text[self._at]
            if char == "(":
                self._open.append((at, -1))
                self._add("(", char)
                free = True
                continue
            if char == ")":
                self._close()
            elif char in _QUOTES and (quoted := _QUOTES[char].match(text, at)) is not None:
                self._quoted(quoted)
            elif char == '"':
                raise self.error("the quotation mark is not closed", at)
            elif char in "+-" and free and at + 1 < n and not text[at + 1].isspace() and text[at + 1] != ")":
                self._add("+" if char == "+" else "-", char)
            elif (
                char == "^" and self.tokens and self.tokens[-1].kind in (")", "quoted", "word", "tag", "~") and not free
            ):
                found = _WEIGHT.match(text, at)
                assert found is not None
                self._add("^", found[1], len(found[0]))
            elif char == "[" and self._tag(at):
                pass
            else:
                self._word(free)
            free = False
        for at, n_tokens in self._open:
            if n_tokens < 0:
                raise self.error("the parenthesis is not closed", at)
        self.tokens.append(_Token("end", "", n))
        return self.tokens

    def error(self, message: str, at: int, *, field: str | None = None) -> QueryError:
        return QueryError.at_place(message, self.text, at, field=field)

    def _add(self, kind: _Kind, content: str, length: int = 1) -> None:
        self.tokens.append(_Token(kind, content, self._at))
        self._at += length

    def _close(self) -> None:
        if not self._open:
            raise self.error("the parenthesis was not opened", self._at)
        opened, n_tokens = self._open.pop()
        if n_tokens < 0:
            self._add(")", ")")
            return
        self._inside_a_word(opened, n_tokens)
        self._at += 1

    def _inside_a_word(self, opened: int, n_tokens: int) -> None:
        """A parenthesis that began inside a word is text; with an operator in it, it was meant as a group."""
        if any(token.kind in _OPERATORS for token in self.tokens[n_tokens:]):
            raise self.error("a space is missing before the parenthesis", opened)

    def _quoted(self, found: re.Match[str]) -> None:
        text, content, at = self.text, found[1], self._at
        end = found.end()
        value = text[end + 1 : end + 2]
        if text[end : end + 1] == ":" and value.strip() and self.is_field(content, _rest(text, end + 1), at):
            self._add("field", content, end + 1 - at)
            self._value()
            return
        self._add("quoted", content, end - at)
        if (slop := _SLOP.match(text, end)) is not None:
            if not slop[1]:
                raise self.error("a number of moves is missing, as in 'heart attack'~3", end)
            self._add("~", slop[1], len(slop[0]))

    def _tag(self, at: int) -> bool:
        found = _TAG.match(self.text, at)
        if found is None or not self.tokens or self.tokens[-1].kind not in ("word", "quoted", ")", "^", "~"):
            return False
        if not self.is_tag(found[1], at):
            return False
        self._add("tag", found[1], len(found[0]))
        return True

    def _word(self, free: bool) -> None:
        """A word up to white space, a quotation mark, a weight, a tag, or the end of the group it is in."""
        text, begin, n = self.text, self._at, len(self.text)
        at, depth, colon = begin, len(self._open), False
        while at < n:
            if (run := _PLAIN.match(text, at)) is not None:
                at = run.end()
                continue
            char = text[at]
            if char == "(":
                if free and text[begin:at] in _OPERATORS:
                    break
                self._open.append((at, len(self.tokens)))
            elif char == ")":
                if len(self._open) <= depth and not self._is_face(begin, at):
                    break
                if len(self._open) > depth:
                    self._open.pop()
            elif char == '"' and at > begin and self._is_inch(at):
                pass
            elif char == ":":
                if not colon and self._field(begin, at):
                    return
                colon = True
            elif char == "[":
                found = _TAG.match(text, at)
                if found is not None and at > begin and self.is_tag(found[1], at):
                    break
            elif char != "^" or text[begin:at].strip("^"):  # white space, a quotation mark, a weight
                break
            at += 1
        word = text[begin:at]
        signed = bool(self.tokens) and self.tokens[-1].kind in ("+", "-") and self.tokens[-1].at == begin - 1
        if word in _OPERATORS and (free or signed) and (at == n or text[at].isspace() or text[at] in "()"):
            self._add("AND" if word == "AND" else "OR" if word == "OR" else "NOT", word, len(word))
        else:
            self._add("word", word, len(word))

    def _is_inch(self, at: int) -> bool:
        """Whether a quotation mark is a sign of inches or seconds: behind a digit, and nothing follows it directly."""
        return self.text[at - 1].isdigit() and not self.text[at + 1 : at + 2].strip(" \t\r\n)")

    def _is_face(self, begin: int, at: int) -> bool:
        """Whether a parenthesis that nothing opened ends a word of signs alone, as in :-): it cannot close a group."""
        signs = self.text[begin:at]
        return bool(signs) and not self._open and not any(map(str.isalnum, signs)) and not _rest(self.text, at + 1)

    def _field(self, begin: int, colon: int) -> bool:
        """Whether the word up to the colon is the name of a field; then its value is read."""
        text, name = self.text, self.text[begin:colon]
        value = text[colon + 1 : colon + 2]
        if _NAME.fullmatch(name) is None or not value.strip() or value == ")":
            return False
        if not self.is_field(name, _rest(text, colon + 1), begin):
            return False
        self._add("field", name, colon + 1 - begin)
        self._value()
        return True

    def _value(self) -> None:
        """What stands behind a field's colon, if it is a word: signs at its beginning belong to it."""
        char = self.text[self._at]
        if char in "[{":
            raise self.error("a range is written with two full stops, as in year:2010..2015", self._at)
        if char not in '("“':
            begin, depth = self._at, len(self._open)
            at, n = begin, len(self.text)
            while at < n and not self.text[at].isspace() and self.text[at] not in '"^':
                if self.text[at] == "(":
                    self._open.append((at, len(self.tokens)))
                elif self.text[at] == ")":
                    if len(self._open) <= depth:
                        break
                    self._open.pop()
                at += 1
            self._add("word", self.text[begin:at], at - begin)


def _rest(text: str, at: int) -> str:
    """The text from here to the next white space."""
    found = _SPACE.search(text, at)
    return text[at : found.start() if found else len(text)]


class _Parser:
    """Recursive descent over the tokens."""

    def __init__(self, lexer: _Lexer) -> None:
        self._tokens, self._error = lexer.tokenise(), lexer.error
        self._i = 0
        self._depth = 0
        self._tagged = any(token.kind == "tag" for token in self._tokens)

    @property
    def _next(self) -> _Token:
        return self._tokens[self._i]

    def _take(self) -> _Token:
        self._i += 1
        return self._tokens[self._i - 1]

    def query(self) -> List:
        at = self._next.at
        items: list[Item] = []
        while self._next.kind not in ("end", ")"):
            items.append(self._item(bool(items)))
        return List(tuple(items), at)

    def _item(self, behind_another: bool) -> Item:
        first = self._next
        if first.kind == "+" or first.kind == "-":
            self._take()
            node = self._operand()
            if (operator := self._next).kind in ("AND", "OR"):
                self._refuse_sign(first, operator)
            return Item(first.kind, node)
        node = self._or()
        if first.kind == "NOT" and behind_another and not isinstance(node, Negated):
            raise self._error(
                "NOT with AND or OR behind it in a list: parentheses must say what belongs together", first.at
            )
        return Item("-", node.node) if isinstance(node, Negated) else Item("", node)

    def _refuse_sign(self, sign: _Token, operator: _Token) -> None:
        instead = "NOT" if sign.kind == "-" else "AND, or parentheses"
        raise self._error(f"'{sign.kind}' is for lists of words; beside {operator.kind} write {instead}", sign.at)

    def _or(self) -> Node:
        at, nodes = self._next.at, [self._and()]
        while self._next.kind == "OR":
            self._take()
            nodes.append(self._and())
        return nodes[0] if len(nodes) == 1 else Either(tuple(nodes), at)

    def _and(self) -> Node:
        at, nodes = self._next.at, [self._not()]
        while self._next.kind == "AND":
            self._take()
            nodes.append(self._not())
        return nodes[0] if len(nodes) == 1 else Both(tuple(nodes), at)

    def _not(self) -> Node:
        if self._next.kind != "NOT":
            return self._operand()
        negations = []
        while self._next.kind == "NOT":
            negations.append(self._take())
            self._deeper(negations[-1])
        node = self._operand()
        self._depth -= len(negations)
        for token in reversed(negations):
            node = Negated(node, token.at)
        return node

    def _deeper(self, token: _Token) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"more than {MAX_DEPTH} groups or NOTs within one another", token.at)

    def _operand(self) -> Node:
        token = self._next
        if token.kind in ("+", "-"):
            self._refuse_sign(token, self._tokens[self._i - 1])
        if token.kind in ("end", ")", "AND", "OR", "NOT"):
            if self._i and self._tokens[self._i - 1].kind in ("+", "-"):
                raise self._error(f"a sign stands before a word, not before {token.text}", token.at)
            operator = self._tokens[self._i - 1] if self._i and token.kind in ("end", ")") else token
            word = f"; the word itself is written in small letters, {operator.text.lower()}" if operator.text else ""
            raise self._error(f"there is nothing for {operator.text} to join{word}", operator.at)
        self._take()
        node: Node
        if token.kind == "(":
            node = self._group(token)
        elif token.kind == "field":
            node = Scoped(token.text, False, self._bare(self._take()), token.at)
        else:
            node = self._bare(token)
        return self._with_suffixes(node)

    def _bare(self, token: _Token) -> Node:
        """A word, a phrase or a group without what may stand behind it."""
        if token.kind == "(":
            return self._group(token)
        if token.kind == "quoted":
            slop = min(int(self._take().text[:9]), MAX_SLOP) if self._next.kind == "~" else 0
            return Quoted(token.text, slop, token.at)
        return self._words_before_a_tag(token) if self._tagged else Word(token.text, token.at)

    def _words_before_a_tag(self, first: _Token) -> Node:
        """`heart attack[ti]`: the words up to the tag are one phrase."""
        end = self._i
        while self._tokens[end].kind == "word":
            end += 1
        if self._tokens[end].kind != "tag" or end == self._i:
            return Word(first.text, first.at)
        words = [first.text, *(token.text for token in self._tokens[self._i : end])]
        self._i = end
        return Quoted(" ".join(words), 0, first.at)

    def _group(self, opened: _Token) -> Node:
        self._deeper(opened)
        if self._next.kind == ")":
            raise self._error("there is nothing between the parentheses", opened.at)
        inside = self.query()
        self._take()  # the lexer saw to it that every group is closed
        self._depth -= 1
        return inside

    def _with_suffixes(self, node: Node) -> Node:
        kinds: list[_Kind] = []
        while self._next.kind in ("^", "tag"):
            token = self._take()
            if token.kind in kinds:
                raise self._error("one weight and one tag in square brackets stand behind a word, not more", token.at)
            kinds.append(token.kind)
            if token.kind == "tag":
                node = Scoped(token.text, True, self._up_to(token, node), token.at)
            else:
                node = Weighted(node, self._weight(token), token.at)
        return node

    def _up_to(self, tag: _Token, low: Node) -> Node:
        """`"2019"[dp] : "2021"[dp]`, as PubMed writes a range: one value from low to high."""
        colon, high, again = self._tokens[self._i : self._i + 3] if self._i + 3 < len(self._tokens) else [tag] * 3
        if not isinstance(low, Word | Quoted) or (colon.kind, colon.text) != ("word", ":"):
            return low
        if high.kind not in ("word", "quoted") or again.kind != "tag" or again.text.casefold() != tag.text.casefold():
            return low
        self._i += 3
        return Word(f"{low.text}:{high.text}", low.at)

    def _weight(self, token: _Token) -> float:
        try:
            weight = float(token.text)
        except ValueError:
            weight = -1.0
        if not 0.0 <= weight <= MAX_WEIGHT:
            raise self._error(f"a weight is a number from 0 to {MAX_WEIGHT:g}, as in 'word^2.5'", token.at)
        return weight


def parse_tree(text: str, is_field: FieldTest, is_tag: TagTest) -> List:
    """The tree of a query."""
    if _SIGN.search(text) is None:
        words = [Item("", Word(word[0], word.start())) for word in _UNSPACED.finditer(text)]
        return List(tuple(words), words[0].node.at if words else len(text))
    return _Parser(_Lexer(text, is_field, is_tag)).query()
