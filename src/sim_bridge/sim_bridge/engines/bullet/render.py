# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pictures and a viewer of a robot, in a client of its own that no trial shares."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
import os
from pathlib import Path
import subprocess
import tempfile
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from gait_core import contracts
from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.kinematics.element_colours import tension_colours
from gait_core.kinematics.element_geometry import element_ends_at
from gait_core.measures.stability import centre_of_pressure, support_polygon
from gait_core.motion.observation import Observation
from gait_core.processes.python_command import python_code_command
from gait_core.robot.model import RobotModel
from gait_core.terrains import Terrain, load_terrain
from gait_core.trial.rollout import Rollout
from sim_bridge.engines.bullet.client import pb
from sim_bridge.engines.bullet.ground_mesh import GroundMesh, ground_mesh
from sim_bridge.engines.bullet.posed_robot import PosedRobot, robot_extent

Picture = npt.NDArray[np.uint8]

ZMP_COLOUR = (220, 30, 40)
POLYGON_COLOUR = (40, 160, 70)


@dataclass(frozen=True, kw_only=True)
class Camera:
    """
    View of the robot.

    Attributes
    ----------
    yaw_deg : float [deg]
        0 looks along y, at the right side of a robot that walks along x; positive turns the camera
        counter-clockwise.
    pitch_deg : float [deg]
        Negative looks down.
    distance : float [-]
        In diagonals of the robot's bounding box in its nominal stance.
    fov_deg : float [deg]
        Vertical angle of view.

    """

    yaw_deg: float = 35.0
    pitch_deg: float = -15.0
    distance: float = 2.0
    fov_deg: float = 35.0


@dataclass(frozen=True, kw_only=True)
class Overlay:
    """
    Drawing over a picture; absent parts are not drawn.

    Attributes
    ----------
    zmp, polygon : (3,) and (k, 3) arrays or None [m]
        ZMP and support polygon.
    lines, colours : (e, 2, 3) and (e, 3) arrays or None [m, 0 to 1]
        Lines, such as cables, and their colours.
    text : str

    """

    zmp: FloatArray | None = None
    polygon: FloatArray | None = None
    lines: FloatArray | None = None
    colours: FloatArray | None = None
    text: str = ''


class Renderer:
    """
    Renders states of one robot on one terrain in software, without a display.

    Parameters
    ----------
    robot : RobotModel
        Without visual shapes its collision shapes are drawn.
    terrain : Terrain
    size : (int, int)
        Width and height of the pictures [pixel].
    camera : Camera

    """

    def __init__(
        self,
        robot: RobotModel,
        terrain: Terrain,
        size: tuple[int, int] = (480, 360),
        camera: Camera = Camera(),
    ) -> None:
        if min(size) < 16 or max(size) > 4096:
            raise ConfigurationError(
                f'picture size is {size}; valid: 16 to 4096 pixels for each side'
            )
        self._size, self._camera = size, camera
        self._scene = _DisplayedScene(robot, terrain, pb.DIRECT)

    def close(self) -> None:
        """End the client."""
        self._scene.close()

    def frame(
        self, body_poses: FloatArray, joint_positions: FloatArray, overlay: Overlay | None = None
    ) -> Picture:
        """
        Return a picture of a state.

        Parameters
        ----------
        body_poses : (r, 7) array [m, -]
            Of the roots.
        joint_positions : (n,) array [rad or m]
            In ``robot.joint_names`` order.
        overlay : Overlay or None

        Returns
        -------
        (height, width, 3) uint8 array

        """
        self._scene.set_state(body_poses, joint_positions)
        view, projection = self._look_at(body_poses[:, :3].mean(axis=0))
        width, height = self._size
        _, _, pixels, _, _ = pb.getCameraImage(
            width,
            height,
            view,
            projection,
            lightDirection=[0.5, -1.0, 2.0],
            # Shadows would speckle every face at a small angle to the light.
            shadow=0,
            renderer=pb.ER_TINY_RENDERER,
            flags=pb.ER_NO_SEGMENTATION_MASK,
            physicsClientId=self._scene.client,
        )
        rgba: Picture = np.asarray(pixels, dtype=np.uint8).reshape(height, width, 4)
        picture: Picture = rgba[:, :, :3].copy()
        if overlay is None:
            return picture
        to_clip = np.array(projection).reshape(4, 4).T @ np.array(view).reshape(4, 4).T
        return _draw_overlay(picture, overlay, to_clip)

    def _look_at(self, middle: FloatArray) -> tuple[Any, Any]:
        """Return the matrices of view and projection of a camera that looks at the robot."""
        extent, camera = self._scene.extent, self._camera
        ground = float(self._scene.terrain.height(middle[0], middle[1]))
        # Constant height over the ground, so that vertical motion of the robot stays visible.
        target = [float(middle[0]), float(middle[1]), ground + 0.5 * self._scene.height]
        view = pb.computeViewMatrixFromYawPitchRoll(
            target, camera.distance * extent, camera.yaw_deg, camera.pitch_deg, 0.0, 2
        )
        aspect = self._size[0] / self._size[1]
        return view, pb.computeProjectionMatrixFOV(
            camera.fov_deg, aspect, 0.05 * extent, 100.0 * extent
        )


