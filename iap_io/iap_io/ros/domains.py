# SPDX-License-Identifier: BSD-3-Clause
"""ROS domains that nobody on this machine uses."""

import itertools
import socket
from collections.abc import Iterator
from contextlib import contextmanager

DOMAINS = range(20, 100)
FIRST_PORT = (
    7410  # PB + d1: participant k of a domain binds PB + DG domain + d1 + PG k (RTPS 2.5, 9.6.2.3)
)
PARTICIPANTS = 32  # of a domain on one host, which find each other


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
    """True if a process takes part in a domain, also one that was left behind when the first there had ended."""
    return any(_is_bound(FIRST_PORT + 250 * domain + 2 * k) for k in range(PARTICIPANTS))


def _is_bound(port: int) -> bool:
    """True if a process of this machine listens on a UDP port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return True
    return False
