# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Areas of the mutation test."""

from __future__ import annotations

from collections.abc import Mapping

_CORE, _CORE_TESTS = 'gait_core/gait_core/', 'src/gait_core/test/test_'
_ROS, _ROS_TESTS = 'gait_ros/gait_ros/', 'test/ros/test_'
_ENGINES, _OSCILLATORS = 'sim_bridge/sim_bridge/engines/', 'gait_cpg/gait_cpg/oscillators/'
_OPTIMIZERS = 'gait_evolver/gait_evolver/optimizers/'
_OPTIMIZER_TESTS = (
    'src/gait_evolver/test/test_optimizer_rules.py',
    'src/gait_evolver/test/test_search_libraries.py',
)
_KERNEL_TESTS = (
    'src/gait_cpg/test/test_oscillators_equations.py',
    'src/gait_cpg/test/test_oscillators_phase.py',
)
_OSCILLATOR_TESTS = (*_KERNEL_TESTS, 'src/gait_cpg/test/test_oscillators_matsuoka.py')
_LAW_TESTS = (
    f'{_CORE_TESTS}slider_crank.py',
    'src/sim_bridge/test/test_laws.py',
    'src/sim_bridge/test/test_lead_screws.py',
)
_QOS_TESTS = (f'{_ROS_TESTS}qos.py', f'{_ROS_TESTS}services.py')
_GUARD_TESTS = ('src/gait_ros/test/test_motor_guard.py',)
_LAYER_TESTS = (
    f'{_CORE_TESTS}safety.py',
    f'{_CORE_TESTS}safety_rules.py',
    f'{_CORE_TESTS}motion_request.py',
)

AREAS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    'measures': {
        f'{_CORE}measures/{name}.py': tuple(f'{_CORE_TESTS}{test}.py' for test in tests)
        for name, tests in {
            'contact_nodes': ('contact_nodes',),
            'energy': ('energy', 'work_meter', 'metrics', 'gates'),
            'foot_contacts': ('foot_contacts', 'gait_diagram', 'metrics'),
            'gait_diagram': ('gait_diagram', 'metrics'),
            'metrics': ('metrics',),
            'stability': ('stability', 'metrics'),
            'support': ('metrics',),
            'work_meter': ('work_meter',),
        }.items()
    },
    'laws': {
        f'{_ENGINES}shared/force_laws.py': _LAW_TESTS,
        f'{_ENGINES}shared/lead_screws.py': _LAW_TESTS,
        f'{_CORE}kinematics/slider_crank.py': _LAW_TESTS,
        f'{_ENGINES}cables/ground.py': ('src/sim_bridge/test/test_node_ground.py',),
        f'{_ENGINES}mujoco/ground_kernel.py': ('src/sim_bridge/test/test_ground_kernel.py',),
        **{
            f'{_OSCILLATORS}{name}.py': _OSCILLATOR_TESTS
            for name in ('coupling', 'matsuoka', 'phase')
        },
        # Fewer, because they are compiled with each mutant.
        f'{_OSCILLATORS}kernels.py': _KERNEL_TESTS,
    },
    'qos': {
        f'{_ROS}nodes/event_queue.py': ('src/gait_ros/test/test_event_queue.py',),
        f'{_ROS}nodes/qos.py': _QOS_TESTS,
        f'{_ROS}nodes/services.py': _QOS_TESTS,
        f'{_ROS}nodes/publisher_checks.py': (f'{_ROS_TESTS}publisher_checks.py',),
        f'{_ROS}live/joint_topics.py': (f'{_ROS_TESTS}joint_topics.py',),
    },
    'safety': {
        f'{_CORE}safety/layer.py': _LAYER_TESTS,
        f'{_CORE}safety/plausibility.py': (f'{_CORE_TESTS}safety_rules.py',),
        f'{_CORE}safety/springs.py': (f'{_CORE_TESTS}springs.py',),
        f'{_ROS}hardware/motor_guard.py': _GUARD_TESTS,
        f'{_ROS}hardware/motor_watch.py': _GUARD_TESTS,
        f'{_ROS}live/safe_output.py': (f'{_ROS_TESTS}safe_output.py',),
    },
    'optimizers': {
        f'{_OPTIMIZERS}{name}.py': _OPTIMIZER_TESTS
        for name in ('cma_es', 'genetic', 'pymoo_search', 'ranking')
    },
}
"""Modules under src/ of each area, with the tests that should fail with any change of them."""
