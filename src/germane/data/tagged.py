"""Records of tagged lines, the common ground of RIS (`TI  - A title`) and MEDLINE (`TI  - A title`, wrapped)."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from germane.data.bad_records import OnBad
from germane.data.bibliographic import reference_id
from germane.data.lines import Block
from germane.errors import InputError
from germane.types import Document, FieldValue

Values = dict[str, list[str]]


def tagged_documents(
    blocks: Iterable[Block],
    tag_line: re.Pattern[str],
    fields_of: Callable[[Values], dict[str, FieldValue]],
    path: str | Path,
    on_bad: OnBad,
) -> Iterator[Document]:
    """The document of each block: `tag_line` matches a tag and its value, `fields_of` makes fields of all of them."""
    for number, block in enumerate(blocks, 1):
        try:
            values = tagged_values(block, tag_line)
        except InputError as error:
            on_bad(error)
            continue
        fields = fields_of(values)
        yield Document(reference_id(fields, path, number), fields)


def tagged_values(block: Block, tag_line: re.Pattern[str]) -> Values:
    """Each tag's values, in order. A line without a tag continues the value before it."""
    values: dict[str, list[list[str]]] = {}
    current: list[str] | None = None
    for line in block.text().split("\n"):
        found = tag_line.match(line)
        if found:
            current = [found[2].strip()]
            values.setdefault(found[1], []).append(current)
        elif current is not None:
            current.append(line.strip())
    return {tag: [" ".join(filter(None, parts)) for parts in found] for tag, found in values.items()}


def take(values: Values, *tags: str) -> list[str]:
    """Remove the tags, and return the values of the first that has any."""
    taken = [[value for value in values.pop(tag, []) if value] for tag in tags]
    return next(filter(None, taken), [])


def take_one(values: Values, *tags: str) -> str:
    """Remove the tags, and return the first value of the first that has any."""
    found = take(values, *tags)
    return found[0] if found else ""


def rest(values: Values) -> dict[str, FieldValue]:
    """What was not taken, under the tags in lower case: a string, or a list where there are several."""
    return {tag.lower(): list(found) if len(found) > 1 else found[0] for tag, found in values.items()}
