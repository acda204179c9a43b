"""De-duplication measured on records whose duplicates are known: python benchmarks/dedupe.py

The records are those of the shared reviews (GERMANE_DATA), one of each title. They get identifiers and authors, which
the reviews do not have, and then what databases make of them: copies in another format, with other names of authors,
typing errors, without subtitle, abstract or year. Beside them stand works that look like duplicates and are none:
preprints, other parts of a series, errata, replies, works of the same authors whose titles differ by one word. Pairs of
records are judged. Exit status 1 if F1 is below the bar.

The rules of `germane.data.duplicates` were made with the reviews of TUNING; the figures that count are the others'.
"""

import argparse
import gzip
import json
import os
import random
import re
import string
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from germane.data import read_documents
from germane.data.duplicates import Work, find_duplicates
from germane.data.writing import write_documents
from germane.types import Document

TUNING = ("ACEInhibitors", "ADHD", "Antihistamines", "BetaBlockers", "Appenzeller-Herzog_2020_wilson",
          "Kitchenham_2010_software")  # fmt: skip
FAMILIES = (
    "Smith", "Jones", "Garcia", "Miller", "Davis", "Lopez", "Wilson", "Anderson", "Thomas", "Taylor", "Moore",
    "Martin", "Lee", "Thompson", "White", "Clark", "Lewis", "Young", "King", "Wright", "Scott", "Torres",
    "Hill", "Green", "Adams", "Nelson", "Baker", "Hall", "Campbell", "Mitchell", "Carter", "Roberts", "Chen",
    "Wang", "Li", "Zhang", "Liu", "Yang", "Huang", "Kim", "Park", "Nguyen", "Tran", "Singh", "Kumar", "Patel",
    "Sharma", "Müller", "Schmidt", "Schneider", "Fischer", "Weber", "Meyer", "Wagner", "Becker", "Hoffmann",
    "Schäfer", "Koch", "Bauer", "Rossi", "Russo", "Ferrari", "Esposito", "Bianchi", "Dubois", "Moreau",
    "Laurent", "Lefèvre", "Silva", "Santos", "Oliveira", "Souza", "Pereira", "Ivanov", "Petrov", "Sokolov",
    "Novák", "Kowalski", "Nagy", "Jensen", "Nielsen", "Hansen", "Johansson", "Karlsson", "Virtanen", "Sato",
    "Suzuki", "Tanaka", "Watanabe", "Ito", "Yamamoto",
)  # fmt: skip
GIVEN = (
    "Anna", "Ben", "Carla", "David", "Elena", "Frank", "Grace", "Hiro", "Ines", "Jan", "Karin", "Luis",
    "Maria", "Noor", "Omar", "Paula", "Rita", "Sven", "Tara", "Udo",
)  # fmt: skip
FORMATS = (".ris", ".nbib", ".bib", ".csv", ".jsonl")
BAR = 0.99
SHARE = 0.5
"""Of the records that get a copy."""


@dataclass(frozen=True)
class Made:
    """A record, the work it describes, and what was done to it."""

    document: Document
    work: int
    kind: str


