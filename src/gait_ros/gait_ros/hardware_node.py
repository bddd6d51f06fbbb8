"""The node between controller_manager and motors: their names, signs, ratios and offsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
import sys
import time
from typing import Any

from rclpy.clock import Clock, ClockType
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from gait_core.errors import BadCommand, ConfigurationError
from gait_core.hardware import JointValues, read_hardware
from gait_core.names import unmatched
from gait_core.parameters import Parameters, flag, text
from gait_core.robot.load import load_robot
from gait_ros.diagnostics import Diagnostics
from gait_ros.joint_messages import (
    COMMANDS,
    MOTOR_COMMANDS,
    MOTOR_STATES,
    STATES,
    from_values,
    to_values,
)
from gait_ros.managed import ManagedNode
from gait_ros.parameters import DeclaredParameters, refuse_unknown_overrides
from gait_ros.qos import advertise, listen
from gait_ros.run_node import run_node
from gait_ros.services import serve

_REPEAT = 10.0
_WATCH_PERIOD = 1.0
_PATIENCE = 3.0
_SENDERS = {
    MOTOR_STATES: 'the driver of the motors',
    COMMANDS: 'controller_manager, with target:=topic,',
}


@dataclass(frozen=True, kw_only=True)
class HardwareNodeParams(Parameters):
    """Whose motors they are, and what is known of them."""

    robot: str = text('', doc='Robot name or folder.', read_only=True)
    hardware: str = text(
        '', doc='A hardware.yaml; empty: motors are named and turn as joints.', read_only=True
    )
    calibrated: str = text(
        'hardware.calibrated.yaml', doc='File that ~/calibrate writes; it must not be there.'
    )
    autostart: bool = flag(True, doc='Configure and activate without being asked.', read_only=True)


class HardwareNode(ManagedNode):
    """Passes commands on to motors and their states back, each in its own terms."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('hardware', **kwargs)
        self._declared = DeclaredParameters(self, HardwareNodeParams)
        chosen = self._declared.value
        self.autostart = chosen.autostart
        refuse_unknown_overrides(self)
        if not chosen.robot:
            raise ConfigurationError("parameter 'robot' is empty; name one, e.g. robot:=guroo")
        self._hardware = read_hardware(chosen.hardware, load_robot(chosen.robot))
        self._readings: dict[str, float] = {}
        self._came: dict[str, int] = {}
        self._heard: dict[str, float] = {}
        self._refused = 0
        self._unknown: set[str] = set()
        self._diagnostics = Diagnostics(self, 'hardware')
        for source, target, change in (
            (COMMANDS, MOTOR_COMMANDS, self._hardware.to_motors),
            (MOTOR_STATES, STATES, self._to_joints),
        ):
            publisher = advertise(self, JointState, target)
            listen(self, JointState, source, self._relay(source, publisher, change))
        serve(self, Trigger, '~/calibrate', self._on_calibrate)
        self._began = time.monotonic()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(_WATCH_PERIOD, self._on_watch, clock=steady)

    def _relay(
        self, source: str, publisher: Any, change: Callable[[JointValues], JointValues]
    ) -> Callable[[JointState], None]:
        def relay(message: JointState) -> None:
            """Pass a message on, changed, while the node is active."""
            self._came[source] = self._came.get(source, 0) + 1
            self._heard[source] = time.monotonic()
            if not self.active:
                return
            try:
                values = to_values(message)
            except BadCommand as error:
                self._refused += 1
                self.get_logger().warning(
                    f'{source} refused: {error}', throttle_duration_sec=_REPEAT
                )
                return
            changed = change(values)
            if len(changed.names) < len(values.names):
                self._report_unknown(source, values.names)
            publisher.publish(from_values(changed, message.header.stamp))

        return relay

    def _report_unknown(self, source: str, names: Sequence[str]) -> None:
        motors = self._hardware.motors
        known = list(motors) if source == COMMANDS else [one.name for one in motors.values()]
        self._unknown |= set(names) - set(known)
        self.get_logger().warning(
            f'{source}: {unmatched("name", names, known)}; left out',
            throttle_duration_sec=_REPEAT,
        )

    def _on_watch(self) -> None:
        trouble = self._trouble()
        if trouble:
            self.get_logger().warning(trouble, throttle_duration_sec=_REPEAT)
        stamp = self.get_clock().now().to_msg()
        self._diagnostics.tell(stamp, self._declared.value.robot, trouble, self._values)

    def _trouble(self) -> str:
        """Return what does not come through, for a person; empty: both directions do."""
        if not self.active:
            return 'inactive: configure and activate it'
        now = time.monotonic()
        for source, who in _SENDERS.items():
            if now - self._heard.get(source, self._began) > _PATIENCE:
                said = 'has come' if source not in self._heard else 'comes any more'
                return f'nothing {said} on {source}: is {who} running?'
        return ''

    def _values(self) -> dict[str, object]:
        """Return what diagnostics tell besides."""
        return {
            **{f'from {source}': self._came.get(source, 0) for source in _SENDERS},
            'refused': self._refused,
            'unknown names': ' '.join(sorted(self._unknown)),
        }

    def _to_joints(self, values: JointValues) -> JointValues:
        if values.position is not None:
            self._readings.update(zip(values.names, values.position.tolist(), strict=True))
        return self._hardware.to_joints(values)

    def _on_calibrate(self, request: Any, response: Trigger.Response) -> Trigger.Response:
        file = Path(self._declared.value.calibrated).expanduser()
        try:
            calibrated = self._hardware.calibrated(self._readings)
            with file.open('x', encoding='utf-8') as output:
                output.write(calibrated.text())
        except (ConfigurationError, OSError) as error:
            response.message = str(error)
            return response
        response.success = True
        response.message = f'{file} is written; start again with hardware:={file}'
        return response


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until it is interrupted."""
    return run_node(HardwareNode, args)


if __name__ == '__main__':
    sys.exit(main())
