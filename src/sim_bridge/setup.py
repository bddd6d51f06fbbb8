# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from setuptools import find_packages, setup

package_name = 'sim_bridge'

setup(
    name=package_name,
    version='0.1.0',
    packages=find_packages(exclude=['test']),
    package_data={package_name: ['py.typed']},
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/' + package_name]),
        ('share/' + package_name, ['package.xml']),
    ],
    install_requires=['setuptools'],
    zip_safe=False,
    maintainer='Gait suite maintainers',
    maintainer_email='maintainers@users.noreply.a-seed-f9fb60b9.example',
    description=(
        'Physics of the gait suite: engines, actuators, sensors and contacts behind one '
        'contract, and the node that serves them.'
    ),
    license='Apache-2.0',
    extras_require={'test': ['pytest']},
    entry_points={
        'console_scripts': [
            'sim_bridge_node = sim_bridge.executables:sim_bridge_node',
        ],
        'gait.engines': [
            'bullet = sim_bridge.engines.bullet.engine:BulletEngine',
            'cables = sim_bridge.engines.cables.engine:CablesEngine',
            'mujoco = sim_bridge.engines.mujoco.engine:MujocoEngine',
        ],
        'gait.renderers': [
            'bullet = sim_bridge.engines.bullet.render:render_rollout',
        ],
        'gait.viewers': [
            'bullet = sim_bridge.engines.bullet.render:Viewer',
        ],
        'gait.benchmarks': [
            'bullet = sim_bridge.engines.bullet.benchmark:benchmark',
            'cables = sim_bridge.engines.cables.benchmark:benchmark',
            'mujoco = sim_bridge.engines.mujoco.benchmark:benchmark',
        ],
    },
)
