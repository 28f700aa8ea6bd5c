# SPDX-License-Identifier: BSD-3-Clause
"""The process of a firmware: a working folder of its own, what it prints, and its end."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from iap_physics.firmware.firmware import FirmwareFailed

OUTPUT = "output.txt"
LAST_LINES = 3  # of its output, in errors
PATIENCE = 2.0  # wall time for its end [s]


class FirmwareProcess:
    """A firmware that runs in an empty folder; signals of the terminal do not reach it.

    Args:
        command: that starts it.
        environment: variables besides those of this process.
        files: put into its folder before, by their names.
        sockets: that it has open, by their numbers here.

    Raises:
        FirmwareFailed: it cannot be started.

    Attributes:
        folder: its working folder, removed at its end.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        files: Mapping[str, bytes],
        sockets: Sequence[socket.socket] = (),
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="iap_firmware_"))
        for name, content in files.items():
            (self.folder / name).write_bytes(content)
        try:
            with (self.folder / OUTPUT).open("wb") as output:
                self._process = subprocess.Popen(
                    command,
                    cwd=self.folder,
                    env={**os.environ, **environment},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    pass_fds=[each.fileno() for each in sockets],
                    start_new_session=True,
                )
        except OSError as error:
            shutil.rmtree(self.folder)
            raise FirmwareFailed(
                "firmware_not_started", f"'{command[0]}' cannot be run: {error.strerror}"
            ) from error

    @property
    def output(self) -> str:
        """Text that it has printed."""
        return (self.folder / OUTPUT).read_text(errors="replace")

    @property
    def has_ended(self) -> bool:
        """True if it runs no more."""
        return self._process.poll() is not None

    def ending(self) -> str:
        """Exit code and last lines, of one that has ended."""
        code = self._process.wait()
        lines = self.output.strip().splitlines()[-LAST_LINES:]
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"{how}; it said: {' | '.join(lines)}" if lines else how

    def check(self) -> None:
        """Look whether it still runs.

        Raises:
            FirmwareFailed: it has ended.
        """
        if self.has_ended:
            raise self.failure("firmware_ended")

    def failure(self, outcome: str) -> FirmwareFailed:
        """The error of one that has ended."""
        return FirmwareFailed(outcome, f"its process has ended: {self.ending()}")

    def wait(self, seconds: float) -> bool:
        """True if it ends by itself within a time [s]."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self) -> None:
        """End it and remove its folder; a second time is fine."""
        self._process.terminate()
        if not self.wait(PATIENCE):
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def copy_files(self, folder: Path) -> None:
        """Copy the files of its working folder."""
        for each in self.folder.iterdir():
            if each.is_file():
                shutil.copy(each, folder / each.name)
