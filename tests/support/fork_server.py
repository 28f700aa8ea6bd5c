# SPDX-License-Identifier: BSD-3-Clause
"""Executables of nodes as processes that are forks of one process which has imported what they import.

Most of what the start of a node takes is imports. A fork needs a tenth of that time, and is a process like any other:
it runs the installed file, and has its own environment, output and exit code.
"""

import atexit
import ctypes
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from hang import HANG

PACKAGES = ("iap_physics", "iap_sensors", "iap_control", "iap_estimation", "iap_bringup")
SET_CHILD_SUBREAPER = 36  # of prctl(2): whose orphaned descendants become its children


class Fork:
    """A process, with what tests use of `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, None while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout: float = HANG) -> int:
        """Wait for the exit code."""
        end = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.005)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


class ForkServer:
    """Starts executables; use it as a context manager."""

    def __enter__(self) -> "ForkServer":
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1)
        here = Path(__file__)
        path = os.pathsep.join([str(here.parent), *sys.path])
        self._server = subprocess.Popen(
            [sys.executable, "-P", here],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()

    def popen(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        stdin: int,
        stdout: IO,
        stderr: IO,
    ) -> Fork:
        """Start a command as `subprocess.Popen` does; its standard input is /dev/null."""
        assert stdin == subprocess.DEVNULL
        out, error = (f"/proc/{os.getpid()}/fd/{file.fileno()}" for file in (stdout, stderr))
        job = {"argv": list(command), "env": dict(env), "out": out, "error": error}
        self._server.stdin.write(json.dumps(job) + "\n")
        self._server.stdin.flush()
        return Fork(int(self._server.stdout.readline()))

    def run(self, path: Path, arguments: Sequence[str]) -> tuple[int, str]:
        """Exit code, and what it wrote to standard error."""
        with tempfile.TemporaryFile("w+") as written, open(os.devnull, "w") as nothing:
            command, files = [str(path), *arguments], {"stdout": nothing, "stderr": written}
            process = self.popen(command, env=os.environ, stdin=subprocess.DEVNULL, **files)
            code = process.wait()
            written.seek(0)
            return code, written.read()


def serve() -> None:
    """Answer every job on standard input by its process."""
    from importlib.metadata import distribution

    for package in PACKAGES:
        for script in distribution(package).entry_points.select(group="console_scripts"):
            script.load()
    for line in sys.stdin:
        job = json.loads(line)
        # Opened before the answer, after which whoever asked may close its own.
        streams = [os.open(os.devnull, os.O_RDONLY)]
        streams += [os.open(job[key], os.O_WRONLY | os.O_APPEND) for key in ("out", "error")]
        reading, writing = os.pipe()
        between = os.fork()
        if between == 0:
            pid = os.fork()
            if pid == 0:
                for file in (reading, writing):
                    os.close(file)
                _become(job, streams)
                return
            os.write(writing, str(pid).encode())
            os._exit(0)  # whoever asked is the parent now
        os.waitpid(between, 0)
        sys.stdout.write(os.read(reading, 20).decode() + "\n")
        sys.stdout.flush()
        for file in (reading, writing, *streams):
            os.close(file)


def _become(job: dict, streams: Sequence[int]) -> None:
    for number, file in enumerate(streams):
        os.dup2(file, number)
        os.close(file)
    sys.stdout.reconfigure(line_buffering=True)
    os.environ.clear()
    os.environ.update(job["env"])
    sys.argv = job["argv"]
    code = 0
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        code = end.code or 0
    # Not by exit(3): at times a library's static destructors crash in a fork of the process that loaded it.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


if __name__ == "__main__":
    serve()
