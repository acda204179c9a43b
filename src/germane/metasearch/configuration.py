"""Sources as a person configures them, in a TOML or JSON file. Keys are named there, and kept in the environment."""

import dataclasses
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Any, get_origin

import orjson

from germane.errors import GermaneError, InputError, ParameterError
from germane.metasearch.rates import Rate
from germane.metasearch.registry import PUBLIC, SOURCE_KINDS, SOURCES
from germane.metasearch.secrets import Secret
from germane.metasearch.sources.source import Source, WebSource

USUAL_KEYS = {"pubmed": "NCBI_API_KEY", "openalex": "OPENALEX_API_KEY", "crossref": "CROSSREF_PLUS_TOKEN"}
"""Where a key is looked for if the settings do not say."""
MANIFEST = "MANIFEST"
"""What a folder has that is an index."""

_OPAQUE = {"kind", "key", "_kept", "engine", "rate"}


@dataclass(frozen=True)
class Configuration:
    """`email` is told to sources that ask for one; `sources` by name, each with its kind and settings.

    email = "me@example.org"

    [sources.pubmed]                        settings of a known source
    key_env = "MY_NCBI_KEY"                 the environment variable that holds the key

    [sources.lab]                           one of your own
    kind = "elasticsearch"
    url = "http://10.0.0.5:9200"            your own address may be a private one
    index = "papers"
    """

    email: str = ""
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    folder: Path = field(default_factory=Path)
    """What paths in it begin from."""

    @classmethod
    def read(cls, path: str | Path) -> "Configuration":
        """The settings of a file that ends in .toml or .json; `InputError` says what in it cannot be used."""
        path = Path(path)
        try:
            data = path.read_bytes()
            content = orjson.loads(data) if path.suffix.lower() == ".json" else tomllib.loads(data.decode())
        except FileNotFoundError:
            raise InputError("no such file", source=str(path)) from None
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", source=str(path)) from None
        except (tomllib.TOMLDecodeError, orjson.JSONDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"neither TOML nor JSON: {error}", source=str(path)) from None
        sources = content.get("sources", {}) if isinstance(content, dict) else None
        if not isinstance(sources, dict) or not all(isinstance(one, dict) for one in sources.values()):
            raise InputError("settings are tables [sources.NAME]", source=str(path))
        if unknown := sorted(content.keys() - {"email", "sources"}):
            raise InputError(f"unknown settings: {', '.join(unknown)}; there are email and sources", source=str(path))
        made = cls(str(content.get("email", "")), sources, path.parent)
        for name in sources:
            try:
                made.source(name, {})
            except GermaneError as error:
                raise InputError(str(error), source=str(path), field=f"sources.{name}") from None
        return made

    def source(self, name: str, environment: Mapping[str, str] | None = None) -> Source:
        """The source of that name: one of the settings, one that needs none, or the path of an index or of files."""
        if name in self.sources:
            return self._configured(name, dict(self.sources[name]), os.environ if environment is None else environment)
        if name in PUBLIC:
            return self._configured(name, {}, os.environ if environment is None else environment)
        path = Path(name)
        if path.exists():
            label = path.name.replace(",", "_").replace(":", "_") or "files"
            kind = "index" if (path / MANIFEST).exists() else "folder"
            return SOURCES[kind](name=label, path=path)  # type: ignore[call-arg]
        known = ", ".join(dict.fromkeys((*self.sources, *PUBLIC)))
        raise ParameterError(f"there is no source '{name}': it is none of {known}, and no index, file or folder")

    def all(self, names: Sequence[str]) -> list[Source]:
        """The sources of these names; two paths of one name are told apart by their number."""
        found: list[Source] = []
        for name in names:
            source = self.source(name)
            taken = {other.name for other in found}
            if source.name in taken:
                number = next(n for n in range(2, len(names) + 2) if f"{source.name} {n}" not in taken)
                source = dataclasses.replace(source, name=f"{source.name} {number}")
            found.append(source)
        return found

    def _configured(self, name: str, settings: dict[str, Any], environment: Mapping[str, str]) -> Source:
        kind = str(settings.pop("kind", name))
        if kind not in SOURCES:
            raise ParameterError(f"there is no kind of source '{kind}'; there are {', '.join(SOURCE_KINDS)}")
        if "key" in settings:
            raise ParameterError("keys do not belong into this file: name the environment variable with key_env")
        made = SOURCES[kind]
        known = {one.name: one for one in dataclasses.fields(made) if one.init and one.name not in _OPAQUE}
        variable = settings.pop("key_env", USUAL_KEYS.get(kind, ""))
        per_second = settings.pop("per_second", None)
        if unknown := sorted(settings.keys() - known.keys()):
            takes = sorted(
                {*known, "kind", *(("key_env", "per_second") if issubclass(made, WebSource) else ())} - {"name"}
            )
            raise ParameterError(f"'{kind}' has no setting {', '.join(unknown)}; it takes {', '.join(takes)}")
        for one, value in settings.items():
            _require_usable(name, one, value, known[one].type)
        if issubclass(made, WebSource):
            settings.setdefault("email", self.email)
            if variable and environment.get(str(variable)):
                settings["key"] = Secret(environment[str(variable)])
            if per_second is not None:
                settings["rate"] = _rate(per_second)
        if "path" in settings:
            settings["path"] = self.folder / Path(str(settings["path"])).expanduser()
        for one, value in settings.items():
            if isinstance(value, list):
                settings[one] = tuple(value)
        return made(**{"name": name, **settings})


def _require_usable(source: str, setting: str, value: Any, declared: Any) -> None:
    """Complain of a value that is not of the type which the source declares for that setting."""
    usable, wanted = _WANTED[get_origin(declared) or declared]
    if not usable(value):
        raise ParameterError(f"the setting {setting} of the source '{source}' is {wanted}, not {value!r}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_TEXT: tuple[Callable[[Any], bool], str] = (_is_text, "a text in quotes")
_WANTED: Mapping[Any, tuple[Callable[[Any], bool], str]] = {
    str: _TEXT,
    UnionType: _TEXT,  # a path, or a text that may be left out
    bool: (lambda value: isinstance(value, bool), "true or false"),
    int: (lambda value: isinstance(value, int) and not isinstance(value, bool), "a whole number"),
    float: (lambda value: isinstance(value, int | float) and not isinstance(value, bool), "a number"),
    tuple: (lambda value: isinstance(value, list | tuple) and all(map(_is_text, value)), "a list of texts"),
    Mapping: (
        lambda value: isinstance(value, Mapping) and all(map(_is_text, value.values())),
        "a table from texts to texts",
    ),
}
"""Of each type that a source declares: what can be used, and what it is called."""


def _rate(per_second: Any) -> Rate:
    if not isinstance(per_second, int | float) or isinstance(per_second, bool) or not 0 < per_second <= 1000:
        raise ParameterError("per_second is a number above 0, up to 1,000")
    return Rate(max(int(per_second), 1), max(1.0, 1.0 / per_second))
