# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written whole or not at all, so that several processes may do so."""

import os
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file; its folder is made if it is missing.

    Raises:
        OSError: the disk is full or cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(exist_ok=True)
        part.write_bytes(data)
        os.replace(part, path)
    finally:
        if part.exists():  # it was not finished
            part.unlink()
