"""Records of tagged lines, the common ground of RIS (`TI  - A title`) and MEDLINE (`TI  - A title`, wrapped)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from germane.data.bad_records import OnBad
from germane.data.bibliographic import ID_NOTE, RecordFormat, Values, reference_id
from germane.data.lines import Block
from germane.errors import InputError
from germane.types import Document


def tagged_documents(
    blocks: Iterable[Block],
    tag_line: re.Pattern[str],
    format: RecordFormat,
    note: str,
    path: str | Path,
    on_bad: OnBad,
) -> Iterator[Document]:
    """The document of each block: `tag_line` matches a tag and its value; `note` is the tag of notes."""
    return (document for _, document in tagged_records(blocks, tag_line, format, note, path, on_bad))


def tagged_records(
    blocks: Iterable[Block],
    tag_line: re.Pattern[str],
    format: RecordFormat,
    note: str,
    path: str | Path,
    on_bad: OnBad,
) -> Iterator[tuple[int, Document]]:
    """The same, each with the place where its block begins."""
    for number, block in enumerate(blocks, 1):
        try:
            lines = tagged_lines(block, tag_line)
        except InputError as error:
            on_bad(error)
            continue
        given = next((line for line in lines if line[0] == note and line[1].startswith(ID_NOTE)), None)
        if given is not None:
            lines.remove(given)
        values: Values = {}
        for tag, value in lines:
            values.setdefault(tag, []).append(value)
        fields = format.fields_of(values, [tag for tag, _ in lines])
        identifier = given[1].removeprefix(ID_NOTE).strip() if given else ""
        yield block.at, Document(identifier or reference_id(fields, path, number), fields)


def tagged_lines(block: Block, tag_line: re.Pattern[str]) -> list[tuple[str, str]]:
    """The tags with their values, in order, without empty ones. A line without a tag continues the value before it."""
    lines: list[tuple[str, list[str]]] = []
    for line in block.text().split("\n"):
        found = tag_line.match(line)
        if found:
            lines.append((found[1], [found[2].strip()]))
        elif lines:
            lines[-1][1].append(line.strip())
    joined = [(tag, " ".join(filter(None, parts))) for tag, parts in lines]
    return [(tag, value) for tag, value in joined if value]


def in_order(values: Mapping[str, Sequence[str]], tags: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each value with its tag: in the order of `tags`, then what they leave over."""
    left = {tag: iter(found) for tag, found in values.items()}
    for tag in tags:
        for value in islice(left.get(tag, iter(())), 1):
            yield tag, value
    for tag, found in left.items():
        for value in found:
            yield tag, value


def on_one_line(value: str) -> str:
    """The value as one line, as reading a wrapped one would join it."""
    return " ".join(filter(None, (part.strip() for part in value.split("\n"))))
