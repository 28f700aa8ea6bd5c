# SPDX-License-Identifier: BSD-3-Clause
"""Installs the wheels of ``./iap wheels`` as a stranger would, and tries what the pages promise.

Usage: ./iap wheels && ./iap python tools/try_wheels.py [--wheels DIR] [--keep DIR] PYTHON [STEP ...]

PYTHON makes a new environment: no compiler in PATH, no ROS, no setting of this shell. Each step prints its time, and
that of the processors, which other work on the machine does not lengthen. The first that fails ends the trial with its
output and exit code 1.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from shutil import which

ROOT = Path(__file__).resolve().parents[1]
MOST_MEGABYTES = 700  # of the core and one engine, with the environment's own pip
SILENT = re.compile(r"PIP_|LANG$")  # variables that a trial keeps


class Trial:
    """An environment of a stranger.

    Args:
        python: an interpreter.
        wheels: folder of the wheels.
        folder: for the environment, its home, and what it writes.
    """

    def __init__(self, python: str, wheels: Path, folder: Path) -> None:
        self.python, self.wheels, self.folder = python, wheels, folder
        self._bin = folder / "env" / "bin"
        self._env = {name: text for name, text in os.environ.items() if SILENT.match(name)}
        self._env |= {"PATH": "/nonexistent", "HOME": str(folder), "TMPDIR": str(folder)}

    def run(self, *command: object, cwd: Path | None = None) -> str:
        """Run a command, whose first word is a program of the environment, and return its output.

        Raises:
            subprocess.CalledProcessError: it failed.
        """
        words = [str(self._bin / str(command[0])), *map(str, command[1:])]
        return subprocess.run(
            words,
            cwd=cwd or self.folder,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
        ).stdout

    def _install(self, extras: str) -> None:
        wanted = (
            "-q",
            "--only-binary",
            ":all:",
            "--find-links",
            self.wheels,
            f"iap-suite[{extras}]",
        )
        self.run("python", "-m", "pip", "install", *wanted)

    def core(self) -> str:
        """Install the core and one engine; return the size of the environment."""
        subprocess.run([self.python, "-m", "venv", str(self.folder / "env")], check=True)
        self._install("mujoco")
        blocks = {
            each.lstat().st_ino: each.lstat().st_blocks for each in self._bin.parent.rglob("*")
        }
        size = sum(blocks.values()) * 512 / 2**20
        if size > MOST_MEGABYTES:
            raise SystemExit(f"the environment has {size:.0f} MB of {MOST_MEGABYTES}")
        return f"{size:.0f} MB"

    def flight(self) -> str:
        """Fly README's first flight."""
        text = self.run("iap", "run", "three_star_spiral")
        found = re.search(r"position, mm\s*\S\s*(.*?\S)\s*\S\s", text)
        return f"{found[1]} mm RMSE" if found else text

    def readme(self) -> str:
        """Run README's Python as it stands."""
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        code = next(iter(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)))
        (self.folder / "my_flight.py").write_text(code, encoding="utf-8")
        return last_line(self.run("python", "my_flight.py"))

    def examples(self) -> str:
        """Run every example and both notebooks, with the extras that they need."""
        self._install("all,test")
        tests = ROOT / "tests" / "examples"
        options = ("-q", "-p", "no:cacheprovider", "-m", "not nodes")
        return last_line(self.run("python", "-P", "-m", "pytest", *options, tests))

    def scenarios(self) -> str:
        """Fly every scenario in the engine that is installed, beside its bars."""
        self._install("all")
        text = self.run("iap", "experiment", "engines")
        last = last_line(text)
        found = re.fullmatch(r"(\d+) of (\d+) within their bars", last)
        if found is None or found[1] != found[2]:
            raise SystemExit(text)
        return last


def last_line(text: str) -> str:
    """The last line of an output that says nothing of compiling."""
    return [line for line in text.splitlines() if not line.startswith("iap: ")][-1]


def processor_time() -> float:
    """What all processes that have ended used of the processors [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


STEPS: dict[str, Callable[[Trial], str]] = {
    step.__name__: step
    for step in (Trial.core, Trial.flight, Trial.readme, Trial.examples, Trial.scenarios)
}


def main() -> int:
    """Take the steps one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("python", metavar="PYTHON", help="interpreter of the environment")
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"of {', '.join(STEPS)} (all)")
    parser.add_argument("--wheels", type=Path, default=ROOT / "dist", help="folder (dist)")
    parser.add_argument("--keep", type=Path, help="folder for the environment, which stays")
    options = parser.parse_args()
    unknown = [each for each in options.steps if each not in STEPS]
    if unknown:
        parser.error(f"unknown step '{unknown[0]}': {', '.join(STEPS)}")
    if which(options.python) is None:
        parser.error(f"no interpreter '{options.python}': name a program, such as python3.13")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(options.keep or folder).absolute()
        home.mkdir(parents=True, exist_ok=True)
        trial = Trial(options.python, options.wheels.absolute(), home)
        for name in options.steps or STEPS:
            start, used = time.monotonic(), processor_time()
            try:
                text = STEPS[name](trial)
            except subprocess.CalledProcessError as error:
                sys.stderr.write(f"{error.output or ''}try_wheels: {name} failed\n")
                return 1
            spent = f"{time.monotonic() - start:.0f} s ({processor_time() - used:.0f} s of CPU)"
            sys.stdout.write(f"{name}: {spent}, {text}\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
