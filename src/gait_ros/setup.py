# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from setuptools import find_packages, setup

package_name = 'gait_ros'

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
        'The rclpy side shared by every node of the gait suite: parameters, message '
        'conversion, QoS, lock-step, hardware and the node graph as data.'
    ),
    license='Apache-2.0',
    extras_require={'test': ['pytest']},
    entry_points={
        'console_scripts': [
            'controller_node = gait_ros.executables:controller_node',
            'hardware_node = gait_ros.executables:hardware_node',
            'waypoints_node = gait_ros.executables:waypoints_node',
        ],
        'gait.benchmarks': [
            'lockstep = gait_ros.checks.benchmark:benchmark',
        ],
    },
)
