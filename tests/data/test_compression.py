import bz2
import gzip
import lzma
import random

import pytest
import zstandard

from germane.data.compression import compression_of, open_binary
from germane.data.lines import read_lines
from germane.errors import InputError, ParameterError

TEXT = b"".join(b"line %d\n" % number for number in range(1, 5001))
PACKED = {
    "gzip": gzip.compress(TEXT),
    "zstd": zstandard.compress(TEXT),
    "bzip2": bz2.compress(TEXT),
    "xz": lzma.compress(TEXT),
    None: TEXT,
}
PACKERS = {"gzip": gzip.compress, "bzip2": bz2.compress, "zstd": zstandard.compress, "xz": lzma.compress}
# Random letters hardly compress, so that a cut in the middle falls after many whole lines.
LETTERS = b"".join(bytes(random.Random(seed).choices(range(97, 123), k=200)) + b"\n" for seed in range(5000))


def content(path):
    with open_binary(path) as stream:
        return stream.read()


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("name", ["docs", "docs.gz", "docs.txt"])
def test_magic_bytes_decide_not_the_name(write, kind, name):
    assert compression_of(PACKED[kind]) == kind
    assert content(write(name, PACKED[kind])) == TEXT


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, zstandard.compress, lzma.compress])
def test_several_archives_one_after_another(write, pack):
    assert content(write("docs", pack(b"one\n") + pack(b"") + pack(b"two\n"))) == b"one\ntwo\n"
    assert content(write("empty", pack(b""))) == b""


@pytest.mark.parametrize(("kind", "pack"), PACKERS.items())
def test_truncated(write, kind, pack):
    packed = bz2.compress(LETTERS, 1) if kind == "bzip2" else pack(LETTERS)  # level 1: small blocks
    path = write("docs", packed[: len(packed) * 3 // 4])
    lines = []
    with pytest.raises(InputError, match=f"damaged or truncated {kind} file") as caught:
        lines.extend(read_lines(path))
    assert caught.value.source == str(path)
    assert caught.value.line is not None
    assert caught.value.line > 1000  # what came before the cut was read, and the place is known


@pytest.mark.parametrize(("kind", "pack"), PACKERS.items())
def test_corrupt(write, kind, pack):
    packed = bytearray(pack(LETTERS))
    packed[len(packed) // 2 :] = b"\x55" * (len(packed) - len(packed) // 2)
    with pytest.raises(InputError, match=f"damaged or truncated {kind} file"):
        content(write("docs", bytes(packed)))


def test_highly_compressed_zstd_is_read_in_bounded_pieces(write):
    path = write("zeros", zstandard.compress(b" " * (200 << 20)))
    with open_binary(path) as stream:
        assert len(stream.read(1000)) == 1000


def test_xz_with_padding_and_in_bounded_memory(write):
    packed = lzma.compress(b"one\n") + bytes(8) + lzma.compress(b"two\n") + bytes(4)
    assert content(write("docs.xz", packed)) == b"one\ntwo\n"
    with open_binary(write("zeros.xz", lzma.compress(b" " * (50 << 20)))) as stream:
        assert len(stream.read(1000)) == 1000


def test_binary_is_refused_at_its_line(write):
    path = write("docs", b"one\ntwo\nth\0ree\n")
    lines = []
    with pytest.raises(InputError, match="line 3: holds NUL bytes, so it is not text"):
        lines.extend(read_lines(path))
    assert lines == [(1, b"one\n"), (2, b"two\n")]


@pytest.mark.parametrize(("head", "what"), [(b"PK\x03\x04\0\0", "zip"), (b"\xff\xfeh\0i\0", "encoding='utf-16'")])
def test_known_binary_files_are_named(write, head, what):
    with pytest.raises(InputError, match=what):
        content(write("docs", head))


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(InputError, match=r"nowhere: no such file"):
        open_binary(tmp_path / "nowhere")
    with pytest.raises(InputError, match="a folder, where a file is needed"):
        open_binary(tmp_path)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "cp1252", "shift_jis"])
def test_other_encodings_become_utf8(write, encoding):
    text = "one\ntwo £\n" * 50_000 if encoding != "shift_jis" else "日本\n" * 50_000
    path = write("docs", gzip.compress(text.encode(encoding)))
    assert b"".join(line for _, line in read_lines(path, encoding)).decode() == text


def test_invalid_byte_in_another_encoding(write):
    path = write("docs", b"one\ntwo\nthr\x81ee\n")
    with pytest.raises(InputError, match="line 3: byte 12 of the file is not valid cp1252"):
        list(read_lines(path, "cp1252"))


@pytest.mark.parametrize("encoding", ["nonsense", "hex", "undefined"])
def test_unknown_encoding(write, encoding):
    with pytest.raises(ParameterError, match=f"no text encoding is called '{encoding}'"):
        open_binary(write("docs", "x"), encoding)
