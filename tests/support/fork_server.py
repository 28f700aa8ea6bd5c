# SPDX-License-Identifier: BSD-3-Clause
"""Executables of nodes, commands and scripts as forks of one process which has loaded what they need.

Most of what their start takes is imports and kernels that are read from the disk. A fork needs a tenth of that time,
and is a process like any other: it has its own environment, folder, output and exit code.
"""

import atexit
import contextlib
import ctypes
import io
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, NamedTuple

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


class Ending(NamedTuple):
    """Exit code of a process, and what it wrote."""

    code: int
    out: str
    error: str


class ForkServer:
    """Starts executables; use it as a context manager.

    Args:
        loads: what is loaded before, a key of `LOADING`.
    """

    def __init__(self, loads: str = "nodes") -> None:
        self._loads = loads

    def __enter__(self) -> "ForkServer":
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1)
        here = Path(__file__)
        path = os.pathsep.join([str(here.parent), *sys.path])
        self._server = subprocess.Popen(
            [sys.executable, "-P", here, self._loads],
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
        return self._fork({"argv": list(command), "env": dict(env)}, stdout, stderr)

    def _fork(self, job: dict, stdout: IO, stderr: IO) -> Fork:
        out, error = (f"/proc/{os.getpid()}/fd/{file.fileno()}" for file in (stdout, stderr))
        self._server.stdin.write(json.dumps({**job, "out": out, "error": error}) + "\n")
        self._server.stdin.flush()
        return Fork(int(self._server.stdout.readline()))

    def run(self, path: Path, arguments: Sequence[str]) -> tuple[int, str]:
        """Exit code of an executable, and what it wrote to standard error."""
        ending = self._end({"argv": [str(path), *arguments], "env": dict(os.environ)})
        return ending.code, ending.error

    def python(self, folder: Path, *words: str) -> Ending:
        """Run ``python WORDS`` in a folder."""
        return self._end({"argv": words, "env": dict(os.environ), "folder": str(folder)})

    def _end(self, job: dict) -> Ending:
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as error:
            code = self._fork(job, out, error).wait(10.0 * HANG)
            for file in (out, error):
                file.seek(0)
            return Ending(code, out.read(), error.read())


@cache
def command_server() -> ForkServer:
    """A server of commands and scripts, until the tests end."""
    server, owner = ForkServer("commands").__enter__(), os.getpid()
    atexit.register(lambda: server.__exit__() if os.getpid() == owner else None)  # not in forks
    return server


def load_nodes() -> None:
    """Import all nodes, and fly a few periods: their kernels are those of nodes."""
    from importlib.metadata import distribution

    from iap_simulation.simulation.simulation import Simulation

    for package in PACKAGES:
        for script in distribution(package).entry_points.select(group="console_scripts"):
            script.load()
    with Simulation.of("hover", settings={"engine.name": "closed_form"}) as simulation:
        for _ in range(3):
            simulation.step()


def load_commands() -> None:
    """Import the command line, and record a flight by it."""
    from iap_bringup.cli.main import main

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        words = [
            "run",
            "figure_eight",
            "--duration",
            "0.05",
            "--no-plot",
            "--out",
            f"{folder}/run",
        ]
        assert main(words) == 0


LOADING: Mapping[str, Callable[[], None]] = {"nodes": load_nodes, "commands": load_commands}


def serve() -> None:
    """Answer every job on standard input by its process."""
    LOADING[sys.argv[1]]()
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
    code = 0
    try:
        _run(job["argv"], job.get("folder"))
    except SystemExit as end:
        code = end.code or 0
        if not isinstance(code, int):  # a text, which Python prints
            sys.stderr.write(f"{code}\n")
            code = 1
    except Exception:  # noqa: BLE001 - as Python does at its end
        traceback.print_exc()
        code = 1
    # Not by exit(3): at times a library's static destructors crash in a fork of the process that loaded it.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def _run(words: Sequence[str], folder: str | None) -> None:
    """Do what ``python WORDS`` does in a folder; an executable needs none."""
    if folder is not None:
        os.chdir(folder)
        if words[0] == "-P":
            words = words[1:]
        else:
            sys.path.insert(0, folder)
    if words[0] == "-m":
        from iap_bringup.cli.main import main

        sys.argv = words[1:]
        assert words[1] == main.__module__
        sys.exit(main())
    sys.argv = list(words)
    if words[0] == "-c":
        exec(compile(words[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    serve()
