# SPDX-License-Identifier: BSD-3-Clause
"""Starts installed node executables as processes that hear each other on this host alone."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from probe import Probe

    from iap_bringup.experiments.nodes.processes import Nodes

    Simulation = tuple[Nodes, Probe]

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"


@contextmanager
def simulation(folder: Path) -> "Iterator[Simulation]":
    """Processes and a probe in a ROS domain of their own; every process must end cleanly."""
    from probe import Probe  # here, so that the folder can be collected where there is no ROS 2

    from iap_bringup.experiments.nodes.processes import Nodes, free_domain

    with free_domain() as domain, Nodes(folder, domain) as nodes:
        probe = Probe(domain)
        try:
            yield nodes, probe
        finally:
            probe.close()
        codes = {key: nodes.end(key) for key in nodes.processes}
        texts = {key: nodes.log(key).read_text() for key in codes}
        assert set(codes.values()) <= {0}, (codes, texts)
        assert not any("Traceback" in text for text in texts.values()), texts


@pytest.fixture
def start(tmp_path: Path) -> "Iterator[Simulation]":
    with simulation(tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def start_once(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Simulation]":
    with simulation(tmp_path_factory.mktemp("nodes")) as running:
        yield running


@pytest.fixture(scope="session")
def simulate() -> "Callable[[Path], AbstractContextManager[Simulation]]":
    """For modules that start more than one."""
    return simulation
