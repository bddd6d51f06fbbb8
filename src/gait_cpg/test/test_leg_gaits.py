# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Duty factor and phase lag of single legs as parameters, and the hash of a gait file."""

from dataclasses import replace
import math

import numpy as np
import pytest

from gait_core import registry
from gait_core.errors import ConfigurationError
from gait_core.motion.observation import Observation
from gait_core.parameters.declaration import (
    declared_parameters,
    make_parameters,
    merge_parameters,
    parameter_values,
)
from gait_core.parameters.plain_data import sha256_of
from gait_core.parameters.tables import parameter_table
from gait_core.testing.doubles import legged_box
from gait_core.trial.robot_gait import resolve_gait
from gait_core.trial.spec import Command
from gait_cpg.insect.reflexes import REFLEXES
from gait_cpg.phase_cpg.controller import PhaseCpgController
from gait_cpg.phase_cpg.parameters import PhaseCpgParams

BOX = legged_box(4, 3, roll=True)
ROBOT = replace(
    BOX, nominal_stance={n: (0.0, -0.5, 1.0)[i % 3] for i, n in enumerate(BOX.joint_names)}
)
LEGS = [leg.name for leg in ROBOT.legs]
DUTIES, LAGS = (0.6, 0.5, 0.75, 0.8), (0.0, 0.1, 0.5, 0.7)


def walker(**values):
    return PhaseCpgController(ROBOT, make_parameters(PhaseCpgParams, values))


def by_leg(quantity, values):
    return {f'{quantity}.{leg}': value for leg, value in zip(LEGS, values, strict=True)}


def gait_file(folder, comment=''):
    lines = [
        f'duty_factor: {{{", ".join(map("{}: {}".format, LEGS, DUTIES))}}}',
        f'lags: {{{", ".join(map("{}: {}".format, LEGS, LAGS))}}}',
    ]
    file = folder / 'own.yaml'
    file.write_text(f'{comment}\n' + '\n'.join(lines) + '\n')
    return str(file)


def targets(walk):
    command = Command(velocity=(0.2, 0.0, 0.1))
    blind = Observation(tick=0, time=0.0)
    return np.array([walk.step(0.02, command, blind).position for _ in range(150)])


def test_values_of_every_leg_are_the_gait_of_a_file_to_the_last_bit(tmp_path):
    own = walker(gait='own', gait_file=gait_file(tmp_path))
    # The first leg's duty factor is the one that the others are offsets of.
    same = walker(**by_leg('duty_factor', DUTIES), **by_leg('lag', LAGS), duty_factor=DUTIES[0])
    np.testing.assert_array_equal(targets(own), targets(same))
    over_file = walker(gait='own', gait_file=gait_file(tmp_path), **by_leg('lag', (0.0,) * 4))
    flat = walker(
        **by_leg('duty_factor', DUTIES), **by_leg('lag', (0.0,) * 4), duty_factor=DUTIES[0]
    )
    np.testing.assert_array_equal(targets(over_file), targets(flat))


def test_one_leg_leaves_the_others():
    plain, one = walker(), walker(**{f'lag.{LEGS[3]}': 0.3, f'duty_factor.{LEGS[2]}': 0.9})
    command = Command(velocity=(0.2, 0.0, 0.0))
    down = []
    for _ in range(400):
        for walk in (plain, one):
            walk.step(0.02, command, Observation(tick=0, time=0.0))
        down.append([[walk.state()[f'stance.{leg}'] for leg in LEGS] for walk in (plain, one)])
    first, second = plain.state(), one.state()
    for leg in LEGS:
        lag = 0.3 if leg == LEGS[3] else None
        behind = [math.remainder(s[f'phase.{leg}'], 2.0 * math.pi) for s in (first, second)]
        if lag is None:
            assert abs(math.remainder(behind[1] - behind[0], 2.0 * math.pi)) < 1e-3
        else:
            # Leg 0 of the trot lags by half a cycle behind the left rear leg, lag 0.
            reference = second[f'phase.{LEGS[0]}'] + 2.0 * math.pi * one._lags[0]
            found = math.remainder(reference - second[f'phase.{leg}'], 2.0 * math.pi)
            assert found == pytest.approx(2.0 * math.pi * lag, abs=1e-3)
    # At 2.5 Hz a cycle is 20 periods; the last ten cycles are settled.
    share = np.mean(down[-200:], axis=0)
    np.testing.assert_allclose(share[1, [0, 1, 3]], share[0, [0, 1, 3]], atol=0.06)
    assert share[1, 2] == pytest.approx(0.9, abs=0.06) and share[0, 2] < 0.65


