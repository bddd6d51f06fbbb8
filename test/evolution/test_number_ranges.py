# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every number in an experiment and in a robot.yaml has a range."""

import copy
import dataclasses

import pytest
import yaml

from gait_core.errors import ConfigurationError
from gait_core.robot.legged_box import legged_box
from gait_core.robot.load import read_robot
from gait_core.robot.robot_file import RobotFile, TrialDefaults
from gait_core.robot.urdf.writer import to_urdf
from gait_core.testing.skips import need_engine
from gait_core.trial.setup import check_defaults
from gait_evolver.experiment import CurriculumStage, Experiment, StoppingRules
from gait_evolver.plan import load_plan

EXPERIMENT = """
format: 1
name: full
description: every kind of number
robot: a1
controller: phase_cpg
preset: trot
parameters: {stride_height: 0.02}
genes: {frequency: {lower: 1.0, upper: 2.0, log: false}}
scene:
  engine: bullet
  engine_options: {solver_iterations: 50}
  terrain: {name: rough, parameters: {range: 0.01}, seed: 3}
  friction: 0.8
  restitution: 0.1
  gravity: [0.0, 0.0, -9.81]
  physics_step: 0.001
  control_period: 0.02
  initial: {x: 0.1, y: 0.1, roll: 0.1, pitch: 0.1, yaw: 0.1, clearance: 0.01,
            joint_positions: {FL_hip_joint: 0.1}}
  pushes: [{start: 0.1, duration: 0.2, force: [1.0, 0.0, 0.0]}]
  sensors: {joint_position_noise: 0.1, joint_velocity_noise: 0.1, orientation_noise: 0.1,
            angular_velocity_noise: 0.1, acceleration_noise: 0.1, delay_ticks: 1}
  length_scale: 1.0
  mass_factor: 1.0
  draw: 0
engines: [bullet]
script: [{time: 0.0, command: {velocity: [0.1, 0.0, 0.0], set_points: {stop: 0.0}}}]
duration: 1.0
settle_time: 0.1
fitness: {distance: 1.0}
objectives: {}
gates: {speed: 3.0}
constraints: {tilt_max_rad: {at_least: 0.0, at_most: 1.0}}
measures: []
optimizer: {name: genetic, settings: {reevaluate: true, elites: 1}}
generations: 3
population: 10
repeats: 1
common_seeds: true
bodies: one
start_spread: 0.0
seed: 3
evaluator: local
randomise: {friction: [0.5, 0.9], mass: [0.9, 1.1], initial.yaw: [0.0, 0.1]}
hopeless: [{time: 0.5, moved: 0.01}]
curriculum: [{generations: 2, fitness: 0.5, scene: {friction: 0.7}, duration: 1.0,
              randomise: {friction: [0.5, 0.6]}, hopeless: [{time: 0.5, moved: 0.01}],
              script: [{time: 0.0, command: {velocity: [0.1, 0.0, 0.0]}}]}]
stop: {fitness: 3.0, stagnation: 5, trials: 100, wall_time: 100.0}
"""
ROBOT = """
name: box
urdf: box.urdf
root_rpy: [0.0, 0.0, 0.0]
joints: [leg0_joint0, leg1_joint0, leg2_joint0, leg3_joint0]
limits: {'.*': {lower: -1.0, upper: 1.0, velocity: 5.0, effort: 40.0, damping: 0.1,
                friction: 0.1}}
actuators: {default: {kind: pd, stiffness: 10.0, damping: 1.0},
            joints: {leg0_joint0: {kind: position, gain: 20.0}}}
legs: [{name: a, joints: [leg0_joint0], sole: leg0_link0, sole_point: [0.0, 0.0, 0.0]}]
signals: {s: [leg0_joint0]}
force_elements: [{name: e, kind: spring, link_a: base, point_a: [0.0, 0.0, 0.0],
                  link_b: leg0_link0, point_b: [0.0, 0.0, 0.0],
                  constants: {stiffness: 10.0, damping: 1.0}}]
mirror: {prefixes: [[leg0_, leg1_]], pairs: [[leg2_joint0, leg3_joint0, -1.0]]}
nominal_stance: {leg0_joint0: 0.2, e: 0.3}
fall: {max_tilt: 1.0, min_height_ratio: 0.5, pose: {leg0_joint0: 0.5}}
imu_link: base
sensors:
  - {name: l, kind: lidar, link: base, xyz: [0.0, 0.0, 0.1], rpy: [0.0, 0.0, 0.0], rate: 10.0,
     range: [0.1, 12.0], noise: 0.01, azimuth: [-3.0, 3.0], columns: 36, elevation: [-0.2, 0.2],
     rows: 2}
  - {name: c, kind: depth_camera, link: base, rate: 10.0, range: [0.2, 5.0], field_of_view: 1.2,
     columns: 6, rows: 4}
length_scale: 0.5
defaults:
  controller: hold
  scene: {friction: 0.8}
  physics_steps: {bullet: 0.001}
  command: [0.1, 0.0, 0.0]
  duration: 1.0
  settle_time: 0.1
"""
# An absent limit may be written as a large number, and a fitness or a metric may have any size.
LIMITS = [f'limits..*.{name}' for name in ('lower', 'upper', 'velocity', 'effort')]
BOUNDS = [f'constraints.tilt_max_rad.{name}' for name in ('at_least', 'at_most')]
UNBOUNDED = ('stop.fitness', 'curriculum.0.fitness', *LIMITS, *BOUNDS)


