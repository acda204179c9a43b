"""Are answers the same, to the last bit, as those of another release, and as those of the same documents laid out anew?

    GERMANE_DATA=... python benchmarks/exactness.py --out before.txt                 # some minutes of one core
    GERMANE_DATA=... python benchmarks/exactness.py --out after.txt --against before.txt
    GERMANE_DATA=... python benchmarks/exactness.py --parts 4                        # several indexes opened as one
    GERMANE_DATA=... python benchmarks/exactness.py --show hybrid:3                  # one request and its answers

A thousand random requests of every kind (`exactness/by_words.py`, `exactness/beyond_words.py`) are drawn from a seed,
and asked of two indexes that hold the same 12,000 documents (`exactness/collection.py`): "one" has one segment,
"several" has several, with deleted documents in them and a few added last. Each request and index has a line:
the index, the kind, the number, and two SHA-256 of the answer as text (`exactness/text.py`): of ids, scores, counts and
all else, and of its wording, which is how words are written and what may have been meant. Each request is drawn by
itself, so that more of them, or other kinds, change none.

--against lists the first requests of each kind that are answered otherwise, and exits with status 1 if there are any.
The last bits depend on the processor and on the versions of NumPy and SciPy: compare on one machine. --models FOLDER
keeps the learnt models that rank again, and takes those that are there: so it is seen whether the same model ranks the
same, whatever became of learning. --parts N asks one index, and its documents in N indexes opened as one, and exits
with status 1 where these answer otherwise.

On standard error: seconds of the processor by kind, requests that are answered by an error, and those that the two
indexes answer otherwise.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")  # products of matrices are added up otherwise by more

from exactness import by_words  # noqa: E402, F401 - its kinds are kept in KINDS
from exactness.beyond_words import learnt_by  # noqa: E402
from exactness.collection import SEVERAL, WHOLE, Collection, build, clicked, taught  # noqa: E402
from exactness.drawing import Draw, Known  # noqa: E402
from exactness.kinds import KINDS, Request  # noqa: E402
from exactness.text import Canonical, canonical  # noqa: E402

from germane import Engine, GermaneError  # noqa: E402
from germane.latent import Pairs, latent_named, load, save  # noqa: E402

SHOWN = 5
"""Numbers of requests that are named where a kind differs."""
LEARNT: dict[str, dict[str, Any]] = {
    "bltm": {"n_topics": 16, "n_iterations": 6},
    "wtm": {},
    "opca": {"n_dimensions": 16},
    "combination": {"parts": "wtm,bltm,opca", "n_topics": 8, "n_iterations": 4, "n_dimensions": 8},
}
N_PAIRS = 3000


class Key(NamedTuple):
    """A request as it was asked of an index."""

    index: str
    kind: str
    number: int


class Digests(NamedTuple):
    """SHA-256 of an answer, and of its wording."""

    answer: str
    wording: str

    @classmethod
    def of(cls, text: Canonical) -> Digests:
        return cls(*(hashlib.sha256(each.encode()).hexdigest() for each in text))


Answers = dict[Key, Digests]


def learnt_models(known: Known, analyzer: Any, kept: Path | None) -> dict[str, Any]:
    """Models of queries, which are words of documents, with the beginnings of their texts as titles."""
    draw = Draw("pairs", known)
    drawn = [draw.choice(known.worded) for _ in range(N_PAIRS)]
    titles = [" ".join(known.texts[place].split()[:10]) for place in drawn]
    texts = [re.findall(r"[a-z]{4,}", known.texts[place].lower()) or ["none"] for place in drawn]
    queries = [" ".join(draw.choices(words, k=4)) for words in texts]
    pairs = Pairs.build(zip(queries, titles, [1.0] * N_PAIRS, strict=True), analyzer)
    models = {}
    for name, parameters in LEARNT.items():
        path = None if kept is None else kept / f"{name}.model"
        if path is not None and path.exists():
            models[name] = load(path)
            continue
        models[name] = latent_named(name, **parameters).fit(pairs)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            save(models[name], path)
    return models


def asked(seed: int, n: int, kinds: list[str], known: Known) -> Iterator[tuple[str, int, Request]]:
    """So many requests, each kind by its share; each is drawn by itself."""
    total = sum(share for share, _ in KINDS.values())
    chosen = [name for name in KINDS if not kinds or name in kinds or name.partition(":")[0] in kinds]
    for name in chosen:
        share, draw = KINDS[name]
        for number in range(max(1, round(n * share / total))):
            yield name, number, draw(Draw(f"{seed} {name} {number}", known))


def answer(request: Request, engine: Engine, hidden: Path) -> Canonical:
    """The answer as text; that of a request that cannot be answered is the error, without where the index lies."""
    try:
        return canonical(request.ask(engine))
    except GermaneError as error:
        told = re.sub(re.escape(str(hidden)) + r"[^\s,;:()']*", "INDEX", str(error))
        return Canonical(f"{ERROR}{type(error).__name__}: {told}", "")


ERROR = "error: "


class Indexes:
    """The engines to be asked, by the name of the index; those that have learnt are made when they are first asked."""

    def __init__(self, folder: Path, collection: Collection, parts: int) -> None:
        self._folder, self._collection, self._stack = folder, collection, ExitStack()
        self._paths = {"one": build(folder / "one", collection, WHOLE, merged=True)}
        if not parts:
            self._paths["several"] = build(folder / "several", collection, SEVERAL, merged=False, shuffled=True)
        self.plain = {name: self._stack.enter_context(Engine.open(path)) for name, path in self._paths.items()}
        if parts:
            self.plain[f"{parts} parts"] = self._stack.enter_context(self._together(parts))
        self._learnt: dict[str, Engine] = {}

    def _together(self, n: int) -> Engine:
        paths = [
            build(self._folder / f"part{i}", self._collection.part(i, n), WHOLE, merged=i % 2 == 0, shuffled=True)
            for i in range(n)
        ]
        open_several: Any = Engine.open
        try:
            return open_several(paths)
        except TypeError:
            raise SystemExit(
                "--parts: this release opens one index, not several as one (Engine.open([a, b]))"
            ) from None

    def asked_by(self, request: Request) -> Mapping[str, Engine]:
        """The engines for a request. There is none that has learnt where several indexes are opened as one."""
        if not request.learnt:
            return self.plain
        if not self._learnt and len(self._paths) == len(self.plain):
            store = clicked(self._folder, self._collection)
            for name, path in self._paths.items():
                engine = Engine.open(taught(path, self._folder / f"{name}-learnt", store))
                self._learnt[name] = self._stack.enter_context(engine)
        return self._learnt

    def __enter__(self) -> Indexes:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


# -- files -------------------------------------------------------------------------------------------------------------


def written(answers: Answers, seed: int) -> str:
    """The lines of a file."""
    return "".join([f"# seed {seed}\n", *(f"{' '.join(map(str, (*key, *own)))}\n" for key, own in answers.items())])


def read(path: Path, seed: int) -> Answers:
    """What an earlier run wrote."""
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    if first != f"# seed {seed}":
        raise SystemExit(f"{path} was written by other requests: {first!r}, and not '# seed {seed}'")
    rows = (line.rsplit(" ", 4) for line in lines)
    return {Key(index, kind, int(number)): Digests(*own) for index, kind, number, *own in rows}


def differences(before: Answers, now: Answers) -> list[str]:
    """A line for each kind and index that is answered otherwise; where the words alone differ, the wording is named."""
    counted = Counter((key.index, key.kind) for key in now)
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for key in sorted({*before, *now}):
        old, new = before.get(key), now.get(key)
        if old is None or new is None:
            found[key.index, key.kind, "in one alone"].append(str(key.number))
        elif old.answer != new.answer:
            found[key.index, key.kind, "answered otherwise"].append(str(key.number))
        elif old.wording != new.wording:
            found[key.index, key.kind, "worded otherwise"].append(str(key.number))
    return [
        f"{index} {kind}: {len(numbers)} of {counted[index, kind]} {what}: {', '.join(numbers[:SHOWN])}"
        + (" ..." if len(numbers) > SHOWN else "")
        for (index, kind, what), numbers in found.items()
    ]


def between(answers: Answers, one: str, other: str) -> list[str]:
    """The differences between two indexes."""
    first, second = (
        {key._replace(index=f"{one}, {other}"): own for key, own in answers.items() if key.index == index}
        for index in (one, other)
    )
    return differences(first, second)


def say(*told: str) -> None:
    print(*told, sep="\n", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="the file of digests; on standard output otherwise")
    parser.add_argument("--against", type=Path, help="a file that an earlier run wrote")
    parser.add_argument("--requests", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parts", type=int, default=0, metavar="N", help="open the documents as N indexes, beside one")
    parser.add_argument("--kinds", default="", help="these kinds alone, with commas between them")
    parser.add_argument("--show", metavar="KIND:NUMBER", help="write this request, and what each index answers")
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="where learnt models are kept")
    args = parser.parse_args()
    shown_kind, _, shown_number = (args.show or "").rpartition(":")
    kinds = [shown_kind] if args.show else [name for name in args.kinds.split(",") if name]
    answers: Answers = {}
    seconds: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="exactness-") as folder:
        collection = Collection.read()
        known = Known(collection)
        with Indexes(Path(folder), collection, args.parts) as indexes:
            learnt_by(learnt_models(known, indexes.plain["one"].analyzer, args.models))
            for kind, number, request in asked(args.seed, args.requests, kinds, known):
                if args.show and number != int(shown_number):
                    continue
                for index, engine in indexes.asked_by(request).items():
                    begun = time.process_time()
                    text = answer(request, engine, Path(folder))
                    seconds[kind] += time.process_time() - begun
                    errors[kind] += text.answer.startswith(ERROR)
                    answers[Key(index, kind, number)] = Digests.of(text)
                    if args.show:
                        print(f"--- {index}: {request.told}\n{text.answer}\n--- wording\n{text.wording}")
    if args.show:
        return
    counted = Counter(key.kind for key in answers)
    say(*(f"{kind}: {n} answers, {seconds[kind]:.1f} s" + (f", {errors[kind]} errors" if errors[kind] else "")
          for kind, n in counted.items()))  # fmt: skip
    one, other = [*dict.fromkeys(key.index for key in answers)]
    apart = between(answers, one, other)
    say("", f"{len(answers)} answers, {sum(seconds.values()):.0f} s; {one} and {other}:", *(apart or ["no difference"]))
    lines = written(answers, args.seed)
    if args.out is None:
        print(lines, end="")
    else:
        args.out.write_text(lines, encoding="utf-8")
    changed = differences(read(args.against, args.seed), answers) if args.against else []
    if changed:
        say("", f"otherwise than in {args.against}:", *changed)
    if changed or (args.parts and apart):
        sys.exit(1)


if __name__ == "__main__":
    main()
