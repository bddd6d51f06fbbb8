# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""RViz markers of a robot and its gait."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
import math

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point
import numpy as np
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from gait_core.arrays import FloatArray
from gait_core.height_field import HeightField
from gait_core.kinematics.base_frames import ODOM
from gait_core.kinematics.element_colours import tension_colours
from gait_core.kinematics.element_geometry import element_ends_at
from gait_core.measures.stability import support_margin
from gait_core.motion.observation import Contacts, Observation
from gait_core.robot.model import RobotModel
from gait_core.trial.scene import EMPTY_MAPPING
from gait_core.trial.spec import Command
from gait_interfaces.msg import Stability
from gait_ros.messages.conversions import BUILDER

_FORCE_COLOUR = ColorRGBA(r=0.9, g=0.4, b=0.0, a=1.0)
_ZMP_COLOUR = ColorRGBA(r=0.8, g=0.0, b=0.5, a=1.0)
_COM_COLOUR = ColorRGBA(r=0.95, g=0.85, b=0.1, a=1.0)
_FIXED_COLOUR = ColorRGBA(r=0.8, g=0.1, b=0.1, a=1.0)
_COMMAND_COLOUR = ColorRGBA(r=0.1, g=0.6, b=0.9, a=1.0)
_TEXT_COLOUR = ColorRGBA(r=0.95, g=0.95, b=0.95, a=1.0)
_FOOTHOLD_COLOUR = ColorRGBA(r=0.1, g=0.8, b=0.8, a=1.0)
_GROUND_COLOUR = ColorRGBA(r=0.55, g=0.5, b=0.42, a=1.0)
_UNDEFINED_COLOUR = ColorRGBA(r=0.5, g=0.5, b=0.5, a=1.0)
# Speed of a command from which it is drawn as an arrow [m/s].
_MIN_ARROW_SPEED = 1e-3
# Heights in length scales of the robot, so that markers suit an insect and a humanoid. Texts are
# at different heights above CoM and base, so that they do not overlap.
_TEXT_HEIGHT = 0.1
_READINGS_ABOVE, _FIXED_ABOVE, _GAIT_ABOVE = 0.7, 1.0, 1.4
_LENGTH_PER_WEIGHT = 1.0
# Half of the width of the ground, in length scales, and its largest number of cells.
_GROUND_HALF_WIDTH, _GROUND_CELLS = 4.0, 20


def stability_markers(
    message: Stability, state: Observation, weight: float, fixed_base: bool, size: float = 1.0
) -> MarkerArray:
    """
    Return the markers of the balance of a robot, in odom.

    They are contact forces, the support polygon in the colour of the margin, the ZMP, the CoM with
    its projection onto the plane of the contacts, and speed and margin as text.

    Parameters
    ----------
    message : Stability
    state : Observation
        Contacts, and the twist of the base.
    weight : float [N]
        Force that is drawn with the length scale of the robot as its length.
    fixed_base : bool
        Whether the base is held.
    size : float [m]
        Length scale of the robot.

    """
    com = message.com
    contacts = state.contacts or Contacts(soles=())
    per_newton = _LENGTH_PER_WEIGHT * size / weight
    forces = _marker(
        message.header, 'contact_forces', Marker.LINE_LIST, _FORCE_COLOUR, 0.02 * size
    )
    for point, force in zip(contacts.points, contacts.forces, strict=True):
        forces.points += [BUILDER.point(point), BUILDER.point(point + per_newton * force)]
    colour = margin_colour(message)
    polygon = _marker(message.header, 'support_polygon', Marker.LINE_STRIP, colour, 0.016 * size)
    if len(message.support_polygon) > 1:
        polygon.points = [*message.support_polygon, message.support_polygon[0]]
    zmp = _marker(message.header, 'zmp', Marker.SPHERE_LIST, _ZMP_COLOUR, 0.06 * size)
    zmp.points = list(message.zmp)
    centre = _marker(message.header, 'com', Marker.SPHERE_LIST, _COM_COLOUR, 0.08 * size)
    centre.points = [com]
    projection = _marker(
        message.header, 'com_projection', Marker.LINE_LIST, _COM_COLOUR, 0.01 * size
    )
    if message.support_polygon:
        projection.points = [com, Point(x=com.x, y=com.y, z=message.support_polygon[0].z)]
    readings = _text(message.header, 'readings', _TEXT_COLOUR, com, size, _READINGS_ABOVE)
    readings.text = _readings_text(message, state)
    base = _text(message.header, 'fixed_base', _FIXED_COLOUR, com, size, _FIXED_ABOVE)
    base.text = 'fixed base' if fixed_base else ''
    return _marker_array(forces, polygon, zmp, centre, projection, readings, base)


