# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

from setuptools import find_packages, setup

package_name = 'gait_studies'

setup(
    name=package_name,
    version='0.1.0',
    packages=find_packages(exclude=['test']),
    package_data={
        package_name: ['py.typed', '*/experiments/*.yaml', 'cafarelli2017/strides/*.yaml']
    },
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/' + package_name]),
        ('share/' + package_name, ['package.xml']),
    ],
    install_requires=['setuptools'],
    zip_safe=False,
    maintainer='Gait suite maintainers',
    maintainer_email='maintainers@users.noreply.a-seed-f9fb60b9.example',
    description=(
        'Published studies reproduced with the gait suite: experiments, scores, optimisers, '
        'tables and pictures of five theses; removable.'
    ),
    license='Apache-2.0',
    extras_require={'test': ['pytest']},
    entry_points={
        'gait.experiments': [
            'bishop2008 = gait_studies.bishop2008:experiments',
            'cafarelli2017 = gait_studies.cafarelli2017:experiments',
            'korbel2013 = gait_studies.korbel2013:experiments',
            'mckenna1990 = gait_studies.mckenna1990:experiments',
            'pike2003 = gait_studies.pike2003:experiments',
        ],
        'gait.fitness_terms': [
            'bishop2008_forward = gait_studies.bishop2008.fitness:bishop2008_forward',
            'bishop2008_hits = gait_studies.bishop2008.fitness:bishop2008_hits',
            'bishop2008_inverted = gait_studies.bishop2008.fitness:bishop2008_inverted',
            'bishop2008_net = gait_studies.bishop2008.fitness:bishop2008_net',
            'bishop2008_x = gait_studies.bishop2008.fitness:bishop2008_x',
            'bishop2008_y = gait_studies.bishop2008.fitness:bishop2008_y',
            'korbel2013_direction = gait_studies.korbel2013.fitness:korbel2013_direction',
            'korbel2013_forward = gait_studies.korbel2013.fitness:korbel2013_forward',
            'korbel2013_lateral = gait_studies.korbel2013.fitness:korbel2013_lateral',
            'korbel2013_travel = gait_studies.korbel2013.fitness:korbel2013_travel',
            'korbel2013_twist = gait_studies.korbel2013.fitness:korbel2013_twist',
            'pike2003_zmp = gait_studies.pike2003.zmp_tracking:pike2003_zmp',
            'pike2003_zmp_smooth = gait_studies.pike2003.zmp_tracking:pike2003_zmp_smooth',
            'zmp_deviation = gait_studies.pike2003.zmp_tracking:zmp_deviation',
        ],
        'gait.optimizers': [
            'bitstring_ga = gait_studies.pike2003.bitstring:BitstringOptimizer',
            'pattern_cma = gait_studies.bishop2008.pattern_cma:PatternCmaOptimizer',
            'posture_genetic = gait_studies.cafarelli2017.posture_genetic:PostureGeneticOptimizer',
            'rank_squared = gait_studies.bishop2008.rank_squared:RankSquaredOptimizer',
            'steady_state = gait_studies.korbel2013.steady_state:SteadyStateOptimizer',
        ],
        'gait.studies': [
            'bishop2008 = gait_studies.bishop2008.study:study',
            'cafarelli2017 = gait_studies.cafarelli2017.study:study',
            'korbel2013 = gait_studies.korbel2013.study:study',
            'korbel2013_beyond = gait_studies.korbel2013.beyond:study',
            'mckenna1990 = gait_studies.mckenna1990.study:study',
            'pike2003 = gait_studies.pike2003.study:study',
        ],
    },
)
