"""Parameters of the node that runs a controller, without those of its gait."""

from __future__ import annotations

from dataclasses import dataclass

from gait_core.errors import ConfigurationError
from gait_core.parameters.declaration import Parameters, bounded, flag, floats, text, whole
from gait_core.trial.seeding import MAX_SEED

NO_PRESET = 'none'


@dataclass(frozen=True, kw_only=True)
class ControllerNodeParams(Parameters):
    """Parameters of a controller's node."""

    robot: str = text('', doc='Robot name or folder.', read_only=True)
    draw: int = whole(
        0, low=0, high=MAX_SEED, doc='Seed of a randomly built body.', read_only=True
    )
    controller: str = text(
        '', doc="Registered controller; empty: the robot's default.", read_only=True
    )
    preset: str = text(
        '',
        doc="Parameter set that gait.* starts from; empty: the default one; 'none': the "
        "controller's own defaults.",
        read_only=True,
    )
    weights: str = text('', doc='File with bulk weights; empty: none.', read_only=True)
    weights_sha256: str = text('', doc='Their hash; empty: not checked.', read_only=True)
    seed: int = whole(0, low=0, high=MAX_SEED, doc='Of the controller when run live.')
    control_rate: float = bounded(
        50.0,
        low=1.0,
        high=10000.0,
        unit='Hz',
        doc='Steps per second when run live.',
        read_only=True,
    )
    output: str = text(
        'joint_trajectory',
        choices=('joint_trajectory', 'commands'),
        doc='Topic that the targets are published on when run live.',
        read_only=True,
    )
    interface: str = text(
        'position',
        choices=('position', 'velocity', 'effort'),
        doc='Quantity that the commands topic carries.',
        read_only=True,
    )
    command: tuple[float, ...] = floats(
        (),
        low=-10.0,
        high=10.0,
        unit='m/s, m/s, rad/s',
        doc="Velocity of a demonstration; empty: the robot's default.",
        read_only=True,
    )
    demo: bool = flag(
        False,
        doc='In simulation: walk without a request, until the first cmd_vel or until ~/walk is '
        'called with false.',
        read_only=True,
    )
    stamped_cmd_vel: bool = flag(
        False, doc='Read cmd_vel as TwistStamped, as Nav2 sends it from Kilted on.', read_only=True
    )
    command_timeout: float = bounded(
        0.5,
        low=0.05,
        high=60.0,
        unit='s',
        doc='Age at which a cmd_vel expires, by simulated or wall time, whichever is less: then '
        'the robot stops.',
    )
    lockstep: bool = flag(
        False, doc='Step for the observations of a bridge in lock-step; no timer.', read_only=True
    )
    bridge: str = text('sim_bridge', doc='Name of that bridge.', read_only=True)
    lockstep_delay: float = bounded(
        0.0,
        low=0.0,
        high=1.0,
        unit='s',
        doc='Longest random delay of an answer in lock-step; for tests only.',
    )
    autostart: bool = flag(True, doc='Configure and activate without being asked.', read_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.command) not in (0, 3):
            raise ConfigurationError(
                f"parameter 'command' has {len(self.command)} numbers, expected 3 or none"
            )

    def check_demo(self, simulated: bool, commanded: bool) -> None:
        """
        Check that a demonstration is simulated, and that a command has a demonstration.

        Raises
        ------
        ConfigurationError
            If one of them does not hold.

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
