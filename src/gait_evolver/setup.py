from setuptools import find_packages, setup

package_name = 'gait_evolver'

setup(
    name=package_name,
    version='0.1.0',
    packages=find_packages(exclude=['test']),
    package_data={
        package_name: [
            'py.typed',
            'experiments/*.yaml',
            'report/page.*',
            'strides/*.yaml',
            'studies/**/*',
        ]
    },
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/' + package_name]),
        ('share/' + package_name, ['package.xml']),
    ],
    install_requires=['setuptools'],
    zip_safe=False,
    maintainer='Gait suite maintainers',
    maintainer_email='gait-suite@example.org',
    description=(
        'Genomes, optimisers, fitness terms, evaluators, experiments, studies and reports '
        'of the gait suite, and the gait command.'
    ),
    license='Apache-2.0',
    extras_require={'test': ['pytest']},
    entry_points={
        'console_scripts': [
            'evolver_node = gait_evolver.node:main',
            'gait = gait_evolver.cli:main',
        ],
        'gait.optimizers': [
            'genetic = gait_evolver.optimizers.genetic:GeneticOptimizer',
            'bitstring_ga = gait_evolver.optimizers.bitstring:BitstringOptimizer',
            'cma_es = gait_evolver.optimizers.cma_es:CmaEsOptimizer',
            'nsga2 = gait_evolver.optimizers.nsga2:Nsga2Optimizer',
            'pattern_cma = gait_evolver.optimizers.pattern_cma:PatternCmaOptimizer',
            'posture_genetic = gait_evolver.optimizers.posture_genetic:PostureGeneticOptimizer',
            'rank_squared = gait_evolver.optimizers.rank_squared:RankSquaredOptimizer',
            'steady_state = gait_evolver.optimizers.steady_state:SteadyStateOptimizer',
        ],
        'gait.evaluators': [
            'local = gait_evolver.evaluators.local:LocalEvaluator',
            'ros = gait_evolver.evaluators.ros:RosEvaluator',
        ],
        'gait.benchmarks': [
            'evolver = gait_evolver.benchmark:benchmark',
        ],
        'gait.studies': [
            'bishop2008 = gait_evolver.studies.bishop2008:study',
            'cafarelli2017 = gait_evolver.studies.cafarelli2017:study',
            'korbel2013 = gait_evolver.studies.korbel2013:study',
            'korbel2013_beyond = gait_evolver.studies.korbel2013_beyond:study',
            'mckenna1990 = gait_evolver.studies.mckenna1990:study',
            'pike2003 = gait_evolver.studies.pike2003:study',
        ],
        # Fitness terms: one line per public function of gait_evolver/fitness.py,
        # network_fitness.py and spine_fitness.py, and those of zmp_tracking.py that take a rollout
        # alone.
        'gait.fitness_terms': [
            'distance = gait_evolver.fitness:distance',
            'lateral_drift = gait_evolver.fitness:lateral_drift',
            'zmp_margin = gait_evolver.fitness:zmp_margin',
            'energy = gait_evolver.fitness:energy',
            'survival = gait_evolver.fitness:survival',
            'heading = gait_evolver.fitness:heading',
            'smoothness = gait_evolver.fitness:smoothness',
            'tilt = gait_evolver.fitness:tilt',
            'transport_efficiency = gait_evolver.fitness:transport_efficiency',
            'bishop2008_forward = gait_evolver.network_fitness:bishop2008_forward',
            'bishop2008_hits = gait_evolver.network_fitness:bishop2008_hits',
            'bishop2008_net = gait_evolver.network_fitness:bishop2008_net',
            'bishop2008_inverted = gait_evolver.network_fitness:bishop2008_inverted',
            'bishop2008_x = gait_evolver.network_fitness:bishop2008_x',
            'bishop2008_y = gait_evolver.network_fitness:bishop2008_y',
            'korbel2013_direction = gait_evolver.spine_fitness:korbel2013_direction',
            'korbel2013_forward = gait_evolver.spine_fitness:korbel2013_forward',
            'korbel2013_lateral = gait_evolver.spine_fitness:korbel2013_lateral',
            'korbel2013_travel = gait_evolver.spine_fitness:korbel2013_travel',
            'korbel2013_twist = gait_evolver.spine_fitness:korbel2013_twist',
            'pike2003_zmp = gait_evolver.zmp_tracking:pike2003_zmp',
            'pike2003_zmp_smooth = gait_evolver.zmp_tracking:pike2003_zmp_smooth',
            'zmp_deviation = gait_evolver.zmp_tracking:zmp_deviation',
        ],
    },
)
