# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the viewer without a browser: addresses that are taken or do not exist, and browsers that come and go."""

import os
import re
import signal
import socket
import subprocess
import sys

import pytest
from shown_flight import shown_flight
from viewer_client import ViewerClient

from iap_bringup.cli.main import main
from iap_bringup.viewing.viser_stage import ALONE, DISPLAYS, open_server
from iap_description.errors import BadInput
from iap_description.process import interrupts
from iap_io.runs.run_folder import load_run

BODY = "/world/bodies/iap/base_link"


def moves(client):
    """True if a client is sent further places of the platform."""
    count = client.names[BODY]
    return client.wait(lambda: client.names[BODY] > count + 5)


def test_two_browsers_see_one_flight_and_one_that_closes_and_returns_sees_it_again():
    with shown_flight() as (_, address):
        with ViewerClient(address) as first, ViewerClient(address) as second:
            assert moves(first)
            assert moves(second)
        with ViewerClient(address) as again:
            assert moves(again)


def test_a_port_in_use_is_passed_over():
    with socket.create_server((ALONE, 0)) as other:
        taken = other.getsockname()[1]
        server = open_server(port=taken)
        assert taken < server.get_port() < taken + 100
        server.stop()


@pytest.mark.parametrize(
    ("host", "port", "words"),
    [
        ("nonsense.invalid", 0, "host nonsense.invalid"),
        ("198.51.100.7", 0, "host 198.51.100.7"),  # an address of nobody
        ("x" * 70, 0, "host xxx"),
        (ALONE, 99999, "port 99999"),
        (ALONE, -1, "port -1"),
    ],
)
def test_an_address_that_this_machine_does_not_have_is_refused_at_once(host, port, words):
    with pytest.raises(BadInput, match=words):
        open_server(host, port)


def test_a_flight_whose_pages_have_no_address_leaves_no_folder(tmp_path, capsys):
    out = tmp_path / "run"
    arguments = ("--view", "web", "--no-browser", "--port", "70000", "--out", str(out))
    assert main(["run", "hover", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not out.exists()


@pytest.mark.slow
def test_an_interrupt_during_a_pause_keeps_what_was_flown_on_a_machine_without_a_browser(tmp_path):
    out = tmp_path / "run"
    arguments = (
        "run figure_eight --duration 600 --view web --realtime --no-plot --no-view --port 0"
    )
    command = [sys.executable, "-P", "-m", "iap_bringup.cli.main", *arguments.split()]
    environment = {key: value for key, value in os.environ.items() if key not in DISPLAYS}
    with subprocess.Popen(
        [*command, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    ) as process:
        lines = iter(process.stdout)
        address = next(filter(None, (re.search(r"http://\S+", line) for line in lines))).group()
        with ViewerClient(address) as client:
            assert moves(client)
            client.click("Pause")
            assert client.wait(lambda: "Play" in client.changes)
            process.send_signal(signal.SIGINT)
            rest = process.communicate(timeout=120)[0]
    assert "no browser found" in rest
    assert "what was flown is kept" in rest
    assert process.returncode == interrupts.exit_code(signal.SIGINT)
    assert len(load_run(out).vehicles[0].columns.t) > 1
