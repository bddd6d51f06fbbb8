# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from setuptools import find_packages, setup

package_name = 'gait_evolver'

setup(
    name=package_name,
    version='0.1.0',
    packages=find_packages(exclude=['test']),
    package_data={package_name: ['py.typed', 'experiments/*.yaml']},
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/' + package_name]),
        ('share/' + package_name, ['package.xml']),
    ],
    install_requires=['setuptools'],
    zip_safe=False,
    maintainer='Gait suite maintainers',
    maintainer_email='maintainers@users.noreply.a-seed-f9fb60b9.example',
    description=(
        'Evolution of gaits: experiments, optimisers, fitness terms, evaluators, run store and '
        'the node that serves them.'
    ),
    license='Apache-2.0',
    extras_require={'test': ['pytest']},
    entry_points={
        'console_scripts': [
            'evolver_node = gait_evolver.executables:evolver_node',
            # `ros2 run gait_evolver gait` goes on working; the command lives in gait_tools.
            'gait = gait_tools.cli:main',
        ],
        'gait.optimizers': [
            'genetic = gait_evolver.optimizers.genetic:GeneticOptimizer',
            'cma_es = gait_evolver.optimizers.cma_es:CmaEsOptimizer',
            'nsga2 = gait_evolver.optimizers.pymoo_search:Nsga2Optimizer',
            'nsga3 = gait_evolver.optimizers.pymoo_search:Nsga3Optimizer',
            'differential_evolution = gait_evolver.optimizers.pymoo_search:DifferentialEvolution',
            'gaussian_process = gait_evolver.optimizers.gaussian_process:GaussianProcessSearch',
            'tpe = gait_evolver.optimizers.tpe:TpeOptimizer',
            'particle_swarm = gait_evolver.optimizers.pymoo_search:ParticleSwarmOptimizer',
        ],
        'gait.evaluators': [
            'local = gait_evolver.evaluators.local:LocalEvaluator',
            'ray = gait_evolver.evaluators.ray:RayEvaluator',
            'ros = gait_evolver.evaluators.ros:RosEvaluator',
        ],
        'gait.benchmarks': [
            'evolver = gait_evolver.benchmark:measure_evaluators',
        ],
        'gait.fitness_terms': [
            'distance = gait_evolver.fitness:forward_displacement',
            'lateral_drift = gait_evolver.fitness:lateral_drift',
            'zmp_margin = gait_evolver.fitness:mean_zmp_margin',
            'energy = gait_evolver.fitness:positive_work',
            'survival = gait_evolver.fitness:survival_share',
            'heading = gait_evolver.fitness:heading_change',
            'smoothness = gait_evolver.fitness:smoothness',
            'tilt = gait_evolver.fitness:max_tilt',
            'transport_efficiency = gait_evolver.fitness:transport_efficiency',
        ],
    },
)
