# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from setuptools import find_packages, setup

package_name = 'gait_core'

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
        'Robot model, contracts, trial loop, kinematics, stability and energy measures, '
        'terrain and registry of the gait suite; pure Python without ROS.'
    ),
    license='Apache-2.0',
    extras_require={'test': ['pytest']},
    entry_points={
        'gait.controllers': [
            'hold = gait_core.motion.stance_controller:HoldController',
        ],
        'gait.terrains': [
            'bumps = gait_core.terrains.bumps:Bumps',
            'flat = gait_core.terrains.flat:Flat',
            'room = gait_core.terrains.room:Room',
            'rough = gait_core.terrains.rough:Rough',
            'slope = gait_core.terrains.slope:Slope',
            'steps = gait_core.terrains.steps:Steps',
        ],
    },
)
