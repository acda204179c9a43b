"""A topic's record: hits by day, and misses against false alarms where somebody judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from germane.data import read_qrels
from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.stream.health import EVERYTHING, health_of, replayed, timeline_of
from germane.stream.responses import Day, DetectionResponse, TopicResponse, TrackReportResponse
from germane.stream.watch import Watch

with on_first_use(__name__):
    from germane.evaluate import detection

if TYPE_CHECKING:
    from germane.evaluate.detection import DetectionCurve


@dataclass(frozen=True, slots=True)
class TrackReport:
    """Return the report about a topic, and the curve to draw."""

    response: TrackReportResponse
    _curve: "DetectionCurve | None"

    @property
    def timeline(self) -> tuple[Day, ...]:
        """Hits by day."""
        return self.response.timeline

    @property
    def curve(self) -> "DetectionCurve":
        """Misses over false alarms; `ParameterError` where nobody judged."""
        if self._curve is None:
            raise ParameterError("there is no curve: it needs documents judged on topic and others judged off it")
        return self._curve


def report_of(watch: Watch, name: str, qrels: str | Path | None = None, *, most: int = EVERYTHING) -> TrackReport:
    """The report on a topic, with the judgements of a file or else those that were made.

    `most`: documents of the stream that are gone through again, the latest; judgements on earlier ones are not counted.
    """
    topic = TopicResponse.of(watch.topic(name), health_of(watch, name))
    timeline = tuple(Day(*each) for each in timeline_of(watch, name))
    if qrels is not None:
        known: Mapping[str, bool] = {each.doc_id: each.grade > 0 for each in read_qrels(qrels) if each.query_id == name}
        if not known:
            raise ParameterError(f"{qrels} has no judgement with the query '{name}'")
        by = str(qrels)
    else:
        known, by = {each.document: each.on_topic for each in watch.judged(name)}, "judgements made here"
    trials = replayed(watch, name, most) if len({*known.values()}) == 2 or qrels is not None else []
    if qrels is None:
        trials = [trial for trial in trials if trial.document in known]
    target = [known.get(trial.document, False) for trial in trials]
    if all(target) or not any(target):
        return TrackReport(TrackReportResponse(topic, timeline, None), None)

    scores = [trial.score for trial in trials]
    costs = watch.topic(name).settings["costs"]
    weights = {"p_target": costs["p_target"], "cost_miss": costs["miss"], "cost_fa": costs["false_alarm"]}
    curve = detection.detection_curve(scores, target)
    best = detection.min_cost(curve, **weights)
    missed = sum(hit and score < topic.decision for hit, score in zip(target, scores, strict=True)) / sum(target)
    off = len(target) - sum(target)
    alarms = sum(not hit and score >= topic.decision for hit, score in zip(target, scores, strict=True)) / off
    cost = float(detection.normalised_cost(missed, alarms, **weights))
    found = DetectionResponse(by, sum(target), off, missed, alarms, cost, best.cost, best.threshold)
    return TrackReport(TrackReportResponse(topic, timeline, found), curve)
