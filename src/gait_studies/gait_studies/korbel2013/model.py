# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Study korbel2013: checks of the robot, the ground and the oscillators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.constants import inch, lbf

from gait_core import registry
from gait_core.measures.contact_nodes import contact_node_positions
from gait_core.motion.observation import Observation
from gait_core.robot.load import load_robot
from gait_core.trial.setup import default_trial
from gait_core.trial.spec import Command
from gait_studies.korbel2013.contact import contact_measurements as contact_measurements
from gait_studies.korbel2013.oscillators import oscillator_measurements as oscillator_measurements
from gait_studies.korbel2013.trials import DetailedTrial, record_details
from gait_tools.study.definition import StudyRow, row_above, row_at_least, row_at_most, row_near
from gait_tools.study.session import StudySession

ROBOT = 'tetraspine'
_STANDING_TIME = 10.0
_RESTING_CABLES = {'outer': (2.944, 0.581), 'inner': (3.978, 1.181)}
"""Length [in] and tension [lb] of the cables at rest, by kind."""


def measure_robot(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 1 and 2: masses and counts."""
    model = load_robot(ROBOT)
    link = model.links[0]
    kinds = [element.name.split('_')[1] for element in model.force_elements]
    actuated = [cable for _, cables in model.signals for cable in cables]
    counts = {
        'bodies': ('bodies', len(model.roots), 5),
        'cables': ('cables', len(model.force_elements), 24),
        'outer': ('outer cables', kinds.count('outer'), 12),
        'inner': ('inner cables', kinds.count('inner'), 12),
        'actuated': ('actuated cables', len(set(actuated)), 8),
        'signals': ('signals', len(model.signals), 4),
        'nodes': ('contact nodes', len(model.contact_nodes), 11),
    }
    return [
        row_near('check_1_mass', 'mass of a tetrahedron', link.mass, 0.020288, 0.0002, 'kg'),
        row_near(
            'check_1_inertia',
            'moment of inertia of a tetrahedron',
            float(np.mean(np.diag(link.inertia))),
            6.738e-5,
            6.7e-7,
            'kg m^2',
        ),
        row_near(
            'check_1_isotropic',
            'largest deviation from equal moments about every axis',
            float(np.abs(link.inertia / link.inertia[0, 0] - np.eye(3)).max()),
            0.0,
            0.01,
        ),
        *(
            row_near(f'check_2_{name}', f'{what} of the robot', float(count), float(expected), 0.0)
            for name, (what, count, expected) in counts.items()
        ),
    ]


def measure_standing(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 3 to 5: the unactuated robot standing for ten seconds."""
    still = replace(default_trial(ROBOT, _STANDING_TIME), controller='hold', parameters={})
    trial = record_details(still, period=0.02)
    poses = trial.rollout.body_poses[:, :, :3] / inch
    base = contact_node_positions(trial.rollout)[:, :-1] / inch
    spacing = np.diff(poses[-1, :, 0])
    return [
        *(_tension_row(trial, kind) for kind in _RESTING_CABLES),
        row_near(
            'check_4_spacing',
            'distance from T1 to T2 after 10 s',
            float(spacing[0]),
            2.944,
            0.03,
            'in',
        ),
        row_at_most(
            'check_4_drift',
            'largest displacement of a lower corner in 10 s',
            float(np.linalg.norm((base[-1] - base[0])[:, :2], axis=1).max()),
            0.1,
            'in',
        ),
        row_at_least(
            'check_4_upright',
            'height of the lowest upper corner',
            float(trial.corner_positions('outer_c')[..., 2].min() / inch),
            5.0,
            'in',
        ),
        row_above(
            'check_5_rest',
            'least tension of a cable at rest',
            float(trial.tensions[1:].min() / lbf),
            0.0,
            'lb',
        ),
        row_near(
            'standing_load',
            'normal force after 10 s',
            float(trial.normal_forces()[-1].sum() / lbf),
            0.2236,
            0.0022,
            'lb',
            note='the weight',
        ),
    ]


def _tension_row(trial: DetailedTrial, kind: str) -> StudyRow:
    """Return the row of check 3 for a kind of cable, interpolated over those that stand."""
    length, tension = _RESTING_CABLES[kind]
    elements = trial.rollout.robot.force_elements
    columns = [column for column, element in enumerate(elements) if f'_{kind}_' in element.name]
    lengths, tensions = trial.lengths[-1, columns] / inch, trial.tensions[-1, columns] / lbf
    order = np.argsort(lengths)
    return row_near(
        f'check_3_{kind}',
        f'tension of an {kind} cable of {length} inches at rest, in the engine',
        float(np.interp(length, lengths[order], tensions[order])),
        tension,
        0.005 * tension,
        'lb',
        note=f'cables of {lengths.min():.4f} to {lengths.max():.4f} inches',
    )


_CONTACT_CHECKS = (
    ('check_6_still', 'push_still', 'normal force at a depth of 0.001 inches', 0.025, 1e-5, 'lb'),
    (
        'check_6_sinking',
        'push_sinking',
        'normal force at a depth of 0.001 inches, sinking at 0.5 in/s',
        0.0385,
        2e-5,
        'lb',
    ),
    ('check_8_lambda', 'damping_ratio', 'damping over 1.5 alpha k', 1.0, 1e-3, '-'),
    (
        'check_8_estimate',
        'damping_estimate',
        'damping for a restitution of 0.9 at 0.12 in/s',
        31.25,
        0.2,
        'lb s/in^2',
    ),
    ('check_9_sliding', 'sliding_force', 'friction of a sliding node', 0.0012, 1e-6, 'lb'),
    (
        'check_9_peak',
        'stiction_peak',
        'friction of a node about to slide',
        0.00204,
        1e-5,
        'lb',
    ),
    ('check_11_slides', 'slide_fast_distance', 'distance of a slide from 60 in/s', 5.5, 0.3, 'in'),
    (
        'check_11_breaks',
        'slide_fast_break',
        'speed at which that slide begins',
        18.5,
        0.5,
        'in/s',
    ),
    ('check_12', 'friction_in_the_air', 'friction in the air', 0.0, 0.0, 'lb'),
)
"""Row, measurement, quantity, value, tolerance and unit of the checks of contact laws."""


def measure_contact(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 6 to 12: contact laws of a single node."""
    measured = contact_measurements()
    return [
        *(
            row_near(row, what, measured[name], value, within, unit)
            for row, name, what, value, within, unit in _CONTACT_CHECKS
        ),
        row_at_least('check_7', 'least normal force', measured['push_least'], 0.0, 'lb'),
        row_at_most(
            'check_9_state',
            'largest friction state',
            measured['largest_state'],
            0.004 + 1e-12,
            'in',
        ),
        row_at_most(
            'check_10',
            'most work on a node by 1000 random trajectories',
            measured['largest_work'],
            0.0,
            'lb in',
        ),
        row_at_most(
            'check_11_stops',
            'distance of a slide from 40 in/s',
            measured['slide_slow_distance'],
            0.004,
            'in',
        ),
        row_at_most(
            'check_11_rests',
            'speed after 1 s of the slide from 60 in/s',
            measured['slide_fast_speed'],
            0.05,
            'in/s',
            note=f'stuck again at {measured["slide_fast_state"]:.4f} inches',
        ),
    ]


def measure_oscillators(session: StudySession) -> Sequence[StudyRow]:
    """Measure checks 13 to 19: single oscillators, networks of four and blanked signals."""
    measured = oscillator_measurements()
    expected = (
        ('check_13_frequency', 'sine_frequency', 'frequency at w 1.5, tau 0.3 s', 0.5305, 0.0053),
        ('check_13_peak', 'sine_peak', 'peak from 5 to 15 s at w 1.5, tau 0.3 s', 0.19, 0.01),
        ('check_14_heavy', 'heavy_frequency', 'frequency at w 2', 0.441, 0.0088),
        ('check_14_slow', 'slow_frequency', 'frequency at 3 tau_A', 0.4205, 0.0084),
        ('check_15', 'target_frequency', 'frequency at tau 0.2274 s', 0.70, 0.007),
        ('check_16', 'reference_error', 'error of the reference vector', 0.0, 1e-6),
    )
    rows = [
        row_near(
            row, what, measured[name], value, within, 'Hz' if name.endswith('frequency') else '-'
        )
        for row, name, what, value, within in expected
    ]
    return [
        *rows,
        row_at_most('check_14_dies', 'last peak at 1.5 tau_A', measured['quick_last_peak'], 0.02),
        row_at_least('check_14_lives', 'peak at 3 tau_A', measured['slow_last_peak'], 0.2),
        row_at_least(
            'check_14_harmonic', 'third harmonic at 3 tau_A', measured['slow_third_harmonic'], 0.05
        ),
        row_at_most(
            'check_17',
            'peak after 5 s with all weights 2.2, tau 0.25 s',
            measured['equal_peak_0.25'],
            1e-6,
        ),
        row_at_least(
            'check_19_alive',
            'share of 200 random networks with four signals alive',
            measured['alive_share'],
            0.86,
            note=f'{measured["dead_share"]:.1%} wholly dead',
        ),
        *_blanking_rows(),
        row_at_most(
            'check_19_peak', 'largest signal of these networks', measured['largest_signal'], 0.28
        ),
    ]


def _blanking_rows() -> list[StudyRow]:
    """Return the rows of check 18: targets of the controller in a trial of 15 s."""
    model, period = load_robot(ROBOT), 0.02
    cls = registry.controller('matsuoka')
    controller = cls(model, cls.Params())
    observations = (
        Observation(tick=tick, time=tick * period) for tick in range(round(15.0 / period))
    )
    targets = [controller.step(period, Command(), observation) for observation in observations]
    sent = np.concatenate([target.effort for target in targets if target.effort is not None])
    return [
        row_near('check_18_samples', 'samples of a trial', float(len(sent)), 30000.0, 0.0),
        row_near(
            'check_18_blank',
            'largest of the first 2500 samples',
            float(np.abs(sent[:2500]).max()),
            0.0,
            0.0,
            'N',
            note=f'the next is {np.abs(sent[2500]).max():.2f} N',
        ),
    ]
