"""The operations of /api/v1 on jobs and learnt models; `api.py` has the others."""

import os
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import anyio

from germane.data.owned import open_owned
from germane.declare import Field
from germane.engine.models.values import GateReport, ModelVersion
from germane.latent.names import LATENT_NAMES
from germane.lazy import on_first_use
from germane.server.api import COLLECTION, FORMAT, ON_KNOWN, K, members, text
from germane.server.exports import PIECE, TYPES, Attachment
from germane.server.jobs import has_ended
from germane.server.operations import Given, Media, Operation
from germane.server.problems import ProblemError
from germane.server.requested import requested
from germane.server.responses import JobResponse, JobsResponse, ModelsResponse
from germane.server.roles import Role
from germane.server.withholding import shown_report, shown_version
from germane.workspace.jobs import STATES

with on_first_use(__name__):
    from germane import clicks
    from germane.engine.models import model_store
    from germane.learning import loop
    from germane.server import finding, histories, work

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from germane.server.library import Library
    from germane.workspace.values import Job

LOOK_SECONDS = 0.25
"""Seconds between two looks of a stream at a job's progress."""
JOB = Field("job", "the number of a job", "integer", "path", least=1, most=10**11)
VERSION = Field("version", "a version, as clicks@3; clicks is the one that serves", where="path", most=100)
NAME = Field("name", "the name of a learnt model", where="path", most=64)
MODELS = "/collections/{collection}/models"


# -- jobs --------------------------------------------------------------------------------------------------------------


def described(job: "Job") -> JobResponse:
    """A job as JSON has it."""
    told = job.outcome if isinstance(job.outcome, Mapping) else {}
    result = told.get("result")
    return JobResponse(
        job.id, job.kind, job.state, dict(job.settings), job.at, job.started, job.ended, str(told.get("step", "")),
        int(told.get("done", 0)), told.get("total"), int(told.get("attempts", 0)), str(told.get("message", "")),
        dict(result) if isinstance(result, Mapping) else None,
    )  # fmt: skip


def jobs(library: "Library", given: Given) -> JobsResponse:
    found = library.workspace.jobs.all(given["state"])[::-1][: given["k"]]
    return JobsResponse(tuple(map(described, found)))


def job(library: "Library", given: Given) -> JobResponse:
    return described(library.workspace.jobs.get(given["job"]))


def cancel(library: "Library", given: Given) -> JobResponse:
    return described(library.workspace.jobs.cancel(given["job"]))


def new_import(library: "Library", given: Given) -> JobResponse:
    library.engine(given.body.get("collection"))
    library.uploads.waiting(given.body["key"])
    return described(library.jobs.add("import", given.body))


def new_training(library: "Library", given: Given) -> JobResponse:
    body = given.body
    library.engine(body.get("collection"))
    model_store.check_name(body.get("name", "clicks"))
    hold_out, share = body.get("hold_out", "query"), body.get("share", 0.2)
    try:  # complains before the work begins
        loop.LearnSettings(body.get("model", "wtm"), body.get("parameters", {}), hold_out, share)
    except TypeError as error:
        raise ProblemError(422, f"a parameter of the model cannot be used: {error}") from None
    return described(library.jobs.add("train", body))


def new_refresh(library: "Library", given: Given) -> JobResponse:
    search = library.saved_searches.search(given.body["search"])
    finding.sources_named(library, [name for name in search.source.split(",") if name])
    return described(library.jobs.add("refresh", given.body))


def new_export(library: "Library", given: Given) -> JobResponse:
    library.engine(given.body.get("collection"))
    return described(library.jobs.add("export", {**given.body, "file": secrets.token_hex(12)}))


def new_feed(library: "Library", given: Given) -> JobResponse:
    library.engine(given.body.get("collection"))
    return described(library.jobs.add("feed", given.body))


def job_file(library: "Library", given: Given) -> Attachment:
    found = described(library.workspace.jobs.get(given["job"]))
    if found.kind != "export" or found.state != "done" or found.result is None:
        raise ProblemError(404, f"there is no file of job {found.job}: it is no export, or it has not ended")
    path = library.home / "exports" / Path(str(found.result["file"])).name
    try:
        file = os.fdopen(open_owned(path), "rb")
    except FileNotFoundError:
        said = f"there is no file of job {found.job} any more: the latest are kept, for a day"
        raise ProblemError(404, said) from None
    return Attachment(_pieces_of(file), str(found.settings.get("format", "jsonl")))


def _pieces_of(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE):
            yield piece


async def progress_of(
    library: "Library", number: int, aside: "Callable[[Callable[[], Any]], Awaitable[Any]]"
) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """A job whenever it has changed, and at its end; the stream may begin at any time, in any process."""
    before: dict[str, Any] = {}
    following = requested.get()
    while True:
        if following is not None:
            following.begin_again()
        found = await aside(lambda: library.workspace.jobs.get(number))
        now = described(found).to_dict()
        if now != before:
            yield ("done" if has_ended(found) else "progress"), now
            before = now
        if has_ended(found) or library.jobs.ending.is_set():
            return
        await anyio.sleep(LOOK_SECONDS)


# -- models ------------------------------------------------------------------------------------------------------------


def models(library: "Library", given: Given) -> ModelsResponse:
    engine = library.engine(given["collection"])
    store = engine.models
    lines = {
        name: loop.health(engine, name, None, clicks.ClickRules()).line
        for name in store.names()
        if store.serving(name) is not None
    }
    return ModelsResponse(tuple(_shown(library, given, each) for each in store.versions()), lines)


def _shown(library: "Library", given: Given, version: ModelVersion) -> ModelVersion:
    return shown_version(version, given.role, library.settings.min_users)


