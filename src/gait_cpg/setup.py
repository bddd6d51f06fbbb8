# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from setuptools import find_packages, setup

package_name = 'gait_cpg'

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
        'Central pattern generators of the gait suite: Matsuoka and phase '
        'oscillators, insect gait rules and the node that runs them.'
    ),
    license='Apache-2.0',
    extras_require={'test': ['pytest']},
    entry_points={
        'console_scripts': [
            'cpg_node = gait_cpg.executables:cpg_node',
        ],
        'gait.controllers': [
            'insect_gait = gait_cpg.insect.controller:InsectGaitController',
            'matsuoka = gait_cpg.matsuoka.controller:MatsuokaController',
            'perceptron = gait_cpg.perceptron.controller:PerceptronController',
            'phase_cpg = gait_cpg.phase_cpg.controller:PhaseCpgController',
        ],
        'gait.benchmarks': [
            'cpg = gait_cpg.benchmark:benchmark',
        ],
    },
)
