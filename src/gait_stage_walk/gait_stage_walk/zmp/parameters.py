"""Parameters of the walk on a previewed zero moment point."""

from __future__ import annotations

from dataclasses import dataclass

from gait_core.parameters.declaration import Parameters, bounded, flag, whole


@dataclass(frozen=True, kw_only=True)
class ZmpWalkParams(Parameters):
    """Parameters of the walk on a previewed zero moment point."""

    step_time: float = bounded(
        0.7, low=0.2, high=3.0, unit='s', doc='From one foot put down to the next.'
    )
    double_support: float = bounded(
        0.2, low=0.05, high=0.8, unit='-', doc='Share of a step on both feet.'
    )
    stride_height: float = bounded(
        0.05, low=0.0, high=0.3, unit='m', doc='Height of a foot over the ground at mid-swing.'
    )
    leg_share: float = bounded(
        0.92,
        low=0.6,
        high=1.0,
        unit='-',
        doc='Height of the base in the walk as a share of that over stretched legs; at most that '
        'of the nominal stance.',
    )
    zmp_forward: float = bounded(
        0.0,
        low=-0.1,
        high=0.1,
        unit='m',
        doc='Zero moment point on a sole, ahead of its middle.',
    )
    zmp_inward: float = bounded(
        0.0, low=-0.1, high=0.1, unit='m', doc='The same, toward the other foot.'
    )
    max_forward: float = bounded(
        0.4, low=0.0, high=2.0, unit='m/s', doc='Bound of the speed forward and backward.'
    )
    max_sideways: float = bounded(
        0.15, low=0.0, high=1.0, unit='m/s', doc='Bound of the speed to either side.'
    )
    max_yaw_rate: float = bounded(
        0.4, low=0.0, high=2.0, unit='rad/s', doc='Bound of the turning rate.'
    )
    acceleration: float = bounded(
        0.3, low=0.01, high=10.0, unit='m/s^2', doc='Bound of the change of the velocity.'
    )
    yaw_acceleration: float = bounded(
        0.6, low=0.01, high=30.0, unit='rad/s^2', doc='Bound of the change of the turning rate.'
    )
    sub_samples: int = whole(
        5,
        low=1,
        high=20,
        doc='Joint targets in a control period; they must divide its physics steps.',
    )
    balance_gain: float = bounded(
        0.5,
        low=0.0,
        high=3.0,
        unit='-',
        doc='Turn of the soles that stand against a lean of the body; above 0 it needs an IMU.',
    )
    balance_damping: float = bounded(
        0.05, low=0.0, high=0.5, unit='s', doc='The same, against the rate of the lean.'
    )
    capture_gain: float = bounded(
        0.0,
        low=0.0,
        high=3.0,
        unit='-',
        doc='Share of the way that a lean carries the capture point by which the next foot is '
        'put elsewhere.',
    )
    heading_gain: float = bounded(
        0.0,
        low=0.0,
        high=5.0,
        unit='1/s',
        doc='Turning rate per turn that was not planned, as soles that slip make it.',
    )
    odometry: bool = flag(False, doc='Add up the way of the feet that stand, as `odom` state.')

    @property
    def balances(self) -> bool:
        """True if a lean changes anything."""
        return self.balance_gain > 0.0 or self.balance_damping > 0.0 or self.capture_gain > 0.0
