# SPDX-License-Identifier: BSD-3-Clause
"""Domains that nobody uses."""

import socket

import pytest

from iap_io.ros.domains import FIRST_PORT, PARTICIPANTS, free_domain


def test_two_at_once_have_different_domains():
    with free_domain() as first, free_domain() as second:
        assert first != second


@pytest.mark.parametrize("participant", [0, 5, PARTICIPANTS - 1])
def test_a_domain_is_taken_while_any_participant_of_it_is_left(participant):
    with free_domain() as number:
        pass
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as left:
        left.bind(("", FIRST_PORT + 250 * number + 2 * participant))
        with free_domain() as other:
            assert other != number
