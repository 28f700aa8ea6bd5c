# SPDX-License-Identifier: BSD-3-Clause
"""Builds a wheel of every package of this checkout, and iap_suite's, which brings them all.

Usage: ./iap wheels [--out DIR], or python3 tools/make_wheels.py; then, with any Python from 3.11 on:

    pip install --only-binary :all: --find-links DIR "iap-suite[mujoco,view]"

iap_suite has no copies of the others' files: it requires their wheels in its own version. So each package is installed
once, alone or with the suite, and nothing belongs to two of them. Builds are made of copies, so that nothing is left
among the sources, and with one date, so that equal sources make equal wheels. The checkout needs no set-up: where
setuptools is not installed, pip gets one for this build alone.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MESSAGES = "iap_msgs"  # whose definitions iap_io takes along
OLDEST, NEWEST = (3, 11), (3, 14)  # Python
OLDEST_SETUPTOOLS = (70, 1)  # the first that needs no package beside it
SETUPTOOLS = "setuptools>=" + ".".join(map(str, OLDEST_SETUPTOOLS))
DATE = "1767225600"  # of all files in a wheel [s]
BUILD = (
    "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"  # PEP 517
)
OLDEST_PIP = (20, 3)  # the first that knows the tags of today's wheels
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist")


def main() -> int:
    """Build and name the wheels."""
    parser = argparse.ArgumentParser(prog="iap wheels", description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=Path, default=Path("dist"), help="folder (default: dist)")
    out = parser.parse_args().out.absolute()
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        found, fits = sys.version.split()[0], "3.11 to 3.14"
        remedy = "python3.13 -m venv env && . env/bin/activate"
        sys.stderr.write(f"iap: {sys.executable} is Python {found}, needed is {fits}: {remedy}\n")
        return 2
    there = next(path for path in (out, *out.parents) if path.exists())
    if not (there.is_dir() and os.access(there, os.W_OK)):
        remedy = "name a folder in which you can write, by --out DIR"
        sys.stderr.write(f"iap: {out} cannot be written: {remedy}\n")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"SOURCE_DATE_EPOCH": DATE}
        if installed("setuptools") < OLDEST_SETUPTOOLS:
            env["PYTHONPATH"] = str(tools := Path(folder) / "tools")
            if reason := fetch_setuptools(tools):
                remedy = f"{sys.executable} -m pip install '{SETUPTOOLS}'"
                sys.stderr.write(f"iap: no setuptools here, and {reason}: {remedy}\n")
                return 2
        out.mkdir(parents=True, exist_ok=True)
        packages = copied(Path(folder))
        for number, package in enumerate(packages):
            show(f"{number} of {len(packages)}: {package.name}")
            done = subprocess.run(
                [sys.executable, "-c", BUILD, str(out)],
                cwd=package,
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            show("")
            if done.returncode:
                sys.stderr.write(f"{done.stdout}{done.stderr}")
                sys.stderr.write(f"iap: no wheel of {package.name}: setuptools' words are above\n")
                return 1
    sys.stdout.write("".join(f"{path}\n" for path in sorted(out.glob("iap_*.whl"))))
    if old := old_pip():
        sys.stderr.write(
            f"iap: pip {old} knows no wheels of today: {sys.executable} -m pip install --upgrade pip\n"
        )
    command = f"pip install --only-binary :all: --find-links {shlex.quote(str(out))}"
    sys.stdout.write(f'{command} "iap-suite[mujoco,view]"\n')
    return 0


def show(text: str) -> None:
    """Show what is being built on a terminal, in place of what was shown before."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[2K{text}")
        sys.stderr.flush()


def installed(name: str) -> tuple[int, ...]:
    """The numbers of the version that this interpreter has of a package; none without it."""
    try:
        return tuple(map(int, re.findall(r"\d+", metadata.version(name))))
    except metadata.PackageNotFoundError:
        return ()


def old_pip() -> str:
    """The version of this interpreter's pip if it is too old for the wheels; else nothing."""
    version = installed("pip")
    return ".".join(map(str, version)) if version and version < OLDEST_PIP else ""


def fetch_setuptools(folder: Path) -> str:
    """Let pip put setuptools into a folder; returns why it could not, or nothing."""
    if find_spec("pip") is None:
        return "no pip"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), SETUPTOOLS]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else "pip reaches none"


def copied(folder: Path) -> list[Path]:
    """Copies of the packages in a folder."""
    packages = [path.parent.name for path in sorted(ROOT.glob("iap_*/setup.py"))]
    for name in (MESSAGES, *packages):
        shutil.copytree(ROOT / name, folder / name, ignore=LEFT_OUT)
        for path, _, _ in os.walk(folder / name):  # those of a checkout may be read-only
            os.chmod(path, 0o755)
    return [folder / name for name in packages]


if __name__ == "__main__":
    sys.exit(main())
