"""Text in any encoding, read as UTF-8 bytes."""

import codecs
from collections.abc import Callable
from typing import TypeAlias

from germane.errors import InputError, ParameterError

Read: TypeAlias = Callable[[int], bytes]
"""Reads some bytes, at most as many as asked for; none at the end."""


def decoder_of(encoding: str) -> codecs.IncrementalDecoder | None:
    """A decoder to Unicode, or None where the bytes are UTF-8 already."""
    try:
        "".encode(encoding)  # refuses codecs that are not for text, such as "hex"
        codec = codecs.lookup(encoding)
        if codec.name in ("utf-8", "utf-8-sig", "ascii"):
            return None
        return codecs.getincrementaldecoder(encoding)()
    except (LookupError, UnicodeError):
        raise ParameterError(f"no text encoding is called '{encoding}'; try utf-8, latin-1 or utf-16") from None


class Transcoder:
    """Reads text in another encoding as UTF-8 bytes."""

    def __init__(self, read: Read, decoder: codecs.IncrementalDecoder, encoding: str, source: str) -> None:
        self._read = read
        self._decoder = decoder
        self._encoding = encoding
        self._source = source
        self._offset = 0
        self._failure: InputError | None = None

    def read(self, size: int) -> bytes:
        # A character may take four bytes of UTF-8 for one of the source.
        ask = max(1, size // 4)
        while self._failure is None:
            data = self._read(ask)
            state = self._decoder.getstate()
            try:
                text = self._decoder.decode(data, final=not data).encode()
            except UnicodeError as error:
                self._decoder.setstate(state)
                text = self._good_part(data, error)
            self._offset += len(data)
            if text or not data:
                if not text and self._failure is not None:
                    break
                return text
        raise self._failure

    def _good_part(self, data: bytes, error: UnicodeError) -> bytes:
        """Decode byte by byte up to the failure, so that the place reported is exact."""
        good: list[str] = []
        place = len(data)
        for place in range(len(data)):
            try:
                text = self._decoder.decode(data[place : place + 1])
                text.encode()
            except UnicodeError:
                break
            good.append(text)
        self._failure = InputError(
            f"byte {self._offset + place + 1} of the file is not valid {self._encoding}", source=self._source
        )
        self._failure.__cause__ = error
        return "".join(good).encode()
