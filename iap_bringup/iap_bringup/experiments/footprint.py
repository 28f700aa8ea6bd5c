# SPDX-License-Identifier: BSD-3-Clause
"""Memory, open files and threads of a process of this machine."""

import os
from dataclasses import dataclass
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Footprint:
    """Memory, open files and threads of a process."""

    memory_mb: float
    open_files: float
    threads: float

    @classmethod
    def of(cls, pid: int | str) -> "Footprint":
        """Of a process that runs."""
        place = Path("/proc") / str(pid)
        pages = int((place / "statm").read_text().split()[1])
        files, threads = (len(list((place / name).iterdir())) for name in ("fd", "task"))
        return cls(pages * PAGE / 1e6, files, threads)
