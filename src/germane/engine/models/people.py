"""Whose clicks a version was learnt from or tested on, so that erasing a person tells which versions hold that person.

    models/<name>/000003.people     a salt of this version, then a digest of 8 bytes for each person, sorted

A digest is of the code that the history gives a person, keyed with the salt: the file names nobody.
"""

import hashlib
import secrets
from collections.abc import Collection, Iterable

import numpy as np
import numpy.typing as npt

HEAD = b"GERMANE PEOPLE 1\n"
_SALT = 16
_DIGEST = np.dtype("<u8")


def people_bytes(codes: Iterable[int]) -> bytes:
    """The file of these people, with a new salt."""
    salt = secrets.token_bytes(_SALT)
    return HEAD + salt + np.unique(_digests(codes, salt)).tobytes()


def holds_one(content: bytes, codes: Collection[int]) -> bool:
    """Whether one of these people is in the file; `ValueError` where it is none."""
    salt, digests = content[len(HEAD) : len(HEAD) + _SALT], content[len(HEAD) + _SALT :]
    if not content.startswith(HEAD) or len(salt) != _SALT or len(digests) % _DIGEST.itemsize:
        raise ValueError("not a list of people")
    return bool(np.isin(_digests(codes, salt), np.frombuffer(digests, _DIGEST)).any())


def _digests(codes: Iterable[int], salt: bytes) -> npt.NDArray[np.uint64]:
    keyed = (hashlib.blake2b(int(code).to_bytes(8, "little"), digest_size=8, key=salt).digest() for code in codes)
    return np.frombuffer(b"".join(keyed), _DIGEST)
