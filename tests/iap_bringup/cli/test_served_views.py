# SPDX-License-Identifier: BSD-3-Clause
"""Views that are served, flights that are flown beside one, and the space that recordings take."""

import argparse
import io
import sys
from types import ModuleType, SimpleNamespace

import pytest
from rich.console import Console

from iap_bringup.cli import flight, view
from iap_description.errors import BadInput


class Server:
    """A server at a port."""

    def __init__(self, port):
        self.port, self.stopped = port, 0

    def get_port(self):
        """The port."""
        return self.port

    def stop(self):
        """End."""
        self.stopped += 1


@pytest.mark.parametrize(
    ("port", "host", "browses", "opens", "lines"),
    [
        (8080, "localhost", True, True, ["a [b]: http://localhost:8080 (Ctrl-C ends)"]),
        (0, "::1", False, False, ["a [b]: http://[::1]:8080 (Ctrl-C ends)"]),
        (80, "h", True, False, ["port 80 is in use: 8080 in its place", "a [b]: http://h:8080 (Ctrl-C ends)",
                                "no browser found: open the address by hand"]),
    ],
)  # fmt: skip
def test_an_address_is_said_and_opened(port, host, browses, opens, lines, monkeypatch):
    stage, opened = ModuleType("viser_stage"), []
    stage.open_server = lambda *what: Server(8080)
    stage.open_browser = lambda address: opened.append(address) or opens
    monkeypatch.setitem(sys.modules, "iap_bringup.viewing.viser_stage", stage)
    options = argparse.Namespace(host=host, port=port, no_browser=not browses)
    console = Console(file=io.StringIO(), width=30, markup=False)
    assert view.serve(options, "a [b]", console).port == 8080
    assert " ".join(console.file.getvalue().split()) == " ".join(lines) and len(opened) == browses


@pytest.mark.parametrize("shows_table", [True, False])
def test_one_folder_may_be_a_table_and_servers_are_stopped(shows_table, monkeypatch, tmp_path):
    server, shown = Server(1), []

    def module(name, **content):
        made = ModuleType(name)
        vars(made).update(content)
        monkeypatch.setitem(sys.modules, f"iap_bringup.viewing.{name}", made)

    def viewer(*what):
        def run(event):
            shown.append(what[1:])
            raise KeyboardInterrupt

        return SimpleNamespace(run=run)

    table = SimpleNamespace(title="sweep")
    module("run_table", table_of=lambda folder: table if shows_table else None)
    module("run_viewer", RunViewer=viewer)
    module("table_viewer", TableViewer=viewer)
    source = SimpleNamespace(of_folder=lambda folder: SimpleNamespace(title=folder.name))
    module("source", RunSource=source)
    titles = []
    monkeypatch.setattr(
        view, "serve", lambda options, title, console: titles.append(title) or server
    )
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    options = argparse.Namespace(folders=[tmp_path / "a"], beside=(1.0, 0.0, 0.0))
    with pytest.raises(KeyboardInterrupt):
        view.view(options)
    options.folders.append(tmp_path / "b")
    with pytest.raises(KeyboardInterrupt):
        view.view(options)
    assert titles == ["sweep" if shows_table else "a", "a and b"] and server.stopped == 2
    assert shown[1][1] == (1.0, 0.0, 0.0) and (shown[0][0] is table) is shows_table


def test_flights_beside_one_are_flown_until_one_is_interrupted(monkeypatch, tmp_path):
    from dataclasses import dataclass, field

    @dataclass
    class Flown:
        """The folder that a flight has left."""

        metrics: dict = field(default_factory=dict)
        interrupted: bool = False
        failure: str = ""

    written, key = [], next(iter(flight.SHOWN))
    beside = {"a": Flown({key: 1, "other": 2}), "b": Flown({key: 3}, True, "Ctrl-C"), "c": Flown()}
    monkeypatch.setattr(flight, "Flight", SimpleNamespace(of=lambda scenario: scenario))
    monkeypatch.setattr(flight, "execute", lambda name, folder, tree, options: beside[name])
    monkeypatch.setattr(flight, "write_metrics", lambda folder, metrics: written.append(metrics))
    names = {name: (name, {}) for name in beside}
    found = flight._fly_compared(Flown(), names, tmp_path, None)
    assert found.interrupted and found.failure == "compare.b: Ctrl-C"
    assert written == [{"compare": {"a": {key: 1}, "b": {key: 3}}}]
    assert sorted(each.name for each in (tmp_path / flight.COMPARED).iterdir()) == ["a", "b"]
    alone, stopped = Flown(), Flown(interrupted=True)
    assert flight._fly_compared(alone, {}, tmp_path, None) is alone
    assert flight._fly_compared(stopped, names, tmp_path, None) is stopped


def test_a_recording_of_sensors_is_said_with_its_space_unless_the_disk_is_too_small(
    monkeypatch, tmp_path
):
    made = SimpleNamespace(
        meta=SimpleNamespace(sensors=["imu"]), scenario=SimpleNamespace(recording="r"), duration=2.0,
        sensors=SimpleNamespace(suite=SimpleNamespace(notes=["a note"])),
    )  # fmt: skip
    monkeypatch.setattr(flight, "disk_use", lambda meta, recording, duration: 1000 * duration)
    monkeypatch.setattr(flight, "free_space", lambda parent: 2000)
    space = "recording takes about 2.0 kB of 2.0 kB that are free"
    assert flight._recording_lines(made, tmp_path) == ["a note", space]
    monkeypatch.setattr(flight, "free_space", lambda parent: 1999)
    with pytest.raises(
        BadInput,
        match=r"^the disk is too small, recording .* that are free: fly shorter, or record less$",
    ):
        flight._recording_lines(made, tmp_path)
    made.meta.sensors, made.duration = [], 1.0
    assert flight._recording_lines(made, tmp_path) == []