def margin_colour(message: Stability) -> ColorRGBA:
    """
    Return the colour of the margin: green at the centre of the polygon, red at its edge.

    It is grey if the margin is undefined.
    """
    if not message.margin:
        return _UNDEFINED_COLOUR
    # The colour shows the margin, divided by the margin of the mean of the corners.
    corners = np.array([(corner.x, corner.y) for corner in message.support_polygon])
    best = support_margin(corners.mean(axis=0), corners)
    share = min(max(message.margin[0] / best, 0.0), 1.0) if best > 0.0 else 0.0
    return ColorRGBA(r=1.0 - share, g=share, b=0.0, a=1.0)


def _readings_text(message: Stability, state: Observation) -> str:
    lines = []
    if state.body_twists is not None:
        lines.append(f'speed {float(np.hypot(*state.body_twists[0, :2])):.2f} m/s')
    lines.append(f'margin {message.margin[0]:.3f} m' if message.margin else 'margin undefined')
    return '\n'.join(lines)


def gait_markers(
    robot: RobotModel,
    command: Command,
    gait: str,
    stop_reason: str,
    footholds: Mapping[str, FloatArray] = EMPTY_MAPPING,
) -> MarkerArray:
    """
    Return the markers of a gait, in the frame of the base.

    They are the command as an arrow, footholds of legs in swing, and gait, command and stop as
    text.

    Parameters
    ----------
    robot : RobotModel
    command : Command
        The arrow is as long as the distance that the robot is to walk in 1 s.
    gait : str
        Name of the gait.
    stop_reason : str
        Reason of the present or last stop; empty before the first.
    footholds : mapping of str to (3,) array [m]
        Footholds of legs in swing, by leg, in the frame of the base.

    """
    size = robot.length_scale
    # Without a stamp, RViz takes the newest transform and waits for none.
    header = Header(frame_id=robot.roots[0])
    x, y, yaw_rate = command.velocity
    arrow = _marker(header, 'command', Marker.ARROW, _COMMAND_COLOUR, 0.04 * size)
    arrow.scale.y, arrow.scale.z = 0.08 * size, 0.1 * size
    if np.hypot(x, y) > _MIN_ARROW_SPEED:
        arrow.points = [Point(), Point(x=x, y=y)]
    text = _text(header, 'gait', _TEXT_COLOUR, Point(), size, _GAIT_ABOVE)
    command_text = f'command {x:.2f}, {y:.2f} m/s, {yaw_rate:.2f} rad/s'
    text.text = '\n'.join(filter(None, (gait, command_text, stop_reason)))
    targets = _marker(header, 'swing_targets', Marker.SPHERE_LIST, _FOOTHOLD_COLOUR, 0.08 * size)
    targets.points = [BUILDER.point(footholds[leg]) for leg in sorted(footholds)]
    for marker in (arrow, text):
        # These move with the base; footholds are fixed to the ground.
        marker.frame_locked = True
    for marker in (arrow, text, targets):
        # A lifetime, so that no arrow remains after the end of a gait.
        marker.lifetime = Duration(sec=1)
    return _marker_array(arrow, text, targets)


