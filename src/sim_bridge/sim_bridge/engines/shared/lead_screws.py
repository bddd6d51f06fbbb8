# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Limits and efficiency of lead screws.

With the lead angle alpha and the friction angle phi, the nut slides like a body on a wedge. While
the rod moves against its load, the motor does ``tan(alpha + phi) / tan(alpha)`` times the work of
the rod. With ``phi >= alpha`` the screw locks itself: the load cannot turn it, holding takes no
power, and even a motion with the load needs work of the motor.

References
----------
Cafarelli (2017), Eqs. 3.8 to 3.10; Shigley, Mechanical Engineering Design, power screws.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

from gait_core.errors import ConfigurationError
from gait_core.robot.actuation_kinds import ACTUATOR_KINDS, NO_LIMIT, constant_or_default
from gait_core.robot.model import Actuator


@dataclass(frozen=True, kw_only=True)
class LeadScrew:
    """
    A lead screw with its motor.

    Attributes
    ----------
    drive_ratio, backdrive_ratio : float [-]
        As of ``force_laws.servo_power``: for motion against the load, and with it.
    strength : float [N]
        Largest load that the motor raises.
    holding_ratio : float [-]
        Load that the motor holds over the load that it raises; infinite for a self-locking screw.
    max_speed : float [m/s]
        Speed of the rod at the maximum speed of the motor.

    """

    drive_ratio: float
    backdrive_ratio: float
    strength: float
    holding_ratio: float
    max_speed: float

    @classmethod
    def from_actuator(cls, name: str, actuator: Actuator) -> LeadScrew:
        """
        Return the lead screw of a joint's actuator.

        Raises
        ------
        ConfigurationError
            If it has no lead or diameter, or so much friction that no torque turns it.

        """
        lead, diameter, friction, rpm, torque = (
            constant_or_default(ACTUATOR_KINDS, actuator.kind, actuator.constants, key)
            for key in ('lead', 'diameter', 'friction', 'rpm', 'torque')
        )
        if lead <= 0.0 or diameter <= 0.0:
            raise ConfigurationError(
                f"joint '{name}': its screw needs a lead and a diameter above 0"
            )
        # Cafarelli (2017), Eqs. 3.8 and 3.9: lead angle alpha = atan(lead / (pi d)), and friction
        # angle phi = atan(mu), theta_f there.
        alpha, phi = math.atan(lead / (math.pi * diameter)), math.atan(friction)
        if alpha + phi >= 0.5 * math.pi:
            raise ConfigurationError(
                f"joint '{name}': its screw jams with a friction of {friction:g}; nearest valid: "
                f'below {1.0 / math.tan(alpha):.3g}'
            )
        # Cafarelli (2017), Eq. 3.10: torque over force, against the load, is d/2 tan(alpha + phi).
        # Shigley: with the load it is d/2 tan(phi - alpha), and a motor holds a load up to
        # torque / (d/2 tan(alpha - phi)). The ideal screw has d/2 tan(alpha).
        push = math.tan(alpha + phi)
        return cls(
            drive_ratio=push / math.tan(alpha),
            backdrive_ratio=math.tan(phi - alpha) / math.tan(alpha),
            strength=min(torque / (0.5 * diameter * push), NO_LIMIT),
            holding_ratio=math.inf if phi >= alpha else push / math.tan(alpha - phi),
            max_speed=min(lead * rpm / 60.0, NO_LIMIT),
        )
