"""Who may do what: a reader looks; a marker keeps searches, marks, decisions and topics; an admin changes documents and
models, and sees what was clicked."""

import hmac
import os
import shlex
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from germane.errors import InputError, ParameterError
from germane.server.problems import ProblemError

MOST_BYTES = 1 << 20
SHORTEST = 16
"""Characters of a token."""
SAFE = {"GET", "HEAD", "OPTIONS"}
"""Methods that change nothing."""
FOR_EVERYBODY = ("/sign-in", "/settings", "/click", "/forget")
"""Forms of the browser's own: its cookies, what it opened, and that forgotten."""
FOR_ADMINS = ("/import", "/models", "/jobs")
"""Beginnings of pages whose forms change documents or models."""
FOR_MARKERS = ("/find/stream",)
"""Pages that keep something though they are asked for with GET."""


class Role(IntEnum):
    """What a token allows; each allows what the ones before it do."""

    READER = 1
    MARKER = 2
    ADMIN = 3

    @property
    def word(self) -> str:
        """As it is written in files and documents.

        >>> Role.ADMIN.word
        'admin'
        """
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Token:
    """A secret that requests bring, what it allows, and whose it is, for the audit log."""

    value: str
    role: Role
    name: str = ""

    def __post_init__(self) -> None:
        if len(self.value) < SHORTEST:
            raise ParameterError(f"a token has at least {SHORTEST} characters")


def read_tokens(path: Path) -> tuple[Token, ...]:
    """The tokens of a file: on each line a role, a token and, if one likes, a name; # begins a comment."""
    try:
        with path.open("rb") as file:
            _require_private(path, os.fstat(file.fileno()))
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise InputError(f"a file of tokens has at most {MOST_BYTES:,} bytes", source=str(path))
        lines = content.decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError(f"cannot be read: {said}", source=str(path)) from None
    found: list[Token] = []
    for number, line in enumerate(lines, start=1):
        parts = line.partition("#")[0].split(maxsplit=2)
        if not parts:
            continue
        roles = {role.word: role for role in Role}
        if len(parts) < 2 or parts[0] not in roles:
            raise InputError(
                f"a line is a role ({', '.join(roles)}), a token and a name, as in 'reader {'x' * SHORTEST} Anna'",
                source=str(path), line=number,
            )  # fmt: skip
        try:
            found.append(Token(parts[1], roles[parts[0]], parts[2].strip() if len(parts) > 2 else ""))
        except ParameterError as error:
            raise InputError(str(error), source=str(path), line=number) from None
    if not found:
        raise InputError("there is no token in the file", source=str(path))
    if len({token.value for token in found}) < len(found):
        raise InputError("a token stands there twice", source=str(path))
    return tuple(found)


def _require_private(path: Path, found: os.stat_result) -> None:
    """Refuse a file that others may read or write; of root's, the group that the server is in may read it."""
    others = 0o037 if found.st_uid == 0 and os.geteuid() != 0 else 0o077
    if stat.S_ISREG(found.st_mode) and found.st_mode & others:
        raise InputError(
            f"other users of this machine can read or change the tokens: chmod 600 {shlex.quote(str(path))}",
            source=str(path),
        )


def identified(tokens: Iterable[Token], given: str) -> Token | None:
    """The token that was given. All are compared, each in constant time, so that the time tells nothing."""
    found = None
    for token in tokens:
        if hmac.compare_digest(token.value.encode(), given.encode()):
            found = token
    return found


def page_role(method: str, path: str) -> Role:
    """What a page needs: a form that of a marker, unless it is said above."""
    if path.startswith(FOR_MARKERS):
        return Role.MARKER
    if method in SAFE or path in FOR_EVERYBODY:
        return Role.READER
    return Role.ADMIN if path.startswith(FOR_ADMINS) else Role.MARKER


def require(has: Role, needed: Role) -> None:
    """Refuse unless the role is enough."""
    if has < needed:
        raise ProblemError(
            403, f"this needs the role {needed.word}, and the token that was given has the role {has.word}: ask "
            "whoever runs the server for another",
        )  # fmt: skip
