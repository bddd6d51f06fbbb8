"""One node's diagnostic: fine, or what is wrong in a line for a person."""

from __future__ import annotations

from collections.abc import Mapping

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from std_msgs.msg import Header


def diagnosis(
    stamp: Time, name: str, robot: str, trouble: str, values: Mapping[str, object]
) -> DiagnosticArray:
    """Return a diagnostic that warns of a trouble, or is fine when that is empty."""
    status = DiagnosticStatus(
        level=DiagnosticStatus.WARN if trouble else DiagnosticStatus.OK,
        name=name,
        message=trouble or 'running',
        hardware_id=robot,
        values=[KeyValue(key=key, value=_text(value)) for key, value in values.items()],
    )
    return DiagnosticArray(header=Header(stamp=stamp), status=[status])


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
