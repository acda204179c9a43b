"""Changes to text files: what disks, programs and people do to them, and what an attacker does."""

from random import Random
from typing import NamedTuple

TOKENS = (
    b'{"id":', b"}", b"[", b"]", b'"', b"'", b"\\", b",", b";", b"\t", b"\n", b"\r\n", b"\r", b"\n\n\n", b" ",
    b"|", b"#",
    b"<DOC>", b"</DOC>", b"<DOCNO>", b"<TEXT>", b"<!--", b"-->", b"<top>", b"</top>", b"<num>", b"<title>", b"&amp;",
    b"&#0;", b"&#x110000;", b"&x;", b"<![CDATA[", b"]]>", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"<?xml version='1.0'?>",
    b"<PubmedArticle>", b"</PubmedArticle>", b"<PMID>", b"PMID- ", b"TI  - ", b"TY  - JOUR", b"ER  - ", b"AB  - ",
    b"@misc{", b"@string{a = a # a}", b"{", b"(", b")", b"= ", b" and ", b"\\'", b"\\alpha", b"Q0", b"nan",
    b"inf", b"-0",
    b"1e999", b"18446744073709551616", b"1" * 400, b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xc3",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80", "\u2028\u0085\x1c\x0b".encode(), "\u202e\x1b[2J".encode(), "é𝒳ﬁ".encode(), b"=", b"+",
    b"-", b"@",
)  # fmt: skip


LONG = 50_000
"""Bytes of a piece that comes very often: what is not linear takes seconds."""


class Mutated(NamedTuple):
    """The changed bytes, and how many of the first are as they were."""

    data: bytes
    kept: int


def mutate(data: bytes, rng: Random, others: tuple[bytes, ...] = ()) -> Mutated:
    """One change, or a few."""
    kept = len(data)
    for _ in range(1 if rng.random() < 0.7 else rng.randint(2, 6)):
        data, at = _one(data, rng, others)
        kept = min(kept, at)
    return Mutated(data, kept)


def _one(data: bytes, rng: Random, others: tuple[bytes, ...]) -> tuple[bytes, int]:
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + rng.choice((1, 1, 2, 8, 64, 1000)))
    match rng.randrange(10):
        case 0 if at < len(data):  # a bit
            return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :], at
        case 1 if at < len(data):  # a byte
            return data[:at] + rng.randbytes(1) + data[at + 1 :], at
        case 2:  # the end is missing
            return data[:at], at
        case 3:  # a piece is missing
            return data[:at] + data[end:], at
        case 4:  # a piece comes twice
            return data[:end] + data[at:end] + data[end:], end
        case 5:  # a piece comes very often
            return data[:end] + data[at:end] * rng.choice((10, 100, 1000, LONG // (end - at + 1))) + data[end:], end
        case 6:  # noise
            return data[:at] + rng.randbytes(rng.choice((1, 4, 32))) + data[end:], at
        case 7:  # zeros, as a disk leaves them
            return data[:at] + bytes(end - at) + data[end:], at
        case 8 if others:  # a piece of another file
            other = rng.choice(others)
            start = rng.randrange(len(other) + 1)
            return data[:at] + other[start : start + 200] + data[end:], at
        case _:  # what means something to a reader
            return data[:at] + b"".join(rng.choices(TOKENS, k=rng.choice((1, 1, 2, 3)))) + data[at:], at
