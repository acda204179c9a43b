"""The versions of an index's learnt models, in the folder `models` beside its segments.

    models/<name>/000003.model      the model (`latent.saving`), checksummed, never changed
    models/<name>/000003.people     whose clicks it holds (`people.py`), so that erasing tells
    models/<name>/000003.json       what it was learnt from and how it fared; a version exists once this is there
    models/<name>/SERVING           which version serves, and those that served before, the last one last; once one was
                                    removed, the highest number that was given, so that none is given again
    models/<name>/LOCK              held by whoever adds, promotes or removes
    models/PROMOTED                 the names that serve, the one promoted last in the end: plain searches use it

Every file is written under another name, flushed and renamed (`index/durable.py`). A reader looks at SERVING, then
opens files that never change: it sees the old model or the new one. The index itself knows nothing of the folder.
"""

import contextlib
import hashlib
import re
import threading
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import orjson

from germane.data.owned import fsync_folder, read_regular, storage_error
from germane.engine.models.people import holds_one, people_bytes
from germane.engine.models.promotion import FOLDER, LATEST
from germane.engine.models.source import FieldSource
from germane.engine.models.stage import LatentStage
from germane.engine.models.values import ModelVersion
from germane.engine.registry import PROMOTED
from germane.errors import GermaneError, InputError, ParameterError, StorageError
from germane.index.durable import WriterLock, make_folder, mode_in, storage_errors, write_atomic
from germane.latent.saving import LatentModel, load, save
from germane.rank.registry import MODELS
from germane.schema import value_of

SERVING = "SERVING"
DEFAULT_NAME = "clicks"
OTHER_MODEL = "the learnt model is not the one that its record tells of"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_RECORD = re.compile(r"(\d{6})\.json")
MOST_RECORD, MOST_MODEL = 64 << 20, 16 << 30
"""Bytes of files that are read."""


@dataclass(frozen=True, slots=True)
class _Pointer:
    """What SERVING says."""

    served: tuple[int, ...]
    last: int = 0


