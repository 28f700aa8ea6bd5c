# SPDX-License-Identifier: BSD-3-Clause
"""ROS domains that nobody on this machine uses."""

import itertools
import socket
from collections.abc import Iterator
from contextlib import contextmanager

DOMAINS = range(20, 100)


@contextmanager
def free_domain() -> Iterator[int]:
    """A ROS domain that no other test or measurement on this network has, and in which nobody speaks.

    The lock is an abstract Unix socket: it reaches as far as the network that domains share, across users and
    temporary folders, and ends with its process.
    """
    for domain in itertools.cycle(DOMAINS):
        with socket.socket(socket.AF_UNIX) as lock:
            try:
                lock.bind(f"\0iap_ros_domain_{domain}")
            except OSError:
                continue
            if _has_participant(domain):
                continue
            yield domain
            return


def _has_participant(domain: int) -> bool:
    """True if a process takes part in a domain: the first there binds port PB + DG domain + d1 (RTPS 2.5, 9.6.2.3)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("", 7400 + 250 * domain + 10))
        except OSError:
            return True
    return False
