# SPDX-License-Identifier: BSD-3-Clause
"""The child process that traces paths: begun once, asked, and ended with the renderer."""

import ctypes
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from iap_description.errors import IapError
from iap_description.process.extras import missing
from iap_sensors.path_tracing.messages import Answer, receive, send

EXTRA = "pathtracer"
SECONDS_TO_END = 5.0
LAST = 400  # characters of what a process said before it died
LLVM_VARIABLE = "DRJIT_LIBLLVM_PATH"  # where Mitsuba takes its library from
LLVM_VERSION = 19  # of LLVM: with 15 a process that renders is aborted, others are not tried
LLVM_FOLDERS = (
    f"/usr/lib/llvm-{LLVM_VERSION}/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
)
LLVM_PACKAGE = f"libllvm{LLVM_VERSION}"


class ChildProcess:
    """Mitsuba in a process of its own, since a fault of LLVM ends the process that it happens in.

    Attributes:
        variant: of Mitsuba.

    Raises:
        BadInput: Mitsuba is not installed.
    """

    def __init__(self) -> None:
        if find_spec("mitsuba") is None:
            raise missing("mitsuba", "renderer 'mitsuba' needs", EXTRA)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        llvm = find_llvm()
        self.variant = "scalar_rgb"
        if llvm is None:
            sys.stderr.write(
                f"renderer 'mitsuba': no LLVM that fits was found (Debian's {LLVM_PACKAGE}, or {LLVM_VARIABLE}),"
                " so the scalar variant is taken, which is slower and has Mitsuba's own surfaces\n"
            )
        else:
            self.variant, environment[LLVM_VARIABLE] = "llvm_ad_rgb", llvm
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        command = [sys.executable, "-P", "-m", "iap_sensors.path_tracing.worker", self.variant]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
        )

    def ask(self, message: object) -> Any:  # noqa: ANN401 - as the message has it
        """The light that answers a message.

        Raises:
            IapError: the process has died, or says that it failed.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None  # noqa: S101, PT018 - as asked for
        try:
            send(stdin, message)
            answer: Answer = receive(stdout)
        except (EOFError, OSError) as error:
            self._process.wait()
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace").strip()[-LAST:]
            raise IapError(
                f"renderer 'mitsuba': its process ended with {self._process.returncode}: {said}"
            ) from error
        if answer.fault:
            raise IapError(f"renderer 'mitsuba': {answer.fault}")
        return answer.light

    def close(self) -> None:
        """End the process."""
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(BrokenPipeError):  # of a process that has died
                if stream is not None:
                    stream.close()
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()


def find_llvm() -> str | None:
    """Path of the library that the user names, or of a fitting one of the system; None where there is none."""
    named = os.environ.get(LLVM_VARIABLE)
    if named is not None:
        return named if Path(named).is_file() else None
    for folder in LLVM_FOLDERS:
        for path in sorted(Path(folder).glob(f"libLLVM*{LLVM_VERSION}*")):
            if path.is_file() and _llvm_version(path) == LLVM_VERSION:
                return str(path)
    return None


def _llvm_version(path: Path) -> int | None:
    """Major version of a library of LLVM; None of anything else."""
    major = ctypes.c_uint()
    try:
        ctypes.CDLL(str(path)).LLVMGetVersion(ctypes.byref(major), None, None)
    except (OSError, AttributeError):
        return None
    return major.value
