"""Analysers on disk: the settings they leave behind, told apart and checked when they are read back."""

import hashlib
import json
from collections.abc import Mapping, Set
from typing import Any

from germane.errors import IndexFormatError
from germane.text.tokenizer import TOKENIZER_VERSION


def check_settings(settings: Mapping[str, Any], keys: Set[str]) -> None:
    """`IndexFormatError` unless the settings have these keys and were written by this version of the tokeniser."""
    if settings.keys() != keys:
        raise IndexFormatError(
            f"analyser settings have the keys {sorted(map(str, settings))}; this version reads {sorted(keys)}"
        )
    if settings["tokenizer"] != TOKENIZER_VERSION:
        raise IndexFormatError(
            f"the text was cut by version {settings['tokenizer']!r} of the tokeniser; "
            f"this version of Germane has version {TOKENIZER_VERSION}: index the documents again"
        )


def digest(settings: Mapping[str, Any]) -> str:
    """16 hex digits of the settings in one canonical form."""
    canonical = json.dumps(settings, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
