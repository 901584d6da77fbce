"""The JSON document of a report: canonical, versioned, exact; every other form of a report is made from it."""

from __future__ import annotations

import json
import shlex
from typing import Any, Final

from dpaudit.codec import check_names, decode, encode
from dpaudit.errors import InvalidArgument
from dpaudit.exact import instance_of
from dpaudit.results import Report, Settings, TargetResult, Values

SCHEMA_VERSION: Final = "1"
_TOOL: Final = "dpaudit"


def to_json(report: Report) -> str:
    """The report as a JSON document; equal reports give equal text.

    Args:
      report: what an audit found.
    Returns:
      A JSON object with sorted names, ASCII only, ending in a line break. `evidence` depends on targets and settings alone;
      `env`, `seconds`, `left_out` and `tool` are outside it. `dpaudit/report/schema.json` describes every field.
    Raises:
      TypeError: a field holds something that its type does not allow.
    Source: design rule 8 (every number in a report can be recomputed).
    Example:
      >>> from fractions import Fraction
      >>> report = Report(Settings(alpha=Fraction(1, 20), runs=1000, seed=0), results=())
      >>> from_json(to_json(report)) == report
      True
    """
    document = {
        "schema": SCHEMA_VERSION,
        "tool": {"name": _TOOL, "version": instance_of(report, Report, "report").version},
        "env": dict(report.env),
        "seconds": {name: encode(value, float) for name, value in report.seconds},
        "evidence": _evidence(report),
        **({"left_out": list(report.left_out)} if report.left_out else {}),
    }
    return json.dumps(document, sort_keys=True, indent=1, allow_nan=False) + "\n"


