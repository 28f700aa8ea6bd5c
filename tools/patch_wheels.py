# SPDX-License-Identifier: BSD-3-Clause
"""Points the ROS 2 wheels' CMake files, made on another machine, at this environment, also in paths beyond ASCII."""

import re
import sys
import sysconfig
from pathlib import Path

BUILD_MACHINE = re.compile(
    r"/opt/python/cp3\d+-cp3\d+/(include/python3\.\d+|lib/python3\.\d+/site-packages)"
)
# CMake leaves out what is no ASCII unless it is told the encoding.
READING_PATHS = re.compile(r'(file\(STRINGS "\$\{idl_output\}" idl_tuples)\)')


def here(match: re.Match[str]) -> str:
    """The folder of this environment that stands for the build machine's."""
    return sysconfig.get_path("include" if match[1].startswith("include") else "purelib")


def main() -> None:
    """Rewrites the files below PREFIX/share that name the build machine, and the one that reads paths."""
    for path in Path(sys.prefix, "share").rglob("*.cmake"):
        text = path.read_text(encoding="utf-8")
        patched = READING_PATHS.sub(r"\1 ENCODING UTF-8)", BUILD_MACHINE.sub(here, text))
        if patched != text:
            path.write_text(patched, encoding="utf-8")


if __name__ == "__main__":
    main()
