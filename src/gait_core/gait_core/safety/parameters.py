"""Settings of the safety layer between a live controller and a robot."""

from __future__ import annotations

from dataclasses import dataclass

from gait_core.parameters.declaration import Parameters, bounded, flag, text


@dataclass(frozen=True, kw_only=True)
class SafetyParams(Parameters):
    """Limits that protect a robot from the targets of a live controller."""

    enabled: bool = flag(
        True,
        doc='Start softly, blend changes in, watch and hold; false leaves only the limits and '
        'the emergency stop. Never acts in lock-step.',
        read_only=True,
    )
    start_speed: float = bounded(
        1.0,
        low=0.001,
        high=100.0,
        unit='rad/s or m/s',
        doc='Greatest speed of a joint on its way from the measured pose to the first targets, '
        'and to the fall pose, and on top of the speed of the gait after a change of it; its own '
        'limit holds, too.',
    )
    speed_share: float = bounded(
        1.0,
        low=0.01,
        high=1.0,
        unit='-',
        doc="Share of a joint's speed limit that the motion and the velocity of its target may "
        'use.',
    )
    state_timeout: float = bounded(
        0.5,
        low=0.0,
        high=60.0,
        unit='s',
        doc='Age of the oldest joint state from which the robot holds its pose; 0: any age.',
    )
    fall_tilt: float = bounded(
        0.0,
        low=0.0,
        high=3.15,
        unit='rad',
        doc="Lean from which the robot counts as fallen; 0: the robot's own.",
    )
    fall_time: float = bounded(
        0.1, low=0.0, high=10.0, unit='s', doc='For how long it must lean so.'
    )
    fall_action: str = text(
        'pose',
        choices=('pose', 'hold', 'ignore'),
        doc='What a fallen robot does: move into the fall pose of its robot.yaml (hold, if it '
        'has none), hold, or go on.',
    )
    recover: bool = flag(
        False,
        doc='Start anew when a fallen robot has stood upright for a second; else ~/resume does.',
    )
