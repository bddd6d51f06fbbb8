# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pictures of states: what is where on them, and that looking changes nothing."""

from contextlib import closing
from dataclasses import replace
import os
import subprocess
import sys

import numpy as np
import pytest

from gait_core.errors import ConfigurationError
from gait_core.terrains import Plane, load_terrain
from gait_core.testing.doubles import legged_box, rollout_with_arrays
from gait_core.testing.free_bodies import free_box
from gait_core.testing.skips import need_engine
from gait_core.trial.loop import run_loop
from gait_core.trial.scene import Scene, TerrainSpec
from gait_core.trial.setup import default_trial
from gait_core.trial.spec import TrialSpec

need_engine('bullet')
from sim_bridge.engines.bullet.engine import BulletEngine
from sim_bridge.engines.bullet.ground_mesh import ground_mesh
from sim_bridge.engines.bullet.render import Camera, Overlay, Renderer, render_rollout

pytestmark = pytest.mark.physics
LEVEL = np.array([[0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]])
NO_JOINTS = np.zeros(0)


def centre_of(mask: np.ndarray) -> np.ndarray:
    return np.argwhere(mask).mean(axis=0)


def is_blue(picture: np.ndarray) -> np.ndarray:
    """Return where a picture has a leg's first colour, in any shade; the ground is grey."""
    red, blue = picture[..., 0].astype(int), picture[..., 2].astype(int)
    return blue > red + 25


def test_the_camera_follows_a_box_and_shows_it_in_the_middle():
    with closing(Renderer(free_box(), Plane(), size=(120, 90))) as renderer:
        first = renderer.frame(LEVEL, NO_JOINTS)
        moved = LEVEL.copy()
        moved[0, :2] = 35.0, -20.0
        second = renderer.frame(moved, NO_JOINTS)
    assert first.shape == (90, 120, 3) and first.dtype == np.uint8
    for picture in (first, second):
        box = is_blue(picture)
        assert 0.05 < box.mean() < 0.6
        np.testing.assert_allclose(centre_of(box), [45.0, 60.0], atol=6.0)
        # There is ground under it, however far it went.
        assert picture[85].max() < 250


def test_a_joint_that_turns_moves_its_leg_in_the_picture():
    robot = legged_box(1, 1)
    camera = Camera(yaw_deg=0.0, pitch_deg=-5.0)
    pose = np.array([[0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]])
    with closing(Renderer(robot, Plane(), size=(120, 90), camera=camera)) as renderer:
        columns = [
            centre_of(is_blue(renderer.frame(pose, np.array([angle]))))[1]
            for angle in (-0.7, 0.0, 0.7)
        ]
    # Seen from the right, forwards is to the right; pitching up swings the leg backwards.
    assert columns[0] > columns[1] + 5 and columns[1] > columns[2] + 5


def test_an_overlay_is_drawn_where_its_points_are():
    camera = Camera(yaw_deg=0.0, pitch_deg=-89.0)
    ahead = Overlay(zmp=np.array([0.15, 0.0, 0.0]))
    with closing(Renderer(free_box(), Plane(), size=(90, 90), camera=camera)) as renderer:
        plain = renderer.frame(LEVEL, NO_JOINTS)
        marked = renderer.frame(LEVEL, NO_JOINTS, ahead)
        to_the_left = renderer.frame(LEVEL, NO_JOINTS, Overlay(zmp=np.array([0.0, 0.15, 0.0])))
    first, second = ((picture != plain).any(axis=2) for picture in (marked, to_the_left))
    row, column = centre_of(first)
    assert column > 60 and abs(row - 45) < 6
    row, column = centre_of(second)
    assert row < 30 and abs(column - 45) < 6


def test_uneven_ground_is_drawn_at_its_own_vertices():
    spec = TerrainSpec(name='rough', parameters={'nodes': 32, 'extent': 6.2}, seed=3)
    terrain = load_terrain(spec)
    mesh = ground_mesh(terrain, np.zeros(2), half_width=2.0)
    x, y, z = mesh.vertices.T
    np.testing.assert_allclose(z, terrain.height(x, y), atol=1e-12)
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    # Counter-clockwise from above, and on the surface in the middle of every triangle.
    assert (np.cross(b - a, c - a)[:, 2] > 0.0).all()
    middle = (a + b + c) / 3.0
    np.testing.assert_allclose(middle[:, 2], terrain.height(middle[:, 0], middle[:, 1]), atol=1e-9)


def test_rendering_a_trial_gives_a_frame_per_period_and_leaves_the_next_trial_alone():
    engine = BulletEngine(lambda name, draw: legged_box())
    spec = TrialSpec(
        scene=Scene(robot='legged_box', physics_step=0.002), controller='hold', duration=1.0
    )
    try:
        loop = run_loop(spec, engine)
        frames = list(render_rollout(loop.rollout(), fps=5.0, size=(64, 48)))
        again = run_loop(spec, engine)
    finally:
        engine.close()
    assert len(frames) == 6
    assert {frame.shape for frame in frames} == {(48, 64, 3)}
    assert again.result().trial_hash == loop.result().trial_hash
    with pytest.raises(ConfigurationError, match='valid: 0.1 to 50'):
        next(render_rollout(loop.rollout(), fps=100.0))


@pytest.mark.parametrize('display', [None, ':4711'])
def test_a_viewer_without_a_display_is_refused_in_one_line_and_the_process_lives(display):
    program = (
        'from gait_core.errors import ConfigurationError\n'
        'from gait_core.terrains import Plane\n'
        'from gait_core.testing.free_bodies import free_box\n'
        'from sim_bridge.engines.bullet.render import Viewer\n'
        'try:\n'
        '    Viewer(free_box(), Plane())\n'
        'except ConfigurationError as error:\n'
        '    print(error)\n'
    )
    env = {name: value for name, value in os.environ.items() if name != 'DISPLAY'}
    env.update({} if display is None else {'DISPLAY': display})
    done = subprocess.run(
        [sys.executable, '-c', program], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, '')
    assert done.stdout.count('\n') == 1
    assert done.stdout.startswith('a viewer needs a display: ')


def test_a_picture_size_out_of_range_is_refused():
    with pytest.raises(ConfigurationError, match='valid: 16 to 4096'):
        Renderer(free_box(), Plane(), size=(0, 10))


def test_cables_are_drawn_in_the_colours_of_their_tensions():
    loop = run_loop(replace(default_trial('tetraspine', 0.1), controller='hold', parameters={}))
    rollout = loop.rollout()
    taut = np.full_like(rollout.states.element_forces, 50.0)
    colours = []
    for forces in (0.0 * taut, taut):
        *_, picture = render_rollout(
            rollout_with_arrays(rollout, element_forces=forces), overlays=True
        )
        red, _, blue = picture.reshape(-1, 3).astype(int).T
        colours.append(((red > blue + 80).sum(), (blue > red + 80).sum()))
    (red_slack, blue_slack), (red_taut, blue_taut) = colours
    # What is red with slack cables is the dot of the centre of pressure.
    assert blue_slack > 300 and blue_taut == 0
    assert red_taut > red_slack + 300
