# SPDX-License-Identifier: BSD-3-Clause
"""Faults that the likeliest quick tests notice, tried in forks of one process; what they pass over goes to a copy."""

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from covering import TestMap
from small_faults import Mutation
from sources import Sources
from trial import OPTIONS, first_within

SECONDS = 10.0  # of the processor, for the tests of one fault
COLLECTING = 600.0  # [s] on the clock, for a machine with other jobs
MOST_SAID = 2000  # letters of how the forks' process ended
BUSY = 30.0  # times longer on the clock than what all faults may take


def noticed_in_forks(
    drawn: list[tuple[Path, Mutation]],
    root: Path,
    packages: list[str],
    known: tuple[TestMap, Sources],
    scratch: Path,
) -> dict[int, str]:
    """Numbers of the faults that a quick test notices, and which.

    Args:
        drawn: modules in the checkout, and the faults of each.
        root: the checkout.
        packages: whose modules are imported.
        known: the tests, and the uses in the sources.
        scratch: folder of the plan and what comes of it.
    """
    rows = [_planned(file, fault, root, known) for file, fault in drawn]
    files = sorted({name.split("::")[0] for row in rows for name in row["tests"]})
    if not files:
        return {}
    plan, out = scratch / "plan.json", scratch / "forks.json"
    out.unlink(missing_ok=True)
    plan.write_text(json.dumps({"packages": packages, "faults": rows}))
    path = f"{os.environ.get('PYTHONPATH', '')}:{Path(__file__).parent}"
    settings = {"PYTHONPATH": path, "MUTANTS_PLAN": str(plan), "MUTANTS_OUT": str(out)}
    marks = ["-m", "not slow", "--continue-on-collection-errors"]
    command = [sys.executable, "-P", "-m", "pytest", *OPTIONS, *marks, "-p", "in_forks", *files]
    done = subprocess.run(
        command, cwd=root, env={**os.environ, **settings}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=COLLECTING + BUSY * SECONDS * len(rows),
    )  # fmt: skip
    found = json.loads(out.read_text()) if out.exists() else []
    if len(found) < len(rows):
        sys.stderr.write(
            f"forks have ended after {len(found)} faults: {done.stdout[-MOST_SAID:]}\n"
        )
    return {number: test for number, test in enumerate(found) if test}


def _planned(file: Path, fault: Mutation, root: Path, known: tuple[TestMap, Sources]) -> dict:
    """A fault with the module that has it, and its tests, the likeliest first."""
    tests, sources = known
    place = file.relative_to(root)
    likely = [
        each
        for each in tests.of(f"{place}:{fault.function}")
        if not sources.is_slow(each.function)
    ]
    module = ".".join(place.with_suffix("").parts[1:]).removesuffix(".__init__")
    names = [each.name for each in first_within(likely, SECONDS)]
    return {
        "file": str(file), "module": module, "fault": asdict(fault), "tests": names, "seconds": SECONDS,
    }  # fmt: skip
