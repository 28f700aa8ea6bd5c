# SPDX-License-Identifier: BSD-3-Clause
"""Removes from an environment's wheels what nothing here reads: debugging symbols, examples, robots and large tests.

Symbols go where `strip` is (it comes with a compiler), from files whose makers left them in. Others stay as they are:
`strip` damages libraries that were moved into their wheels.
"""

import shutil
import subprocess
import sysconfig
from pathlib import Path

PARTS = (
    *("pybullet_data", "pybullet_envs", "pybullet_examples", "pybullet_robots"),  # 160 MB
    "cmake/data/bin/cpack",  # makes installers, 22 MB
    *("numba/tests", "numba/*/tests", "scipy/*/tests", "matplotlib/tests"),  # 25 MB
)
WITH_SYMBOLS = (
    "pybullet.*.so",
    "eglRenderer.*.so",
    "zstandard/*.so",
    "kiwisolver/*.so",
    "fontTools/*/*.so",
)  # 170 MB


def main() -> None:
    """Trims the packages of this environment; what was trimmed before stays as it is."""
    site = Path(sysconfig.get_path("platlib"))
    for path in [path for pattern in PARTS for path in site.glob(pattern)]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    files = [str(path) for pattern in WITH_SYMBOLS for path in site.glob(pattern)]
    if files and shutil.which("strip"):
        subprocess.run(["strip", "--strip-debug", *files], check=True)


if __name__ == "__main__":
    main()
