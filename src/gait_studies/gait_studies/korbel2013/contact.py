# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study korbel2013: measurements of the contact laws of a single node."""

from __future__ import annotations

import numba
import numpy as np
from scipy.constants import inch, lbf

from gait_core.arrays import FloatArray
from gait_core.terrains import load_terrain
from gait_core.trial.scene import Scene
from sim_bridge.engines.cables.ground import Ground, bristle_friction, normal_force
from sim_bridge.engines.cables.layout import make_ground
from sim_bridge.engines.cables.options import CablesOptions

_NODE_MASS = 0.020288 / 3.0
"""Mass on a node: a third of a tetrahedron [kg]."""

_FINE_STEP, _RECORD_INTERVAL = 2.5e-7, 100
_TRAJECTORY_COUNT = 1000
_SEED = 2013


def contact_measurements() -> dict[str, float]:
    """
    Return measurements of the default contact laws by name, in inches, pounds and seconds.

    ``push_*`` are normal forces at a depth of 0.001 in. ``slide_*`` are of a third of a
    tetrahedron that slides on one node in one degree of freedom.
    """
    scene = Scene(robot='tetraspine', engine='cables')
    ground = make_ground(scene, CablesOptions(), load_terrain(scene.terrain))
    depth, limit = 0.001 * inch, ground.stiction_range
    rates = np.linspace(-5.0, 5.0, 201) * inch
    pushes = [
        normal_force(ground.stiffness, ground.damping, d * inch, rate)
        for d in (1e-6, 1e-4, 1e-3, 0.01, 0.1)
        for rate in rates
    ]
    # Eq. 2: e = 1 - alpha v_i gives alpha from e = 0.9 and v_i = 0.12 in/s; lambda = 3/2 alpha k_N
    # is checked with the published alpha of 0.72 s/in and with this estimate.
    alpha = (1.0 - 0.9) / 0.12
    slow, fast = _simulate_slider(ground, 40.0), _simulate_slider(ground, 60.0)
    extreme, work = _random_trajectories(ground)
    return {
        'push_still': normal_force(ground.stiffness, ground.damping, depth, 0.0) / lbf,
        'push_sinking': normal_force(ground.stiffness, ground.damping, depth, 0.5 * inch) / lbf,
        'push_least': min(pushes) / lbf,
        'damping_ratio': ground.damping / (1.5 * 0.72 / inch * ground.stiffness),
        'damping_estimate': 1.5 * alpha * 25.0,
        'friction_in_the_air': abs(
            bristle_friction(ground, 1.0, False, 0.5 * limit, 1.0, _FINE_STEP)[0]
        )
        / lbf,
        'sliding_force': abs(bristle_friction(ground, 1.0, True, limit, 1.0, _FINE_STEP)[0]) / lbf,
        'stiction_peak': abs(
            bristle_friction(ground, 1.0, True, limit * (1.0 - 1e-9), 0.0, _FINE_STEP)[0]
        )
        / lbf,
        'largest_state': extreme / inch,
        'largest_work': work / (lbf * inch),
        'slide_slow_distance': slow[:, 0].max() / inch,
        'slide_fast_distance': fast[:, 0].max() / inch,
        'slide_fast_state': fast[-1, 2] / inch,
        'slide_fast_speed': abs(fast[-1, 1]) / inch,
        'slide_fast_break': fast[np.argmax(np.abs(fast[:, 2]) >= 0.999 * limit), 1] / inch,
    }


def _simulate_slider(ground: Ground, speed: float) -> FloatArray:
    """Return position, speed and friction state of a slider [m, m/s, m], (T, 3)."""
    return np.asarray(
        _integrate_slider(ground, speed * inch, _NODE_MASS, _FINE_STEP, round(1.0 / _FINE_STEP))
    )


@numba.njit(cache=True, error_model='numpy')
def _integrate_slider(ground: Ground, v: float, mass: float, dt: float, steps: int) -> FloatArray:
    """Return position, speed and bristle deflection every 100 steps, semi-implicit Euler."""
    out = np.empty((steps // _RECORD_INTERVAL, 3))
    at, bristle = 0.0, 0.0
    for i in range(steps):
        force, bristle = bristle_friction(ground, 1.0, True, bristle, v, dt)
        v += dt * force / mass
        at += dt * v
        if i % _RECORD_INTERVAL == 0:
            row = i // _RECORD_INTERVAL
            out[row, 0], out[row, 1], out[row, 2] = at, v, bristle
    return out


def _random_trajectories(ground: Ground) -> tuple[float, float]:
    """Return the largest friction state [m] and work on a node [J] over random trajectories."""
    rng = np.random.default_rng(_SEED)
    steps = 2000
    # Random walks of a velocity at scales from creeping to running.
    scale = 10.0 ** rng.uniform(-4.0, 0.0, (_TRAJECTORY_COUNT, 1))
    walks = np.cumsum(rng.normal(size=(_TRAJECTORY_COUNT, steps)), axis=1)
    speeds = scale * walks / np.abs(walks).max(axis=1, keepdims=True)
    extreme, work = 0.0, -np.inf
    for row in speeds:
        most, done = _work_on_node(ground, row, 1e-5)
        extreme, work = max(extreme, most), max(work, done)
    return extreme, work


@numba.njit(cache=True, error_model='numpy')
def _work_on_node(ground: Ground, speeds: FloatArray, dt: float) -> tuple[float, float]:
    """Return the largest friction state [m] and the friction's work [J] of a speed trajectory."""
    # After the trajectory the node moves back until the friction state is zero again.
    x, work, most = 0.0, 0.0, 0.0
    for v in speeds:
        force, x = bristle_friction(ground, 1.0, True, x, v, dt)
        work += force * v * dt
        most = max(most, abs(x))
    back = -np.sign(x) * 0.01
    while x * back < 0.0:
        v = max(-abs(x) / dt, min(abs(x) / dt, back))
        force, x = bristle_friction(ground, 1.0, True, x, v, dt)
        work += force * v * dt
    return most, work