def render_rollout(
    rollout: Rollout,
    fps: float = 10.0,
    size: tuple[int, int] = (480, 360),
    *,
    overlays: bool = True,
) -> Iterator[Picture]:
    """
    Yield pictures of a recorded trial, ``fps`` per simulated second, (height, width, 3) uint8.

    ``overlays`` draws time, support polygon, ZMP of the contact forces, and force elements in the
    colours of their tensions.
    """
    if not 0.1 <= fps <= 1.0 / rollout.dt:
        raise ConfigurationError(
            f'frame rate is {fps:g} Hz; valid: 0.1 to {1.0 / rollout.dt:g}, the control rate'
        )
    terrain = load_terrain(rollout.spec.scene.terrain)
    count = int(rollout.ticks * rollout.dt * fps) + 1
    with closing(Renderer(rollout.robot, terrain, size)) as renderer:
        for number in range(count):
            tick = min(round(number / (fps * rollout.dt)), rollout.ticks)
            yield renderer.frame(
                rollout.body_poses[tick],
                rollout.joint_positions[tick],
                rollout_overlay(rollout, tick) if overlays else None,
            )


def rollout_overlay(rollout: Rollout, tick: int) -> Overlay:
    """Return time, ZMP, support polygon and force elements of a tick, as far as defined."""
    robot = rollout.robot
    found = Overlay(text=f'{robot.name}  {tick * rollout.dt:5.2f} s')
    if robot.force_elements and rollout.states.element_forces is not None:
        found = replace(
            found,
            lines=element_ends_at(robot, rollout.joint_positions[tick], rollout.body_poses[tick]),
            colours=tension_colours(robot, rollout.states.element_forces[tick]),
        )
    here = rollout.contact_tick == tick
    points, forces = rollout.contacts.points[here], rollout.contacts.forces[here]
    if not len(points):
        return found
    weight = robot.mass * float(np.linalg.norm(rollout.spec.scene.gravity))
    zmp, _ = centre_of_pressure(points, forces, min_force=max(0.05 * weight, 1e-6))
    corners = support_polygon(rollout.loaded_points(tick))
    raised = np.column_stack([corners, np.full(len(corners), points[:, 2].mean())])
    return replace(found, zmp=zmp, polygon=raised)


class Viewer(contracts.Viewer):
    """
    A window that shows the state of a running trial.

    Raises
    ------
    ConfigurationError
        Without a display: PyBullet itself would end the process.

    """

    def __init__(self, robot: RobotModel, terrain: Terrain) -> None:
        require_display()
        self._scene = _DisplayedScene(robot, terrain, pb.GUI)
        for flag in (pb.COV_ENABLE_GUI, pb.COV_ENABLE_SHADOWS):
            pb.configureDebugVisualizer(flag, 0, physicsClientId=self._scene.client)

    @property
    def is_open(self) -> bool:
        """True if the window has not been closed by its user."""
        return bool(pb.isConnected(self._scene.client))

    def show(self, observation: Observation) -> None:
        """Show a state; without effect once the window is closed."""
        poses, joints = observation.body_poses, observation.joint_positions
        if not self.is_open or poses is None or joints is None:
            return
        self._scene.set_state(poses, joints)
        camera = Camera()
        pb.resetDebugVisualizerCamera(
            camera.distance * self._scene.extent,
            camera.yaw_deg,
            camera.pitch_deg,
            poses[:, :3].mean(axis=0).tolist(),
            physicsClientId=self._scene.client,
        )

    def close(self) -> None:
        """Close the window."""
        self._scene.close()