def model(library: "Library", given: Given) -> ModelVersion:
    return _shown(library, given, library.engine(given["collection"]).models.version(given["version"]))


def gate(library: "Library", given: Given) -> GateReport:
    found = model(library, given)
    if found.gate is None:
        raise ProblemError(404, f"there is no verdict on {found.name}@{found.version}: it was never at the gate")
    return found.gate


def compare(library: "Library", given: Given) -> GateReport:
    engine = library.engine(given["collection"])
    baseline = None if given["baseline"] == "plain" else given["baseline"]
    least = library.settings.min_users
    users = least if given["min_users"] is None else given["min_users"]
    if users < least:
        raise ProblemError(
            422, f"a query counts here if {least:,} visitors typed it, or more: 'min_users' is not below that"
        )
    for each in (given["candidate"], *([baseline] if baseline else ())):
        engine.models.version(each)
    with histories.history(library.home, library.events, given["collection"]) as store:
        report = loop.compare(
            engine, store, given["candidate"], baseline, settings=loop.LearnSettings(), rules=work.click_rules(users)
        )
    return shown_report(report, given.role, least)


def promote(library: "Library", given: Given) -> ModelVersion:
    return _shown(library, given, library.engine(given["collection"]).models.promote(given["version"]))


def roll_back(library: "Library", given: Given) -> ModelsResponse:
    library.engine(given["collection"]).models.rollback(given["name"])
    return models(library, given)


TRAINING = members(
    (), collection=text(200), name=text(64), model={"type": "string", "enum": list(LATENT_NAMES)},
    hold_out={"type": "string", "enum": ["query", "time"]}, share={"type": "number", "minimum": 0, "maximum": 1},
    min_users={"type": "integer", "minimum": 1, "maximum": 10**6}, allow_equal={"type": "boolean"},
    force={"type": "boolean"},
    parameters={
        "type": "object", "maxProperties": 20,
        "additionalProperties": {"minimum": -10_000, "maximum": 10_000, "maxLength": 100},
    },
)  # fmt: skip
IMPORT = members(
    ("key",), key=text(64), collection=text(200),
    on_duplicate={"type": "string", "enum": list(ON_KNOWN)}, incomplete={"type": "boolean"},
)  # fmt: skip
EXPORT = members((), collection=text(200), format={"type": "string", "enum": list(FORMAT.choices)})
MIN_USERS = Field(
    "min_users", "a query that fewer visitors typed does not count; not below what the server was told", "integer",
    least=1, most=10**6,
)  # fmt: skip
BEGUN: Mapping[str, Any] = {"status": 202}
FILE = Media(tuple(media.partition(";")[0] for media in TYPES.values()))
STREAM = Operation(
    "GET", "/jobs/{job}/events", "A job's progress as server-sent events, 'progress' and at the end 'done'",
    lambda library, given: None, Media(("text/event-stream",)), (JOB,),
)  # fmt: skip
"""Served by `progress_of`."""

OPERATIONS: tuple[Operation, ...] = (
    Operation("GET", "/jobs", "Work in the background, the latest first", jobs, JobsResponse, (
        K, Field("state", "those in this state", choices=STATES))),
    Operation("GET", "/jobs/{job}", "A job", job, JobResponse, (JOB,)),
    Operation("GET", "/jobs/{job}/file", "What an export wrote", job_file, FILE, (JOB,)),
    Operation("POST", "/jobs/{job}/cancel", "Stop a job; what it did until then is kept", cancel, JobResponse, (JOB,),
              role=Role.ADMIN),
    Operation("POST", "/jobs/imports", "Take the records of a file in, in the background", new_import, JobResponse,
              body=IMPORT, role=Role.ADMIN, **BEGUN),
    Operation("POST", "/jobs/trainings", "Learn a model from what was clicked, and let it serve if it passes the gate",
              new_training, JobResponse, body=TRAINING, role=Role.ADMIN, **BEGUN),
    Operation("POST", "/jobs/refreshes", "Ask the sources of a saved search again", new_refresh, JobResponse,
              body=members(("search",), search={"type": "integer", "minimum": 1, "maximum": 10**11}), role=Role.MARKER,
              **BEGUN),
    Operation("POST", "/jobs/exports", "Write all documents of a collection to a file", new_export, JobResponse,
              body=EXPORT, role=Role.MARKER, **BEGUN),
    Operation("POST", "/jobs/feeds", "Show a collection's documents to all topics, in the background", new_feed,
              JobResponse, body=members((), collection=text(200)), role=Role.MARKER, **BEGUN),
    Operation("GET", MODELS, "The learnt models of a collection", models, ModelsResponse, (COLLECTION,)),
    Operation("GET", "/collections/{collection}/comparison", "Two versions on held-out clicks, as the gate does it",
              compare, GateReport, (COLLECTION, Field("candidate", "a version", required=True, least=1, most=100),
                                    Field("baseline", "another, or plain for the plain ranking", most=100,
                                              default="plain"), MIN_USERS), role=Role.ADMIN),
    Operation("GET", f"{MODELS}/{{version}}", "A version: what it was learnt from, and how it fared", model,
              ModelVersion, (COLLECTION, VERSION)),
    Operation("GET", f"{MODELS}/{{version}}/gate", "The verdict of the gate", gate, GateReport, (COLLECTION, VERSION)),
    Operation("POST", f"{MODELS}/{{version}}/promote", "Let a version serve", promote, ModelVersion,
              (COLLECTION, VERSION), role=Role.ADMIN),
    Operation("POST", f"{MODELS}/{{name}}/rollback", "Let the version serve that did before", roll_back,
              ModelsResponse, (COLLECTION, NAME), role=Role.ADMIN),
)  # fmt: skip
