# Copyright 2026 Gait suite maintainers
# SPDX-License-Identifier: Apache-2.0

"""Two runs of tests on one machine never share a ROS domain, nor one with a graph that is up."""

import os
import socket
import subprocess
import sys
import tempfile

import pytest

from gait_core.errors import ConfigurationError
from gait_core.testing import domain as testing_domain
from gait_core.testing.domain import DOMAINS, claim_domain, own_domain

HOLD = """
import sys
from gait_core.testing import domain as testing_domain
testing_domain.DOMAINS = (int(sys.argv[1]),)
print(testing_domain.claim_domain(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def only(monkeypatch, tmp_path):
    """Return the only domain that can be claimed; no other run uses it."""
    domain = claim_domain()
    monkeypatch.setattr(testing_domain, 'DOMAINS', (domain,))
    # Locks of another folder: there the domain is still to be had.
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    return domain


def test_domains_that_are_claimed_at_once_differ(monkeypatch):
    """Also where all runs begin to look at the same domain, as pids a hundred apart would."""
    monkeypatch.setattr(os, 'getpid', lambda: 7)
    claimed = [claim_domain() for _ in range(5)]
    assert len(set(claimed)) == len(claimed) and set(claimed) <= set(DOMAINS)


def test_a_domain_is_of_one_process_for_as_long_as_it_lives(only, monkeypatch):
    monkeypatch.setenv('TMPDIR', tempfile.gettempdir())
    with subprocess.Popen(
        [sys.executable, '-c', HOLD, str(only)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert int(other.stdout.readline()) == only
        with pytest.raises(ConfigurationError, match=f'from {only} to {only} is in use'):
            claim_domain()
        other.kill()
    assert claim_domain() == only


@pytest.mark.parametrize('address', ['', '127.0.0.1'])
@pytest.mark.parametrize('offset', [0, 10, 14])
def test_a_domain_in_which_a_participant_speaks_is_not_claimed(only, offset, address):
    """Participant p listens to UDP port 7410 + 250 d + 2 p, and many to 7400 + 250 d (RTPS)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as speaker:
        speaker.bind((address, 7400 + 250 * only + offset))
        with pytest.raises(ConfigurationError, match='ROS_DOMAIN_ID'):
            claim_domain()
    assert claim_domain() == only


def test_a_run_keeps_its_domain_and_its_children_are_in_it(only, monkeypatch):
    monkeypatch.delenv('ROS_DOMAIN_ID', raising=False)
    assert own_domain() == own_domain() == only
    assert os.environ['ROS_DOMAIN_ID'] == str(only)


def test_a_domain_that_the_user_names_is_taken_as_it_is(only, monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', '42')
    assert own_domain() == 42
    for wrong in ('abc', '233', '-1'):
        monkeypatch.setenv('ROS_DOMAIN_ID', wrong)
        with pytest.raises(ConfigurationError, match=f"'{wrong}', expected .* from 0 to 232"):
            own_domain()
