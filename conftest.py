# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every process that runs tests has a ROS domain of its own, and draws the same examples."""

import os

from hypothesis import settings
import pytest

from gait_core.errors import ConfigurationError
from gait_core.testing.domain import DOMAIN_VARIABLE, claim_domain, own_domain

settings.register_profile('repeatable', derandomize=True)
settings.load_profile('repeatable')


def pytest_configure(config):
    """Claim the domain of a process that runs tests; UsageError if there is none."""
    # What starts the processes runs no test; its domain would become that of all of them.
    if getattr(config.option, 'numprocesses', None):
        return
    try:
        if hasattr(config, 'workerinput'):
            os.environ[DOMAIN_VARIABLE] = str(claim_domain())
        own_domain()
    except ConfigurationError as error:
        raise pytest.UsageError(str(error)) from error
