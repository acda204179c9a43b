"""Ids as TREC's files can hold them."""

import re

from germane.errors import InputError

_UNFIT = re.compile(r"[\s\0\ufeff\ud800-\udfff]", re.ASCII)


def writable_name(name: str, field: str) -> str:
    """The name, if it can be a column of a TREC file; white space, for one, would make two columns of it."""
    if not name or _UNFIT.search(name):
        raise InputError(f"{name!a} cannot be a column: it is empty, or has white space in it", field=field)
    return name