class ModelStore:
    """The learnt models of an index."""

    def __init__(self, index: Path) -> None:
        self._folder = index / FOLDER
        self._stages: dict[tuple[str, int, str], LatentStage] = {}
        self._loading = threading.Lock()

    # -- looking -------------------------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """The models that have a version, sorted."""
        _refuse_links(self._folder)
        if not self._folder.is_dir():
            return []
        return sorted(path.name for path in self._folder.iterdir() if _NAME.fullmatch(path.name) and _numbers(path))

    def versions(self, name: str | None = None) -> list[ModelVersion]:
        """The versions of one model, or of all, the oldest first."""
        names = self.names() if name is None else [name]
        return [self.version(f"{each}@{n}") for each in names for n in _numbers(self._folder / each)]

    def serving(self, name: str = DEFAULT_NAME) -> ModelVersion | None:
        """The version that serves; None if none was promoted."""
        number = self.serving_number(name)
        return None if number is None else self.version(f"{name}@{number}")

    def promoted(self) -> str | None:
        """The model that plain searches use: of those that serve the one that was promoted last."""
        serving = [name for name in self.names() if self.serving_number(name) is not None]
        order = self._order()
        places = {name: order.index(name) if name in order else -1 for name in serving}
        return max(serving, key=lambda name: (places[name], name == DEFAULT_NAME), default=None)

    def version(self, reference: str) -> ModelVersion:
        """The version called so: `clicks@3`, or `clicks` for the one that serves."""
        name, number = self.resolved(reference)
        return replace(self._recorded(name, number), serving=self.serving_number(name) == number)

    def _recorded(self, name: str, number: int) -> ModelVersion:
        """What its record tells, whoever serves."""
        path = self._folder / name / f"{number:06}.json"
        try:
            content = orjson.loads(read_regular(path, MOST_RECORD))
            found: ModelVersion = value_of(ModelVersion, {**content, "serving": False})
            if (found.name, found.version) != (name, number):
                raise ValueError("the record of another version")
            return found
        except (OSError, ValueError, TypeError):
            raise InputError(
                f"the record of a learnt model is damaged; 'germane models remove {self._folder.parent} "
                f"{name}@{number}' deletes the version",
                source=str(path),
            ) from None

    def stage(self, reference: str) -> LatentStage:
        """The second stage that a version makes, loaded once."""
        found = self.version(reference)
        key = found.name, found.version, found.file
        with self._loading:
            if key not in self._stages:
                model = self._model(found)
                reference, weight = f"{found.name}@{found.version}", found.mixing.get("first_weight", 0.0)
                stage = LatentStage(model, weight, name=reference, source=str(FieldSource.of(found)))
                kept = {other: held for other, held in self._stages.items() if other[0] != found.name}
                self._stages = {**kept, key: stage}
            return self._stages[key]

    def _model(self, version: ModelVersion) -> LatentModel:
        path = self._folder / version.name / f"{version.version:06}.model"
        try:
            content = read_regular(path, MOST_MODEL)
            model = load(path, content)
        except OSError as error:
            why = storage_error(path, error, "read")
            raise InputError(f"{why}; {self._remedy(version.name)}") from None
        except InputError as error:
            raise InputError(f"{error.message}; {self._remedy(version.name)}", source=error.source) from None
        if _digest(content) != version.file:
            raise InputError(f"{OTHER_MODEL}; {self._remedy(version.name)}", source=str(path))
        return model

    def _remedy(self, name: str) -> str:
        index = self._folder.parent
        return (
            f"'germane models rollback {index} --name {name}' lets the version before serve, 'germane models remove "
            f"{index}' deletes a version, 'germane learn {index}' makes a new one"
        )

    def problems(self) -> list[str]:
        """A sentence for each file that is damaged or missing, with what to do. Nothing raises."""
        found: list[str] = []
        try:
            self._order()
        except InputError as error:
            found.append(f"{error}; 'germane models promote {self._folder.parent} NAME@N' says it anew")
        for name in self.names():
            try:
                lost = set(self._history(name)) - set(_numbers(self._folder / name))
            except InputError as error:
                found.append(f"{error}; 'germane models promote {self._folder.parent} {name}@N' says it anew")
                lost = set()
            found += [
                f"{self._folder / name}: {name}@{n} is to serve and is not there; {self._remedy(name)}"
                for n in sorted(lost)
            ]
            for number in _numbers(self._folder / name):
                try:
                    self._model(self._recorded(name, number))
                except GermaneError as error:
                    found.append(str(error))
        return found

    def learnt_from(self, days: Collection[str], people: Collection[int] | None = None) -> list[ModelVersion]:
        """The versions that have seen clicks of one of these days, or whose gate has; of these people, if they are
        named and the version tells whose clicks it holds (`tells_people`)."""
        return [
            each
            for each in self.versions()
            if any(each.data.has_seen(day) for day in days) and (people is None or self._may_hold(each, people))
        ]

    def tells_people(self, version: ModelVersion) -> bool:
        """Whether it is known whose clicks a version holds; not of one learnt by an earlier release, or damaged."""
        return self._people(version) is not None

    def _may_hold(self, version: ModelVersion, people: Collection[int]) -> bool:
        listed = self._people(version)
        return listed is None or holds_one(listed, people)

    def _people(self, version: ModelVersion) -> bytes | None:
        """The list of people as it was written; None where there is none, or another."""
        try:
            content = read_regular(self._folder / version.name / f"{version.version:06}.people", MOST_MODEL)
        except OSError:
            return None
        return content if _digest(content) == version.data.people else None

    def __contains__(self, reference: str) -> bool:
        name, _, number = reference.partition("@")
        if not _NAME.fullmatch(name) or name in MODELS:
            return False
        known = _numbers(self._folder / name)
        return number.isdigit() and int(number) in known if number else bool(known)

    # -- changing ------------------------------------------------------------------------------------------------------

    def add(
        self, name: str, model: LatentModel, version: ModelVersion, *, people: Collection[int] | None = None
    ) -> ModelVersion:
        """Keep a model with its record, as the next version of that name; `people`: the codes of those whose clicks it
        holds."""
        check_name(name)
        with self._changing(name) as folder:
            number = self._last(name) + 1
            target = folder / f"{number:06}.model"
            with storage_errors(target):
                save(model, target)
                target.chmod(mode_in(folder))
                digest = _digest(read_regular(target, MOST_MODEL))
            data = version.data
            if people is not None:
                listed = people_bytes(people)
                write_atomic(folder / f"{number:06}.people", listed)
                data = replace(data, people=_digest(listed))
            made = replace(version, name=name, version=number, file=digest, serving=False, data=data)
            record = asdict(made)
            del record["serving"]
            write_atomic(folder / f"{number:06}.json", orjson.dumps(record, option=orjson.OPT_INDENT_2) + b"\n")
        return made

    def promote(self, reference: str) -> ModelVersion:
        """Let a version serve from now on."""
        name, number = self.resolved(reference)
        self.stage(f"{name}@{number}")  # a damaged one must not serve
        with self._changing(name) as folder:
            history = [each for each in self._history(name) if each != number]
            self._point(folder, [*history, number])
        return self.version(f"{name}@{number}")

    def rollback(self, name: str = DEFAULT_NAME) -> ModelVersion | None:
        """Let the version serve that did before; None if there was none, and none serves now."""
        with self._changing(name) as folder:
            history = self._history(name)
            if not history:
                raise ParameterError(f"no version of '{name}' serves: there is nothing to take back")
            self._point(folder, history[:-1], latest=False)
        return self.serving(name)

    def remove(self, reference: str, *, force: bool = False) -> None:
        """Delete a version, its model and its record. The one that serves is deleted with `force` alone; then the one
        serves that did before.

        What is deleted serves no more first; then the model goes, then the record, so that whatever is left by a
        process that dies is a version still, which can be removed.
        """
        name, number = self.resolved(reference)
        with self._changing(name) as folder:
            history = self._history(name)
            if history[-1:] == [number] and not force:
                raise ParameterError(
                    f"{name}@{number} serves: promote another version before it is removed, or force it, and what "
                    "served before serves again"
                )
            self._point(folder, [each for each in history if each != number], latest=False)
            with storage_errors(folder):
                for ending in ("model", "people", "json"):
                    (folder / f"{number:06}.{ending}").unlink(missing_ok=True)
                fsync_folder(folder)
        with self._loading:
            self._stages = {key: stage for key, stage in self._stages.items() if key[:2] != (name, number)}

    # -- files ---------------------------------------------------------------------------------------------------------

    def resolved(self, reference: str) -> tuple[str, int]:
        """The name and the number of a version that is there, its record damaged or not."""
        name, sign, number = reference.partition("@")
        check_name(name)
        known = _numbers(self._folder / name)
        if not known:
            there = ", ".join(self.names())
            raise ParameterError(
                f"the index has no learnt model '{name}'; "
                + (f"there are: {there}" if there else "germane learn makes one of clicks")
            )
        if sign:
            if not number.isdigit() or int(number) not in known:
                raise ParameterError(f"'{name}' has no version '{number}'; there are: {', '.join(map(str, known))}")
            return name, int(number)
        serving = self.serving_number(name)
        if serving is None:
            recorded = [self._recorded(name, n) for n in known]
            passed = [each.version for each in recorded if each.gate is not None and each.gate.passed]
            why = (
                f"{name}@{passed[-1]} has passed the gate, and does not serve now"
                if passed
                else ("none of those that are there has passed the gate")
            )
            raise ParameterError(
                f"no version of '{name}' serves: {why}; promote one, or name it, as in {name}@{(passed or known)[-1]}"
            )
        return name, serving

    def serving_number(self, name: str) -> int | None:
        """The number of the version that serves, its record damaged or not."""
        history = self._history(name)
        return history[-1] if history else None

    def _history(self, name: str) -> list[int]:
        return self._pointer(name)[0]

    def _last(self, name: str) -> int:
        """The highest number that a version has or had."""
        return max([self._pointer(name)[1], *_numbers(self._folder / name)])

    def _pointer(self, name: str) -> tuple[list[int], int]:
        path = self._folder / name / SERVING
        try:
            content = value_of(_Pointer, orjson.loads(read_regular(path, MOST_RECORD)))
            return list(content.served), content.last
        except FileNotFoundError:
            return [], 0
        except (OSError, ValueError):
            raise InputError("it does not say which version serves", source=str(path)) from None

    def _point(self, folder: Path, served: list[int], *, latest: bool = True) -> None:
        """Say which version of a model serves and which did before; and that no other was promoted later."""
        name = folder.name
        write_atomic(folder / SERVING, orjson.dumps({"served": served, "last": self._last(name)}) + b"\n")
        try:
            before = self._order()
        except InputError:
            before = []
        order = [other for other in before if other != name or (served and not latest)]
        order += [name] if served and name not in order else []
        write_atomic(self._folder / LATEST, orjson.dumps({"order": order}) + b"\n")

    def _order(self) -> list[str]:
        """The names that serve, the one promoted last in the end; an index of an earlier release does not tell."""
        path = self._folder / LATEST
        try:
            content = value_of(dict[str, tuple[str, ...]], orjson.loads(read_regular(path, MOST_RECORD)))
            return list(content["order"])
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError):
            raise InputError("it does not say which model was promoted last", source=str(path)) from None

    @contextlib.contextmanager
    def _changing(self, name: str) -> Iterator[Path]:
        check_name(name)
        folder = self._folder / name
        _refuse_links(self._folder, folder)
        with storage_errors(folder):
            make_folder(folder, self._folder.parent)
        lock = WriterLock(folder)
        try:
            yield folder
        finally:
            lock.release()


def check_name(name: str) -> None:
    """Raise unless a learnt model may be called so."""
    if not _NAME.fullmatch(name):
        raise ParameterError(
            f"a learnt model's name has small letters, digits, - and _, and begins with a letter; not '{name}'"
        )
    if name in MODELS:
        raise ParameterError(f"'{name}' is a ranking model: give the learnt one another name")
    if name in (PROMOTED, "none"):
        raise ParameterError(f"'{name}' has a meaning of its own where a model is named: give this one another name")


def _refuse_links(*folders: Path) -> None:
    for folder in folders:
        if folder.is_symlink():
            raise StorageError(f"{folder} is a link, which is not followed here: put the folder itself there")


def _numbers(folder: Path) -> list[int]:
    """The versions whose records are there."""
    _refuse_links(folder.parent, folder)
    try:
        found = [_RECORD.fullmatch(path.name) for path in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StorageError(f"{folder} cannot be read: {error.strerror}") from error
    return sorted(int(match[1]) for match in found if match)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
