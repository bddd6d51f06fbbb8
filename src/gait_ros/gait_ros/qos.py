"""Quality of service: publishers offer reliability, stream subscribers ask for little."""

from __future__ import annotations

from rclpy.qos import QoSDurabilityPolicy, QoSHistoryPolicy, QoSProfile, QoSReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions

PUBLISHED = QoSProfile(
    history=QoSHistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=QoSReliabilityPolicy.RELIABLE,
    durability=QoSDurabilityPolicy.VOLATILE,
)
"""What every stream and status publisher offers: compatible with each subscriber."""

STREAM = QoSProfile(
    history=QoSHistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=QoSReliabilityPolicy.BEST_EFFORT,
    durability=QoSDurabilityPolicy.VOLATILE,
)
"""What a subscriber to a stream asks for: compatible with each publisher."""

LATCHED = QoSProfile(
    history=QoSHistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=QoSReliabilityPolicy.RELIABLE,
    durability=QoSDurabilityPolicy.TRANSIENT_LOCAL,
)
"""Descriptions and the best gait, both sides: late subscribers get the last message."""

LOCKSTEP = QoSProfile(
    history=QoSHistoryPolicy.KEEP_ALL,
    reliability=QoSReliabilityPolicy.RELIABLE,
    durability=QoSDurabilityPolicy.VOLATILE,
)
"""Both sides of the lock-step channel: nothing may be lost or replaced."""


def overridable() -> QoSOverridingOptions:
    """Return options with which a topic's QoS can be set by ``qos_overrides.`` parameters."""
    return QoSOverridingOptions.with_default_policies()