def numbers(value, path=()):
    """Yield the path of every number in plain data."""
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from numbers(item, (*path, key))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path


def replaced(content, path, value):
    """Return plain data with one value replaced."""
    found = copy.deepcopy(content)
    parent = found
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    return found


def accepted_numbers(text, read):
    """Return the numbers of a file in whose place an absurd one is accepted."""
    content = yaml.safe_load(text)
    read(content)
    accepted = []
    for path in numbers(content):
        for value in (1e300, -1e300):
            try:
                read(replaced(content, path, value))
            except ConfigurationError as error:
                assert '\n' not in str(error) and len(str(error)) <= 280
            else:
                accepted.append('.'.join(map(str, path)))
                break
    return [name for name in accepted if name not in UNBOUNDED]


@pytest.mark.parametrize(
    ('kinds', 'text'),
    [
        ((Experiment, CurriculumStage, StoppingRules), EXPERIMENT),
        ((RobotFile, TrialDefaults), ROBOT),
    ],
    ids=['experiment', 'robot'],
)
def test_the_examples_below_have_every_key(kinds, text):
    for kind in kinds:
        for field in dataclasses.fields(kind):
            # Bodies and contact nodes exclude legs; the others name no number.
            if field.name not in ('bodies', 'contact_nodes', 'ball_joints', 'gait', 'engines'):
                assert f'{field.name}:' in text or field.name in ('preset', 'terrains'), field.name


def test_no_number_of_an_experiment_is_without_a_range(tmp_path):
    def read(content):
        (tmp_path / 'e.yaml').write_text(yaml.safe_dump(content))
        load_plan(str(tmp_path / 'e.yaml'))

    assert accepted_numbers(EXPERIMENT, read) == []


def test_no_number_of_a_robot_file_is_without_a_range(tmp_path):
    (tmp_path / 'box.urdf').write_text(to_urdf(legged_box(legs=4, joints=1)))

    def read(content):
        (tmp_path / 'robot.yaml').write_text(yaml.safe_dump(content))
        read_robot(tmp_path)

    assert accepted_numbers(ROBOT, read) == []


@pytest.mark.parametrize(
    ('engine', 'option'),
    [('bullet', 'solver_iterations'), ('mujoco', 'iterations'), ('cables', 'lift_off')],
)
def test_default_options_of_an_engine_have_a_range(engine, option):
    need_engine(engine)
    robot = dataclasses.replace(legged_box(), defaults={'engines': {engine: {option: 1e300}}})
    with pytest.raises(ConfigurationError, match=f"defaults.engines: parameter '{option}'"):
        check_defaults(robot)
