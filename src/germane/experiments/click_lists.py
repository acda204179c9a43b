"""Query-title pairs that stand for clicks, and lists of graded titles to rank: three public data sets.

homedepot: pairs of `train` with relevance 2.33 or more, without the products of `test`. Lists: the queries of `test`,
grade = relevance - 1.

nfcorpus_titles: pairs of `train` with level 2 or 3. Lists: the queries of `test`, grade = level.

cooking_tags_titles: the tags of four questions in five, as a query, and their titles. Lists: the tags of every fifth
question; grade = 2 × the share of the query's tags that a question has.

Gains are 2^grade - 1. Random titles are added to each list, graded 0 (of `cooking_tags_titles` by their tags): judged
lists alone are too narrow to tell models apart.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from germane.arrays import Floats, Integers
from germane.errors import ParameterError
from germane.experiments.judged_lists import rows_of
from germane.latent.pairs import Pair


@dataclass(frozen=True)
class ListRules:
    """How lists are made: titles added at random, and at most so many lists."""

    added: int = 50
    most: int = 2000
    seed: int = 0


@dataclass(frozen=True, eq=False)
class GradedList:
    """A query, the numbers of the titles to rank for it, and their gains."""

    query_id: str
    query: str
    titles: Integers
    gains: Floats


@dataclass(frozen=True, eq=False)
class ClickData:
    """What models learn from, the titles, and the lists that they rank."""

    pairs: list[Pair]
    titles: list[str]
    lists: list[GradedList]


def load_clicks(name: str, rules: ListRules) -> ClickData:
    """The data set of that name below `GERMANE_DATA`."""
    if name not in _READERS:
        raise ParameterError(f"'{name}' has no pairs and lists; there are: {', '.join(_READERS)}")
    pairs, judged = _READERS[name]()
    return ClickData(pairs, judged.titles, list(_lists(judged, rules)))


@dataclass(frozen=True, eq=False)
class _Judged:
    """Titles by number; for each query its text and graded titles; tags of titles, where these grade what is added."""

    titles: list[str]
    queries: dict[str, str]
    grades: dict[str, dict[int, float]]
    tags: Mapping[int, frozenset[str]]


def _lists(judged: _Judged, rules: ListRules) -> Iterator[GradedList]:
    """The lists, each with random titles; those without a relevant title are left out."""
    rng = np.random.default_rng(rules.seed)
    pool = np.array(sorted(judged.tags) if judged.tags else range(len(judged.titles)))
    names = [name for name, grades in judged.grades.items() if max(grades.values()) > 0]
    for name in sorted(rng.permutation(names)[: rules.most].tolist()):
        grades = dict(judged.grades[name])
        while len(grades) < len(judged.grades[name]) + rules.added:
            title = int(rng.choice(pool))
            grades.setdefault(title, _by_tags(judged, name, title))
        yield GradedList(name, judged.queries[name], np.array([*grades]), 2.0 ** np.array([*grades.values()]) - 1)


def _by_tags(judged: _Judged, name: str, title: int) -> float:
    if not judged.tags:
        return 0.0
    wanted = {*judged.queries[name].split("; ")}
    return 2 * len(wanted & judged.tags[title]) / len(wanted)


def _homedepot() -> tuple[list[Pair], _Judged]:
    rows = rows_of("homedepot", "labels.tsv.gz")
    test = [row for row in rows if row["split"] == "test"]
    held_out = {row["product_id"] for row in test}
    pairs = [
        Pair(row["query"], row["title"]) for row in rows
        if row["split"] == "train" and float(row["relevance"]) >= 2.33 and row["product_id"] not in held_out
    ]  # fmt: skip
    number = {title: place for place, title in enumerate(dict.fromkeys(row["title"] for row in rows))}
    grades: dict[str, dict[int, float]] = {}
    for row in test:
        grades.setdefault(row["query_id"], {})[number[row["title"]]] = float(row["relevance"]) - 1
    return pairs, _Judged([*number], {row["query_id"]: row["query"] for row in test}, grades, {})


def _nfcorpus() -> tuple[list[Pair], _Judged]:
    documents = rows_of("nfcorpus_titles", "docs.tsv.gz")
    titles, number = [row["title"] for row in documents], {row["doc_id"]: i for i, row in enumerate(documents)}
    queries = {row["query_id"]: row["query"] for row in rows_of("nfcorpus_titles", "queries.tsv.gz")}
    pairs: list[Pair] = []
    grades: dict[str, dict[int, float]] = {}
    for row in rows_of("nfcorpus_titles", "labels.tsv.gz"):
        title, level = number[row["doc_id"]], float(row["level"])
        if row["split"] == "train" and level >= 2:
            pairs.append(Pair(queries[row["query_id"]], titles[title]))
        elif row["split"] == "test":
            grades.setdefault(row["query_id"], {})[title] = level
    return pairs, _Judged(titles, queries, grades, {})


def _cooking() -> tuple[list[Pair], _Judged]:
    rows = rows_of("cooking_tags_titles", "pairs.tsv.gz")
    held_out = [number for number in range(len(rows)) if number % 5 == 4]
    pairs = [Pair(row["tags"], row["title"]) for number, row in enumerate(rows) if number % 5 != 4]
    tags = {number: frozenset(rows[number]["tags"].split("; ")) for number in held_out}
    queries = {rows[number]["id"]: rows[number]["tags"] for number in held_out}
    grades = {rows[number]["id"]: {number: 2.0} for number in held_out}
    return pairs, _Judged([row["title"] for row in rows], queries, grades, tags)


_READERS = {"homedepot": _homedepot, "nfcorpus_titles": _nfcorpus, "cooking_tags_titles": _cooking}
CLICK_SETS = tuple(_READERS)
