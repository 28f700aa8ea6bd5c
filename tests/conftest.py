# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures that all tests share; helpers that they import are in support/."""

import gc
import math
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

for threads in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
):  # as the command line does, before numpy
    os.environ.setdefault(threads, "1")

JAX_CACHE = "JAX_COMPILATION_CACHE_DIR"  # nothing is compiled again, by the next tests neither
MARKERS = (  # here, for colcon reads no settings of the checkout
    "slow: left out by -m 'not slow', which answers within three minutes",
    "ros: needs rclpy and the built messages",
    "nodes: starts installed node executables as processes over DDS",
)


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until all tests are collected
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if JAX_CACHE not in os.environ:  # the processes of these tests share it
        os.environ[JAX_CACHE] = str(_kept_folder(config))
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"


def _kept_folder(config: pytest.Config) -> Path:
    """A folder that stays until the cache of pytest is cleared; without that, until these tests are over."""
    if config.pluginmanager.hasplugin("cacheprovider"):
        return config.cache.mkdir("iap-jax")
    folder = tempfile.TemporaryDirectory(prefix="iap_tests_jax_")
    config.add_cleanup(folder.cleanup)
    return Path(folder.name)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One process more than processors, for the system's slow tests wait more than they compute.

    The quick ones compute alone: another process would only collect them and load kernels once more.
    """
    waits = "not slow" not in config.option.markexpr
    return len(os.sched_getaffinity(0)) + waits


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with files that take long, in turn one of the system's tests and one of those that compute.

    Files are dealt out to the processes in this order, so that short ones fill up the end.
    """
    system = Path(__file__).parent / "system"
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    paths = sorted({item.path for item in items}, key=lambda path: (-slow[path], path))
    parts: list[list[Path]] = [[], []]
    for path in paths:
        parts[system in path.parents].append(path)
    keys = {path: (turn, part is parts[0]) for part in parts for turn, path in enumerate(part)}
    items.sort(key=lambda item: keys[item.path])


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what stays to the end: modules, kernels and the tests themselves.

    Each of its full passes would take a third of a second, and a twelfth of the time of all tests.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session")
def own_domain() -> Iterator[None]:
    """A ROS domain that no other process has: for nodes of this process that name none."""
    pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")
    from iap_io.ros.domains import free_domain

    with free_domain() as domain, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(domain))
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        yield


@pytest.fixture(scope="session", autouse=True)
def no_notice_of_compiling() -> Iterator[None]:
    """Let tests count lines on standard error, whichever of them compiles a kernel first on a fresh clone."""
    from iap_description.process.compiling import NOTICE

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NOTICE, "unnoticed", math.inf)
        yield


@pytest.fixture(autouse=True)
def apart_from_other_processes(request: pytest.FixtureRequest) -> None:
    """Let tests of ROS hear nobody who happens to fly on this machine."""
    if request.node.get_closest_marker("ros"):
        request.getfixturevalue("own_domain")


@pytest.fixture(scope="session")
def opengl():
    """One OpenGL renderer for all tests; those that need it are skipped where there is no EGL."""
    from iap_description.errors import BadInput
    from iap_sensors.cameras.opengl import OpenGLRenderer

    try:
        renderer = OpenGLRenderer()
    except BadInput as error:
        pytest.skip(str(error))
    yield renderer
    renderer.close()


@pytest.fixture
def recorded(tmp_path: Path):
    """Record made-up flights into the test's folder and read them back."""
    from made_up_flights import run_meta

    from iap_io.recording.recorder import Recorder
    from iap_io.runs.run_folder import load_run

    def record(*flights, tracks=None):
        with Recorder(tmp_path, run_meta(*flights)) as recorder:
            for name, track in (tracks or {}).items():
                recorder.add_track(0, name, track)
            for k in range(len(flights[0].t)):
                for i, flight in enumerate(flights):
                    flight.record(recorder, k, i)
        return load_run(tmp_path)

    return record