def reviews(data: Path) -> Iterator[tuple[str, list[dict]]]:
    """The name of each review and its records, one of each title."""
    for path in sorted(data.glob("reviews_*/*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            seen: dict[tuple[str, ...], dict] = {}
            for record in map(json.loads, file):
                seen.setdefault(Work.of(Document("", {"title": record["title"]})).title, record)
        yield path.name.removesuffix(".jsonl.gz"), [record for title, record in seen.items() if title]


# -- the originals -----------------------------------------------------------------------------------------------------


def original(record: dict, number: int, draw: random.Random) -> dict:
    """The fields of a record as one database has them."""
    authors = [f"{draw.choice(FAMILIES)}, {draw.choice(GIVEN)} {draw.choice(string.ascii_uppercase)}."
               for _ in range(draw.randint(1, 6))]  # fmt: skip
    fields = {
        "title": record["title"], "text": record.get("abstract") or "", "author": authors,
        "year": record.get("year") or draw.randint(1980, 2020),
        "journal": "Journal of Examples", "doi": f"10.5555/x{number:07d}", "pmid": str(50_000_000 + number),
    }  # fmt: skip
    return {name: value for name, value in fields.items() if value}


# -- what databases make of them ---------------------------------------------------------------------------------------


def without(fields: dict, *names: str) -> dict:
    return {name: value for name, value in fields.items() if name not in names}


def without_ids(fields: dict) -> dict:
    return without(fields, "doi", "pmid")


def initials(fields: dict, draw: random.Random) -> dict:
    """Authors as `Smith AB`, or as `Ann B. Smith`."""
    style = draw.randrange(3)
    names = [re.match(r"(.+), (\w+) (\w)\.", author).groups() for author in fields.get("author", [])]
    written = {
        0: [f"{family}, {given} {middle}." for family, given, middle in names],
        1: [f"{family} {given[0]}{middle}" for family, given, middle in names],
        2: [f"{given} {middle}. {family}" for family, given, middle in names],
    }[style]
    return fields | ({"author": written} if written else {})


def typed(title: str, draw: random.Random) -> str:
    """One to three words with a typing error: a letter missing, doubled, changed, or exchanged with the next."""
    words = title.split(" ")
    long = [place for place, word in enumerate(words) if len(word) > 4 and word.isalpha()]
    for place in draw.sample(long, min(len(long), draw.choice((1, 1, 2, 3)))):
        word, at = words[place], draw.randrange(1, len(words[place]) - 1)
        words[place] = draw.choice((
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + draw.choice(string.ascii_lowercase) + word[at + 1 :],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        ))  # fmt: skip
    return " ".join(words)


def retouched(title: str, draw: random.Random) -> str:
    """Capitals, a full stop, a note in brackets, hyphens for spaces."""
    return draw.choice((
        title.upper(), title.lower(), title.rstrip(".") + ".", title.replace("-", " "), f"[{title.rstrip('.')}].",
        title.replace(": ", " - "), title.replace("'", "’"),
    ))  # fmt: skip


Change = Callable[[dict, random.Random], dict | None]


def _format(fields: dict, draw: random.Random) -> dict:
    """Through a file and back."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"records{draw.choice(FORMATS)}")
        write_documents(path, [Document("x", without_ids(fields))])
        (read,) = read_documents(path, number=True)
        return without_ids(dict(read.fields))


def _subtitle(fields: dict, draw: random.Random) -> dict | None:
    head, sign, rest = fields["title"].partition(": ")
    return initials(without_ids(fields), draw) | {"title": head} if sign and len(head.split()) >= 3 and rest else None


COPIES: dict[str, Change] = {
    "same ids": lambda fields, draw: initials(without(fields, draw.choice(("doi", "pmid"))), draw),
    "other format": _format,
    "typing errors": lambda fields, draw: initials(without_ids(fields), draw) | {"title": typed(fields["title"], draw)},
    "typing errors, no abstract": lambda fields, draw: initials(
        without(fields, "doi", "pmid", "text"), draw
    ) | {"title": typed(fields["title"], draw)},
    "typing errors, no author": lambda fields, draw: without(fields, "doi", "pmid", "author")
    | {"title": typed(fields["title"], draw)},
    "subtitle dropped": _subtitle,
    "subtitle dropped, no abstract": lambda fields, draw: (
        None if (found := _subtitle(fields, draw)) is None else without(found, "text")
    ),
    "punctuation and case": lambda fields, draw: initials(without_ids(fields), draw)
    | {"title": retouched(fields["title"], draw)},
    "next year": lambda fields, draw: initials(without_ids(fields), draw)
    | {"year": fields["year"] + draw.choice((-1, 1))},
    "title and year alone": lambda fields, draw: {k: fields[k] for k in ("title", "year")},
    "abstract cut short": lambda fields, draw: initials(without_ids(fields), draw)
    | ({"text": fields["text"][: draw.randint(150, 400)]} if "text" in fields else {}),
}  # fmt: skip
"""What is done to a record that stays the same work."""


def _swapped(fields: dict, other: dict, draw: random.Random) -> dict:
    words = fields["title"].split(" ")
    long = [place for place, word in enumerate(words) if len(word) > 4 and word.isalpha()]
    if long:
        words[draw.choice(long)] = draw.choice([word for word in other["title"].split() if len(word) > 4] or ["other"])
    return fields | {"title": " ".join(words), "text": other.get("text", "")}


def _numbered(fields: dict, other: dict, draw: random.Random, part: str) -> dict:
    return fields | {"title": f"{fields['title'].rstrip('.')}. Part {part}", "text": other.get("text", "")}


OTHERS: dict[str, Callable[[dict, dict, random.Random], dict]] = {
    "preprint": lambda fields, other, draw: without_ids(initials(fields, draw))
    | {"year": fields["year"] - draw.choice((0, 1)), "publication_type": ["preprint"], "journal": "medRxiv",
       "doi": f"10.1101/{draw.randrange(10**8)}"},
    "preprint without an id": lambda fields, other, draw: without_ids(initials(fields, draw))
    | {"publication_type": ["preprint"]},
    "one word differs": lambda fields, other, draw: without_ids(_swapped(fields, other, draw)),
    "erratum": lambda fields, other, draw: without_ids(fields) | {"title": f"Erratum: {fields['title']}", "text": ""},
    "reply": lambda fields, other, draw: without_ids(initials(other, draw))
    | {"title": f"Reply to: {fields['title']}", "text": "", "year": fields["year"]},
    "same title, other authors": lambda fields, other, draw: without_ids(other) | {"title": fields["title"]},
}  # fmt: skip
"""Another work that looks like it."""


def constructed(records: list[dict], draw: random.Random) -> list[Made]:
    """The originals, their copies, and the others, in random order."""
    originals = [original(record, number, draw) for number, record in enumerate(records)]
    made: list[Made] = []
    for number, fields in enumerate(originals):
        made.append(Made(Document("", fields), number, "original"))
        if draw.random() < SHARE:
            for kind in draw.sample(sorted(COPIES), draw.choice((1, 1, 2))):
                copy = COPIES[kind](fields, draw)
                if copy is not None:
                    made.append(Made(Document("", copy), number, kind))
    following = len(originals)
    for number in draw.sample(range(len(originals)), len(originals) // 4):
        kind = draw.choice([*sorted(OTHERS), "parts of a series"])
        fields, other = originals[number], originals[draw.randrange(len(originals))]
        if fields is other:
            continue
        if kind == "parts of a series":
            for part in draw.choice((("1", "2"), ("I", "II"))):
                made.append(Made(Document("", without_ids(_numbered(fields, other, draw, part))), following, kind))
                following += 1
                other = originals[draw.randrange(len(originals))]
            continue
        copy = {name: value for name, value in OTHERS[kind](fields, other, draw).items() if value}
        made.append(Made(Document("", copy), following, kind))
        following += 1
    draw.shuffle(made)
    return [Made(Document(str(place), one.document.fields), one.work, one.kind) for place, one in enumerate(made)]


# -- judging -----------------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """Pairs found and due, and those by kind that are missed or wrong, with an example each."""

    right: int = 0
    due: int = 0
    told: int = 0
    seconds: float = 0.0
    records: int = 0

    def __post_init__(self) -> None:
        self.missed: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.of: Counter[str] = Counter()
        self.examples: dict[tuple[str, str], tuple[str, str]] = {}

    def judge(self, made: list[Made]) -> None:
        start = time.process_time()
        found = find_duplicates([one.document for one in made])
        self.seconds += time.process_time() - start
        self.records += len(made)
        group = list(range(len(made)))
        for duplicate in found:
            group[duplicate.place] = duplicate.kept
        truth, told = (_pairs(keys) for keys in ([one.work for one in made], group))
        self.right, self.due, self.told = self.right + len(truth & told), self.due + len(truth), self.told + len(told)
        for name, pairs, counter in (("missed", truth - told, self.missed), ("wrong", told - truth, self.wrong)):
            for one, other in pairs:
                kind = _kind(made[one], made[other])
                counter[kind] += 1
                titles = (str(made[one].document.fields["title"]), str(made[other].document.fields["title"]))
                self.examples.setdefault((name, kind), titles)
        self.of.update(_kind(made[one], made[other]) for one, other in truth)

    @property
    def figures(self) -> tuple[float, float, float]:
        """Precision, recall and F1 of pairs."""
        precision, recall = self.right / max(self.told, 1), self.right / max(self.due, 1)
        return precision, recall, 2 * precision * recall / max(precision + recall, 1e-12)

    def line(self, name: str) -> str:
        precision, recall, f1 = self.figures
        each = 1e6 * self.seconds / max(self.records, 1)
        return f"{name:34} {self.records:8,} {self.due:7,} {precision:9.4f} {recall:9.4f} {f1:9.4f} {each:8.0f}"

    def add(self, other: "Tally") -> None:
        for name in ("right", "due", "told", "seconds", "records"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("missed", "wrong", "of"):
            getattr(self, name).update(getattr(other, name))
        self.examples = other.examples | self.examples


def _kind(one: Made, other: Made) -> str:
    kinds = sorted({one.kind, other.kind} - {"original"})
    return " + ".join(kinds) or "originals"


def _pairs(keys: list[int]) -> set[tuple[int, int]]:
    members = defaultdict(list)
    for place, key in enumerate(keys):
        members[key].append(place)
    return {pair for places in members.values() for pair in combinations(places, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tuning", action="store_true", help="the reviews that the rules were made with")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    total = Tally()
    print(f"{'review':34} {'records':>8} {'pairs':>7} {'precision':>9} {'recall':>9} {'F1':>9} {'µs/rec.':>8}")
    for name, records in reviews(Path(os.environ["GERMANE_DATA"])):
        if (name in TUNING) is options.tuning:
            tally = Tally()
            tally.judge(constructed(records, random.Random(f"{options.seed}:{name}")))
            print(tally.line(name))
            total.add(tally)
    print(total.line("all"))
    for title, counter, kinds in (("missed", total.missed, total.of), ("wrongly merged", total.wrong, None)):
        print(f"\n{title}: {sum(counter.values()):,}")
        for kind, n in counter.most_common():
            share = f" of {kinds[kind]:,}" if kinds else ""
            one, other = total.examples[(title.split()[0].replace("wrongly", "wrong"), kind)]
            print(f"  {n:5,}{share:10}  {kind}\n{'':20}{one[:110]}\n{'':20}{other[:110]}")
    if options.json:
        figures = dict(zip(("precision", "recall", "f1"), total.figures, strict=True))
        counts = {"records": total.records, "pairs": total.due}
        options.json.write_text(json.dumps(counts | figures, indent=1) + "\n")
    sys.exit(total.figures[2] < BAR)


if __name__ == "__main__":
    main()