def _marker(header: Header, name: str, kind: int, colour: ColorRGBA, size: float) -> Marker:
    marker = Marker(header=header, ns=name, type=kind, color=colour)
    marker.scale.x = marker.scale.y = marker.scale.z = size
    marker.pose.orientation.w = 1.0
    return marker


def _text(
    header: Header, name: str, colour: ColorRGBA, below: Point, size: float, above: float
) -> Marker:
    marker = _marker(header, name, Marker.TEXT_VIEW_FACING, colour, _TEXT_HEIGHT * size)
    marker.pose.position = Point(x=below.x, y=below.y, z=below.z + above * size)
    return marker


def _marker_array(*markers: Marker) -> MarkerArray:
    """Return the markers, of which empty ones are deleted: RViz warns of empty lines."""
    for marker in markers:
        marker.action = Marker.ADD if marker.points or marker.text else Marker.DELETE
    return MarkerArray(markers=list(markers))


def element_marker(stamp: Time, state: Observation, robot: RobotModel) -> Marker:
    """Return the force elements as lines, in the colours of their tensions, in odom."""
    lines = Marker(header=Header(stamp=stamp, frame_id=ODOM), ns='force_elements')
    lines.type, lines.pose.orientation.w = Marker.LINE_LIST, 1.0
    lines.scale.x = 0.01 * robot.length_scale
    if state.element_forces is None or state.joint_positions is None or not robot.force_elements:
        lines.action = Marker.DELETE
        return lines
    colours = tension_colours(robot, state.element_forces).tolist()
    for ends, (red, green, blue) in zip(
        element_ends_at(robot, state.joint_positions, state.body_poses), colours, strict=True
    ):
        lines.points += [BUILDER.point(end) for end in ends]
        lines.colors += [ColorRGBA(r=red, g=green, b=blue, a=1.0)] * 2
    return lines


def terrain_marker(
    stamp: Time, field: HeightField | None, centre: FloatArray, size: float = 1.0
) -> Marker:
    """
    Return the ground around a point as triangles, in odom.

    The triangles are those of the height field. If its cells are small compared to the robot, only
    every second, third, ... vertex is used.

    Parameters
    ----------
    stamp : Time
    field : HeightField or None
        None: a plane, which has no triangles, because RViz shows its grid.
    centre : (2,) array [m]
        Centre of the drawn ground.
    size : float [m]
        Length scale of the robot.

    """
    marker = _marker(
        Header(stamp=stamp, frame_id=ODOM), 'terrain', Marker.TRIANGLE_LIST, _GROUND_COLOUR, 1.0
    )
    if field is None:
        marker.action = Marker.DELETE
        return marker
    fine = math.ceil(_GROUND_HALF_WIDTH * size / (_GROUND_CELLS * field.cell))
    step = min(max(1, fine), min(field.heights.shape) - 1)
    columns, rows = (
        _vertices(
            centre[axis] - field.origin[axis], step, field.cell, field.heights.shape[1 - axis]
        )
        for axis in (0, 1)
    )
    corners = [
        [
            Point(
                x=field.origin[0] + column * field.cell,
                y=field.origin[1] + row * field.cell,
                z=float(field.heights[row, column]),
            )
            for column in columns
        ]
        for row in rows
    ]
    for near, far in pairwise(corners):
        for a, b, c, d in zip(near, near[1:], far, far[1:], strict=False):
            marker.points += (a, b, c, d, c, b)
    return marker


def _vertices(position: float, step: int, cell: float, count: int) -> range:
    """Return the indices of drawn vertices around a position [m] along an axis of the field."""
    last = (count - 1) // step
    middle = round(position / (step * cell))
    low = min(max(middle - _GROUND_CELLS, 0), last - 1)
    high = max(min(middle + _GROUND_CELLS, last), low + 1)
    return range(low * step, high * step + 1, step)
