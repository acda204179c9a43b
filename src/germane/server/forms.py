"""Forms that were sent from our own page: read within limits, and refused from anywhere else."""

import re
from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import Request

from germane.server.problems import ProblemError
from germane.server.safety import same_secret

MOST_FIELDS = 200
LONGEST = {"name": 200, "reviewer": 100, "reason": 500, "note": 5_000, "id": 500, "q": 2_000, "c": 200}
"""Characters of a field, as many as the API takes of it."""
LONGEST_OTHER = 16_000
"""Of all others: most is an address of the page, with 50 words and filters."""
_INSIDE = re.compile(r"/(?!/)[^\\\x00-\x1f]*")
"""Browsers leave out tabs and the ends of lines, and take backslashes for slashes: two slashes begin another site."""


class Form:
    """The fields of a form that was sent from our own page."""

    def __init__(self, fields: Any) -> None:
        self._fields = fields

    @classmethod
    async def of(cls, request: Request, files: int = 1) -> "Form":
        """Read it; refused unless it brings the value of the cookie, in a field or a header."""
        try:
            fields = await request.form(max_files=files, max_fields=MOST_FIELDS, max_part_size=1 << 20)
        except ProblemError:
            raise
        except Exception:
            raise ProblemError(400, "the form cannot be read") from None
        given = str(fields.get("csrf") or "")
        if not request.state.from_page and not same_secret(given, request.state.csrf):
            raise ProblemError(
                403, "the form is too old or does not come from this page: load the page again, and repeat it"
            )
        return cls(fields)

    def __getitem__(self, name: str) -> str:
        value = self._fields.get(name)
        return _checked(name, value) if isinstance(value, str) else ""

    def all(self, name: str) -> list[str]:
        """Every value of a field."""
        return [_checked(name, value) for value in self._fields.getlist(name) if isinstance(value, str)]

    async def close(self) -> None:
        """Let go of its files."""
        await self._fields.close()

    def file(self, name: str) -> UploadFile | None:
        """A file."""
        value = self._fields.get(name)
        return value if isinstance(value, UploadFile) else None

    def files(self, name: str) -> list[UploadFile]:
        """Every file of a field."""
        return [value for value in self._fields.getlist(name) if isinstance(value, UploadFile) and value.filename]


def _checked(name: str, value: str) -> str:
    most = LONGEST.get(name, LONGEST_OTHER)
    if len(value) > most:
        raise ProblemError(422, f"'{name}' has {len(value):,} characters, where {most:,} are taken: shorten it")
    return value


def inside(address: str, otherwise: str) -> str:
    """The address if it is one of ours."""
    return address if _INSIDE.fullmatch(address) else otherwise


def whole(text: str) -> int:
    """A whole number of a form or an address, which may be negative."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
        raise ProblemError(422, f"a whole number is wanted, not '{text[:40]}'")
    return int(text)
