# SPDX-License-Identifier: BSD-3-Clause
"""camera_node on another machine: two network namespaces, and a link that delays and loses frames."""

import subprocess
import sys

import pytest
from hang import HANG

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from iap_bringup.experiments.nodes.delayed_link import DelayedLink, in_network
from iap_bringup.experiments.nodes.remote_cameras import across
from iap_description.errors import BadInput

pytestmark = [pytest.mark.ros, pytest.mark.nodes]
ECHO = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 5000))
while True:
    data, sender = s.recvfrom(9999)
    s.sendto(data, sender)
"""
ASK = """
import itertools, socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(0.5)
for number in itertools.count():  # until the other side is there, and a datagram and its answer come through
    began = time.monotonic()
    s.sendto(b"%d" % number, ("10.213.0.2", 5000))
    try:
        if s.recvfrom(9999)[0] != b"%d" % number:
            continue  # the answer to an earlier one
    except (TimeoutError, ConnectionRefusedError):
        continue
    print(time.monotonic() - began)
    break
"""


@pytest.fixture
def namespaces():
    try:
        with DelayedLink(0.0, 0.0):
            pass
    except BadInput as error:
        pytest.skip(str(error))


def test_a_link_delays_what_it_does_not_lose(namespaces):
    """There and back takes twice the delay at least, since a relay is never early."""
    with DelayedLink(0.03, 0.2) as link:
        here, there = link.names
        echo = subprocess.Popen(in_network(there, [sys.executable, "-c", ECHO]))
        try:
            ask = in_network(here, [sys.executable, "-c", ASK])
            took = subprocess.run(
                ask, capture_output=True, text=True, check=True, timeout=HANG
            ).stdout
        finally:
            echo.kill()
            echo.wait()
    assert float(took) >= 0.06
    assert link.frames >= 2


@pytest.mark.slow
def test_images_of_a_camera_node_across_a_link_show_the_state_of_their_stamp(namespaces):
    """With 20 ms of delay and 1 % of loss: each image has a stamp that a state has, and its own frame, once."""
    figures = across(2.0)
    assert figures["frames_lost"] > 0
    assert figures["least_images_hz"] > 0.0
    assert (figures["strays"], figures["repeated"], figures["wrong_frames"]) == (0, 0, 0)