def evidence_bytes(report: Report) -> bytes:
    """The evidence alone: identical bytes for identical targets and settings, whatever the machine and the workers.

    Args:
      report: what an audit found.
    Returns:
      Canonical JSON: sorted names, no white space, ASCII.
    Raises:
      TypeError: a field holds something that its type does not allow.
    Source: design rule 8 (every number in a report can be recomputed).
    Example:
      >>> from fractions import Fraction
      >>> evidence_bytes(Report(Settings(alpha=Fraction(1, 20), runs=9, seed=0), results=()))[:29]
      b'{"complete":true,"results":[]'
    """
    return json.dumps(_evidence(report), sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def from_json(text: str | bytes) -> Report:
    """The report that a JSON document holds.

    Args:
      text: what `to_json` gave; the names of `env` and `seconds` come back sorted.
    Returns:
      The report, equal to the one that was written.
    Raises:
      InvalidArgument: not JSON, another schema version, or fields missing, unknown or of another type (DPA501).
    Source: design rule 8 (every number in a report can be recomputed).
    Example:
      >>> from_json("{}")
      Traceback (most recent call last):
      dpaudit.errors.InvalidArgument: DPA501 this is not a dpaudit report: it has no schema version.
    """
    try:
        document = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument(
            "DPA501",
            "this is not a dpaudit report: it is not JSON. `dpaudit audit ... --report DIR` writes DIR/report.json.",
        ) from error
    if not isinstance(document, dict) or "schema" not in document:
        raise InvalidArgument("DPA501", "this is not a dpaudit report: it has no schema version.")
    if str(document["schema"]).startswith("dossier"):
        raise InvalidArgument("DPA501", "this is a dossier of `dpaudit audit papers` and no report; its page stands beside it.")
    if document["schema"] != SCHEMA_VERSION:
        raise InvalidArgument(
            "DPA501", f"the report's schema version is not {SCHEMA_VERSION}, the only one known here. Use a newer dpaudit."
        )
    try:
        return _report(document)
    except RecursionError as error:
        raise InvalidArgument("DPA501", "the report is nested too deeply.") from error


def reproduce_command(result: TargetResult, path: str = "report.json") -> str | None:
    """The command that draws the recorded runs of a target again and compares the counts; None where there are none to draw."""
    if result.reference is None or result.attack is None:
        return None
    return f"dpaudit replay {shlex.quote(f'{path}#{result.name}')}"


def audit_command(report: Report) -> str | None:
    """The command that repeats a whole audit, where there is one."""
    settings, references = report.settings, [result.reference for result in report.results]
    names = [reference.partition("#")[0] for reference in references if reference is not None]
    if not names or len(names) < len(references):
        return None
    # Shares of alpha depend on all targets, and the command line sets neither family nor power.
    if not report.complete or (settings.family, settings.power_target) != (Settings.family, Settings.power_target):
        return None
    budget = f"--runs {settings.runs}" if settings.seconds is None else f"--time-budget {settings.seconds}"
    data = [] if settings.data is None else ["--data", shlex.quote(settings.data)]
    shown = ["--show-values"] if settings.show_values else []
    shown += ["--stop-early"] if settings.stop_early is not False else []
    targets = [shlex.quote(name) for name in dict.fromkeys(names)]
    return " ".join(["dpaudit audit", *targets, *data, *shown, f"--alpha {settings.alpha} {budget} --seed {settings.seed}"])


def _evidence(report: Report) -> dict[str, Any]:
    """What the targets and settings determine."""
    return {
        "settings": encode(instance_of(report, Report, "report").settings, Settings),
        "results": [_encode_result(result) for result in report.results],
        "complete": report.complete,
    }


def _encode_result(result: TargetResult) -> dict[str, Any]:
    """A result with the command that repeats it."""
    fields = encode(result, TargetResult)
    assert isinstance(fields, dict), "a dataclass becomes an object"  # noqa: S101
    return fields | {"reproduce": reproduce_command(result)}


def _report(document: dict[str, Any]) -> Report:
    """The report inside a parsed document."""
    # Without anything left out the field is not there, so that earlier versions read the report.
    check_names({"left_out": [], **document}, {"schema", "tool", "env", "seconds", "evidence", "left_out"}, "the report")
    tool, evidence = _object(document["tool"], "tool"), _object(document["evidence"], "evidence")
    check_names(tool, {"name", "version"}, "tool")
    check_names(evidence, {"settings", "results", "complete"}, "evidence")
    if tool["name"] != _TOOL:
        raise InvalidArgument("DPA501", f"the report was not written by {_TOOL}.")
    if not isinstance(evidence["results"], list):
        raise InvalidArgument("DPA501", "evidence.results must be a list.")
    return Report(
        settings=decode(
            {"show_values": False, **_object(evidence["settings"], "evidence.settings")}, Settings, "evidence.settings"
        ),
        results=tuple(_decode_result(result, f"evidence.results[{place}]") for place, result in enumerate(evidence["results"])),
        env=tuple((name, decode(value, str, f"env.{name}")) for name, value in sorted(_object(document["env"], "env").items())),
        seconds=tuple(
            (name, decode(value, float, f"seconds.{name}"))
            for name, value in sorted(_object(document["seconds"], "seconds").items())
        ),
        complete=decode(evidence["complete"], bool, "evidence.complete"),
        version=decode(tool["version"], str, "tool.version"),
        left_out=decode(document.get("left_out", []), tuple[str, ...], "left_out"),
    )


def _decode_result(document: Any, where: str) -> TargetResult:
    """A result from its object; the command that repeats it is made anew from the rest."""
    # Reports from before values could be hidden show them and do not say so.
    fields = {"values": str(Values.EARLIER), **_object(document, where)}
    if "reproduce" not in fields:
        raise InvalidArgument("DPA501", f"{where} lacks reproduce.")
    decode(fields.pop("reproduce"), str | None, f"{where}.reproduce")
    found: TargetResult = decode(fields, TargetResult, where)
    return found


def _object(value: Any, where: str) -> dict[str, Any]:
    """A JSON object; anything else is refused."""
    if not isinstance(value, dict):
        raise InvalidArgument("DPA501", f"{where} must be an object.")
    return value
