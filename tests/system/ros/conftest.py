# SPDX-License-Identifier: BSD-3-Clause
"""Starts installed node executables as processes that hear each other on this host alone."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fork_server import ForkServer
    from probe import Probe

    from iap_bringup.experiments.nodes.processes import Nodes

    Simulation = tuple[Nodes, Probe]

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"


@contextmanager
def simulation(folder: Path, fork_server: "ForkServer") -> "Iterator[Simulation]":
    """Processes and a probe in a ROS domain of their own; every process must end cleanly."""
    from probe import Probe  # here, so that the folder can be collected where there is no ROS 2

    from iap_bringup.experiments.nodes.processes import Nodes
    from iap_io.ros.domains import free_domain

    with free_domain() as domain, Nodes(folder, domain, fork_server.popen) as nodes:
        probe = Probe(domain, nodes)
        try:
            yield nodes, probe
        finally:
            probe.close()
        codes = {key: nodes.end(key) for key in nodes.processes}
        texts = {key: nodes.log(key).read_text() for key in codes}
        failed = {key: (code, texts[key]) for key, code in codes.items() if code}
        assert not failed, failed
        assert not any("Traceback" in text for text in texts.values()), texts


@pytest.fixture
def start(tmp_path: Path, fork_server: "ForkServer") -> "Iterator[Simulation]":
    with simulation(tmp_path, fork_server) as running:
        yield running


@pytest.fixture(scope="module")
def start_once(
    tmp_path_factory: pytest.TempPathFactory, fork_server: "ForkServer"
) -> "Iterator[Simulation]":
    with simulation(tmp_path_factory.mktemp("nodes"), fork_server) as running:
        yield running


@pytest.fixture(scope="session")
def fork_server() -> "Iterator[ForkServer]":
    from fork_server import ForkServer

    with ForkServer() as server:
        yield server


@pytest.fixture
def refusal(fork_server: "ForkServer") -> Callable[[Path, Sequence[str]], str]:
    """Gives the one line with which an executable of a node refuses arguments (``--ros-args`` first)."""

    def line(path: Path, words: Sequence[str]) -> str:
        code, error = fork_server.run(path, words)
        assert code == 2, error
        lines = [each for each in error.splitlines() if "[rcl]" not in each]
        assert len(lines) == 1, error
        return lines[0]

    return line


@pytest.fixture(scope="session")
def simulate(fork_server: "ForkServer") -> "Callable[[Path], AbstractContextManager[Simulation]]":
    """For modules that start more than one."""
    return lambda folder: simulation(folder, fork_server)
