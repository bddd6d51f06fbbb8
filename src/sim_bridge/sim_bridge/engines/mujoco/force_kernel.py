"""
Torques, ball joints and pushes within a physics step of MuJoCo, compiled.

Forces that follow from the state at the start of a step, between its two halves. Quantities of
prismatic joints are in m and N in place of rad and N m.
"""

from __future__ import annotations

from numba import njit
import numpy as np

from sim_bridge.engines.shared.ball_joints import compute_ball_angles, compute_ball_torques
from sim_bridge.engines.shared.force_laws import COLUMN_COUNT, joint_torques

TORQUE = np.dtype(
    [
        ('joint', 'i8'),  # index among the robot's joints
        ('qpos_index', 'i8'),  # of its position in qpos
        ('dof_index', 'i8'),  # of its velocity in qvel
        ('law', 'i8'),  # code of force_laws.JOINT_LAWS
        ('constants', 'f8', (COLUMN_COUNT,)),  # of the law
        ('implicit_damping', 'f8'),  # what of its damping MuJoCo's joint has itself [N m s/rad]
        ('target', 'f8', (3,)),  # aim [rad], rate [rad/s] and feed [N m]
        ('position', 'f8'),  # of the joint at the start of the step [rad]
        ('velocity', 'f8'),  # of the joint at the start of the step [rad/s]
        ('force', 'f8'),  # of the last step [N m]
        ('work', 'f8'),  # work since the start [J]
        ('positive_work', 'f8'),  # work where it is not negative [J]
    ]
)
"""An actuator that gives a torque by a law."""
BALL = np.dtype(
    [
        ('qpos_index', 'i8'),  # of its quaternion w, x, y, z in qpos
        ('dof_index', 'i8'),  # of the first of its rates in qvel
        ('sign', 'f8'),  # as of fused.Ball
        ('to_ball_axes', 'f8', (9,)),  # as of fused.Ball, by rows
        ('damping', 'f8', (3,)),  # along the angles [N m s/rad]
        ('torque_index', 'i8', (3,)),  # indices of the torques along the angles
        ('quaternion', 'f8', (4,)),  # x, y, z, w
        ('angular_velocity', 'f8', (3,)),  # rate in the axes of the link behind it [rad/s]
        ('angle', 'f8', (3,)),  # [rad]
        ('rate', 'f8', (3,)),  # of the angles [rad/s]
        ('angle_effort', 'f8', (3,)),  # along the angles [N m]
        ('moment', 'f8', (3,)),  # the same about the axes of the link behind it [N m]
    ]
)
"""A ball joint, whose three angles have a torque each."""


@njit(cache=True)
def apply_torques(torques, balls, elapsed, qpos, qvel, forces):  # type: ignore[no-untyped-def]
    """
    Apply the torques that follow from laws and the state at the start of a step.

    Parameters
    ----------
    torques : (t,) TORQUE array
    balls : (b,) BALL array
    elapsed : float [s]
        Since the targets came into force.
    qpos, qvel : arrays
        Of MuJoCo's state.
    forces : array [N m]
        ``qfrc_applied``; written.

    """
    for k in range(len(torques)):
        torque = torques[k]
        torque.position, torque.velocity = qpos[torque.qpos_index], qvel[torque.dof_index]
    read_balls(balls, qpos, qvel)
    for b in range(len(balls)):
        ball = balls[b]
        for i in range(3):
            torque = torques[ball.torque_index[i]]
            torque.position, torque.velocity = ball.angle[i], ball.rate[i]
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
        # MuJoCo's own damping comes on top of what is applied: take it out here.
        forces[torque.dof_index] = torque.force + torque.implicit_damping * torque.velocity
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
    """Write the angles of ball joints and their rates from MuJoCo's state."""
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
    Add the work of a step to that of torques, as ``sum_servo_work`` does.

    Parameters
    ----------
    torques : (t,) TORQUE array
    step, half : float [s]
        The step and the half of it; in place of the half 0 for robots with ball joints, along
        whose angles no acceleration is known.
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
def apply_push(wrench, turn, lever, force):  # type: ignore[no-untyped-def]
    """
    Add a force to the wrench at the centre of mass of a body.

    Parameters
    ----------
    wrench : (6,) array [N, N m]
        Force and moment; written.
    turn : (9,) array
        Rotation of the body, by rows.
    lever : (3,) array [m]
        From the centre of mass to where the force acts, in the body's axes.
    force : (3,) array [N]

    """
    x = turn[0] * lever[0] + turn[1] * lever[1] + turn[2] * lever[2]
    y = turn[3] * lever[0] + turn[4] * lever[1] + turn[5] * lever[2]
    z = turn[6] * lever[0] + turn[7] * lever[1] + turn[8] * lever[2]
    for i in range(3):
        wrench[i] += force[i]
    wrench[3] += y * force[2] - z * force[1]
    wrench[4] += z * force[0] - x * force[2]
    wrench[5] += x * force[1] - y * force[0]
