"""germane track new: a topic, from one example."""

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.analysis import analyzer_named
from germane.cli.commands.track.parts import MAIN, WORKSPACE, StreamName, TopicName, WorkspaceFile
from germane.cli.opening import open_engine
from germane.cli.progress import watched
from germane.cli.requests import settings_typed
from germane.cli.samples import sample_path
from germane.cli.streams import put_json, tell
from germane.errors import InputError, ParameterError
from germane.lazy import on_first_use
from germane.track.registry import METHOD_TITLES
from germane.types import RESULT_FIELDS, Document, text_of
from germane.wording import counted, titled

with on_first_use(__name__):
    from germane import data, track
    from germane import stream as streaming
    from germane import workspace as workspaces
    from germane.engine import methods
    from germane.index import manifest
    from germane.stream import files, health, responses
    from germane.stream import intake as stream_intake

if TYPE_CHECKING:
    from germane.stream import Watch
    from germane.workspace import Workspace


def new(
    name: TopicName,
    seed: Annotated[
        list[str],
        typer.Option(
            "--seed",
            metavar="FILE|-|ID",
            help="A document on the topic: a text or a file of records, - for stdin, or with --index an id there; "
            "repeatable.",
            show_default=False,
        ),
    ],
    index: Annotated[
        Path | None, typer.Option("--index", metavar="DIR", help="The index that holds the seeds.", show_default=False)
    ] = None,
    method: Annotated[str, typer.Option(help=f"One of {titled(METHOD_TITLES)}.")] = "germane",
    settings: options.Settings = None,
    cost_miss: Annotated[
        float,
        typer.Option(
            "--cost-miss",
            metavar="NUMBER",
            help="What a miss costs, where a false alarm costs 1: above 0; a higher one delivers more.",
        ),
    ] = 10.0,
    p_target: Annotated[
        float,
        typer.Option("--p-target", metavar="SHARE", help="The share of the stream expected on topic: between 0 and 1."),
    ] = 0.02,
    unjudged: Annotated[
        int | None,
        typer.Option(
            "--unjudged",
            metavar="N",
            help="Documents it may learn from that nobody judged; 0: none.",
            min=0,
            show_default="25",
        ),
    ] = None,
    background: Annotated[
        str | None,
        typer.Option(
            "--background",
            metavar="DIR|FILE",
            help="With the first topic of a stream: text of the same kind and on no topic, an index or documents.",
            show_default=False,
        ),
    ] = None,
    stemmer: options.Stemmer = "english",
    stopwords: options.Stopwords = "english",
    workspace: WorkspaceFile = WORKSPACE,
    stream: StreamName = MAIN,
    json: options.Json = False,
) -> None:
    """Follow a topic from now on, beginning with one document on it, or a few.

    The workspace is made where there is none. --stemmer and --stopwords hold for the whole stream: they count with its
    first topic.

    Example: germane track new quakes --seed story.txt

    Example: germane track new quakes --seed story.txt --background old-news.jsonl --cost-miss 20

    Example: germane track new quakes --seed story.txt --method sd --set precision=8

    Example: germane track new vaccines --seed malaria-vaccine --index my-index --background my-index
    """
    chosen, seeds = (
        track.method_named(method, **methods.track_settings(method, settings_typed(settings))),
        _seeds(seed, index),
    )
    if not 0.0 < cost_miss < math.inf:
        raise ParameterError(
            f"--cost-miss is what a miss costs where a false alarm costs 1: a number above 0, not {cost_miss:g}. To be "
            "told of less, take a small one, such as 0.1"
        )
    if not 0.0 < p_target < 1.0:
        raise ParameterError(f"--p-target is a share of the stream, between 0 and 1 as 0.02 is, not {p_target:g}")
    costs = track.Costs(miss=cost_miss, p_target=p_target)
    with workspaces.Workspace.open(workspace) as found:
        watch = _watch(found, stream, background, stemmer, stopwords, seeds)
        topic = watch.follow(name, seeds, method=chosen, costs=costs, unjudged=unjudged)
        if not health.known_words(watch, seeds):
            tell("note: no word of the seed occurs in the background: scores are rough until the stream brings some")
        answer = responses.TopicResponse.of(topic, health.health_of(watch, name))
    if json:
        put_json(answer)
    tell(f"'{name}' is followed from now on in {workspace}: it delivers from a score of {answer.decision:.2f}")


def _seeds(given: list[str], index: Path | None) -> list[str]:
    """The texts of the seeds."""
    if index is not None:
        engine = open_engine(index)
        return [text_of(engine.document(doc_id).fields, engine.text_fields) for doc_id in given]
    texts: list[str] = []
    for name in given:
        if name == "-":
            texts.append(sys.stdin.buffer.read().decode(errors="replace"))
            continue
        if not Path(name).is_file():
            raise InputError("no such file to take a seed from (an id needs --index)", source=name)
        found = _read(name)
        if not found:
            raise InputError("there is no document in it to take as a seed", source=name)
        texts += [text_of(document.fields, RESULT_FIELDS) for document in found]
    return texts


def _read(name: str) -> "list[Document]":
    intake = stream_intake.Intake()
    seeds = [Document(each.id, each.fields) for each in files.file_arrivals(Path(name), intake)]
    for trouble in intake.troubles:
        tell(f"skipped: {trouble}")
    return seeds


def _watch(
    workspace: "Workspace", stream: str, background: str | None, stemmer: str, stopwords: str, seeds: list[str]
) -> "Watch":
    if streaming.Watch.is_in(workspace, stream):
        if background is not None:
            raise ParameterError("the stream has a background already: --background goes with its first topic")
        return streaming.Watch.open(workspace, stream)
    analyzer = analyzer_named(stemmer, stopwords)
    if not any(analyzer.terms(seed) for seed in seeds):  # before a stream is begun for it
        raise ParameterError("a topic needs a seed with at least one word that is not a stop word")
    if background is None:
        documents = list(data.read_documents(sample_path()))
        tell(
            f"note: no --background was named: {counted(len(documents), 'short text')} that come with Germane stand "
            "in for it; scores are rough until the stream has brought a thousand documents"
        )
        return streaming.Watch.begin(workspace, documents, name=stream, analyzer=analyzer, described="the sample")

    read = watched(_background(background), "reading the background")
    return streaming.Watch.begin(workspace, read, name=stream, analyzer=analyzer, described=background)


def _background(source: str) -> "list[Document]":
    if (Path(source) / manifest.NAME).is_file():
        documents = list(open_engine(Path(source)).documents())
    else:
        documents = list(data.read_documents(source, on_error="skip", report=data.SkipReport(), number=True))
    if not documents:
        raise InputError("there are no documents in it", source=source)
    return documents
