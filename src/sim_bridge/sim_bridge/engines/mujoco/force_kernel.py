# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""
Compiled torques, ball joints and pushes of a physics step in MuJoCo.

These forces follow from the state at the start of a step. They are applied between its two
halves, as ``qfrc_applied`` and ``xfrc_applied``. Quantities of prismatic joints are in m and N in
place of rad and N m.
"""

from __future__ import annotations

from numba import njit
import numpy as np

from sim_bridge.engines.shared.ball_joints import compute_ball_angles, compute_ball_torques
from sim_bridge.engines.shared.force_laws import COLUMN_COUNT, joint_torques

TORQUE = np.dtype(
    [
        ('joint', 'i8'),  # index among the robot's joints
        ('qpos_index', 'i8'),  # index of its position in qpos
        ('dof_index', 'i8'),  # index of its velocity in qvel
        ('law', 'i8'),  # code of force_laws.JOINT_LAWS
        ('constants', 'f8', (COLUMN_COUNT,)),  # of the law, as of force_laws.joint_torques
        (
            'implicit_damping',
            'f8',
        ),  # part of its damping that MuJoCo integrates itself [N m s/rad]
        ('target', 'f8', (3,)),  # position [rad], velocity [rad/s] and effort [N m]
        ('position', 'f8'),  # of the joint, at the start of the step [rad]
        ('velocity', 'f8'),  # of the joint, at the start of the step [rad/s]
        ('force', 'f8'),  # of the last step [N m]
        ('work', 'f8'),  # since tick 0 [J]
        ('positive_work', 'f8'),  # sum of the steps with positive work [J]
    ]
)
"""Fields of an actuator whose torque follows from a law and the state of its joint."""
BALL = np.dtype(
    [
        ('qpos_index', 'i8'),  # index of its quaternion w, x, y, z in qpos
        ('dof_index', 'i8'),  # index of its angular velocity in qvel
        ('sign', 'f8'),  # as of merged_joints.BallJoint
        ('to_ball_axes', 'f8', (9,)),  # as of merged_joints.BallJoint, by rows
        ('damping', 'f8', (3,)),  # along the angles [N m s/rad]
        ('torque_index', 'i8', (3,)),  # indices of the torques along the angles
        ('quaternion', 'f8', (4,)),  # x, y, z, w
        ('angular_velocity', 'f8', (3,)),  # in the axes of the child link [rad/s]
        ('angle', 'f8', (3,)),  # [rad]
        ('rate', 'f8', (3,)),  # of the angles [rad/s]
        ('angle_effort', 'f8', (3,)),  # along the angles [N m]
        ('moment', 'f8', (3,)),  # the same torque in the axes of the child link [N m]
    ]
)
"""Fields of a ball joint, each of whose three angles has a torque actuator."""


@njit(cache=True)
def apply_torques(torques, balls, elapsed, qpos, qvel, forces):  # type: ignore[no-untyped-def]
    """
    Write the torques of a step, by their laws, at the state at its start.

    Parameters
    ----------
    torques : (t,) TORQUE array
    balls : (b,) BALL array
    elapsed : float [s]
        Time since the targets came into force.
    qpos, qvel : arrays
        Of MuJoCo's state.
    forces : array [N m]
        ``qfrc_applied``; written.

    """
    # 1. State of every joint; rows of ball joints have no index of their own and are overwritten
    # below by the three angles and their rates.
    for k in range(len(torques)):
        torque = torques[k]
        torque.position, torque.velocity = qpos[torque.qpos_index], qvel[torque.dof_index]
    read_balls(balls, qpos, qvel)
    for b in range(len(balls)):
        ball = balls[b]
        for i in range(3):
            torque = torques[ball.torque_index[i]]
            torque.position, torque.velocity = ball.angle[i], ball.rate[i]
    # 2. The laws, the same for every engine.
    joint_torques(
        torques.law,
        torques.constants,
        torques.target.T,
        elapsed,
        torques.position,
        torques.velocity,
        torques.force,
    )
    for k in range(len(torques)):
        torque = torques[k]
        # 3. MuJoCo adds its implicit damping -c v to what is applied: +c v cancels it here, so
        # that the sum is the law.
        forces[torque.dof_index] = torque.force + torque.implicit_damping * torque.velocity
    # 4. Ball joints: efforts along the angles, then the torque in the child's axes.
    for b in range(len(balls)):
        ball = balls[b]
        for i in range(3):
            ball.angle_effort[i] = (
                torques[ball.torque_index[i]].force - ball.damping[i] * ball.rate[i]
            )
    compute_ball_torques(
        balls.quaternion,
        balls.to_ball_axes,
        balls.sign,
        balls.angle,
        balls.angle_effort,
        balls.moment,
    )
    for b in range(len(balls)):
        ball = balls[b]
        for i in range(3):
            forces[ball.dof_index + i] = ball.moment[i]


@njit(cache=True)
def read_balls(balls, qpos, qvel):  # type: ignore[no-untyped-def]
    """Write the three angles of each ball joint, and their rates, from MuJoCo's state."""
    for b in range(len(balls)):
        ball = balls[b]
        for i in range(3):
            ball.quaternion[i] = qpos[ball.qpos_index + 1 + i]
            ball.angular_velocity[i] = qvel[ball.dof_index + i]
        ball.quaternion[3] = qpos[ball.qpos_index]
    compute_ball_angles(
        balls.quaternion,
        balls.angular_velocity,
        balls.to_ball_axes,
        balls.sign,
        balls.angle,
        balls.rate,
    )


@njit(cache=True)
def add_torque_work(torques, step, half, accelerations):  # type: ignore[no-untyped-def]
    """
    Add the work of a step to that of torques, as ``add_servo_work`` does.

    Parameters
    ----------
    torques : (t,) TORQUE array
    step, half : float [s]
        The step and half of it. For robots with ball joints ``half`` is 0, because the
        accelerations along their angles are not available.
    accelerations : array [rad/s^2]
        ``qacc``.

    """
    for k in range(len(torques)):
        torque = torques[k]
        velocity = torque.velocity + half * accelerations[torque.dof_index]
        work = step * torque.force * velocity
        torque.work += work
        torque.positive_work += max(work, 0.0)


@njit(cache=True)
def apply_push(wrench, rotation, lever, force):  # type: ignore[no-untyped-def]
    """
    Add a force to the wrench at the centre of mass of a body.

    Parameters
    ----------
    wrench : (6,) array [N, N m]
        Force and moment; written.
    rotation : (9,) array
        Rotation of the body, by rows.
    lever : (3,) array [m]
        From the centre of mass to the point of the force, in the body's axes.
    force : (3,) array [N]

    """
    x = rotation[0] * lever[0] + rotation[1] * lever[1] + rotation[2] * lever[2]
    y = rotation[3] * lever[0] + rotation[4] * lever[1] + rotation[5] * lever[2]
    z = rotation[6] * lever[0] + rotation[7] * lever[1] + rotation[8] * lever[2]
    for i in range(3):
        wrench[i] += force[i]
    wrench[3] += y * force[2] - z * force[1]
    wrench[4] += z * force[0] - x * force[2]
    wrench[5] += x * force[1] - y * force[0]
