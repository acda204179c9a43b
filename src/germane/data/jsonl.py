"""JSON Lines: one object per line.

Scalars and lists of scalars become fields as they are; nested objects are stored as compact JSON text, but for the one
named `vectors`, whose lists of numbers are the document's vectors.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from germane.data.bad_records import OnBad, stop
from germane.data.fields import EXACT, ID_NAMES, SCALARS, VECTORS, FieldMap, document_id, field_value
from germane.data.lines import decode, read_lines
from germane.data.long_numbers import lost_digits
from germane.errors import InputError
from germane.types import Document


def read_jsonl(
    path: str | Path,
    *,
    mapping: Mapping[str, str] | None = None,
    number: bool = False,
    encoding: str = "utf-8",
    on_bad: OnBad = stop,
) -> Iterator[Document]:
    """Documents of a JSON Lines file.

    The id is the field that `mapping["id"]` names, else the first of `ID_NAMES` that is there. With `number`, a record
    without one gets `file name:N`, N being the number of the record in the file.
    """
    source = str(path)
    names: FieldMap[object] | None = FieldMap(mapping) if mapping else None
    id_names = ("id",) if mapping and "id" in mapping else ID_NAMES
    id_field = mapping.get("id", "id") if mapping else "id"
    first_name = id_names[0]
    loads = orjson.loads
    count = 0
    for line_number, line in read_lines(path, encoding):
        try:
            record = loads(line)
        except orjson.JSONDecodeError as error:
            if not line.isspace():
                count += 1
                on_bad(_not_json(line, error, source, line_number))
            continue
        count += 1
        if type(record) is not dict:
            on_bad(_not_an_object(record, source, line_number))
            continue
        if names is not None:
            record = names.apply(record)
        identifier = record.pop(first_name, None)
        if type(identifier) is not str or not identifier or identifier.isspace():
            name = first_name
            if identifier is None:
                name = next((name for name in id_names if name in record), first_name)
                identifier = record.pop(name, None)
            good = document_id(identifier)
            if good is None and number and identifier is None:
                good = f"{Path(path).name}:{count}"
            if good is None:
                on_bad(_no_id(identifier, id_field if name == first_name else name, record, source, line_number))
                continue
            identifier = good
        vectors = record.pop(VECTORS) if type(record.get(VECTORS)) is dict else None
        if not EXACT.issuperset(map(type, record.values())):
            if lost := lost_digits(record, line):
                on_bad(InputError(lost, source=source, line=line_number))
                continue
            try:
                if not SCALARS.issuperset(map(type, record.values())):
                    record = {name: field_value(value) for name, value in record.items()}
            except orjson.JSONEncodeError as error:
                on_bad(InputError(f"cannot be stored: {error}", source=source, line=line_number))
                continue
        yield Document(identifier, record, vectors) if vectors else Document(identifier, record)
    if names is not None:
        names.check(source)


def json_object(line: bytes, source: str, number: int) -> dict[str, Any]:
    """The object that a line of JSON holds."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        decode(line, source, number)
        raise InputError(f"not valid JSON ({error.msg})", source=source, line=number) from None
    if not isinstance(record, dict):
        raise InputError("a JSON object is needed", source=source, line=number)
    return record


def _not_json(line: bytes, error: orjson.JSONDecodeError, source: str, number: int) -> InputError:
    try:
        decode(line, source, number)
    except InputError as invalid:
        return invalid
    hint = ""
    if number == 1 and line.lstrip()[:1] in (b"{", b"["):
        hint = "; each line must hold one whole JSON object"
    return InputError(f"not valid JSON ({error.msg}, column {error.colno}){hint}", source=source, line=number)


def _not_an_object(record: object, source: str, number: int) -> InputError:
    return InputError(f"a JSON object is needed, and this line is {_kind(record)}", source=source, line=number)


def _no_id(value: object, field: str, record: Mapping[str, object], source: str, line: int) -> InputError:
    if value is None:
        found = ", ".join(f"'{name}'" for name in record) or "none"
        message = f"the document has no id; fields found: {found}"
    else:
        message = f"an id must be a non-empty string or a whole number, and this one is {_kind(value)}"
    return InputError(message, source=source, line=line, field=field)


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "a string" if value.strip() else "an empty string"
    names = {dict: "an object", list: "an array", bool: "true or false", type(None): "null"}
    return names.get(type(value)) or f"the number {value}"