def test_unset_values_of_legs_are_no_part_of_the_parameters():
    assert not any('.' in name for name in parameter_values(PhaseCpgParams()))
    assert 'gait_file_sha256' not in parameter_values(PhaseCpgParams())
    values = {'lag.leg1': 0.25, 'duty_factor.leg0': 0.5, 'frequency': 2.0}
    params = make_parameters(PhaseCpgParams, values)
    again = parameter_values(params)
    assert values.items() <= again.items()
    assert make_parameters(PhaseCpgParams, again) == params
    assert hash(make_parameters(PhaseCpgParams, again)) == hash(params)
    nested = {'lag': {'leg1': 0.25}, 'duty_factor.leg0': 0.5, 'frequency': 2.0}
    assert make_parameters(PhaseCpgParams, nested) == params
    assert '| `lag.<leg>` |' in parameter_table(PhaseCpgParams)


@pytest.mark.parametrize(
    ('base', 'changes', 'merged'),
    [
        ({'lag.a': 0.1, 'frequency': 1.0}, {'frequency': 2.0}, {'lag.a': 0.1, 'frequency': 2.0}),
        ({'lag.a': 0.1}, {'gait': 'pace'}, {'gait': 'pace'}),
        ({'lag.a': 0.1}, {'gait': 'pace', 'lag.b': 0.2}, {'gait': 'pace', 'lag.b': 0.2}),
        ({'duty_factor.a': 0.6}, {'duty_factor': 0.7}, {'duty_factor': 0.7}),
        ({'lag.b': 0.6}, {'lag': {'a': 0.7}}, {'lag.b': 0.6, 'lag.a': 0.7}),
        ({'gait_file_sha256': 'ab'}, {'gait_file': 'x'}, {'gait_file': 'x'}),
    ],
)  # fmt: skip
def test_a_value_for_all_legs_replaces_earlier_ones_of_single_legs(base, changes, merged):
    assert merge_parameters(PhaseCpgParams, base, changes) == merged


def test_the_own_gait_of_a_robot_may_have_values_of_legs():
    own = {'duty_factor.leg0': 0.8, 'lag': {'leg1': 0.2}}
    robot = replace(ROBOT, defaults={'controller': 'phase_cpg', 'gait': own})
    found = resolve_gait(robot).parameters
    assert (found['duty_factor.leg0'], found['lag.leg1']) == (0.8, 0.2)
    # Named presets come after it, then parameters.
    walk = resolve_gait(robot, preset='walk', parameters={'lag.leg2': 0.4}).parameters
    assert 'duty_factor.leg0' not in walk and 'lag.leg1' not in walk and walk['lag.leg2'] == 0.4
    for wrong in ({'lag.leg9': 0.1}, {'lag': {'leg9': 0.1}}):
        with pytest.raises(ConfigurationError, match="leg in 'lag.leg9': did you mean 'lag.leg"):
            resolve_gait(robot, parameters=wrong)
    bad = replace(robot, defaults={**robot.defaults, 'gait': {'lag.leg9': 0.1}})
    with pytest.raises(ConfigurationError, match="defaults.gait: unknown leg in 'lag.leg9'"):
        resolve_gait(bad)


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        (
            {'lag.leg0': 1.5},
            "parameter 'lag.leg0' = 1.5 cycles is outside .0, 1.; nearest valid: 1",
        ),
        ({'duty_factor.leg0': 0.1}, 'nearest valid: 0.3'),
        ({'duty_facto.leg0': 0.5}, "unknown parameter 'duty_facto.leg0': did you mean 'duty_fact"),
        ({'frequency.leg0': 0.5}, "unknown parameter 'frequency.leg0': did you mean 'frequency'"),
        ({'lag': 0.5}, "unknown parameter 'lag': did you mean 'lag.<leg>'"),
        ({'lag.leg9': 0.5}, "unknown leg in 'lag.leg9': did you mean 'lag.leg"),
    ],
)
def test_a_wrong_value_of_a_leg_is_named(values, message):
    with pytest.raises(ConfigurationError, match=message):
        walker(**values)


