# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the viewer without a browser: addresses that are taken or do not exist, and browsers that come and go."""

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from rich.console import Console
from shown_flight import shown_flight
from viewer_client import ViewerClient

from iap_bringup.cli.live_pages import may_control
from iap_bringup.cli.main import main
from iap_bringup.cli.view import serve
from iap_bringup.viewing import viser_stage
from iap_bringup.viewing.page import write_page
from iap_bringup.viewing.record_notes import events_of
from iap_bringup.viewing.source import RunSource
from iap_bringup.viewing.viser_stage import ALONE, DISPLAYS, open_server
from iap_description.errors import BadInput
from iap_description.process import interrupts
from iap_io.runs.run_folder import load_run

BODY = "/world/bodies/iap/base_link"


def moves(client):
    """True if a client is sent further places of the platform."""
    count = client.names[BODY]
    return client.wait(lambda: client.names[BODY] > count + 5)


@pytest.mark.slow
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


class Watched:
    """A command that serves pages, in a process of its own.

    Attributes:
        lines: that it has written so far.
    """

    def __init__(self, *arguments, environment=None):
        command = [sys.executable, "-P", "-m", "iap_bringup.cli.main", *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        self.process, self.lines = subprocess.Popen(command, **pipes, env=environment), []

    def address(self):
        """Address of its pages, once it has said that."""
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.search(r"http://\S+", line)
            if found:
                return found.group()
        raise AssertionError("".join(self.lines))

    def end(self):
        """Wait for its end; returns the exit code and all that it has written."""
        text = "".join([*self.lines, *self.process.stdout])
        return self.process.wait(120.0), text


@pytest.mark.slow
def test_browsers_that_come_and_go_and_another_server_leave_a_flight_as_it_is(tmp_path):
    flight = "run figure_eight --engine closed_form --no-plot --no-view".split()
    other = open_server(port=0)
    port = str(other.get_port())
    pages = "--duration 3600 --view web --no-browser --realtime --port".split()
    shown = Watched(*flight, *pages, port, "--out", str(tmp_path / "shown"))
    try:
        address = shown.address()
        with ViewerClient(address) as first:
            assert moves(first)
            with ViewerClient(address) as second:
                assert moves(second)
        with ViewerClient(address) as again:
            assert moves(again)
    finally:
        shown.process.send_signal(signal.SIGINT)
        _, text = shown.end()
        other.stop()
    assert f"port {port} is in use" in text
    seen = load_run(tmp_path / "shown").vehicles[0].columns
    assert len(seen.t) > 10
    as_long = ("--duration", f"{seen.t[-1]:.3f}", "--out", str(tmp_path / "alone"))
    assert main([*flight, *as_long]) == 0
    alone = load_run(tmp_path / "alone").vehicles[0].columns
    assert np.array_equal(seen.t, alone.t)
    assert np.array_equal(seen.x, alone.x)
    assert np.array_equal(seen.reference, alone.reference)


def breaks(client):
    """True if a rotor breaks in flight, which ends it; a flight that is over before that is flown again."""
    for _ in range(20):
        client.click("Break the rotor")
        client.wait(lambda: any("Reset flies it again" in each for each in client.changes))
        if any("rotor 1 of aircraft 1 at 0 % thrust" in each for each in client.changes):
            return True
        client.changes.clear()
        client.click("Reset")
    return False


@pytest.mark.slow
def test_a_page_stays_with_the_end_of_its_flight_from_which_it_is_flown_again(tmp_path):
    flight = "run figure_eight --platform f450 --duration 6 --no-plot --no-view"
    pages = "--view web --realtime --no-browser --port 0 --out".split()
    shown = Watched(*flight.split(), *pages, str(tmp_path / "run"))
    with ViewerClient(shown.address()) as client:
        assert client.wait(lambda: "Break the rotor" in client.labels)
        assert breaks(client)
        client.changes.clear()
        client.click("Reset")
        assert moves(client)
        assert client.wait(lambda: any("The flight is over" in each for each in client.changes))
    code, text = shown.end()
    assert code == 0
    assert "upside down" not in text
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["outcome"] == "completed"
    assert "hand" not in metrics


@pytest.fixture
def run_folder(tmp_path):
    folder = tmp_path / "run"
    flight = "run hover --engine closed_form --duration 0.5 --no-plot --no-view".split()
    assert main([*flight, "--out", str(folder)]) == 0
    return folder


def test_a_run_folder_of_an_older_version_is_shown_without_what_it_lacks(run_folder):
    metrics = json.loads((run_folder / "metrics.json").read_text())
    (run_folder / "metrics.json").write_text(json.dumps({"outcome": metrics["outcome"]}))
    source = RunSource.of_folder(run_folder)
    assert events_of(source.run) == [(source.span[1], "completed")]
    write_page(source, run_folder / "view.html")
    assert (run_folder / "view.html").stat().st_size > 1e5
    (run_folder / "metrics.json").unlink()  # of a run that was killed
    assert [each.text for each in events_of(RunSource.of_folder(run_folder).run)] == ["completed"]


def test_a_run_folder_whose_keys_had_other_names_is_refused_in_a_line_that_names_them(
    run_folder, capsys
):
    tree = yaml.safe_load((run_folder / "config.yaml").read_text())
    tree["loop"] = tree.pop("rates")
    (run_folder / "config.yaml").write_text(yaml.safe_dump(tree))
    assert main(["view", str(run_folder), "--no-browser"]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "config.yaml" in line
    assert "rates" in line


@pytest.mark.slow
def test_an_interrupt_during_a_pause_keeps_what_was_flown_on_a_machine_without_a_browser(tmp_path):
    out = tmp_path / "run"
    arguments = (
        "run figure_eight --duration 600 --view web --realtime --no-plot --no-view --port 0"
    )
    environment = {key: value for key, value in os.environ.items() if key not in DISPLAYS}
    shown = Watched(*arguments.split(), "--out", str(out), environment=environment)
    with ViewerClient(shown.address()) as client:
        assert moves(client)
        client.click("Pause")
        assert client.wait(lambda: "Play" in client.changes)
        shown.process.send_signal(signal.SIGINT)
        code, text = shown.end()
    assert "no browser found" in text
    assert "what was flown is kept" in text
    assert code == interrupts.exit_code(signal.SIGINT)
    assert len(load_run(out).vehicles[0].columns.t) > 1


def test_a_page_lingers_while_somebody_looks_and_a_moment_after(monkeypatch):
    clock, looked_at = [0.0], [True] * 5 + [False] * 1000
    own_time = SimpleNamespace(  # threads beside keep theirs
        monotonic=lambda: clock[0], sleep=lambda dt: clock.__setitem__(0, clock[0] + dt)
    )
    monkeypatch.setattr(viser_stage, "time", own_time)
    server = object.__new__(viser_stage.Server)
    server.get_clients = lambda: {0: None} if looked_at.pop(0) else {}
    server.linger(lambda: False)
    last_look = 4 * viser_stage.LINGER_PERIOD
    assert 0.0 <= clock[0] - last_look - viser_stage.GRACE <= 2 * viser_stage.LINGER_PERIOD
    looked_at[:0] = [True]
    before = clock[0]
    server.linger(lambda: clock[0] > before)  # as where the flight is flown again
    assert clock[0] - before <= 2 * viser_stage.LINGER_PERIOD


@pytest.mark.parametrize(
    ("host", "allow_control", "may"),
    [(ALONE, False, True), ("0.0.0.0", False, False), ("0.0.0.0", True, True)],
)
def test_pages_for_other_machines_only_look_on_unless_they_are_let(host, allow_control, may):
    said = io.StringIO()
    options = SimpleNamespace(host=host, allow_control=allow_control)
    assert may_control(options, Console(file=said)) is may
    assert ("pages at 0.0.0.0 only look on; --allow-control" in said.getvalue()) is not may


@pytest.mark.parametrize(
    ("host", "port", "no_browser", "opens", "said"),
    [
        ("127.0.0.1", 8080, True, [], ["127.0.0.1:8080"]),
        ("127.0.0.1", 0, True, [], ["127.0.0.1:8080"]),
        ("::1", 80, False, ["http://[::1]:8080"], ["port 80 is in use: 8080", "//[::1]:8080"]),
        ("no.screen", 8080, False, ["http://no.screen:8080"], ["no browser found"]),
    ],
)
def test_an_address_is_printed_with_what_became_of_its_port_and_its_browser(
    monkeypatch, host, port, no_browser, opens, said
):
    server, opened, text = SimpleNamespace(get_port=lambda: 8080), [], io.StringIO()
    monkeypatch.setattr(viser_stage, "open_server", lambda *_: server)
    monkeypatch.setattr(
        viser_stage,
        "open_browser",
        lambda address: opened.append(address) or "screen" not in address,
    )
    options = SimpleNamespace(host=host, port=port, no_browser=no_browser)
    assert serve(options, "a flight", Console(file=text)) is server
    assert opened == opens
    for part in [*said, "a flight: http://"]:
        assert part in text.getvalue()
    assert ("in use" in text.getvalue()) == (port == 80)
    assert ("no browser" in text.getvalue()) == (host == "no.screen")


def test_a_host_that_is_no_name_or_not_of_this_machine_has_no_pages():
    with pytest.raises(BadInput, match="^host .*: no address$"):
        open_server(host="a" * 64 + ".x")
    with pytest.raises(BadInput, match=r"^host 192\.0\.2\.1, port \d+: no pages there, "):
        open_server(host="192.0.2.1")


def test_the_last_port_has_none_after_it():
    with socket.create_server((ALONE, viser_stage.LAST_PORT)):
        with pytest.raises(BadInput, match=f"^port {viser_stage.LAST_PORT}: it is in use"):
            open_server(port=viser_stage.LAST_PORT)


@pytest.mark.parametrize("port", [-1, viser_stage.LAST_PORT + 1])
def test_a_port_that_cannot_be_is_refused(port):
    with pytest.raises(BadInput, match=f"^port {port}: a number from 0 to 65535 is expected$"):
        open_server(port=port)