def require_display() -> None:
    """Raise ConfigurationError unless a window can be opened."""
    name = os.environ.get('DISPLAY', '')
    if not name:
        raise ConfigurationError('a viewer needs a display: DISPLAY is not set')
    # PyBullet ends a process that cannot open a window: try it in another process.
    attempt = 'import os, pybullet; os._exit(pybullet.connect(pybullet.GUI) < 0)'
    done = subprocess.run(python_code_command(attempt), capture_output=True, check=False)
    if done.returncode:
        raise ConfigurationError(f"a viewer needs a display: '{name}' cannot be opened")


class _DisplayedScene:
    """A client with the robot and a mesh of the ground around it."""

    def __init__(self, robot: RobotModel, terrain: Terrain, mode: int) -> None:
        self.terrain = terrain
        self._cast = PosedRobot(robot, mode)
        self.client = self._cast.client
        self._folder = tempfile.TemporaryDirectory(prefix='ground_')
        self.extent, self.height = robot_extent(robot)
        self._reach = 10.0 * self.extent
        self._ground: int | None = None
        self._centre = np.full(2, np.inf)

    def close(self) -> None:
        """Disconnect and remove the files of the ground."""
        self._cast.close()
        self._folder.cleanup()

    def set_state(self, body_poses: FloatArray, positions: FloatArray) -> None:
        """Pose the robot; renew the mesh of the ground when the robot comes near its edge."""
        self._cast.set_state(body_poses, positions)
        middle = body_poses[:, :2].mean(axis=0)
        if np.abs(middle - self._centre).max() > 0.3 * self._reach:
            self._centre = np.round(middle / 2.0) * 2.0
            mesh = ground_mesh(self.terrain, self._centre, self._reach)
            if self._ground is not None:
                pb.removeBody(self._ground, physicsClientId=self.client)
            self._ground = self._add_mesh(mesh)

    def _add_mesh(self, mesh: GroundMesh) -> int:
        """Add a mesh with its texture to the pictures; return Bullet's number of the body."""
        shape = pb.createVisualShape(
            pb.GEOM_MESH,
            vertices=mesh.vertices.tolist(),
            indices=mesh.triangles.ravel().tolist(),
            normals=mesh.normals.tolist(),
            uvs=mesh.texture_points.tolist(),
            rgbaColor=[1.0, 1.0, 1.0, 1.0],
            physicsClientId=self.client,
        )
        body: int = pb.createMultiBody(
            baseMass=0.0, baseVisualShapeIndex=shape, physicsClientId=self.client
        )
        path = Path(self._folder.name) / 'ground.png'
        Image.fromarray(mesh.texture).save(path)
        texture = pb.loadTexture(str(path), physicsClientId=self.client)
        pb.changeVisualShape(body, -1, textureUniqueId=texture, physicsClientId=self.client)
        return body


def _draw_overlay(picture: Picture, overlay: Overlay, to_clip: FloatArray) -> Picture:
    """Return the picture with an overlay; ``to_clip`` (4, 4) projects points of ``odom``."""
    height, width = picture.shape[:2]

    def pixels(points: FloatArray) -> list[tuple[float, float]]:
        """Return the pixels of points, (k, 3) [m]."""
        clip = np.column_stack([points, np.ones(len(points))]) @ to_clip.T
        flat = clip[:, :2] / clip[:, 3:]
        return [((x + 1.0) * 0.5 * width, (1.0 - y) * 0.5 * height) for x, y in flat.tolist()]

    image = Image.fromarray(picture)
    draw = ImageDraw.Draw(image)
    if overlay.polygon is not None and len(overlay.polygon) > 1:
        corners = pixels(overlay.polygon)
        draw.line([*corners, corners[0]], fill=POLYGON_COLOUR, width=max(1, width // 240))
    if overlay.zmp is not None:
        ((x, y),) = pixels(overlay.zmp[None])
        r = max(2.0, width / 120)
        draw.ellipse((x - r, y - r, x + r, y + r), fill=ZMP_COLOUR)
    if overlay.lines is not None and overlay.colours is not None:
        colours = np.round(255.0 * overlay.colours).astype(int).tolist()
        for line, (red, green, blue) in zip(overlay.lines, colours, strict=True):
            draw.line(pixels(line), fill=(red, green, blue), width=max(1, width // 200))
    if overlay.text:
        draw.text((6, 4), overlay.text, fill=(20, 20, 20))
    drawn: Picture = np.asarray(image)
    return drawn
