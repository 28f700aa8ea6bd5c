# SPDX-License-Identifier: BSD-3-Clause
"""Lets a checkout that was moved or copied keep its compiled kernels, since nothing in them depends on its place.

Usage: move_kernels.py CACHE OLD NEW: the folder of numba's cache, and the folders where the sources were and are.
numba names a folder of kernels for the path of their sources, whose contents it checks itself.
"""

import hashlib
import os
import sys
from pathlib import Path


def name_of(folder: str) -> str:
    """The name of a source folder's kernels in numba's cache."""
    return f"{os.path.basename(folder)}_{hashlib.sha1(folder.encode()).hexdigest()}"  # noqa: S324 - as numba does


def sources(folder: Path) -> list[str]:
    """All folders with modules, also those behind the links of a build."""
    walked = os.walk(folder, followlinks=True)
    return [path for path, _, files in walked if any(each.endswith(".py") for each in files)]


def main(cache: Path, old: str, new: str) -> None:
    """Renames the kernels of every source folder."""
    for folder in sources(Path(new)):
        kept = cache / name_of(old + folder.removeprefix(new))
        if kept.is_dir():
            kept.rename(cache / name_of(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
