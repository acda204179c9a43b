"""Names of projects and topics: one line of text, which also stands in the address of a page."""

from germane.errors import ParameterError


def check_name(name: str, owner: str) -> None:
    """Raise `ParameterError` unless `name` can be printed on one line and be one part of an address.

    `owner`: what has the name, as "a topic". A slash would end the part; browsers resolve "." and "..".
    """
    if not name.strip() or not name.isprintable() or "/" in name or name.strip() in (".", ".."):
        raise ParameterError(f"{owner} needs a name that can be printed on one line and holds no slash, not {name!r}")
