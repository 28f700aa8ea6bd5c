# SPDX-License-Identifier: BSD-3-Clause
"""A firmware that the user starts, or whose command the key `firmware.command` has: its start and its end."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from iap_physics.firmware.firmware import FirmwareFailed
from iap_physics.firmware.process import FirmwareProcess
from iap_physics.firmware.settings import FirmwareSettings

POLL = 0.05  # wall time of one look [s]
NO_FILES: Mapping[str, bytes] = {}
Answer = TypeVar("Answer")


class OutsideProcess:
    """The process of a firmware, or none where the user has started it.

    Args:
        settings: of the firmware.
        number: of the aircraft; it stands for ``{number}`` in the words of the command.
        files: put into its working folder, by their names.

    Raises:
        FirmwareFailed: it cannot be started.
    """

    def __init__(
        self, settings: FirmwareSettings, number: int, files: Mapping[str, bytes] = NO_FILES
    ) -> None:
        self._settings = settings
        self._process: FirmwareProcess | None = None
        if settings.command is not None:
            words = [word.replace("{number}", str(number)) for word in settings.command]
            self._process = FirmwareProcess(words, {}, files)

    def wait_for(
        self,
        look: Callable[[float], Answer | None],
        seconds: float,
        late: Callable[[], FirmwareFailed],
    ) -> Answer:
        """The first answer that a look gives; it is repeated until there is one.

        Args:
            look: takes the wall time that it may take [s].
            seconds: wall time for all looks.
            late: the error once that is over.

        Raises:
            FirmwareFailed: that error, or the process has ended.
        """
        end = time.monotonic() + seconds
        while True:
            result = look(min(POLL, seconds))
            if result is not None:
                return result
            if self._process is not None:
                self._process.check()
            if time.monotonic() > end:
                raise late()

    def end(self) -> None:
        """End it, where it was started here."""
        if self._process is not None:
            self._process.end()

    def write(self, folder: Path) -> None:
        """Copy what it has written, where it was started here, and its settings."""
        if self._process is not None:
            self._process.copy_files(folder)
        (folder / "settings.json").write_text(self._settings.model_dump_json(indent=1) + "\n")
