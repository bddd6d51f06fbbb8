# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Checks of scenes and states, and the physics steps of a push."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError, SimulationDiverged, name_hint
from gait_core.motion.observation import Observation
from gait_core.robot.model import RobotModel
from gait_core.trial.scene import Push, Scene
from sim_bridge.engines.shared.ground_springs import GROUND_SPRING_LAWS, check_restitution
from sim_bridge.engines.shared.merged_joints import CarriedFrame, MergedRobot

CONTACT_LAWS = ('engine',)
NODE_CONTACT_LAWS = ('engine', 'reset_integrator', 'coulomb')
"""Contact laws of contact nodes; ``engine`` is ``reset_integrator``."""
RIGID_BODY_FEATURES = (
    'revolute, prismatic and mimic joints',
    'position, velocity, pd, effort, exponential, slider_crank and lead_screw actuators',
    'plane and height field',
)
"""Features of every engine of rigid bodies, as `gait list engines` prints them."""
BALL_JOINTS = 'ball joints'
FORCE_ELEMENTS = 'springs, cables, linear servos and exponential springs between links'
"""Features of some engines."""
FREE_BODIES = 'free bodies joined by force elements'
CONTACT_NODES = 'contact nodes with laws reset_integrator and coulomb'
"""Features for robots of several bodies."""
GROUND_SPRINGS = 'contact laws springs, sticky and sticky_springs'
"""Feature: a ground of springs, and soles that stick to it."""
MAX_STATE_VALUE = 1e3
"""Limit of distances [m] and speeds [m/s, rad/s]; a state beyond it has diverged."""


def check_features(engine: str, features: Sequence[str], scene: Scene, robot: RobotModel) -> None:
    """Raise ConfigurationError for a feature of the scene or robot that an engine lacks."""
    contact_laws: tuple[str, ...] = NODE_CONTACT_LAWS if robot.contact_nodes else CONTACT_LAWS
    if GROUND_SPRINGS in features and not robot.contact_nodes:
        contact_laws = (*CONTACT_LAWS, *GROUND_SPRING_LAWS)
        check_restitution(scene)
    if robot.contact_nodes and CONTACT_NODES not in features:
        raise ConfigurationError(
            f"engine '{engine}' has no contact nodes; robot '{robot.name}' has "
            f"{len(robot.contact_nodes)}; engines that have them: 'cables', 'bullet'"
        )
    if scene.contact_law not in contact_laws:
        raise ConfigurationError(
            f"engine '{engine}' has no contact law '{scene.contact_law}' for robot "
            f"'{robot.name}': {name_hint(scene.contact_law, contact_laws)}"
            + ("; engine 'mujoco' has it" if scene.contact_law in GROUND_SPRING_LAWS else '')
        )
    if robot.force_elements and FORCE_ELEMENTS not in features:
        kinds = ', '.join(sorted({element.kind for element in robot.force_elements}))
        raise ConfigurationError(
            f"engine '{engine}' has no force elements; robot '{robot.name}' has: {kinds}"
        )
    if robot.ball_joints and BALL_JOINTS not in features:
        raise ConfigurationError(
            f"engine '{engine}' has no ball joints; robot '{robot.name}' has: "
            f'{", ".join(sorted(robot.ball_joints))}'
        )


def check_root_link(engine: str, scene: Scene, robot: RobotModel) -> None:
    """Raise ConfigurationError unless the robot has one root link, with mass or a fixed base."""
    if len(robot.roots) != 1:
        raise ConfigurationError(
            f"robot '{robot.name}' has {len(robot.roots)} root links, engine '{engine}' expects 1"
        )
    root = robot.links[0]
    if not (root.mass > 0.0 or scene.fixed_base):
        raise ConfigurationError(
            f"robot '{robot.name}': root link '{root.name}' has no mass; give it an inertial "
            'or set fixed_base'
        )


def check_state(
    tick: int,
    pose: Sequence[float],
    twist: Sequence[float],
    positions: FloatArray,
    velocities: FloatArray,
) -> None:
    """
    Raise SimulationDiverged for a state that is not finite or beyond ``MAX_STATE_VALUE``.

    Parameters
    ----------
    tick : int
    pose, twist : 7 and 6 floats [m, m/s, rad/s]
        Of the base.
    positions, velocities : (n,) arrays
        Of the joints.

    """
    distance = max(map(abs, pose[:3]))
    speed = max(map(abs, twist))
    spin = float(abs(velocities).max(initial=0.0))
    # max() may drop a NaN, because comparisons with it are false; a sum keeps it.
    total = sum(pose) + sum(twist) + float(positions.sum())
    if not (
        distance < MAX_STATE_VALUE
        and speed < MAX_STATE_VALUE
        and spin < MAX_STATE_VALUE
        and math.isfinite(total)
    ):
        raise SimulationDiverged(
            f'the simulation diverged at tick {tick}: base {distance:.3g} m away at {speed:.3g} '
            f'm/s or rad/s, fastest joint at {spin:.3g} per s'
        )


def divergence_error(tick: int, states: Sequence[Observation] = ()) -> SimulationDiverged:
    """Return the error for a divergence at a tick; ``states`` are those before it."""
    return SimulationDiverged(f'the simulation diverged at tick {tick}', states)


class PushWindow:
    """
    The physics steps of a push, counted from tick 0, and the point at which it acts.

    Attributes
    ----------
    frame : CarriedFrame
        At the centre of mass of the pushed link.
    force : (fx, fy, fz) [N]
        In ``odom``.
    first, end : int
        First step, and the step after the last.

    """

    def __init__(self, push: Push, scene: Scene, robot: RobotModel, model: MergedRobot) -> None:
        frames: Mapping[str, CarriedFrame] = model.frames
        name = push.link or robot.links[0].name
        if name not in frames:
            raise ConfigurationError(
                f"push acts on unknown link '{name}': {name_hint(name, frames)}"
            )
        x, y, z = robot.links[robot.link_index[name]].com.tolist()
        self.frame = frames[name].compose((x, y, z), (0.0, 0.0, 0.0))
        self.force = push.force
        # Tolerance for binary fractions: 0.1 s in steps of 1 ms is step 100, not 101.
        self.first = math.ceil(push.start / scene.physics_step - 1e-6)
        self.end = math.ceil((push.start + push.duration) / scene.physics_step - 1e-6)

    def within(self, first: int, end: int) -> bool:
        """Return whether the push acts during physics steps first to end - 1."""
        return self.first < end and first < self.end
