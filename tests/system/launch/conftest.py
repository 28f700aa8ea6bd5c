# SPDX-License-Identifier: BSD-3-Clause
"""Launches the launch files as processes in domains of their own."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hang import HANG

SCRIPT = Path(__file__).parents[2] / "support" / "launch_file.py"
FOLDER = Path(__file__).parents[3] / "iap_bringup" / "launch"


class Launch:
    """A launch file that runs, with all that it has started, in a process group of its own."""

    def __init__(self, folder: Path, domain: int, path: Path, arguments: dict[str, str]) -> None:
        self._log, self.domain = folder / "launch.log", domain
        environment = {
            **os.environ,
            "ROS_DOMAIN_ID": str(domain),
            "ROS_LOG_DIR": str(folder / "log"),
            "TMPDIR": str(folder),
        }
        given = [f"{key}:={value}" for key, value in arguments.items()]
        command = [sys.executable, "-P", SCRIPT]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                # A process in the background of a shell ignores Ctrl-C, and so would all that it starts.
                ["env", "--default-signal=INT", *command, path, *given],
                env=environment,
                cwd=folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        """Output of it and its nodes."""
        return self._log.read_text()

    def end(self) -> int:
        """Wait for its end, which several processes come to one after the other; returns its exit code."""
        return self.process.wait(2 * HANG)

    def interrupt(self) -> int:
        """End it as Ctrl-C in a terminal does, which tells all its processes; returns its exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.end()

    def nodes(self, name: str = "") -> list[int]:
        """Processes of its nodes of some name that still run."""
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                words = (place / "cmdline").read_bytes().split(b"\0")
                is_node = any(each.endswith(f"/{name}".encode()) for each in words[:2]) or not name
                if is_node and os.getsid(int(place.name)) == self.process.pid:
                    found.append(int(place.name))
        return [pid for pid in found if pid != self.process.pid]


@pytest.fixture
def launch(tmp_path):
    """Launch the suite's files by name, or others by path; whatever is left of them is killed at the end."""
    pytest.importorskip("launch_ros", reason="ROS 2's launch is not installed here")
    from iap_io.ros.domains import free_domain

    running = []
    with free_domain() as domain:

        def start(name: str | Path, **arguments: str) -> Launch:
            path = name if isinstance(name, Path) else FOLDER / f"{name}.launch.py"
            folder = tmp_path / f"launch_{len(running)}"
            folder.mkdir()
            running.append(Launch(folder, domain, path, arguments))
            return running[-1]

        yield start
        for each in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(each.process.pid, signal.SIGKILL)
            each.process.wait(HANG)
