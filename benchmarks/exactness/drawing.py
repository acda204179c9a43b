"""What requests are made of, drawn at random: words, queries, filters, models, marks, vectors."""

from __future__ import annotations

import datetime
import random
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from exactness.collection import TEXT, TITLE, Collection
from germane import Field
from germane.feedback import FEEDBACK_NAMES
from germane.rank import MODEL_NAMES
from germane.rank.scoring.priors import FieldPrior, FreshnessPrior, LengthPrior

TODAY = datetime.date(2010, 1, 1)
"""The day that freshness counts from."""
MODELS = {
    "dirichlet": ("mu",), "jm": ("lam",), "twostage": ("lam", "mu"), "absolute": ("delta",),
    "adaptive": ("k1", "b", "idf", "burst"), "bm25": ("k1", "b"), "tfidf": (), "dce": ("mu", "lam"), "ratio": ("lam",),
    "dcm": ("mu",), "sd": ("mu",), "bigram": ("mu", "lam"), "bm25f": ("k1", "b"), "lmf": ("mu",),
    "sdm": ("ordered", "unordered", "k1", "b", "pair_k1", "pair_b"), "sdm-lm": ("ordered", "unordered", "mu"),
}  # fmt: skip
BY_FIELDS = ("bm25f", "lmf")
RANGES = {
    "mu": (20.0, 3000.0), "lam": (0.05, 0.95), "delta": (0.1, 0.9), "k1": (0.1, 3.0), "b": (0.0, 1.0),
    "idf": (0.5, 2.0), "burst": (0.0, 1.5), "ordered": (0.0, 0.3), "unordered": (0.0, 0.2), "pair_k1": (0.2, 2.0),
    "pair_b": (0.0, 1.0),
}  # fmt: skip
FEEDBACK: dict[str, dict[str, Sequence[Any]]] = {
    "consensus": {"second_tempering": (0.1, 0.5), "most_query_weight": (0.5, 0.7)},
    "rm1": {"tempering": (0.3, 1.0)},
    "rm3": {"tempering": (0.3, 1.0)},
    "sd": {"lam_query": (0.5, 0.99), "precision": (0.3, 1.0), "iterations": (1, 3), "contrast": (False, True)},
    "rocchio": {"tempering": (0.0, 1.0)},
    "mixture": {"noise": (0.1, 0.5), "iterations": (10, 50)},
}
"""Parameters of each method beside those of all, with some values."""
OF_ALL: dict[str, Sequence[Any]] = {
    "n_docs": (0, 3, 10, 15, 40), "n_terms": (10, 50, 100, None), "query_weight": (0.0, 0.3, 0.5, 0.9),
    "negative_weight": (0.0, 0.25, 1.0), "keep_background": (False, True), "guard": (False, True),
}  # fmt: skip
DEPTHS = (1, 3, 10, 10, 30, 100, 1000, 1000, 1000)
WORD = re.compile(r"[a-z]{3,}")


class Known:
    """The words of a collection by how many documents hold them, and other things to choose from."""

    def __init__(self, collection: Collection) -> None:
        for held, ours in ((MODEL_NAMES, MODELS), (FEEDBACK_NAMES, FEEDBACK)):
            if missing := {*held} - {*ours}:
                raise SystemExit(f"{', '.join(sorted(missing))}: benchmarks/exactness/drawing.py lacks its parameters")
        self.ids = [document.id for document in collection.documents]
        self.texts = [f"{document.fields['title']} {document.fields['text']}" for document in collection.documents]
        self.queries = [topic.text for topic in collection.topics] or self.texts
        found = [dict.fromkeys(WORD.findall(text.lower())) for text in self.texts]
        self.worded = [place for place, words in enumerate(found) if words]
        df = Counter(word for words in found for word in words)
        by_df = sorted(df, key=lambda word: (-df[word], word))
        self.bands = by_df[:200], by_df[200:3000] or by_df, by_df[3000:] or by_df
        self.holding: dict[str, list[str]] = {}
        for doc_id, words in zip(self.ids, found, strict=True):
            for word in words:
                self.holding.setdefault(word, []).append(doc_id)
        fields = [document.fields for document in collection.documents]
        self.values = {
            name: sorted({str(own[name]) for own in fields if name in own}) for name in ("author", "source", "date")
        }
        self.values["tags"] = sorted({str(tag) for own in fields for tag in own.get("tags", [])})


