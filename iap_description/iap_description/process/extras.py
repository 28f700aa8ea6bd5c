# SPDX-License-Identifier: BSD-3-Clause
"""Libraries that an installation may lack: the line that installs them, and modules imported when first used."""

import importlib
import re
import shlex
import sys
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from iap_description.errors import BadInput
from iap_description.process.interrupts import Deferral

if TYPE_CHECKING:
    import cv2 as cv2

SUITE = "iap-suite"  # the distribution that has the extras
LOCKS = Path("requirements", "lock")
CHECKOUT = Path(__file__).resolve().parents[3]


def missing(library: str | None, purpose: str, extra: str) -> BadInput:
    """The error of a library that is not installed; `purpose` begins its line, as in ``training needs``."""
    return BadInput(f"{purpose} {library}, which is not installed: {install_line(extra)}")


def install_line(extra: str) -> str:
    """The command that installs an extra: the locked files of a checkout, or else ranges of versions."""
    command = f"{sys.executable} -m pip install"
    if not (CHECKOUT / LOCKS).is_dir():
        return f"{command} {' '.join(map(shlex.quote, requirements(extra)))}"
    alone = "--no-deps " if extra == "batch" else ""
    name = extra if (CHECKOUT / LOCKS / f"{extra}.txt").is_file() else "core"
    return f"{command} {alone}--require-hashes -r {CHECKOUT / LOCKS / name}.txt"


def requirements(extra: str) -> list[str]:
    """Requirements of an extra for this Python in the suite's metadata, with versions."""
    mark = re.compile(rf"""extra\s*==\s*["']{extra}["']""")
    try:
        lines = requires(SUITE) or []
    except PackageNotFoundError:  # packages of the suite were installed one by one
        lines = []
    lines = [line for line in lines if mark.search(line) and _is_for(line, sys.version_info[1])]
    names = [line.partition(";")[0].strip() for line in lines]
    return names or [f"{SUITE}[{extra}]"]


def _is_for(line: str, minor: int) -> bool:
    """True if a requirement is one of Python 3 of a minor version; others are not asked for here."""
    limit = re.search(r"""python_version\s*(<|>=)\s*["']3\.(\d+)["']""", line)
    return limit is None or (minor < int(limit[2])) == (limit[1] == "<")


class LazyModule:
    """A module that is imported when something of it is first used; interrupts wait until it is there as a whole."""

    def __init__(self, name: str, purpose: str, extra: str) -> None:
        """Remember what to import, and the beginning of the error's line where it is not installed."""
        self._name, self._purpose, self._extra = name, purpose, extra
        self._module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever it is
        """An attribute of the module.

        Raises:
            BadInput: the module is not installed.
        """
        if self._module is None:
            try:
                with Deferral():  # compiled modules do not survive an exception while they start
                    self._module = importlib.import_module(self._name)
            except ModuleNotFoundError as error:
                raise missing(error.name, self._purpose, self._extra) from error
        return getattr(self._module, name)


if not TYPE_CHECKING:
    cv2 = LazyModule("cv2", "cameras and images need OpenCV's", "cameras")
