"""The cookies of a request, read in time that grows with their length, whatever stands in them.

`http.cookies` of Python before 3.11.10 and 3.12.6 takes 20 seconds for the escapes that a head of 64 KiB has room for,
and what reads cookies for Starlette's requests builds on it: nothing here asks a request for its `cookies`.
"""

import re

_ESCAPED = re.compile(r"\\(?:([0-3][0-7][0-7])|(.))", re.DOTALL)


def cookies_of(header: str) -> dict[str, str]:
    r"""The values by the names of the cookies; of several of one name the last.

    >>> cookies_of('a=1; b="two\\073 \\"three\\""; c')
    {'a': '1', 'b': 'two; "three"'}
    """
    found = {}
    for part in header.split(";"):
        name, equals, value = part.partition("=")
        if equals:
            found[name.strip()] = _unquoted(value.strip())
    return found


def _unquoted(value: str) -> str:
    if len(value) < 2 or not (value[0] == value[-1] == '"'):
        return value
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)) if match[1] else match[2], value[1:-1])
