"""Write the JSON shapes at the end of docs/cli.md: run `python docs/shapes.py` after changes (a test compares them)."""

from pathlib import Path
from typing import Any

from germane.classify.responses import PredictionResponse, TrainingResponse
from germane.clicks import ClickStats, ImportResponse, LogSimulation, PairsReport
from germane.clicks.log import LogErased
from germane.data.conversion import ConversionResponse
from germane.data.responses import DedupeResponse, DocumentResponse
from germane.engine.methods import MethodResponse
from germane.engine.models.values import GateReport, LearnReport, ModelVersion
from germane.engine.responses import (
    AddResponse,
    ExplainResponse,
    IndexStats,
    SearchResponse,
    VectorFieldStats,
)
from germane.evaluate.responses import (
    ComparisonResponse,
    DatasetResponse,
    EvaluationResponse,
    LabellingResponse,
    RunsResponse,
    TuningResponse,
)
from germane.index.check import CheckReport
from germane.index.repair import RepairReport
from germane.learning.values import Erasure
from germane.metasearch.responses import FindResponse
from germane.refine.responses import RefinementResponse
from germane.refine.screening.responses import ScreeningExplanation, ScreeningResponse, SimulationResponse
from germane.schema import schema_of
from germane.stream.responses import HitResponse, NewStoryResponse, TopicDetail, TopicResponse, TrackReportResponse
from germane.workspace.responses import (
    AgreementResponse,
    ConflictsResponse,
    KeptRecord,
    NotesResponse,
    WorkspaceResponse,
)

SHAPES: dict[str, tuple[Any, ...]] = {
    "index": (AddResponse,),
    "add": (AddResponse,),
    "dedupe": (DedupeResponse,),
    "convert": (ConversionResponse,),
    "track new": (TopicResponse,),
    "track run": (HitResponse,),
    "track report": (TrackReportResponse,),
    "track stories": (list[NewStoryResponse],),
    "track list": (list[TopicResponse],),
    "track show": (TopicDetail,),
    "clicks import": (ImportResponse,),
    "clicks stats": (ClickStats,),
    "clicks pairs": (PairsReport,),
    "clicks erase": (Erasure, LogErased),
    "clicks simulate": (LogSimulation,),
    "learn": (LearnReport,),
    "models list": (list[ModelVersion],),
    "models show": (ModelVersion,),
    "models compare": (GateReport,),
    "models promote": (ModelVersion,),
    "models rollback": (list[ModelVersion],),
    "models remove": (list[ModelVersion],),
    "workspace list": (WorkspaceResponse,),
    "workspace show": (KeptRecord,),
    "workspace note": (NotesResponse,),
    "workspace kappa": (AgreementResponse,),
    "workspace conflicts": (ConflictsResponse,),
    "vectors list": (list[VectorFieldStats],),
    "vectors search": (SearchResponse,),
    "search": (SearchResponse,),
    "find": (FindResponse,),
    "explain": (ExplainResponse,),
    "show": (DocumentResponse,),
    "stats": (IndexStats,),
    "check": (CheckReport,),
    "repair": (RepairReport,),
    "classify train": (TrainingResponse,),
    "classify predict": (PredictionResponse,),
    "classify evaluate": (LabellingResponse,),
    "refine": (RefinementResponse,),
    "screen": (ScreeningResponse, ScreeningExplanation, SimulationResponse),
    "evaluate": (EvaluationResponse,),
    "compare": (list[ComparisonResponse], RunsResponse),
    "tune": (TuningResponse,),
    "methods": (list[MethodResponse],),
    "data": (list[str], DatasetResponse),
}
"""What each command prints with --json: one of these."""

REFERENCE = Path(__file__).with_name("cli.md")
HEADING = "## JSON shapes\n"
WIDTH = 112


def outline(schema: dict[str, Any], indent: int = 0, before: int = 0) -> str:
    """A schema in short: `"name"?` is a member that may be left out, [...] a list, {*: ...} an object of any names."""
    kind = schema.get("type")
    if "anyOf" in schema:
        return " | ".join(outline(part, indent, before) for part in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(f'"{value}"' for value in schema["enum"])
    if kind == "array":
        return f"[{outline(schema['items'], indent, before + 1)}, ...]"
    if kind == "object" and "properties" not in schema:
        return f"{{*: {outline(schema['additionalProperties'], indent, before + 4)}}}"
    if kind == "object":
        return _members(schema, indent, before)
    return "any" if kind is None else kind if isinstance(kind, str) else " | ".join(kind)


def _members(schema: dict[str, Any], indent: int, before: int) -> str:
    parts = []
    for name, part in schema["properties"].items():
        key = f'"{name}"' + ("" if name in schema["required"] else "?")
        parts.append(f"{key}: {outline(part, indent + 2, len(key) + 2)}")
    line = f"{{{', '.join(parts)}}}"
    if "\n" not in line and indent + before + len(line) <= WIDTH:
        return line
    pad = " " * (indent + 2)
    return "{\n" + ",\n".join(pad + part for part in parts) + "\n" + " " * indent + "}"


def _description(shape: Any) -> str:
    schema = schema_of(shape)
    return str(schema.get("items", schema).get("description", "Names."))


def section() -> str:
    """The part of the reference, heading and all."""
    lines = [
        HEADING,
        "What `--json` prints, one line for each answer. `germane.schema.schema_of` gives the JSON Schema of each;",
        'every door prints the same values. Here `"name"?` is a member that may be left out, `[..., ...]` a list,',
        "`{*: ...}` an object whose names are data, and `number | null` a number that may be undefined.",
        "",
    ]
    for command, shapes in SHAPES.items():
        for shape in shapes:
            lines += [f"`{command}`: {_description(shape)}", "", "```text", outline(schema_of(shape)), "```", ""]
    return "\n".join(lines)


def main() -> None:
    text = REFERENCE.read_text(encoding="utf-8").partition(HEADING)[0].rstrip()
    REFERENCE.write_text(f"{text}\n\n{section()}", encoding="utf-8")


if __name__ == "__main__":
    main()
