# SPDX-License-Identifier: BSD-3-Clause
"""Checks that a release is one: versions, changelog and wheels agree.

Usage: ./iap python tools/check_release.py [DIR of wheels, by default dist]

Every package.xml, setup.py, CITATION.cff and `iap_description.__version__` name one version; CHANGELOG.md begins with
it and a date (``## 1.2.0 (2026-12-01)``); each package's CHANGELOG.rst begins with it, too; and the folder has one
wheel of each package in that version. Each line that is printed is something to mend; the exit code is 1 then.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = {  # pattern of the version in each kind of file
    "iap_*/package.xml": r"<version>(.+)</version>",
    "iap_*/setup.py": r'^VERSION = "(.+)"$',
    "iap_description/iap_description/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
}
HEADING = r"^## (\S+)(?: \((\d{4}-\d\d-\d\d)\))?$"  # of the changelog


def versions(root: Path) -> dict[str, str]:
    """The version in each file that has one; empty where a file names none."""
    found = {}
    for pattern, version in PLACES.items():
        for path in sorted(root.glob(pattern)):
            match = re.search(version, path.read_text(encoding="utf-8"), re.MULTILINE)
            found[str(path.relative_to(root))] = match[1] if match else ""
    return found


def faults(root: Path, wheels: Path) -> Iterator[str]:
    """Faults that keep this checkout from being a release."""
    named = versions(root)
    version = named["CITATION.cff"]
    yield from (
        f"{path}: version '{one}', not '{version}'"
        for path, one in named.items()
        if one != version
    )
    heading = re.search(HEADING, (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if heading is None or heading[1] != version or heading[2] is None:
        yield f"CHANGELOG.md: does not begin with '## {version} (DATE)'"
    for manifest in sorted(root.glob("iap_*/package.xml")):
        log = manifest.with_name("CHANGELOG.rst")
        first = re.search(
            r"^(\S+) \(", log.read_text(encoding="utf-8") if log.exists() else "", re.MULTILINE
        )
        if first is None or first[1] != version:
            path = log.relative_to(root)
            yield f"{path}: does not begin with {version}; ./iap python tools/changelogs.py writes it"
    built = {path.name.split("-")[0] for path in wheels.glob(f"iap_*-{version}-*.whl")}
    packages = {path.parent.name for path in root.glob("iap_*/setup.py")}
    yield from (f"{wheels}: no wheel of {name} {version}" for name in sorted(packages - built))


def main() -> int:
    """Print the faults."""
    found = list(faults(ROOT, Path(sys.argv[1] if len(sys.argv) > 1 else "dist")))
    sys.stdout.write("".join(f"{fault}\n" for fault in found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
