# SPDX-License-Identifier: BSD-3-Clause
"""The requirements and lock files, read."""

import re
from pathlib import Path

REQUIREMENTS = Path(__file__).parents[2] / "requirements"


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(path: Path) -> dict[str, str]:
    """Package -> version specifier of a requirements file, names as indexes write them."""
    lines = (line.partition("#")[0] for line in path.read_text(encoding="utf-8").splitlines())
    found = [re.match(r"([\w.-]+)(?:\[\w+\])?(\S*)", line) for line in lines if line.strip()]
    return {normal(match[1]): match[2] for match in found}


def locked(*layers: str) -> dict[str, str]:
    merged = {}
    for layer in layers:
        merged |= pins(REQUIREMENTS / "lock" / f"{layer}.txt")
    return merged
