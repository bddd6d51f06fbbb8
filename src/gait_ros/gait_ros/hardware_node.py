"""The node between controller_manager and motors: their names, signs, ratios and offsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
import sys
from typing import Any

from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from gait_core.errors import BadCommand, ConfigurationError
from gait_core.hardware import JointValues, read_hardware
from gait_core.parameters import Parameters, flag, text
from gait_core.robot.load import load_robot
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

_REPEAT = 10.0


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
        for source, target, change in (
            (COMMANDS, MOTOR_COMMANDS, self._hardware.to_motors),
            (MOTOR_STATES, STATES, self._to_joints),
        ):
            publisher = advertise(self, JointState, target)
            listen(self, JointState, source, self._relay(source, publisher, change))
        self.create_service(Trigger, '~/calibrate', self._on_calibrate)

    def _relay(
        self, source: str, publisher: Any, change: Callable[[JointValues], JointValues]
    ) -> Callable[[JointState], None]:
        def relay(message: JointState) -> None:
            if not self.active:
                return
            try:
                values = to_values(message)
            except BadCommand as error:
                self.get_logger().warning(
                    f'{source} refused: {error}', throttle_duration_sec=_REPEAT
                )
                return
            changed = change(values)
            if len(changed.names) < len(values.names):
                self.get_logger().warning(
                    f'{source}: {len(values.names) - len(changed.names)} names are not known to '
                    'the hardware and are left out',
                    throttle_duration_sec=_REPEAT,
                )
            publisher.publish(from_values(changed, message.header.stamp))

        return relay

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
