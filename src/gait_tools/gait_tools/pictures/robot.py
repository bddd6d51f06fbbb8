# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Picture of a robot in its stance: shapes, legs and workspaces of its feet."""

from __future__ import annotations

from collections.abc import Mapping
import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy.spatial import ConvexHull, QhullError

from gait_core.arrays import FloatArray
from gait_core.errors import ConfigurationError
from gait_core.files.access import write_atomically
from gait_core.kinematics.foot_workspace import FootWorkspace
from gait_core.kinematics.forward_kinematics import com_positions, link_poses
from gait_core.robot.model import Link, RobotModel
from gait_core.robot.shapes import shape_points, surface_points

_SIZE = (8.0, 4.2)
_DPI = 80
_COLOURS = 96
_GREY = np.array([0.62, 0.66, 0.72])
_LIGHT = np.array([0.4, -0.5, 0.77])
_VIEWS = ((18.0, -60.0, 'from the front right'), (4.0, -90.0, 'from the right'))
_LEG_COLOURS = ('tab:red', 'tab:blue', 'tab:green', 'tab:orange', 'tab:purple', 'tab:brown')


def draw_robot(path: Path, robot: RobotModel, workspaces: Mapping[str, FootWorkspace]) -> None:
    """
    Draw a robot in its nominal stance from two sides.

    Shapes are drawn as convex hulls. A coloured line connects the joints of each leg and its sole;
    thin lines show the workspace of the foot along each axis; a cross on the ground marks the
    centre of mass.

    Parameters
    ----------
    path : Path
        A PNG file.
    robot : RobotModel
    workspaces : mapping of str to FootWorkspace
        Workspace of each foot by the name of its leg.

    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    poses = link_poses(robot, robot.joint_stance)
    corners, shades = _shaded_triangles(robot, poses)
    feet = _sole_points(robot, poses)
    figure = Figure(figsize=_SIZE, dpi=_DPI, layout='constrained')
    canvas = FigureCanvasAgg(figure)
    figure.suptitle(robot.name)
    for place, (elevation, azimuth, label) in enumerate(_VIEWS, start=1):
        axes: Any = figure.add_subplot(1, 2, place, projection='3d', proj_type='ortho')
        axes.view_init(elevation, azimuth)
        axes.set_title(label, fontsize='small')
        _draw_shapes(axes, corners, shades)
        _draw_legs(axes, robot, poses, feet, workspaces)
        _draw_ground(axes, robot, feet)
        _set_limits(axes, corners, feet)
        if place > 1:
            # In a view along y the numbers of its axis overlap.
            axes.set(yticks=[], ylabel='')
    _save_png(path, canvas)


def _shaded_triangles(robot: RobotModel, poses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the triangles (f, 3, 3) [m] of all shapes in the base frame and their colours."""
    triangles, colours = [np.zeros((0, 3, 3))], [np.zeros((0, 3))]
    for link, pose in zip(robot.links, poses, strict=True):
        for corners in _link_hulls(link):
            placed = corners @ pose[:3, :3].T + pose[:3, 3]
            normals = np.cross(placed[:, 1] - placed[:, 0], placed[:, 2] - placed[:, 0])
            lengths = np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
            bright = 0.65 + 0.35 * np.abs(normals / lengths @ _LIGHT)
            triangles.append(placed)
            colours.append(np.clip(bright[:, None] * _GREY, 0.0, 1.0))
    return np.concatenate(triangles), np.concatenate(colours)


def _link_hulls(link: Link) -> list[FloatArray]:
    """Return the triangles of the hull of each shape in the link's frame, (f, 3, 3) each."""
    found = []
    for shape in link.visuals or link.collisions:
        points, radius = shape_points(shape)
        if radius > 0.0:
            points = surface_points(shape)[::8]
        try:
            found.append(points[ConvexHull(points).simplices])
        except QhullError:
            # A sheet without volume has no hull to draw.
            continue
    return found


def _sole_points(robot: RobotModel, poses: FloatArray) -> FloatArray:
    rows = [robot.link_index[leg.sole] for leg in robot.legs]
    return np.array(
        [
            poses[row, :3, :3] @ np.array(leg.sole_point) + poses[row, :3, 3]
            for row, leg in zip(rows, robot.legs, strict=True)
        ]
    )


def _draw_shapes(axes: Any, corners: FloatArray, shades: FloatArray) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    axes.add_collection3d(
        Poly3DCollection(corners, facecolors=np.column_stack([shades, np.full(len(shades), 0.5)]))
    )


def _draw_legs(
    axes: Any,
    robot: RobotModel,
    poses: FloatArray,
    feet: FloatArray,
    workspaces: Mapping[str, FootWorkspace],
) -> None:
    """Draw every leg from joint to joint to its foot, and the extent of the foot's workspace."""
    for i, leg in enumerate(robot.legs):
        rows = [robot.link_index[robot.joint[name].child] for name in leg.joints]
        line = np.concatenate([poses[rows, :3, 3], feet[i : i + 1]])
        colour = _LEG_COLOURS[i % len(_LEG_COLOURS)]
        axes.plot(*line.T, 'o-', color=colour, markersize=3.5, linewidth=1.6, label=leg.name)
        if leg.name in workspaces:
            space = workspaces[leg.name]
            for axis, low, high in (
                (0, space.back, space.forward),
                (1, space.right, space.left),
                (2, 0.0, min(space.up, 0.3 * space.forward)),
            ):
                span = np.array([feet[i], feet[i]])
                span[:, axis] += [-low, high]
                axes.plot(*span.T, '-', color=colour, linewidth=0.8, alpha=0.7)
    axes.legend(fontsize='x-small', loc='upper right', ncol=2)


def _draw_ground(axes: Any, robot: RobotModel, feet: FloatArray) -> None:
    com = com_positions(robot, robot.joint_stance)
    axes.plot(com[:1], com[1:2], [feet[:, 2].min()], 'kx', markersize=6)


def _set_limits(axes: Any, corners: FloatArray, feet: FloatArray) -> None:
    """Show the whole robot, with one scale for all three axes."""
    points = np.concatenate([corners.reshape(-1, 3), feet])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    half = 0.5 * float(np.ptp(points, axis=0).max())
    axes.set(
        xlim=(middle[0] - half, middle[0] + half),
        ylim=(middle[1] - half, middle[1] + half),
        zlim=(middle[2] - half, middle[2] + half),
        xlabel='x [m]',
        ylabel='y [m]',
        zlabel='z [m]',
    )
    axes.set_box_aspect((1.0, 1.0, 1.0))
    axes.tick_params(labelsize=6)


def _save_png(path: Path, canvas: Any) -> None:
    """Write a PNG with a palette, a tenth of the size of full colour."""
    canvas.draw()
    pixels = Image.fromarray(np.asarray(canvas.buffer_rgba())[:, :, :3])
    content = io.BytesIO()
    few = pixels.quantize(_COLOURS, method=Image.Quantize.FASTOCTREE)
    few.save(content, format='PNG', optimize=True)
    try:
        write_atomically(path, content.getvalue())
    except OSError as error:
        raise ConfigurationError(f"picture '{path}': {error.strerror or error}") from error