def test_a_trial_holds_the_hash_of_the_content_of_its_gait_file(tmp_path):
    file = gait_file(tmp_path)
    gait = resolve_gait(ROBOT, 'phase_cpg', '', {'gait': 'own', 'gait_file': file})
    pinned = gait.trial_parameters
    content = {
        'lags': dict(zip(LEGS, LAGS, strict=True)),
        'duty_factor': dict(zip(LEGS, DUTIES, strict=True)),
    }
    assert pinned['gait_file_sha256'] == sha256_of(content)
    assert 'gait_file_sha256' not in gait.parameters
    walker(**pinned)
    # A comment is no part of the gait.
    gait_file(tmp_path, '# the same gait')
    walker(**pinned)
    (tmp_path / 'own.yaml').write_text((tmp_path / 'own.yaml').read_text().replace('0.7', '0.71'))
    with pytest.raises(
        ConfigurationError, match=r'gait_file .*own\.yaml was changed: .* expected'
    ):
        walker(**pinned)
    walker(**{**pinned, 'gait_file_sha256': ''})
    # Without the gait `own` no file is read.
    plain = resolve_gait(ROBOT, 'phase_cpg', '', {'gait_file': file})
    assert 'gait_file_sha256' not in plain.trial_parameters


@pytest.mark.parametrize(
    ('values', 'without_effect'),
    [
        ({}, {'duty_factor': None, 'lean_gain': 'posture_reflex is off'}),
        ({'posture_reflex': True}, {'lean_gain': None, 'search_time': 'foothold_search is off'}),
        (by_leg('duty_factor', DUTIES), {'duty_factor': 'every leg has a duty factor'}),
        ({'duty_factor.leg0': 0.6}, {'duty_factor': None}),
        ({'gait': 'own'}, {'duty_factor': 'own.yaml.* sets the duty factor of every leg'}),
    ],
)
def test_parameters_without_effect_are_told(tmp_path, values, without_effect):
    if 'gait' in values:
        values = {**values, 'gait_file': gait_file(tmp_path)}
    found = make_parameters(PhaseCpgParams, values).without_effect(LEGS)
    for name, reason in without_effect.items():
        if reason is None:
            assert name not in found
        else:
            with pytest.raises(ConfigurationError, match=reason):
                raise ConfigurationError(found[name])


@pytest.mark.parametrize('controller', ['phase_cpg', 'insect_gait'])
def test_every_reader_of_a_parameter_is_a_reflex(controller):
    declared = registry.controller(controller).Params
    infos = {info.name: info for info in declared_parameters(declared)}
    for name, reflexes in declared.readers.items():
        assert infos[name].kind == 'float' and all(infos[one].kind == 'bool' for one in reflexes)
    off = make_parameters(declared, dict.fromkeys(infos.keys() & set(REFLEXES), False))
    assert set(declared.readers) <= set(off.without_effect(LEGS))
    on = make_parameters(declared, dict.fromkeys(infos.keys() & set(REFLEXES), True))
    assert not set(declared.readers) & set(on.without_effect(LEGS))
