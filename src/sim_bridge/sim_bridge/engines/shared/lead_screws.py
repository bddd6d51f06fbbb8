"""
Lead screws: what the motor must do for what the rod does.

A nut of thread angle alpha and friction angle phi slides like a body on a wedge. Pushed against
its load it needs ``tan(alpha + phi) / tan(alpha)`` of the work it does. Where phi is no less than
alpha the load cannot turn the screw: holding costs nothing, no load beyond the motor's strength
moves it, and to yield to a load the motor must work too.

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
        As of ``force_laws.servo_power``; their motion is against the load, or with it.
    strength : float [N]
        Greatest load that the motor raises, if the joint has no lesser limit.
    holding_ratio : float [-]
        Load that it holds by the load that it raises; infinite where it locks itself.
    max_speed : float [m/s]
        Of the rod at the motor's highest speed.

    """

    drive_ratio: float
    backdrive_ratio: float
    strength: float
    holding_ratio: float
    max_speed: float

    @classmethod
    def from_actuator(cls, name: str, actuator: Actuator) -> LeadScrew:
        """
        Return the screw of a joint's actuator.

        Raises
        ------
        ConfigurationError
            If it has no lead or diameter, or so much friction that nothing turns it.

        """
        lead, diameter, friction, rpm, torque = (
            constant_or_default(ACTUATOR_KINDS, actuator.kind, actuator.constants, key)
            for key in ('lead', 'diameter', 'friction', 'rpm', 'torque')
        )
        if lead <= 0.0 or diameter <= 0.0:
            raise ConfigurationError(f"joint '{name}': its screw needs a lead and a diameter")
        # Cafarelli (2017), Eqs. 3.8 and 3.9: alpha, and phi (theta_f there).
        alpha, phi = math.atan(lead / (math.pi * diameter)), math.atan(friction)
        if alpha + phi >= 0.5 * math.pi:
            raise ConfigurationError(
                f"joint '{name}': its screw jams with a friction of {friction:g}; nearest valid: "
                f'below {1.0 / math.tan(alpha):.3g}'
            )
        # Eq. 3.10: the torque per force is d/2 tan(alpha + phi).
        push = math.tan(alpha + phi)
        return cls(
            drive_ratio=push / math.tan(alpha),
            backdrive_ratio=math.tan(phi - alpha) / math.tan(alpha),
            strength=min(torque / (0.5 * diameter * push), NO_LIMIT),
            holding_ratio=math.inf if phi >= alpha else push / math.tan(alpha - phi),
            max_speed=min(lead * rpm / 60.0, NO_LIMIT),
        )
