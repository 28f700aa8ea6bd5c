# SPDX-License-Identifier: BSD-3-Clause
"""Versions of installed packages against the ranges that the suite's own metadata names."""

import re
import shlex
import sys
from collections.abc import Iterator
from importlib import metadata
from operator import eq, ge, gt, le, lt, ne
from typing import NamedTuple

CORE, SUITE = (
    "iap_bringup",
    "iap_suite",
)  # distributions: the second one's extras need not be installed
COMPARED = {"==": eq, "!=": ne, "<=": le, ">=": ge, "<": lt, ">": gt}
REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^]]*\])?([^;]*)")
BOUND = re.compile(r"([=!<>]=?)\s*([\d.]+)")


class UnfitPackage(NamedTuple):
    """A package of the core that is missing, or any in a version that the suite does not work with.

    Attributes:
        name: of its distribution.
        version: that is installed; empty where none is.
        needed: range of versions, as pip writes it.
    """

    name: str
    version: str
    needed: str

    @property
    def remedy(self) -> str:
        """The command that installs another version."""
        return f"{sys.executable} -m pip install {shlex.quote(self.name + self.needed)}"

    def __str__(self) -> str:
        """Say what is wrong, and the remedy."""
        there = f"{self.version} is installed" if self.version else "it is not installed"
        return f"{self.name}{self.needed} is needed, and {there}: {self.remedy}"


def unfit_packages() -> Iterator[UnfitPackage]:
    """All packages whose versions are outside the ranges of this installation's metadata."""
    for distribution in (CORE, SUITE):
        for line in _requirements(distribution):
            name, needed = REQUIREMENT.findall(line)[0]
            version = installed_version(name)
            is_needed = "extra" not in line
            if (version or is_needed) and not (version and fits(version, needed)):
                yield UnfitPackage(name, version, needed.strip())


def _requirements(distribution: str) -> list[str]:
    try:
        return metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:  # a program that runs from the sources alone
        return []


def installed_version(distribution: str) -> str:
    """Version of a distribution; empty where it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def fits(version: str, needed: str) -> bool:
    """True if a version is within a range such as ``<3,>=2.1``; what follows its numbers does not count."""
    return all(COMPARED[sign](*_padded(version, bound)) for sign, bound in BOUND.findall(needed))


def _padded(*versions: str) -> list[list[int]]:
    """Numbers of versions, as many of each."""
    numbers = [
        list(map(int, re.findall(r"\d+", re.split(r"[^\d.]", each)[0]))) for each in versions
    ]
    length = max(map(len, numbers))
    return [each + [0] * (length - len(each)) for each in numbers]
