"""What people typed is theirs: a query of the log is shown to those who may see logs, if enough people typed it.

Verdicts of the gate name the queries on which a model lost. Of those that are not shown there is their number, and the
means of the measure.
"""

from dataclasses import replace
from statistics import fmean

from germane.engine.models.values import JUDGED, GateReport, GateSet, ModelVersion, Withheld
from germane.server.roles import Role


def shown_version(version: ModelVersion, role: Role, min_users: int) -> ModelVersion:
    """The version as somebody of that role may see it."""
    return version if version.gate is None else replace(version, gate=shown_report(version.gate, role, min_users))


def shown_report(report: GateReport, role: Role, min_users: int) -> GateReport:
    """The verdict as somebody of that role may see it."""
    return replace(report, sets=tuple(_shown(each, role, min_users) for each in report.sets))


def _shown(found: GateSet, role: Role, min_users: int) -> GateSet:
    """Queries that somebody made to judge by are nobody's secret; of whom nobody was counted, nothing is known."""
    if found.name == JUDGED:
        return found
    shown = tuple(loss for loss in found.worst if role >= Role.ADMIN and (loss.users or 0) >= min_users)
    hidden = [loss for loss in found.worst if loss not in shown]
    if not hidden:
        return found
    told = Withheld(len(hidden), fmean(loss.candidate for loss in hidden), fmean(loss.baseline for loss in hidden))
    return replace(found, worst=shown, withheld=told)