class Draw(random.Random):
    """Chance, with a collection to choose from."""

    def __init__(self, seed: str, known: Known) -> None:
        super().__init__(seed)
        self.known = known

    def happens(self, share: float) -> bool:
        return self.random() < share

    def number(self, low: float, high: float) -> float:
        return round(self.uniform(low, high), 3)

    def depth(self, most: int = 1000) -> int:
        return min(self.choice(DEPTHS), most)

    # -- words -------------------------------------------------------------------------------------------------------

    def word(self) -> str:
        return self.choice(self.known.bands[self.choice((0, 1, 1, 2))])

    def words(self, n: int) -> list[str]:
        """Different words of one document, or of any."""
        if self.happens(0.2):
            return [self.word() for _ in range(n)]
        own = [*dict.fromkeys(WORD.findall(self.known.texts[self.choice(self.known.worded)].lower()))]
        return self.sample(own, min(n, len(own)))

    def query(self) -> str:
        """Words alone: what somebody asked, or words of a document."""
        if self.happens(0.4):
            asked = re.findall(r"[a-z0-9]+", self.choice(self.known.queries).lower())[: self.choice((4, 8, 30))]
            return " ".join(asked) or self.word()
        return " ".join(self.words(self.randint(1, 6)))

    def phrase(self) -> str:
        """Words that stand side by side in a document."""
        own = WORD.findall(self.known.texts[self.choice(self.known.worded)].lower())
        start = self.randrange(max(len(own) - 1, 1))
        return " ".join(own[start : start + self.randint(2, 4)])

    def mistyped(self, word: str) -> str:
        """The word with a letter changed, left out, doubled, or two that changed places."""
        at = self.randrange(len(word))
        letter = self.choice("abcdefghijklmnopqrstuvwxyz")
        ways = (
            word[:at] + letter + word[at + 1 :], word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:],
            word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
        )  # fmt: skip
        return self.choice(ways)

    # -- filters -----------------------------------------------------------------------------------------------------

    def value(self, field: str) -> str:
        return self.choice(self.known.values[field])

    def written_filter(self) -> str:
        """A filter in the query language."""
        year = self.randint(1945, 2009)
        quoted = self.choice(("author", "source"))
        return self.choice((
            f"source:{self.value('source')}", f"tags:{self.value('tags')}", f'{quoted}:"{self.value(quoted)}"',
            f"year:{year}", f"year:{year}..{year + self.randint(0, 30)}", f"year:>={year}", f"year:..{year}",
            f"date:{year}-03..{year + 9}", f"tags:({self.value('tags')} OR {self.value('tags')})",
            f"tags:{self.value('tags')[:3]}*", f"cites:>{self.number(1, 40)}", f"author:{self.value('author')[:3]}*",
            f"+tags:{self.value('tags')} +tags:{self.value('tags')}", f"-source:{self.value('source')}",
        )).replace('""', '"')  # fmt: skip

    def filter(self, deep: int = 1) -> Any:
        """A filter as plain data or as an expression."""
        year = self.randint(1945, 2009)
        simple: list[Any] = [
            {"source": self.value("source")}, {"tags": [self.value("tags") for _ in range(3)]},
            {"year": {">=": year, "<": year + self.randint(1, 40)}}, {"tags": {"!=": self.value("tags")}},
            {"cites": {">": self.number(1, 30)}, "source": [self.value("source"), self.value("source")]},
            {"date": {"<=": self.value("date")}}, Field("source") == self.value("source"),
            (Field("year") >= year) & ~(Field("tags") == self.value("tags")),
            (Field("cites") < self.number(1, 30)) | (Field("author") == self.value("author")),
        ]  # fmt: skip
        if deep and self.happens(0.3):
            return {self.choice(("$and", "$or")): [self.choice(simple[:6]), {"$not": self.choice(simple[:6])}]}
        return self.choice(simple)

    def some_filter(self, share: float = 0.3) -> dict[str, Any]:
        """A filter as a parameter of a search, or none."""
        if not self.happens(share):
            return {}
        return {"filter": self.written_filter() if self.happens(0.3) else self.filter()}

    # -- rankings ----------------------------------------------------------------------------------------------------

    def model(self, name: str | None = None) -> dict[str, Any]:
        """A ranking model with its parameters, as a search takes them; some are left at their defaults."""
        name = name or self.choice([*MODELS])
        given: dict[str, Any] = {"model": name}
        given |= {each: self.number(*RANGES[each]) for each in MODELS[name] if self.happens(0.7)}
        if name in BY_FIELDS and self.happens(0.6):
            given["weights"] = {"title": self.number(0.5, 6.0), "text": self.number(0.5, 2.0)}
        return given

    def some_model(self, share: float = 0.6) -> dict[str, Any]:
        return self.model() if self.happens(share) else {}

    def priors(self) -> tuple[Any, ...]:
        """One prior or two."""
        made = (
            LengthPrior(self.number(-0.5, 0.5)),
            FieldPrior("cites", self.number(0.1, 1.0)),
            FreshnessPrior(self.choice(("date", "year")), self.number(500.0, 9000.0), TODAY, self.number(0.2, 1.0)),
        )
        return tuple(self.sample(made, self.choice((1, 1, 2))))

    def feedback(self, name: str) -> dict[str, Any]:
        """Parameters of a feedback method, some of them left at their defaults."""
        every = {**OF_ALL, **FEEDBACK[name]}
        if name == "rm1":
            del every["query_weight"]
        return {each: self.choice(values) for each, values in every.items() if self.happens(0.35)}

    def marked(self, relevant: float = 0.8) -> tuple[str, dict[str, bool]]:
        """A query, and documents that hold a word of it, marked relevant or not."""
        words = self.words(self.randint(2, 5))
        ids = dict.fromkeys(self.choice(self.known.holding[word]) for word in words * 2)
        return " ".join(words), {doc_id: self.happens(relevant) for doc_id in self.sample([*ids], min(len(ids), 4))}

    def vector(self, field: str) -> list[float]:
        """A vector to search a field by: that of a query, or any."""
        if field == "coarse":
            return [float(self.randint(-2, 2)) for _ in range(4)]
        encoder = TITLE if field == "title" else TEXT
        return [value + self.gauss(0.0, 0.1) for value in encoder.encode_query(self.query()).tolist()]
