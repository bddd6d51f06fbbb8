# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from setuptools import find_packages, setup

package_name = 'gait_stage_walk'

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
        'Behaviours with an arbiter, staged walk, turn and keyframe strides of the gait '
        'suite, and the node that runs them.'
    ),
    license='Apache-2.0',
    extras_require={'test': ['pytest']},
    entry_points={
        'console_scripts': [
            'stage_walk_node = gait_stage_walk.executables:stage_walk_node',
        ],
        'gait.controllers': [
            'staged_walk = gait_stage_walk.staged.controller:StagedWalkController',
            'keyframe_stride = gait_stage_walk.strides.controller:KeyframeStrideController',
            'zmp_walk = gait_stage_walk.zmp.controller:ZmpWalkController',
        ],
    },
)
