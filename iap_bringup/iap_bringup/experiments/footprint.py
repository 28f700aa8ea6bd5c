# SPDX-License-Identifier: BSD-3-Clause
"""Memory, open files, threads and processor time of a process of this machine."""

import os
from dataclasses import dataclass
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = 1.0 / os.sysconf("SC_CLK_TCK")  # of a process's times [s]


@dataclass(frozen=True)
class Footprint:
    """Memory, open files and threads of a process."""

    memory_mb: float
    open_files: float
    threads: float

    @classmethod
    def of(cls, pid: int | str) -> "Footprint":
        """Footprint of a process that runs."""
        process = Path("/proc") / str(pid)
        pages = int((process / "statm").read_text().split()[1])
        files, threads = (len(list((process / name).iterdir())) for name in ("fd", "task"))
        return cls(pages * PAGE / 1e6, files, threads)


def processor_time(pid: int) -> float:
    """Processor time that a process has taken so far, its threads together [s]."""
    text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    fields = text.rpartition(")")[2].split()  # after its name
    return TICK * (float(fields[11]) + float(fields[12]))
