"""The loop: ask sources in turn, wait for pipes, keep what came, hand on what became of it, send what was promised."""

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from germane.stream.arrivals import Arrival
from germane.stream.intake import Intake
from germane.stream.outbox import Outbox
from germane.stream.sources import QUIET, ArrivalSource, Pipe
from germane.stream.values import Processed
from germane.stream.watch import Watch

EVERY = 300.0
"""Seconds between two rounds."""
_NOTHING = Processed((), 0, 0, 0)


def run(
    watch: Watch,
    sources: Sequence[ArrivalSource],
    intake: Intake,
    *,
    posts: Sequence[Mapping[str, str]] = (),
    outbox: Outbox | None = None,
    follow: bool = False,
    every: float = EVERY,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> Iterator[Processed]:
    """What came of each batch, which is on disk by then, and an empty value after each round; without `follow`, one.

    A pipe is read after the others, to its end: they are asked again meanwhile, so that it may be quiet for long.
    `posts`: where every hit is sent (`Watch.process`). What waits in the outbox is sent first, after every batch, and
    while nothing comes.
    """
    pipes = [source for source in sources if isinstance(source, Pipe)]
    polled = [source for source in sources if not isinstance(source, Pipe)]

    def deliver() -> None:
        if outbox is not None:
            outbox.deliver(intake)

    def taken(source: ArrivalSource) -> Iterator[Processed]:
        for batch in _noted(source, intake):
            done = watch.process(batch, posts=posts) if batch else _NOTHING
            if done.new and not intake.new:
                gc.freeze()  # topics, words and modules stay: they are not gone through for garbage again and again
            intake.add(done)
            yield done
            deliver()

    def asked() -> Iterator[Processed]:
        intake.begin_round()
        deliver()
        for source in polled:
            yield from taken(source)
            source.settle()
        yield _NOTHING

    yield from asked()
    due = now() + every
    for pipe in pipes:
        for done in taken(pipe):
            yield done
            if now() >= due:
                if follow:
                    yield from asked()
                intake.begin_round()
                due = now() + every
    while follow:
        left = every
        while outbox is not None and (nap := max(outbox.due_in(), QUIET)) < left:
            sleep(nap)
            left -= nap
            deliver()
            yield _NOTHING
        sleep(left)
        yield from asked()


def _noted(source: ArrivalSource, intake: Intake) -> Iterator[list[Arrival]]:
    """The batches of a source; that it had trouble is noted, as it alone is asked meanwhile."""
    batches = source.poll(intake)
    while True:
        before = intake.n_troubles
        batch = next(batches, None)
        if intake.n_troubles > before:
            intake.troubled.add(source.name)
        if batch is None:
            return
        yield batch
