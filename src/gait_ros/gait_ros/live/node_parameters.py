# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of a controller node other than those of its gait."""

from __future__ import annotations

from dataclasses import dataclass

from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import (
    Parameters,
    bool_parameter,
    float_parameter,
    floats_parameter,
    int_parameter,
    str_parameter,
)
from gait_core.trial.seeding import MAX_SEED

NO_PRESET = 'none'


@dataclass(frozen=True, kw_only=True)
class ControllerNodeParams(Parameters):
    """Parameters of a controller node."""

    robot: str = str_parameter('', doc='Robot name or folder.', read_only=True)
    draw: int = int_parameter(
        0,
        low=0,
        high=MAX_SEED,
        doc='Seed of the body of a drawn robot; other robots ignore it.',
        read_only=True,
    )
    controller: str = str_parameter(
        '', doc="Registered controller. Empty: the robot's default.", read_only=True
    )
    preset: str = str_parameter(
        '',
        doc="Preset of gait.*; it overrides the robot's own gait (`defaults.gait` of robot.yaml). "
        "Empty: the default preset, which the own gait overrides; 'none': the controller's "
        'defaults.',
        read_only=True,
    )
    weights: str = str_parameter(
        '', doc='File with the arrays of the controller. Empty: none.', read_only=True
    )
    weights_sha256: str = str_parameter(
        '', doc='SHA-256 of the file weights. Empty: not checked.', read_only=True
    )
    seed: int = int_parameter(0, low=0, high=MAX_SEED, doc='Seed of the live controller.')
    control_rate: float = float_parameter(
        50.0,
        low=1.0,
        high=10000.0,
        unit='Hz',
        doc='Control periods per second of the live controller.',
        read_only=True,
    )
    output: str = str_parameter(
        'joint_trajectory',
        choices=('joint_trajectory', 'commands'),
        doc='Topic on which a live controller publishes its targets.',
        read_only=True,
    )
    interface: str = str_parameter(
        'position',
        choices=('position', 'velocity', 'effort'),
        doc="Quantity of the targets on the topic 'commands'.",
        read_only=True,
    )
    command: tuple[float, ...] = floats_parameter(
        (),
        low=-10.0,
        high=10.0,
        unit='m/s, m/s, rad/s',
        doc="Velocity of a demonstration: forward, left, yaw rate. Empty: the robot's default.",
        read_only=True,
    )
    demo: bool = bool_parameter(
        False,
        doc='In simulation, walk without a motion request, until the first cmd_vel or until '
        '~/walk is called with false.',
        read_only=True,
    )
    stamped_cmd_vel: bool = bool_parameter(
        False,
        doc='Subscribe to cmd_vel as TwistStamped, which Nav2 sends from Kilted on.',
        read_only=True,
    )
    command_timeout: float = float_parameter(
        0.5,
        low=0.05,
        high=60.0,
        unit='s',
        doc='Age at which a cmd_vel expires and the robot stops. Of its ages in simulated and in '
        'wall time the smaller counts.',
    )
    lockstep: bool = bool_parameter(
        False, doc='Run in lock-step with a bridge instead of live.', read_only=True
    )
    bridge: str = str_parameter(
        'sim_bridge', doc='Name of the bridge in lock-step.', read_only=True
    )
    lockstep_delay: float = float_parameter(
        0.0,
        low=0.0,
        high=1.0,
        unit='s',
        doc='Longest random delay of the targets in lock-step; for tests only.',
    )
    autostart: bool = bool_parameter(
        True, doc='Configure and activate the node at its start.', read_only=True
    )

    def __post_init__(self) -> None:
        """Check the number of components of the command, and that a hash has its file."""
        super().__post_init__()
        if self.weights_sha256 and not self.weights:
            raise ConfigurationError(
                "parameter 'weights_sha256' is given, but 'weights' names no file"
            )
        if len(self.command) not in (0, 3):
            raise ConfigurationError(
                f"parameter 'command' has {len(self.command)} values, expected 3 or none"
            )

    def check_demo(self, simulated: bool, commanded: bool) -> None:
        """
        Check that a demonstration is simulated, and that a command is for a demonstration.

        Parameters
        ----------
        simulated : bool
            Whether time is simulated.
        commanded : bool
            Whether the parameter ``command`` was given.

        Raises
        ------
        ConfigurationError
            If a check fails.

        """
        if self.demo and not simulated:
            raise ConfigurationError(
                "parameter 'demo' is for simulations: set use_sim_time:=true, or demo:=false"
            )
        if commanded and not self.demo:
            raise ConfigurationError(
                "parameter 'command' is the velocity of a demonstration: set demo:=true in a "
                'simulation, or send cmd_vel'
            )
