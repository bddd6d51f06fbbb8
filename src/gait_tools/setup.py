# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from setuptools import find_packages, setup

package_name = 'gait_tools'

setup(
    name=package_name,
    version='0.1.0',
    packages=find_packages(exclude=['test']),
    package_data={package_name: ['py.typed', 'report/page.*', 'starts/templates/*/*.in']},
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/' + package_name]),
        ('share/' + package_name, ['package.xml']),
        # Tab completion, sourced with the workspace, and the command on the PATH.
        (
            'share/' + package_name + '/environment',
            ['completion/gait.bash', 'completion/gait.zsh'],
        ),
        ('bin', ['bin/gait']),
    ],
    install_requires=['setuptools'],
    zip_safe=False,
    maintainer='Gait suite maintainers',
    maintainer_email='maintainers@users.noreply.a-seed-f9fb60b9.example',
    description=(
        'The gait command of the gait suite: walks, searches, reports, bags, pictures, checks '
        'and studies from the command line, and the adoption of robots.'
    ),
    license='Apache-2.0',
    extras_require={'test': ['pytest']},
    entry_points={
        'console_scripts': [
            'gait = gait_tools.cli:main',
        ],
    },
)
