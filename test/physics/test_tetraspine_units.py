# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Constants and laws of the tensegrity spine, computed again in pounds, inches and seconds."""

from fractions import Fraction
import math

import numpy as np
import pytest

from gait_core import registry
from gait_core.robot.load import load_robot
from gait_core.terrains import load_terrain
from gait_core.trial.scene import TerrainSpec
from gait_core.trial.setup import make_scene
from sim_bridge.engines.cables.ground import bristle_friction, normal_force
from sim_bridge.engines.cables.layout import make_ground
from sim_bridge.engines.cables.options import CablesOptions
from sim_bridge.engines.shared import force_laws

# By definition: the pound is 0.45359237 kg, under standard gravity.
POUND = Fraction('0.45359237') * Fraction('9.80665')
INCH = Fraction('0.0254')
LB, IN = float(POUND), float(INCH)
SPINE = load_robot('tetraspine')
ERROR = 1e-9
"""Largest deviation of a force [lb]."""


def ground(**options):
    scene = make_scene('tetraspine', {})
    return make_ground(scene, CablesOptions(**options), load_terrain(TerrainSpec()))


def exactly(value: Fraction):
    return pytest.approx(float(value), rel=1e-12, abs=0.0)


def test_contact_nodes_have_the_constants_of_tables_1_and_2():
    options = CablesOptions()
    assert options.ground_stiffness == exactly(25 * POUND / INCH)
    assert options.ground_damping == exactly(27 * POUND / INCH**2)
    assert options.stiction_range == exactly(Fraction('0.004') * INCH)
    assert options.stiction_stiffness == exactly(Fraction('0.3') * POUND / INCH)
    assert options.stiction_rate == exactly(Fraction('0.3') * POUND / INCH**2)
    assert options.stiction_damping == exactly(Fraction('0.4') * POUND / INCH)


def test_every_cable_has_the_constants_of_table_3():
    for element, free_length in zip(SPINE.force_elements, SPINE.stance, strict=True):
        stiffness = Fraction('0.2') if '_outer_' in element.name else Fraction('0.3')
        assert element.constants['stiffness'] == exactly(stiffness * POUND / INCH)
        assert element.constants['damping'] == exactly(Fraction('0.05') * POUND / INCH)
        assert free_length == exactly(Fraction('0.04') * INCH)


def test_cables_and_contact_nodes_are_at_the_corners_of_a_tetrahedron_of_6_inches():
    edge = 6.0 * IN
    back, low, top = -edge / math.sqrt(24.0), -edge / math.sqrt(12.0), edge / math.sqrt(3.0)
    corners = {
        'a': (back, -edge / 2.0, low),
        'b': (back, edge / 2.0, low),
        'c': (back, 0.0, top),
        'd': (edge * math.sqrt(0.375), 0.0, 0.0),
    }
    for node in SPINE.contact_nodes:
        assert node.point == pytest.approx(corners[node.name[-1]], rel=1e-12)
    for element in SPINE.force_elements:
        corner = corners[element.name[-1]]
        start = corners['d'] if '_inner_' in element.name else corner
        assert element.point_a == pytest.approx(start, rel=1e-12)
        assert element.point_b == pytest.approx(corner, rel=1e-12)


def test_a_unit_of_signal_pulls_with_two_pounds():
    assert registry.controller('matsuoka').Params().gain == exactly(2 * POUND)


def test_the_normal_force_is_that_of_eq_1():
    law, rng = ground(), np.random.default_rng(1)
    for _ in range(200):
        depth, rate = rng.uniform(-0.01, 0.02), rng.uniform(-5.0, 5.0)
        expected = max(0.0, 25.0 * depth + 27.0 * depth * rate) if depth > 0.0 else 0.0
        force = normal_force(law.stiffness, law.damping, depth * IN, rate * IN)
        assert force / LB == pytest.approx(expected, abs=ERROR)


@pytest.mark.parametrize('reading', [0, 1])
def test_the_friction_of_a_node_is_that_of_eqs_3_to_5(reading):
    law, rng = ground(reading=reading), np.random.default_rng(2)
    for _ in range(200):
        # Every fourth bristle is at the end of its range.
        x = rng.choice([rng.uniform(-0.004, 0.004)] * 3 + [math.copysign(0.004, rng.normal())])
        v = rng.uniform(-60.0, 60.0)
        is_at_end = abs(x) >= 0.004
        stiffness = 0.3 * abs(v) if reading else 0.3
        spring = stiffness * (1.0 if is_at_end else 1.7) * x
        damper = 0.0 if is_at_end and x * v > 0.0 else 0.4 * v
        displacement = math.copysign(law.stiction_range, x) if is_at_end else x * IN
        force, _ = bristle_friction(law, 1.0, True, displacement, v * IN, 1e-6)
        assert force / LB == pytest.approx(-(spring + damper), abs=ERROR)


def test_the_tension_of_a_cable_is_that_of_eq_6_with_the_signal_in_parallel():
    rng = np.random.default_rng(3)
    for element, free_length in zip(SPINE.force_elements, SPINE.stance, strict=True):
        constants = np.zeros(force_laws.COLUMN_COUNT)
        constants[force_laws.STIFFNESS] = element.constants['stiffness']
        constants[force_laws.DAMPING] = element.constants['damping']
        constants[force_laws.EFFORT] = np.inf
        stiffness = 0.2 if '_outer_' in element.name else 0.3
        for _ in range(20):
            length, rate, signal = rng.uniform((0.0, -10.0, -0.5), (6.0, 10.0, 0.5))
            expected = max(0.0, stiffness * (length - 0.04) + 0.05 * rate + signal)
            tension = force_laws.element_tension(
                force_laws.CABLE, constants, free_length, signal * LB, length * IN, rate * IN
            )
            assert tension / LB == pytest.approx(expected, abs=ERROR)
