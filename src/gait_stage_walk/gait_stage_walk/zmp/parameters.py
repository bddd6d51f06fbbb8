"""Parameters of the walk on a previewed zero moment point."""

from __future__ import annotations

from dataclasses import dataclass

from gait_core.parameters.declaration import Parameters, bounded, flag, whole


@dataclass(frozen=True, kw_only=True)
class ZmpWalkParams(Parameters):
    """Parameters of the walk on a previewed zero moment point."""

    step_time: float = bounded(
        0.7, low=0.2, high=3.0, unit='s', doc='Time from one touch-down to the next.'
    )
    double_support: float = bounded(
        0.2, low=0.05, high=0.8, unit='-', doc='Share of a step with both feet in stance.'
    )
    stride_height: float = bounded(
        0.05, low=0.0, high=0.3, unit='m', doc='Height of a foot above the ground at mid-swing.'
    )
    leg_share: float = bounded(
        0.92,
        low=0.6,
        high=1.0,
        unit='-',
        doc='Height of the base in the walk over that on stretched legs; at most that of the '
        'nominal stance.',
    )
    zmp_forward: float = bounded(
        0.0,
        low=-0.1,
        high=0.1,
        unit='m',
        doc='Planned position of the ZMP on a sole, ahead of its centre.',
    )
    zmp_inward: float = bounded(
        0.0,
        low=-0.1,
        high=0.1,
        unit='m',
        doc='Planned position of the ZMP on a sole, from its centre toward the other foot.',
    )
    max_forward: float = bounded(
        0.4, low=0.0, high=2.0, unit='m/s', doc='Largest speed forward and backward.'
    )
    max_sideways: float = bounded(
        0.15, low=0.0, high=1.0, unit='m/s', doc='Largest speed to either side.'
    )
    max_yaw_rate: float = bounded(0.4, low=0.0, high=2.0, unit='rad/s', doc='Largest yaw rate.')
    acceleration: float = bounded(
        0.3, low=0.01, high=10.0, unit='m/s^2', doc='Largest change of the velocity per second.'
    )
    yaw_acceleration: float = bounded(
        0.6, low=0.01, high=30.0, unit='rad/s^2', doc='Largest change of the yaw rate per second.'
    )
    sub_samples: int = whole(
        5,
        low=1,
        high=20,
        doc='Targets per control period; must divide its physics steps.',
    )
    balance_gain: float = bounded(
        0.5,
        low=0.0,
        high=3.0,
        unit='-',
        doc='Angle of stance soles per tilt of the body; above 0 an IMU is needed.',
    )
    balance_damping: float = bounded(
        0.05, low=0.0, high=0.5, unit='s', doc='Angle of stance soles per rate of the tilt.'
    )
    capture_gain: float = bounded(
        0.0,
        low=0.0,
        high=3.0,
        unit='-',
        doc='Share of the capture point error by tilt by which the next foothold moves.',
    )
    heading_gain: float = bounded(
        0.0,
        low=0.0,
        high=5.0,
        unit='1/s',
        doc='Yaw rate per heading error by slipping soles.',
    )
    odometry: bool = flag(
        False,
        doc='Report leg odometry in the state `odom`: the sum of the motion of the stance feet.',
    )

    @property
    def balances(self) -> bool:
        """True if a lean changes anything."""
        return self.balance_gain > 0.0 or self.balance_damping > 0.0 or self.capture_gain > 0.0
